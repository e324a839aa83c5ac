#include "field/fp2.h"

#include "field/fp2_wide.h"
#include "field/template.h"

/* Karatsuba on unreduced products: c1 = (x0 + x1)(y0 + y1) - x0 y0 - x1 y1. With coefficients of x
 * and y up to 2 p, c1 is at most 8 p^2 < R p. */
void fp2_wide_mul(fp2_wide *z, const fp2_t *x, const fp2_t *y) {
    fp_wide t1;
    fp_t s, t;
    fp_add_unreduced(&s, &x->c0, &x->c1);
    fp_add_unreduced(&t, &y->c0, &y->c1);
    fp_wide_mul(&z->c1, &s, &t);
    fp_wide_mul(&z->c0, &x->c0, &y->c0);
    fp_wide_mul(&t1, &x->c1, &y->c1);
    fp_wide_sub_plain(&z->c1, &z->c1, &z->c0);
    fp_wide_sub_plain(&z->c1, &z->c1, &t1);
    fp_wide_sub(&z->c0, &z->c0, &t1);
}

void fp2_mul(fp2_t *z, const fp2_t *x, const fp2_t *y) {
    fp2_wide w;
    fp2_wide_mul(&w, x, y);
    fp2_wide_reduce(z, &w);
}

/* (x0 + x1)(x0 - x1) + 2 x0 x1 u. */
void fp2_sqr(fp2_t *z, const fp2_t *x) {
    fp_t sum, difference, twice;
    fp_add_unreduced(&sum, &x->c0, &x->c1);
    fp_sub(&difference, &x->c0, &x->c1);
    fp_add_unreduced(&twice, &x->c0, &x->c0);
    fp_mul(&z->c1, &twice, &x->c1);
    fp_mul(&z->c0, &sum, &difference);
}

/* conjugate / norm. */
void fp2_inv(fp2_t *z, const fp2_t *x) {
    fp_t norm, t;
    fp_sqr(&norm, &x->c0);
    fp_sqr(&t, &x->c1);
    fp_add(&norm, &norm, &t);
    fp_inv(&norm, &norm);
    fp2_conjugate(z, x);
    fp2_mul_fp(z, z, &norm);
}

#define F_(name) TEMPLATE_NAME(fp2, name)
#define F_T fp2_t
#include "field/batch_inv_impl.h"

/* x / 2. p + x < 2^384, so nothing is lost above. */
static void half(fp_t *z, const fp_t *x) {
    fp_t t = *x;
    if ((t.l[0] & 1) != 0) mont_plain_add_unreduced(t.l, t.l, cuzk_fp_prime.p, FP_LIMBS);
    for (int i = 0; i < FP_LIMBS; i++)
        z->l[i] = t.l[i] >> 1 | (i + 1 < FP_LIMBS ? t.l[i + 1] << 63 : 0);
}

/* Complex method (Adj and Rodriguez-Henriquez, eprint 2012/685). Let s^2 = norm(x) and
 * t = 2 (x0 + s). As p = 3 mod 4, with w = t^((p - 3) / 4) and a = t w, a^2 is t or -t, and 1 / a
 * is w or -w. If a^2 = t, the root is a / 2 + x1 / a u; if a^2 = -t, it is x1 / a + a / 2 u. x with
 * x1 = 0 is the square of a or of a u. */
bool fp2_sqrt(fp2_t *z, const fp2_t *x) {
    fp_t a, s, t, w;
    if (fp_is_zero(&x->c1)) {
        fp_neg(&t, &x->c0);
        fp2_t root = fp2_zero();
        if (!fp_sqrt(&root.c0, &x->c0) && !fp_sqrt(&root.c1, &t)) return false;
        *z = root;
        return true;
    }
    fp_sqr(&s, &x->c0);
    fp_sqr(&t, &x->c1);
    fp_add(&s, &s, &t);
    if (!fp_sqrt(&s, &s)) return false;
    fp_add(&t, &x->c0, &s);
    fp_double(&t, &t);
    uint64_t e[FP_LIMBS]; /* (p - 3) / 4 */
    for (int i = 0; i < FP_LIMBS; i++)
        e[i] = cuzk_fp_prime.p[i] >> 2 | (i + 1 < FP_LIMBS ? cuzk_fp_prime.p[i + 1] << 62 : 0);
    fp_pow_var(&w, &t, e, FP_LIMBS);
    fp_mul(&a, &t, &w);
    fp_sqr(&s, &a);
    const bool square = fp_eq(&s, &t);
    if (!square) fp_neg(&w, &w);
    fp_mul(&w, &w, &x->c1);
    half(&a, &a);
    z->c0 = square ? a : w;
    z->c1 = square ? w : a;
    return true;
}

cuzk_status fp2_from_bytes(fp2_t *z, const uint8_t bytes[FP2_BYTES]) {
    CUZK_TRY(fp_from_bytes(&z->c1, bytes));
    return fp_from_bytes(&z->c0, bytes + FP_BYTES);
}

void fp2_to_bytes(uint8_t bytes[FP2_BYTES], const fp2_t *x) {
    fp_to_bytes(bytes, &x->c1);
    fp_to_bytes(bytes + FP_BYTES, &x->c0);
}

bool fp2_is_lexicographically_largest(const fp2_t *x) {
    return fp_is_lexicographically_largest(fp_is_zero(&x->c1) ? &x->c0 : &x->c1);
}
