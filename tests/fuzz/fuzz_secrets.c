/* Set-up secrets, and fixed r and s of two partitions. */
#define _GNU_SOURCE
#include "formats/small_json.h"
#include "fuzz/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    groth16_secrets secrets;
    groth16_blinding rs[2];
    char path[32];
    const int fd = fuzz_file(data, size, path);
    for (int kind = 0; kind < 2; kind++) {
        cuzk_error err = {0};
        const cuzk_status st = kind == 0 ? secrets_file_read(path, &secrets, &err)
                                         : fixed_rs_file_read(path, rs, 2, &err);
        fuzz_check_refusal(st, &err, st == CUZK_OK ? rs : NULL);
    }
    close(fd);
    return 0;
}
