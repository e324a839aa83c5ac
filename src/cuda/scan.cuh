/* Exclusive prefix sums of 32-bit words: out[i] = sum of source(j), j < i, for i < n. Three kernels
 * over tiles of 4096 words, 256 threads and 16 words a thread; bound by memory. The source is a
 * functor, so that derived counts need no pass of their own; one whose empty() is true on the
 * device promises zeros everywhere, and then only the last word is written. */
#ifndef CUZK_CUDA_SCAN_CUH
#define CUZK_CUDA_SCAN_CUH

#include "launch.cuh"

namespace cuzk {

constexpr unsigned SCAN_THREADS = 256, SCAN_ITEMS = 16, SCAN_TILE_WORDS = SCAN_THREADS * SCAN_ITEMS;

/* Exclusive sum over the block; *total receives the block's sum. blockDim.x is a multiple of 32. */
__device__ __forceinline__ uint32_t block_exclusive(uint32_t v, uint32_t *total) {
    __shared__ uint32_t warp_sums[32];
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    uint32_t inclusive = v;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const uint32_t below = __shfl_up_sync(~0u, inclusive, d);
        if (lane >= d) inclusive += below;
    }
    if (lane == 31) warp_sums[warp] = inclusive;
    __syncthreads();
    uint32_t before = 0, all = 0;
    for (unsigned w = 0; w < warps; w++) {
        const uint32_t s = warp_sums[w];
        if (w < warp) before += s;
        all += s;
    }
    __syncthreads();
    *total = all;
    return before + inclusive - v;
}

template <class S> __global__ void scan_tiles(S source, uint64_t n, uint32_t *sums) {
    if (source.empty()) return;
    const uint64_t base = (uint64_t)blockIdx.x * SCAN_TILE_WORDS;
    uint32_t v = 0, total;
    for (unsigned i = 0; i < SCAN_ITEMS; i++) {
        const uint64_t at = base + i * SCAN_THREADS + threadIdx.x;
        if (at < n) v += source(at);
    }
    block_exclusive(v, &total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

/* One block: sums becomes its own exclusive scan. */
template <class S> __global__ void scan_sums(S source, uint32_t *sums, uint32_t count) {
    if (source.empty()) return;
    uint32_t carry = 0;
    for (uint32_t base = 0; base < count; base += blockDim.x) {
        const uint32_t i = base + threadIdx.x;
        uint32_t total;
        const uint32_t v = i < count ? sums[i] : 0;
        const uint32_t before = block_exclusive(v, &total);
        if (i < count) sums[i] = carry + before;
        carry += total;
    }
}

template <class S>
__global__ void scan_finish(S source, uint64_t n, const uint32_t *sums, uint32_t *out) {
    if (source.empty()) {
        if (blockIdx.x == 0 && threadIdx.x == 0) out[n - 1] = 0;
        return;
    }
    const uint64_t first = (uint64_t)blockIdx.x * SCAN_TILE_WORDS + threadIdx.x * SCAN_ITEMS;
    uint32_t item[SCAN_ITEMS], v = 0, total;
#pragma unroll
    for (unsigned i = 0; i < SCAN_ITEMS; i++) {
        item[i] = first + i < n ? source(first + i) : 0;
        v += item[i];
    }
    uint32_t at = block_exclusive(v, &total) + sums[blockIdx.x];
#pragma unroll
    for (unsigned i = 0; i < SCAN_ITEMS; i++) {
        if (first + i < n) out[first + i] = at;
        at += item[i];
    }
}

/* sums: cuzk_scan_words(n) words of workspace. */
template <class S>
cuzk_status exclusive_scan(S source, uint64_t n, uint32_t *out, uint32_t *sums, cudaStream_t stream,
                           cuzk_error *err) {
    const unsigned tiles = blocks_for(n, SCAN_TILE_WORDS);
    scan_tiles<<<tiles, SCAN_THREADS, 0, stream>>>(source, n, sums);
    scan_sums<<<1, 1024, 0, stream>>>(source, sums, tiles);
    scan_finish<<<tiles, SCAN_THREADS, 0, stream>>>(source, n, sums, out);
    return launched("exclusive_scan", err);
}

/* n counts, and a last position that holds nothing: the scan's last word is the total. */
struct scan_counts {
    const uint32_t *counts;
    uint64_t n;
    __device__ uint32_t operator()(uint64_t i) const { return i < n ? counts[i] : 0; }
    __device__ bool empty() const { return false; }
};

} // namespace cuzk
#endif
