/* The tile kernel on AVX-512 IFMA: a row is one ifma_fr, a lane of it one lane of the tile.
 *
 * Bounds, as multiples of r (see field/ifma.h; 35 fit). Loads and products are below 2 and a
 * transform of up to 2^11 rows ends below 26: the first two levels, whose twiddles are 1 and a
 * root of order four, quadruple the bound at most, every later one adds 2. Twiddles are below 1,
 * powers below 1.1, so a product with transformed data is below 1 + 1.1 * 26 / 35 < 2. */
#include "poly/ntt_kernel.h"

#include "field/cpu.h"
#include "field/ifma.h"

#if defined(__x86_64__)

_Static_assert(NTT_LANES == IFMA_LANES, "a row is a vector");
_Static_assert(sizeof(ifma_fr) * NTT_TILE_ROWS == sizeof(ntt_buffer), "rows fill a buffer");
_Static_assert(NTT_TILE_LOG2 <= 11, "bounds above");

static ifma_fr *rows_of(ntt_buffer *b) {
    return (ifma_fr *)b->words;
}
static const ifma_fr *const_rows_of(const ntt_buffer *b) {
    return (const ifma_fr *)b->words;
}

/* From R = 2^256 to 2^260. */
static void constant(ntt_constant *z, const fr_t *x) {
    fr_t v = *x;
    for (int i = 0; i < 4; i++)
        fr_double(&v, &v);
    const uint64_t mask = ((uint64_t)1 << 52) - 1;
    z->l[0] = v.l[0] & mask;
    z->l[1] = (v.l[0] >> 52 | v.l[1] << 12) & mask;
    z->l[2] = (v.l[1] >> 40 | v.l[2] << 24) & mask;
    z->l[3] = (v.l[2] >> 28 | v.l[3] << 36) & mask;
    z->l[4] = v.l[3] >> 16;
}

IFMA_TARGET static void load(ntt_buffer *b, const ntt_tile *t, const fr_t *base, bool reversed) {
    for (size_t r = 0; r < (size_t)1 << t->log_n; r++) {
        const fr_t *from[NTT_LANES];
        for (unsigned lane = 0; lane < NTT_LANES; lane++)
            from[lane] = base + r * t->row_stride + t->lane_offset[lane];
        ifma_fr_load(rows_of(b) + (reversed ? ntt_bit_reverse(r, t->log_n) : r), from);
    }
}

IFMA_TARGET static void store(const ntt_buffer *b, const ntt_tile *t, fr_t *base, bool reversed,
                              bool canonical) {
    for (size_t r = 0; r < (size_t)1 << t->log_n; r++) {
        fr_t *to[NTT_LANES];
        ifma_fr v;
        for (unsigned lane = 0; lane < NTT_LANES; lane++)
            to[lane] = base + r * t->row_stride + t->lane_offset[lane];
        ifma_fr_reduce(&v, const_rows_of(b) + (reversed ? ntt_bit_reverse(r, t->log_n) : r));
        if (canonical) ifma_fr_subtract_once(&v, &v);
        ifma_fr_store(to, t->lanes, &v);
    }
}

/* x, y = x + t, x - t for t < 2 r of any limbs below 2^58. */
IFMA_INLINE void add_sub(ifma_fr *x, ifma_fr *y, const ifma_fr *t) {
    ifma_fr_sub_raw(y, x, t, 1);
    ifma_fr_add_raw(x, x, t);
}

/* Two levels, blocks of half length L and 2 L, on rows j, j + L, j + 2 L, j + 3 L. */
IFMA_INLINE void butterfly4(ifma_fr *row, size_t half, const ntt_constant *w1,
                            const ntt_constant *w2, const ntt_constant *w3) {
    ifma_fr a0 = row[0], a1, a2 = row[2 * half], a3, w, t;
    ifma_fr_splat(&w, w1->l);
    ifma_fr_mul_raw(&t, &row[half], &w);
    add_sub(&a0, &a1, &t);
    ifma_fr_mul_raw(&t, &row[3 * half], &w);
    add_sub(&a2, &a3, &t);
    ifma_fr_tidy(&a2, &a2);
    ifma_fr_tidy(&a3, &a3);
    ifma_fr_splat(&w, w2->l);
    ifma_fr_mul_raw(&t, &a2, &w);
    add_sub(&a0, &a2, &t);
    ifma_fr_splat(&w, w3->l);
    ifma_fr_mul_raw(&t, &a3, &w);
    add_sub(&a1, &a3, &t);
    ifma_fr_tidy(&row[0], &a0);
    ifma_fr_tidy(&row[half], &a1);
    ifma_fr_tidy(&row[2 * half], &a2);
    ifma_fr_tidy(&row[3 * half], &a3);
}

/* The same at j = 0, where w1 = w2 = 1 and w3 is the root of order four. At half = 1 the rows are
 * below 2 r and may double twice; later their multiples of r are taken off first. */
IFMA_INLINE void butterfly4_first(ifma_fr *row, size_t half, const ntt_constant *w3) {
    ifma_fr a0 = row[0], a1, a2 = row[2 * half], a3 = row[3 * half], w, t = row[half];
    if (half > 1) {
        ifma_fr_reduce(&t, &t);
        ifma_fr_reduce(&a2, &a2);
        ifma_fr_reduce(&a3, &a3);
    }
    add_sub(&a0, &a1, &t);
    t = a3;
    add_sub(&a2, &a3, &t);
    ifma_fr_tidy(&a3, &a3);
    ifma_fr_splat(&w, w3->l);
    ifma_fr_mul_raw(&t, &a3, &w);
    add_sub(&a1, &a3, &t);
    t = a2;
    ifma_fr_sub_raw(&a2, &a0, &t, 2); /* t < 4 r */
    ifma_fr_add_raw(&a0, &a0, &t);
    ifma_fr_tidy(&row[0], &a0);
    ifma_fr_tidy(&row[half], &a1);
    ifma_fr_tidy(&row[2 * half], &a2);
    ifma_fr_tidy(&row[3 * half], &a3);
}

