/* Montgomery arithmetic in portable C: these routines define what mont.h offers. Limbs are 64-bit,
 * least significant first; R = 2^(64 n). Every value is kept fully reduced (< p).
 *
 * n is a compile-time constant at each call site, so the loops unroll; n <= MONT_MAX_LIMBS and
 * p < 2^(64 n - 1), which lets additions ignore the carry out of the top limb. */
#ifndef CUZK_FIELD_MONT_PLAIN_H
#define CUZK_FIELD_MONT_PLAIN_H

#include <stdbool.h>
#include <stdint.h>

#define MONT_MAX_LIMBS 6

typedef struct mont_prime {
    uint64_t p[MONT_MAX_LIMBS];
    uint64_t r1[MONT_MAX_LIMBS];   /* R mod p: the Montgomery form of 1 */
    uint64_t r2[MONT_MAX_LIMBS];   /* R^2 mod p: converts to Montgomery form */
    uint64_t root[MONT_MAX_LIMBS]; /* generator of the roots of unity of order 2^two_adicity,
                                      Montgomery form */
    uint64_t n0;                   /* -p^-1 mod 2^64 */
    unsigned bits;                 /* bit length of p */
    unsigned two_adicity;          /* largest s such that 2^s divides p - 1 */
} mont_prime;

typedef unsigned __int128 mont_u128;

#define MONT_INLINE static inline __attribute__((always_inline))

/* z = x - p if x >= p, else x. carry is the limb above the top one (0 or 1). */
MONT_INLINE void mont_plain_reduce_once(uint64_t *z, const uint64_t *x, uint64_t carry,
                                        const mont_prime *P, int n) {
    uint64_t t[MONT_MAX_LIMBS];
    uint64_t borrow = 0;
    for (int i = 0; i < n; i++) {
        const mont_u128 d = (mont_u128)x[i] - P->p[i] - borrow;
        t[i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
    }
    const uint64_t keep = (uint64_t)0 - (uint64_t)(carry < borrow); /* all ones: x < p, keep x */
    for (int i = 0; i < n; i++)
        z[i] = (x[i] & keep) | (t[i] & ~keep);
}

/* z = x + y, which must fit n limbs. */
MONT_INLINE void mont_plain_add_unreduced(uint64_t *z, const uint64_t *x, const uint64_t *y,
                                          int n) {
    uint64_t carry = 0;
    for (int i = 0; i < n; i++) {
        const mont_u128 s = (mont_u128)x[i] + y[i] + carry;
        z[i] = (uint64_t)s;
        carry = (uint64_t)(s >> 64);
    }
}

MONT_INLINE void mont_plain_add(uint64_t *z, const uint64_t *x, const uint64_t *y,
                                const mont_prime *P, int n) {
    uint64_t t[MONT_MAX_LIMBS];
    uint64_t carry = 0;
    for (int i = 0; i < n; i++) {
        const mont_u128 s = (mont_u128)x[i] + y[i] + carry;
        t[i] = (uint64_t)s;
        carry = (uint64_t)(s >> 64);
    }
    mont_plain_reduce_once(z, t, carry, P, n);
}

MONT_INLINE void mont_plain_sub(uint64_t *z, const uint64_t *x, const uint64_t *y,
                                const mont_prime *P, int n) {
    uint64_t t[MONT_MAX_LIMBS];
    uint64_t borrow = 0;
    for (int i = 0; i < n; i++) {
        const mont_u128 d = (mont_u128)x[i] - y[i] - borrow;
        t[i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
    }
    const uint64_t mask = (uint64_t)0 - borrow;
    uint64_t carry = 0;
    for (int i = 0; i < n; i++) {
        const mont_u128 s = (mont_u128)t[i] + (P->p[i] & mask) + carry;
        z[i] = (uint64_t)s;
        carry = (uint64_t)(s >> 64);
    }
}

/* z = x y / R mod p (CIOS; Koc, Acar, Kaliski 1996), for x and y < p, or where there is room, as in
 * Fp, for x + p, y + p <= R and x y < R p. z may alias either. */
MONT_INLINE void mont_plain_mul(uint64_t *z, const uint64_t *x, const uint64_t *y,
                                const mont_prime *P, int n) {
    uint64_t t[MONT_MAX_LIMBS + 1] = {0};
    for (int i = 0; i < n; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < n; j++) {
            const mont_u128 s = (mont_u128)x[j] * y[i] + t[j] + carry;
            t[j] = (uint64_t)s;
            carry = (uint64_t)(s >> 64);
        }
        const mont_u128 top = (mont_u128)t[n] + carry;
        t[n] = (uint64_t)top;
        const uint64_t over = (uint64_t)(top >> 64);
        const uint64_t m = t[0] * P->n0;
        mont_u128 s = (mont_u128)m * P->p[0] + t[0];
        carry = (uint64_t)(s >> 64);
        for (int j = 1; j < n; j++) {
            s = (mont_u128)m * P->p[j] + t[j] + carry;
            t[j - 1] = (uint64_t)s;
            carry = (uint64_t)(s >> 64);
        }
        const mont_u128 end = (mont_u128)t[n] + carry;
        t[n - 1] = (uint64_t)end;
        t[n] = over + (uint64_t)(end >> 64);
    }
    mont_plain_reduce_once(z, t, t[n], P, n);
}

/* z = x y, 2 n limbs; z is neither x nor y. */
MONT_INLINE void mont_plain_wide_mul(uint64_t *z, const uint64_t *x, const uint64_t *y, int n) {
    for (int i = 0; i < 2 * n; i++)
        z[i] = 0;
    for (int i = 0; i < n; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < n; j++) {
            const mont_u128 s = (mont_u128)x[j] * y[i] + z[i + j] + carry;
            z[i + j] = (uint64_t)s;
            carry = (uint64_t)(s >> 64);
        }
        z[i + n] = carry;
    }
}

