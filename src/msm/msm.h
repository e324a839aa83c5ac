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
 * flag bit or coordinate >= p is CUZK_ERR_FORMAT / NOT_CANONICAL with the lowest such index in the
 * text. Bases with scalar 0, or whose bit is not set, are not looked at. That a base is on the
 * curve and in the group is not checked: otherwise the result is meaningless, but the call is safe.
 */
typedef struct msm_bases {
    const void *data;
    size_t count;
    msm_form form;
} msm_bases;

/* out = sum scalars[i] * bases[i], i < n <= bases.count. Like all of these: CUZK_ERR_ARGUMENT when
 * there are too few bases, NO_MEMORY, CANCELLED; *out is untouched or undefined after an error. */
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

/* Bytes that an MSM or gathered MSM of n terms allocates from its host at most (that is, when no
 * scalar is 0, 1 or -1), and a subset sum over n bits. About 130 MB for G1 and 250 MB for G2 from
 * 2^20 terms on, and 1 to 3 MB for each further worker. */
size_t msm_workspace_bytes_g1(unsigned workers, size_t n);
size_t msm_workspace_bytes_g2(unsigned workers, size_t n);
size_t msm_subset_workspace_bytes_g1(unsigned workers, size_t n);
size_t msm_subset_workspace_bytes_g2(unsigned workers, size_t n);

/* Fixed-base multiplication, for set-up: one table of window multiples of a base, then
 * out[i] = scalars[i] * base in affine form for many i (batched inversions inside). The table has
 * ceil(255 / c) 2^(c-1) points with c chosen for expected_count scalars: 94 MB for G1 and 189 MB
 * for G2 at most (c = 17, from about 2^20 on). */
typedef struct msm_fixed_g1 msm_fixed_g1;
typedef struct msm_fixed_g2 msm_fixed_g2;
cuzk_status msm_fixed_g1_new(const cuzk_host *host, const g1_affine_t *base, size_t expected_count,
                             msm_fixed_g1 **out, cuzk_error *err);
cuzk_status msm_fixed_g2_new(const cuzk_host *host, const g2_affine_t *base, size_t expected_count,
                             msm_fixed_g2 **out, cuzk_error *err);
void msm_fixed_g1_free(const cuzk_host *host, msm_fixed_g1 *table);
void msm_fixed_g2_free(const cuzk_host *host, msm_fixed_g2 *table);
/* Scratch comes from the host (1 to 2 MiB a worker); results for scalar 0 are infinity (all-zero).
 * After CANCELLED the first part of out is done. */
cuzk_status msm_fixed_g1_apply(const cuzk_host *host, const msm_fixed_g1 *table,
                               const fr_t *scalars, size_t n, g1_affine_t *out, cuzk_error *err);
cuzk_status msm_fixed_g2_apply(const cuzk_host *host, const msm_fixed_g2 *table,
                               const fr_t *scalars, size_t n, g2_affine_t *out, cuzk_error *err);

/* Plain definitions (double-and-add), the reference in tests. */
void msm_naive_g1(g1_t *out, const g1_affine_t *bases, const fr_t *scalars, size_t n);
void msm_naive_g2(g2_t *out, const g2_affine_t *bases, const fr_t *scalars, size_t n);

#endif
