/* Eight elements of Fp2 at a time, on the vectors of field/ifma.h and under the names that they
 * have for Fp, so that one template serves G1 and G2. Bounds are per coefficient: with X Y <= 2^27,
 *
 *   mul, sqr   z < 5.1 p
 *   sub(k)     as in field/ifma.h */
#ifndef CUZK_MSM_IFMA_FP2_H
#define CUZK_MSM_IFMA_FP2_H

#include "field/fp2.h"
#include "field/ifma.h"

#if defined(__x86_64__)

typedef struct ifma_fp2 {
    ifma_fp c0, c1;
} ifma_fp2;

IFMA_INLINE void ifma_fp2_load(ifma_fp2 *z, const fp2_t *const from[IFMA_LANES]) {
    const fp_t *c0[IFMA_LANES], *c1[IFMA_LANES];
    for (int i = 0; i < IFMA_LANES; i++) {
        c0[i] = &from[i]->c0;
        c1[i] = &from[i]->c1;
    }
    ifma_fp_load(&z->c0, c0);
    ifma_fp_load(&z->c1, c1);
}
IFMA_INLINE void ifma_fp2_store(fp2_t *const to[IFMA_LANES], unsigned lanes, const ifma_fp2 *x) {
    fp_t *c0[IFMA_LANES], *c1[IFMA_LANES];
    for (int i = 0; i < IFMA_LANES; i++) {
        c0[i] = &to[i]->c0;
        c1[i] = &to[i]->c1;
    }
    ifma_fp_store(c0, lanes, &x->c0);
    ifma_fp_store(c1, lanes, &x->c1);
}
IFMA_INLINE void ifma_fp2_add(ifma_fp2 *z, const ifma_fp2 *x, const ifma_fp2 *y) {
    ifma_fp_add(&z->c0, &x->c0, &y->c0);
    ifma_fp_add(&z->c1, &x->c1, &y->c1);
}
IFMA_INLINE void ifma_fp2_tidy(ifma_fp2 *z, const ifma_fp2 *x) {
    ifma_fp_tidy(&z->c0, &x->c0);
    ifma_fp_tidy(&z->c1, &x->c1);
}
IFMA_INLINE void ifma_fp2_sub_raw(ifma_fp2 *z, const ifma_fp2 *x, const ifma_fp2 *y, unsigned k) {
    ifma_fp_sub_raw(&z->c0, &x->c0, &y->c0, k);
    ifma_fp_sub_raw(&z->c1, &x->c1, &y->c1, k);
}
IFMA_INLINE void ifma_fp2_sub(ifma_fp2 *z, const ifma_fp2 *x, const ifma_fp2 *y, unsigned k) {
    ifma_fp2_sub_raw(z, x, y, k);
    ifma_fp2_tidy(z, z);
}
/* x0 y0 - x1 y1 + ((x0 + x1)(y0 + y1) - x0 y0 - x1 y1) u; each product is < 1.1 p. */
IFMA_INLINE void ifma_fp2_mul_raw(ifma_fp2 *z, const ifma_fp2 *x, const ifma_fp2 *y) {
    ifma_fp low, high, sum_x, sum_y, cross;
    ifma_fp_add(&sum_x, &x->c0, &x->c1);
    ifma_fp_add(&sum_y, &y->c0, &y->c1);
    ifma_fp_mul_raw(&low, &x->c0, &y->c0);
    ifma_fp_mul_raw(&high, &x->c1, &y->c1);
    ifma_fp_mul_raw(&cross, &sum_x, &sum_y);
    ifma_fp_sub_raw(&cross, &cross, &low, 1);
    ifma_fp_sub_raw(&z->c1, &cross, &high, 1);
    ifma_fp_sub_raw(&z->c0, &low, &high, 1);
}
/* (x0 + x1)(x0 - x1) + 2 x0 x1 u, for x < 8 p. */
IFMA_INLINE void ifma_fp2_sqr_raw(ifma_fp2 *z, const ifma_fp2 *x) {
    ifma_fp sum, difference, twice;
    ifma_fp_add(&sum, &x->c0, &x->c1);
    ifma_fp_sub(&difference, &x->c0, &x->c1, 3);
    ifma_fp_add(&twice, &x->c0, &x->c0);
    ifma_fp_mul_raw(&z->c1, &twice, &x->c1);
    ifma_fp_mul_raw(&z->c0, &sum, &difference);
}
IFMA_INLINE void ifma_fp2_mul(ifma_fp2 *z, const ifma_fp2 *x, const ifma_fp2 *y) {
    ifma_fp2_mul_raw(z, x, y);
    ifma_fp2_tidy(z, z);
}
IFMA_INLINE void ifma_fp2_sqr(ifma_fp2 *z, const ifma_fp2 *x) {
    ifma_fp2_sqr_raw(z, x);
    ifma_fp2_tidy(z, z);
}
IFMA_INLINE void ifma_fp2_canonical(ifma_fp2 *z, const ifma_fp2 *x) {
    ifma_fp_canonical(&z->c0, &x->c0);
    ifma_fp_canonical(&z->c1, &x->c1);
}
IFMA_INLINE void ifma_fp2_enter(ifma_fp2 *z, const ifma_fp2 *x) {
    ifma_fp_enter(&z->c0, &x->c0);
    ifma_fp_enter(&z->c1, &x->c1);
}
IFMA_INLINE __mmask8 ifma_fp2_zero_lanes(const ifma_fp2 *x) {
    return (__mmask8)(ifma_fp_zero_lanes(&x->c0) & ifma_fp_zero_lanes(&x->c1));
}
IFMA_INLINE void ifma_fp2_select(ifma_fp2 *z, __mmask8 mask, const ifma_fp2 *x, const ifma_fp2 *y) {
    ifma_fp_select(&z->c0, mask, &x->c0, &y->c0);
    ifma_fp_select(&z->c1, mask, &x->c1, &y->c1);
}

