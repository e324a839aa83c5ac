/* Modular inversion for a prime given as data. */
#ifndef CUZK_FIELD_MONT_INV_H
#define CUZK_FIELD_MONT_INV_H

#include "field/mont.h"

/* z = R^2 / x mod p, which is the inverse when x is in Montgomery form; 0 maps to 0. x < p, n
 * limbs. Variable time. */
void mont_inv(uint64_t *z, const uint64_t *x, const mont_prime *P, int n);

#endif
