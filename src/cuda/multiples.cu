/* What sums over fixed bases use beside them: selected ones side by side and multiples, a thread a
 * point, and sums of neighbours, a thread a pair. */
#include "cuda_api.h"
#include "multiples.cuh"
#include "sums_impl.cuh"

namespace cuzk {

/* Memory-bound: neighbouring threads write neighbouring points. */
template <class F>
__global__ void gather_points(const affine<F> *points, const uint32_t *index, uint64_t n,
                              affine<F> *out) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) store16(out + i, load16(points + index[i]));
}

template <class F>
cuzk_status gather_run(const void *points, const uint32_t *index, uint64_t n, void *out,
                       cudaStream_t stream, cuzk_error *err) {
    gather_points<<<blocks_for(n, TREE_BLOCK), TREE_BLOCK, 0, stream>>>((const affine<F> *)points,
                                                                        index, n, (affine<F> *)out);
    return launched("gather_points", err);
}

template <class F>
__global__ void __launch_bounds__(TREE_BLOCK, sizeof(F) == sizeof(fp) ? 4 : 2)
    make_multiples(affine<F> *points, uint64_t n, uint64_t stride, uint32_t copies,
                   uint32_t shift) {
    const uint64_t i = (uint64_t)blockIdx.x * TREE_BLOCK + threadIdx.x;
    affine<F> p = i < n ? load16(points + i) : affine<F>::infinity();
    for (uint32_t c = 1; c < copies; c++) {
        jacobian<F> q = jacobian<F>::from_affine(p);
        q.double_times(shift);
        p = q.to_affine(block_inverse(q.denominator()));
        if (i < n) store16(points + c * stride + i, p);
        __syncthreads(); /* the inversion's shared memory is used again */
    }
}

template <class F>
cuzk_status multiples_run(const cuzk_msm_plan &p, void *points, uint64_t first, uint64_t n,
                          cudaStream_t stream, cuzk_error *err) {
    make_multiples<<<blocks_for(n, TREE_BLOCK), TREE_BLOCK, 0, stream>>>(
        (affine<F> *)points + first, n, p.n, p.windows.copies, cuzk_msm_shift(&p));
    return launched("make_multiples", err);
}

template <class F>
__global__ void __launch_bounds__(TREE_BLOCK, sizeof(F) == sizeof(fp) ? 4 : 2)
    make_pairs(const affine<F> *points, uint64_t n, affine<F> *out) {
    const uint64_t i = (uint64_t)blockIdx.x * TREE_BLOCK + threadIdx.x;
    const bool live = 2 * i < n, whole = 2 * i + 1 < n;
    /* the last point may be alone; threads past the end double any point */
    const tree_point<F> p = {points + (live ? 2 * i : 0), false},
                        q = {points + (whole ? 2 * i + 1 : 0), false};
    const F x1 = p.x(), x2 = q.x();
    const tree_case kind = live && !whole ? TREE_FIRST : tree_classify(p, q, x1, x2);
    const F d_inverse = block_inverse(tree_denominator(kind, p, x1, x2));
    if (live) store16(out + i, tree_sum_of(kind, x1, p.y(), x2, q.y(), d_inverse));
}

template <class F>
cuzk_status pairs_run(const void *points, uint64_t n, void *out, cudaStream_t stream,
                      cuzk_error *err) {
    make_pairs<<<blocks_for((n + 1) / 2, TREE_BLOCK), TREE_BLOCK, 0, stream>>>(
        (const affine<F> *)points, n, (affine<F> *)out);
    return launched("make_pairs", err);
}

} // namespace cuzk

cuzk_status cuzk_gpu_pairs(cuzk_gpu_group curve, const void *points, uint64_t n, void *out,
                           cuzk_gpu_stream stream, cuzk_error *err) {
    if (n == 0) return CUZK_OK;
    return curve == CUZK_GPU_G1 ? cuzk::pairs_run<cuzk::fp>(points, n, out, stream, err)
                                : cuzk::pairs_run<cuzk::fp2>(points, n, out, stream, err);
}

cuzk_status cuzk_gpu_gather_points(cuzk_gpu_group curve, const void *points, const uint32_t *index,
                                   uint64_t n, void *out, cuzk_gpu_stream stream, cuzk_error *err) {
    if (n == 0) return CUZK_OK;
    return curve == CUZK_GPU_G1 ? cuzk::gather_run<cuzk::fp>(points, index, n, out, stream, err)
                                : cuzk::gather_run<cuzk::fp2>(points, index, n, out, stream, err);
}

cuzk_status cuzk_gpu_multiples(const cuzk_msm_plan *plan, void *points, uint64_t first, uint64_t n,
                               cuzk_gpu_stream stream, cuzk_error *err) {
    if (n == 0 || plan->windows.copies == 1) return CUZK_OK;
    if (n > plan->n || first > plan->n - n)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "multiples of points %llu to %llu of %llu",
                         (unsigned long long)first, (unsigned long long)(first + n),
                         (unsigned long long)plan->n);
    return plan->curve == CUZK_GPU_G1
               ? cuzk::multiples_run<cuzk::fp>(*plan, points, first, n, stream, err)
               : cuzk::multiples_run<cuzk::fp2>(*plan, points, first, n, stream, err);
}
