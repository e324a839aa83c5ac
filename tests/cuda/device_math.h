/* The device arithmetic of src/cuda compiled for the host, behind plain C functions. Values are the
 * fp_t, fr_t and fp2_t of the CPU layers. */
#ifndef CUZK_TESTS_DEVICE_MATH_H
#define CUZK_TESTS_DEVICE_MATH_H

#include "cuda/msm_plan.h"
#include "cuda/ntt_plan.h"
#include "curve/curve.h"

#ifdef __cplusplus
extern "C" {
#endif
void device_fp_mul(fp_t *z, const fp_t *a, const fp_t *b);
void device_fp_sqr(fp_t *z, const fp_t *a);
void device_fp_add(fp_t *z, const fp_t *a, const fp_t *b);
void device_fp_sub(fp_t *z, const fp_t *a, const fp_t *b);
void device_fp_inverse(fp_t *z, const fp_t *a);
/* a b + c d and a b - c d with one reduction */
void device_fp_sum_of_products(fp_t *z, const fp_t *a, const fp_t *b, const fp_t *c, const fp_t *d);
void device_fp_difference_of_products(fp_t *z, const fp_t *a, const fp_t *b, const fp_t *c,
                                      const fp_t *d);
/* The raw result for raw inputs < 2p: for range checks. */
void device_fp_mul_raw(fp_t *z, const fp_t *a, const fp_t *b);
void device_fr_mul(fr_t *z, const fr_t *a, const fr_t *b);
void device_fr_add(fr_t *z, const fr_t *a, const fr_t *b);
void device_fr_sub(fr_t *z, const fr_t *a, const fr_t *b);
void device_fp2_mul(fp2_t *z, const fp2_t *a, const fp2_t *b);
void device_fp2_sqr(fp2_t *z, const fp2_t *a);
void device_fp2_inverse(fp2_t *z, const fp2_t *a);
void device_g1_add(g1_t *z, const g1_t *p, const g1_t *q);
void device_g1_add_affine(g1_t *z, const g1_t *p, const g1_affine_t *q);
void device_g2_add(g2_t *z, const g2_t *p, const g2_t *q);
void device_g2_add_affine(g2_t *z, const g2_t *p, const g2_affine_t *q);
bool device_decode_g1(g1_affine_t *z, const uint8_t in[G1_UNCOMPRESSED_BYTES]);

/* 2^times p, by the kernel's doublings and an inversion for this point alone. */
void device_multiple_g1(g1_affine_t *z, const g1_affine_t *p, unsigned times);
void device_multiple_g2(g2_affine_t *z, const g2_affine_t *p, unsigned times);

/* digits[row * stride]: as the kernel writes them (bit 31: negative). */
void device_scalar_digits(uint32_t *digits, const cuzk_msm_windows *windows, const fr_t *k,
                          uint64_t stride);

/* The lists of all lines of buckets, and where each begins; returns the entries. */
uint64_t device_line_lists(uint32_t *list, uint32_t *starts, const cuzk_msm_windows *windows,
                           const cuzk_msm_vectors *vectors);

/* The list of a subset sum over n bits, with or without sums of neighbours; returns its length. */
uint32_t device_subset_list(uint32_t *list, const uint32_t *words, uint32_t n, bool pairs);

/* The whole affine sum tree with `threads` emulated threads: sums[b] of list entries in_at[b] ..
 * in_at[b + 1]. entries in all: in_at[buckets]. Memory comes from malloc. */
void device_tree_g1(g1_affine_t *sums, const g1_affine_t *points, const uint32_t *list,
                    const uint32_t *in_at, uint32_t buckets, uint32_t threads);
void device_tree_g2(g2_affine_t *sums, const g2_affine_t *points, const uint32_t *list,
                    const uint32_t *in_at, uint32_t buckets, uint32_t threads);

/* x times the factor w (Montgomery, canonical) by its precomputed quotient: the raw result < 2r for
 * x < 2r. */
void device_ntt_factor_mul(fr_t *z, const fr_t *x, const fr_t *w);
/* x times the root of order 4, likewise */
void device_ntt_times_fourth(fr_t *z, const fr_t *x);
/* A transform's passes, block by block and thread by thread; tables from constants made here.
 * scale: a cuzk_ntt_scale or -1. factor and minus may be NULL. */
void device_ntt(const cuzk_ntt_plan *plan, bool reversed, unsigned direction, bool coset, int scale,
                const fr_t *in, const fr_t *factor, const fr_t *minus, fr_t *out);
#ifdef __cplusplus
}
#endif
#endif
