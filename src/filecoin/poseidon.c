#include "filecoin/poseidon.h"

#include <string.h>

/* ---- sums of products with one Montgomery reduction ---- */

/* sum x[i] y[i] over n <= POSEIDON_MAX_WIDTH terms. The sum is below 12 r^2 < 2^514, hence
 * nine limbs; after the reduction it is below 12 r^2 / R + r < 7 r, hence the three subtractions.
 */
#define DOT_LIMBS (2 * FR_LIMBS + 1)

/* acc = the sum without reduction, column by column of the limb products; the running column is
 * c2:c1:c0. Faster than row by row, whose carries ripple through nine limbs. */
static inline void dot_products(uint64_t acc[DOT_LIMBS], const fr_t *x, const fr_t *y, uint32_t n) {
    uint64_t c0 = 0, c1 = 0, c2 = 0;
#pragma GCC unroll 7
    for (int column = 0; column < 2 * FR_LIMBS - 1; column++) {
        for (uint32_t t = 0; t < n; t++) {
#pragma GCC unroll 4
            for (int i = 0; i < FR_LIMBS; i++) {
                const int j = column - i;
                if (j < 0 || j >= FR_LIMBS) continue;
                const mont_u128 p = (mont_u128)x[t].l[i] * y[t].l[j];
                uint64_t high = (uint64_t)(p >> 64);
                c0 += (uint64_t)p;
                high += c0 < (uint64_t)p; /* a product's high limb is below 2^64 - 1 */
                c1 += high;
                c2 += c1 < high;
            }
        }
        acc[column] = c0;
        c0 = c1;
        c1 = c2;
        c2 = 0;
    }
    acc[2 * FR_LIMBS - 1] = c0;
    acc[2 * FR_LIMBS] = c1;
}

