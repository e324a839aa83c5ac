/* C1 output as JSON, plain or wrapped. */
#include "formats/c1_json.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const cuzk_host *host = host_std_host(fuzz_host());
    cuzk_error err = {0};
    porep_c1 *c1;
    const cuzk_status st = porep_c1_read_any(host, data, size, &c1, NULL, &err);
    fuzz_check_refusal(st, &err, c1);
    porep_c1_free(host, c1);
    fuzz_check_memory();
    return 0;
}
