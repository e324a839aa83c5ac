#include "field/fp12.h"

fp12_t fp12_one(void) {
    fp12_t z = {0};
    z.c0.c0 = fp2_one();
    return z;
}

bool fp12_eq(const fp12_t *x, const fp12_t *y) {
    return fp6_eq(&x->c0, &y->c0) && fp6_eq(&x->c1, &y->c1);
}

bool fp12_is_one(const fp12_t *x) {
    const fp12_t one = fp12_one();
    return fp12_eq(x, &one);
}

void fp12_mul(fp12_t *z, const fp12_t *x, const fp12_t *y) {
    fp6_t p0, p1, s, t;
    fp6_mul(&p0, &x->c0, &y->c0);
    fp6_mul(&p1, &x->c1, &y->c1);
    fp6_add(&s, &x->c0, &x->c1);
    fp6_add(&t, &y->c0, &y->c1);
    fp6_mul(&s, &s, &t);
    fp6_sub(&s, &s, &p0);
    fp6_sub(&z->c1, &s, &p1);
    fp6_mul_v(&p1, &p1);
    fp6_add(&z->c0, &p0, &p1);
}

void fp12_mul_line(fp12_t *z, const fp12_t *x, const fp2_t *a, const fp2_t *b, const fp2_t *c) {
    fp6_t p0, p1, s;
    fp2_t bc;
    fp2_add(&bc, b, c);
    fp6_mul_01(&p0, &x->c0, a, b);
    fp6_mul_1(&p1, &x->c1, c);
    fp6_add(&s, &x->c0, &x->c1);
    fp6_mul_01(&s, &s, a, &bc);
    fp6_sub(&s, &s, &p0);
    fp6_sub(&z->c1, &s, &p1);
    fp6_mul_v(&p1, &p1);
    fp6_add(&z->c0, &p0, &p1);
}

/* Complex squaring: c0 = (x0 + x1)(x0 + v x1) - (1 + v) x0 x1, c1 = 2 x0 x1. */
void fp12_sqr(fp12_t *z, const fp12_t *x) {
    fp6_t product, s, t;
    fp6_add(&s, &x->c0, &x->c1);
    fp6_mul_v(&t, &x->c1);
    fp6_add(&t, &t, &x->c0);
    fp6_mul(&product, &x->c0, &x->c1);
    fp6_mul(&s, &s, &t);
    fp6_sub(&s, &s, &product);
    fp6_add(&z->c1, &product, &product);
    fp6_mul_v(&product, &product);
    fp6_sub(&z->c0, &s, &product);
}

/* (a + b s)^2 = (a^2 + xi b^2) + 2 a b s in Fp4 = Fp2[s] / (s^2 - xi). */
static void fp4_sqr(fp2_t *z0, fp2_t *z1, const fp2_t *a, const fp2_t *b) {
    fp2_t a2, b2, sum;
    fp2_add(&sum, a, b);
    fp2_sqr(&a2, a);
    fp2_sqr(&b2, b);
    fp2_sqr(&sum, &sum);
    fp2_sub(&sum, &sum, &a2);
    fp2_sub(z1, &sum, &b2);
    fp2_mul_xi(&b2, &b2);
    fp2_add(z0, &a2, &b2);
}

/* z = 3 t - 2 x */
static void triple_less(fp2_t *z, const fp2_t *t, const fp2_t *x) {
    fp2_t d;
    fp2_sub(&d, t, x);
    fp2_double(&d, &d);
    fp2_add(z, &d, t);
}

/* z = 3 t + 2 x */
static void triple_more(fp2_t *z, const fp2_t *t, const fp2_t *x) {
    fp2_t d;
    fp2_add(&d, t, x);
    fp2_double(&d, &d);
    fp2_add(z, &d, t);
}

/* Fp12 as a cubic extension of Fp4 with s = v w: the pairs (c0.c0, c1.c1), (c1.c0, c0.c2),
 * (c0.c1, c1.c2). */
void fp12_cyclotomic_sqr(fp12_t *z, const fp12_t *x) {
    fp2_t a0, a1, b0, b1, c0, c1;
    fp4_sqr(&a0, &a1, &x->c0.c0, &x->c1.c1);
    fp4_sqr(&b0, &b1, &x->c1.c0, &x->c0.c2);
    fp4_sqr(&c0, &c1, &x->c0.c1, &x->c1.c2);
    fp2_mul_xi(&c1, &c1);
    triple_less(&z->c0.c0, &a0, &x->c0.c0);
    triple_less(&z->c0.c1, &b0, &x->c0.c1);
    triple_less(&z->c0.c2, &c0, &x->c0.c2);
    triple_more(&z->c1.c0, &c1, &x->c1.c0);
    triple_more(&z->c1.c1, &a1, &x->c1.c1);
    triple_more(&z->c1.c2, &b1, &x->c1.c2);
}

void fp12_conjugate(fp12_t *z, const fp12_t *x) {
    z->c0 = x->c0;
    fp6_neg(&z->c1, &x->c1);
}

void fp12_inv(fp12_t *z, const fp12_t *x) {
    fp6_t norm, t;
    fp6_sqr(&norm, &x->c0);
    fp6_sqr(&t, &x->c1);
    fp6_mul_v(&t, &t);
    fp6_sub(&norm, &norm, &t);
    fp6_inv(&norm, &norm);
    fp6_mul(&z->c0, &x->c0, &norm);
    fp6_mul(&t, &x->c1, &norm);
    fp6_neg(&z->c1, &t);
}

/* The coefficient of w^i gets conjugated and multiplied by (w^(p - 1))^i. v = w^2. */
void fp12_frobenius(fp12_t *z, const fp12_t *x) {
    const fp2_t *in[6] = {&x->c0.c0, &x->c1.c0, &x->c0.c1, &x->c1.c1, &x->c0.c2, &x->c1.c2};
    fp2_t *out[6] = {&z->c0.c0, &z->c1.c0, &z->c0.c1, &z->c1.c1, &z->c0.c2, &z->c1.c2};
    for (int i = 0; i < 6; i++) {
        fp2_conjugate(out[i], in[i]);
        if (i > 0) fp2_mul(out[i], out[i], &cuzk_frobenius[i]);
    }
}

void fp12_to_bytes(uint8_t bytes[FP12_BYTES], const fp12_t *x) {
    const fp2_t *c[6] = {&x->c0.c0, &x->c0.c1, &x->c0.c2, &x->c1.c0, &x->c1.c1, &x->c1.c2};
    for (int i = 0; i < 6; i++) {
        fp_to_bytes(bytes + FP_BYTES * (size_t)(2 * i), &c[i]->c0);
        fp_to_bytes(bytes + FP_BYTES * (size_t)(2 * i + 1), &c[i]->c1);
    }
}
