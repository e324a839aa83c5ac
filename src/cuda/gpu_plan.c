#include "cuda/gpu_plan.h"

#include <string.h>

#define ALIGNMENT 256u
/* Steps: as large as the scratch allows when everything is resident; when points are streamed,
 * large enough for efficient sums and small enough that two buffers do not matter. */
#define RESIDENT_STEP_LOG2_MAX 31
#define RESIDENT_STEP_LOG2_MIN 20
#define STREAM_STEP_LOG2_MAX 23
#define STREAM_STEP_LOG2_MIN 16
#define LEAST_STEP ((uint64_t)1 << 20)

const char *gpu_query_name(gpu_query q) {
    static const char *const names[] = {"h", "l", "a", "b_g1", "b_g2"};
    return names[q];
}

gpu_density gpu_query_density(gpu_query q) {
    return q == GPU_QUERY_L ? GPU_DENSITY_L : q == GPU_QUERY_A ? GPU_DENSITY_A : GPU_DENSITY_B;
}

static uint64_t min_u64(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}
static uint64_t max_u64(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* ---- the circuit ---- */

static uint64_t dense_fields(const r1cs *c, const uint64_t *map) {
    uint64_t n = 0;
    for (uint64_t w = 0; w < (c->aux + 63) / 64; w++)
        n += (uint64_t)__builtin_popcountll(c->field_map[w] & map[w]);
    return n;
}

void gpu_shape_of(gpu_shape *shape, const r1cs *c, const cuzk_eval_image *image) {
    *shape = (gpu_shape){.log2_domain = c->log2_domain,
                         .inputs = c->inputs,
                         .aux = c->aux,
                         .fields = c->fields,
                         .image_bytes = image->bytes};
    memcpy(shape->name, c->name, sizeof shape->name);
    shape->density[GPU_DENSITY_L] = (gpu_density_shape){0, c->aux, c->fields};
    shape->density[GPU_DENSITY_A] =
        (gpu_density_shape){c->inputs, c->a_aux, c->inputs + dense_fields(c, c->a_aux_map)};
    shape->density[GPU_DENSITY_B] =
        (gpu_density_shape){c->b_inputs, c->b_aux, c->b_inputs + dense_fields(c, c->b_aux_map)};
}

/* ---- layout ---- */

static gpu_region reserve(uint64_t *total, uint64_t bytes) {
    const gpu_region r = {*total, bytes};
    *total += (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    return r;
}

static uint64_t bitmap_bytes(uint64_t bits) {
    return (bits + 63) / 64 * sizeof(uint64_t);
}

static void lay_out_fixed(gpu_plan *p, const gpu_shape *s, uint64_t *total) {
    p->image = reserve(total, s->image_bytes);
    p->ntt_tables = reserve(total, p->ntt.table_bytes);
    p->bad = reserve(total, GPU_QUERIES * sizeof(uint64_t));
    for (int d = 0; d < GPU_DENSITIES; d++) {
        const uint64_t map = d == GPU_DENSITY_L ? 0 : bitmap_bytes(s->aux);
        p->maps[d] = reserve(total, map);
        p->ranks[d] = reserve(total, map); /* 32 bits for 32 bits */
        p->index[d] = reserve(total, s->density[d].scalars * sizeof(uint32_t));
        p->from[d] = reserve(total, s->density[d].scalars * sizeof(uint32_t));
    }
    for (int i = 0; i < CUZK_GPU_SLOTS; i++) {
        p->bits[i] = reserve(total, bitmap_bytes(s->aux));
        p->values[i] = reserve(total, (s->inputs + s->fields) * sizeof(fr_t));
        p->results[i] = reserve(total, CUZK_GPU_RESULT_BYTES);
    }
}

static uint64_t point_bytes(const gpu_plan *p, gpu_query i) {
    const gpu_query_plan *q = &p->query[i];
    /* h is summed over a whole domain: the last point of each copy is never read */
    const uint64_t points = i == GPU_QUERY_H && q->copies > 1 ? q->copies * (q->scalars + 1)
                                                              : q->inputs + q->aux,
                   pairs = q->pairs ? (q->aux + 1) / 2 : 0;
    return (points + pairs) * CUZK_GPU_AFFINE_BYTES(q->curve);
}

static uint64_t field_bytes(const gpu_plan *p, gpu_query i) {
    const gpu_query_plan *q = &p->query[i];
    if (i == GPU_QUERY_H || q->copies == 1) return 0;
    return q->copies * q->scalars * CUZK_GPU_AFFINE_BYTES(q->curve);
}

static uint64_t all_point_bytes(const gpu_plan *p) {
    uint64_t bytes = 0;
    for (gpu_query q = 0; q < GPU_QUERIES; q++)
        bytes += point_bytes(p, q) + field_bytes(p, q);
    return bytes;
}

static void query_shapes(gpu_plan *p, const gpu_shape *s, const unsigned copies[GPU_QUERIES],
                         bool pairs) {
    const uint64_t h = ((uint64_t)1 << s->log2_domain) - 1;
    p->query[GPU_QUERY_H] = (gpu_query_plan){
        .curve = CUZK_GPU_G1, .aux = h, .scalars = h, .copies = copies[GPU_QUERY_H]};
    for (gpu_query q = GPU_QUERY_L; q < GPU_QUERIES; q++) {
        const gpu_density_shape *d = &s->density[gpu_query_density(q)];
        p->query[q] = (gpu_query_plan){.curve = q == GPU_QUERY_B_G2 ? CUZK_GPU_G2 : CUZK_GPU_G1,
                                       .inputs = d->inputs,
                                       .aux = d->aux,
                                       .scalars = d->scalars,
                                       .copies = copies[q],
                                       .pairs = pairs};
    }
}

/* ---- steps ---- */

/* At most `points` bases of G1 in a step, and half as many of G2, so that tiles have one size. */
static bool query_steps(gpu_query_plan *q, uint64_t points) {
    const uint64_t bases = q->curve == CUZK_GPU_G1 ? points : points / 2;
    if (q->inputs + q->aux <= bases) {
        q->tile = q->aux;
        q->tiles = 1;
        return true;
    }
    if (bases < q->inputs + 64) return false;
    q->tile = (bases - q->inputs) & ~(uint64_t)63;
    q->tiles = (q->aux + q->tile - 1) / q->tile;
    return true;
}

gpu_step gpu_step_of(const gpu_query_plan *q, uint64_t step) {
    const uint64_t first = step * q->tile, aux = min_u64(q->tile, q->aux - first);
    return step == 0 ? (gpu_step){0, q->inputs + aux, 0, aux}
                     : (gpu_step){q->inputs + first, aux, first, aux};
}

gpu_selection gpu_selection_at(const gpu_plan *p, gpu_query q, unsigned slot) {
    gpu_selection s;
    uint64_t total = p->sums.at;
    for (unsigned i = 0;; i++) {
        s.bits = reserve(&total, bitmap_bytes(p->query[q].aux)).at;
        s.scalars = reserve(&total, p->query[q].scalars * sizeof(fr_t)).at;
        if (i == (p->selections > 1 ? slot : 0)) return s;
    }
}

uint64_t gpu_scratch_at(const gpu_plan *p, gpu_query q) {
    if (q == GPU_QUERY_H) return p->work.at + ((uint64_t)sizeof(fr_t) << p->ntt.log2_n);
    uint64_t total = gpu_selection_at(p, q, p->selections - 1).scalars;
    (void)reserve(&total, p->query[q].scalars * sizeof(fr_t));
    return total;
}

uint64_t gpu_scratch_bytes(const gpu_plan *p, gpu_query q) {
    const gpu_region *r = q == GPU_QUERY_H ? &p->work : &p->sums;
    const uint64_t at = gpu_scratch_at(p, q), end = r->at + r->bytes;
    return at < end ? end - at : 0;
}

/* Scratch and result bytes of a query's largest step, within limit bytes of scratch (0: none). */
static cuzk_status step_bytes(const gpu_query_plan *q, bool h_reversed, uint64_t limit,
                              const gpu_limits *limits, uint64_t *scratch, uint64_t *result,
                              cuzk_error *err) {
    cuzk_msm_plan msm = {0};
    cuzk_subset_plan subset = {0};
    const bool is_h = q->scalars == q->aux && q->inputs == 0;
    const uint64_t scalars =
        h_reversed && is_h ? q->scalars + 1
                           : min_u64(q->scalars, q->tile + (q->tiles > 1 ? q->inputs : q->scalars));
    if (scalars != 0)
        CUZK_TRY(cuzk_msm_plan_make(&msm, q->curve, scalars, q->copies, limits->sms, limits->tuning,
                                    (size_t)limit, err));
    if (!is_h && q->tile != 0)
        CUZK_TRY(cuzk_subset_plan_make(&subset, q->curve, q->tile, q->tile, q->pairs, limits->sms,
                                       limits->tuning, err));
    *scratch = max_u64(msm.scratch_bytes, subset.scratch_bytes);
    /* the widest windows are those of the fewest scalars: 64 of them at most */
    *result =
        q->tiles * ((uint64_t)3 * CUZK_MSM_MAX_WINDOWS + 1) * 2 * CUZK_GPU_AFFINE_BYTES(q->curve);
    if (q->tiles == 1) *result = msm.result_bytes + subset.result_bytes;
    return CUZK_OK;
}

/* Bytes of the work and sums regions; sums is 0 where they are one. */
typedef struct region_bytes {
    uint64_t work, sums;
} region_bytes;

/* Do all queries' steps fit into their regions (bounded), and what do they take? */
static cuzk_status work_fits(const gpu_plan *p, bool bounded, const gpu_limits *limits,
                             region_bytes *needed, cuzk_error *err) {
    uint64_t results = 0;
    needed->work = (p->spill_bytes != 0 ? 2 : 3) * ((uint64_t)sizeof(fr_t) << p->ntt.log2_n);
    needed->sums = 0;
    for (gpu_query q = 0; q < GPU_QUERIES; q++) {
        uint64_t scratch, result;
        const uint64_t limit = bounded ? max_u64(gpu_scratch_bytes(p, q), 1) : 0;
        CUZK_TRY(step_bytes(&p->query[q], q == GPU_QUERY_H && p->h_reversed, limit, limits,
                            &scratch, &result, err));
        const gpu_region *r = q == GPU_QUERY_H ? &p->work : &p->sums;
        uint64_t *bytes = q != GPU_QUERY_H && p->overlapped ? &needed->sums : &needed->work;
        *bytes = max_u64(*bytes, gpu_scratch_at(p, q) - r->at + scratch);
        results += result;
    }
    if (results > CUZK_GPU_RESULT_BYTES)
        return cuzk_fail(err, CUZK_ERR_DEVICE_MEMORY,
                         "the steps' results need %llu bytes, %llu are available",
                         (unsigned long long)results, (unsigned long long)CUZK_GPU_RESULT_BYTES);
    return CUZK_OK;
}

typedef enum plan_tier {
    TIER_OVERLAPPED, /* all points stay in the arena; h and the other sums at the same time */
    TIER_RESIDENT,   /* all points stay in the arena */
    TIER_STREAMED,   /* as many queries as fit */
    TIER_SPILLED     /* and the quotient's third vector is on the host */
} plan_tier;

/* log2_step: of a query's bases in a step. Where all points stay: wide tables, copies of what a
 * query's MSM takes, sums of neighbours. */
typedef struct plan_choice {
    plan_tier tier;
    unsigned log2_step, wide, copies[GPU_QUERIES];
    bool pairs, extras; /* any of these three */
    uint64_t saved;     /* additions */
} plan_choice;

static plan_choice plain_choice(plan_tier tier, unsigned log2_step) {
    return (plan_choice){
        .tier = tier, .log2_step = log2_step, .wide = CUZK_NTT_NARROW, .copies = {1, 1, 1, 1, 1}};
}

/* What a choice saves over plain resident points, in additions for each row of the domain: the
 * overlap, wide tables (docs/benchmarks/gpu-prover.md); copies by their cost. */
#define OVERLAP_SAVES(n) ((n)*3 / 4)
/* Of the quotient's six transforms three are inverse, two forward on the coset. */
static const struct {
    unsigned kinds, saves; /* eighths of an addition */
} wide_choices[] = {
    {CUZK_NTT_WIDE_QUOTIENT, 6},
    {CUZK_NTT_WIDE_INVERSE | CUZK_NTT_WIDE_COSET_FORWARD, 5},
    {CUZK_NTT_WIDE_INVERSE, 3},
    {CUZK_NTT_NARROW, 0},
};
#define WIDE_CHOICES (sizeof wide_choices / sizeof wide_choices[0])

/* Everything from `first` on for one region, or cut in two where h and the sums overlap. */
static void lay_out_work(gpu_plan *p, uint64_t first, const region_bytes *needed) {
    p->work = (gpu_region){first, p->arena_bytes > first ? p->arena_bytes - first : 0};
    p->sums = p->work;
    if (!p->overlapped) return;
    uint64_t behind = first;
    p->work = reserve(&behind, needed->work);
    p->sums = (gpu_region){behind, p->arena_bytes > behind ? p->arena_bytes - behind : 0};
}

static cuzk_status plan_with(gpu_plan *p, const gpu_shape *s, const plan_choice *choice,
                             const gpu_limits *limits, uint64_t *needed, cuzk_error *err) {
    const bool resident = choice->tier <= TIER_RESIDENT;
    const unsigned log2_step = choice->log2_step;
    uint64_t total = 0;
    *p = (gpu_plan){.arena_bytes = p->arena_bytes};
    CUZK_TRY(cuzk_ntt_plan_make(&p->ntt, s->log2_domain, choice->wide, err));
    p->overlapped = choice->tier == TIER_OVERLAPPED;
    p->selections = resident ? 1 : CUZK_GPU_SLOTS;
    p->spill_bytes = choice->tier == TIER_SPILLED ? (uint64_t)sizeof(fr_t) << s->log2_domain : 0;
    query_shapes(p, s, choice->copies, choice->pairs);
    lay_out_fixed(p, s, &total);
    if (resident && total + all_point_bytes(p) > p->arena_bytes)
        return cuzk_fail(err, CUZK_ERR_DEVICE_MEMORY, "no room for the points");
    for (gpu_query q = 0; q < GPU_QUERIES; q++)
        if (!query_steps(&p->query[q], (uint64_t)1 << log2_step))
            return cuzk_fail(err, CUZK_ERR_DEVICE_MEMORY, "%s: a step is smaller than the inputs",
                             s->name);
    for (gpu_query q = 0; choice->extras && q < GPU_QUERIES; q++)
        if (p->query[q].tiles > 1)
            return cuzk_fail(err, CUZK_ERR_DEVICE_MEMORY, "copies and pairs presume one step");
    if (!resident)
        for (int i = 0; i < 2; i++)
            p->tile[i] =
                reserve(&total, ((uint64_t)1 << log2_step) * CUZK_GPU_AFFINE_BYTES(CUZK_GPU_G1));
    p->h_reversed = resident && p->query[GPU_QUERY_H].tiles == 1;
    /* Streaming takes the least region that the steps need. Wide tables, copies and pairs are not
     * made at the cost of scratch. */
    region_bytes work = {0, 0};
    lay_out_work(p, total, &work);
    cuzk_status status = CUZK_OK;
    if (p->overlapped || choice->extras) status = work_fits(p, false, limits, &work, err);
    if (!resident) {
        status = work_fits(p, true, limits, &work, err);
        if (status != CUZK_OK) status = work_fits(p, false, limits, &work, NULL);
    }
    if (status != CUZK_OK) return status;
    for (gpu_query q = 0; q < GPU_QUERIES; q++) {
        gpu_query_plan *query = &p->query[q];
        const uint64_t bytes = point_bytes(p, q);
        query->resident = resident || total + bytes + ALIGNMENT + work.work <= p->arena_bytes;
        if (query->resident) query->points = reserve(&total, bytes);
        query->fields = reserve(&total, field_bytes(p, q));
    }
    lay_out_work(p, total, &work);
    if (choice->extras && (p->work.bytes < work.work || p->sums.bytes < work.sums))
        return cuzk_fail(err, CUZK_ERR_DEVICE_MEMORY, "no room for wide tables, copies or pairs");
    status = work_fits(p, true, limits, &work, err);
    if (status != CUZK_OK) { /* how much would do? */
        if (work_fits(p, false, limits, &work, NULL) == CUZK_OK)
            *needed = total + work.work + work.sums;
        return status;
    }
    p->used_bytes = p->overlapped ? p->sums.at + work.sums : p->work.at + work.work;
    *needed = p->used_bytes;
    return *needed <= p->arena_bytes
               ? CUZK_OK
               : cuzk_fail(err, CUZK_ERR_DEVICE_MEMORY, "the arena is too small");
}

/* What to try where all points stay, and what each part of it saves, in additions. */
#define FIELD_CHOICES 4
typedef struct extras {
    unsigned h_copies;                         /* 1 to so many */
    uint64_t h_saved[CUZK_MSM_MAX_COPIES + 1]; /* by copies; 0: of no use */
    unsigned field_copies[FIELD_CHOICES][GPU_QUERIES];
    uint64_t field_saved[FIELD_CHOICES]; /* 0: of no use */
    unsigned pair_choices;               /* with them and without, or only the latter */
    uint64_t pairs_saved;
} extras;

/* Additions that up to *copies of the points save an MSM of n; *copies becomes what is used. */
static uint64_t copies_save(cuzk_gpu_group curve, uint64_t n, unsigned *copies,
                            const gpu_limits *limits) {
    cuzk_msm_plan msm, plain;
    const unsigned most = *copies;
    *copies = 1;
    if (most == 1 ||
        cuzk_msm_plan_make(&msm, curve, n, most, limits->sms, limits->tuning, 0, NULL) != CUZK_OK)
        return 0;
    if (cuzk_msm_plan_make(&plain, curve, n, 1, limits->sms, limits->tuning, 0, NULL) != CUZK_OK ||
        msm.cost >= plain.cost)
        return 0;
    *copies = msm.windows.copies;
    return plain.cost - msm.cost;
}

/* An addition in G2 is three times as dear. */
static unsigned weight_of(gpu_query q) {
    return q == GPU_QUERY_B_G2 ? 3 : 1;
}

/* Additions that pairs save when half of the BIT variables are set: a quarter of the entries. */
static uint64_t pairs_save(const gpu_shape *s) {
    uint64_t additions = 0;
    for (gpu_query q = GPU_QUERY_L; q < GPU_QUERIES; q++) {
        const gpu_density_shape *d = &s->density[gpu_query_density(q)];
        const uint64_t fields = d->scalars - d->inputs,
                       bits = d->aux > fields ? d->aux - fields : 0;
        additions += bits / 8 * weight_of(q);
    }
    return additions;
}

/* Copies of the bases of inputs and FIELD variables are made at once where these are few beside
 * h's points. */
static bool fields_are_few(const gpu_shape *s) {
    uint64_t bases = 0;
    for (gpu_query q = GPU_QUERY_L; q < GPU_QUERIES; q++)
        bases += s->density[gpu_query_density(q)].scalars * weight_of(q);
    return bases <= (uint64_t)1 << s->log2_domain >> 3;
}

static void find_extras(extras *x, const gpu_shape *s, const gpu_limits *limits) {
    static const unsigned field_most[FIELD_CHOICES] = {CUZK_MSM_MAX_COPIES, 4, 2, 1};
    const bool thorough = limits->effort == EXECUTOR_THOROUGH,
               fields = thorough || (limits->effort == EXECUTOR_NORMAL && fields_are_few(s));
    *x = (extras){.h_copies = thorough ? CUZK_MSM_MAX_COPIES : 1};
    for (unsigned c = 2; c <= x->h_copies; c++) {
        unsigned used = c;
        const uint64_t saved =
            copies_save(CUZK_GPU_G1, (uint64_t)1 << s->log2_domain, &used, limits);
        if (used == c) x->h_saved[c] = saved;
    }
    for (unsigned f = 0; f < FIELD_CHOICES; f++)
        for (gpu_query q = GPU_QUERY_L; q < GPU_QUERIES; q++) {
            unsigned *const copies = &x->field_copies[f][q];
            *copies = fields ? field_most[f] : 1;
            x->field_saved[f] +=
                weight_of(q) * copies_save(q == GPU_QUERY_B_G2 ? CUZK_GPU_G2 : CUZK_GPU_G1,
                                           s->density[gpu_query_density(q)].scalars, copies,
                                           limits);
        }
    x->pair_choices = limits->effort == EXECUTOR_BRIEF ? 1 : 2;
    x->pairs_saved = pairs_save(s);
}

/* The number k among all choices; false: there is a better one that takes less. */
static bool choice_of(plan_choice *choice, const extras *x, uint64_t rows, unsigned k) {
    *choice = plain_choice(k % 2 == 0 ? TIER_OVERLAPPED : TIER_RESIDENT, RESIDENT_STEP_LOG2_MAX);
    if (choice->tier == TIER_OVERLAPPED) choice->saved += OVERLAP_SAVES(rows);
    k /= 2;
    choice->pairs = k % x->pair_choices + 1 < x->pair_choices;
    if (choice->pairs) choice->saved += x->pairs_saved;
    k /= x->pair_choices;
    const unsigned f = k % FIELD_CHOICES;
    memcpy(choice->copies, x->field_copies[f], sizeof choice->copies);
    choice->saved += x->field_saved[f];
    k /= FIELD_CHOICES;
    const unsigned c = choice->copies[GPU_QUERY_H] = x->h_copies - k % x->h_copies;
    choice->saved += x->h_saved[c];
    k /= x->h_copies;
    choice->wide = wide_choices[k].kinds;
    choice->saved += rows * wide_choices[k].saves / 8;
    choice->extras = choice->saved > (choice->tier == TIER_OVERLAPPED ? OVERLAP_SAVES(rows) : 0);
    return (c == 1 || x->h_saved[c] != 0) && (f + 1 == FIELD_CHOICES || x->field_saved[f] != 0);
}

/* The plan with all points resident that saves the most. */
static bool try_resident(gpu_plan *best, const gpu_shape *s, const gpu_limits *limits) {
    const uint64_t rows = (uint64_t)1 << s->log2_domain;
    gpu_plan p = {.arena_bytes = best->arena_bytes};
    extras x;
    uint64_t needed;
    bool found = false;
    find_extras(&x, s, limits);
    const unsigned choices = 2 * x.pair_choices * FIELD_CHOICES * x.h_copies * WIDE_CHOICES;
    for (unsigned k = 0; k < choices; k++) {
        plan_choice choice;
        if (!choice_of(&choice, &x, rows, k) || (found && choice.saved <= best->saved)) continue;
        if (plan_with(&p, s, &choice, limits, &needed, NULL) != CUZK_OK) continue;
        if (p.ntt.wide_kinds != choice.wide) continue; /* two passes need none */
        *best = p;
        best->saved = choice.saved;
        found = true;
    }
    return found;
}

/* The best tier that fits. *enough becomes an arena that would do when none does, UINT64_MAX if
 * that is unknown. */
static bool try_tiers(gpu_plan *p, const gpu_shape *s, uint64_t arena_bytes,
                      const gpu_limits *limits, uint64_t *enough) {
    uint64_t needed = 0;
    *enough = UINT64_MAX;
    p->arena_bytes = arena_bytes;
    if (try_resident(p, s, limits)) return true;
    for (unsigned log2 = RESIDENT_STEP_LOG2_MAX; log2 >= RESIDENT_STEP_LOG2_MIN; log2--) {
        const plan_choice choice = plain_choice(TIER_RESIDENT, log2);
        if (plan_with(p, s, &choice, limits, &needed, NULL) == CUZK_OK) return true;
        if (log2 > s->log2_domain + 2) log2 = s->log2_domain + 2; /* steps beyond: the same */
    }
    for (plan_tier tier = TIER_STREAMED; tier <= TIER_SPILLED; tier++)
        for (unsigned log2 = STREAM_STEP_LOG2_MAX; log2 >= STREAM_STEP_LOG2_MIN; log2--) {
            const plan_choice choice = plain_choice(tier, log2);
            needed = 0;
            if (plan_with(p, s, &choice, limits, &needed, NULL) == CUZK_OK) return true;
            if (needed != 0) *enough = min_u64(*enough, needed);
        }
    return false;
}

/* The least arena in whole LEAST_STEPs, between one that does not do and one that does: scratch
 * adapts to what there is, so only trying tells. */
static uint64_t least_arena(const gpu_shape *s, const gpu_limits *limits, uint64_t low,
                            uint64_t high) {
    uint64_t ignored;
    while (high != UINT64_MAX && high - low > LEAST_STEP) {
        gpu_plan p;
        const uint64_t middle = low + (high - low) / 2;
        if (try_tiers(&p, s, middle, limits, &ignored))
            high = middle;
        else
            low = middle;
    }
    return high == UINT64_MAX ? high : (high + LEAST_STEP - 1) / LEAST_STEP * LEAST_STEP;
}

cuzk_status gpu_plan_make(gpu_plan *p, const gpu_shape *s, uint64_t arena_bytes,
                          const gpu_limits *limits, cuzk_error *err) {
    uint64_t enough;
    cuzk_ntt_plan ntt;
    CUZK_TRY(cuzk_ntt_plan_make(&ntt, s->log2_domain, CUZK_NTT_NARROW, err));
    if (try_tiers(p, s, arena_bytes, limits, &enough)) return CUZK_OK;
    const uint64_t least = least_arena(s, limits, arena_bytes, enough);
    return cuzk_fail(err, CUZK_ERR_DEVICE_MEMORY,
                     "circuit %s needs %llu bytes of device memory at least, %llu are available",
                     s->name, (unsigned long long)least, (unsigned long long)arena_bytes);
}
