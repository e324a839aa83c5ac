/* Template: many sums of affine points at once, by pairwise additions in rounds.
 *
 *   sums_open(s, &target);      the sum that the following points go to; target's value is in it
 *   sums_push(s, ref); ...
 *   sums_flush(s);              now every target holds its sum
 *
 * Points wait in a batch of fixed size. When it is full, each round adds neighbours of the same
 * sum pairwise, until one point a sum is left. One long sum and thousands of short ones cost the
 * same, an affine addition a point, whatever the distribution. A target may be opened again only
 * after a flush, and points must stay where they are until then. */

#define SUMS_CAPACITY 4096

typedef struct sums {
    ADD_PAIRS_FN add_pairs;
    size_t n_refs, n_groups;
    msm_ref refs[SUMS_CAPACITY];
    uint32_t starts[SUMS_CAPACITY + 1]; /* of a group in refs */
    affine *targets[SUMS_CAPACITY];
    msm_ref left[SUMS_CAPACITY / 2], right[SUMS_CAPACITY / 2];
    affine work[SUMS_CAPACITY];
    _Alignas(64) uint8_t scratch[MSM_DEGREE * MSM_PAIR_SCRATCH(SUMS_CAPACITY / 2)];
} sums;

static ADD_PAIRS_FN best_add_pairs(void) {
#if defined(__x86_64__)
    if (cuzk_cpu_has_avx512ifma()) return OF_GROUP(msm_add_pairs_ifma);
#endif
    return ADD_PAIRS_PLAIN;
}

static void sums_init(sums *s) {
    s->add_pairs = best_add_pairs();
    s->n_refs = s->n_groups = 0;
}

/* Pair up the points of every group: their sums take the places of the pairs, an odd last point
 * keeps its own. Groups of one point are done. Returns the number of pairs; pair i's sum will be
 * results[i]. */
static size_t sums_pair_up(sums *s, affine *results) {
    size_t pairs = 0, refs = 0, groups = 0;
    s->starts[s->n_groups] = (uint32_t)s->n_refs;
    for (size_t g = 0; g < s->n_groups; g++) {
        size_t at = s->starts[g];
        const size_t end = s->starts[g + 1];
        if (end - at <= 1) {
            if (at < end) *s->targets[g] = ref_load(s->refs[at]);
            continue;
        }
        s->targets[groups] = s->targets[g];
        s->starts[groups++] = (uint32_t)refs;
        for (; at + 1 < end; at += 2, pairs++) {
            s->left[pairs] = s->refs[at];
            s->right[pairs] = s->refs[at + 1];
            s->refs[refs++] = msm_ref_of(&results[pairs], 0);
        }
        if (at < end) s->refs[refs++] = s->refs[at];
    }
    s->n_refs = refs;
    s->n_groups = groups;
    return pairs;
}

static void sums_flush(sums *s) {
    affine *results = s->work;
    while (s->n_groups > 0) {
        const size_t pairs = sums_pair_up(s, results);
        if (pairs > 0) s->add_pairs(results, s->left, s->right, pairs, s->scratch);
        results += pairs;
    }
}

static inline void sums_open(sums *s, affine *target) {
    if (s->n_groups == SUMS_CAPACITY || s->n_refs + 2 > SUMS_CAPACITY) sums_flush(s);
    s->targets[s->n_groups] = target;
    s->starts[s->n_groups++] = (uint32_t)s->n_refs;
    if (!is_infinity(target)) s->refs[s->n_refs++] = msm_ref_of(target, 0);
}

static inline void sums_push(sums *s, msm_ref ref) {
    if (s->n_refs == SUMS_CAPACITY) {
        affine *target = s->targets[s->n_groups - 1];
        sums_flush(s);
        sums_open(s, target);
    }
    s->refs[s->n_refs++] = ref;
}

static inline void sums_push_point(sums *s, const affine *p) {
    if (!is_infinity(p)) sums_push(s, msm_ref_of(p, 0));
}

/* Spread points over several running sums, which share the inversions better than one. */
static void sums_spread(sums *s, affine *totals, size_t n_totals, const affine *points, size_t n) {
    for (size_t g = 0; g < n_totals && n > 0; g++) {
        sums_open(s, &totals[g]);
        for (size_t i = n * g / n_totals; i < n * (g + 1) / n_totals; i++)
            sums_push_point(s, &points[i]);
    }
    sums_flush(s);
}

/* z = sum of n points. */
static void sums_total(sums *s, affine *z, const affine *points, size_t n) {
    memset(z, 0, sizeof *z);
    sums_spread(s, z, 1, points, n);
}
