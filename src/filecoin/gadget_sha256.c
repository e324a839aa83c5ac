#include "filecoin/gadget_sha256.h"

#include "hash/sha256.h"

#define ROUNDS 64
#define BLOCK_WORDS 16

/* out = xor of three words; t is room for the first xor. */
static void xor3(cs *c, gadget_word *out, const gadget_word *x, const gadget_word *y,
                 const gadget_word *z) {
    gadget_word t;
    word_xor(c, &t, x, y);
    word_xor(c, out, &t, z);
}

/* rotr(a, r0) ^ rotr(a, r1) ^ rotr(a, r2) */
static void big_sigma(cs *c, gadget_word *out, const gadget_word *a, unsigned r0, unsigned r1,
                      unsigned r2) {
    gadget_word x, y, z;
    word_rotr(c, &x, a, r0);
    word_rotr(c, &y, a, r1);
    word_rotr(c, &z, a, r2);
    xor3(c, out, &x, &y, &z);
}

/* rotr(a, r0) ^ rotr(a, r1) ^ shr(a, s) */
static void small_sigma(cs *c, gadget_word *out, const gadget_word *a, unsigned r0, unsigned r1,
                        unsigned s) {
    gadget_word x, y, z;
    word_rotr(c, &x, a, r0);
    word_rotr(c, &y, a, r1);
    word_shr(c, &z, a, s);
    xor3(c, out, &x, &y, &z);
}

/* w[0..15] are given; w[16..63] are made in store. */
static void message_schedule(cs *c, gadget_multieq *m, const gadget_word **w, gadget_word *store) {
    for (unsigned i = BLOCK_WORDS; i < ROUNDS; i++) {
        gadget_word s0, s1;
        small_sigma(c, &s0, w[i - 15], 7, 18, 3);
        small_sigma(c, &s1, w[i - 2], 17, 19, 10);
        const gadget_word *const sum[] = {w[i - 16], &s0, w[i - 7], &s1};
        word_add_many(c, m, &store[i - BLOCK_WORDS], sum, 4);
        w[i] = &store[i - BLOCK_WORDS];
    }
}

/* What a round leaves to be added up in the next one: e = h + S1 + ch + K + w + d and
 * a = h + S1 + ch + K + w + S0 + maj (trap T12). */
typedef struct deferred {
    gadget_word s1, ch, k, s0, maj;
    const gadget_word *h, *w, *d;
} deferred;

static void deferred_e(cs *c, gadget_multieq *m, gadget_word *out, const deferred *p,
                       const gadget_word *extra) {
    const gadget_word *const sum[] = {p->h, &p->s1, &p->ch, &p->k, p->w, p->d, extra};
    word_add_many(c, m, out, sum, extra != NULL ? 7 : 6);
}

static void deferred_a(cs *c, gadget_multieq *m, gadget_word *out, const deferred *p,
                       const gadget_word *extra) {
    const gadget_word *const sum[] = {p->h, &p->s1, &p->ch, &p->k, p->w, &p->s0, &p->maj, extra};
    word_add_many(c, m, out, sum, extra != NULL ? 8 : 7);
}

/* All values that a and e take: in round i, a = a[i + 3], b = a[i + 2], c = a[i + 1], d = a[i], and
 * likewise e, f, g, h. */
typedef struct working {
    const gadget_word *a[ROUNDS + 3], *e[ROUNDS + 3];
    gadget_word a_store[ROUNDS - 1], e_store[ROUNDS - 1];
    gadget_word w_store[ROUNDS - BLOCK_WORDS];
    deferred pending[2]; /* of round i in pending[i % 2] */
} working;

static void round_i(cs *c, gadget_multieq *m, working *s, const gadget_word *w, unsigned i) {
    const deferred *before = &s->pending[(i + 1) % 2];
    deferred *now = &s->pending[i % 2];
    if (i > 0) {
        deferred_e(c, m, &s->e_store[i - 1], before, NULL);
        s->e[i + 3] = &s->e_store[i - 1];
    }
    const gadget_word *const *e = s->e + i, *const *a = s->a + i;
    big_sigma(c, &now->s1, e[3], 6, 11, 25);
    word_ch(c, &now->ch, e[3], e[2], e[1]);
    if (i > 0) {
        deferred_a(c, m, &s->a_store[i - 1], before, NULL);
        s->a[i + 3] = &s->a_store[i - 1];
    }
    big_sigma(c, &now->s0, a[3], 2, 13, 22);
    word_maj(c, &now->maj, a[3], a[2], a[1]);
    word_constant(&now->k, sha256_k[i]);
    now->h = e[0];
    now->d = a[0];
    now->w = w;
}

/* One compression: state is replaced. w has room for ROUNDS pointers, the first 16 filled. */
static void compress(cs *c, gadget_word state[8], const gadget_word **w) {
    working s;
    gadget_multieq m;
    gadget_word next[8];
    multieq_begin(c, &m);
    message_schedule(c, &m, w, s.w_store);
    for (unsigned j = 0; j < 4; j++) {
        s.a[j] = &state[3 - j];
        s.e[j] = &state[7 - j];
    }
    for (unsigned i = 0; i < ROUNDS; i++)
        round_i(c, &m, &s, w[i], i);

    const deferred *last = &s.pending[(ROUNDS - 1) % 2];
    for (unsigned j = 0; j < 8; j++) {
        const gadget_word *const *history = j < 4 ? s.a : s.e;
        if (j == 0) {
            deferred_a(c, &m, &next[j], last, &state[j]);
        } else if (j == 4) {
            deferred_e(c, &m, &next[j], last, &state[j]);
        } else {
            const gadget_word *const sum[] = {&state[j], history[ROUNDS + 3 - j % 4]};
            word_add_many(c, &m, &next[j], sum, 2);
        }
    }
    multieq_end(c, &m);
    for (unsigned j = 0; j < 8; j++)
        word_copy(c, &state[j], &next[j]);
}

void gadget_sha256(cs *c, gadget_word out[8], const gadget_word *const *words, size_t n) {
    gadget_word zero, terminator, length;
    word_constant(&zero, 0);
    word_constant(&terminator, 0x80000000u);
    word_constant(&length, (uint32_t)(32 * n)); /* messages here are far below 2^32 bits */
    for (unsigned j = 0; j < 8; j++)
        word_constant(&out[j], sha256_iv[j]);
    const size_t blocks = (n + 3 + BLOCK_WORDS - 1) / BLOCK_WORDS;
    for (size_t b = 0; b < blocks; b++) {
        const gadget_word *w[ROUNDS];
        for (size_t j = 0; j < BLOCK_WORDS; j++) {
            const size_t at = b * BLOCK_WORDS + j;
            w[j] = at < n ? words[at] : at == n ? &terminator : &zero;
        }
        if (b == blocks - 1) w[BLOCK_WORDS - 1] = &length;
        compress(c, out, w);
    }
}
