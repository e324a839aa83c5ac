/* From vectors of points to one or two points a vector.
 *
 * Point j of a vector counts j + 1 times (cuzk_msm_vectors). A block combines 128 of them: W, the
 * sum of t + 1 times its point t (as the sum of all suffix sums), and their plain sum U. Then two
 * blocks a vector combine those of its blocks b: the sum of the W_b, and the sum of b times U_b,
 * which counts 128 times. XYZZ arithmetic (12 multiplications and 2 squarings an addition); limit:
 * latency of 14 additions in each step. */
#ifndef CUZK_CUDA_MSM_REDUCE_CUH
#define CUZK_CUDA_MSM_REDUCE_CUH

#include "launch.cuh"
#include "msm_plan.h"
#include "point.cuh"

namespace cuzk {

constexpr uint32_t REDUCE_THREADS = CUZK_MSM_REDUCE_THREADS;

/* One copy of the long formulas in each kernel. */
template <class F, class P> __device__ __noinline__ void add_to(xyzz<F> *a, const P *b) {
    a->add(*b);
}

/* shared[0] = sum of shared[0..threads). */
template <class F, uint32_t threads = REDUCE_THREADS>
__device__ __noinline__ void block_sum(xyzz<F> *shared) {
    for (uint32_t half = threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half) add_to(&shared[threadIdx.x], &shared[threadIdx.x + half]);
    }
    __syncthreads();
}

/* shared[t] = sum of shared[t..REDUCE_THREADS). */
template <class F> __device__ __noinline__ void suffix_sums(xyzz<F> *shared) {
    const uint32_t t = threadIdx.x;
    for (uint32_t d = 1; d < REDUCE_THREADS; d *= 2) {
        __syncthreads();
        xyzz<F> above = t + d < REDUCE_THREADS ? shared[t + d] : xyzz<F>::infinity();
        __syncthreads();
        add_to(&shared[t], &above);
    }
    __syncthreads();
}

/* Block (b, v) takes points 128 b .. of vector v. W_b of all vectors, then, when there are several
 * blocks, all U_b. */
template <class F>
__global__ void __launch_bounds__(REDUCE_THREADS)
    reduce_vectors(const affine<F> *points, cuzk_msm_vectors vectors, xyzz<F> *out) {
    extern __shared__ char shared_memory[];
    xyzz<F> *const shared = (xyzz<F> *)shared_memory;
    const uint32_t v = blockIdx.y, t = threadIdx.x,
                   at = vectors.base[v] + blockIdx.x * REDUCE_THREADS + t,
                   to = v * gridDim.x + blockIdx.x;
    shared[t] =
        at < vectors.base[v + 1] ? xyzz<F>::from_affine(load16(points + at)) : xyzz<F>::infinity();
    suffix_sums(shared);
    if (t == 0 && gridDim.x > 1) store16(out + gridDim.y * gridDim.x + to, shared[0].canon());
    block_sum(shared);
    if (t == 0) store16(out + to, shared[0].canon());
}

/* Block (0, v): the sum of vector v's W_b; block (1, v): that of b U_b, b < blocks. */
template <class F>
__global__ void __launch_bounds__(REDUCE_THREADS)
    reduce_blocks(const xyzz<F> *sums, uint32_t blocks, xyzz<F> *result) {
    extern __shared__ char shared_memory[];
    xyzz<F> *const shared = (xyzz<F> *)shared_memory;
    const uint32_t t = threadIdx.x, to = blockIdx.x * gridDim.y + blockIdx.y;
    shared[t] = t < blocks ? load16(sums + (uint64_t)to * blocks + t) : xyzz<F>::infinity();
    if (blockIdx.x == 1) {
        suffix_sums(shared);
        if (t == 0) shared[0] = xyzz<F>::infinity();
    }
    block_sum(shared);
    if (t == 0) store16(result + to, shared[0].canon());
}

/* One block of `threads`: result = sum of n affine points, XYZZ. */
template <class F, uint32_t threads>
__global__ void __launch_bounds__(threads)
    reduce_plain(const affine<F> *points, uint32_t n, xyzz<F> *result) {
    extern __shared__ char shared_memory[];
    xyzz<F> *const shared = (xyzz<F> *)shared_memory;
    xyzz<F> sum = xyzz<F>::infinity();
    for (uint32_t i = threadIdx.x; i < n; i += threads)
        sum.add(load16(points + i));
    shared[threadIdx.x] = sum;
    block_sum<F, threads>(shared);
    if (threadIdx.x == 0) store16(result, shared[0].canon());
}

} // namespace cuzk
#endif
