/* Eight field elements at a time with AVX-512 IFMA (x86-64 only): 52-bit limbs, one lane an
 * element, one body for both primes of BLS12-381.
 *
 * Form. Lane i of l[j] is limb j of element i. A number is *tidy* when every limb is in
 * [0, 2^52): what products, reductions and stores require of their operands and every function not
 * named _raw returns. Raw sums may hold any signed limbs as long as the whole value is >= 0 and
 * fits, until ifma_*_tidy.
 *
 * Bounds. Numbers are congruent mod p to what they stand for and less than a small multiple of p,
 * which the caller keeps track of: 2^260 > 35 r, 2^416 > 2^35 p.
 *   mul, sqr   x < X p and y < Y p give z < (1 + X Y p / R) p. Fr: X Y <= 35 gives z < 2 r.
 *              Fp: X Y <= 2^30 gives z < 1.04 p.
 *   add        X + Y
 *   sub(k)     x - y + 2^k p for y <= 2^k p: X + 2^k
 *   reduce     x < 32 r, x < 1024 p: z < 2 p;   canonical: z < p
 *
 * Montgomery form. R is 2^260 for Fr and 2^416 for Fp, while fr_t and fp_t have 2^256 and 2^384.
 * load and store only change the limbs, never the number: a loaded fp_t x R64 counts here as
 * (x R64 / R) R, and one mul by the constants `enter` and `leave` (ifma_*_enter, _leave) changes
 * between the forms. What is linear in the data (a transform, whose twiddles are in this form)
 * needs no change of form at all.
 *
 * Everything is inlined into callers marked IFMA_TARGET, which may run only where
 * cuzk_cpu_has_avx512ifma(). Outputs may alias inputs. Plain twins: fr.h and fp.h. */
#ifndef CUZK_FIELD_IFMA_H
#define CUZK_FIELD_IFMA_H

#if defined(__x86_64__)

#include <immintrin.h>

#include "field/fp.h"
#include "field/fr.h"

#define IFMA_TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")))
#define IFMA_INLINE                                                                                \
    static inline                                                                                  \
        __attribute__((always_inline, target("avx512f,avx512dq,avx512vl,avx512bw,avx512ifma")))
#if defined(__clang__)
#define IFMA_UNROLL _Pragma("clang loop unroll(full)")
#else
#define IFMA_UNROLL _Pragma("GCC unroll 16")
#endif

#define IFMA_LANES 8
#define IFMA_FR_LIMBS 5
#define IFMA_FP_LIMBS 8
#define IFMA_MAX_LIMBS 8

typedef struct ifma_prime {
    uint64_t p[IFMA_MAX_LIMBS];
    uint64_t minus_p[IFMA_MAX_LIMBS]; /* R - p */
    uint64_t one[IFMA_MAX_LIMBS];     /* R mod p */
    uint64_t enter[IFMA_MAX_LIMBS];   /* R^2 / R64 mod p: mul takes x R64 to x R */
    uint64_t leave[IFMA_MAX_LIMBS];   /* R64 mod p: mul takes x R to x R64 */
    uint64_t n0;                      /* -p^-1 mod 2^52 */
    uint64_t top_inverse;             /* floor(2^(52 + top_shift) / (top limb of p + 1)) */
    unsigned top_shift;               /* bit length of the top limb of p, less 1 */
} ifma_prime;

extern const ifma_prime ifma_fr_prime, ifma_fp_prime;

typedef struct ifma_fr {
    __m512i l[IFMA_FR_LIMBS];
} ifma_fr;
typedef struct ifma_fp {
    __m512i l[IFMA_FP_LIMBS];
} ifma_fp;

/* ---- Bodies for n limbs, n a compile-time constant ---- */

IFMA_INLINE __m512i ifma_splat(uint64_t v) {
    return _mm512_set1_epi64((long long)v);
}

/* Carry signed limbs upwards; the top one keeps what is left. */
IFMA_INLINE void ifma_tidy_limbs(__m512i *z, const __m512i *x, int n) {
    const __m512i mask = ifma_splat(((uint64_t)1 << 52) - 1);
    __m512i carry = _mm512_setzero_si512();
    IFMA_UNROLL for (int i = 0; i < n - 1; i++) {
        const __m512i sum = _mm512_add_epi64(x[i], carry);
        z[i] = _mm512_and_si512(sum, mask);
        carry = _mm512_srai_epi64(sum, 52);
    }
    z[n - 1] = _mm512_add_epi64(x[n - 1], carry);
}

/* One Montgomery step: t[0..n] += m p with m such that t[0] becomes a multiple of 2^52, whose
 * carry goes to t[1]. The low product of limb 0 is not needed: it rounds t[0] up. */
