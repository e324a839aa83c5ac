/* Multi-scalar multiplication and its relatives over G1 and G2.
 *
 * Bases are read through a `msm_bases`: either affine points in memory, or the encoded points of a
 * mapped parameter file, which are decoded tile by tile so that the decoded form of a whole query
 * is never in memory. Scalars are Montgomery fr_t. Results are deterministic: they do not depend on
 * the number of workers. */
#ifndef CUZK_MSM_MSM_H
#define CUZK_MSM_MSM_H

#include "base/host.h"
#include "curve/curve.h"

typedef enum msm_form {
    MSM_AFFINE, /* g1_affine_t[] or g2_affine_t[] */
    MSM_ENCODED /* uncompressed zcash encoding, 96 or 192 bytes a point, any alignment */
} msm_form;

/* A borrowed array of bases. Infinity is allowed in MSM_AFFINE and skipped; in MSM_ENCODED any set
 * flag bit or coordinate >= p is CUZK_ERR_FORMAT / NOT_CANONICAL with the index in the text. */
typedef struct msm_bases {
    const void *data;
    size_t count;
    msm_form form;
} msm_bases;

/* out = sum scalars[i] * bases[i], i < n <= bases.count. */
cuzk_status msm_g1(const cuzk_host *host, g1_t *out, msm_bases bases, const fr_t *scalars, size_t n,
                   cuzk_error *err);
cuzk_status msm_g2(const cuzk_host *host, g2_t *out, msm_bases bases, const fr_t *scalars, size_t n,
                   cuzk_error *err);

/* out = sum of bases[i] over the set bits i < n of bitmap (bit i = bit i%64 of word i/64). */
cuzk_status msm_subset_g1(const cuzk_host *host, g1_t *out, msm_bases bases, const uint64_t *bitmap,
                          size_t n, cuzk_error *err);
cuzk_status msm_subset_g2(const cuzk_host *host, g2_t *out, msm_bases bases, const uint64_t *bitmap,
                          size_t n, cuzk_error *err);

/* out = sum scalars[j] * bases[index[j]], j < n: the gathered MSM of FIELD variables. Indices are
 * ascending and < bases.count. */
cuzk_status msm_gather_g1(const cuzk_host *host, g1_t *out, msm_bases bases, const uint32_t *index,
                          const fr_t *scalars, size_t n, cuzk_error *err);
cuzk_status msm_gather_g2(const cuzk_host *host, g2_t *out, msm_bases bases, const uint32_t *index,
                          const fr_t *scalars, size_t n, cuzk_error *err);

/* Fixed-base multiplication, for set-up: one table of window multiples of a base, then
 * out[i] = scalars[i] * base in affine form for many i (batched inversions inside). */
typedef struct msm_fixed_g1 msm_fixed_g1;
typedef struct msm_fixed_g2 msm_fixed_g2;
cuzk_status msm_fixed_g1_new(const cuzk_host *host, const g1_affine_t *base, size_t expected_count,
                             msm_fixed_g1 **out, cuzk_error *err);
cuzk_status msm_fixed_g2_new(const cuzk_host *host, const g2_affine_t *base, size_t expected_count,
                             msm_fixed_g2 **out, cuzk_error *err);
void msm_fixed_g1_free(const cuzk_host *host, msm_fixed_g1 *table);
void msm_fixed_g2_free(const cuzk_host *host, msm_fixed_g2 *table);
/* scratch comes from the host; results for scalar 0 are infinity (all-zero). */
cuzk_status msm_fixed_g1_apply(const cuzk_host *host, const msm_fixed_g1 *table,
                               const fr_t *scalars, size_t n, g1_affine_t *out, cuzk_error *err);
cuzk_status msm_fixed_g2_apply(const cuzk_host *host, const msm_fixed_g2 *table,
                               const fr_t *scalars, size_t n, g2_affine_t *out, cuzk_error *err);

/* Plain definitions (double-and-add), the reference in tests. */
void msm_naive_g1(g1_t *out, const g1_affine_t *bases, const fr_t *scalars, size_t n);
void msm_naive_g2(g2_t *out, const g2_affine_t *bases, const fr_t *scalars, size_t n);

#endif