/* ---- Further operations that the additions need, for both ---- */

IFMA_INLINE void ifma_fp_one(ifma_fp *z) {
    ifma_fp_splat(z, ifma_fp_prime.one);
}
IFMA_INLINE void ifma_fp2_one(ifma_fp2 *z) {
    const uint64_t zero[IFMA_FP_LIMBS] = {0};
    ifma_fp_one(&z->c0);
    ifma_fp_splat(&z->c1, zero);
}
/* Lanes in which tidy x and y are the same number. */
IFMA_INLINE __mmask8 ifma_fp_equal_lanes(const ifma_fp *x, const ifma_fp *y) {
    __m512i any = _mm512_setzero_si512();
    IFMA_UNROLL for (int i = 0; i < IFMA_FP_LIMBS; i++) any =
        _mm512_or_si512(any, _mm512_xor_si512(x->l[i], y->l[i]));
    return _mm512_testn_epi64_mask(any, any);
}
IFMA_INLINE __mmask8 ifma_fp2_equal_lanes(const ifma_fp2 *x, const ifma_fp2 *y) {
    return (__mmask8)(ifma_fp_equal_lanes(&x->c0, &y->c0) & ifma_fp_equal_lanes(&x->c1, &y->c1));
}
/* Raw p - y for the lanes in the mask, y in the others; y canonical, z <= p. */
IFMA_INLINE void ifma_fp_negate_lanes_raw(ifma_fp *z, __mmask8 mask, const ifma_fp *y) {
    IFMA_UNROLL for (int i = 0; i < IFMA_FP_LIMBS; i++) z->l[i] =
        _mm512_mask_sub_epi64(y->l[i], mask, ifma_splat(ifma_fp_prime.p[i]), y->l[i]);
}
IFMA_INLINE void ifma_fp2_negate_lanes_raw(ifma_fp2 *z, __mmask8 mask, const ifma_fp2 *y) {
    ifma_fp_negate_lanes_raw(&z->c0, mask, &y->c0);
    ifma_fp_negate_lanes_raw(&z->c1, mask, &y->c1);
}
/* Canonical form of a tidy x < 1024 p. After reduce only few numbers have a top limb as large as
 * that of p, which all those >= p have. */
IFMA_INLINE void ifma_fp_canonical_quick(ifma_fp *z, const ifma_fp *x) {
    const int top = IFMA_FP_LIMBS - 1;
    ifma_fp_reduce(z, x);
    if (_mm512_cmpge_epu64_mask(z->l[top], ifma_splat(ifma_fp_prime.p[top])) != 0)
        ifma_fp_subtract_once(z, z);
}
IFMA_INLINE void ifma_fp2_canonical_quick(ifma_fp2 *z, const ifma_fp2 *x) {
    ifma_fp_canonical_quick(&z->c0, &x->c0);
    ifma_fp_canonical_quick(&z->c1, &x->c1);
}
/* A cheap superset of the lanes where x is zero, y is zero or x = y. */
IFMA_INLINE __mmask8 ifma_fp_suspect_lanes(const ifma_fp *x, const ifma_fp *y) {
    return (__mmask8)(_mm512_testn_epi64_mask(x->l[0], x->l[0]) |
                      _mm512_testn_epi64_mask(y->l[0], y->l[0]) |
                      _mm512_cmpeq_epi64_mask(x->l[0], y->l[0]));
}
IFMA_INLINE __mmask8 ifma_fp2_suspect_lanes(const ifma_fp2 *x, const ifma_fp2 *y) {
    return (__mmask8)(ifma_fp_suspect_lanes(&x->c0, &y->c0) &
                      ifma_fp_suspect_lanes(&x->c1, &y->c1));
}
/* z = 2^16 x, for tidy x < 2^18 p. */
IFMA_INLINE void ifma_fp_shift16(ifma_fp *z, const ifma_fp *x) {
    const __m512i mask = ifma_splat(((uint64_t)1 << 52) - 1);
    __m512i below = _mm512_setzero_si512();
    IFMA_UNROLL for (int i = 0; i < IFMA_FP_LIMBS; i++) {
        const __m512i limb = x->l[i];
        z->l[i] = _mm512_or_si512(_mm512_and_si512(_mm512_slli_epi64(limb, 16), mask), below);
        below = _mm512_srli_epi64(limb, 36);
    }
}
IFMA_INLINE void ifma_fp2_shift16(ifma_fp2 *z, const ifma_fp2 *x) {
    ifma_fp_shift16(&z->c0, &x->c0);
    ifma_fp_shift16(&z->c1, &x->c1);
}

#endif /* __x86_64__ */
#endif
