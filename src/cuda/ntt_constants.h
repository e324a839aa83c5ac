/* What the tables of a transform are made of: powers x^(2^i) of the roots and of the coset's shift.
 */
#ifndef CUZK_CUDA_NTT_CONSTANTS_H
#define CUZK_CUDA_NTT_CONSTANTS_H

#include "cuda/ntt_plan.h"
#include "field/fr.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Index 0: forward, 1: inverse. */
typedef struct cuzk_ntt_constants {
    fr_t root[2][32], root512[2][32], coset[2][32];
    fr_t factor[CUZK_NTT_SCALES];
} cuzk_ntt_constants;

void cuzk_ntt_make_constants(unsigned log2_n, cuzk_ntt_constants *out);

#ifdef __cplusplus
}
#endif
#endif
