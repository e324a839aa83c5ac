#include "cuda/msm_plan.h"

#include <string.h>

#define SCAN_TILE 4096
#define ALIGNMENT 256

size_t cuzk_scan_words(uint64_t n) {
    return (size_t)(2 * ((n + SCAN_TILE - 1) / SCAN_TILE + 1)); /* of pairs */
}

/* Reserve bytes at the end of the layout. */
static size_t reserve(size_t *total, uint64_t bytes) {
    const size_t at = *total;
    *total += (size_t)((bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
    return at;
}

static unsigned log2_ceil(uint64_t n) {
    unsigned k = 0;
    while (((uint64_t)1 << k) < n)
        k++;
    return k;
}

static uint64_t min_u64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void tree_layout(cuzk_tree_plan *t, cuzk_gpu_group curve, uint64_t entries, uint64_t buckets,
                        uint64_t longest, unsigned sms, const cuzk_gpu_tuning *tuning,
                        size_t *total) {
    const size_t affine = CUZK_GPU_AFFINE_BYTES(curve);
    t->entries = entries;
    t->buckets = buckets;
    t->levels = longest > 1 ? log2_ceil(longest) : 1; /* each halves a bucket, rounding up */
    t->threads = CUZK_TREE_BLOCK * sms *
                 (curve == CUZK_GPU_G1 ? tuning->tree_blocks_g1 : tuning->tree_blocks_g2);
    t->outputs = (entries + min_u64(entries, buckets)) / 2 + 1;
    t->points[0] = reserve(total, t->outputs * affine);
    /* of h >= 2 points at least a third go: ceil(h / 2) <= 2 h / 3 */
    t->points[1] = reserve(total, (t->outputs * 2 / 3 + 1) * affine);
    /* additions, rounded up to whole blocks */
    t->prefix =
        reserve(total, (entries / 2 + CUZK_TREE_BLOCK * (CUZK_TREE_BATCH_MAX + 8)) * (affine / 2));
    t->pairs = reserve(total, (buckets + 1) * sizeof(uint32_t));
    for (int i = 0; i < 2; i++)
        t->offsets[i] = reserve(total, (buckets + 1) * sizeof(uint32_t));
    t->sums = reserve(total, cuzk_scan_words(buckets + 1) * sizeof(uint32_t));
}

size_t cuzk_tree_plan_make(cuzk_tree_plan *plan, cuzk_gpu_group curve, uint64_t entries,
                           uint64_t buckets, uint64_t longest, unsigned sms,
                           const cuzk_gpu_tuning *tuning) {
    size_t total = 0;
    tree_layout(plan, curve, entries, buckets, longest, sms, tuning, &total);
    return total;
}

static void make_windows(cuzk_msm_windows *w, unsigned count) {
    memset(w, 0, sizeof *w);
    w->count = count;
    unsigned at = 0;
    for (unsigned i = 0; i < count; i++) {
        const unsigned bits = CUZK_MSM_SCALAR_BITS / count + (i < CUZK_MSM_SCALAR_BITS % count);
        w->bits[i] = (uint8_t)bits;
        w->at[i] = (uint8_t)at;
        w->bucket_base[i + 1] = w->bucket_base[i] + ((uint32_t)1 << (bits - 1));
        at += bits;
    }
    const unsigned bucket_bits = w->bits[0] - 1u;
    w->low_bits = (bucket_bits + 1) / 2;
    w->high_bins = (uint32_t)1 << (bucket_bits - w->low_bits);
}

/* The number of windows with the least cost: one addition per point and window, and the buckets. */
static unsigned best_window_count(uint64_t n, unsigned max_bits, unsigned bucket_cost) {
    unsigned best = 0;
    uint64_t best_cost = UINT64_MAX;
    for (unsigned count = 11; count <= CUZK_MSM_SCALAR_BITS / 4; count++) {
        cuzk_msm_windows w;
        make_windows(&w, count);
        if (w.bits[0] > max_bits) continue;
        const uint64_t cost = n * count + (uint64_t)bucket_cost * w.bucket_base[count];
        if (cost < best_cost) {
            best_cost = cost;
            best = count;
        }
    }
    return best;
}

static void msm_layout(cuzk_msm_plan *p, uint32_t group, unsigned sms,
                       const cuzk_gpu_tuning *tuning) {
    const cuzk_msm_windows *w = &p->windows;
    const size_t affine = CUZK_GPU_AFFINE_BYTES(p->curve), xyzz = 2 * affine;
    const uint64_t in_group = group * p->n;
    uint32_t group_buckets = 0;
    for (uint32_t first = 0; first < w->count; first += group) {
        const uint32_t end = first + group < w->count ? first + group : w->count;
        const uint32_t here = w->bucket_base[end] - w->bucket_base[first];
        if (here > group_buckets) group_buckets = here;
    }
    p->group = group;
    size_t total = 0;
    p->digits = reserve(&total, w->count * p->n * sizeof(uint32_t));
    p->bins = reserve(&total, (uint64_t)2 * group * w->high_bins * sizeof(uint32_t));
    p->bin_tiles = reserve(&total, ((uint64_t)group * w->high_bins + 1) * sizeof(uint32_t));
    p->keys = reserve(&total, in_group * sizeof(uint16_t));
    p->payload = reserve(&total, in_group * sizeof(uint32_t));
    p->list = reserve(&total, in_group * sizeof(uint32_t));
    p->starts = reserve(&total, ((uint64_t)group_buckets + 1) * sizeof(uint32_t));
    p->buckets = reserve(&total, w->bucket_base[w->count] * (uint64_t)affine);
    p->segment_points = reserve(&total, (uint64_t)2 * w->count * p->segments * xyzz);
    p->block_points = reserve(&total, (uint64_t)3 * w->count * p->reduce_blocks * xyzz);
    tree_layout(&p->tree, p->curve, in_group, group_buckets, p->n, sms, tuning, &total);
    p->scratch_bytes = total;
}

cuzk_status cuzk_msm_plan_make(cuzk_msm_plan *p, cuzk_gpu_group curve, uint64_t n, unsigned sms,
                               const cuzk_gpu_tuning *tuning, size_t scratch_limit,
                               cuzk_error *err) {
    if (n == 0 || n >= (uint64_t)1 << 31)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "MSM of %llu points: 1 to 2^31 - 1 are possible",
                         (unsigned long long)n);
    memset(p, 0, sizeof *p);
    p->curve = curve;
    p->n = n;
    make_windows(&p->windows, best_window_count(n, tuning->max_window_bits,
                                                curve == CUZK_GPU_G1 ? tuning->bucket_cost_g1
                                                                     : tuning->bucket_cost_g2));
    const uint32_t widest = (uint32_t)1 << (p->windows.bits[0] - 1);
    /* First reduction step: threads for the whole device, and at most 128 * 128 segments a window.
     */
    const uint64_t threads = (uint64_t)sms * 512;
    while ((p->windows.bucket_base[p->windows.count] >> p->segment_log2) > threads ||
           (widest >> p->segment_log2) > CUZK_MSM_REDUCE_THREADS * CUZK_MSM_REDUCE_THREADS)
        p->segment_log2++;
    while (p->segment_log2 > p->windows.bits[p->windows.count - 1] - 1u)
        p->segment_log2--;
    p->segments = widest >> p->segment_log2;
    p->reduce_blocks = (p->segments + CUZK_MSM_REDUCE_THREADS - 1) / CUZK_MSM_REDUCE_THREADS;
    p->result_points = 3 * p->windows.count;
    p->result_bytes = p->result_points * 2 * CUZK_GPU_AFFINE_BYTES(curve);
    /* All windows at once keep the device busiest; 2^27 entries are enough, and offsets are 32
     * bits. */
    uint32_t group = p->windows.count;
    while (group > 1 && (group * n > (uint64_t)1 << 27 ||
                         (msm_layout(p, group, sms, tuning),
                          scratch_limit != 0 && p->scratch_bytes > scratch_limit)))
        group--;
    msm_layout(p, group, sms, tuning);
    if (scratch_limit != 0 && p->scratch_bytes > scratch_limit)
        return cuzk_fail(err, CUZK_ERR_DEVICE_MEMORY,
                         "MSM of %llu points needs %llu bytes of scratch, %llu are available",
                         (unsigned long long)n, (unsigned long long)p->scratch_bytes,
                         (unsigned long long)scratch_limit);
    return CUZK_OK;
}

cuzk_status cuzk_subset_plan_make(cuzk_subset_plan *p, cuzk_gpu_group curve, uint64_t n,
                                  uint64_t max_set, unsigned sms, const cuzk_gpu_tuning *tuning,
                                  cuzk_error *err) {
    if (n == 0 || n >= (uint64_t)1 << 31 || max_set > n)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                         "subset sum of %llu of %llu points: 1 to 2^31 - 1 are possible",
                         (unsigned long long)max_set, (unsigned long long)n);
    memset(p, 0, sizeof *p);
    p->curve = curve;
    p->n = n;
    const uint64_t words = (n + 31) / 32;
    const size_t affine = CUZK_GPU_AFFINE_BYTES(curve);
    size_t total = 0;
    p->word_offsets = reserve(&total, (words + 1) * sizeof(uint32_t));
    p->sums = reserve(&total, cuzk_scan_words(words + 1) * sizeof(uint32_t));
    p->list = reserve(&total, (max_set + 1) * sizeof(uint32_t));
    p->parts = reserve(&total, (CUZK_SUBSET_PARTS + 1) * sizeof(uint32_t));
    p->part_points = reserve(&total, CUZK_SUBSET_PARTS * affine);
    const uint64_t longest = (max_set + CUZK_SUBSET_PARTS - 1) / CUZK_SUBSET_PARTS;
    tree_layout(&p->tree, curve, max_set, CUZK_SUBSET_PARTS, longest, sms, tuning, &total);
    p->scratch_bytes = total;
    p->result_bytes = 2 * affine;
    return CUZK_OK;
}
