/* Sums over G1. */
#include "sums.cuh"

#include "sums_impl.cuh"

namespace cuzk {

cuzk_status msm_g1(const cuzk_msm_plan &plan, const void *points, const msm_source &source,
                   void *scratch, void *result, cudaStream_t stream, cuzk_error *err) {
    return msm_run(plan, (const affine<fp> *)points, source, scratch, (xyzz<fp> *)result, stream,
                   err);
}

cuzk_status list_sums_g1(const cuzk_tree_plan &plan, const void *points, const uint32_t *list,
                         const uint32_t *in_at, uint32_t buckets, void *sums, void *scratch,
                         cudaStream_t stream, cuzk_error *err) {
    return tree_sum(plan, (const affine<fp> *)points, list, in_at, buckets, (affine<fp> *)sums,
                    scratch, stream, err);
}

cuzk_status subset_g1(const cuzk_subset_plan &plan, const void *points, const void *bitmap,
                      void *scratch, void *result, cudaStream_t stream, cuzk_error *err) {
    return subset_run(plan, (const affine<fp> *)points, bitmap, scratch, (xyzz<fp> *)result, stream,
                      err);
}

} // namespace cuzk
