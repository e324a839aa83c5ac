/* Inside the NTT: a transform is a few passes over memory, a pass is many independent tiles, and a
 * tile is a handful of the steps below on a buffer that stays in cache. The scalar kernel defines
 * every step; the AVX-512 one must end in the same bits.
 *
 * A tile holds 2^log_n rows of up to NTT_LANES elements. Each lane is a transform of its own, so
 * one twiddle serves a whole row. The buffer's layout belongs to the kernel; row i is its i-th row
 * unless a step says otherwise, and a transform reads bit-reversed rows and leaves natural ones. */
#ifndef CUZK_POLY_NTT_KERNEL_H
#define CUZK_POLY_NTT_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "field/fr.h"
#include "poly/ntt.h"

#define NTT_LANES 8
#define NTT_TILE_LOG2 9 /* most rows of a tile: a buffer is 160 KiB, three share a 1 MiB L2 */
#define NTT_TILE_ROWS ((size_t)1 << NTT_TILE_LOG2)
#define NTT_MAX_PASSES 5

/* 40 bytes an element: room for five 52-bit limbs. */
typedef struct ntt_buffer {
    _Alignas(64) uint64_t words[NTT_TILE_ROWS * NTT_LANES * 5];
} ntt_buffer;

/* One constant in the form the kernel multiplies by. */
typedef struct ntt_constant {
    uint64_t l[5];
} ntt_constant;

/* Where a tile lies in memory: element (row, lane) at base[row * row_stride + lane_offset[lane]].
 */
typedef struct ntt_tile {
    size_t row_stride;
    size_t lane_offset[NTT_LANES]; /* unused lanes repeat lane 0 */
    unsigned lanes;                /* 1..NTT_LANES */
    unsigned log_n;
} ntt_tile;

typedef struct ntt_kernel {
    const char *name;
    /* A product of two data elements comes out 2^-product_log2 of the true one. */
    unsigned product_log2;
    void (*constant)(ntt_constant *z, const fr_t *x);
    /* With `reversed`, memory row r is buffer row bitrev(r), in loads and in stores. */
    void (*load)(ntt_buffer *b, const ntt_tile *t, const fr_t *base, bool reversed);
    /* Stores fit 256 bits and are congruent to the buffer; `canonical` ones are fully reduced. */
    void (*store)(const ntt_buffer *b, const ntt_tile *t, fr_t *base, bool reversed,
                  bool canonical);
    /* Transform each lane. twiddles[L + j] = root of order 2L to the j, 0 <= j < L, L = 1, 2, 4...
     */
    void (*fft)(ntt_buffer *b, unsigned log_n, const ntt_constant *twiddles);
    /* Fill with constants to `mul` by: start * ratio[lane]^k, where k is the row or, with
     * `reversed`, the bit-reversed row. */
    void (*powers)(ntt_buffer *b, unsigned log_n, const fr_t *start, const fr_t ratio[NTT_LANES],
                   bool reversed);
    void (*mul_rows)(ntt_buffer *b, unsigned log_n, const ntt_constant *row_factors);
    /* By `powers`, or of two buffers just loaded. */
    void (*mul)(ntt_buffer *b, const ntt_buffer *other, unsigned log_n);
    /* Of two transforms. */
    void (*product)(ntt_buffer *b, const ntt_buffer *other, unsigned log_n);
    /* b after mul_rows, less a transform. */
    void (*sub)(ntt_buffer *b, const ntt_buffer *other, unsigned log_n);
    void (*reverse_rows)(ntt_buffer *b, unsigned log_n);
} ntt_kernel;

extern const ntt_kernel ntt_kernel_scalar;
/* The fastest kernel of this CPU. */
const ntt_kernel *ntt_kernel_best(void);
/* NULL where the CPU or the build lacks AVX-512 IFMA. */
const ntt_kernel *ntt_kernel_ifma(void);

struct ntt_domain {
    unsigned log2_n;
    unsigned passes; /* >= 2; pass i transforms 2^log2_rows[i] rows and the sum is log2_n */
    unsigned log2_rows[NTT_MAX_PASSES];
    const ntt_kernel *kernel;
    /* omega^e = high[e >> low_bits] * low[e mod 2^low_bits], 0 <= e < 2^log2_n */
    unsigned low_bits;
    fr_t *low, *high;
    ntt_constant *twiddles[2]; /* for ntt_kernel.fft: [0] forward, [1] inverse */
    /* g^(2^(log2_n - rows of the last pass)) to the k, k natural for the inverse ([1], 1/g) and
     * bit-reversed for the forward direction ([0]) */
    ntt_constant *coset_rows[2];
    fr_t n_inverse;         /* 1 / 2^log2_n */
    fr_t vanishing_inverse; /* 1 / (g^(2^log2_n) - 1) */
    fr_t shift[2];          /* g = 7, and 1/g */
    size_t bytes;           /* of the one allocation, of which the struct is the head */
};

/* ntt_domain_new with a kernel of choice and at most 2^tile_log2 rows a tile (0 < tile_log2 <=
 * NTT_TILE_LOG2, enough for NTT_MAX_PASSES): the tests look at many passes on small sizes. */
cuzk_status ntt_domain_new_with(const cuzk_host *host, unsigned log2_n, const ntt_kernel *kernel,
                                unsigned tile_log2, ntt_domain **out, cuzk_error *err);
/* omega^e, e taken mod 2^log2_n. */
void ntt_domain_root(const ntt_domain *d, uint64_t e, fr_t *z);

/* The low `bits` bits of v in reverse; v < 2^bits. */
static inline size_t ntt_bit_reverse(uint64_t v, unsigned bits) {
    v = (v >> 1 & 0x5555555555555555) | (v & 0x5555555555555555) << 1;
    v = (v >> 2 & 0x3333333333333333) | (v & 0x3333333333333333) << 2;
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0f) | (v & 0x0f0f0f0f0f0f0f0f) << 4;
    return (size_t)(__builtin_bswap64(v) >> 1 >> (63 - bits));
}

#endif
