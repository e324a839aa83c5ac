/* Our binary C1. The checksum is put right first: otherwise nothing behind it would be reached. */
#include <string.h>

#include "filecoin/vanilla.h"
#include "fuzz/fuzz.h"
#include "hash/sha256.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const cuzk_host *host = host_std_host(fuzz_host());
    cuzk_error err = {0};
    porep_c1 *c1;
    uint8_t *fixed = malloc(size + 1);
    memcpy(fixed, data, size);
    if (size >= 32) sha256(fixed + size - 32, fixed, size - 32);
    const cuzk_status st = porep_c1_read_binary(host, fixed, size, &c1, &err);
    fuzz_check_refusal(st, &err, c1);
    porep_c1_free(host, c1);
    fuzz_check_memory();
    free(fixed);
    return 0;
}
