/* Launchers of the point sums, for one curve: included by msm_g1.cu and msm_g2.cu. */
#ifndef CUZK_CUDA_SUMS_IMPL_CUH
#define CUZK_CUDA_SUMS_IMPL_CUH

#include "lists.cuh"
#include "msm_reduce.cuh"
#include "scan.cuh"
#include "sum_tree.cuh"

namespace cuzk {

/* The inverse of each thread's value: one warp inverts the products of the block's warps, lane by
 * lane. Shared memory: 5 warps of F. */
template <class F> __device__ __forceinline__ F block_inverse(const F &value) {
    constexpr uint32_t WARPS = TREE_BLOCK / 32;
    __shared__ F values[WARPS + 1][32];
    const uint32_t lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    values[warp][lane] = value;
    __syncthreads();
    if (warp == 0) {
        F product = value;
        CUZK_NO_UNROLL
        for (uint32_t w = 1; w < WARPS; w++)
            product = product * values[w][lane];
        values[WARPS][lane] = product.inverse();
    }
    __syncthreads();
    F inverse = values[WARPS][lane];
    CUZK_NO_UNROLL
    for (uint32_t w = 0; w < WARPS; w++)
        if (w != warp) inverse = inverse * values[w][lane];
    return inverse;
}

/* What a level needs beforehand: its additions' descriptions, and points that go on unchanged. */
template <class F>
__global__ void __launch_bounds__(256) tree_prepare(const __grid_constant__ tree_level<F> level) {
    if (level.in_at[level.buckets] == 0) return;
    const uint64_t i = (uint64_t)blockIdx.x * 256 + threadIdx.x;
    const uint32_t b = (uint32_t)(i / tree_parts<F>), part = (uint32_t)(i % tree_parts<F>);
    if (b < level.buckets) tree_leftover(level, b, part);
    tree_describe(level, i);
}

/* 128 registers a thread for G1 and 255 for G2 (Fp2 values and their products). */
template <class F>
__global__ void __launch_bounds__(TREE_BLOCK, sizeof(F) == sizeof(fp) ? 4 : 2)
    tree_add(const __grid_constant__ tree_level<F> level) {
    const uint32_t additions = level.pair_at[level.buckets];
    const tree_share share =
        tree_share_of(additions, level.threads, tree_worker<F>::STAGGERED, blockIdx.x);
    if (share.batch == 0 || share.first >= additions) return;
    const tree_worker<F> worker(level, share, threadIdx.x);
    worker.put(0, block_inverse(worker.up()));
    worker.down();
}

/* Sums and additions of a level by bucket: source and sink of the scan that numbers them. */
struct tree_counts {
    const uint32_t *in_at;
    uint32_t buckets;
    __device__ word_pair operator()(uint64_t i) const {
        if (i >= buckets) return {0, 0};
        const uint32_t n = in_at[i + 1] - in_at[i];
        return {tree_sums(n), tree_pairs(n)};
    }
    __device__ bool empty() const { return in_at[buckets] == 0; }
};
struct tree_places {
    uint32_t *out_at, *pair_at;
    __device__ void operator()(uint64_t i, const word_pair &v) const {
        out_at[i] = v.a;
        pair_at[i] = v.b;
    }
};

/* Sum the listed points of each bucket into finished[bucket]; empty buckets are not written.
 * in_at: buckets + 1 offsets into list. */
template <class F>
cuzk_status tree_sum(const cuzk_tree_plan &plan, const affine<F> *points, const uint32_t *list,
                     const uint32_t *in_at, uint32_t buckets, affine<F> *finished, void *scratch,
                     cudaStream_t stream, cuzk_error *err) {
    tree_level<F> level = {};
    level.points = points;
    level.list = list;
    level.in_at = in_at;
    level.buckets = buckets;
    level.threads = plan.threads;
    level.finished = finished;
    level.items = at<uint32_t>(scratch, plan.items);
    level.item_plane = plan.item_plane;
    level.prefix = at<uint4>(scratch, plan.prefix);
    uint32_t *const pair_at = at<uint32_t>(scratch, plan.pairs);
    level.pair_at = pair_at;
    uint64_t points_left =
        plan.entries; /* at most; a list of n >= 2 hands on ceil(n / 2) <= 2 n / 3 */
    for (uint32_t l = 0; l < plan.levels; l++) {
        const uint64_t additions = points_left / 2;
        uint32_t *const out_at = at<uint32_t>(scratch, plan.offsets[l & 1]);
        CUZK_TRY(exclusive_scan<word_pair>(tree_counts{level.in_at, buckets}, (uint64_t)buckets + 1,
                                           tree_places{out_at, pair_at},
                                           at<uint32_t>(scratch, plan.sums), stream, err));
        level.out_at = out_at;
        level.out = at<affine<F>>(scratch, plan.points[l & 1]);
        const uint64_t prepare = max((uint64_t)buckets * tree_parts<F>, additions / TREE_RUN + 1);
        tree_prepare<<<blocks_for(prepare, 256), 256, 0, stream>>>(level);
        const unsigned blocks = tree_blocks(additions, plan.threads, tree_worker<F>::STAGGERED);
        tree_add<<<blocks, TREE_BLOCK, 0, stream>>>(level);
        CUZK_TRY(launched("tree_add", err));
        level.points = level.out;
        level.list = nullptr;
        level.in_at = out_at;
        points_left = points_left * 2 / 3;
    }
    return CUZK_OK;
}

/* The points of the vectors: sums of lines of buckets, or the buckets. */
template <class F>
cuzk_status msm_lines(const cuzk_msm_plan &p, void *scratch, const affine<F> **points,
                      cudaStream_t stream, cuzk_error *err) {
    const affine<F> *const buckets = at<affine<F>>(scratch, p.buckets);
    *points = buckets;
    if (p.lines.entries == 0) return CUZK_OK;
    const uint32_t lines = p.vectors.base[p.vectors.count];
    affine<F> *const sums = at<affine<F>>(scratch, p.line_points);
    *points = sums;
    /* for the empty ones */
    CUZK_TRY(cuda_check(cudaMemsetAsync(sums, 0, lines * sizeof(affine<F>), stream),
                        "cudaMemsetAsync", err));
    CUZK_TRY(msm_list_lines(p, scratch, stream, err));
    return tree_sum(p.lines, buckets, at<uint32_t>(scratch, p.list),
                    at<uint32_t>(scratch, p.starts), lines, sums, scratch, stream, err);
}

template <class F>
cuzk_status msm_reduce(const cuzk_msm_plan &p, void *scratch, xyzz<F> *result, cudaStream_t stream,
                       cuzk_error *err) {
    const uint32_t vectors = p.vectors.count, blocks = p.reduce_blocks;
    const size_t shared = REDUCE_THREADS * sizeof(xyzz<F>);
    const affine<F> *points;
    CUZK_TRY(msm_lines(p, scratch, &points, stream, err));
    xyzz<F> *const sums = blocks > 1 ? at<xyzz<F>>(scratch, p.block_points) : result;
    reduce_vectors<<<dim3(blocks, vectors), REDUCE_THREADS, shared, stream>>>(points, p.vectors,
                                                                              sums);
    if (blocks > 1)
        reduce_blocks<<<dim3(2, vectors), REDUCE_THREADS, shared, stream>>>(sums, blocks, result);
    return launched("msm_reduce", err);
}

/* Bucket sums of sets first .. *end. The parts of a set too large for a group have buckets of their
 * own, behind those of all sets; adding them up is another sum of lists. (Its points and sums may
 * be the same memory: two points of a pair are read by the thread that writes their sum, and sums
 * of more than two come from a later level.) */
template <class F>
cuzk_status msm_group(const cuzk_msm_plan &p, const affine<F> *points, const msm_source &source,
                      uint32_t first, uint32_t *end, void *scratch, cudaStream_t stream,
                      cuzk_error *err) {
    const cuzk_msm_windows &w = p.windows;
    const uint32_t *const list = at<uint32_t>(scratch, p.list), *const starts =
                                                                    at<uint32_t>(scratch, p.starts);
    affine<F> *const all = at<affine<F>>(scratch, p.buckets), *const sums =
                                                                  all + w.bucket_base[first];
    const uint32_t behind = w.bucket_base[w.sets] - w.bucket_base[first];
    uint32_t parts = 1, buckets = 0;
    for (uint32_t part = 0; part < parts; part++) {
        const cuzk_msm_group group = cuzk_msm_group_of(&p, first, part, &parts);
        *end = group.end_set;
        buckets = w.bucket_base[group.end_set] - w.bucket_base[first];
        affine<F> *const to = part == 0 ? sums : sums + behind + (part - 1) * (size_t)buckets;
        CUZK_TRY(cuda_check(cudaMemsetAsync(to, 0, buckets * sizeof(affine<F>), stream),
                            "cudaMemsetAsync", err));
        CUZK_TRY(msm_sort(p, source, group, scratch, stream, err));
        CUZK_TRY(tree_sum(p.tree, points, list, starts, buckets, to, scratch, stream, err));
    }
    if (parts == 1) return CUZK_OK;
    CUZK_TRY(msm_list_parts(p, buckets, parts, behind, scratch, stream, err));
    return tree_sum(p.join, sums, list, starts, buckets, sums, scratch, stream, err);
}

template <class F>
cuzk_status msm_run(const cuzk_msm_plan &p, const affine<F> *points, const msm_source &source,
                    void *scratch, xyzz<F> *result, cudaStream_t stream, cuzk_error *err) {
    CUZK_TRY(msm_make_digits(p, source, scratch, stream, err));
    for (uint32_t first = 0; first < p.windows.sets;)
        CUZK_TRY(msm_group(p, points, source, first, &first, scratch, stream, err));
    return msm_reduce(p, scratch, result, stream, err);
}

template <class F>
cuzk_status subset_run(const cuzk_subset_plan &p, const affine<F> *points, const void *bitmap,
                       void *scratch, xyzz<F> *result, cudaStream_t stream, cuzk_error *err) {
    affine<F> *const part_points = at<affine<F>>(scratch, p.part_points);
    CUZK_TRY(subset_make_list(p, bitmap, scratch, stream, err));
    CUZK_TRY(
        cuda_check(cudaMemsetAsync(part_points, 0, CUZK_SUBSET_PARTS * sizeof(affine<F>), stream),
                   "cudaMemsetAsync", err));
    CUZK_TRY(tree_sum(p.tree, points, at<uint32_t>(scratch, p.list), at<uint32_t>(scratch, p.parts),
                      CUZK_SUBSET_PARTS, part_points, scratch, stream, err));
    /* 48 KiB of shared memory */
    constexpr uint32_t threads = 49152 / sizeof(xyzz<F>);
    reduce_plain<F, threads>
        <<<1, threads, threads * sizeof(xyzz<F>), stream>>>(part_points, CUZK_SUBSET_PARTS, result);
    return launched("reduce_plain", err);
}

} // namespace cuzk
#endif
