/* A circuit's matrices A and B as the device reads them: one block of memory with the dictionary
 * and the blocks' row templates, and columns whose kind says where the value lies. Pure functions;
 * no device is needed. */
#ifndef CUZK_CUDA_EVAL_IMAGE_H
#define CUZK_CUDA_EVAL_IMAGE_H

#include "r1cs/r1cs.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A device column: three bits of kind, then an index. Bits are numbered like aux variables; values
 * are the inputs, then the FIELD variables in order. Local indices count from the instance's first
 * bit, FIELD value or input. */
#define CUZK_EVAL_KIND_SHIFT 29
#define CUZK_EVAL_INDEX_MASK ((1u << CUZK_EVAL_KIND_SHIFT) - 1)
typedef enum cuzk_eval_kind {
    CUZK_EVAL_BIT_LOCAL,
    CUZK_EVAL_BIT,
    CUZK_EVAL_IMPORT, /* a place in the instance's imports, which are absolute bits */
    CUZK_EVAL_FIELD_LOCAL,
    CUZK_EVAL_INPUT_LOCAL,
    CUZK_EVAL_VALUE /* absolute: inputs, then FIELD variables */
} cuzk_eval_kind;

/* Rows with more terms than this are evaluated by so many lanes of a warp. Rows of Poseidon's sums,
 * 9 to 66 terms, lie between rows of one term: a warp of them with a thread a row would wait for
 * its longest. */
#define CUZK_EVAL_LONG_ROW 8
#define CUZK_EVAL_LANES 8

/* Byte offsets into the image. */
typedef struct cuzk_eval_matrix {
    uint64_t row_start, col, coef; /* u32 rows + 1, u32, u16 */
    uint64_t long_rows;            /* u32 n_long: row numbers */
    uint64_t n_long;
} cuzk_eval_matrix;

typedef struct cuzk_eval_block {
    uint64_t rows, count, row_base;
    uint64_t aux_base, aux;      /* bits of instance 0, and of each */
    uint64_t field_base, fields; /* values; field_base counts from the first value */
    uint64_t input_base, inputs;
    uint64_t imports, n_imports; /* u32 count * n_imports */
    cuzk_eval_matrix m[2];       /* R1CS_A, R1CS_B */
} cuzk_eval_block;

typedef struct cuzk_eval_image {
    uint64_t dict; /* fr_t */
    uint64_t rows, inputs;
    unsigned n_blocks;
    cuzk_eval_block blocks[CS_MAX_BLOCKS];
    uint64_t bytes;
} cuzk_eval_image;

/* CUZK_ERR_UNSUPPORTED when an index does not fit a device column. */
cuzk_status cuzk_eval_image_layout(cuzk_eval_image *image, const r1cs *circuit, cuzk_error *err);
/* memory: image->bytes, 64-byte aligned. */
void cuzk_eval_image_fill(const cuzk_eval_image *image, const r1cs *circuit, uint8_t *memory);

#ifdef __cplusplus
}
#endif
#endif
