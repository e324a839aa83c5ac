/* Sorting of digits by bucket: a partition by the bucket's high bits, then one by its low bits
 * inside each part. The order inside a bucket is of no consequence, so shared-memory counters give
 * the ranks, and tiles claim their space with one atomic a bin.
 *
 * A block takes a tile of 8192 entries with 512 threads, 16 entries a thread; it puts the tile in
 * order in shared memory (48 KiB) and writes runs. Limit: memory and shared-memory atomics. */
#include "lists.cuh"

#include "digits.cuh"
#include "scan.cuh"
#include "sum_tree.cuh"

namespace cuzk {

constexpr uint32_t SORT_TILE = CUZK_MSM_SORT_TILE, SORT_THREADS = 512,
                   SORT_ITEMS = SORT_TILE / SORT_THREADS, SORT_MAX_BINS = 4096;
constexpr uint32_t SORT_NONE = ~0u;

/* A thread a scalar. */
__global__ void __launch_bounds__(256)
    msm_digits(msm_source source, uint64_t n, cuzk_msm_windows windows, uint32_t *digits) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    scalar_digits(load16(source.scalars + i), windows, digits + i, n);
}

/* A row of a group's digits: its set, counted from the group's first, and the copy of the points it
 * goes with. */
struct sort_row {
    uint32_t set, copy;
    __device__ __forceinline__ sort_row(const cuzk_msm_windows &windows,
                                        const cuzk_msm_group &group, uint32_t in_group) {
        const uint32_t row = group.first_row + in_group;
        uint32_t s = group.first_set;
        while (windows.first_row[s + 1] <= row)
            s++;
        set = s - group.first_set;
        copy = row - windows.first_row[s];
    }
};

/* Entries of a set by high bits: blockIdx.y is the row of the group. */
__global__ void __launch_bounds__(SORT_THREADS)
    sort_count_high(const uint32_t *digits, uint64_t n, cuzk_msm_windows windows,
                    cuzk_msm_group group, uint32_t *counts) {
    __shared__ uint32_t count[SORT_MAX_BINS];
    const uint32_t bins = windows.high_bins;
    for (uint32_t b = threadIdx.x; b < bins; b += SORT_THREADS)
        count[b] = 0;
    __syncthreads();
    const uint32_t *const mine = digits + blockIdx.y * n;
    const uint64_t first = (uint64_t)blockIdx.x * SORT_TILE;
    for (uint32_t i = 0; i < SORT_ITEMS; i++) {
        const uint64_t at = first + i * SORT_THREADS + threadIdx.x;
        const uint32_t d = at < n ? mine[at] & ~DIGIT_NEGATIVE : 0;
        if (d != 0) atomicAdd(&count[(d - 1) >> windows.low_bits], 1);
    }
    __syncthreads();
    counts += sort_row(windows, group, blockIdx.y).set * bins;
    for (uint32_t b = threadIdx.x; b < bins; b += SORT_THREADS)
        if (count[b] != 0) atomicAdd(&counts[b], count[b]);
}

/* Bins of each set follow one another from where its rows began: one block a set. */
__global__ void sort_place_high(uint32_t *counts, uint64_t n, cuzk_msm_windows windows,
                                cuzk_msm_group group, uint32_t *cursors) {
    const uint32_t bins = windows.high_bins, set = blockIdx.x,
                   row = set == 0 ? 0 : windows.first_row[group.first_set + set] - group.first_row;
    uint32_t carry = (uint32_t)(row * n);
    for (uint32_t base = 0; base < bins; base += blockDim.x) {
        const uint32_t b = base + threadIdx.x;
        uint32_t total;
        const uint32_t v = b < bins ? counts[set * bins + b] : 0;
        const uint32_t before = block_exclusive(v, &total);
        if (b < bins) cursors[set * bins + b] = carry + before;
        carry += total;
    }
}

/* Shared memory of a tile being put in order. */
struct sort_shared {
    uint32_t *wide;    /* SORT_TILE */
    uint16_t *narrow;  /* SORT_TILE */
    uint32_t *start;   /* bins: count, then first place in the tile */
    uint32_t *claimed; /* bins: first place in the output */

    __device__ __forceinline__ sort_shared(char *memory, uint32_t bins)
        : wide((uint32_t *)memory), narrow((uint16_t *)(wide + SORT_TILE)),
          start((uint32_t *)(narrow + SORT_TILE)), claimed(start + bins) {}
};
inline size_t sort_shared_bytes(uint32_t bins) {
    return SORT_TILE * 6 + (size_t)bins * 8;
}

