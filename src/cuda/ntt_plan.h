/* How a transform of 2^log2_n elements is cut into passes over memory, and where its tables lie.
 * Pure functions; no device is needed. docs/cuda.md derives the tables. */
#ifndef CUZK_CUDA_NTT_PLAN_H
#define CUZK_CUDA_NTT_PLAN_H

#include <stddef.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUZK_NTT_MAX_PASSES 4
#define CUZK_NTT_MIN_BITS 5 /* of the index, in one pass */
#define CUZK_NTT_MAX_BITS 9
#define CUZK_NTT_MIN_LOG2 CUZK_NTT_MIN_BITS
#define CUZK_NTT_MAX_LOG2 31
#define CUZK_NTT_ROOTS 512

/* Factors of 2^bits[last] elements that a transform applies on its reversed side. */
typedef enum cuzk_ntt_scale {
    CUZK_NTT_SCALE_INVERSE,          /* 1/m */
    CUZK_NTT_SCALE_COSET,            /* powers of 7 */
    CUZK_NTT_SCALE_COSET_INVERSE,    /* powers of 1/7, times 1/m */
    CUZK_NTT_SCALE_QUOTIENT_COSET,   /* powers of 7, times 1/m */
    CUZK_NTT_SCALE_QUOTIENT_INVERSE, /* powers of 1/7, times s/m, s = 1/(7^m - 1) */
    CUZK_NTT_SCALE_QUOTIENT_C,       /* s/m */
    CUZK_NTT_SCALES
} cuzk_ntt_scale;

/* With three or more passes, an element's twist factors in the last pass q come from q tables, q
 * products. A wide table holds their product for every element of the vector (32 bytes each: 4 GiB
 * at 2^27), one product. A bit for each kind of transform; a transform without one takes the narrow
 * tables. */
enum {
    CUZK_NTT_NARROW = 0,
    CUZK_NTT_WIDE_FORWARD = 1,
    CUZK_NTT_WIDE_INVERSE = 2,
    CUZK_NTT_WIDE_COSET_FORWARD = 4,
    CUZK_NTT_WIDE_COSET_INVERSE = 8,
    /* what the quotient uses */
    CUZK_NTT_WIDE_QUOTIENT =
        CUZK_NTT_WIDE_INVERSE | CUZK_NTT_WIDE_COSET_FORWARD | CUZK_NTT_WIDE_COSET_INVERSE,
    CUZK_NTT_WIDE_ALL = 15
};

typedef struct cuzk_ntt_plan {
    unsigned log2_n, passes;
    /* Pass q works on bits[q] index bits, from the top of the index down; below[q] bits are lower.
     */
    unsigned bits[CUZK_NTT_MAX_PASSES], below[CUZK_NTT_MAX_PASSES];
    /* Byte offsets into the tables; direction 0 forward, 1 inverse. roots: powers of the root of
     * order 512, with their quotients (ntt_factor.cuh). twist[direction][coset][a][q]: the factors
     * between passes a and q > a, row i_a, column j_q; coset ones exist for the last q only. */
    size_t roots[2], scales[CUZK_NTT_SCALES];
    size_t twist[2][2][CUZK_NTT_MAX_PASSES][CUZK_NTT_MAX_PASSES];
    size_t scaled_twist; /* of the inverse between passes 0 and 1, times s/m: the quotient's C */
    unsigned wide_kinds; /* which wide tables exist */
    size_t wide[2][2];   /* [direction][coset]: products of the last pass's twists, by index */
    size_t table_bytes;
} cuzk_ntt_plan;

/* wide: CUZK_NTT_NARROW or bits of CUZK_NTT_WIDE_ALL, for which table_bytes then has room; without
 * effect below three passes. CUZK_ERR_ARGUMENT unless CUZK_NTT_MIN_LOG2 <= log2_n <=
 * CUZK_NTT_MAX_LOG2. */
cuzk_status cuzk_ntt_plan_make(cuzk_ntt_plan *plan, unsigned log2_n, unsigned wide,
                               cuzk_error *err);

/* The same with a number of passes, each of CUZK_NTT_MIN_BITS to CUZK_NTT_MAX_BITS bits: tests of
 * many passes on few elements. */
void cuzk_ntt_plan_make_passes(cuzk_ntt_plan *plan, unsigned log2_n, unsigned passes,
                               unsigned wide);

#ifdef __cplusplus
}
#endif
#endif
