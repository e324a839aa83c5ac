/* The optimal ate pairing of BLS12-381, several pairs under one final exponentiation. */
#ifndef CUZK_CURVE_PAIRING_H
#define CUZK_CURVE_PAIRING_H

#include "curve/curve.h"
#include "field/fp12.h"

#ifdef __cplusplus
extern "C" {
#endif

/* z = product of the Miller loops of (p[i], q[i]), i < n; a pair with infinity counts as 1. */
void pairing_miller(fp12_t *z, const g1_affine_t *p, const g2_affine_t *q, size_t n);
/* z = f^(3 (p^12 - 1) / r), the convention of blst and blstrs (fixtures curve.json has Gt values).
 */
void pairing_final_exponentiation(fp12_t *z, const fp12_t *f);
void pairing(fp12_t *z, const g1_affine_t *p, const g2_affine_t *q);
/* Product of pairings == 1? */
bool pairing_product_is_one(const g1_affine_t *p, const g2_affine_t *q, size_t n);

#ifdef __cplusplus
}
#endif
#endif