/* counts in shared.start -> exclusive starts there, and claimed[bin] = place of the tile's first
 * entry of the bin in the output. Returns the tile's number of entries. */
__device__ __forceinline__ uint32_t sort_claim(const sort_shared &shared, uint32_t bins,
                                               uint32_t *cursors) {
    uint32_t carry = 0;
    for (uint32_t base = 0; base < bins; base += SORT_THREADS) {
        const uint32_t b = base + threadIdx.x;
        uint32_t total;
        const uint32_t v = b < bins ? shared.start[b] : 0;
        const uint32_t before = block_exclusive(v, &total);
        if (b < bins) {
            shared.claimed[b] = v != 0 ? atomicAdd(&cursors[b], v) : 0;
            shared.start[b] = carry + before;
        }
        carry += total;
    }
    __syncthreads();
    return carry;
}

__global__ void __launch_bounds__(SORT_THREADS)
    sort_scatter_high(const uint32_t *digits, uint64_t n, msm_source source,
                      cuzk_msm_windows windows, cuzk_msm_group group, uint32_t *cursors,
                      uint16_t *keys, uint32_t *payload) {
    extern __shared__ char shared_memory[];
    const uint32_t bins = windows.high_bins, low_bits = windows.low_bits;
    const sort_row row(windows, group, blockIdx.y);
    const sort_shared shared(shared_memory, bins);
    for (uint32_t b = threadIdx.x; b < bins; b += SORT_THREADS)
        shared.start[b] = 0;
    __syncthreads();
    const uint32_t *const mine = digits + blockIdx.y * n;
    const uint64_t first = (uint64_t)blockIdx.x * SORT_TILE;
    uint32_t digit[SORT_ITEMS], rank[SORT_ITEMS];
#pragma unroll
    for (uint32_t i = 0; i < SORT_ITEMS; i++) {
        const uint64_t at = first + i * SORT_THREADS + threadIdx.x;
        digit[i] = at < n ? mine[at] : 0;
        const uint32_t d = digit[i] & ~DIGIT_NEGATIVE;
        rank[i] = d != 0 ? atomicAdd(&shared.start[(d - 1) >> low_bits], 1) : 0;
    }
    __syncthreads();
    const uint32_t entries = sort_claim(shared, bins, cursors + row.set * bins);
    /* in order: the bucket, and the place in the tile (13 bits) with the sign */
#pragma unroll
    for (uint32_t i = 0; i < SORT_ITEMS; i++) {
        const uint32_t d = digit[i] & ~DIGIT_NEGATIVE;
        if (d == 0) continue;
        const uint32_t to = shared.start[(d - 1) >> low_bits] + rank[i];
        shared.wide[to] = d - 1;
        shared.narrow[to] = (uint16_t)(i * SORT_THREADS + threadIdx.x | (digit[i] >> 31) << 15);
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < entries; i += SORT_THREADS) {
        const uint32_t bucket = shared.wide[i], place = shared.narrow[i], bin = bucket >> low_bits;
        const uint32_t to = shared.claimed[bin] + (i - shared.start[bin]);
        uint32_t point = (uint32_t)first + (place & 0x7fff);
        if (source.index != nullptr)
            point = source.index[point];
        else if (source.bit_reversed_log2_n != 0)
            point = bit_reverse(point, source.bit_reversed_log2_n);
        keys[to] = (uint16_t)(bucket & ((1u << low_bits) - 1));
        payload[to] = (uint32_t)(row.copy * n) + point | (place >> 15 ? LIST_NEGATIVE : 0);
    }
}

/* Tiles of a bin: source of the scan that numbers them. */
struct sort_tiles {
    const uint32_t *counts;
    uint32_t bins;
    __device__ uint32_t operator()(uint64_t i) const {
        return i < bins ? (counts[i] + SORT_TILE - 1) / SORT_TILE : 0;
    }
    __device__ bool empty() const { return false; }
};

