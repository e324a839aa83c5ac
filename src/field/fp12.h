/* Fp12 = Fp6[w] / (w^2 - v): the tower 2-3-2 that blst and blstrs use. Outputs may alias inputs. */
#ifndef CUZK_FIELD_FP12_H
#define CUZK_FIELD_FP12_H

#include "field/fp6.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fp12_t {
    fp6_t c0, c1; /* c0 + c1 w */
} fp12_t;

#define FP12_BYTES (12 * FP_BYTES)

/* Entry i is (1 + u)^(i (p - 1) / 6), i < 6. */
extern const fp2_t cuzk_frobenius[6];

fp12_t fp12_one(void);
bool fp12_eq(const fp12_t *x, const fp12_t *y);
bool fp12_is_one(const fp12_t *x);
void fp12_mul(fp12_t *z, const fp12_t *x, const fp12_t *y);
/* z = x (a + b v + c v w): by the value of a line in the Miller loop. */
void fp12_mul_line(fp12_t *z, const fp12_t *x, const fp2_t *a, const fp2_t *b, const fp2_t *c);
void fp12_sqr(fp12_t *z, const fp12_t *x);
/* x^2 for x in the cyclotomic subgroup, x^(p^4 - p^2 + 1) = 1 (Granger and Scott, eprint
 * 2009/565). */
void fp12_cyclotomic_sqr(fp12_t *z, const fp12_t *x);
/* c0 - c1 w = x^(p^6): the inverse of x in the cyclotomic subgroup. */
void fp12_conjugate(fp12_t *z, const fp12_t *x);
/* z = 1/x; 0 maps to 0. */
void fp12_inv(fp12_t *z, const fp12_t *x);
/* z = x^p */
void fp12_frobenius(fp12_t *z, const fp12_t *x);
/* The 12 coefficients, lowest first (c0.c0.c0, c0.c0.c1, c0.c1.c0, ...), 48 bytes big-endian each.
 */
void fp12_to_bytes(uint8_t bytes[FP12_BYTES], const fp12_t *x);

#ifdef __cplusplus
}
#endif
#endif
