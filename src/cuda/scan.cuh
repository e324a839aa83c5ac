/* Exclusive prefix sums: sink(i, sum of source(j), j < i) for i < n, over 32-bit words or pairs of
 * them. Three kernels over tiles of 4096 values, 256 threads and 16 values a thread, or one block
 * for at most 8192; bound by memory. Source and sink are functors, so that derived counts need no
 * pass of their own; a source whose empty() is true on the device promises zeros everywhere, and
 * then only the last sum is written. */
#ifndef CUZK_CUDA_SCAN_CUH
#define CUZK_CUDA_SCAN_CUH

#include "launch.cuh"

namespace cuzk {

constexpr unsigned SCAN_THREADS = 256, SCAN_ITEMS = 16, SCAN_TILE_WORDS = SCAN_THREADS * SCAN_ITEMS;
constexpr unsigned SCAN_SMALL_THREADS = 1024, SCAN_SMALL = 8 * SCAN_SMALL_THREADS;

struct word_pair {
    uint32_t a, b;
    friend __device__ word_pair operator+(const word_pair &x, const word_pair &y) {
        return {x.a + y.a, x.b + y.b};
    }
    friend __device__ word_pair operator-(const word_pair &x, const word_pair &y) {
        return {x.a - y.a, x.b - y.b};
    }
};
__device__ __forceinline__ uint32_t shuffle_up(uint32_t v, int d) {
    return __shfl_up_sync(~0u, v, d);
}
__device__ __forceinline__ word_pair shuffle_up(const word_pair &v, int d) {
    return {shuffle_up(v.a, d), shuffle_up(v.b, d)};
}

/* Exclusive sum over the block; *total receives the block's sum. blockDim.x is a multiple of 32. */
template <class V> __device__ __forceinline__ V block_exclusive(const V &v, V *total) {
    __shared__ V warp_sums[32];
    const unsigned lane = threadIdx.x & 31, warp = threadIdx.x >> 5, warps = blockDim.x >> 5;
    V inclusive = v;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const V below = shuffle_up(inclusive, d);
        if (lane >= d) inclusive = inclusive + below;
    }
    if (lane == 31) warp_sums[warp] = inclusive;
    __syncthreads();
    V before = {}, all = {};
    for (unsigned w = 0; w < warps; w++) {
        const V s = warp_sums[w];
        if (w < warp) before = before + s;
        all = all + s;
    }
    __syncthreads();
    *total = all;
    return before + inclusive - v;
}

/* `items` consecutive values a thread, from `first` on, above `carry`. */
template <unsigned items, class V, class S, class W>
__device__ __forceinline__ void scan_consecutive(const S &source, const W &sink, uint64_t n,
                                                 uint64_t first, const V &carry) {
    V item[items], v = {}, total;
#pragma unroll
    for (unsigned i = 0; i < items; i++) {
        item[i] = first + i < n ? source(first + i) : V{};
        v = v + item[i];
    }
    V at = carry + block_exclusive(v, &total);
#pragma unroll
    for (unsigned i = 0; i < items; i++) {
        if (first + i < n) sink(first + i, at);
        at = at + item[i];
    }
}

template <class V, class S> __global__ void scan_tiles(S source, uint64_t n, V *sums) {
    if (source.empty()) return;
    const uint64_t base = (uint64_t)blockIdx.x * SCAN_TILE_WORDS;
    V v = {}, total;
    for (unsigned i = 0; i < SCAN_ITEMS; i++) {
        const uint64_t at = base + i * SCAN_THREADS + threadIdx.x;
        if (at < n) v = v + source(at);
    }
    block_exclusive(v, &total);
    if (threadIdx.x == 0) sums[blockIdx.x] = total;
}

/* One block: sums becomes its own exclusive scan. */
template <class V, class S> __global__ void scan_sums(S source, V *sums, uint32_t count) {
    if (source.empty()) return;
    V carry = {};
    for (uint32_t base = 0; base < count; base += blockDim.x) {
        const uint32_t i = base + threadIdx.x;
        V total;
        const V before = block_exclusive(i < count ? sums[i] : V{}, &total);
        if (i < count) sums[i] = carry + before;
        carry = carry + total;
    }
}

template <class V, class S, class W>
__global__ void scan_finish(S source, uint64_t n, const V *sums, W sink) {
    if (source.empty()) {
        if (blockIdx.x == 0 && threadIdx.x == 0) sink(n - 1, V{});
        return;
    }
    const uint64_t first = (uint64_t)blockIdx.x * SCAN_TILE_WORDS + threadIdx.x * SCAN_ITEMS;
    scan_consecutive<SCAN_ITEMS, V>(source, sink, n, first, sums[blockIdx.x]);
}

template <class V, class S, class W> __global__ void scan_small(S source, uint64_t n, W sink) {
    if (source.empty()) {
        if (threadIdx.x == 0) sink(n - 1, V{});
        return;
    }
    constexpr unsigned items = SCAN_SMALL / SCAN_SMALL_THREADS;
    scan_consecutive<items, V>(source, sink, n, threadIdx.x * items, V{});
}

/* sums: cuzk_scan_words(n) words of workspace. */
template <class V, class S, class W>
cuzk_status exclusive_scan(S source, uint64_t n, W sink, uint32_t *sums, cudaStream_t stream,
                           cuzk_error *err) {
    if (n <= SCAN_SMALL) {
        scan_small<V><<<1, SCAN_SMALL_THREADS, 0, stream>>>(source, n, sink);
        return launched("scan_small", err);
    }
    const unsigned tiles = blocks_for(n, SCAN_TILE_WORDS);
    scan_tiles<V><<<tiles, SCAN_THREADS, 0, stream>>>(source, n, (V *)sums);
    scan_sums<V><<<1, 1024, 0, stream>>>(source, (V *)sums, tiles);
    scan_finish<V><<<tiles, SCAN_THREADS, 0, stream>>>(source, n, (const V *)sums, sink);
    return launched("exclusive_scan", err);
}

struct scan_words {
    uint32_t *out;
    __device__ void operator()(uint64_t i, uint32_t v) const { out[i] = v; }
};

/* n counts, and a last position that holds nothing: the scan's last word is the total. */
struct scan_counts {
    const uint32_t *counts;
    uint64_t n;
    __device__ uint32_t operator()(uint64_t i) const { return i < n ? counts[i] : 0; }
    __device__ bool empty() const { return false; }
};

} // namespace cuzk
#endif
