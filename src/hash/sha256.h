/* SHA-256 (FIPS 180-4), streaming, with the SHA-NI instructions where the CPU has them. */
#ifndef CUZK_HASH_SHA256_H
#define CUZK_HASH_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct sha256_ctx {
    uint32_t state[8];
    uint64_t bytes;
    uint8_t block[64];
} sha256_ctx; /* plain data: copying it forks the hash */

void sha256_init(sha256_ctx *ctx);
void sha256_update(sha256_ctx *ctx, const void *data, size_t n);
void sha256_final(sha256_ctx *ctx, uint8_t out[32]);
void sha256(uint8_t out[32], const void *data, size_t n);
/* n consecutive 64-byte blocks into state. */
void sha256_blocks(uint32_t state[8], const uint8_t *blocks, size_t n);
extern const uint32_t sha256_iv[8];
extern const uint32_t sha256_k[64];

#endif
