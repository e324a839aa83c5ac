/* C1 output as supraseal writes it, for every registered proof. */
#include "filecoin/vanilla.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const cuzk_host *host = host_std_host(fuzz_host());
    for (uint64_t number = 0; number < 20; number++) {
        cuzk_error err = {0};
        registered_seal seal;
        porep_c1 *c1;
        if (registered_seal_by_number(number, &seal, &err) != CUZK_OK) abort();
        const cuzk_status st = porep_c1_read_bincode(host, &seal, data, size, &c1, &err);
        fuzz_check_refusal(st, &err, c1);
        porep_c1_free(host, c1);
        fuzz_check_memory();
    }
    return 0;
}