IFMA_INLINE void ifma_reduce_step(__m512i *t, const ifma_prime *P, int n) {
    const __m512i mask = ifma_splat(((uint64_t)1 << 52) - 1);
    const __m512i m = _mm512_madd52lo_epu64(_mm512_setzero_si512(), t[0], ifma_splat(P->n0));
    const __m512i carry = _mm512_srli_epi64(_mm512_add_epi64(t[0], mask), 52);
    IFMA_UNROLL for (int j = 1; j < n; j++) t[j] =
        _mm512_madd52lo_epu64(t[j], m, ifma_splat(P->p[j]));
    IFMA_UNROLL for (int j = 0; j < n; j++) t[j + 1] =
        _mm512_madd52hi_epu64(t[j + 1], m, ifma_splat(P->p[j]));
    t[1] = _mm512_add_epi64(t[1], carry);
}

/* z = x y / R, limbs below 2^58: row by row (operand scanning). Each limb collects at most four
 * 52-bit halves a row. */
IFMA_INLINE void ifma_mul_raw_limbs(__m512i *z, const __m512i *x, const __m512i *y,
                                    const ifma_prime *P, int n) {
    __m512i t[2 * IFMA_MAX_LIMBS];
    IFMA_UNROLL for (int i = 0; i < 2 * n; i++) t[i] = _mm512_setzero_si512();
    IFMA_UNROLL for (int i = 0; i < n; i++) {
        IFMA_UNROLL for (int j = 0; j < n; j++) t[i + j] =
            _mm512_madd52lo_epu64(t[i + j], x[j], y[i]);
        IFMA_UNROLL for (int j = 0; j < n; j++) t[i + j + 1] =
            _mm512_madd52hi_epu64(t[i + j + 1], x[j], y[i]);
        ifma_reduce_step(t + i, P, n);
    }
    IFMA_UNROLL for (int i = 0; i < n; i++) z[i] = t[n + i];
}

/* z = x^2 / R, limbs below 2^59: products of different limbs once, doubled. */
IFMA_INLINE void ifma_sqr_raw_limbs(__m512i *z, const __m512i *x, const ifma_prime *P, int n) {
    __m512i t[2 * IFMA_MAX_LIMBS];
    IFMA_UNROLL for (int i = 0; i < 2 * n; i++) t[i] = _mm512_setzero_si512();
    IFMA_UNROLL for (int i = 0; i < n; i++) {
        IFMA_UNROLL for (int j = i + 1; j < n; j++) {
            t[i + j] = _mm512_madd52lo_epu64(t[i + j], x[j], x[i]);
            t[i + j + 1] = _mm512_madd52hi_epu64(t[i + j + 1], x[j], x[i]);
        }
    }
    IFMA_UNROLL for (int i = 0; i < 2 * n; i++) t[i] = _mm512_add_epi64(t[i], t[i]);
    IFMA_UNROLL for (int i = 0; i < n; i++) {
        t[2 * i] = _mm512_madd52lo_epu64(t[2 * i], x[i], x[i]);
        t[2 * i + 1] = _mm512_madd52hi_epu64(t[2 * i + 1], x[i], x[i]);
    }
    IFMA_UNROLL for (int i = 0; i < n; i++) ifma_reduce_step(t + i, P, n);
    IFMA_UNROLL for (int i = 0; i < n; i++) z[i] = t[n + i];
}

IFMA_INLINE void ifma_sub_raw_limbs(__m512i *z, const __m512i *x, const __m512i *y, unsigned k,
                                    const ifma_prime *P, int n) {
    IFMA_UNROLL for (int i = 0; i < n; i++) z[i] =
        _mm512_add_epi64(_mm512_sub_epi64(x[i], y[i]), ifma_splat(P->p[i] << k));
}

/* z = x - q p, q <= x/p estimated from the top limb and at most one too small. */
IFMA_INLINE void ifma_reduce_limbs(__m512i *z, const __m512i *x, const ifma_prime *P, int n) {
    const __m512i zero = _mm512_setzero_si512();
    const __m512i high = _mm512_madd52hi_epu64(zero, x[n - 1], ifma_splat(P->top_inverse));
    const __m512i q = _mm512_srli_epi64(high, P->top_shift);
    __m512i t[IFMA_MAX_LIMBS];
    IFMA_UNROLL for (int i = 0; i < n; i++) t[i] =
        _mm512_madd52lo_epu64(x[i], q, ifma_splat(P->minus_p[i]));
    IFMA_UNROLL for (int i = 0; i < n - 1; i++) t[i + 1] =
        _mm512_madd52hi_epu64(t[i + 1], q, ifma_splat(P->minus_p[i]));
    ifma_tidy_limbs(z, t, n);
    z[n - 1] = _mm512_and_si512(z[n - 1], ifma_splat(((uint64_t)1 << 52) - 1)); /* less q R */
}

