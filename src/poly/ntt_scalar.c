/* The plain tile kernel: one fr_t operation at a time. It defines what the others compute. */
#include "poly/ntt_kernel.h"

#include <string.h>

_Static_assert(sizeof(fr_t) <= sizeof(ntt_constant), "a constant holds an fr_t");

/* Rows of a buffer are NTT_LANES elements. */
static fr_t *rows_of(ntt_buffer *b) {
    return (fr_t *)b->words;
}
static const fr_t *const_rows_of(const ntt_buffer *b) {
    return (const fr_t *)b->words;
}
static const fr_t *value_of(const ntt_constant *c) {
    return (const fr_t *)c->l;
}

static void constant(ntt_constant *z, const fr_t *x) {
    *z = (ntt_constant){{0}};
    memcpy(z->l, x, sizeof *x);
}

static void load(ntt_buffer *b, const ntt_tile *t, const fr_t *base, bool reversed) {
    for (size_t r = 0; r < (size_t)1 << t->log_n; r++) {
        fr_t *row = rows_of(b) + NTT_LANES * (reversed ? ntt_bit_reverse(r, t->log_n) : r);
        for (unsigned lane = 0; lane < NTT_LANES; lane++)
            row[lane] = base[r * t->row_stride + t->lane_offset[lane]];
    }
}

static void store(const ntt_buffer *b, const ntt_tile *t, fr_t *base, bool reversed,
                  bool canonical) {
    (void)canonical; /* fr_t always is */
    for (size_t r = 0; r < (size_t)1 << t->log_n; r++) {
        const fr_t *row =
            const_rows_of(b) + NTT_LANES * (reversed ? ntt_bit_reverse(r, t->log_n) : r);
        for (unsigned lane = 0; lane < t->lanes; lane++)
            base[r * t->row_stride + t->lane_offset[lane]] = row[lane];
    }
}

/* Decimation in time: blocks of half length L = 1, 2, 4... become blocks of twice the length. */
static void fft(ntt_buffer *b, unsigned log_n, const ntt_constant *twiddles) {
    const size_t n = (size_t)1 << log_n;
    fr_t *rows = rows_of(b);
    for (size_t half = 1; half < n; half *= 2) {
        for (size_t block = 0; block < n; block += 2 * half) {
            for (size_t j = 0; j < half; j++) {
                fr_t *x = rows + NTT_LANES * (block + j), *y = x + NTT_LANES * half;
                for (unsigned lane = 0; lane < NTT_LANES; lane++) {
                    fr_t turned = y[lane];
                    if (j != 0) fr_mul(&turned, &turned, value_of(&twiddles[half + j]));
                    fr_sub(&y[lane], &x[lane], &turned);
                    fr_add(&x[lane], &x[lane], &turned);
                }
            }
        }
    }
}

static void powers(ntt_buffer *b, unsigned log_n, const fr_t *start, const fr_t ratio[NTT_LANES],
                   bool reversed) {
    fr_t power[NTT_LANES];
    for (unsigned lane = 0; lane < NTT_LANES; lane++)
        power[lane] = *start;
    for (size_t k = 0; k < (size_t)1 << log_n; k++) {
        fr_t *row = rows_of(b) + NTT_LANES * (reversed ? ntt_bit_reverse(k, log_n) : k);
        for (unsigned lane = 0; lane < NTT_LANES; lane++) {
            row[lane] = power[lane];
            fr_mul(&power[lane], &power[lane], &ratio[lane]);
        }
    }
}

static void mul_rows(ntt_buffer *b, unsigned log_n, const ntt_constant *row_factors) {
    fr_t *rows = rows_of(b);
    for (size_t i = 0; i < (size_t)NTT_LANES << log_n; i++)
        fr_mul(&rows[i], &rows[i], value_of(&row_factors[i / NTT_LANES]));
}

static void mul(ntt_buffer *b, const ntt_buffer *other, unsigned log_n) {
    for (size_t i = 0; i < (size_t)NTT_LANES << log_n; i++)
        fr_mul(&rows_of(b)[i], &rows_of(b)[i], &const_rows_of(other)[i]);
}

static void sub(ntt_buffer *b, const ntt_buffer *other, unsigned log_n) {
    for (size_t i = 0; i < (size_t)NTT_LANES << log_n; i++)
        fr_sub(&rows_of(b)[i], &rows_of(b)[i], &const_rows_of(other)[i]);
}

static void reverse_rows(ntt_buffer *b, unsigned log_n) {
    for (size_t i = 0; i < (size_t)1 << log_n; i++) {
        const size_t j = ntt_bit_reverse(i, log_n);
        if (j <= i) continue;
        fr_t *x = rows_of(b) + NTT_LANES * i, *y = rows_of(b) + NTT_LANES * j;
        for (unsigned lane = 0; lane < NTT_LANES; lane++) {
            const fr_t kept = x[lane];
            x[lane] = y[lane];
            y[lane] = kept;
        }
    }
}

const ntt_kernel ntt_kernel_scalar = {
    .name = "scalar",
    .product_log2 = 0,
    .constant = constant,
    .load = load,
    .store = store,
    .fft = fft,
    .powers = powers,
    .mul_rows = mul_rows,
    .mul = mul,
    .product = mul,
    .sub = sub,
    .reverse_rows = reverse_rows,
};
