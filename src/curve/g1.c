#include "curve/bls_digits.h"
#include "curve/curve.h"
#include "curve/curve_constants.h"

#define CURVE g1
#define CURVE_FIELD fp
#define CURVE_B g1_b
#define FIELD_BYTES FP_BYTES
#include "curve/weierstrass_impl.h"
#include "curve/encoding_impl.h"

/* z = x^2 p for p in G1, by phi = -x^2. */
static void mul_x_squared(g1_t *z, const g1_t *p) {
    *z = *p;
    fp_mul(&z->x, &z->x, &cuzk_g1_beta);
    g1_neg(z, z);
}

/* k = k0 + k1 x^2, both < 2^128. */
void g1_mul_var(g1_t *z, const g1_t *p, const fr_t *k) {
    uint64_t digits[BLS_DIGITS], halves[4];
    bls_digits(digits, k);
    for (int i = 0; i < 2; i++) {
        const mont_u128 half = (mont_u128)digits[2 * i + 1] * BLS_X_ABS + digits[2 * i];
        halves[2 * i] = (uint64_t)half;
        halves[2 * i + 1] = (uint64_t)(half >> 64);
    }
    g1_t bases[2] = {*p};
    mul_x_squared(&bases[1], p);
    g1_mul_joint_var(z, bases, halves, 2, 2);
}

/* phi(p) = -x^2 p holds on the curve exactly for the points of G1. */
bool g1_affine_in_subgroup(const g1_affine_t *p) {
    g1_t q, expected;
    g1_from_affine(&q, p);
    mul_x_squared(&expected, &q);
    g1_mul_u64_var(&q, &q, BLS_X_ABS);
    g1_mul_u64_var(&q, &q, BLS_X_ABS);
    return g1_eq(&q, &expected);
}
