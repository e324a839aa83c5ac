/* What the fuzz entries share: a host whose memory is bounded and watched. */
#ifndef CUZK_TESTS_FUZZ_H
#define CUZK_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/host_std.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FUZZ_MEMORY_LIMIT ((uint64_t)512 << 20)

static inline host_std *fuzz_host(void) {
    static host_std *h;
    cuzk_error err;
    if (h == NULL && host_std_new(1, FUZZ_MEMORY_LIMIT, &h, &err) != CUZK_OK) abort();
    return h;
}

/* After an input: nothing may be left allocated. */
static inline void fuzz_check_memory(void) {
    if (host_std_used(fuzz_host()) == 0) return;
    fprintf(stderr, "leaked %llu bytes\n", (unsigned long long)host_std_used(fuzz_host()));
    abort();
}

/* A refused input leaves no result and has a text. */
static inline void fuzz_check_refusal(cuzk_status status, const cuzk_error *err, const void *out) {
    if (status == CUZK_OK ? out != NULL : out == NULL && err->text[0] != 0) return;
    fprintf(stderr, "%s with result %p and text \"%s\"\n", cuzk_status_name(status), out,
            err->text);
    abort();
}

#endif
