/* Scalars in base |x|: the decomposition behind the fast scalar multiplications. */
#ifndef CUZK_CURVE_BLS_DIGITS_H
#define CUZK_CURVE_BLS_DIGITS_H

#include "field/fr.h"

#define BLS_DIGITS 4

/* k = sum of digits[i] |x|^i with every digit < |x|; four suffice as r < x^4. */
void bls_digits(uint64_t digits[BLS_DIGITS], const fr_t *k);

#endif
