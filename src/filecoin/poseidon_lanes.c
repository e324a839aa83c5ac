/* Traces, and eight hashes at a time with AVX-512 IFMA: a lane a hash.
 *
 * Form. Lanes hold numbers as memory does, x 2^256, while a product by ifma_fr_mul divides by
 * 2^260: every product or sum of products is multiplied by 2^4 before its reduction (`restore`),
 * and nothing else changes form.
 *
 * Bounds, as multiples of r (35 fit, 32 may be reduced). State elements and S-box powers are below
 * 2, constants below 1. A product of two of them is below 1 + 4 / 35, with a constant below 1.06;
 * a sum of 12 such is below 12.8 and reduced before it is restored. Limbs of raw products are below
 * 2^59, of raw sums of 12 below 2^62. */
#include "filecoin/poseidon.h"

#include <string.h>

#include "field/cpu.h"
#include "field/ifma.h"

uint32_t poseidon_trace_length(const poseidon_constants *k) {
    return 31 * k->width + 4 * k->partial_rounds - 2;
}

/* ---- one ---- */

/* z = x^5 + post; the two powers and the result to out. */
static fr_t *trace_sbox(fr_t *z, const fr_t *post, fr_t *out) {
    fr_t x2, x4;
    fr_sqr(&x2, z);
    fr_sqr(&x4, &x2);
    fr_mul(z, z, &x4);
    if (post != NULL) fr_add(z, z, post);
    *out++ = x2;
    *out++ = x4;
    *out++ = *z;
    return out;
}

void poseidon_tag_sbox(const poseidon_constants *k, fr_t *z) {
    fr_t unused[3];
    fr_add(z, &k->tag, &k->compressed[0]);
    (void)trace_sbox(z, &k->compressed[k->width], unused);
}

void poseidon_trace(const poseidon_constants *k, const fr_t *in, fr_t *out) {
    fr_t state[POSEIDON_MAX_WIDTH];
    const fr_t *key = k->compressed + k->width + 1;
    poseidon_tag_sbox(k, &state[0]);
    for (uint32_t i = 1; i < k->width; i++) {
        fr_add(&state[i], &in[i - 1], &k->compressed[i]);
        out = trace_sbox(&state[i], key++, out);
    }
    poseidon_linear(k, 0, state);
    const uint32_t last = poseidon_rounds(k) - 1;
    for (uint32_t round = 1; round <= last; round++) {
        const uint32_t boxes = poseidon_is_partial(k, round) ? 1 : k->width;
        for (uint32_t i = 0; i < boxes; i++) {
            *out++ = state[i];
            out = trace_sbox(&state[i], round < last ? key++ : NULL, out);
        }
        poseidon_linear(k, round, state);
    }
    *out = state[1];
}

/* ---- eight ---- */

#if defined(__x86_64__)

typedef struct lanes {
    const poseidon_constants *k;
    ifma_fr state[POSEIDON_MAX_WIDTH];
    bool trace;
    unsigned n;               /* lanes in use */
    fr_t *to[POSEIDON_LANES]; /* where the next value goes; unused lanes: as lane 0 */
} lanes;

/* A constant in all lanes. */
IFMA_INLINE void splat(ifma_fr *z, const fr_t *x) {
    const uint64_t mask = ((uint64_t)1 << 52) - 1, *w = x->l;
    const uint64_t limbs[IFMA_FR_LIMBS] = {w[0] & mask, (w[0] >> 52 | w[1] << 12) & mask,
                                           (w[1] >> 40 | w[2] << 24) & mask,
                                           (w[2] >> 28 | w[3] << 36) & mask, w[3] >> 16};
    ifma_fr_splat(z, limbs);
}

/* z = 16 x + y below 2 r, for a tidy x and 16 x + y below 32 r; y may be NULL. */
IFMA_INLINE void restore(ifma_fr *z, const ifma_fr *x, const ifma_fr *y) {
    ifma_fr t;
    for (int i = 0; i < IFMA_FR_LIMBS; i++)
        t.l[i] = _mm512_slli_epi64(x->l[i], 4);
    if (y != NULL) ifma_fr_add_raw(&t, &t, y);
    ifma_fr_tidy(&t, &t);
    ifma_fr_reduce(z, &t);
}

IFMA_TARGET static void put(lanes *s, const ifma_fr *x) {
    ifma_fr v;
    ifma_fr_subtract_once(&v, x);
    ifma_fr_store(s->to, s->n, &v);
    for (unsigned i = 0; i < POSEIDON_LANES; i++)
        s->to[i]++;
}

IFMA_TARGET static void sbox(lanes *s, uint32_t i, const fr_t *post) {
    ifma_fr *const x = &s->state[i], x2, x4, t, constant;
    ifma_fr_sqr(&t, x);
    restore(&x2, &t, NULL);
    ifma_fr_sqr(&t, &x2);
    restore(&x4, &t, NULL);
    ifma_fr_mul(&t, x, &x4);
    if (post != NULL) splat(&constant, post);
    restore(x, &t, post != NULL ? &constant : NULL);
    if (!s->trace) return;
    put(s, &x2);
    put(s, &x4);
    put(s, x);
}

