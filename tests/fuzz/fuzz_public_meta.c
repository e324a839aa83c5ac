/* Public data as JSON, read as every kind. */
#include "formats/small_json.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const cuzk_host *host = host_std_host(fuzz_host());
    for (int kind = PROOF_POREP; kind <= PROOF_WINNING; kind++) {
        cuzk_error err = {0};
        public_meta meta;
        const cuzk_status st =
            public_meta_read(host, (proof_kind)kind, (const char *)data, size, &meta, &err);
        if (st != CUZK_OK && (err.text[0] == 0 || meta.sectors != NULL)) abort();
        public_meta_free(host, &meta);
        fuzz_check_memory();
    }
    return 0;
}
