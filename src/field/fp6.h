/* Fp6 = Fp2[v] / (v^3 - (1 + u)). Outputs may alias inputs. */
#ifndef CUZK_FIELD_FP6_H
#define CUZK_FIELD_FP6_H

#include "field/fp2.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct fp6_t {
    fp2_t c0, c1, c2; /* c0 + c1 v + c2 v^2 */
} fp6_t;

static inline void fp6_add(fp6_t *z, const fp6_t *x, const fp6_t *y) {
    fp2_add(&z->c0, &x->c0, &y->c0);
    fp2_add(&z->c1, &x->c1, &y->c1);
    fp2_add(&z->c2, &x->c2, &y->c2);
}
static inline void fp6_sub(fp6_t *z, const fp6_t *x, const fp6_t *y) {
    fp2_sub(&z->c0, &x->c0, &y->c0);
    fp2_sub(&z->c1, &x->c1, &y->c1);
    fp2_sub(&z->c2, &x->c2, &y->c2);
}
static inline void fp6_neg(fp6_t *z, const fp6_t *x) {
    fp2_neg(&z->c0, &x->c0);
    fp2_neg(&z->c1, &x->c1);
    fp2_neg(&z->c2, &x->c2);
}
/* z = v x: the non-residue of the next step of the tower. */
static inline void fp6_mul_v(fp6_t *z, const fp6_t *x) {
    fp2_t t;
    fp2_mul_xi(&t, &x->c2);
    z->c2 = x->c1;
    z->c1 = x->c0;
    z->c0 = t;
}
static inline bool fp6_is_zero(const fp6_t *x) {
    return fp2_is_zero(&x->c0) && fp2_is_zero(&x->c1) && fp2_is_zero(&x->c2);
}
static inline bool fp6_eq(const fp6_t *x, const fp6_t *y) {
    return fp2_eq(&x->c0, &y->c0) && fp2_eq(&x->c1, &y->c1) && fp2_eq(&x->c2, &y->c2);
}

void fp6_mul(fp6_t *z, const fp6_t *x, const fp6_t *y);
/* z = x (b0 + b1 v) */
void fp6_mul_01(fp6_t *z, const fp6_t *x, const fp2_t *b0, const fp2_t *b1);
/* z = x (b1 v) */
void fp6_mul_1(fp6_t *z, const fp6_t *x, const fp2_t *b1);
void fp6_sqr(fp6_t *z, const fp6_t *x);
/* z = 1/x; 0 maps to 0. */
void fp6_inv(fp6_t *z, const fp6_t *x);

#ifdef __cplusplus
}
#endif
#endif
