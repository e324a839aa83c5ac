/* Products in Fp2 before their reduction. */
#ifndef CUZK_FIELD_FP2_WIDE_H
#define CUZK_FIELD_FP2_WIDE_H

#include "field/fp2.h"
#include "field/fp_wide.h"

typedef struct fp2_wide {
    fp_wide c0, c1;
} fp2_wide;

/* x and y may be sums of two elements, unreduced. */
void fp2_wide_mul(fp2_wide *z, const fp2_t *x, const fp2_t *y);
static inline void fp2_wide_reduce(fp2_t *z, const fp2_wide *w) {
    fp_wide_reduce(&z->c0, &w->c0);
    fp_wide_reduce(&z->c1, &w->c1);
}
static inline void fp2_wide_add(fp2_wide *z, const fp2_wide *x, const fp2_wide *y) {
    fp_wide_add(&z->c0, &x->c0, &y->c0);
    fp_wide_add(&z->c1, &x->c1, &y->c1);
}
static inline void fp2_wide_sub(fp2_wide *z, const fp2_wide *x, const fp2_wide *y) {
    fp_wide_sub(&z->c0, &x->c0, &y->c0);
    fp_wide_sub(&z->c1, &x->c1, &y->c1);
}
/* z = (1 + u) x */
static inline void fp2_wide_mul_xi(fp2_wide *z, const fp2_wide *x) {
    const fp_wide c0 = x->c0;
    fp_wide_sub(&z->c0, &c0, &x->c1);
    fp_wide_add(&z->c1, &c0, &x->c1);
}
static inline void fp2_add_unreduced(fp2_t *z, const fp2_t *x, const fp2_t *y) {
    fp_add_unreduced(&z->c0, &x->c0, &y->c0);
    fp_add_unreduced(&z->c1, &x->c1, &y->c1);
}

#endif
