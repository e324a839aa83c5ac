/* From buckets to a few points a set.
 *
 * Buckets are cut into segments of S = 2^segment_log2; bucket j = S t + u of a set counts j + 1
 * times. A thread sums its segment from the top: run = sum of the buckets, acc = sum of (u + 1)
 * times the bucket. A block then combines 128 segments: the sum of the acc, the sum of t times the
 * run (as the sum of all suffix sums but the first), and the sum of the runs; further levels do the
 * same with the blocks. Then set = A + S (W + 128 (V + 128 U)). XYZZ arithmetic (12
 * multiplications and 2 squarings an addition); limit: the integer multiplier in the first step,
 * latency of some 20 additions in each of the others. */
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

template <class F>
__global__ void __launch_bounds__(REDUCE_THREADS, sizeof(F) == sizeof(fp) ? 3 : 2)
    reduce_segments(const affine<F> *buckets, cuzk_msm_windows windows, uint32_t segment_log2,
                    uint32_t segments, xyzz<F> *acc_out, xyzz<F> *run_out) {
    const uint32_t s = blockIdx.y, t = blockIdx.x * REDUCE_THREADS + threadIdx.x;
    if (t >= segments) return;
    xyzz<F> run = xyzz<F>::infinity(), acc = run;
    if (t << segment_log2 < windows.bucket_base[s + 1] - windows.bucket_base[s]) {
        const affine<F> *const first = buckets + windows.bucket_base[s] + (t << segment_log2);
        for (uint32_t u = 1u << segment_log2; u-- > 0;) {
            run.add(load16(first + u));
            acc.add(run);
        }
    }
    store16(acc_out + (uint64_t)s * segments + t, acc);
    store16(run_out + (uint64_t)s * segments + t, run);
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

/* Block (b, s) takes items b * 128 .. of set s, of `items`: `plain` streams to be summed, each
 * stream_points apart, and one to be summed with weights 0, 1, 2, ... Writes the plain sums, then
 * the weighted sum, then, with_total, the unweighted sum of the weighted stream: arrays of
 * gridDim.x points a set, out_stream_points apart. */
template <class F>
__global__ void __launch_bounds__(REDUCE_THREADS)
    reduce_blocks(const xyzz<F> *plain, uint32_t plain_streams, uint64_t stream_points,
                  const xyzz<F> *weighted, uint32_t items, xyzz<F> *out, uint64_t out_stream_points,
                  bool with_total) {
    extern __shared__ char shared_memory[];
    xyzz<F> *const shared = (xyzz<F> *)shared_memory;
    const uint32_t w = blockIdx.y, t = threadIdx.x, item = blockIdx.x * REDUCE_THREADS + t;
    const uint64_t from = (uint64_t)w * items + item, to = (uint64_t)w * gridDim.x + blockIdx.x;
    for (uint32_t s = 0; s < plain_streams; s++) {
        shared[t] = item < items ? load16(plain + s * stream_points + from) : xyzz<F>::infinity();
        block_sum(shared);
        if (t == 0) store16(out + s * out_stream_points + to, shared[0].canon());
        __syncthreads();
    }
    shared[t] = item < items ? load16(weighted + from) : xyzz<F>::infinity();
    for (uint32_t d = 1; d < REDUCE_THREADS; d *= 2) {
        __syncthreads();
        xyzz<F> above = t + d < REDUCE_THREADS ? shared[t + d] : xyzz<F>::infinity();
        __syncthreads();
        add_to(&shared[t], &above);
    }
    __syncthreads();
    if (t == 0) {
        if (with_total)
            store16(out + (plain_streams + 1) * out_stream_points + to, shared[0].canon());
        shared[0] = xyzz<F>::infinity();
    }
    block_sum(shared);
    if (t == 0) store16(out + plain_streams * out_stream_points + to, shared[0].canon());
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
