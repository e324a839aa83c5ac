/* Sums over G2. */
#include "sums.cuh"

#include "sums_impl.cuh"

namespace cuzk {

cuzk_status msm_g2(const cuzk_msm_plan &plan, const void *points, const msm_source &source,
                   void *scratch, void *result, cudaStream_t stream, cuzk_error *err) {
    return msm_run(plan, (const affine<fp2> *)points, source, scratch, (xyzz<fp2> *)result, stream,
                   err);
}

cuzk_status list_sums_g2(const cuzk_tree_plan &plan, const void *points, const uint32_t *list,
                         const uint32_t *in_at, uint32_t buckets, void *sums, void *scratch,
                         cudaStream_t stream, cuzk_error *err) {
    return tree_sum(plan, (const affine<fp2> *)points, list, in_at, buckets, (affine<fp2> *)sums,
                    scratch, stream, err);
}

cuzk_status subset_g2(const cuzk_subset_plan &plan, const void *points, const void *bitmap,
                      void *scratch, void *result, cudaStream_t stream, cuzk_error *err) {
    return subset_run(plan, (const affine<fp2> *)points, bitmap, scratch, (xyzz<fp2> *)result,
                      stream, err);
}

} // namespace cuzk
