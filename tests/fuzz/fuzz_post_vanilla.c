/* A PoSt vanilla proof, for every registered proof; a decoded one goes through the check. */
#include "filecoin/public_inputs.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const cuzk_host *host = host_std_host(fuzz_host());
    const node32 randomness = {0};
    for (uint64_t number = 0; number < 15; number++) {
        cuzk_error err = {0};
        registered_post post;
        post_vanilla *v;
        if (registered_post_by_number(number, &post, &err) != CUZK_OK) abort();
        const cuzk_status st = post_vanilla_read(host, &post, &data, &size, 1, &v, &err);
        fuzz_check_refusal(st, &err, v);
        if (v != NULL) (void)post_vanilla_check(host, &post, randomness, v, &err);
        post_vanilla_free(host, v);
        fuzz_check_memory();
    }
    return 0;
}
