/* A .vk file. */
#include "fuzz/fuzz.h"
#include "groth16/groth16.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const cuzk_host *host = host_std_host(fuzz_host());
    cuzk_error err = {0};
    groth16_vk *vk = NULL;
    const cuzk_status st = groth16_vk_read(host, data, size, "fuzz.vk", &vk, &err);
    fuzz_check_refusal(st, &err, vk);
    groth16_vk_free(host, vk);
    fuzz_check_memory();
    return 0;
}
