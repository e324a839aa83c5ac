/* A circuit cache. The header's checksum is made right first, so that what it says is parsed;
 * tests/r1cs/test_r1cs_cache.c does the same for the sections. */
#define _GNU_SOURCE
#include <string.h>

#include "fuzz/fuzz_file.h"
#include "hash/sha256.h"
#include "r1cs/r1cs.h"

#define HEADER_BYTES 4096u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const cuzk_host *host = host_std_host(fuzz_host());
    cuzk_error err = {0};
    r1cs *circuit = NULL;
    char path[32];
    const int fd = fuzz_file(data, size, path);
    if (size >= HEADER_BYTES) {
        uint8_t digest[32];
        sha256(digest, data, HEADER_BYTES - sizeof digest);
        if (pwrite(fd, digest, sizeof digest, HEADER_BYTES - sizeof digest) != sizeof digest)
            abort();
    }
    const cuzk_status st = r1cs_load(host, path, &circuit, &err);
    fuzz_check_refusal(st, &err, circuit);
    if (circuit != NULL) r1cs_free(host, circuit);
    close(fd);
    fuzz_check_memory();
    return 0;
}
