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
/* The quotient's two halves, in reversed order. C = A B row by row, so its coefficients are an
 * inverse transform of the product, and it needs no coset transform: h = (coefficients of A B mod
 * X^m - 7^m, minus C) / (7^m - 1). The first writes C's share to c, which may be a; the second the
 * product's less `minus`, if any, to a. */
cuzk_status ntt_quotient_c(const cuzk_ntt_plan &plan, const void *tables, const fr *a, const fr *b,
                           fr *c, cudaStream_t stream, cuzk_error *err);
cuzk_status ntt_quotient_product(const cuzk_ntt_plan &plan, const void *tables, fr *a, fr *b,
                                 const fr *minus, cudaStream_t stream, cuzk_error *err);
cuzk_status ntt_bit_reverse(unsigned log2_n, void *out, const void *in, cudaStream_t stream,
                            cuzk_error *err);

} // namespace cuzk
#endif