/* The tile of this block: its bin (SORT_NONE past the end) and its entries. */
struct sort_tile {
    uint32_t bin, first, entries;
};
__device__ __forceinline__ sort_tile sort_find_tile(const uint32_t *bin_tiles,
                                                    const uint32_t *counts, const uint32_t *cursors,
                                                    uint32_t bins) {
    if (blockIdx.x >= bin_tiles[bins]) return {SORT_NONE, 0, 0};
    uint32_t low = 0, high = bins;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (bin_tiles[middle] <= blockIdx.x)
            low = middle;
        else
            high = middle;
    }
    const uint32_t done = (blockIdx.x - bin_tiles[low]) * SORT_TILE;
    const uint32_t count = counts[low], left = count - done;
    /* after the scatter a bin's cursor stands at its end */
    return {low, cursors[low] - count + done, left < SORT_TILE ? left : SORT_TILE};
}

/* First bucket of a bin, counted from the group's first bucket. */
__device__ __forceinline__ uint32_t sort_bin_bucket(const cuzk_msm_windows &windows,
                                                    uint32_t first_set, uint32_t bin) {
    const uint32_t s = first_set + bin / windows.high_bins;
    return windows.bucket_base[s] - windows.bucket_base[first_set] +
           ((bin % windows.high_bins) << windows.low_bits);
}

__global__ void __launch_bounds__(SORT_THREADS)
    sort_count_low(const uint16_t *keys, const uint32_t *bin_tiles, const uint32_t *high_counts,
                   const uint32_t *cursors, uint32_t bins, cuzk_msm_windows windows,
                   uint32_t first_set, uint32_t *bucket_counts) {
    __shared__ uint32_t count[SORT_MAX_BINS];
    const sort_tile tile = sort_find_tile(bin_tiles, high_counts, cursors, bins);
    if (tile.bin == SORT_NONE) return;
    const uint32_t lows = 1u << windows.low_bits;
    for (uint32_t b = threadIdx.x; b < lows; b += SORT_THREADS)
        count[b] = 0;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < tile.entries; i += SORT_THREADS)
        atomicAdd(&count[keys[tile.first + i]], 1);
    __syncthreads();
    uint32_t *const to = bucket_counts + sort_bin_bucket(windows, first_set, tile.bin);
    for (uint32_t b = threadIdx.x; b < lows; b += SORT_THREADS)
        if (count[b] != 0) atomicAdd(&to[b], count[b]);
}

__global__ void __launch_bounds__(SORT_THREADS)
    sort_scatter_low(const uint16_t *keys, const uint32_t *payload, const uint32_t *bin_tiles,
                     const uint32_t *high_counts, const uint32_t *cursors, uint32_t bins,
                     cuzk_msm_windows windows, uint32_t first_set, uint32_t *bucket_cursors,
                     uint32_t *list) {
    extern __shared__ char shared_memory[];
    const sort_tile tile = sort_find_tile(bin_tiles, high_counts, cursors, bins);
    if (tile.bin == SORT_NONE) return;
    const uint32_t lows = 1u << windows.low_bits;
    const sort_shared shared(shared_memory, lows);
    for (uint32_t b = threadIdx.x; b < lows; b += SORT_THREADS)
        shared.start[b] = 0;
    __syncthreads();
    uint32_t key[SORT_ITEMS], rank[SORT_ITEMS];
#pragma unroll
    for (uint32_t i = 0; i < SORT_ITEMS; i++) {
        const uint32_t at = i * SORT_THREADS + threadIdx.x;
        key[i] = at < tile.entries ? keys[tile.first + at] : SORT_NONE;
        rank[i] = key[i] != SORT_NONE ? atomicAdd(&shared.start[key[i]], 1) : 0;
    }
    __syncthreads();
    sort_claim(shared, lows, bucket_cursors + sort_bin_bucket(windows, first_set, tile.bin));
#pragma unroll
    for (uint32_t i = 0; i < SORT_ITEMS; i++) {
        if (key[i] == SORT_NONE) continue;
        const uint32_t to = shared.start[key[i]] + rank[i];
        shared.wide[to] = payload[tile.first + i * SORT_THREADS + threadIdx.x];
        shared.narrow[to] = (uint16_t)key[i];
    }
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < tile.entries; i += SORT_THREADS) {
        const uint32_t low = shared.narrow[i];
        list[shared.claimed[low] - shared.start[low] + i] = shared.wide[i];
    }
}

/* Points that each 32-bit word stands for, bits from n on left out. */
struct bitmap_counts {
    const uint32_t *words;
    uint64_t n, count;
    bool pairs;
    __device__ uint32_t word(uint64_t i) const {
        const uint32_t v = words[i];
        return i + 1 < count || n % 32 == 0 ? v : v & ((1u << n % 32) - 1);
    }
    __device__ uint32_t operator()(uint64_t i) const {
        return i < count ? __popc(subset_marks(word(i), pairs)) : 0;
    }
    __device__ bool empty() const { return false; }
};

