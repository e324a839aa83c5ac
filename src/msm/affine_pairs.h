/* The one hot loop of this layer: many independent affine additions that share one inversion
 * (Montgomery's trick), 5 multiplications and a squaring each.
 *
 * Points are named by tagged pointers, so that a sum can take points from several arrays and the
 * negative of a point costs nothing. */
#ifndef CUZK_MSM_AFFINE_PAIRS_H
#define CUZK_MSM_AFFINE_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "curve/curve.h"

/* Address of an affine point, which is a multiple of 8; bit 0 set: its negative. */
typedef uintptr_t msm_ref;

static inline msm_ref msm_ref_of(const void *point, uint32_t negative) {
    return (uintptr_t)point | negative;
}
static inline const void *msm_ref_point(msm_ref ref) {
    return (const void *)(ref & ~(uintptr_t)1);
}
static inline bool msm_ref_negative(msm_ref ref) {
    return (ref & 1) != 0;
}

/* Bytes of scratch that n pairs need, for G2 twice this (a multiple of 64). */
#define MSM_PAIR_SCRATCH(n) (((n) + 7) / 8 * 8 * 64)

/* out[i] = left[i] + right[i], i < n. Complete: equal points, opposite points and infinity (all
 * zero) are right. out[i] may be the point that left[i] or right[i] names, but no other.
 * scratch: MSM_PAIR_SCRATCH(n) bytes for G1, twice for G2, aligned to 64. */
typedef void (*msm_add_pairs_g1_fn)(g1_affine_t *out, const msm_ref *left, const msm_ref *right,
                                    size_t n, void *scratch);
typedef void (*msm_add_pairs_g2_fn)(g2_affine_t *out, const msm_ref *left, const msm_ref *right,
                                    size_t n, void *scratch);

void msm_add_pairs_plain_g1(g1_affine_t *out, const msm_ref *left, const msm_ref *right, size_t n,
                            void *scratch);
void msm_add_pairs_plain_g2(g2_affine_t *out, const msm_ref *left, const msm_ref *right, size_t n,
                            void *scratch);

#if defined(__x86_64__)
/* Eight at a time; only where cuzk_cpu_has_avx512ifma(). Results are the same bits. */
void msm_add_pairs_ifma_g1(g1_affine_t *out, const msm_ref *left, const msm_ref *right, size_t n,
                           void *scratch);
void msm_add_pairs_ifma_g2(g2_affine_t *out, const msm_ref *left, const msm_ref *right, size_t n,
                           void *scratch);
#endif

#endif
