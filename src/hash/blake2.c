/* BLAKE2b and BLAKE2s (RFC 7693): one permutation, two word sizes. */
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

/* ---- BLAKE2b ---- */

static const uint64_t iv_b[8] = {
    0x6a09e667f3bcc908, 0xbb67ae8584caa73b, 0x3c6ef372fe94f82b, 0xa54ff53a5f1d36f1,
    0x510e527fade682d1, 0x9b05688c2b3e6c1f, 0x1f83d9abfb41bd6b, 0x5be0cd19137e2179,
};

static uint64_t rotr64(uint64_t x, unsigned n) {
    return x >> n | x << (64 - n);
}

static inline void g_b(uint64_t v[16], const uint8_t at[4], uint64_t x, uint64_t y) {
    uint64_t a = v[at[0]], b = v[at[1]], c = v[at[2]], d = v[at[3]];
    a += b + x;
    d = rotr64(d ^ a, 32);
    c += d;
    b = rotr64(b ^ c, 24);
    a += b + y;
    d = rotr64(d ^ a, 16);
    c += d;
    b = rotr64(b ^ c, 63);
    v[at[0]] = a, v[at[1]] = b, v[at[2]] = c, v[at[3]] = d;
}

static void compress_b(blake2b_ctx *ctx, const uint8_t block[128], bool last) {
    uint64_t v[16], m[16];
    for (size_t i = 0; i < 8; i++) {
        v[i] = ctx->h[i];
        v[i + 8] = iv_b[i];
    }
    v[12] ^= ctx->t[0];
    v[13] ^= ctx->t[1];
    if (last) v[14] = ~v[14];
    for (size_t i = 0; i < 16; i++)
        m[i] = load_le64(block + 8 * i);
    for (size_t round = 0; round < 12; round++) {
        const uint8_t *s = sigma[round % 10];
#pragma GCC unroll 8
        for (size_t i = 0; i < 8; i++)
            g_b(v, step[i], m[s[2 * i]], m[s[2 * i + 1]]);
    }
    for (size_t i = 0; i < 8; i++)
        ctx->h[i] ^= v[i] ^ v[i + 8];
}

static void count_b(blake2b_ctx *ctx, size_t n) {
    ctx->t[0] += n;
    if (ctx->t[0] < n) ctx->t[1]++;
}

void blake2b_init(blake2b_ctx *ctx, size_t out_bytes, const void *key, size_t key_bytes) {
    memset(ctx, 0, sizeof *ctx);
    memcpy(ctx->h, iv_b, sizeof iv_b);
    ctx->h[0] ^= 0x01010000 ^ (uint64_t)key_bytes << 8 ^ (uint64_t)out_bytes;
    ctx->out_bytes = out_bytes;
    if (key_bytes != 0) {
        memcpy(ctx->block, key, key_bytes);
        ctx->used = sizeof ctx->block;
    }
}

/* The last block is compressed by blake2b_final, so a full one waits in ctx->block until more data
 * comes. */
void blake2b_update(blake2b_ctx *ctx, const void *data, size_t n) {
    const uint8_t *p = data;
    const size_t cap = sizeof ctx->block;
    if (n == 0) return;
    if (ctx->used + n > cap) {
        const size_t fill = cap - ctx->used;
        memcpy(ctx->block + ctx->used, p, fill);
        count_b(ctx, cap);
        compress_b(ctx, ctx->block, false);
        p += fill;
        n -= fill;
        ctx->used = 0;
        for (; n > cap; p += cap, n -= cap) {
            count_b(ctx, cap);
            compress_b(ctx, p, false);
        }
    }
    memcpy(ctx->block + ctx->used, p, n);
    ctx->used += n;
}

void blake2b_final(blake2b_ctx *ctx, uint8_t *out) {
    uint8_t full[64];
    count_b(ctx, ctx->used);
    memset(ctx->block + ctx->used, 0, sizeof ctx->block - ctx->used);
    compress_b(ctx, ctx->block, true);
    for (size_t i = 0; i < 8; i++)
        store_le64(full + 8 * i, ctx->h[i]);
    memcpy(out, full, ctx->out_bytes);
}

void blake2b(uint8_t *out, size_t out_bytes, const void *key, size_t key_bytes, const void *data,
             size_t n) {
    blake2b_ctx ctx;
    blake2b_init(&ctx, out_bytes, key, key_bytes);
    blake2b_update(&ctx, data, n);
    blake2b_final(&ctx, out);
}

/* ---- BLAKE2s ---- */

static const uint32_t iv_s[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

static uint32_t rotr32(uint32_t x, unsigned n) {
    return x >> n | x << (32 - n);
}

static inline void g_s(uint32_t v[16], const uint8_t at[4], uint32_t x, uint32_t y) {
    uint32_t a = v[at[0]], b = v[at[1]], c = v[at[2]], d = v[at[3]];
    a += b + x;
    d = rotr32(d ^ a, 16);
    c += d;
    b = rotr32(b ^ c, 12);
    a += b + y;
    d = rotr32(d ^ a, 8);
    c += d;
    b = rotr32(b ^ c, 7);
    v[at[0]] = a, v[at[1]] = b, v[at[2]] = c, v[at[3]] = d;
}

static void compress_s(blake2s_ctx *ctx, const uint8_t block[64], bool last) {
    uint32_t v[16], m[16];
    for (size_t i = 0; i < 8; i++) {
        v[i] = ctx->h[i];
        v[i + 8] = iv_s[i];
    }
    v[12] ^= ctx->t[0];
    v[13] ^= ctx->t[1];
    if (last) v[14] = ~v[14];
    for (size_t i = 0; i < 16; i++)
        m[i] = load_le32(block + 4 * i);
    for (size_t round = 0; round < 10; round++) {
        const uint8_t *s = sigma[round];
#pragma GCC unroll 8
        for (size_t i = 0; i < 8; i++)
            g_s(v, step[i], m[s[2 * i]], m[s[2 * i + 1]]);
    }
    for (size_t i = 0; i < 8; i++)
        ctx->h[i] ^= v[i] ^ v[i + 8];
}

static void count_s(blake2s_ctx *ctx, size_t n) {
    ctx->t[0] += (uint32_t)n;
    if (ctx->t[0] < n) ctx->t[1]++;
}

void blake2s_init(blake2s_ctx *ctx) {
    memset(ctx, 0, sizeof *ctx);
    memcpy(ctx->h, iv_s, sizeof iv_s);
    ctx->h[0] ^= 0x01010000 ^ 32;
}

void blake2s_update(blake2s_ctx *ctx, const void *data, size_t n) {
    const uint8_t *p = data;
    const size_t cap = sizeof ctx->block;
    if (n == 0) return;
    if (ctx->used + n > cap) {
        const size_t fill = cap - ctx->used;
        memcpy(ctx->block + ctx->used, p, fill);
        count_s(ctx, cap);
        compress_s(ctx, ctx->block, false);
        p += fill;
        n -= fill;
        ctx->used = 0;
        for (; n > cap; p += cap, n -= cap) {
            count_s(ctx, cap);
            compress_s(ctx, p, false);
        }
    }
    memcpy(ctx->block + ctx->used, p, n);
    ctx->used += n;
}

void blake2s_final(blake2s_ctx *ctx, uint8_t out[32]) {
    count_s(ctx, ctx->used);
    memset(ctx->block + ctx->used, 0, sizeof ctx->block - ctx->used);
    compress_s(ctx, ctx->block, true);
    for (size_t i = 0; i < 8; i++)
        store_le32(out + 4 * i, ctx->h[i]);
}
