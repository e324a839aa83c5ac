/* The operations of a prime field, generated for one prime: a template, included once per field
 * with
 *
 *   FIELD        prefix of the names (fr gives fr_t, fr_add, ...)
 *   FIELD_LIMBS  64-bit limbs of an element
 *   FIELD_PRIME  its mont_prime
 *   FIELD_MUL    optional: the name of a faster equal of mont_mul, (uint64_t *z, x, y)
 *   FIELD_SQR    optional: likewise, (uint64_t *z, x)
 *
 * which it undefines. Bodies that are not inline come from prime_field_impl.h. Elements are in
 * Montgomery form and always fully reduced, so equal values have equal limbs. Outputs may alias
 * inputs. No guard: it is meant to be included several times. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "field/mont.h"
#include "field/template.h"

#define F_(name) TEMPLATE_NAME(FIELD, name)
#define F_T F_(t)

typedef struct F_T {
    uint64_t l[FIELD_LIMBS];
} F_T;

static inline void F_(add)(F_T *z, const F_T *x, const F_T *y) {
    mont_add(z->l, x->l, y->l, &FIELD_PRIME, FIELD_LIMBS);
}
static inline void F_(sub)(F_T *z, const F_T *x, const F_T *y) {
    mont_sub(z->l, x->l, y->l, &FIELD_PRIME, FIELD_LIMBS);
}
static inline void F_(mul)(F_T *z, const F_T *x, const F_T *y) {
#ifdef FIELD_MUL
    FIELD_MUL(z->l, x->l, y->l);
#else
    mont_mul(z->l, x->l, y->l, &FIELD_PRIME, FIELD_LIMBS);
#endif
}
static inline void F_(sqr)(F_T *z, const F_T *x) {
#ifdef FIELD_SQR
    FIELD_SQR(z->l, x->l);
#else
    F_(mul)(z, x, x);
#endif
}
static inline void F_(double)(F_T *z, const F_T *x) {
    F_(add)(z, x, x);
}
static inline F_T F_(zero)(void) {
    F_T z = {{0}};
    return z;
}
static inline F_T F_(one)(void) {
    F_T z;
    for (int i = 0; i < FIELD_LIMBS; i++)
        z.l[i] = FIELD_PRIME.r1[i];
    return z;
}
static inline bool F_(is_zero)(const F_T *x) {
    return mont_is_zero(x->l, FIELD_LIMBS);
}
static inline bool F_(eq)(const F_T *x, const F_T *y) {
    return mont_eq(x->l, y->l, FIELD_LIMBS);
}
static inline void F_(neg)(F_T *z, const F_T *x) {
    const F_T zero = F_(zero)();
    F_(sub)(z, &zero, x);
}

/* z = 1/x; 0 maps to 0. Variable time. */
void F_(inv)(F_T *z, const F_T *x);
/* Invert n elements in place with one inversion (Montgomery's trick); zeros stay zero. scratch has
 * room for n elements. */
void F_(batch_inv)(F_T *x, size_t n, F_T *scratch);
/* z = x^e, e given as little-endian 64-bit limbs. Variable time in e. */
void F_(pow_var)(F_T *z, const F_T *x, const uint64_t *e, size_t e_limbs);
/* A square root if there is one: false leaves z untouched. */
bool F_(sqrt)(F_T *z, const F_T *x);
void F_(from_u64)(F_T *z, uint64_t v);
/* Plain integer (little-endian limbs, < modulus) to and from Montgomery form. */
void F_(from_limbs)(F_T *z, const uint64_t plain[FIELD_LIMBS]);
void F_(to_limbs)(uint64_t plain[FIELD_LIMBS], const F_T *x);

#undef F_
#undef F_T
#undef FIELD
#undef FIELD_LIMBS
#undef FIELD_PRIME
#undef FIELD_MUL
#undef FIELD_SQR
