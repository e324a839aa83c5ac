#include "field/fp6.h"

#include "field/fp2_wide.h"

/* (x0 + x1)(y0 + y1) - p - q, where p = x0 y0 and q = x1 y1: the cross terms. */
static void cross(fp2_wide *z, const fp2_t *x0, const fp2_t *x1, const fp2_t *y0, const fp2_t *y1,
                  const fp2_wide *p, const fp2_wide *q) {
    fp2_t s, t;
    fp2_add_unreduced(&s, x0, x1);
    fp2_add_unreduced(&t, y0, y1);
    fp2_wide_mul(z, &s, &t);
    fp2_wide_sub(z, z, p);
    fp2_wide_sub(z, z, q);
}

/* Karatsuba with 6 multiplications and 3 reductions. */
void fp6_mul(fp6_t *z, const fp6_t *x, const fp6_t *y) {
    fp2_wide p0, p1, p2, s01, s02, s12;
    fp2_wide_mul(&p0, &x->c0, &y->c0);
    fp2_wide_mul(&p1, &x->c1, &y->c1);
    fp2_wide_mul(&p2, &x->c2, &y->c2);
    cross(&s01, &x->c0, &x->c1, &y->c0, &y->c1, &p0, &p1);
    cross(&s02, &x->c0, &x->c2, &y->c0, &y->c2, &p0, &p2);
    cross(&s12, &x->c1, &x->c2, &y->c1, &y->c2, &p1, &p2);
    fp2_wide_mul_xi(&s12, &s12);
    fp2_wide_add(&p0, &p0, &s12);
    fp2_wide_add(&s02, &s02, &p1);
    fp2_wide_mul_xi(&p2, &p2);
    fp2_wide_add(&s01, &s01, &p2);
    fp2_wide_reduce(&z->c0, &p0);
    fp2_wide_reduce(&z->c1, &s01);
    fp2_wide_reduce(&z->c2, &s02);
}

void fp6_mul_01(fp6_t *z, const fp6_t *x, const fp2_t *b0, const fp2_t *b1) {
    fp2_wide p0, p1, s01, t;
    fp2_wide_mul(&p0, &x->c0, b0);
    fp2_wide_mul(&p1, &x->c1, b1);
    cross(&s01, &x->c0, &x->c1, b0, b1, &p0, &p1);
    fp2_wide_mul(&t, &x->c2, b1);
    fp2_wide_mul_xi(&t, &t);
    fp2_wide_add(&p0, &p0, &t);
    fp2_wide_mul(&t, &x->c2, b0);
    fp2_wide_add(&p1, &p1, &t);
    fp2_wide_reduce(&z->c0, &p0);
    fp2_wide_reduce(&z->c1, &s01);
    fp2_wide_reduce(&z->c2, &p1);
}

void fp6_mul_1(fp6_t *z, const fp6_t *x, const fp2_t *b1) {
    const fp2_t scalar = *b1; /* b1 may lie inside z */
    fp6_mul_v(z, x);
    fp2_mul(&z->c0, &z->c0, &scalar);
    fp2_mul(&z->c1, &z->c1, &scalar);
    fp2_mul(&z->c2, &z->c2, &scalar);
}

/* Chung and Hasan, SQR3: s2 = (x0 - x1 + x2)^2 yields x1^2 + 2 x0 x2. */
void fp6_sqr(fp6_t *z, const fp6_t *x) {
    fp2_t s0, s1, s2, s3, s4;
    fp2_sqr(&s0, &x->c0);
    fp2_mul(&s1, &x->c0, &x->c1);
    fp2_double(&s1, &s1);
    fp2_sub(&s2, &x->c0, &x->c1);
    fp2_add(&s2, &s2, &x->c2);
    fp2_sqr(&s2, &s2);
    fp2_mul(&s3, &x->c1, &x->c2);
    fp2_double(&s3, &s3);
    fp2_sqr(&s4, &x->c2);
    fp2_add(&z->c2, &s1, &s2);
    fp2_add(&z->c2, &z->c2, &s3);
    fp2_sub(&z->c2, &z->c2, &s0);
    fp2_sub(&z->c2, &z->c2, &s4);
    fp2_mul_xi(&s3, &s3);
    fp2_add(&z->c0, &s0, &s3);
    fp2_mul_xi(&s4, &s4);
    fp2_add(&z->c1, &s1, &s4);
}

/* The adjoint over the norm to Fp2 (Beuchat et al., eprint 2010/354, algorithm 17). */
void fp6_inv(fp6_t *z, const fp6_t *x) {
    fp2_t a, b, c, t, norm;
    fp2_mul(&t, &x->c1, &x->c2); /* a = x0^2 - xi x1 x2 */
    fp2_mul_xi(&t, &t);
    fp2_sqr(&a, &x->c0);
    fp2_sub(&a, &a, &t);
    fp2_sqr(&b, &x->c2); /* b = xi x2^2 - x0 x1 */
    fp2_mul_xi(&b, &b);
    fp2_mul(&t, &x->c0, &x->c1);
    fp2_sub(&b, &b, &t);
    fp2_sqr(&c, &x->c1); /* c = x1^2 - x0 x2 */
    fp2_mul(&t, &x->c0, &x->c2);
    fp2_sub(&c, &c, &t);
    fp2_mul(&norm, &x->c2, &b); /* norm = x0 a + xi (x2 b + x1 c) */
    fp2_mul(&t, &x->c1, &c);
    fp2_add(&norm, &norm, &t);
    fp2_mul_xi(&norm, &norm);
    fp2_mul(&t, &x->c0, &a);
    fp2_add(&norm, &norm, &t);
    fp2_inv(&norm, &norm);
    fp2_mul(&z->c0, &a, &norm);
    fp2_mul(&z->c1, &b, &norm);
    fp2_mul(&z->c2, &c, &norm);
}