/* A thread a word: its points into the list. The first threads cut the list into parts. */
__global__ void subset_list(bitmap_counts bits, const uint32_t *word_offsets, uint32_t *list,
                            uint32_t max_listed, uint32_t *parts) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i <= CUZK_SUBSET_PARTS) {
        const uint32_t total = min(word_offsets[bits.count], max_listed);
        parts[i] = (uint32_t)(i * total / CUZK_SUBSET_PARTS);
    }
    if (i >= bits.count) return;
    const uint32_t word = bits.word(i);
    uint32_t at = word_offsets[i];
    for (uint32_t v = subset_marks(word, bits.pairs); v != 0 && at < max_listed; v &= v - 1)
        list[at++] =
            subset_entry(word, (uint32_t)i, __ffs((int)v) - 1, (uint32_t)bits.n, bits.pairs);
}

cuzk_status lists_prepare(cuzk_error *err) {
    int device, most;
    CUZK_TRY(cuda_check(cudaGetDevice(&device), "cudaGetDevice", err));
    CUZK_TRY(
        cuda_check(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
                   "cudaDeviceGetAttribute", err));
    /* what the widest windows of any device need; plans stay below the device's limit, and 1 KiB is
     * for the kernels' static arrays */
    const int bytes = min((int)sort_shared_bytes(SORT_MAX_BINS), most - 1024);
    CUZK_TRY(cuda_check(
        cudaFuncSetAttribute(sort_scatter_high, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "cudaFuncSetAttribute(sort_scatter_high)", err));
    return cuda_check(
        cudaFuncSetAttribute(sort_scatter_low, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
        "cudaFuncSetAttribute(sort_scatter_low)", err);
}

cuzk_status msm_make_digits(const cuzk_msm_plan &p, const msm_source &source, void *scratch,
                            cudaStream_t stream, cuzk_error *err) {
    msm_digits<<<blocks_for(p.n, 256), 256, 0, stream>>>(source, p.n, p.windows,
                                                         at<uint32_t>(scratch, p.digits));
    return launched("msm_digits", err);
}

cuzk_status msm_sort(const cuzk_msm_plan &p, const msm_source &source, const cuzk_msm_group &group,
                     void *scratch, cudaStream_t stream, cuzk_error *err) {
    const cuzk_msm_windows &w = p.windows;
    const uint32_t first = group.first_set, sets = group.end_set - first,
                   rows = group.end_row - group.first_row, bins = sets * w.high_bins,
                   buckets = w.bucket_base[group.end_set] - w.bucket_base[first];
    const uint32_t *const digits = at<uint32_t>(scratch, p.digits) + group.first_row * p.n;
    uint32_t *const high_counts = at<uint32_t>(scratch, p.bins), *const cursors =
                                                                     high_counts + bins;
    uint32_t *const bin_tiles = at<uint32_t>(scratch, p.bin_tiles);
    uint32_t *const sums = at<uint32_t>(scratch, p.tree.sums);
    uint16_t *const keys = at<uint16_t>(scratch, p.keys);
    uint32_t *const payload = at<uint32_t>(scratch, p.payload);
    uint32_t *const starts = at<uint32_t>(scratch, p.starts);
    uint32_t *const bucket_counts = at<uint32_t>(scratch, p.tree.offsets[1]);
    uint32_t *const bucket_cursors = at<uint32_t>(scratch, p.tree.offsets[0]);
    const dim3 tiles(blocks_for(p.n, SORT_TILE), rows);
    CUZK_TRY(cuda_check(cudaMemsetAsync(high_counts, 0, bins * sizeof(uint32_t), stream),
                        "cudaMemsetAsync", err));
    CUZK_TRY(cuda_check(cudaMemsetAsync(bucket_counts, 0, buckets * sizeof(uint32_t), stream),
                        "cudaMemsetAsync", err));
    sort_count_high<<<tiles, SORT_THREADS, 0, stream>>>(digits, p.n, w, group, high_counts);
    sort_place_high<<<sets, 1024, 0, stream>>>(high_counts, p.n, w, group, cursors);
    sort_scatter_high<<<tiles, SORT_THREADS, sort_shared_bytes(w.high_bins), stream>>>(
        digits, p.n, source, w, group, cursors, keys, payload);
    CUZK_TRY(exclusive_scan<uint32_t>(sort_tiles{high_counts, bins}, (uint64_t)bins + 1,
                                      scan_words{bin_tiles}, sums, stream, err));
    const unsigned low_tiles = blocks_for(rows * p.n, SORT_TILE) + bins;
    sort_count_low<<<low_tiles, SORT_THREADS, 0, stream>>>(keys, bin_tiles, high_counts, cursors,
                                                           bins, w, first, bucket_counts);
    CUZK_TRY(exclusive_scan<uint32_t>(scan_counts{bucket_counts, buckets}, (uint64_t)buckets + 1,
                                      scan_words{starts}, sums, stream, err));
    CUZK_TRY(cuda_check(cudaMemcpyAsync(bucket_cursors, starts, buckets * sizeof(uint32_t),
                                        cudaMemcpyDeviceToDevice, stream),
                        "cudaMemcpyAsync", err));
    sort_scatter_low<<<low_tiles, SORT_THREADS, sort_shared_bytes(1u << w.low_bits), stream>>>(
        keys, payload, bin_tiles, high_counts, cursors, bins, w, first, bucket_cursors,
        at<uint32_t>(scratch, p.list));
    return launched("msm_sort", err);
}

/* A thread a bucket. */
__global__ void list_parts(uint32_t buckets, uint32_t parts, uint32_t behind, uint32_t *list,
                           uint32_t *starts) {
    const uint32_t b = blockIdx.x * blockDim.x + threadIdx.x;
    if (b > buckets) return;
    starts[b] = b * parts;
    if (b == buckets) return;
    for (uint32_t i = 0; i < parts; i++)
        list[b * parts + i] = i == 0 ? b : behind + (i - 1) * buckets + b;
}

cuzk_status msm_list_parts(const cuzk_msm_plan &p, uint32_t buckets, uint32_t parts,
                           uint32_t behind, void *scratch, cudaStream_t stream, cuzk_error *err) {
    list_parts<<<blocks_for((uint64_t)buckets + 1, 256), 256, 0, stream>>>(
        buckets, parts, behind, at<uint32_t>(scratch, p.list), at<uint32_t>(scratch, p.starts));
    return launched("list_parts", err);
}

/* A thread an entry of a set: blockIdx.y is the set. */
__global__ void list_lines(cuzk_msm_windows windows, cuzk_msm_vectors vectors, uint32_t *list,
                           uint32_t *starts) {
    const uint32_t s = blockIdx.y, i = blockIdx.x * blockDim.x + threadIdx.x;
    const set_lines set(windows, s);
    if (i < set.entries()) list[set.first + i] = set.entry(i);
    if (i < set.lines()) starts[vectors.base[2 * s] + i] = set.first + set.start(i);
    if (i == 0 && s + 1 == windows.sets)
        starts[vectors.base[vectors.count]] = set.first + set.entries();
}

cuzk_status msm_list_lines(const cuzk_msm_plan &p, void *scratch, cudaStream_t stream,
                           cuzk_error *err) {
    /* the first set has the most buckets, each at most twice */
    list_lines<<<dim3(blocks_for(2 * (uint64_t)p.windows.bucket_base[1], 256), p.windows.sets), 256,
                 0, stream>>>(p.windows, p.vectors, at<uint32_t>(scratch, p.list),
                              at<uint32_t>(scratch, p.starts));
    return launched("list_lines", err);
}

cuzk_status subset_make_list(const cuzk_subset_plan &p, const void *bitmap, void *scratch,
                             cudaStream_t stream, cuzk_error *err) {
    const uint64_t words = (p.n + 31) / 32;
    const bitmap_counts bits = {(const uint32_t *)bitmap, p.n, words, p.pairs};
    uint32_t *const offsets = at<uint32_t>(scratch, p.word_offsets);
    CUZK_TRY(exclusive_scan<uint32_t>(bits, words + 1, scan_words{offsets},
                                      at<uint32_t>(scratch, p.sums), stream, err));
    const uint64_t threads = words > CUZK_SUBSET_PARTS ? words : CUZK_SUBSET_PARTS + 1;
    subset_list<<<blocks_for(threads, 256), 256, 0, stream>>>(
        bits, offsets, at<uint32_t>(scratch, p.list), (uint32_t)p.tree.entries,
        at<uint32_t>(scratch, p.parts));
    return launched("subset_list", err);
}

} // namespace cuzk
