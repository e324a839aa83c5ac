/* The vector operations of one prime: a template, included by ifma.h once for each, with
 * IFMA_FIELD (fr or fp) and IFMA_N (its 52-bit limbs), which it undefines. No guard. */
#include "field/template.h"

#define V_(name) TEMPLATE_NAME(TEMPLATE_NAME(ifma, IFMA_FIELD), name)
#define V_T TEMPLATE_NAME(ifma, IFMA_FIELD)
#define V_P (&TEMPLATE_NAME(TEMPLATE_NAME(ifma, IFMA_FIELD), prime))

IFMA_INLINE void V_(tidy)(V_T *z, const V_T *x) {
    ifma_tidy_limbs(z->l, x->l, IFMA_N);
}
/* Limbs in [0, 2^59): to be added, subtracted or tidied, not to be multiplied. */
IFMA_INLINE void V_(mul_raw)(V_T *z, const V_T *x, const V_T *y) {
    ifma_mul_raw_limbs(z->l, x->l, y->l, V_P, IFMA_N);
}
IFMA_INLINE void V_(sqr_raw)(V_T *z, const V_T *x) {
    ifma_sqr_raw_limbs(z->l, x->l, V_P, IFMA_N);
}
IFMA_INLINE void V_(add_raw)(V_T *z, const V_T *x, const V_T *y) {
    IFMA_UNROLL for (int i = 0; i < IFMA_N; i++) z->l[i] = _mm512_add_epi64(x->l[i], y->l[i]);
}
/* x - y + 2^k p, y <= 2^k p; k < 10. */
IFMA_INLINE void V_(sub_raw)(V_T *z, const V_T *x, const V_T *y, unsigned k) {
    ifma_sub_raw_limbs(z->l, x->l, y->l, k, V_P, IFMA_N);
}
IFMA_INLINE void V_(mul)(V_T *z, const V_T *x, const V_T *y) {
    V_(mul_raw)(z, x, y);
    V_(tidy)(z, z);
}
IFMA_INLINE void V_(sqr)(V_T *z, const V_T *x) {
    V_(sqr_raw)(z, x);
    V_(tidy)(z, z);
}
IFMA_INLINE void V_(add)(V_T *z, const V_T *x, const V_T *y) {
    V_(add_raw)(z, x, y);
    V_(tidy)(z, z);
}
IFMA_INLINE void V_(sub)(V_T *z, const V_T *x, const V_T *y, unsigned k) {
    V_(sub_raw)(z, x, y, k);
    V_(tidy)(z, z);
}
IFMA_INLINE void V_(reduce)(V_T *z, const V_T *x) {
    ifma_reduce_limbs(z->l, x->l, V_P, IFMA_N);
}
/* x < 2 p. */
IFMA_INLINE void V_(subtract_once)(V_T *z, const V_T *x) {
    ifma_subtract_once_limbs(z->l, x->l, V_P, IFMA_N);
}
IFMA_INLINE void V_(canonical)(V_T *z, const V_T *x) {
    V_(reduce)(z, x);
    V_(subtract_once)(z, z);
}
/* The same number in all lanes; limbs as in ifma_prime. */
IFMA_INLINE void V_(splat)(V_T *z, const uint64_t limbs[IFMA_N]) {
    IFMA_UNROLL for (int i = 0; i < IFMA_N; i++) z->l[i] = ifma_splat(limbs[i]);
}
/* Montgomery form of fr_t or fp_t to the one here, and back. */
IFMA_INLINE void V_(enter)(V_T *z, const V_T *x) {
    V_T factor;
    V_(splat)(&factor, V_P->enter);
    V_(mul)(z, x, &factor);
}
IFMA_INLINE void V_(leave)(V_T *z, const V_T *x) {
    V_T factor;
    V_(splat)(&factor, V_P->leave);
    V_(mul)(z, x, &factor);
}
/* Lanes of a canonical x that are zero. */
IFMA_INLINE __mmask8 V_(zero_lanes)(const V_T *x) {
    __m512i any = x->l[0];
    IFMA_UNROLL for (int i = 1; i < IFMA_N; i++) any = _mm512_or_si512(any, x->l[i]);
    return _mm512_testn_epi64_mask(any, any);
}
/* Lane by lane: y where the mask has a bit, x elsewhere. */
IFMA_INLINE void V_(select)(V_T *z, __mmask8 mask, const V_T *x, const V_T *y) {
    IFMA_UNROLL for (int i = 0; i < IFMA_N; i++) z->l[i] =
        _mm512_mask_blend_epi64(mask, x->l[i], y->l[i]);
}

#undef V_
#undef V_T
#undef V_P
#undef IFMA_FIELD
#undef IFMA_N