/* z = x - p where x >= p, for x < 2 p. */
IFMA_INLINE void ifma_subtract_once_limbs(__m512i *z, const __m512i *x, const ifma_prime *P,
                                          int n) {
    const __m512i over = ifma_splat((uint64_t)1 << 52);
    __m512i t[IFMA_MAX_LIMBS];
    IFMA_UNROLL for (int i = 0; i < n; i++) t[i] =
        _mm512_add_epi64(x[i], ifma_splat(P->minus_p[i]));
    ifma_tidy_limbs(t, t, n);
    const __mmask8 above = _mm512_test_epi64_mask(t[n - 1], over); /* x - p + R >= R */
    t[n - 1] = _mm512_andnot_si512(over, t[n - 1]);
    IFMA_UNROLL for (int i = 0; i < n; i++) z[i] = _mm512_mask_blend_epi64(above, x[i], t[i]);
}

/* 64-bit words to 52-bit limbs and back; the number must fit. */
IFMA_INLINE void ifma_split_words(__m512i *z, const __m512i *words, int n, int n64) {
    const __m512i mask = ifma_splat(((uint64_t)1 << 52) - 1);
    IFMA_UNROLL for (int i = 0; i < n; i++) {
        const int word = 52 * i / 64, shift = 52 * i % 64;
        __m512i v = _mm512_srli_epi64(words[word], (unsigned)shift);
        if (shift > 12 && word + 1 < n64)
            v = _mm512_or_si512(v, _mm512_slli_epi64(words[word + 1], (unsigned)(64 - shift)));
        z[i] = _mm512_and_si512(v, mask);
    }
}
IFMA_INLINE void ifma_join_words(__m512i *words, const __m512i *x, int n, int n64) {
    IFMA_UNROLL for (int w = 0; w < n64; w++) {
        const int limb = 64 * w / 52, shift = 64 * w % 52;
        __m512i v = _mm512_srli_epi64(x[limb], (unsigned)shift);
        IFMA_UNROLL for (int i = 1; 52 * i - shift < 64; i++) if (limb + i < n) v =
            _mm512_or_si512(v, _mm512_slli_epi64(x[limb + i], (unsigned)(52 * i - shift)));
        words[w] = v;
    }
}

/* Four words from each of eight places, and back. */
IFMA_INLINE void ifma_gather4(__m512i w[4], const uint64_t *const from[IFMA_LANES]) {
    __m512i r[4];
    IFMA_UNROLL for (int i = 0; i < 4; i++) r[i] =
        _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_loadu_si256((const __m256i *)from[i])),
                           _mm256_loadu_si256((const __m256i *)from[i + 4]), 1);
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    const __m512i even01 = _mm512_unpacklo_epi64(r[0], r[1]);
    const __m512i odd01 = _mm512_unpackhi_epi64(r[0], r[1]);
    const __m512i even23 = _mm512_unpacklo_epi64(r[2], r[3]);
    const __m512i odd23 = _mm512_unpackhi_epi64(r[2], r[3]);
    w[0] = _mm512_permutex2var_epi64(even01, low, even23);
    w[1] = _mm512_permutex2var_epi64(odd01, low, odd23);
    w[2] = _mm512_permutex2var_epi64(even01, high, even23);
    w[3] = _mm512_permutex2var_epi64(odd01, high, odd23);
}
IFMA_INLINE void ifma_scatter4(uint64_t *const to[IFMA_LANES], unsigned lanes, const __m512i w[4]) {
    const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i high = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    const __m512i even01 = _mm512_unpacklo_epi64(w[0], w[1]); /* lanes 0, 2, 4, 6: words 0, 1 */
    const __m512i odd01 = _mm512_unpackhi_epi64(w[0], w[1]);
    const __m512i even23 = _mm512_unpacklo_epi64(w[2], w[3]);
    const __m512i odd23 = _mm512_unpackhi_epi64(w[2], w[3]);
    const __m512i r[4] = {_mm512_permutex2var_epi64(even01, low, even23),
                          _mm512_permutex2var_epi64(odd01, low, odd23),
                          _mm512_permutex2var_epi64(even01, high, even23),
                          _mm512_permutex2var_epi64(odd01, high, odd23)};
    IFMA_UNROLL for (unsigned i = 0; i < 4; i++) {
        if (i < lanes) _mm256_storeu_si256((__m256i *)to[i], _mm512_castsi512_si256(r[i]));
        if (i + 4 < lanes)
            _mm256_storeu_si256((__m256i *)to[i + 4], _mm512_extracti64x4_epi64(r[i], 1));
    }
}
/* Two words from each of eight places, and back. */
IFMA_INLINE void ifma_gather2(__m512i w[2], const uint64_t *const from[IFMA_LANES]) {
    __m512i r[2];
    IFMA_UNROLL for (int i = 0; i < 2; i++) {
        __m512i v = _mm512_castsi128_si512(_mm_loadu_si128((const __m128i *)from[i]));
        v = _mm512_inserti64x2(v, _mm_loadu_si128((const __m128i *)from[i + 2]), 1);
        v = _mm512_inserti64x2(v, _mm_loadu_si128((const __m128i *)from[i + 4]), 2);
        r[i] = _mm512_inserti64x2(v, _mm_loadu_si128((const __m128i *)from[i + 6]), 3);
    }
    w[0] = _mm512_unpacklo_epi64(r[0], r[1]);
    w[1] = _mm512_unpackhi_epi64(r[0], r[1]);
}
IFMA_INLINE void ifma_scatter2(uint64_t *const to[IFMA_LANES], unsigned lanes, const __m512i w[2]) {
    const __m512i r[2] = {_mm512_unpacklo_epi64(w[0], w[1]), _mm512_unpackhi_epi64(w[0], w[1])};
    IFMA_UNROLL for (unsigned i = 0; i < 2; i++) {
        if (i < lanes) _mm_storeu_si128((__m128i *)to[i], _mm512_castsi512_si128(r[i]));
        if (i + 2 < lanes)
            _mm_storeu_si128((__m128i *)to[i + 2], _mm512_extracti64x2_epi64(r[i], 1));
        if (i + 4 < lanes)
            _mm_storeu_si128((__m128i *)to[i + 4], _mm512_extracti64x2_epi64(r[i], 2));
        if (i + 6 < lanes)
            _mm_storeu_si128((__m128i *)to[i + 6], _mm512_extracti64x2_epi64(r[i], 3));
    }
}

