/* Decoding of the bases of a parameter file, eight at a time. The plain twin is base_decode in
 * bases_impl.h, which also finds out what is wrong with a point. */
#ifndef CUZK_MSM_DECODE_H
#define CUZK_MSM_DECODE_H

#include "curve/curve.h"

#if defined(__x86_64__)
/* z[i] = point index[i] of the encoded array, for i below the returned count, which is n rounded
 * down to a multiple of 8, or less: then some point of the next eight is not an unflagged
 * canonical pair. Only where cuzk_cpu_has_avx512ifma(). */
size_t msm_decode_ifma_g1(g1_affine_t *z, const uint8_t *encoded, const size_t *index, size_t n);
size_t msm_decode_ifma_g2(g2_affine_t *z, const uint8_t *encoded, const size_t *index, size_t n);
#endif

#endif