/* z = the sum of state[i] times the constant at entries + i stride. */
IFMA_TARGET static void dot(const lanes *s, const fr_t *entries, size_t stride, ifma_fr *z) {
    ifma_fr sum, c, t;
    splat(&c, entries);
    ifma_fr_mul_raw(&sum, &s->state[0], &c);
    for (uint32_t i = 1; i < s->k->width; i++) {
        splat(&c, entries + i * stride);
        ifma_fr_mul_raw(&t, &s->state[i], &c);
        ifma_fr_add_raw(&sum, &sum, &t);
    }
    ifma_fr_tidy(&sum, &sum);
    ifma_fr_reduce(&sum, &sum);
    restore(z, &sum, NULL);
}

IFMA_TARGET static void linear_dense(lanes *s, uint32_t round) {
    const fr_t(*m)[POSEIDON_MAX_WIDTH] = poseidon_dense(s->k, round);
    ifma_fr next[POSEIDON_MAX_WIDTH];
    for (uint32_t j = 0; j < s->k->width; j++)
        dot(s, &m[0][j], POSEIDON_MAX_WIDTH, &next[j]);
    memcpy(s->state, next, s->k->width * sizeof next[0]);
}

IFMA_TARGET static void linear_sparse(lanes *s, uint32_t pair) {
    ifma_fr first, c, t;
    dot(s, s->k->sparse_what[pair], 1, &first);
    for (uint32_t j = 1; j < s->k->width; j++) {
        splat(&c, &s->k->sparse_v[pair][j - 1]);
        ifma_fr_mul(&t, &s->state[0], &c);
        restore(&s->state[j], &t, &s->state[j]);
    }
    s->state[0] = first;
}

IFMA_TARGET static void first_round(lanes *s, const fr_t *const in[POSEIDON_LANES]) {
    const poseidon_constants *k = s->k;
    ifma_fr constant;
    fr_t tag;
    poseidon_tag_sbox(k, &tag);
    splat(&s->state[0], &tag);
    for (uint32_t i = 1; i < k->width; i++) {
        const fr_t *from[POSEIDON_LANES];
        for (unsigned lane = 0; lane < POSEIDON_LANES; lane++)
            from[lane] = in[lane < s->n ? lane : 0] + (i - 1);
        ifma_fr_load(&s->state[i], from);
        splat(&constant, &k->compressed[i]);
        ifma_fr_add(&s->state[i], &s->state[i], &constant);
        sbox(s, i, &k->compressed[k->width + i]);
    }
    linear_dense(s, 0);
}

IFMA_TARGET static void hash_lanes(lanes *s, const fr_t *const in[POSEIDON_LANES]) {
    const poseidon_constants *k = s->k;
    const fr_t *key = k->compressed + 2 * k->width;
    first_round(s, in);
    const uint32_t last = poseidon_rounds(k) - 1;
    for (uint32_t round = 1; round <= last; round++) {
        const bool partial = poseidon_is_partial(k, round);
        for (uint32_t i = 0; i < (partial ? 1 : k->width); i++) {
            if (s->trace) put(s, &s->state[i]);
            sbox(s, i, round < last ? key++ : NULL);
        }
        if (partial)
            linear_sparse(s, round - POSEIDON_FULL_ROUNDS / 2);
        else if (round < last)
            linear_dense(s, round);
    }
    ifma_fr digest;
    dot(s, &poseidon_dense(k, last)[0][1], POSEIDON_MAX_WIDTH, &digest);
    put(s, &digest);
}

static bool run_lanes(const poseidon_constants *k, unsigned n, const fr_t *const in[],
                      fr_t *const out[], bool trace) {
    if (!cuzk_cpu_has_avx512ifma()) return false;
    lanes s = {.k = k, .trace = trace, .n = n};
    for (unsigned i = 0; i < POSEIDON_LANES; i++)
        s.to[i] = out[i < n ? i : 0];
    hash_lanes(&s, in);
    explicit_bzero(&s, sizeof s);
    return true;
}

#else

static bool run_lanes(const poseidon_constants *k, unsigned n, const fr_t *const in[],
                      fr_t *const out[], bool trace) {
    (void)k, (void)n, (void)in, (void)out, (void)trace;
    return false;
}

#endif

void poseidon_hash_lanes(const poseidon_constants *k, unsigned n, const fr_t *const in[],
                         fr_t *const out[]) {
    if (n > 1 && run_lanes(k, n, in, out, false)) return;
    for (unsigned i = 0; i < n; i++)
        poseidon_hash(k, in[i], out[i]);
}

void poseidon_trace_lanes(const poseidon_constants *k, unsigned n, const fr_t *const in[],
                          fr_t *const out[]) {
    if (n > 1 && run_lanes(k, n, in, out, true)) return;
    for (unsigned i = 0; i < n; i++)
        poseidon_trace(k, in[i], out[i]);
}
