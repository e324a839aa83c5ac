/* The quotient of cuda_api.cu in parts, for an arena that holds two vectors only: C's coefficients
 * wait elsewhere while the product is made. */
#include "launch.cuh"
#include "ntt_run.cuh"
#include "partition.h"

namespace cuzk {

__global__ void __launch_bounds__(256) subtract(fr *a, const fr *b, uint64_t n) {
    const uint64_t i = (uint64_t)blockIdx.x * 256 + threadIdx.x;
    if (i < n) store16(a + i, (load16(a + i) - load16(b + i)).canon());
}

} // namespace cuzk

using namespace cuzk;

cuzk_status cuzk_gpu_quotient_c(const cuzk_ntt_plan *plan, const void *tables, void *a,
                                const void *b, cuzk_gpu_stream stream, cuzk_error *err) {
    fr *const va = (fr *)a;
    const ntt_job c_inverse = {false,         1,       false, CUZK_NTT_SCALE_QUOTIENT_C, va,
                               (const fr *)b, nullptr, va};
    return ntt_transform(*plan, tables, c_inverse, stream, err);
}

cuzk_status cuzk_gpu_quotient_product(const cuzk_ntt_plan *plan, const void *tables, void *a,
                                      void *b, cuzk_gpu_stream stream, cuzk_error *err) {
    fr *const va = (fr *)a, *const vb = (fr *)b;
    fr *const both[2] = {va, vb};
    for (fr *v : both) {
        const ntt_job inverse = {false, 1, false, -1, v, nullptr, nullptr, v};
        const ntt_job coset = {true, 0,       true,    CUZK_NTT_SCALE_QUOTIENT_COSET,
                               v,    nullptr, nullptr, v};
        CUZK_TRY(ntt_transform(*plan, tables, inverse, stream, err));
        CUZK_TRY(ntt_transform(*plan, tables, coset, stream, err));
    }
    const ntt_job back = {false, 1, true, CUZK_NTT_SCALE_QUOTIENT_INVERSE, va, vb, nullptr, va};
    return ntt_transform(*plan, tables, back, stream, err);
}

cuzk_status cuzk_gpu_subtract(void *a, const void *b, uint64_t n, cuzk_gpu_stream stream,
                              cuzk_error *err) {
    subtract<<<blocks_for(n, 256), 256, 0, stream>>>((fr *)a, (const fr *)b, n);
    return launched("subtract", err);
}
