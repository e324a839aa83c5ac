/* Fp: the base field of BLS12-381, the integers mod p.
 *
 * Elements are 6 64-bit limbs in Montgomery form, always fully reduced, so that equal values have
 * equal limbs. Outputs may alias inputs. Byte forms: 48 bytes big-endian (the zcash encoding). */
#ifndef CUZK_FIELD_FP_H
#define CUZK_FIELD_FP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "field/mont.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FP_LIMBS 6
#define FP_BYTES 48

typedef struct fp_t {
    uint64_t l[FP_LIMBS];
} fp_t;

extern const mont_prime cuzk_fp_prime;

static inline void fp_add(fp_t *z, const fp_t *x, const fp_t *y) {
    mont_add(z->l, x->l, y->l, &cuzk_fp_prime, FP_LIMBS);
}
static inline void fp_sub(fp_t *z, const fp_t *x, const fp_t *y) {
    mont_sub(z->l, x->l, y->l, &cuzk_fp_prime, FP_LIMBS);
}
static inline void fp_mul(fp_t *z, const fp_t *x, const fp_t *y) {
    mont_mul(z->l, x->l, y->l, &cuzk_fp_prime, FP_LIMBS);
}
static inline void fp_sqr(fp_t *z, const fp_t *x) {
    fp_mul(z, x, x);
}
static inline void fp_double(fp_t *z, const fp_t *x) {
    fp_add(z, x, x);
}
static inline fp_t fp_zero(void) {
    return (fp_t){{0}};
}
static inline fp_t fp_one(void) {
    fp_t z;
    for (int i = 0; i < FP_LIMBS; i++)
        z.l[i] = cuzk_fp_prime.r1[i];
    return z;
}
static inline bool fp_is_zero(const fp_t *x) {
    return mont_is_zero(x->l, FP_LIMBS);
}
static inline bool fp_eq(const fp_t *x, const fp_t *y) {
    return mont_eq(x->l, y->l, FP_LIMBS);
}
static inline void fp_neg(fp_t *z, const fp_t *x) {
    const fp_t zero = fp_zero();
    fp_sub(z, &zero, x);
}

/* z = 1/x; 0 maps to 0. */
void fp_inv(fp_t *z, const fp_t *x);
/* Invert n elements in place with one inversion (Montgomery's trick); zeros stay zero. scratch has
 * room for n elements. */
void fp_batch_inv(fp_t *x, size_t n, fp_t *scratch);
/* z = x^e, e given as little-endian 64-bit limbs. Variable time in e. */
void fp_pow_var(fp_t *z, const fp_t *x, const uint64_t *e, size_t e_limbs);
/* A square root if there is one: false leaves z untouched. */
bool fp_sqrt(fp_t *z, const fp_t *x);
void fp_from_u64(fp_t *z, uint64_t v);
/* Plain integer (little-endian limbs, < modulus) to and from Montgomery form. */
void fp_from_limbs(fp_t *z, const uint64_t plain[FP_LIMBS]);
void fp_to_limbs(uint64_t plain[FP_LIMBS], const fp_t *x);
/* 48 bytes big-endian. Reading refuses a value >= p (CUZK_ERR_NOT_CANONICAL). */
cuzk_status fp_from_bytes(fp_t *z, const uint8_t bytes[FP_BYTES]);
void fp_to_bytes(uint8_t bytes[FP_BYTES], const fp_t *x);
/* Is the plain value of x larger than (p - 1) / 2? The sign rule of the zcash encoding. */
bool fp_is_lexicographically_largest(const fp_t *x);

#ifdef __cplusplus
}
#endif
#endif
