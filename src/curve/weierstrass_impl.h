/* Bodies of the functions that weierstrass.h declares: a template, included in one .c file per
 * curve with the same CURVE and CURVE_FIELD, and CURVE_B, the constant b, all of which it leaves
 * defined. Formulas: https://hyperelliptic.org/EFD/g1p/auto-shortw-xyzz.html for a = 0. */
#include "field/template.h"

#define C_(name) TEMPLATE_NAME(CURVE, name)
#define C_T C_(t)
#define C_AFFINE C_(affine_t)
#define F_(name) TEMPLATE_NAME(CURVE_FIELD, name)
#define F_T F_(t)

C_T C_(infinity)(void) {
    C_T z;
    z.x = z.y = F_(one)();
    z.zz = z.zzz = F_(zero)();
    return z;
}

void C_(from_affine)(C_T *z, const C_AFFINE *p) {
    if (C_(affine_is_infinity)(p)) {
        *z = C_(infinity)();
        return;
    }
    z->x = p->x;
    z->y = p->y;
    z->zz = z->zzz = F_(one)();
}

/* With i = 1/ZZZ: 1/ZZ = (ZZ i)^2, as ZZ^3 = ZZZ^2. An i of 0 gives infinity. */
static void C_(scale_to_affine)(C_AFFINE *z, const C_T *p, const F_T *i) {
    F_T t;
    F_(mul)(&t, &p->zz, i);
    F_(sqr)(&t, &t);
    F_(mul)(&z->y, &p->y, i);
    F_(mul)(&z->x, &p->x, &t);
}

void C_(to_affine)(C_AFFINE *z, const C_T *p) {
    F_T i;
    F_(inv)(&i, &p->zzz);
    C_(scale_to_affine)(z, p, &i);
}

/* Montgomery's trick on the ZZZ: scratch[i] is the product of those before i. */
void C_(batch_to_affine)(C_AFFINE *z, const C_T *p, size_t n, void *scratch) {
    F_T *before = scratch;
    F_T product = F_(one)(), i_zzz;
    for (size_t i = 0; i < n; i++) {
        before[i] = product;
        if (!C_(is_infinity)(&p[i])) F_(mul)(&product, &product, &p[i].zzz);
    }
    F_(inv)(&product, &product);
    for (size_t i = n; i-- > 0;) {
        if (C_(is_infinity)(&p[i])) {
            z[i].x = z[i].y = F_(zero)();
            continue;
        }
        F_(mul)(&i_zzz, &product, &before[i]);
        F_(mul)(&product, &product, &p[i].zzz);
        C_(scale_to_affine)(&z[i], &p[i], &i_zzz);
    }
}

/* dbl-2008-s-1; infinity stays infinity, and y = 0 gives it. */
void C_(double)(C_T *z, const C_T *p) {
    F_T u, v, w, s, m, t;
    F_(double)(&u, &p->y);
    F_(sqr)(&v, &u);
    F_(mul)(&w, &u, &v);
    F_(mul)(&s, &p->x, &v);
    F_(sqr)(&t, &p->x);
    F_(double)(&m, &t);
    F_(add)(&m, &m, &t);
    F_(mul)(&z->zz, &v, &p->zz);
    F_(mul)(&z->zzz, &w, &p->zzz);
    F_(mul)(&w, &w, &p->y);
    F_(sqr)(&t, &m);
    F_(sub)(&t, &t, &s);
    F_(sub)(&z->x, &t, &s);
    F_(sub)(&s, &s, &z->x);
    F_(mul)(&s, &s, &m);
    F_(sub)(&z->y, &s, &w);
}

/* mdbl-2008-s-1 */
void C_(double_affine)(C_T *z, const C_AFFINE *p) {
    F_T u, v, w, s, m, t;
    F_(double)(&u, &p->y);
    F_(sqr)(&v, &u);
    F_(mul)(&w, &u, &v);
    F_(mul)(&s, &p->x, &v);
    F_(sqr)(&t, &p->x);
    F_(double)(&m, &t);
    F_(add)(&m, &m, &t);
    F_(mul)(&u, &w, &p->y);
    z->zz = v;
    z->zzz = w;
    F_(sqr)(&t, &m);
    F_(sub)(&t, &t, &s);
    F_(sub)(&z->x, &t, &s);
    F_(sub)(&s, &s, &z->x);
    F_(mul)(&s, &s, &m);
    F_(sub)(&z->y, &s, &u);
}

