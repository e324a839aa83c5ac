/* Random and edge field elements for the tests of the field and curve layers. */
#ifndef CUZK_TESTS_LIMBS_H
#define CUZK_TESTS_LIMBS_H

#include "check.h"

#include "field/mont.h"

static inline bool limbs_less(const uint64_t *x, const uint64_t *y, int n) {
    for (int i = n - 1; i >= 0; i--)
        if (x[i] != y[i]) return x[i] < y[i];
    return false;
}

/* x < p with runs of equal bits about half of the time. */
static inline void limbs_random(uint64_t *x, const mont_prime *P, int n) {
    const int top = (int)(P->bits + 63) / 64 - 1;
    do {
        for (int i = 0; i < n; i++)
            x[i] = i <= top ? check_random_runs() : 0;
        if (P->bits % 64 != 0) x[top] &= UINT64_MAX >> (64 - P->bits % 64);
    } while (!limbs_less(x, P->p, n));
}

/* Edge values < p, counted by i; false when there are no more. 0, 1, 2, p - 1, p - 2, (p - 1) / 2,
 * (p + 1) / 2, R mod p, R^2 mod p, then 2^k, 2^k - 1, p - 2^k and all ones above bit k. */
static inline bool limbs_edge(uint64_t *x, const mont_prime *P, int n, int i) {
    enum { FIXED = 9 };
    for (int j = 0; j < n; j++)
        x[j] = 0;
    if (i < 3) {
        x[0] = (uint64_t)i;
    } else if (i < 5) {
        for (int j = 0; j < n; j++)
            x[j] = P->p[j];
        x[0] -= (uint64_t)(i - 2); /* p is odd and not 1 */
    } else if (i < 7) {
        for (int j = 0; j < n; j++)
            x[j] = P->p[j] >> 1 | (j + 1 < n ? P->p[j + 1] << 63 : 0);
        if (i == 6)
            for (int j = 0; j < n && ++x[j] == 0; j++) {
            }
    } else if (i < FIXED) {
        for (int j = 0; j < n; j++)
            x[j] = i == 7 ? P->r1[j] : P->r2[j];
    } else {
        const int k = (i - FIXED) / 4, kind = (i - FIXED) % 4;
        if (k >= (int)P->bits - 1) return false;
        if (kind == 0) {
            x[k / 64] = (uint64_t)1 << (k % 64);
        } else if (kind == 1) {
            for (int j = 0; j < k; j++)
                x[j / 64] |= (uint64_t)1 << (j % 64);
        } else if (kind == 2) {
            uint64_t power[MONT_MAX_LIMBS] = {0};
            power[k / 64] = (uint64_t)1 << (k % 64);
            mont_plain_sub(x, x, power, P, n);
        } else {
            for (int j = k; j < (int)P->bits - 1; j++)
                x[j / 64] |= (uint64_t)1 << (j % 64);
        }
    }
    return limbs_less(x, P->p, n) || n == 1;
}

#endif
