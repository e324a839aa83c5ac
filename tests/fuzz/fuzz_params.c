/* A .params file: what opening it accepts is then checked point by point. */
#define _GNU_SOURCE
#include "fuzz/fuzz_file.h"
#include "groth16/groth16.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const cuzk_host *host = host_std_host(fuzz_host());
    cuzk_error err = {0};
    groth16_params *params = NULL;
    char path[32];
    const int fd = fuzz_file(data, size, path);
    const cuzk_status st = groth16_params_open(host, path, &params, &err);
    fuzz_check_refusal(st, &err, params);
    if (params != NULL) {
        (void)groth16_params_check(host, params, CURVE_CHECK_ON_CURVE, &err);
        groth16_params_close(host, params);
    }
    close(fd);
    fuzz_check_memory();
    return 0;
}