/* What the two additions share, once both points are over the common denominators zz and zzz:
 * (x1, y1) + (x1 + p, y1 + r), p not 0. */
static void C_(add_tail)(C_T *z, const F_T *x1, const F_T *y1, const F_T *p, const F_T *r,
                         const F_T *zz, const F_T *zzz) {
    F_T pp, ppp, q, t;
    F_(sqr)(&pp, p);
    F_(mul)(&ppp, p, &pp);
    F_(mul)(&q, x1, &pp);
    F_(mul)(&t, y1, &ppp);
    F_(mul)(&z->zz, zz, &pp);
    F_(mul)(&z->zzz, zzz, &ppp);
    F_(sqr)(&z->x, r);
    F_(sub)(&z->x, &z->x, &ppp);
    F_(sub)(&z->x, &z->x, &q);
    F_(sub)(&z->x, &z->x, &q);
    F_(sub)(&q, &q, &z->x);
    F_(mul)(&q, &q, r);
    F_(sub)(&z->y, &q, &t);
}

/* add-2008-s */
void C_(add)(C_T *z, const C_T *p, const C_T *q) {
    if (C_(is_infinity)(p)) {
        *z = *q;
        return;
    }
    if (C_(is_infinity)(q)) {
        *z = *p;
        return;
    }
    F_T x1, y1, dx, dy, zz, zzz;
    F_(mul)(&x1, &p->x, &q->zz);
    F_(mul)(&dx, &q->x, &p->zz);
    F_(sub)(&dx, &dx, &x1);
    F_(mul)(&y1, &p->y, &q->zzz);
    F_(mul)(&dy, &q->y, &p->zzz);
    F_(sub)(&dy, &dy, &y1);
    if (F_(is_zero)(&dx)) {
        if (F_(is_zero)(&dy))
            C_(double)(z, p);
        else
            *z = C_(infinity)();
        return;
    }
    F_(mul)(&zz, &p->zz, &q->zz);
    F_(mul)(&zzz, &p->zzz, &q->zzz);
    C_(add_tail)(z, &x1, &y1, &dx, &dy, &zz, &zzz);
}

/* madd-2008-s; y is q's, or its negative. */
static inline void C_(add_xy)(C_T *z, const C_T *p, const F_T *x, const F_T *y) {
    F_T dx, dy;
    F_(mul)(&dx, x, &p->zz);
    F_(sub)(&dx, &dx, &p->x);
    F_(mul)(&dy, y, &p->zzz);
    F_(sub)(&dy, &dy, &p->y);
    if (F_(is_zero)(&dx)) {
        if (F_(is_zero)(&dy))
            C_(double)(z, p);
        else
            *z = C_(infinity)();
        return;
    }
    C_(add_tail)(z, &p->x, &p->y, &dx, &dy, &p->zz, &p->zzz);
}

void C_(add_affine)(C_T *z, const C_T *p, const C_AFFINE *q) {
    if (C_(affine_is_infinity)(q))
        *z = *p;
    else if (C_(is_infinity)(p))
        C_(from_affine)(z, q);
    else
        C_(add_xy)(z, p, &q->x, &q->y);
}

void C_(sub_affine)(C_T *z, const C_T *p, const C_AFFINE *q) {
    C_AFFINE negative;
    C_(affine_neg)(&negative, q);
    C_(add_affine)(z, p, &negative);
}

void C_(neg)(C_T *z, const C_T *p) {
    *z = *p;
    F_(neg)(&z->y, &p->y);
}

void C_(affine_neg)(C_AFFINE *z, const C_AFFINE *p) {
    z->x = p->x;
    F_(neg)(&z->y, &p->y);
}

