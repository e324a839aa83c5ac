/* The GPU kernels as a C interface: what libcuzk-cuda.so offers below the executor.
 *
 * Every operation works on device memory that the caller owns, in the order of the given stream;
 * none allocates, synchronises or asks the device anything. An operation's scratch is planned by a
 * pure host function (cuda/msm_plan.h, cuda/ntt_plan.h), starts at a multiple of 256 bytes, and may
 * be reused by the next operation on the same stream. Field elements are canonical Montgomery
 * values, points affine pairs of them (96 and 192 bytes, infinity all zero): fr_t, g1_affine_t and
 * g2_affine_t as the CPU layers have them.
 *
 * A returned error is one of launching (CUZK_ERR_DEVICE with call and cause); failures inside a
 * kernel surface where the caller waits for the stream. */
#ifndef CUZK_CUDA_API_H
#define CUZK_CUDA_API_H

#include "base/status.h"
#include "cuda/msm_plan.h"
#include "cuda/ntt_plan.h"
#include "curve/curve.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUZK_CUDA_EXPORT __attribute__((visibility("default")))

typedef struct CUstream_st *cuzk_gpu_stream; /* cudaStream_t */

/* Attributes that the kernels need (shared memory beyond 48 KiB): once for each device, after
 * cudaSetDevice. */
CUZK_CUDA_EXPORT cuzk_status cuzk_gpu_prepare(cuzk_error *err);

/* ---- points ---- */

/* Decode n points of the parameter file's encoding (96 or 192 bytes, big-endian, uncompressed) into
 * affine Montgomery form. *bad (device, set to UINT64_MAX by the caller) becomes the least
 * first + i whose point has a flag bit or a coordinate >= p. in is 16-byte aligned; in may not
 * overlap out unless they are equal. Curve and subgroup are not checked. */
CUZK_CUDA_EXPORT cuzk_status cuzk_gpu_decode(cuzk_gpu_group curve, void *out, const void *in,
                                             uint64_t n, uint64_t first, uint64_t *bad,
                                             cuzk_gpu_stream stream, cuzk_error *err);

/* ---- multi-scalar multiplication ---- */

/* Scalars and the points they belong to. */
typedef struct cuzk_gpu_scalars {
    const void *scalars; /* plan->n Montgomery fr_t */
    /* scalar i goes with points[index[i]]; NULL: with points[i]. With several copies of the points
     * indices are below plan->n. */
    const uint32_t *index;
    /* not 0: with points[bit_reverse(i)] of that many bits, for a quotient in that order. A zero
     * scalar's point is not read. */
    unsigned bit_reversed_log2_n;
} cuzk_gpu_scalars;

/* out[i] = points[index[i]] for i < n, affine; out does not overlap points. */
CUZK_CUDA_EXPORT cuzk_status cuzk_gpu_gather_points(cuzk_gpu_group curve, const void *points,
                                                    const uint32_t *index, uint64_t n, void *out,
                                                    cuzk_gpu_stream stream, cuzk_error *err);

/* Copies of fixed points, for fewer and wider windows: points[c * plan->n + i] = 2^(c shift) times
 * points[i] for first <= i < first + n and 0 < c < plan->windows.copies, where shift =
 * cuzk_msm_shift(plan). Affine; infinity stays infinity. (copies - 1) shift doublings a point, 2
 * products and 5 squares each. Nothing to do for a plan with one copy. */
CUZK_CUDA_EXPORT cuzk_status cuzk_gpu_multiples(const cuzk_msm_plan *plan, void *points,
                                                uint64_t first, uint64_t n, cuzk_gpu_stream stream,
                                                cuzk_error *err);

/* sum of scalars times points: plan->windows.copies * plan->n of them. result (device,
 * plan->result_bytes) is copied to the host by the caller and finished there. Any scalars and
 * points are right, equal and opposite points and infinity too; time depends on the scalars only
 * through the number of zero digits. */
CUZK_CUDA_EXPORT cuzk_status cuzk_gpu_msm(const cuzk_msm_plan *plan, const void *points,
                                          const cuzk_gpu_scalars *scalars, void *scratch,
                                          void *result, cuzk_gpu_stream stream, cuzk_error *err);