/* top:x -= p << shift when that is not negative; top is the limb above the fourth. */
static inline void dot_subtract_multiple(uint64_t x[FR_LIMBS + 1], unsigned shift) {
    uint64_t t[FR_LIMBS + 1], borrow = 0;
    for (int i = 0; i <= FR_LIMBS; i++) {
        const uint64_t low = i < FR_LIMBS ? cuzk_fr_prime.p[i] << shift : 0;
        const uint64_t carried = i > 0 && shift > 0 ? cuzk_fr_prime.p[i - 1] >> (64 - shift) : 0;
        const mont_u128 d = (mont_u128)x[i] - (low | carried) - borrow;
        t[i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
    }
    const uint64_t keep = (uint64_t)0 - borrow;
    for (int i = 0; i <= FR_LIMBS; i++)
        x[i] = (x[i] & keep) | (t[i] & ~keep);
}

static inline void dot_reduce(fr_t *z, uint64_t acc[DOT_LIMBS]) {
    for (int i = 0; i < FR_LIMBS; i++) {
        const uint64_t m = acc[i] * cuzk_fr_prime.n0;
        uint64_t carry = 0;
        for (int j = 0; j < FR_LIMBS; j++) {
            const mont_u128 s = (mont_u128)m * cuzk_fr_prime.p[j] + acc[i + j] + carry;
            acc[i + j] = (uint64_t)s;
            carry = (uint64_t)(s >> 64);
        }
        for (int j = i + FR_LIMBS; j < DOT_LIMBS; j++) {
            const mont_u128 s = (mont_u128)acc[j] + carry;
            acc[j] = (uint64_t)s;
            carry = (uint64_t)(s >> 64);
        }
    }
    for (unsigned shift = 3; shift-- > 0;)
        dot_subtract_multiple(acc + FR_LIMBS, shift);
    memcpy(z->l, acc + FR_LIMBS, sizeof z->l);
}

static void dot(fr_t *z, const fr_t *x, const fr_t *y, uint32_t n) {
    uint64_t acc[DOT_LIMBS];
    dot_products(acc, x, y, n);
    dot_reduce(z, acc);
}

/* ---- linear layers ---- */

/* Element `column` of state times the round's matrix. m is symmetric, so its columns are its rows;
 * of pre_sparse the column is gathered. */
static void dense_element(fr_t *z, const poseidon_constants *k, uint32_t round, uint32_t column,
                          const fr_t *state) {
    const fr_t(*m)[POSEIDON_MAX_WIDTH] = poseidon_dense(k, round);
    if (m == k->mds) {
        dot(z, state, m[column], k->width);
        return;
    }
    fr_t entries[POSEIDON_MAX_WIDTH];
    for (uint32_t i = 0; i < k->width; i++)
        entries[i] = m[i][column];
    dot(z, state, entries, k->width);
}

static void linear_dense(const poseidon_constants *k, uint32_t round, fr_t *state) {
    fr_t next[POSEIDON_MAX_WIDTH];
    for (uint32_t j = 0; j < k->width; j++)
        dense_element(&next[j], k, round, j, state);
    memcpy(state, next, k->width * sizeof *state);
}

static void linear_sparse(const poseidon_constants *k, uint32_t pair, fr_t *state) {
    fr_t first, product;
    dot(&first, k->sparse_what[pair], state, k->width);
    for (uint32_t j = 1; j < k->width; j++) {
        fr_mul(&product, &k->sparse_v[pair][j - 1], &state[0]);
        fr_add(&state[j], &state[j], &product);
    }
    state[0] = first;
}

void poseidon_linear(const poseidon_constants *k, uint32_t round, fr_t *state) {
    if (poseidon_is_partial(k, round))
        linear_sparse(k, round - POSEIDON_FULL_ROUNDS / 2, state);
    else
        linear_dense(k, round, state);
}

/* ---- hashes ---- */

static void power5(fr_t *x) {
    fr_t x2, x4;
    fr_sqr(&x2, x);
    fr_sqr(&x4, &x2);
    fr_mul(x, &x4, x);
}

void poseidon_hash_plain(const poseidon_constants *k, const fr_t *in, fr_t *out) {
    fr_t state[POSEIDON_MAX_WIDTH], next[POSEIDON_MAX_WIDTH], product;
    state[0] = k->tag;
    memcpy(state + 1, in, k->arity * sizeof *in);
    for (uint32_t round = 0; round < poseidon_rounds(k); round++) {
        for (uint32_t i = 0; i < k->width; i++) {
            fr_add(&state[i], &state[i], &k->round[round * k->width + i]);
            if (i == 0 || !poseidon_is_partial(k, round)) power5(&state[i]);
        }
        for (uint32_t j = 0; j < k->width; j++) {
            next[j] = fr_zero();
            for (uint32_t i = 0; i < k->width; i++) {
                fr_mul(&product, &state[i], &k->mds[i][j]);
                fr_add(&next[j], &next[j], &product);
            }
        }
        memcpy(state, next, k->width * sizeof *state);
    }
    *out = state[1];
}

void poseidon_hash(const poseidon_constants *k, const fr_t *in, fr_t *out) {
    fr_t state[POSEIDON_MAX_WIDTH];
    const fr_t *key = k->compressed;
    state[0] = k->tag;
    memcpy(state + 1, in, k->arity * sizeof *in);
    for (uint32_t i = 0; i < k->width; i++)
        fr_add(&state[i], &state[i], key++);
    const uint32_t last = poseidon_rounds(k) - 1;
    for (uint32_t round = 0; round < last; round++) {
        const uint32_t boxes = poseidon_is_partial(k, round) ? 1 : k->width;
        for (uint32_t i = 0; i < boxes; i++) {
            power5(&state[i]);
            fr_add(&state[i], &state[i], key++);
        }
        poseidon_linear(k, round, state);
    }
    for (uint32_t i = 0; i < k->width; i++)
        power5(&state[i]);
    dense_element(out, k, last, 1, state);
}
