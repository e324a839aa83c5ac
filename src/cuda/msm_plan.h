/* The shape of a multi-scalar multiplication on the GPU: windows, buckets, and where everything
 * lies in the scratch memory. Pure functions of sizes; no device is needed. */
#ifndef CUZK_CUDA_MSM_PLAN_H
#define CUZK_CUDA_MSM_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "cuda/tuning.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUZK_MSM_MAX_WINDOWS 64
/* A scalar or its negative is at most (r - 1) / 2 < 2^254; the windows of a signed-digit form then
 * cover 255 bits, the top one's digit being never negative. */
#define CUZK_MSM_SCALAR_BITS 255
#define CUZK_MSM_MAX_WINDOW_BITS 24
#define CUZK_MSM_REDUCE_THREADS 128 /* points that a block of the reduction combines */
/* More buckets than these are summed by lines first: see cuzk_msm_vectors. */
#define CUZK_MSM_DIRECT_BUCKETS 65536
#define CUZK_MSM_MAX_COPIES 8
#define CUZK_MSM_SORT_TILE 8192
#define CUZK_TREE_BLOCK 128
#ifndef CUZK_TREE_BATCH_MAX
#define CUZK_TREE_BATCH_MAX 128 /* additions of a thread between inversions, about */
#endif
#define CUZK_SUBSET_PARTS 2048

typedef enum cuzk_gpu_group { CUZK_GPU_G1 = 0, CUZK_GPU_G2 = 1 } cuzk_gpu_group;
#define CUZK_GPU_AFFINE_BYTES(group) ((group) == CUZK_GPU_G1 ? (size_t)96 : (size_t)192)

/* Windows of a scalar, passed to kernels by value. Window w has width bits[w] from bit at[w] on and
 * digits from -2^(bits - 1) to 2^(bits - 1).
 *
 * Windows s, s + sets, s + 2 sets, ... share the buckets of set s, bucket_base[s] + |digit| - 1:
 * window c sets + s takes its points from copy c, which holds them times 2^at[c sets], and widths
 * repeat, so that at[c sets + s] = at[c sets] + at[s]. The sum of a set then counts 2^at[s] times.
 * With one copy every window is a set of its own. The digits of a set's windows lie one behind the
 * other, in rows first_row[s] + c. */
typedef struct cuzk_msm_windows {
    uint32_t count, sets;
    uint32_t copies;    /* that are used: no more than there are */
    uint32_t low_bits;  /* sort: a bucket's low bits go last */
    uint32_t high_bins; /* 2^(widest - 1 - low_bits) */
    uint8_t bits[CUZK_MSM_MAX_WINDOWS];
    uint8_t at[CUZK_MSM_MAX_WINDOWS];
    uint8_t first_row[CUZK_MSM_MAX_WINDOWS + 1];
    uint32_t bucket_base[CUZK_MSM_MAX_WINDOWS + 1];
} cuzk_msm_windows;

/* What remains to be reduced: points base[v] .. base[v + 1] - 1 of vector v, the j-th of which
 * counts (j + 1) 2^at[v] times; the first vector is a longest one.
 *
 * Few buckets are such vectors themselves, one for each set. Else a set's buckets are a matrix of
 * 2^low_bits columns, bucket i in row i >> low_bits and column i % 2^low_bits. Bucket i counts i +
 * 1 = row 2^low_bits + (column + 1) times, so sums of lines will do: vector 2 s holds the sums of
 * the columns of set s, vector 2 s + 1 those of its rows but row 0, which counts no times, and
 * infinity at its end. */
typedef struct cuzk_msm_vectors {
    uint32_t count;
    uint16_t at[CUZK_MSM_MAX_WINDOWS];
    uint32_t base[CUZK_MSM_MAX_WINDOWS + 1];
} cuzk_msm_vectors;

/* Memory of the affine sum tree for at most `entries` points in `buckets` sums. Byte offsets are
 * from the start of the scratch. */
