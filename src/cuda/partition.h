/* The kernels between a compact witness and the transforms and sums; conventions as in cuda_api.h.
 */
#ifndef CUZK_CUDA_PARTITION_H
#define CUZK_CUDA_PARTITION_H

#include "cuda/cuda_api.h"
#include "cuda/eval_image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* out[0 .. 2^log2_domain) = A w (matrix R1CS_A) or B w, appended rows and zeros included.
 * bits: the witness' words; values: inputs, then FIELD variables. */
cuzk_status cuzk_gpu_eval(const cuzk_eval_image *image, const void *memory, int matrix,
                          unsigned log2_domain, const void *bits, const void *values, void *out,
                          cuzk_gpu_stream stream, cuzk_error *err);

/* The bits i < n whose map bit is set, packed together: `dense` of them, in 64-bit words. rank[k]:
 * set map bits before 32-bit word k. */
cuzk_status cuzk_gpu_compact(const void *bits, const void *map, const void *rank, uint64_t n,
                             uint64_t dense, void *out, cuzk_gpu_stream stream, cuzk_error *err);

/* out[i] = values[from[i]] */
cuzk_status cuzk_gpu_gather(const void *values, const uint32_t *from, uint64_t n, void *out,
                            cuzk_gpu_stream stream, cuzk_error *err);

/* cuzk_gpu_quotient in two parts and a difference. a and b hold A w and B w: the first leaves C's
 * share in a, and b as it is; the second the product's in a, and clobbers b. h is the product's
 * share less C's, all in bit-reversed order. */
cuzk_status cuzk_gpu_quotient_c(const cuzk_ntt_plan *plan, const void *tables, void *a,
                                const void *b, cuzk_gpu_stream stream, cuzk_error *err);
cuzk_status cuzk_gpu_quotient_product(const cuzk_ntt_plan *plan, const void *tables, void *a,
                                      void *b, cuzk_gpu_stream stream, cuzk_error *err);
/* a[i] -= b[i] */
cuzk_status cuzk_gpu_subtract(void *a, const void *b, uint64_t n, cuzk_gpu_stream stream,
                              cuzk_error *err);

/* Encode n affine points into the parameter file's form: 96 or 192 bytes each, 16-byte aligned. */
cuzk_status cuzk_gpu_encode(cuzk_gpu_group curve, void *out, const void *points, uint64_t n,
                            cuzk_gpu_stream stream, cuzk_error *err);

/* Scalars to lists of entries of a fixed-base table: entry w * 2^FIXED_BITS + digit w, and offsets
 * starts[i] = i * FIXED_WINDOWS, i <= n. */
#define CUZK_FIXED_BITS 13
#define CUZK_FIXED_WINDOWS 20
cuzk_status cuzk_gpu_fixed_digits(const void *scalars, uint64_t n, uint32_t *list, uint32_t *starts,
                                  cuzk_gpu_stream stream, cuzk_error *err);

#ifdef __cplusplus
}
#endif
#endif
