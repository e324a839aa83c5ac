#include "curve/bls_digits.h"
#include "curve/curve.h"
#include "curve/curve_constants.h"

#define CURVE g2
#define CURVE_FIELD fp2
#define CURVE_B g2_b
#define FIELD_BYTES FP2_BYTES
#include "curve/weierstrass_impl.h"
#include "curve/encoding_impl.h"

/* z = |x| p for p in G2, by psi = x (x < 0). */
static void mul_x_abs_psi(g2_t *z, const g2_t *p) {
    fp2_conjugate(&z->x, &p->x);
    fp2_conjugate(&z->y, &p->y);
    fp2_conjugate(&z->zz, &p->zz);
    fp2_conjugate(&z->zzz, &p->zzz);
    fp2_mul(&z->x, &z->x, &cuzk_g2_psi_x);
    fp2_mul(&z->y, &z->y, &cuzk_g2_psi_y);
    g2_neg(z, z);
}

void g2_mul_var(g2_t *z, const g2_t *p, const fr_t *k) {
    uint64_t digits[BLS_DIGITS];
    bls_digits(digits, k);
    g2_t bases[BLS_DIGITS] = {*p};
    for (int i = 1; i < BLS_DIGITS; i++)
        mul_x_abs_psi(&bases[i], &bases[i - 1]);
    g2_mul_joint_var(z, bases, digits, BLS_DIGITS, 1);
}

/* psi(p) = x p holds on the curve exactly for the points of G2. */
bool g2_affine_in_subgroup(const g2_affine_t *p) {
    g2_t q, expected;
    g2_from_affine(&q, p);
    mul_x_abs_psi(&expected, &q);
    g2_mul_u64_var(&q, &q, BLS_X_ABS);
    return g2_eq(&q, &expected);
}
