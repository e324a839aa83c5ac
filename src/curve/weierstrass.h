/* The group of a curve y^2 = x^3 + b: a template, included once per curve with
 *
 *   CURVE        prefix of the names (g1 gives g1_t, g1_add, ...)
 *   CURVE_FIELD  prefix of the field's type and operations
 *
 * which it undefines; bodies come from weierstrass_impl.h. No guard: it is meant to be included
 * several times.
 *
 * Two forms of a point: affine (x, y) with infinity as all-zero (which is not on the curve, as b is
 * not 0), and XYZZ (X, Y, ZZ, ZZZ) with x = X/ZZ, y = Y/ZZZ, ZZ^3 = ZZZ^2 and infinity as ZZ = 0
 * (https://hyperelliptic.org/EFD/g1p/auto-shortw-xyzz.html). Every operation is complete: it is
 * right for equal and opposite points and for infinity. Outputs may alias inputs. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "field/template.h"

#define C_(name) TEMPLATE_NAME(CURVE, name)
#define C_T C_(t)
#define C_AFFINE C_(affine_t)
#define C_FIELD TEMPLATE_NAME(CURVE_FIELD, t)

typedef struct C_AFFINE {
    C_FIELD x, y;
} C_AFFINE;
typedef struct C_T {
    C_FIELD x, y, zz, zzz;
} C_T;

static inline bool C_(is_infinity)(const C_T *p) {
    return TEMPLATE_NAME(CURVE_FIELD, is_zero)(&p->zz);
}
static inline bool C_(affine_is_infinity)(const C_AFFINE *p) {
    return TEMPLATE_NAME(CURVE_FIELD, is_zero)(&p->x) && TEMPLATE_NAME(CURVE_FIELD, is_zero)(&p->y);
}
C_T C_(infinity)(void);
void C_(from_affine)(C_T *z, const C_AFFINE *p);
void C_(to_affine)(C_AFFINE *z, const C_T *p);
/* n points with one inversion; scratch: n elements of the curve's field. */
void C_(batch_to_affine)(C_AFFINE *z, const C_T *p, size_t n, void *scratch);
void C_(add)(C_T *z, const C_T *p, const C_T *q);
void C_(add_affine)(C_T *z, const C_T *p, const C_AFFINE *q);
void C_(sub_affine)(C_T *z, const C_T *p, const C_AFFINE *q);
void C_(double)(C_T *z, const C_T *p);
void C_(double_affine)(C_T *z, const C_AFFINE *p);
void C_(neg)(C_T *z, const C_T *p);
void C_(affine_neg)(C_AFFINE *z, const C_AFFINE *p);
bool C_(eq)(const C_T *p, const C_T *q);
bool C_(affine_eq)(const C_AFFINE *p, const C_AFFINE *q);
/* z = sum of k[i] p[i] for m <= CURVE_JOINT_MAX points of the curve, k[i] being `limbs`
 * little-endian 64-bit limbs at k + i * limbs; m * limbs <= CURVE_JOINT_LIMBS_MAX. The doublings
 * are shared. Variable time. */
void C_(mul_joint_var)(C_T *z, const C_T *p, const uint64_t *k, size_t m, size_t limbs);
/* z = k p for any point of the curve; limbs <= CURVE_JOINT_LIMBS_MAX. Variable time. */
void C_(mul_limbs_var)(C_T *z, const C_T *p, const uint64_t *k, size_t limbs);
/* z = k p by double and add: best for a k with few bits set. Variable time. */
void C_(mul_u64_var)(C_T *z, const C_T *p, uint64_t k);
/* Infinity counts as on the curve. */
bool C_(affine_is_on_curve)(const C_AFFINE *p);

#ifndef CURVE_JOINT_MAX
#define CURVE_JOINT_MAX 4
#define CURVE_JOINT_LIMBS_MAX 10
#endif

#undef C_
#undef C_T
#undef C_AFFINE
#undef C_FIELD
#undef CURVE
#undef CURVE_FIELD
