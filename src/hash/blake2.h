/* BLAKE2b and BLAKE2s (RFC 7693), streaming. */
#ifndef CUZK_HASH_BLAKE2_H
#define CUZK_HASH_BLAKE2_H

#include <stddef.h>
#include <stdint.h>

/* BLAKE2b: key of 0 to 64 bytes, output of 1 to 64. */
typedef struct blake2b_ctx {
    uint64_t h[8], t[2];
    uint8_t block[128];
    size_t used;
    size_t out_bytes;
} blake2b_ctx;
void blake2b_init(blake2b_ctx *ctx, size_t out_bytes, const void *key, size_t key_bytes);
void blake2b_update(blake2b_ctx *ctx, const void *data, size_t n);
void blake2b_final(blake2b_ctx *ctx, uint8_t *out);
void blake2b(uint8_t *out, size_t out_bytes, const void *key, size_t key_bytes, const void *data,
             size_t n);

/* BLAKE2s-256, without a key (the constraint-system hash of REFERENCE 14.1). */
typedef struct blake2s_ctx {
    uint32_t h[8], t[2];
    uint8_t block[64];
    size_t used;
} blake2s_ctx;
void blake2s_init(blake2s_ctx *ctx);
void blake2s_update(blake2s_ctx *ctx, const void *data, size_t n);
void blake2s_final(blake2s_ctx *ctx, uint8_t out[32]);

#endif
