/* One of the two BLAKE2 functions. The including file defines:
 *   WORD, WORD_BITS, LOAD, STORE    the word and its little-endian form
 *   CONTEXT                         blake2b_ctx or blake2s_ctx
 *   NAME(x)                         the name of a function
 *   ROUNDS, R1, R2, R3, R4          rounds and rotations
 *   IV                              eight words */
static const WORD NAME(iv)[8] = {IV};

static inline WORD NAME(rotr)(WORD x, unsigned n) {
    return x >> n | x << (WORD_BITS - n);
}

static inline void NAME(g)(WORD v[16], const uint8_t at[4], WORD x, WORD y) {
    WORD a = v[at[0]], b = v[at[1]], c = v[at[2]], d = v[at[3]];
    a += b + x;
    d = NAME(rotr)(d ^ a, R1);
    c += d;
    b = NAME(rotr)(b ^ c, R2);
    a += b + y;
    d = NAME(rotr)(d ^ a, R3);
    c += d;
    b = NAME(rotr)(b ^ c, R4);
    v[at[0]] = a, v[at[1]] = b, v[at[2]] = c, v[at[3]] = d;
}

/* n bytes more have been hashed, with this block. */
static void NAME(compress)(CONTEXT *ctx, const uint8_t *block, size_t n, bool last) {
    WORD v[16], m[16];
    ctx->t[0] += (WORD)n;
    if (ctx->t[0] < n) ctx->t[1]++;
    for (size_t i = 0; i < 8; i++) {
        v[i] = ctx->h[i];
        v[i + 8] = NAME(iv)[i];
    }
    v[12] ^= ctx->t[0];
    v[13] ^= ctx->t[1];
    if (last) v[14] = ~v[14];
    for (size_t i = 0; i < 16; i++)
        m[i] = LOAD(block + sizeof(WORD) * i);
    for (size_t round = 0; round < ROUNDS; round++) {
        const uint8_t *s = sigma[round % 10];
#pragma GCC unroll 8
        for (size_t i = 0; i < 8; i++)
            NAME(g)(v, step[i], m[s[2 * i]], m[s[2 * i + 1]]);
    }
    for (size_t i = 0; i < 8; i++)
        ctx->h[i] ^= v[i] ^ v[i + 8];
}

static void NAME(start)(CONTEXT *ctx, size_t out_bytes, const void *key, size_t key_bytes) {
    memset(ctx, 0, sizeof *ctx);
    memcpy(ctx->h, NAME(iv), sizeof NAME(iv));
    ctx->h[0] ^= 0x01010000 ^ (WORD)key_bytes << 8 ^ (WORD)out_bytes;
    if (key_bytes != 0) {
        memcpy(ctx->block, key, key_bytes);
        ctx->used = sizeof ctx->block;
    }
}

/* The last block is compressed at the end, so a full one waits in ctx->block until more data comes.
 */
void NAME(update)(CONTEXT *ctx, const void *data, size_t n) {
    const uint8_t *p = data;
    const size_t cap = sizeof ctx->block;
    if (n == 0) return;
    if (ctx->used + n > cap) {
        const size_t fill = cap - ctx->used;
        memcpy(ctx->block + ctx->used, p, fill);
        NAME(compress)(ctx, ctx->block, cap, false);
        p += fill;
        n -= fill;
        ctx->used = 0;
        for (; n > cap; p += cap, n -= cap)
            NAME(compress)(ctx, p, cap, false);
    }
    memcpy(ctx->block + ctx->used, p, n);
    ctx->used += n;
}

static void NAME(finish)(CONTEXT *ctx, uint8_t *out, size_t out_bytes) {
    uint8_t full[8 * sizeof(WORD)];
    memset(ctx->block + ctx->used, 0, sizeof ctx->block - ctx->used);
    NAME(compress)(ctx, ctx->block, ctx->used, true);
    for (size_t i = 0; i < 8; i++)
        STORE(full + sizeof(WORD) * i, ctx->h[i]);
    memcpy(out, full, out_bytes);
}

#undef WORD
#undef WORD_BITS
#undef LOAD
#undef STORE
#undef CONTEXT
#undef NAME
#undef ROUNDS
#undef R1
#undef R2
#undef R3
#undef R4
#undef IV