typedef struct cuzk_tree_plan {
    uint64_t entries, buckets;
    uint32_t levels;          /* enough for all entries in one bucket */
    uint32_t threads;         /* that the device holds at once */
    uint64_t outputs;         /* of the first level, at most */
    size_t points[2], prefix; /* level outputs in turn, running products */
    uint64_t item_plane;      /* words of a plane of items: an addition each */
    size_t items;             /* what each addition reads and writes */
    size_t offsets[2], pairs; /* buckets + 1 words each */
    size_t sums;              /* scan workspace */
} cuzk_tree_plan;

typedef struct cuzk_msm_plan {
    cuzk_gpu_group curve;
    uint64_t n;
    cuzk_msm_windows windows;
    uint64_t cost; /* in additions of a point to a bucket: what the windows were chosen by */
    /* Sets that are sorted and summed together; or one set in `parts`, each with some of its
     * windows and buckets of its own, which are joined afterwards. */
    uint32_t group_sets, parts;
    cuzk_msm_vectors vectors;
    uint32_t reduce_blocks; /* of a longest vector: at most CUZK_MSM_REDUCE_THREADS */
    /* Buckets, parts, lines of buckets (no entries: the vectors are the buckets themselves). */
    cuzk_tree_plan tree, join, lines;
    size_t digits, bins, bin_tiles, keys, payload, list, starts, buckets, line_points, block_points;
    size_t scratch_bytes;
    /* The result, for cuzk_msm_finish: an XYZZ point a vector, two where it has several blocks. */
    uint32_t result_points;
    size_t result_bytes;
} cuzk_msm_plan;

/* Plan n scalars on a device with `sms` multiprocessors within scratch_limit bytes (0: no limit).
 * copies: 1, or more when cuzk_gpu_multiples has made them; windows.copies of them are used.
 * CUZK_ERR_DEVICE_MEMORY with the bytes needed when even the leanest plan is larger;
 * CUZK_ERR_ARGUMENT when n is 0, copies is not 1 to CUZK_MSM_MAX_COPIES, or n * copies >= 2^31. */
cuzk_status cuzk_msm_plan_make(cuzk_msm_plan *plan, cuzk_gpu_group curve, uint64_t n,
                               unsigned copies, unsigned sms, const cuzk_gpu_tuning *tuning,
                               size_t scratch_limit, cuzk_error *err);

/* Doublings from a copy of the points to the next: 0 when there is only one. */
unsigned cuzk_msm_shift(const cuzk_msm_plan *plan);

/* Windows that are sorted and summed together: of the part-th part of sets first .. end. */
typedef struct cuzk_msm_group {
    uint32_t first_set, end_set, first_row, end_row;
} cuzk_msm_group;
/* The group whose first set is `first`; parts: those it really has. */
cuzk_msm_group cuzk_msm_group_of(const cuzk_msm_plan *plan, uint32_t first, uint32_t part,
                                 uint32_t *parts);

/* Sums of `entries` listed points in `buckets` lists of at most `longest`; returns the bytes of
 * scratch, offsets from 0. */
size_t cuzk_tree_plan_make(cuzk_tree_plan *plan, cuzk_gpu_group curve, uint64_t entries,
                           uint64_t buckets, uint64_t longest, unsigned sms,
                           const cuzk_gpu_tuning *tuning);

/* A subset sum over n points. */
typedef struct cuzk_subset_plan {
    cuzk_gpu_group curve;
    uint64_t n;
    bool pairs; /* behind the points lie the sums of neighbours: see cuzk_gpu_pairs */
    cuzk_tree_plan tree;
    size_t word_offsets, list, parts, part_points, sums;
    size_t scratch_bytes;
    size_t result_bytes; /* one XYZZ point */
} cuzk_subset_plan;
/* max_set: an upper bound of the bits set, n if unknown; of uniform bits pairs save a quarter of
 * the additions, and half of the scratch. */
cuzk_status cuzk_subset_plan_make(cuzk_subset_plan *plan, cuzk_gpu_group curve, uint64_t n,
                                  uint64_t max_set, bool pairs, unsigned sms,
                                  const cuzk_gpu_tuning *tuning, cuzk_error *err);

/* Words of workspace of an exclusive scan over n words. */
size_t cuzk_scan_words(uint64_t n);

#ifdef __cplusplus
}
#endif
#endif
