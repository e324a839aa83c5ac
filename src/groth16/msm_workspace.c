#include "groth16/msm_workspace.h"

#include "groth16/groth16_internal.h"

#include "msm/windows.h"

/* The sizes of src/msm/pippenger_impl.h, sums_impl.h and subset_impl.h; test_executor_plan.c
 * compares with what is allocated. */
#define BLOCK_TERMS 4096u
#define BLOCK_TOTALS 128u
#define BUCKET_COST 2u
#define MIN_TILE_TERMS (1u << 17)
#define TILE_TERMS_PER_BUCKET 4u
#define MIN_TASK_TERMS 8192u
#define SUMS_POINTS 4096u
#define SUMS_BYTES 128u /* for each of these points: references, places and scratch */
#define INDEX_BYTES 24u /* for each term of a block: base numbers by kind */
#define SUBSET_POINTS (4096u + 256u)
#define SUBSET_TASKS 9u /* for each worker */
#define SMALL_BYTES 16384u

/* One worker's batch of pairwise additions. */
static uint64_t sums_bytes(unsigned group_degree) {
    return SUMS_POINTS * (sizeof(g1_affine_t) * group_degree + SUMS_BYTES);
}

uint64_t msm_workspace_bytes(unsigned workers, uint64_t n, unsigned group_degree) {
    const uint64_t point = sizeof(g1_affine_t) * group_degree;
    msm_windows windows;
    msm_windows_init(&windows, msm_window_bits(n, BUCKET_COST));
    const uint64_t digits = windows.digits;
    const uint64_t tile =
        groth16_min(n, groth16_max(MIN_TILE_TERMS, digits * TILE_TERMS_PER_BUCKET));
    const uint64_t blocks = tile / BLOCK_TERMS + 1;
    const uint64_t task_windows =
        groth16_min(MIN_TASK_TERMS / groth16_max(tile, 1) + 1, windows.count);
    const uint64_t lines = (uint64_t)2 << (windows.bits / 2);
    const uint64_t a_worker = sums_bytes(group_degree) + BLOCK_TERMS * INDEX_BYTES + SMALL_BYTES +
                              task_windows * (tile * 4 + digits * 4 + lines * point);
    return tile * (point + sizeof(msm_recoded)) + blocks * BLOCK_TOTALS * point +
           windows.count * (digits + 2) * point + workers * a_worker + SMALL_BYTES;
}

uint64_t msm_subset_workspace_bytes(unsigned workers, unsigned group_degree) {
    const uint64_t point = sizeof(g1_affine_t) * group_degree;
    return workers * (sums_bytes(group_degree) + (SUBSET_POINTS + SUBSET_TASKS) * point +
                      SUBSET_POINTS * sizeof(size_t)) +
           SMALL_BYTES;
}
