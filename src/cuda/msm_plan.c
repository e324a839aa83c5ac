#include "cuda/msm_plan.h"

#include <stdbool.h>
#include <string.h>

#define SCAN_TILE 4096
#define ALIGNMENT 256
/* Entries of a group: enough to keep a device busy. Offsets of the sort are 32 bits. */
#define GROUP_ENTRIES ((uint64_t)1 << 27)

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

static uint64_t max_u64(uint64_t a, uint64_t b) {
    return a > b ? a : b;
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
    t->item_plane = (entries / 2 + 3) / 4 * 4;
    t->items = reserve(total, 3 * t->item_plane * sizeof(uint32_t));
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

/* Windows of as equal width as the sets allow; false when the top one would be of no use. */
static bool make_windows(cuzk_msm_windows *w, unsigned count, unsigned copies) {
    memset(w, 0, sizeof *w);
    w->count = count;
    w->sets = (count + copies - 1) / copies;
    w->copies = (count + w->sets - 1) / w->sets;
    /* Sets 0 .. full have a window for each copy, the others one less. A wider set adds a bit for
     * each of its windows: as few of them as cover the scalar. */
    const unsigned full = count - (w->copies - 1) * w->sets;
    unsigned bits = 0, wide = 0;
    for (unsigned left = CUZK_MSM_SCALAR_BITS % count; left > 0; wide++) {
        const unsigned windows = wide < full ? w->copies : w->copies - 1;
        left -= windows < left ? windows : left;
    }
    for (unsigned i = 0; i < count; i++) {
        w->bits[i] = (uint8_t)(CUZK_MSM_SCALAR_BITS / count + (i % w->sets < wide));
        w->at[i] = (uint8_t)bits;
        if (bits >= CUZK_MSM_SCALAR_BITS) return false;
        bits += w->bits[i];
    }
    for (unsigned s = 0; s < w->sets; s++) {
        w->first_row[s + 1] = (uint8_t)(w->first_row[s] + w->copies - (s < full ? 0 : 1));
        w->bucket_base[s + 1] = w->bucket_base[s] + ((uint32_t)1 << (w->bits[s] - 1));
    }
    const unsigned bucket_bits = w->bits[0] - 1u;
    w->low_bits = (bucket_bits + 1) / 2;
    w->high_bins = (uint32_t)1 << (bucket_bits - w->low_bits);
    return true;
}

/* The windows of the least cost: one addition per point and window, and the buckets of each set. */
static void best_windows(cuzk_msm_plan *p, unsigned copies, unsigned max_bits,
                         unsigned bucket_cost) {
    p->cost = UINT64_MAX;
    for (unsigned count = 11; count <= CUZK_MSM_SCALAR_BITS / 4; count++) {
        cuzk_msm_windows w;
        if (!make_windows(&w, count, copies) || w.bits[0] > max_bits) continue;
        const uint64_t cost = p->n * count + (uint64_t)bucket_cost * w.bucket_base[w.sets];
        if (cost >= p->cost) continue;
        p->cost = cost;
        p->windows = w;
    }
}

unsigned cuzk_msm_shift(const cuzk_msm_plan *p) {
    return p->windows.copies > 1 ? p->windows.at[p->windows.sets] : 0;
}

cuzk_msm_group cuzk_msm_group_of(const cuzk_msm_plan *p, uint32_t first, uint32_t part,
                                 uint32_t *parts) {
    const cuzk_msm_windows *w = &p->windows;
    const uint32_t end = (uint32_t)min_u64(first + p->group_sets, w->sets),
                   row = w->first_row[first], rows = w->first_row[end] - row;
    *parts = (uint32_t)min_u64(p->parts, rows);
    return (cuzk_msm_group){first, end, row + rows * part / *parts,
                            row + rows * (part + 1) / *parts};
}

/* Sums of lines take two additions of the tree a bucket, but as many of its levels as a line has
 * bits, some 50 us each. XYZZ additions need no level and about nine a bucket; they are bound by
 * latency until CUZK_MSM_DIRECT_BUCKETS fill the device. Either way two steps of
 * CUZK_MSM_REDUCE_THREADS points reduce a vector: lines of the widest window are 2^12. */
static bool sums_lines(const cuzk_msm_windows *w) {
    return w->bucket_base[w->sets] > CUZK_MSM_DIRECT_BUCKETS ||
           w->bucket_base[1] > CUZK_MSM_REDUCE_THREADS * CUZK_MSM_REDUCE_THREADS;
}

/* Of all sets: each bucket in the list of its column and, but for row 0, in that of its row. */
static uint64_t line_entries(const cuzk_msm_windows *w) {
    return sums_lines(w)
               ? 2 * (uint64_t)w->bucket_base[w->sets] - ((uint64_t)w->sets << w->low_bits)
               : 0;
}

static void add_vector(cuzk_msm_vectors *v, unsigned at, uint32_t points) {
    v->at[v->count] = (uint16_t)at;
    v->base[v->count + 1] = v->base[v->count] + points;
    v->count++;
}

static void plan_reduction(cuzk_msm_plan *p) {
    const cuzk_msm_windows *w = &p->windows;
    cuzk_msm_vectors *const v = &p->vectors;
    const bool lines = sums_lines(w);
    for (unsigned s = 0; s < w->sets; s++) {
        const uint32_t buckets = w->bucket_base[s + 1] - w->bucket_base[s];
        add_vector(v, w->at[s], lines ? (uint32_t)1 << w->low_bits : buckets);
        if (lines) add_vector(v, w->at[s] + w->low_bits, buckets >> w->low_bits);
    }
    p->reduce_blocks = (v->base[1] + CUZK_MSM_REDUCE_THREADS - 1) / CUZK_MSM_REDUCE_THREADS;
    p->result_points = (p->reduce_blocks > 1 ? 2 : 1) * v->count;
    p->result_bytes = p->result_points * 2 * CUZK_GPU_AFFINE_BYTES(p->curve);
}

/* Returns the entries of the largest group. */
static uint64_t msm_layout(cuzk_msm_plan *p, unsigned sms, const cuzk_gpu_tuning *tuning) {
    const cuzk_msm_windows *w = &p->windows;
    const size_t affine = CUZK_GPU_AFFINE_BYTES(p->curve), xyzz = 2 * affine;
    /* the first sets have the most windows and the most buckets */
    const uint64_t windows_of_set = (w->copies + p->parts - 1) / p->parts,
                   rows = p->parts > 1 ? windows_of_set : w->first_row[p->group_sets],
                   in_group = rows * p->n, group_buckets = w->bucket_base[p->group_sets],
                   joined = p->parts > 1 ? p->parts * group_buckets : 0, in_lines = line_entries(w),
                   lines = in_lines != 0 ? p->vectors.base[p->vectors.count] : 0,
                   listed = max_u64(in_group, max_u64(joined, in_lines)),
                   lists = max_u64(group_buckets, lines),
                   bins = (uint64_t)p->group_sets * w->high_bins;
    size_t total = 0;
    p->digits = reserve(&total, w->count * p->n * sizeof(uint32_t));
    p->bins = reserve(&total, 2 * bins * sizeof(uint32_t));
    p->bin_tiles = reserve(&total, (bins + 1) * sizeof(uint32_t));
    p->keys = reserve(&total, in_group * sizeof(uint16_t));
    p->payload = reserve(&total, in_group * sizeof(uint32_t));
    p->list = reserve(&total, listed * sizeof(uint32_t));
    p->starts = reserve(&total, (lists + 1) * sizeof(uint32_t));
    /* all sets, then the other parts of the one at hand */
    p->buckets =
        reserve(&total, (w->bucket_base[w->sets] + (p->parts - 1) * group_buckets) * affine);
    p->line_points = reserve(&total, lines * affine);
    p->block_points = reserve(&total, p->reduce_blocks > 1
                                          ? (uint64_t)2 * p->vectors.count * p->reduce_blocks * xyzz
                                          : 0);
    tree_layout(&p->tree, p->curve, listed, lists, windows_of_set * p->n, sms, tuning, &total);
    p->lines = p->join = p->tree;
    p->lines.entries = in_lines;
    p->lines.levels = w->low_bits; /* no less than log2 of the rows */
    p->join.entries = joined;
    p->join.levels = log2_ceil(p->parts);
    p->scratch_bytes = total;
    return in_group;
}

cuzk_status cuzk_msm_plan_make(cuzk_msm_plan *p, cuzk_gpu_group curve, uint64_t n, unsigned copies,
                               unsigned sms, const cuzk_gpu_tuning *tuning, size_t scratch_limit,
                               cuzk_error *err) {
    const uint64_t most = ((uint64_t)1 << 31) - 1;
    if (copies == 0 || copies > CUZK_MSM_MAX_COPIES || n == 0 || n > most / copies)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                         "MSM of %llu points in %u copies: 1 to 2^31 - 1 and 1 to %d are possible",
                         (unsigned long long)n, copies, CUZK_MSM_MAX_COPIES);
    memset(p, 0, sizeof *p);
    p->curve = curve;
    p->n = n;
    best_windows(p, copies, tuning->max_window_bits,
                 curve == CUZK_GPU_G1 ? tuning->bucket_cost_g1 : tuning->bucket_cost_g2);
    plan_reduction(p);
    /* All windows at once keep the device busiest. */
    p->group_sets = p->windows.sets;
    p->parts = 1;
    for (;;) {
        const uint64_t entries = msm_layout(p, sms, tuning);
        const bool fits = scratch_limit == 0 || p->scratch_bytes <= scratch_limit;
        if (fits && entries <= GROUP_ENTRIES) return CUZK_OK;
        if (p->group_sets > 1) {
            p->group_sets--;
        } else if (p->parts < p->windows.copies) {
            p->parts++;
        } else if (fits) {
            return CUZK_OK;
        } else {
            return cuzk_fail(err, CUZK_ERR_DEVICE_MEMORY,
                             "MSM of %llu points needs %llu bytes of scratch, %llu are available",
                             (unsigned long long)n, (unsigned long long)p->scratch_bytes,
                             (unsigned long long)scratch_limit);
        }
    }
}

