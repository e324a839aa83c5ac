/* BLAKE2b and BLAKE2s (RFC 7693): one text, two word sizes. */
#include "hash/blake2.h"

#include <stdbool.h>
#include <string.h>

#include "base/bytes.h"

static const uint8_t sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

/* The words a, b, c, d of the eight G steps of a round: four columns, four diagonals. */
static const uint8_t step[8][4] = {
    {0, 4, 8, 12},  {1, 5, 9, 13},  {2, 6, 10, 14}, {3, 7, 11, 15},
    {0, 5, 10, 15}, {1, 6, 11, 12}, {2, 7, 8, 13},  {3, 4, 9, 14},
};

#define WORD uint64_t
#define WORD_BITS 64
#define LOAD load_le64
#define STORE store_le64
#define CONTEXT blake2b_ctx
#define NAME(x) blake2b_##x
#define ROUNDS 12
#define R1 32
#define R2 24
#define R3 16
#define R4 63
#define IV                                                                                         \
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,                \
        0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179
#include "hash/blake2_template.h"

void blake2b_init(blake2b_ctx *ctx, size_t out_bytes, const void *key, size_t key_bytes) {
    blake2b_start(ctx, out_bytes, key, key_bytes);
    ctx->out_bytes = out_bytes;
}

void blake2b_final(blake2b_ctx *ctx, uint8_t *out) {
    blake2b_finish(ctx, out, ctx->out_bytes);
}

void blake2b(uint8_t *out, size_t out_bytes, const void *key, size_t key_bytes, const void *data,
             size_t n) {
    blake2b_ctx ctx;
    blake2b_init(&ctx, out_bytes, key, key_bytes);
    blake2b_update(&ctx, data, n);
    blake2b_final(&ctx, out);
}

#define WORD uint32_t
#define WORD_BITS 32
#define LOAD load_le32
#define STORE store_le32
#define CONTEXT blake2s_ctx
#define NAME(x) blake2s_##x
#define ROUNDS 10
#define R1 16
#define R2 12
#define R3 8
#define R4 7
#define IV                                                                                         \
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19
#include "hash/blake2_template.h"

void blake2s_init(blake2s_ctx *ctx) {
    blake2s_start(ctx, 32, NULL, 0);
}

void blake2s_final(blake2s_ctx *ctx, uint8_t out[32]) {
    blake2s_finish(ctx, out, 32);
}
