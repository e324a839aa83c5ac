/* From the compact witness to what transforms and sums take: rows of A and B, the bits of dense
 * variables packed together, and lists of scalars.
 *
 * A short row is a thread; neighbouring threads read neighbouring terms, and all instances of a
 * block read the same template, which stays in the L2 cache. Limit: field additions and latency. */
#include "partition.h"

#include "eval_row.cuh"
#include "launch.cuh"

namespace cuzk {

constexpr unsigned EVAL_THREADS = 256;

__global__ void __launch_bounds__(EVAL_THREADS)
    eval_short_rows(cuzk_eval_block block, int matrix, uint64_t dict, const char *image,
                    const uint32_t *bits, const fr *values, fr *out) {
    const uint64_t row = (uint64_t)blockIdx.x * EVAL_THREADS + threadIdx.x;
    if (row >= block.rows) return;
    const eval_frame f = eval_frame_of(block, matrix, dict, image, bits, values, blockIdx.y);
    const uint32_t first = f.row_start[row], end = f.row_start[row + 1];
    if (end - first > CUZK_EVAL_LONG_ROW) return;
    fr sum = fr::zero();
    eval_terms(f, first, end, 1, &sum);
    store16(out + block.row_base + blockIdx.y * block.rows + row, sum.canon());
}

/* CUZK_EVAL_LANES lanes a row. */
__global__ void __launch_bounds__(EVAL_THREADS)
    eval_long_rows(cuzk_eval_block block, int matrix, uint64_t dict, const char *image,
                   const uint32_t *bits, const fr *values, fr *out) {
    constexpr unsigned lanes = CUZK_EVAL_LANES;
    const uint64_t at = (uint64_t)blockIdx.x * (EVAL_THREADS / lanes) + threadIdx.x / lanes;
    if (at >= block.m[matrix].n_long) return;
    const uint64_t row = ((const uint32_t *)(image + block.m[matrix].long_rows))[at];
    const eval_frame f = eval_frame_of(block, matrix, dict, image, bits, values, blockIdx.y);
    const unsigned lane = threadIdx.x % lanes;
    const uint32_t group = ((1u << lanes) - 1) << (threadIdx.x % 32 - lane);
    fr sum = fr::zero();
    eval_terms(f, f.row_start[row] + lane, f.row_start[row + 1], lanes, &sum);
    for (unsigned distance = lanes / 2; distance > 0; distance /= 2) {
        fr other;
        for (int i = 0; i < fr::N; i++)
            other.l[i] = __shfl_down_sync(group, sum.l[i], distance, lanes);
        sum = sum + other;
    }
    if (lane == 0) store16(out + block.row_base + blockIdx.y * block.rows + row, sum.canon());
}

/* Behind the circuit's rows: A has x_i, then zeros. */
__global__ void eval_tail_rows(const fr *inputs, uint64_t n_inputs, uint64_t n, fr *out) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) store16(out + i, i < n_inputs ? load16(inputs + i) : fr::zero());
}

/* A thread a word of the map. */
__global__ void compact_bits(const uint32_t *bits, const uint32_t *map, const uint32_t *rank,
                             uint64_t words, uint32_t *out) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= words) return;
    const uint32_t packed = bits_extract(bits[i], map[i]);
    if (packed == 0) return;
    const uint32_t at = rank[i], shift = at % 32;
    atomicOr(&out[at / 32], packed << shift);
    if (shift != 0 && packed >> (32 - shift) != 0)
        atomicOr(&out[at / 32 + 1], packed >> (32 - shift));
}

__global__ void gather_values(const fr *values, const uint32_t *from, uint64_t n, fr *out) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) store16(out + i, load16(values + from[i]));
}

} // namespace cuzk

using namespace cuzk;

cuzk_status cuzk_gpu_eval(const cuzk_eval_image *image, const void *memory, int matrix,
                          unsigned log2_domain, const void *bits, const void *values, void *out,
                          cuzk_gpu_stream stream, cuzk_error *err) {
    const char *const base = (const char *)memory;
    const uint32_t *const w = (const uint32_t *)bits;
    const fr *const v = (const fr *)values;
    for (unsigned i = 0; i < image->n_blocks; i++) {
        const cuzk_eval_block &b = image->blocks[i];
        if (b.rows == 0 || b.count == 0) continue;
        /* instances on the grid's y: at most 65535 */
        if (b.count > 65535)
            return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "%llu instances of a block",
                             (unsigned long long)b.count);
        eval_short_rows<<<dim3(blocks_for(b.rows, EVAL_THREADS), (unsigned)b.count), EVAL_THREADS,
                          0, stream>>>(b, matrix, image->dict, base, w, v, (fr *)out);
        CUZK_TRY(launched("eval_short_rows", err));
        if (b.m[matrix].n_long == 0) continue;
        const unsigned blocks = blocks_for(b.m[matrix].n_long, EVAL_THREADS / CUZK_EVAL_LANES);
        eval_long_rows<<<dim3(blocks, (unsigned)b.count), EVAL_THREADS, 0, stream>>>(
            b, matrix, image->dict, base, w, v, (fr *)out);
        CUZK_TRY(launched("eval_long_rows", err));
    }
    const uint64_t tail = ((uint64_t)1 << log2_domain) - image->rows;
    eval_tail_rows<<<blocks_for(tail, 256), 256, 0, stream>>>(v, matrix == 0 ? image->inputs : 0,
                                                              tail, (fr *)out + image->rows);
    return launched("eval_tail_rows", err);
}

cuzk_status cuzk_gpu_compact(const void *bits, const void *map, const void *rank, uint64_t n,
                             uint64_t dense, void *out, cuzk_gpu_stream stream, cuzk_error *err) {
    const uint64_t words = (n + 31) / 32;
    CUZK_TRY(
        cuda_check(cudaMemsetAsync(out, 0, (dense + 63) / 64 * 8, stream), "cudaMemsetAsync", err));
    compact_bits<<<blocks_for(words, 256), 256, 0, stream>>>(
        (const uint32_t *)bits, (const uint32_t *)map, (const uint32_t *)rank, words,
        (uint32_t *)out);
    return launched("compact_bits", err);
}

cuzk_status cuzk_gpu_gather(const void *values, const uint32_t *from, uint64_t n, void *out,
                            cuzk_gpu_stream stream, cuzk_error *err) {
    if (n == 0) return CUZK_OK;
    gather_values<<<blocks_for(n, 256), 256, 0, stream>>>((const fr *)values, from, n, (fr *)out);
    return launched("gather_values", err);
}
