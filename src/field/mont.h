/* Montgomery arithmetic for a prime given as data: the routines of mont_plain.h, which define the
 * results, or on x86-64 faster ones with the same results for 4 and 6 limbs (mont_x86.h), so that
 * every prime of these sizes gets them. */
#ifndef CUZK_FIELD_MONT_H
#define CUZK_FIELD_MONT_H

#include "field/mont_plain.h"

#define mont_reduce_once mont_plain_reduce_once

/* Out of line, for machines without the fast ones. */
void mont_plain_wide_mul_6(uint64_t *z, const uint64_t *x, const uint64_t *y);
void mont_plain_wide_reduce_6(uint64_t *z, const uint64_t *w, const mont_prime *P);
void mont_plain_mul_4(uint64_t *z, const uint64_t *x, const uint64_t *y, const mont_prime *P);
void mont_plain_mul_6(uint64_t *z, const uint64_t *x, const uint64_t *y, const mont_prime *P);

#if defined(__x86_64__)

#include "field/cpu.h"
#include "field/mont_x86.h"

MONT_INLINE void mont_add(uint64_t *z, const uint64_t *x, const uint64_t *y, const mont_prime *P,
                          int n) {
    if (n == 6)
        mont_x86_add_6(z, x, y, P);
    else if (n == 4)
        mont_x86_add_4(z, x, y, P);
    else
        mont_plain_add(z, x, y, P, n);
}

MONT_INLINE void mont_sub(uint64_t *z, const uint64_t *x, const uint64_t *y, const mont_prime *P,
                          int n) {
    if (n == 6)
        mont_x86_sub_6(z, x, y, P);
    else if (n == 4)
        mont_x86_sub_4(z, x, y, P);
    else
        mont_plain_sub(z, x, y, P, n);
}

/* One well-predicted test of a flag, then a direct call. */
MONT_INLINE void mont_mul(uint64_t *z, const uint64_t *x, const uint64_t *y, const mont_prime *P,
                          int n) {
    if (n == 6) {
        if (__builtin_expect(cuzk_cpu_has_adx(), 1))
            mont_x86_mul_6(z, x, y, P);
        else
            mont_plain_mul_6(z, x, y, P);
    } else if (n == 4) {
        if (__builtin_expect(cuzk_cpu_has_adx(), 1))
            mont_x86_mul_4(z, x, y, P);
        else
            mont_plain_mul_4(z, x, y, P);
    } else {
        mont_plain_mul(z, x, y, P, n);
    }
}

#else
#define mont_add mont_plain_add
#define mont_sub mont_plain_sub
#define mont_mul mont_plain_mul
#endif

MONT_INLINE bool mont_is_zero(const uint64_t *x, int n) {
    uint64_t acc = 0;
    for (int i = 0; i < n; i++)
        acc |= x[i];
    return acc == 0;
}

MONT_INLINE bool mont_eq(const uint64_t *x, const uint64_t *y, int n) {
    uint64_t acc = 0;
    for (int i = 0; i < n; i++)
        acc |= x[i] ^ y[i];
    return acc == 0;
}

/* Is the plain integer x < p? */
MONT_INLINE bool mont_is_canonical(const uint64_t *x, const mont_prime *P, int n) {
    uint64_t borrow = 0;
    for (int i = 0; i < n; i++) {
        const mont_u128 d = (mont_u128)x[i] - P->p[i] - borrow;
        borrow = (uint64_t)(d >> 64) & 1;
    }
    return borrow == 1;
}

#endif