cuzk_status cuzk_subset_plan_make(cuzk_subset_plan *p, cuzk_gpu_group curve, uint64_t n,
                                  uint64_t max_set, bool pairs, unsigned sms,
                                  const cuzk_gpu_tuning *tuning, cuzk_error *err) {
    const uint64_t listed = pairs ? min_u64(max_set, (n + 1) / 2) : max_set;
    if (n == 0 || n + (pairs ? (n + 1) / 2 : 0) >= (uint64_t)1 << 31 || max_set > n)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                         "subset sum of %llu of %llu points: 1 to 2^31 - 1 are possible",
                         (unsigned long long)max_set, (unsigned long long)n);
    memset(p, 0, sizeof *p);
    p->curve = curve;
    p->n = n;
    p->pairs = pairs;
    const uint64_t words = (n + 31) / 32;
    const size_t affine = CUZK_GPU_AFFINE_BYTES(curve);
    size_t total = 0;
    p->word_offsets = reserve(&total, (words + 1) * sizeof(uint32_t));
    p->sums = reserve(&total, cuzk_scan_words(words + 1) * sizeof(uint32_t));
    p->list = reserve(&total, (listed + 1) * sizeof(uint32_t));
    p->parts = reserve(&total, (CUZK_SUBSET_PARTS + 1) * sizeof(uint32_t));
    p->part_points = reserve(&total, CUZK_SUBSET_PARTS * affine);
    const uint64_t longest = (listed + CUZK_SUBSET_PARTS - 1) / CUZK_SUBSET_PARTS;
    tree_layout(&p->tree, curve, listed, CUZK_SUBSET_PARTS, longest, sms, tuning, &total);
    p->scratch_bytes = total;
    p->result_bytes = 2 * affine;
    return CUZK_OK;
}
