/* Number-theoretic transforms and the quotient on the GPU. */
#include "launch.cuh"
#include "ntt_run.cuh"

namespace cuzk {
namespace {

/* Blocks a multiprocessor: 96 registers, and up to 8 spilled around the products of a butterfly. */
constexpr unsigned NTT_BLOCKS = 5;

template <bool reversed, bool last, bool inverse>
__global__ void __launch_bounds__(NTT_THREADS, NTT_BLOCKS)
    ntt_pass_kernel(const __grid_constant__ ntt_pass pass) {
    extern __shared__ uint4 shared[];
    const ntt_block<reversed, last, inverse> block = {pass, shared, blockIdx.x, threadIdx.x};
    block.load();
    CUZK_NO_UNROLL
    for (uint32_t i = 0; i < block.steps(); i++) {
        __syncthreads();
        block.step(reversed ? block.steps() - 1 - i : i);
    }
    __syncthreads();
    block.store();
}

typedef void (*pass_kernel)(const ntt_pass);

template <bool reversed, bool last> pass_kernel find_kernel(bool inverse) {
    return inverse ? ntt_pass_kernel<reversed, last, true> : ntt_pass_kernel<reversed, last, false>;
}
pass_kernel find_kernel(bool reversed, bool last, bool inverse) {
    if (reversed)
        return last ? find_kernel<true, true>(inverse) : find_kernel<true, false>(inverse);
    return last ? find_kernel<false, true>(inverse) : find_kernel<false, false>(inverse);
}

cuzk_status run_pass(const ntt_pass &pass, const ntt_job &job, cudaStream_t stream,
                     cuzk_error *err) {
    find_kernel(job.reversed, pass.below == 0,
                job.direction == 1)<<<pass.tiles, NTT_THREADS, NTT_SHARED_BYTES, stream>>>(pass);
    return launched("ntt_pass", err);
}

template <class T, class E> __global__ void fill_table(T table, uint32_t n, E *out) {
    const uint32_t k = blockIdx.x * blockDim.x + threadIdx.x;
    if (k < n) store16(out + k, table.entry(k));
}

__global__ void bit_reverse_small(unsigned log2_n, fr *out, const fr *in) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >> log2_n == 0) store16(out + bit_reverse(i, log2_n), load16(in + i));
}

/* A block owns the 32 x 32 elements that agree in the middle bits of the index: low and high 5 bits
 * change places. Rows of 32 contiguous elements (1 KiB) are read and written; 33 KiB of shared
 * memory. */
__global__ void __launch_bounds__(256) bit_reverse_tiles(unsigned log2_n, fr *out, const fr *in) {
    __shared__ uint4 tile[2][32][33];
    const unsigned middle_bits = log2_n - 10;
    const uint32_t middle = blockIdx.x, turned = bit_reverse(middle, middle_bits);
    for (uint32_t e = threadIdx.x; e < 2048; e += 256) {
        const uint32_t half = e & 1, low = e >> 1 & 31, high = e >> 6;
        const uint64_t i = (uint64_t)high << (log2_n - 5) | (uint64_t)middle << 5 | low;
        tile[half][high][low] = ((const uint4 *)(in + i))[half];
    }
    __syncthreads();
    for (uint32_t e = threadIdx.x; e < 2048; e += 256) {
        const uint32_t half = e & 1, low = e >> 1 & 31, high = e >> 6;
        const uint64_t i = (uint64_t)high << (log2_n - 5) | (uint64_t)turned << 5 | low;
        ((uint4 *)(out + i))[half] = tile[half][bit_reverse(low, 5)][bit_reverse(high, 5)];
    }
}

} // namespace

cuzk_status ntt_prepare(cuzk_error *err) {
    for (unsigned v = 0; v < 8; v++)
        CUZK_TRY(cuda_check(cudaFuncSetAttribute(find_kernel(v & 1, v & 2, v & 4),
                                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                 NTT_SHARED_BYTES),
                            "cudaFuncSetAttribute(ntt_pass)", err));
    return CUZK_OK;
}

cuzk_status ntt_fill_tables(const cuzk_ntt_plan &p, const ntt_constants &k, void *tables,
                            cudaStream_t stream, cuzk_error *err) {
    const auto fill = [&](const auto &table, uint32_t entries, size_t offset) {
        using entry = decltype(table.entry(0));
        fill_table<<<blocks_for(entries, 128), 128, 0, stream>>>(table, entries,
                                                                 at<entry>(tables, offset));
        return launched("fill_table", err);
    };
    CUZK_TRY(ntt_for_each_table(p, k, fill));
    return ntt_for_each_wide_table(p, tables, fill);
}

cuzk_status ntt_transform(const cuzk_ntt_plan &p, const void *tables, const ntt_job &job,
                          cudaStream_t stream, cuzk_error *err) {
    for (unsigned i = 0; i < p.passes; i++)
        CUZK_TRY(run_pass(ntt_make_pass(p, tables, job, i), job, stream, err));
    return CUZK_OK;
}

cuzk_status ntt_quotient_c(const cuzk_ntt_plan &p, const void *tables, const fr *a, const fr *b,
                           fr *c, cudaStream_t stream, cuzk_error *err) {
    const ntt_job inverse = {false, 1, false, CUZK_NTT_SCALE_QUOTIENT_C, a, b, nullptr, c};
    return ntt_transform(p, tables, inverse, stream, err);
}

cuzk_status ntt_quotient_product(const cuzk_ntt_plan &p, const void *tables, fr *a, fr *b,
                                 const fr *minus, cudaStream_t stream, cuzk_error *err) {
    fr *const both[2] = {a, b};
    for (fr *v : both) {
        const ntt_job inverse = {false, 1, false, -1, v, nullptr, nullptr, v};
        const ntt_job coset = {true, 0,       true,    CUZK_NTT_SCALE_QUOTIENT_COSET,
                               v,    nullptr, nullptr, v};
        CUZK_TRY(ntt_transform(p, tables, inverse, stream, err));
        CUZK_TRY(ntt_transform(p, tables, coset, stream, err));
    }
    const ntt_job back = {false, 1, true, CUZK_NTT_SCALE_QUOTIENT_INVERSE, a, b, minus, a};
    return ntt_transform(p, tables, back, stream, err);
}

cuzk_status ntt_bit_reverse(unsigned log2_n, void *out, const void *in, cudaStream_t stream,
                            cuzk_error *err) {
    if (log2_n < 10)
        bit_reverse_small<<<blocks_for((uint64_t)1 << log2_n, 256), 256, 0, stream>>>(
            log2_n, (fr *)out, (const fr *)in);
    else
        bit_reverse_tiles<<<1u << (log2_n - 10), 256, 0, stream>>>(log2_n, (fr *)out,
                                                                   (const fr *)in);
    return launched("bit_reverse", err);
}

} // namespace cuzk
