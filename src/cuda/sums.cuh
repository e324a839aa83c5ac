/* Sums over each curve; the bodies are in sums_impl.cuh. */
#ifndef CUZK_CUDA_SUMS_CUH
#define CUZK_CUDA_SUMS_CUH

#include "lists.cuh"

namespace cuzk {

cuzk_status msm_g1(const cuzk_msm_plan &plan, const void *points, const msm_source &source,
                   void *scratch, void *result, cudaStream_t stream, cuzk_error *err);
cuzk_status list_sums_g1(const cuzk_tree_plan &plan, const void *points, const uint32_t *list,
                         const uint32_t *in_at, uint32_t buckets, void *sums, void *scratch,
                         cudaStream_t stream, cuzk_error *err);
cuzk_status subset_g1(const cuzk_subset_plan &plan, const void *points, const void *bitmap,
                      void *scratch, void *result, cudaStream_t stream, cuzk_error *err);
cuzk_status msm_g2(const cuzk_msm_plan &plan, const void *points, const msm_source &source,
                   void *scratch, void *result, cudaStream_t stream, cuzk_error *err);
cuzk_status list_sums_g2(const cuzk_tree_plan &plan, const void *points, const uint32_t *list,
                         const uint32_t *in_at, uint32_t buckets, void *sums, void *scratch,
                         cudaStream_t stream, cuzk_error *err);
cuzk_status subset_g2(const cuzk_subset_plan &plan, const void *points, const void *bitmap,
                      void *scratch, void *result, cudaStream_t stream, cuzk_error *err);

} // namespace cuzk
#endif
