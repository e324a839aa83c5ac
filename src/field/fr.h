/* Fr: the scalar field of BLS12-381, the integers mod r, the order of G1 and G2.
 *
 * Elements are 4 64-bit limbs in Montgomery form, always fully reduced, so that equal values have
 * equal limbs. Outputs may alias inputs. Byte forms: 32 bytes little-endian. */
#ifndef CUZK_FIELD_FR_H
#define CUZK_FIELD_FR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "field/mont.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FR_LIMBS 4
#define FR_BYTES 32

typedef struct fr_t {
    uint64_t l[FR_LIMBS];
} fr_t;

extern const mont_prime cuzk_fr_prime;

static inline void fr_add(fr_t *z, const fr_t *x, const fr_t *y) {
    mont_add(z->l, x->l, y->l, &cuzk_fr_prime, FR_LIMBS);
}
static inline void fr_sub(fr_t *z, const fr_t *x, const fr_t *y) {
    mont_sub(z->l, x->l, y->l, &cuzk_fr_prime, FR_LIMBS);
}
static inline void fr_mul(fr_t *z, const fr_t *x, const fr_t *y) {
    mont_mul(z->l, x->l, y->l, &cuzk_fr_prime, FR_LIMBS);
}
static inline void fr_sqr(fr_t *z, const fr_t *x) {
    fr_mul(z, x, x);
}
static inline void fr_double(fr_t *z, const fr_t *x) {
    fr_add(z, x, x);
}
static inline fr_t fr_zero(void) {
    return (fr_t){{0}};
}
static inline fr_t fr_one(void) {
    fr_t z;
    for (int i = 0; i < FR_LIMBS; i++)
        z.l[i] = cuzk_fr_prime.r1[i];
    return z;
}
static inline bool fr_is_zero(const fr_t *x) {
    return mont_is_zero(x->l, FR_LIMBS);
}
static inline bool fr_eq(const fr_t *x, const fr_t *y) {
    return mont_eq(x->l, y->l, FR_LIMBS);
}
static inline void fr_neg(fr_t *z, const fr_t *x) {
    const fr_t zero = fr_zero();
    fr_sub(z, &zero, x);
}

/* z = 1/x; 0 maps to 0. */
void fr_inv(fr_t *z, const fr_t *x);
/* Invert n elements in place with one inversion (Montgomery's trick); zeros stay zero. scratch has
 * room for n elements. */
void fr_batch_inv(fr_t *x, size_t n, fr_t *scratch);
/* z = x^e, e given as little-endian 64-bit limbs. Variable time in e. */
void fr_pow_var(fr_t *z, const fr_t *x, const uint64_t *e, size_t e_limbs);
/* A square root if there is one: false leaves z untouched. */
bool fr_sqrt(fr_t *z, const fr_t *x);
void fr_from_u64(fr_t *z, uint64_t v);
/* Plain integer (little-endian limbs, < modulus) to and from Montgomery form. */
void fr_from_limbs(fr_t *z, const uint64_t plain[FR_LIMBS]);
void fr_to_limbs(uint64_t plain[FR_LIMBS], const fr_t *x);
/* 32 bytes little-endian. Reading refuses a value >= r (CUZK_ERR_NOT_CANONICAL). */
cuzk_status fr_from_bytes(fr_t *z, const uint8_t bytes[FR_BYTES]);
void fr_to_bytes(uint8_t bytes[FR_BYTES], const fr_t *x);
/* 64 bytes little-endian, reduced mod r: uniform when the bytes are. */
void fr_from_wide(fr_t *z, const uint8_t bytes[64]);

#ifdef __cplusplus
}
#endif
#endif
