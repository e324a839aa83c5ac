/* Products in Fp before their reduction, so that sums of products are reduced once: integers of 12
 * limbs, kept below R p (R = 2^384), where addition and subtraction are mod R p. */
#ifndef CUZK_FIELD_FP_WIDE_H
#define CUZK_FIELD_FP_WIDE_H

#include "field/fp.h"

typedef struct fp_wide {
    uint64_t l[2 * FP_LIMBS];
} fp_wide;

/* Builds with the address sanitizer, and those with CUZK_VERIFY, stop at a value out of its bounds.
 */
#if defined(CUZK_VERIFY) || defined(__SANITIZE_ADDRESS__)
#define FP_WIDE_VERIFY(condition) ((condition) ? (void)0 : __builtin_trap())
#else
#define FP_WIDE_VERIFY(condition) ((void)0)
#endif

/* w < R p, as the upper half is < p. */
static inline bool fp_wide_is_bounded(const fp_wide *w) {
    return mont_is_canonical(w->l + FP_LIMBS, &cuzk_fp_prime, FP_LIMBS);
}

/* z = x + y without reduction: < 4 p < R for x, y < 2 p. */
static inline void fp_add_unreduced(fp_t *z, const fp_t *x, const fp_t *y) {
#if defined(__x86_64__)
    mont_x86_add_unreduced_6(z->l, x->l, y->l);
#else
    mont_plain_add_unreduced(z->l, x->l, y->l, FP_LIMBS);
#endif
}
/* x and y may be unreduced; the caller answers for x y < R p (or for what it subtracts). */
static inline void fp_wide_mul(fp_wide *z, const fp_t *x, const fp_t *y) {
#if defined(__x86_64__)
    if (__builtin_expect(cuzk_cpu_has_adx(), 1)) {
        mont_x86_wide_mul_6(z->l, x->l, y->l);
        return;
    }
#endif
    mont_plain_wide_mul_6(z->l, x->l, y->l);
}
/* z = w / R mod p */
static inline void fp_wide_reduce(fp_t *z, const fp_wide *w) {
    FP_WIDE_VERIFY(fp_wide_is_bounded(w));
#if defined(__x86_64__)
    if (__builtin_expect(cuzk_cpu_has_adx(), 1)) {
        mont_x86_wide_reduce_6(z->l, w->l, &cuzk_fp_prime);
        return;
    }
#endif
    mont_plain_wide_reduce_6(z->l, w->l, &cuzk_fp_prime);
}
static inline void fp_wide_add(fp_wide *z, const fp_wide *x, const fp_wide *y) {
    FP_WIDE_VERIFY(fp_wide_is_bounded(x) && fp_wide_is_bounded(y));
#if defined(__x86_64__)
    mont_x86_wide_add_6(z->l, x->l, y->l, &cuzk_fp_prime);
#else
    mont_plain_wide_add(z->l, x->l, y->l, &cuzk_fp_prime, FP_LIMBS);
#endif
}
static inline void fp_wide_sub(fp_wide *z, const fp_wide *x, const fp_wide *y) {
    FP_WIDE_VERIFY(fp_wide_is_bounded(x) && fp_wide_is_bounded(y));
#if defined(__x86_64__)
    mont_x86_wide_sub_6(z->l, x->l, y->l, &cuzk_fp_prime);
#else
    mont_plain_wide_sub(z->l, x->l, y->l, &cuzk_fp_prime, FP_LIMBS);
#endif
}

/* z = x - y for x >= y, which may be more than R p. */
static inline void fp_wide_sub_plain(fp_wide *z, const fp_wide *x, const fp_wide *y) {
#if defined(__x86_64__)
    mont_x86_wide_sub_plain_6(z->l, x->l, y->l);
#else
    mont_plain_wide_sub(z->l, x->l, y->l, &cuzk_fp_prime, FP_LIMBS);
#endif
}

#endif