/* The first level alone, when their number is odd. */
IFMA_INLINE void butterfly2_first(ifma_fr *row) {
    const ifma_fr t = row[1];
    add_sub(&row[0], &row[1], &t);
    ifma_fr_tidy(&row[0], &row[0]);
    ifma_fr_tidy(&row[1], &row[1]);
}

IFMA_TARGET static void fft(ntt_buffer *b, unsigned log_n, const ntt_constant *twiddles) {
    const size_t n = (size_t)1 << log_n;
    ifma_fr *rows = rows_of(b);
    if (log_n % 2 == 1)
        for (size_t i = 0; i < n; i += 2)
            butterfly2_first(rows + i);
    for (size_t half = log_n % 2 == 1 ? 2 : 1; half < n; half *= 4) {
        const ntt_constant *const inner = twiddles + half, *const outer = twiddles + 2 * half;
        for (size_t block = 0; block < n; block += 4 * half) {
            butterfly4_first(rows + block, half, &outer[half]);
            for (size_t j = 1; j < half; j++)
                butterfly4(rows + block + j, half, &inner[j], &outer[j], &outer[half + j]);
        }
    }
}

/* Two chains, so that one product need not wait for the one before. */
IFMA_TARGET static void powers(ntt_buffer *b, unsigned log_n, const fr_t *start,
                               const fr_t ratio[NTT_LANES], bool reversed) {
    const fr_t *from[NTT_LANES], *same[NTT_LANES];
    for (unsigned lane = 0; lane < NTT_LANES; lane++) {
        from[lane] = &ratio[lane];
        same[lane] = start;
    }
    ifma_fr step, even, odd;
    ifma_fr_load(&step, from);
    ifma_fr_load(&even, same);
    ifma_fr_enter(&step, &step);
    ifma_fr_enter(&even, &even);
    ifma_fr_mul(&odd, &even, &step);
    ifma_fr_mul(&step, &step, &step);
    rows_of(b)[0] = even;
    for (size_t k = 1; k < (size_t)1 << log_n; k += 2) {
        rows_of(b)[reversed ? ntt_bit_reverse(k, log_n) : k] = odd;
        if (k + 1 == (size_t)1 << log_n) break;
        ifma_fr_mul(&even, &even, &step);
        ifma_fr_mul(&odd, &odd, &step);
        rows_of(b)[reversed ? ntt_bit_reverse(k + 1, log_n) : k + 1] = even;
    }
}

IFMA_TARGET static void mul_rows(ntt_buffer *b, unsigned log_n, const ntt_constant *row_factors) {
    for (size_t i = 0; i < (size_t)1 << log_n; i++) {
        ifma_fr w;
        ifma_fr_splat(&w, row_factors[i].l);
        ifma_fr_mul(&rows_of(b)[i], &rows_of(b)[i], &w);
    }
}

IFMA_TARGET static void mul(ntt_buffer *b, const ntt_buffer *other, unsigned log_n) {
    for (size_t i = 0; i < (size_t)1 << log_n; i++)
        ifma_fr_mul(&rows_of(b)[i], &rows_of(b)[i], &const_rows_of(other)[i]);
}

IFMA_TARGET static void product(ntt_buffer *b, const ntt_buffer *other, unsigned log_n) {
    for (size_t i = 0; i < (size_t)1 << log_n; i++) {
        ifma_fr x, y;
        ifma_fr_reduce(&x, &rows_of(b)[i]);
        ifma_fr_reduce(&y, &const_rows_of(other)[i]);
        ifma_fr_mul(&rows_of(b)[i], &x, &y);
    }
}

IFMA_TARGET static void sub(ntt_buffer *b, const ntt_buffer *other, unsigned log_n) {
    for (size_t i = 0; i < (size_t)1 << log_n; i++)
        ifma_fr_sub(&rows_of(b)[i], &rows_of(b)[i], &const_rows_of(other)[i], 5);
}

IFMA_TARGET static void reverse_rows(ntt_buffer *b, unsigned log_n) {
    for (size_t i = 0; i < (size_t)1 << log_n; i++) {
        const size_t j = ntt_bit_reverse(i, log_n);
        if (j <= i) continue;
        const ifma_fr kept = rows_of(b)[i];
        rows_of(b)[i] = rows_of(b)[j];
        rows_of(b)[j] = kept;
    }
}

static const ntt_kernel kernel = {
    .name = "avx512ifma",
    .product_log2 = 4, /* 2^512 / 2^260 = 2^256 / 2^4 */
    .constant = constant,
    .load = load,
    .store = store,
    .fft = fft,
    .powers = powers,
    .mul_rows = mul_rows,
    .mul = mul,
    .product = product,
    .sub = sub,
    .reverse_rows = reverse_rows,
};

const ntt_kernel *ntt_kernel_ifma(void) {
    return cuzk_cpu_has_avx512ifma() ? &kernel : NULL;
}

#else

const ntt_kernel *ntt_kernel_ifma(void) {
    return NULL;
}

#endif
