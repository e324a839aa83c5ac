/* What differs between GPU architectures, as data. One row per compute capability; a newer one
 * takes the last row that is not newer than itself. */
#ifndef CUZK_CUDA_TUNING_H
#define CUZK_CUDA_TUNING_H

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cuzk_gpu_tuning {
    int arch; /* 10 * major + minor */
    /* Blocks of 128 threads a multiprocessor for the affine sum tree. */
    unsigned tree_blocks_g1, tree_blocks_g2;
    /* Widest window of an MSM: 2^((bits + 1) / 2) bins must fit the sort's shared memory. */
    unsigned max_window_bits;
    /* Cost of reducing one bucket, in additions of a point to a bucket: sets the window width. */
    unsigned bucket_cost_g1, bucket_cost_g2;
} cuzk_gpu_tuning;

const cuzk_gpu_tuning *cuzk_gpu_tuning_for(int arch);

#ifdef __cplusplus
}
#endif
#endif
