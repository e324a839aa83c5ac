#include "hash/sha256.h"

#include <string.h>

#include "base/bytes.h"
#include "hash/sha256_impl.h"

const uint32_t sha256_iv[8] = {
    0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
};

const uint32_t sha256_k[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t rotr(uint32_t x, unsigned n) {
    return x >> n | x << (32 - n);
}

static void compress(uint32_t state[8], const uint8_t block[64]) {
    uint32_t w[64], s[8];
    for (size_t i = 0; i < 16; i++)
        w[i] = load_be32(block + 4 * i);
    for (size_t i = 16; i < 64; i++) {
        const uint32_t x = w[i - 15], y = w[i - 2];
        const uint32_t s0 = rotr(x, 7) ^ rotr(x, 18) ^ x >> 3;
        const uint32_t s1 = rotr(y, 17) ^ rotr(y, 19) ^ y >> 10;
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    memcpy(s, state, sizeof s);
    for (size_t i = 0; i < 64; i++) {
        const uint32_t a = s[0], e = s[4];
        const uint32_t ch = (e & s[5]) ^ (~e & s[6]);
        const uint32_t maj = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
        const uint32_t t1 =
            s[7] + (rotr(e, 6) ^ rotr(e, 11) ^ rotr(e, 25)) + ch + sha256_k[i] + w[i];
        const uint32_t t2 = (rotr(a, 2) ^ rotr(a, 13) ^ rotr(a, 22)) + maj;
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (size_t i = 0; i < 8; i++)
        state[i] += s[i];
}

void sha256_blocks_plain(uint32_t state[8], const uint8_t *blocks, size_t n) {
    for (size_t i = 0; i < n; i++)
        compress(state, blocks + 64 * i);
}

void sha256_blocks(uint32_t state[8], const uint8_t *blocks, size_t n) {
#ifdef CUZK_SHA_NI
    if (sha256_ni_available()) {
        sha256_blocks_ni(state, blocks, n);
        return;
    }
#endif
    sha256_blocks_plain(state, blocks, n);
}

void sha256_init(sha256_ctx *ctx) {
    memcpy(ctx->state, sha256_iv, sizeof sha256_iv);
    ctx->bytes = 0;
}

void sha256_update(sha256_ctx *ctx, const void *data, size_t n) {
    const uint8_t *p = data;
    const size_t used = ctx->bytes % 64;
    if (n == 0) return;
    ctx->bytes += n;
    if (used != 0) {
        const size_t take = n < 64 - used ? n : 64 - used;
        memcpy(ctx->block + used, p, take);
        if (used + take < 64) return;
        sha256_blocks(ctx->state, ctx->block, 1);
        p += take;
        n -= take;
    }
    sha256_blocks(ctx->state, p, n / 64);
    if (n % 64 != 0) memcpy(ctx->block, p + n / 64 * 64, n % 64);
}

void sha256_final(sha256_ctx *ctx, uint8_t out[32]) {
    size_t used = ctx->bytes % 64;
    ctx->block[used++] = 0x80;
    if (used > 56) {
        memset(ctx->block + used, 0, 64 - used);
        sha256_blocks(ctx->state, ctx->block, 1);
        used = 0;
    }
    memset(ctx->block + used, 0, 56 - used);
    store_be64(ctx->block + 56, ctx->bytes * 8);
    sha256_blocks(ctx->state, ctx->block, 1);
    for (size_t i = 0; i < 8; i++)
        store_be32(out + 4 * i, ctx->state[i]);
}

void sha256(uint8_t out[32], const void *data, size_t n) {
    sha256_ctx ctx;
    sha256_init(&ctx);
    sha256_update(&ctx, data, n);
    sha256_final(&ctx, out);
}
