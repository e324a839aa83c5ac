/* The optimal ate pairing for BLS12: the Miller loop runs over |x|, lines are evaluated on the
 * sextic M-twist y^2 = x^3 + 4 (1 + u). A line's value is kept up to a factor in a proper subfield
 * of Fp12, which the final exponentiation sends to 1. */
#include "curve/pairing.h"

#include "curve/curve_constants.h"

/* The line value a + b v + c v w. */
typedef struct line_t {
    fp2_t a, b, c;
} line_t;

/* A point of the twist in homogeneous coordinates, x = X/Z, y = Y/Z. */
typedef struct twist_point {
    fp2_t x, y, z;
} twist_point;

/* The line with slope s through (x, y) of the twist, at P: (s x - y) - s xP v + yP v w. */
static void line_at(line_t *l, const g1_affine_t *p) {
    fp2_mul_fp(&l->b, &l->b, &p->x);
    fp2_mul_fp(&l->c, &l->c, &p->y);
}

/* T = 2 T and its tangent, scaled by 2 Y Z (Aranha et al., eprint 2010/526, section 4, with the
 * coordinates scaled by 4 to avoid halving). With B = Y^2, E = 3 b Z^2, F = 3 E, H = 2 Y Z:
 * X' = 2 X Y (B - F), Y' = (B + F)^2 - 12 E^2, Z' = 4 B H; line (B - E, -3 X^2, H). */
static void double_step(twist_point *t, line_t *l) {
    fp2_t xx, b, e, f, h, xy2, s;
    fp2_sqr(&xx, &t->x);
    fp2_sqr(&b, &t->y);
    fp2_sqr(&s, &t->z);
    fp2_add(&h, &t->y, &t->z);
    fp2_sqr(&h, &h);
    fp2_sub(&h, &h, &b);
    fp2_sub(&h, &h, &s);
    fp2_add(&xy2, &t->x, &t->y);
    fp2_sqr(&xy2, &xy2);
    fp2_sub(&xy2, &xy2, &xx);
    fp2_sub(&xy2, &xy2, &b);
    fp2_double(&e, &s); /* E = 12 (1 + u) Z^2 */
    fp2_add(&e, &e, &s);
    fp2_double(&e, &e);
    fp2_double(&e, &e);
    fp2_mul_xi(&e, &e);
    fp2_double(&f, &e);
    fp2_add(&f, &f, &e);

    fp2_sub(&l->a, &b, &e);
    fp2_double(&s, &xx);
    fp2_add(&s, &s, &xx);
    fp2_neg(&l->b, &s);
    l->c = h;

    fp2_sub(&s, &b, &f);
    fp2_mul(&t->x, &xy2, &s);
    fp2_add(&s, &b, &f);
    fp2_sqr(&t->y, &s);
    fp2_sqr(&e, &e);
    fp2_double(&s, &e);
    fp2_add(&e, &e, &s);
    fp2_double(&e, &e);
    fp2_double(&e, &e);
    fp2_sub(&t->y, &t->y, &e);
    fp2_mul(&t->z, &b, &h);
    fp2_double(&t->z, &t->z);
    fp2_double(&t->z, &t->z);
}

/* T = T + Q and the line through them, scaled by L = X - xQ Z. T is never Q or -Q here: it is a
 * multiple m Q with 1 < m < r - 1. With O = Y - yQ Z, G = X L^2, H = L^3 + Z O^2 - 2 G:
 * X' = L H, Y' = O (G - H) - Y L^3, Z' = Z L^3; line (O xQ - L yQ, -O, L). */
static void add_step(twist_point *t, line_t *l, const g2_affine_t *q) {
    fp2_t o, lambda, l2, l3, g, h, s;
    fp2_mul(&s, &q->y, &t->z);
    fp2_sub(&o, &t->y, &s);
    fp2_mul(&s, &q->x, &t->z);
    fp2_sub(&lambda, &t->x, &s);
    fp2_sqr(&l2, &lambda);
    fp2_mul(&l3, &l2, &lambda);
    fp2_mul(&g, &t->x, &l2);
    fp2_sqr(&h, &o);
    fp2_mul(&h, &h, &t->z);
    fp2_add(&h, &h, &l3);
    fp2_sub(&h, &h, &g);
    fp2_sub(&h, &h, &g);
    fp2_mul(&t->x, &lambda, &h);
    fp2_sub(&g, &g, &h);
    fp2_mul(&g, &g, &o);
    fp2_mul(&s, &t->y, &l3);
    fp2_sub(&t->y, &g, &s);
    fp2_mul(&t->z, &t->z, &l3);

    fp2_mul(&l->a, &o, &q->x);
    fp2_mul(&s, &lambda, &q->y);
    fp2_sub(&l->a, &l->a, &s);
    fp2_neg(&l->b, &o);
    l->c = lambda;
}

