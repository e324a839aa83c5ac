/* The derivation of Poseidon's constants; poseidon_tables.c holds its results. */
#include "filecoin/poseidon.h"

#include <string.h>

#define FULL POSEIDON_FULL_ROUNDS
#define HALF (POSEIDON_FULL_ROUNDS / 2)
#define WIDTH POSEIDON_MAX_WIDTH

typedef struct matrix {
    fr_t at[WIDTH][WIDTH];
} matrix;

/* ---- Grain LFSR in self-shrinking mode ---- */

#define GRAIN_BITS 80
#define GRAIN_WARM_UP 160
#define FIELD_BITS 255

typedef struct grain {
    uint8_t bits[GRAIN_BITS];
} grain;

static unsigned grain_step(grain *g) {
    const uint8_t *b = g->bits;
    const uint8_t bit = b[62] ^ b[51] ^ b[38] ^ b[23] ^ b[13] ^ b[0];
    memmove(g->bits, g->bits + 1, GRAIN_BITS - 1);
    g->bits[GRAIN_BITS - 1] = bit;
    return bit;
}

static void grain_init(grain *g, uint32_t width, uint32_t partial_rounds) {
    const struct {
        uint32_t value, bits;
    } fields[] = {{1, 2},
                  {1, 4},
                  {FIELD_BITS, 12},
                  {width, 12},
                  {FULL, 10},
                  {partial_rounds, 10},
                  {(1u << 30) - 1, 30}};
    size_t n = 0;
    for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++)
        for (uint32_t i = fields[f].bits; i-- > 0;)
            g->bits[n++] = fields[f].value >> i & 1;
    for (int i = 0; i < GRAIN_WARM_UP; i++)
        grain_step(g);
}

static void grain_element(grain *g, fr_t *out) {
    uint8_t bytes[FR_BYTES];
    do {
        memset(bytes, 0, sizeof bytes);
        for (unsigned i = FIELD_BITS; i-- > 0;) {
            while (grain_step(g) == 0)
                grain_step(g);
            bytes[i / 8] = (uint8_t)(bytes[i / 8] | grain_step(g) << (i % 8));
        }
    } while (fr_from_bytes(out, bytes) != CUZK_OK);
}

/* ---- small matrices ---- */

/* out = v m, v a row vector; out may not alias v. */
static void row_times(fr_t *out, const fr_t *v, const matrix *m, uint32_t n) {
    for (uint32_t j = 0; j < n; j++) {
        out[j] = fr_zero();
        for (uint32_t i = 0; i < n; i++) {
            fr_t product;
            fr_mul(&product, &v[i], &m->at[i][j]);
            fr_add(&out[j], &out[j], &product);
        }
    }
}

/* row -= factor * other */
static void row_eliminate(fr_t *row, const fr_t *other, const fr_t *factor, uint32_t n) {
    for (uint32_t j = 0; j < n; j++) {
        fr_t product;
        fr_mul(&product, &other[j], factor);
        fr_sub(&row[j], &row[j], &product);
    }
}

/* Gauss-Jordan without row exchanges: every leading minor of the matrices met here is non-zero
 * (Cauchy matrices and what the factorisation makes of them). */
static void invert(matrix *out, const matrix *in, uint32_t n) {
    matrix m = *in;
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < n; i++)
        out->at[i][i] = fr_one();
    for (uint32_t i = 0; i < n; i++) {
        fr_t scale;
        fr_inv(&scale, &m.at[i][i]);
        for (uint32_t j = 0; j < n; j++) {
            fr_mul(&m.at[i][j], &m.at[i][j], &scale);
            fr_mul(&out->at[i][j], &out->at[i][j], &scale);
        }
        for (uint32_t r = 0; r < n; r++) {
            if (r == i) continue;
            const fr_t factor = m.at[r][i];
            row_eliminate(m.at[r], m.at[i], &factor, n);
            row_eliminate(out->at[r], out->at[i], &factor, n);
        }
    }
}

/* ---- derivation ---- */

static void derive_mds(poseidon_constants *k) {
    for (uint32_t i = 0; i < k->width; i++)
        for (uint32_t j = 0; j < k->width; j++) {
            fr_from_u64(&k->mds[i][j], i + j + k->width);
            fr_inv(&k->mds[i][j], &k->mds[i][j]);
        }
}

