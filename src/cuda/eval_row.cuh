/* One row of A or B from the compact witness, and the inner part of packing bits:
 * host-compilable. */
#ifndef CUZK_CUDA_EVAL_ROW_CUH
#define CUZK_CUDA_EVAL_ROW_CUH

#include "eval_image.h"
#include "field.cuh"

namespace cuzk {

/* Where a row finds its terms and values: one instance of a block. */
struct eval_frame {
    const uint32_t *row_start, *col;
    const uint16_t *coef;
    const fr *dict;
    const uint32_t *bits; /* of all aux variables */
    const fr *values;     /* inputs, FIELD variables */
    const uint32_t *imports;
    uint32_t aux, field, input; /* bases of the instance */
};

CUZK_HD eval_frame eval_frame_of(const cuzk_eval_block &b, int matrix, uint64_t dict,
                                 const char *image, const uint32_t *bits, const fr *values,
                                 uint32_t instance) {
    const cuzk_eval_matrix &m = b.m[matrix];
    return {(const uint32_t *)(image + m.row_start),
            (const uint32_t *)(image + m.col),
            (const uint16_t *)(image + m.coef),
            (const fr *)(image + dict),
            bits,
            values,
            (const uint32_t *)(image + b.imports) + instance * b.n_imports,
            (uint32_t)(b.aux_base + instance * b.aux),
            (uint32_t)(b.field_base + instance * b.fields),
            (uint32_t)(b.input_base + instance * b.inputs)};
}

/* sum += the row's terms first, first + step, ... below end. */
CUZK_HD void eval_terms(const eval_frame &f, uint32_t first, uint32_t end, uint32_t step, fr *sum) {
    CUZK_NO_UNROLL
    for (uint32_t k = first; k < end; k += step) {
        const uint32_t col = f.col[k], kind = col >> CUZK_EVAL_KIND_SHIFT, coef = f.coef[k];
        uint32_t at = col & CUZK_EVAL_INDEX_MASK;
        if (kind <= CUZK_EVAL_IMPORT) {
            if (kind == CUZK_EVAL_BIT_LOCAL) at += f.aux;
            if (kind == CUZK_EVAL_IMPORT) at = f.imports[at];
            if ((f.bits[at / 32] >> (at % 32) & 1) != 0) *sum = *sum + f.dict[coef];
            continue;
        }
        if (kind == CUZK_EVAL_FIELD_LOCAL) at += f.field;
        if (kind == CUZK_EVAL_INPUT_LOCAL) at += f.input;
        const fr value = f.values[at];
        *sum = *sum + (coef == 0 ? value : value * f.dict[coef]);
    }
}

/* The bits of w that mask selects, moved together. */
CUZK_HD uint32_t bits_extract(uint32_t w, uint32_t mask) {
    uint32_t z = 0;
    for (uint32_t to = 1; mask != 0; mask &= mask - 1, to <<= 1)
        if ((w & mask & (0 - mask)) != 0) z |= to;
    return z;
}

} // namespace cuzk
#endif