/* The last sums on the host: some 300 point operations. */
CUZK_CUDA_EXPORT void cuzk_msm_finish_g1(const cuzk_msm_plan *plan, const void *result, g1_t *out);
CUZK_CUDA_EXPORT void cuzk_msm_finish_g2(const cuzk_msm_plan *plan, const void *result, g2_t *out);

/* out[i] = points[2 i] + points[2 i + 1], the last alone when n is odd; all affine, in device
 * memory. A subset sum with pairs takes one of these where both bits are set. */
CUZK_CUDA_EXPORT cuzk_status cuzk_gpu_pairs(cuzk_gpu_group curve, const void *points, uint64_t n,
                                            void *out, cuzk_gpu_stream stream, cuzk_error *err);

/* Sum of the points whose bit is set (bit i = bit i % 64 of word i / 64, as in msm_subset_g1); bits
 * from n on are ignored. bitmap has ceil(n / 64) words. With plan->pairs the sums of neighbours lie
 * behind the n points, as cuzk_gpu_pairs makes them. If more than plan's max_set bits are set,
 * the sum is wrong but no memory is overrun. result: one XYZZ point, a g1_t or g2_t. */
CUZK_CUDA_EXPORT cuzk_status cuzk_gpu_subset(const cuzk_subset_plan *plan, const void *points,
                                             const uint64_t *bitmap, void *scratch, void *result,
                                             cuzk_gpu_stream stream, cuzk_error *err);

/* Sums of many lists: sums[b] = sum of the points that list[in_at[b]] .. list[in_at[b + 1] - 1]
 * name (bit 31: subtracted), affine; an empty list's sum is not written. in_at has buckets + 1
 * words; the plan is for at least that many entries and buckets. All pointers are device memory. */
CUZK_CUDA_EXPORT cuzk_status cuzk_gpu_list_sums(cuzk_gpu_group curve, const cuzk_tree_plan *plan,
                                                const void *points, const uint32_t *list,
                                                const uint32_t *in_at, uint32_t buckets, void *sums,
                                                void *scratch, cuzk_gpu_stream stream,
                                                cuzk_error *err);

/* ---- number-theoretic transforms ---- */

/* Fill the tables of a domain (plan->table_bytes of device memory). */
CUZK_CUDA_EXPORT cuzk_status cuzk_gpu_ntt_tables(const cuzk_ntt_plan *plan, void *tables,
                                                 cuzk_gpu_stream stream, cuzk_error *err);

typedef enum cuzk_ntt_kind {
    CUZK_NTT_FORWARD,       /* coefficients -> values at the powers of omega */
    CUZK_NTT_INVERSE,       /* back, scaled by 1/m */
    CUZK_NTT_COSET_FORWARD, /* -> values on the coset 7 <omega> */
    CUZK_NTT_COSET_INVERSE
} cuzk_ntt_kind;

/* In place on 2^log2_n elements. Without bit reversal one side is in bit-reversed order:
 * from_reversed takes such an input to natural order, else natural input to reversed output. */
CUZK_CUDA_EXPORT cuzk_status cuzk_gpu_ntt(const cuzk_ntt_plan *plan, const void *tables,
                                          cuzk_ntt_kind kind, bool from_reversed, void *v,
                                          cuzk_gpu_stream stream, cuzk_error *err);
/* out[bit_reverse(i)] = in[i]; out != in. */
CUZK_CUDA_EXPORT cuzk_status cuzk_gpu_bit_reverse(unsigned log2_n, void *out, const void *in,
                                                  cuzk_gpu_stream stream, cuzk_error *err);
/* ntt_quotient of src/poly on the device: a and b hold A w and B w by rows, c is scratch. On return
 * a holds the coefficients of h in bit-reversed order, for cuzk_gpu_scalars; b and c are clobbered.
 */
CUZK_CUDA_EXPORT cuzk_status cuzk_gpu_quotient(const cuzk_ntt_plan *plan, const void *tables,
                                               void *a, void *b, void *c, cuzk_gpu_stream stream,
                                               cuzk_error *err);

#ifdef __cplusplus
}
#endif
#endif
