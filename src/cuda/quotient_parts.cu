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
    return ntt_quotient_c(*plan, tables, (const fr *)a, (const fr *)b, (fr *)a, stream, err);
}

cuzk_status cuzk_gpu_quotient_product(const cuzk_ntt_plan *plan, const void *tables, void *a,
                                      void *b, cuzk_gpu_stream stream, cuzk_error *err) {
    return ntt_quotient_product(*plan, tables, (fr *)a, (fr *)b, nullptr, stream, err);
}

cuzk_status cuzk_gpu_subtract(void *a, const void *b, uint64_t n, cuzk_gpu_stream stream,
                              cuzk_error *err) {
    subtract<<<blocks_for(n, 256), 256, 0, stream>>>((fr *)a, (const fr *)b, n);
    return launched("subtract", err);
}