bool C_(eq)(const C_T *p, const C_T *q) {
    if (C_(is_infinity)(p) || C_(is_infinity)(q)) return C_(is_infinity)(p) && C_(is_infinity)(q);
    F_T s, t;
    F_(mul)(&s, &p->x, &q->zz);
    F_(mul)(&t, &q->x, &p->zz);
    if (!F_(eq)(&s, &t)) return false;
    F_(mul)(&s, &p->y, &q->zzz);
    F_(mul)(&t, &q->y, &p->zzz);
    return F_(eq)(&s, &t);
}

bool C_(affine_eq)(const C_AFFINE *p, const C_AFFINE *q) {
    return F_(eq)(&p->x, &q->x) && F_(eq)(&p->y, &q->y);
}

bool C_(affine_is_on_curve)(const C_AFFINE *p) {
    if (C_(affine_is_infinity)(p)) return true;
    F_T left, right;
    F_(sqr)(&left, &p->y);
    F_(sqr)(&right, &p->x);
    F_(mul)(&right, &right, &p->x);
    F_(add)(&right, &right, &CURVE_B);
    return F_(eq)(&left, &right);
}

#define WNAF_BITS 5
#define WNAF_TABLE (1 << (WNAF_BITS - 2)) /* p, 3 p, ... 15 p */

/* Digits of k, least significant first: each 0 or odd with |digit| < 16, and of any 5 in a row at
 * most one not 0. There are 64 limbs + 1 of them. */
static void C_(wnaf)(int8_t *digits, const uint64_t *k, size_t limbs) {
    const size_t bits = 64 * limbs;
    int carry = 0;
    for (size_t i = 0; i <= bits; i++)
        digits[i] = 0;
    for (size_t i = 0; i <= bits; i++) {
        const int bit = i < bits ? (int)(k[i / 64] >> (i % 64) & 1) : 0;
        if (bit == carry) continue;
        int window = carry; /* bits i .. i + 4, with the carry from below */
        for (size_t j = 0; j < WNAF_BITS && i + j < bits; j++)
            window += (int)(k[(i + j) / 64] >> ((i + j) % 64) & 1) << j;
        carry = window >> (WNAF_BITS - 1);
        digits[i] = (int8_t)(window - (carry << WNAF_BITS));
        i += WNAF_BITS - 1;
    }
}

void C_(mul_joint_var)(C_T *z, const C_T *p, const uint64_t *k, size_t m, size_t limbs) {
    C_T table[CURVE_JOINT_MAX][WNAF_TABLE];
    int8_t digits[64 * CURVE_JOINT_LIMBS_MAX + CURVE_JOINT_MAX];
    const size_t n = 64 * limbs + 1;
    for (size_t i = 0; i < m; i++) {
        C_T twice;
        C_(wnaf)(digits + i * n, k + i * limbs, limbs);
        table[i][0] = p[i];
        C_(double)(&twice, &p[i]);
        for (int j = 1; j < WNAF_TABLE; j++)
            C_(add)(&table[i][j], &table[i][j - 1], &twice);
    }
    C_T sum = C_(infinity)();
    for (size_t at = n; at-- > 0;) {
        C_(double)(&sum, &sum);
        for (size_t i = 0; i < m; i++) {
            const int digit = digits[i * n + at];
            if (digit == 0) continue;
            C_T term = table[i][(digit < 0 ? -digit : digit) / 2];
            if (digit < 0) C_(neg)(&term, &term);
            C_(add)(&sum, &sum, &term);
        }
    }
    *z = sum;
}

void C_(mul_limbs_var)(C_T *z, const C_T *p, const uint64_t *k, size_t limbs) {
    C_(mul_joint_var)(z, p, k, 1, limbs);
}

/* Double and add: best for a scalar with few bits set. */
void C_(mul_u64_var)(C_T *z, const C_T *p, uint64_t k) {
    const C_T base = *p;
    C_T sum = C_(infinity)();
    for (int i = 63; i >= 0; i--) {
        C_(double)(&sum, &sum);
        if ((k >> i & 1) != 0) C_(add)(&sum, &sum, &base);
    }
    *z = sum;
}

#undef WNAF_BITS
#undef WNAF_TABLE
#undef C_
#undef C_T
#undef C_AFFINE
#undef F_
#undef F_T
