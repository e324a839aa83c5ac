/* Lists of points to be summed: the digits of scalars sorted by bucket, lines of buckets, and the
 * set bits of a bitmap. */
#ifndef CUZK_CUDA_LISTS_CUH
#define CUZK_CUDA_LISTS_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "base/status.h"
#include "field.cuh"
#include "msm_plan.h"

namespace cuzk {

/* Where the scalars and their points come from. */
struct msm_source {
    const fr *scalars;
    const uint32_t *index;        /* point of scalar i; 0: i itself */
    uint32_t bit_reversed_log2_n; /* != 0: scalar i belongs to point bit_reverse(i) */
};

cuzk_status lists_prepare(cuzk_error *err);
/* All digits of all scalars. */
cuzk_status msm_make_digits(const cuzk_msm_plan &plan, const msm_source &source, void *scratch,
                            cudaStream_t stream, cuzk_error *err);
/* Sort the digits of a group into plan.list by bucket, with offsets in plan.starts. */
cuzk_status msm_sort(const cuzk_msm_plan &plan, const msm_source &source,
                     const cuzk_msm_group &group, void *scratch, cudaStream_t stream,
                     cuzk_error *err);
/* Lists of two or more sums of the same bucket: bucket b's are b and those at b + i * buckets past
 * `behind`, i < parts - 1. */
cuzk_status msm_list_parts(const cuzk_msm_plan &plan, uint32_t buckets, uint32_t parts,
                           uint32_t behind, void *scratch, cudaStream_t stream, cuzk_error *err);
/* The lists of all sets' lines, by vectors. */
cuzk_status msm_list_lines(const cuzk_msm_plan &plan, void *scratch, cudaStream_t stream,
                           cuzk_error *err);
/* The set bits' indices into plan.list, cut into CUZK_SUBSET_PARTS parts by plan.parts. */
cuzk_status subset_make_list(const cuzk_subset_plan &plan, const void *bitmap, void *scratch,
                             cudaStream_t stream, cuzk_error *err);

} // namespace cuzk
#endif
