/* The passes that transforms are made of, in place on vectors of the domain's size.
 *
 * Pass i sees the vector as blocks of M = rows * columns elements and transforms the columns of
 * each block; the last pass has one column, and its blocks lie one after another. An inverse
 * transform runs the passes from the first to the last, a forward one from the last to the first;
 * between them coefficients stand in bit-reversed order. */
#ifndef CUZK_POLY_NTT_PASSES_H
#define CUZK_POLY_NTT_PASSES_H

#include "poly/ntt_kernel.h"

typedef enum ntt_way { NTT_FORWARD = 0, NTT_INVERSE = 1 } ntt_way;

/* One pass over up to three vectors that share its twiddles. */
typedef struct ntt_pass {
    const ntt_domain *domain;
    unsigned index;
    bool coset;
    unsigned log2_before; /* of the product of the rows of all passes before */
    fr_t start[2];        /* factor of the pass's twiddles, by direction */
    fr_t shift[2];        /* g^(2^log2_before) and its inverse on a coset, else 1 */
    fr_t *v[3];
    unsigned vectors;
} ntt_pass;

/* A pass with twiddles as they are (start 1). */
ntt_pass ntt_pass_of(const ntt_domain *d, unsigned index, bool coset);
size_t ntt_pass_tiles(const ntt_pass *p);
/* Columns of pass i < passes - 1: the tile's place, and its twiddles in the direction. */
void ntt_column_tile(const ntt_pass *p, size_t tile, ntt_tile *t, size_t *first);
void ntt_column_powers(const ntt_pass *p, size_t tile, ntt_way way, ntt_buffer *powers);
/* Rows of the last pass: lanes are blocks whose outputs are neighbours in natural order. */
void ntt_row_tile(const ntt_pass *p, size_t tile, ntt_tile *t);
/* The same tile of a vector in natural order. */
void ntt_natural_row_tile(const ntt_pass *p, size_t tile, ntt_tile *t);

/* All tiles of a pass in a direction; `canonical` for the results of a whole transform. */
void ntt_columns(const cuzk_host *host, const ntt_pass *p, ntt_way way, bool canonical);
void ntt_rows(const cuzk_host *host, const ntt_pass *p, ntt_way way, bool canonical);

#endif