/* z = w / R mod p for w < p R of 2 n limbs. */
MONT_INLINE void mont_plain_wide_reduce(uint64_t *z, const uint64_t *w, const mont_prime *P,
                                        int n) {
    uint64_t t[MONT_MAX_LIMBS];
    for (int i = 0; i < n; i++)
        t[i] = w[i];
    for (int i = 0; i < n; i++) {
        const uint64_t m = t[0] * P->n0;
        uint64_t carry = (uint64_t)(((mont_u128)m * P->p[0] + t[0]) >> 64);
        for (int j = 1; j < n; j++) {
            const mont_u128 s = (mont_u128)m * P->p[j] + t[j] + carry;
            t[j - 1] = (uint64_t)s;
            carry = (uint64_t)(s >> 64);
        }
        t[n - 1] = carry;
    }
    mont_plain_add(z, t, w + n, P, n);
}

/* z = x + y mod R p, 2 n limbs. */
MONT_INLINE void mont_plain_wide_add(uint64_t *z, const uint64_t *x, const uint64_t *y,
                                     const mont_prime *P, int n) {
    uint64_t t[MONT_MAX_LIMBS];
    uint64_t carry = 0;
    for (int i = 0; i < 2 * n; i++) {
        const mont_u128 s = (mont_u128)x[i] + y[i] + carry;
        *(i < n ? &z[i] : &t[i - n]) = (uint64_t)s;
        carry = (uint64_t)(s >> 64);
    }
    mont_plain_reduce_once(z + n, t, carry, P, n);
}

/* z = x - y mod R p, 2 n limbs. */
MONT_INLINE void mont_plain_wide_sub(uint64_t *z, const uint64_t *x, const uint64_t *y,
                                     const mont_prime *P, int n) {
    uint64_t borrow = 0;
    for (int i = 0; i < 2 * n; i++) {
        const mont_u128 d = (mont_u128)x[i] - y[i] - borrow;
        z[i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
    }
    const uint64_t mask = (uint64_t)0 - borrow;
    uint64_t carry = 0;
    for (int i = 0; i < n; i++) {
        const mont_u128 s = (mont_u128)z[n + i] + (P->p[i] & mask) + carry;
        z[n + i] = (uint64_t)s;
        carry = (uint64_t)(s >> 64);
    }
}

#endif
