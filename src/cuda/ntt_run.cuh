/* Launchers of ntt.cu. */
#ifndef CUZK_CUDA_NTT_RUN_CUH
#define CUZK_CUDA_NTT_RUN_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "base/status.h"
#include "ntt_passes.cuh"

namespace cuzk {

cuzk_status ntt_prepare(cuzk_error *err);
cuzk_status ntt_fill_tables(const cuzk_ntt_plan &plan, const ntt_constants &constants, void *tables,
                            cudaStream_t stream, cuzk_error *err);
cuzk_status ntt_transform(const cuzk_ntt_plan &plan, const void *tables, const ntt_job &job,
                          cudaStream_t stream, cuzk_error *err);
cuzk_status ntt_bit_reverse(unsigned log2_n, void *out, const void *in, cudaStream_t stream,
                            cuzk_error *err);

} // namespace cuzk
#endif
