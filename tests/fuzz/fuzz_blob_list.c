/* A JSON array of base64 strings. */
#include "formats/blob_list.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const cuzk_host *host = host_std_host(fuzz_host());
    cuzk_error err = {0};
    blob_list list;
    const cuzk_status st = blob_list_read_json(host, data, size, &list, &err);
    fuzz_check_refusal(st, &err, list.memory);
    blob_list_free(host, &list);
    fuzz_check_memory();
    return 0;
}
