/* The variants of the SHA-256 compression function, for sha256.c and its test. */
#ifndef CUZK_HASH_SHA256_IMPL_H
#define CUZK_HASH_SHA256_IMPL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The definition, in plain C. */
void sha256_blocks_plain(uint32_t state[8], const uint8_t *blocks, size_t n);

#if defined(__x86_64__)
#define CUZK_SHA_NI 1
bool sha256_ni_available(void);
/* The x86 SHA extensions; only where sha256_ni_available(). */
void sha256_blocks_ni(uint32_t state[8], const uint8_t *blocks, size_t n);
#endif

#endif
