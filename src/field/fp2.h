/* Fp2 = Fp[u] / (u^2 + 1). Outputs may alias inputs. */
#ifndef CUZK_FIELD_FP2_H
#define CUZK_FIELD_FP2_H

#include "field/fp.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FP2_BYTES (2 * FP_BYTES)

typedef struct fp2_t {
    fp_t c0, c1; /* c0 + c1 u */
} fp2_t;

static inline void fp2_add(fp2_t *z, const fp2_t *x, const fp2_t *y) {
    fp_add(&z->c0, &x->c0, &y->c0);
    fp_add(&z->c1, &x->c1, &y->c1);
}
static inline void fp2_sub(fp2_t *z, const fp2_t *x, const fp2_t *y) {
    fp_sub(&z->c0, &x->c0, &y->c0);
    fp_sub(&z->c1, &x->c1, &y->c1);
}
static inline void fp2_double(fp2_t *z, const fp2_t *x) {
    fp2_add(z, x, x);
}
static inline void fp2_neg(fp2_t *z, const fp2_t *x) {
    fp_neg(&z->c0, &x->c0);
    fp_neg(&z->c1, &x->c1);
}
/* c0 - c1 u, which is x^p. */
static inline void fp2_conjugate(fp2_t *z, const fp2_t *x) {
    z->c0 = x->c0;
    fp_neg(&z->c1, &x->c1);
}
/* z = (1 + u) x: the non-residue of the tower. */
static inline void fp2_mul_xi(fp2_t *z, const fp2_t *x) {
    const fp_t c0 = x->c0;
    fp_sub(&z->c0, &c0, &x->c1);
    fp_add(&z->c1, &c0, &x->c1);
}
static inline void fp2_mul_fp(fp2_t *z, const fp2_t *x, const fp_t *y) {
    const fp_t scalar = *y; /* y may lie inside z */
    fp_mul(&z->c0, &x->c0, &scalar);
    fp_mul(&z->c1, &x->c1, &scalar);
}
static inline fp2_t fp2_zero(void) {
    fp2_t z = {{{0}}, {{0}}};
    return z;
}
static inline fp2_t fp2_one(void) {
    fp2_t z = fp2_zero();
    z.c0 = fp_one();
    return z;
}
static inline bool fp2_is_zero(const fp2_t *x) {
    return fp_is_zero(&x->c0) && fp_is_zero(&x->c1);
}
static inline bool fp2_eq(const fp2_t *x, const fp2_t *y) {
    return fp_eq(&x->c0, &y->c0) && fp_eq(&x->c1, &y->c1);
}

void fp2_mul(fp2_t *z, const fp2_t *x, const fp2_t *y);
void fp2_sqr(fp2_t *z, const fp2_t *x);
/* z = 1/x; 0 maps to 0. Variable time. */
void fp2_inv(fp2_t *z, const fp2_t *x);
/* Invert n elements in place with one inversion; zeros stay zero. scratch: n elements. */
void fp2_batch_inv(fp2_t *x, size_t n, fp2_t *scratch);
/* A square root if there is one: false leaves z untouched. */
bool fp2_sqrt(fp2_t *z, const fp2_t *x);
/* c1 then c0, 48 bytes big-endian each. Reading refuses a coefficient >= p. */
cuzk_status fp2_from_bytes(fp2_t *z, const uint8_t bytes[FP2_BYTES]);
void fp2_to_bytes(uint8_t bytes[FP2_BYTES], const fp2_t *x);
/* The sign rule of the zcash encoding: is x larger than -x, comparing c1 first? */
bool fp2_is_lexicographically_largest(const fp2_t *x);

#ifdef __cplusplus
}
#endif
#endif