/* Pairs that share the squarings; bounds the stack. */
#define MILLER_PAIRS 16

static void miller_chunk(fp12_t *f, const g1_affine_t *p, const g2_affine_t *q, size_t n) {
    twist_point t[MILLER_PAIRS];
    const g1_affine_t *ps[MILLER_PAIRS];
    const g2_affine_t *qs[MILLER_PAIRS];
    size_t m = 0;
    for (size_t i = 0; i < n; i++) {
        if (g1_affine_is_infinity(&p[i]) || g2_affine_is_infinity(&q[i])) continue;
        t[m] = (twist_point){q[i].x, q[i].y, fp2_one()};
        ps[m] = &p[i];
        qs[m++] = &q[i];
    }
    *f = fp12_one();
    for (int bit = 62; bit >= 0; bit--) {
        line_t l;
        fp12_sqr(f, f);
        for (size_t i = 0; i < m; i++) {
            double_step(&t[i], &l);
            line_at(&l, ps[i]);
            fp12_mul_line(f, f, &l.a, &l.b, &l.c);
        }
        if ((BLS_X_ABS >> bit & 1) == 0) continue;
        for (size_t i = 0; i < m; i++) {
            add_step(&t[i], &l, qs[i]);
            line_at(&l, ps[i]);
            fp12_mul_line(f, f, &l.a, &l.b, &l.c);
        }
    }
    fp12_conjugate(f, f); /* x < 0 */
}

void pairing_miller(fp12_t *z, const g1_affine_t *p, const g2_affine_t *q, size_t n) {
    fp12_t product = fp12_one(), f;
    for (size_t i = 0; i < n; i += MILLER_PAIRS) {
        miller_chunk(&f, p + i, q + i, n - i < MILLER_PAIRS ? n - i : MILLER_PAIRS);
        fp12_mul(&product, &product, &f);
    }
    *z = product;
}

/* z = f^x for f in the cyclotomic subgroup. */
static void pow_x(fp12_t *z, const fp12_t *f) {
    fp12_t t = *f;
    for (int bit = 62; bit >= 0; bit--) {
        fp12_cyclotomic_sqr(&t, &t);
        if ((BLS_X_ABS >> bit & 1) != 0) fp12_mul(&t, &t, f);
    }
    fp12_conjugate(z, &t); /* x < 0 */
}

/* z = f^(x - 1) for f in the cyclotomic subgroup. */
static void pow_x_minus_1(fp12_t *z, const fp12_t *f) {
    fp12_t t, inverse;
    pow_x(&t, f);
    fp12_conjugate(&inverse, f);
    fp12_mul(z, &t, &inverse);
}

/* First f^((p^6 - 1)(p^2 + 1)), then the rest by (Hayashida, Hayasaka, Teruya, eprint 2020/875)
 * 3 (p^4 - p^2 + 1) / r = (x - 1)^2 (x + p) (x^2 + p^2 - 1) + 3. */
void pairing_final_exponentiation(fp12_t *z, const fp12_t *f) {
    fp12_t m, a, b, t;
    fp12_inv(&t, f);
    fp12_conjugate(&m, f);
    fp12_mul(&m, &m, &t);
    fp12_frobenius(&t, &m);
    fp12_frobenius(&t, &t);
    fp12_mul(&m, &m, &t);

    pow_x_minus_1(&a, &m);
    pow_x_minus_1(&a, &a);
    pow_x(&b, &a);
    fp12_frobenius(&t, &a);
    fp12_mul(&b, &b, &t);
    pow_x(&a, &b);
    pow_x(&a, &a);
    fp12_frobenius(&t, &b);
    fp12_frobenius(&t, &t);
    fp12_mul(&a, &a, &t);
    fp12_conjugate(&t, &b);
    fp12_mul(&a, &a, &t);
    fp12_cyclotomic_sqr(&t, &m);
    fp12_mul(&t, &t, &m);
    fp12_mul(z, &a, &t);
}

void pairing(fp12_t *z, const g1_affine_t *p, const g2_affine_t *q) {
    fp12_t f;
    pairing_miller(&f, p, q, 1);
    pairing_final_exponentiation(z, &f);
}

bool pairing_product_is_one(const g1_affine_t *p, const g2_affine_t *q, size_t n) {
    fp12_t f;
    pairing_miller(&f, p, q, n);
    pairing_final_exponentiation(&f, &f);
    return fp12_is_one(&f);
}