/* ---- The operations, for ifma_fr and ifma_fp: a template, included once for each ---- */

#define IFMA_FIELD fr
#define IFMA_N IFMA_FR_LIMBS
#include "field/ifma_ops.h"

#define IFMA_FIELD fp
#define IFMA_N IFMA_FP_LIMBS
#include "field/ifma_ops.h"

/* Eight elements from eight places; the number does not change (see above). */
IFMA_INLINE void ifma_fr_load(ifma_fr *z, const fr_t *const from[IFMA_LANES]) {
    const uint64_t *words[IFMA_LANES];
    __m512i w[FR_LIMBS];
    IFMA_UNROLL for (int i = 0; i < IFMA_LANES; i++) words[i] = from[i]->l;
    ifma_gather4(w, words);
    ifma_split_words(z->l, w, IFMA_FR_LIMBS, FR_LIMBS);
}
/* The first `lanes` elements to as many places. x is tidy and below 2^256. */
IFMA_INLINE void ifma_fr_store(fr_t *const to[IFMA_LANES], unsigned lanes, const ifma_fr *x) {
    uint64_t *words[IFMA_LANES];
    __m512i w[FR_LIMBS];
    IFMA_UNROLL for (int i = 0; i < IFMA_LANES; i++) words[i] = to[i]->l;
    ifma_join_words(w, x->l, IFMA_FR_LIMBS, FR_LIMBS);
    ifma_scatter4(words, lanes, w);
}
IFMA_INLINE void ifma_fp_load(ifma_fp *z, const fp_t *const from[IFMA_LANES]) {
    const uint64_t *low[IFMA_LANES], *high[IFMA_LANES];
    __m512i w[FP_LIMBS];
    IFMA_UNROLL for (int i = 0; i < IFMA_LANES; i++) {
        low[i] = from[i]->l;
        high[i] = from[i]->l + 4;
    }
    ifma_gather4(w, low);
    ifma_gather2(w + 4, high);
    ifma_split_words(z->l, w, IFMA_FP_LIMBS, FP_LIMBS);
}
/* x is tidy and below 2^384. */
IFMA_INLINE void ifma_fp_store(fp_t *const to[IFMA_LANES], unsigned lanes, const ifma_fp *x) {
    uint64_t *low[IFMA_LANES], *high[IFMA_LANES];
    __m512i w[FP_LIMBS];
    IFMA_UNROLL for (int i = 0; i < IFMA_LANES; i++) {
        low[i] = to[i]->l;
        high[i] = to[i]->l + 4;
    }
    ifma_join_words(w, x->l, IFMA_FP_LIMBS, FP_LIMBS);
    ifma_scatter4(low, lanes, w);
    ifma_scatter2(high, lanes, w + 4);
}

#endif /* __x86_64__ */
#endif
