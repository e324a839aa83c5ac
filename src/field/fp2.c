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

/* Complex method (Adj and Rodriguez-Henriquez, eprint 2012/685): with s^2 = norm(x), one of
 * t = (x0 + s) / 2 and t - s = (x0 - s) / 2 is a square a^2 in Fp, and the root is
 * a + x1 / (2 a) u. x with x1 = 0 is a^2 or -a^2 = (a u)^2. */
bool fp2_sqrt(fp2_t *z, const fp2_t *x) {
    fp_t a, s, t, half;
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
    fp_from_u64(&half, 2);
    fp_inv(&half, &half);
    fp_add(&t, &x->c0, &s);
    fp_mul(&t, &t, &half);
    if (!fp_sqrt(&a, &t)) {
        fp_sub(&t, &t, &s);
        if (!fp_sqrt(&a, &t)) return false;
    }
    fp_double(&t, &a);
    fp_inv(&t, &t);
    fp_mul(&z->c1, &x->c1, &t);
    z->c0 = a;
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
