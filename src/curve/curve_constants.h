/* Constants of the curves beside the generators; derived by scripts/gen_constants.py. */
#ifndef CUZK_CURVE_CURVE_CONSTANTS_H
#define CUZK_CURVE_CURVE_CONSTANTS_H

#include "field/fp2.h"

/* |x| for the parameter x of BLS12-381, which is negative. r = x^4 - x^2 + 1. */
#define BLS_X_ABS 0xd201000000010000ULL

/* The curves are y^2 = x^3 + b. */
extern const fp_t g1_b;
extern const fp2_t g2_b;
/* phi(x, y) = (beta x, y) is multiplication by -x^2 on G1. */
extern const fp_t cuzk_g1_beta;
/* psi(x, y) = (psi_x x^p, psi_y y^p) is multiplication by x on G2. */
extern const fp2_t cuzk_g2_psi_x, cuzk_g2_psi_y;

#endif