/* Round keys moved through the linear layers (REFERENCE 7.2): each full round's keys become post
 * keys of the S-boxes before them; those of the partial rounds fold into one key a round. */
static void derive_compressed(poseidon_constants *k) {
    const uint32_t t = k->width, partial = k->partial_rounds;
    matrix mds, inverse;
    memcpy(mds.at, k->mds, sizeof mds.at);
    invert(&inverse, &mds, t);
    fr_t *out = k->compressed;
    memcpy(out, k->round, t * sizeof *out);
    out += t;
    for (uint32_t i = 1; i < HALF; i++, out += t)
        row_times(out, k->round + i * t, &inverse, t);

    fr_t acc[WIDTH], moved[WIDTH];
    fr_t *folded = out + t; /* partial keys, filled from the end */
    memcpy(acc, k->round + (HALF + partial) * t, t * sizeof *acc);
    for (uint32_t i = 0; i < partial; i++) {
        row_times(moved, acc, &inverse, t);
        folded[partial - 1 - i] = moved[0];
        moved[0] = fr_zero();
        for (uint32_t j = 0; j < t; j++)
            fr_add(&acc[j], &k->round[(HALF + partial - i - 1) * t + j], &moved[j]);
    }
    row_times(out, acc, &inverse, t);
    out += t + partial;
    for (uint32_t i = 1; i < HALF; i++, out += t)
        row_times(out, k->round + (HALF + partial + i) * t, &inverse, t);
    k->n_compressed = (uint32_t)(out - k->compressed);
}

/* m = (1 + hat) (sparse) repeatedly: the partial rounds' dense matrices become sparse ones and one
 * dense matrix before them. */
static void derive_sparse(poseidon_constants *k) {
    const uint32_t t = k->width;
    matrix cur, mds, hat, inverse, block;
    memcpy(mds.at, k->mds, sizeof mds.at);
    cur = mds;
    for (uint32_t pair = k->partial_rounds; pair-- > 0;) {
        memset(&hat, 0, sizeof hat);
        memset(&block, 0, sizeof block);
        block.at[0][0] = fr_one();
        for (uint32_t i = 1; i < t; i++)
            for (uint32_t j = 1; j < t; j++)
                block.at[i][j] = hat.at[i - 1][j - 1] = cur.at[i][j];
        invert(&inverse, &hat, t - 1);
        k->sparse_what[pair][0] = cur.at[0][0];
        for (uint32_t i = 1; i < t; i++) {
            fr_t sum = fr_zero(), product;
            for (uint32_t j = 1; j < t; j++) {
                fr_mul(&product, &inverse.at[i - 1][j - 1], &cur.at[j][0]);
                fr_add(&sum, &sum, &product);
            }
            k->sparse_what[pair][i] = sum;
            k->sparse_v[pair][i - 1] = cur.at[0][i];
        }
        for (uint32_t i = 0; i < t; i++)
            row_times(cur.at[i], mds.at[i], &block, t);
    }
    memcpy(k->pre_sparse, cur.at, sizeof k->pre_sparse);
}

void poseidon_derive(poseidon_kind kind, poseidon_constants *out) {
    static const struct {
        uint32_t arity, partial_rounds;
        uint64_t tag;
    } parameters[POSEIDON_KINDS] = {[POSEIDON_2] = {2, 55, 3},
                                    [POSEIDON_4] = {4, 56, 15},
                                    [POSEIDON_8] = {8, 57, 255},
                                    [POSEIDON_11] = {11, 57, 2047},
                                    [POSEIDON_2_RANDOMNESS] = {2, 55, 1ULL << 40}};
    memset(out, 0, sizeof *out);
    out->arity = parameters[kind].arity;
    out->width = out->arity + 1;
    out->partial_rounds = parameters[kind].partial_rounds;
    fr_from_u64(&out->tag, parameters[kind].tag);
    grain g;
    grain_init(&g, out->width, out->partial_rounds);
    for (uint32_t i = 0; i < poseidon_rounds(out) * out->width; i++)
        grain_element(&g, &out->round[i]);
    derive_mds(out);
    derive_compressed(out);
    derive_sparse(out);
}
