/* Template: fixed-base multiplication. The table holds d 2^(c w) base for every window w and digit
 * 1 <= d <= 2^(c-1), in affine form, so that a multiplication is one addition a window. */

#define FIXED_T OF_GROUP(msm_fixed)
#define FIXED_(name) TEMPLATE_NAME(FIXED_T, name)
#define FIXED_BLOCK 1024         /* scalars of a task */
#define FIXED_STRETCH (1u << 18) /* scalars between two looks at cancellation */

struct FIXED_T {
    msm_windows windows;
    affine *table;
};

static size_t fixed_entries(const struct FIXED_T *table) {
    return table->windows.count * table->windows.digits;
}

typedef struct fixed_job {
    const struct FIXED_T *table;
    sums *workers;
    const fr_t *scalars;
    affine *out;
    size_t begin, end;
} fixed_job;

/* Multiples of a window's base by doubling their number: (m + i) B = m B + i B, i <= m. */
static void fixed_build_task(void *arg, size_t window, unsigned worker) {
    const fixed_job *job = arg;
    sums *s = &job->workers[worker];
    const size_t digits = job->table->windows.digits;
    affine *multiples = job->table->table + window * digits; /* multiples[i] is (i + 1) B */
    for (size_t m = 1; m < digits; m *= 2) {
        for (size_t i = 0; i < m; i++) {
            memset(&multiples[m + i], 0, sizeof(affine));
            sums_open(s, &multiples[m + i]);
            sums_push(s, msm_ref_of(&multiples[m - 1], 0));
            sums_push(s, msm_ref_of(&multiples[i], 0));
        }
        sums_flush(s);
    }
}

static void fixed_window_bases(const struct FIXED_T *table, const affine *base) {
    const msm_windows *windows = &table->windows;
    point p;
    G_(from_affine)(&p, base);
    for (size_t w = 0; w < windows->count; w++) {
        G_(to_affine)(&table->table[w * windows->digits], &p);
        for (unsigned i = 0; i < windows->bits; i++)
            G_(double)(&p, &p);
    }
}

static cuzk_status fixed_workers(const cuzk_host *host, sums **workers, cuzk_error *err) {
    void *memory = NULL;
    CUZK_TRY(cuzk_host_alloc(host, &memory, host->workers, sizeof(sums),
                             "fixed-base multiplication workspace", err));
    *workers = memory;
    for (unsigned i = 0; i < host->workers; i++)
        sums_init(&(*workers)[i]);
    return CUZK_OK;
}

static cuzk_status fixed_build(const cuzk_host *host, struct FIXED_T *table, const affine *base,
                               cuzk_error *err) {
    fixed_job job = {.table = table};
    CUZK_TRY(fixed_workers(host, &job.workers, err));
    fixed_window_bases(table, base);
    cuzk_host_parallel(host, table->windows.count, fixed_build_task, &job);
    cuzk_host_free(host, job.workers, host->workers, sizeof(sums));
    return CUZK_OK;
}

cuzk_status FIXED_(new)(const cuzk_host *host, const affine *base, size_t expected_count,
                        struct FIXED_T **out, cuzk_error *err) {
    void *memory = NULL, *entries = NULL;
    *out = NULL;
    CUZK_TRY(cuzk_host_alloc(host, &memory, 1, sizeof(struct FIXED_T), "fixed-base table", err));
    struct FIXED_T *table = memory;
    msm_windows_init(&table->windows, msm_window_bits(expected_count, 1));
    table->table = NULL;
    cuzk_status status = cuzk_host_alloc(host, &entries, fixed_entries(table), sizeof(affine),
                                         "fixed-base table", err);
    table->table = entries;
    if (status == CUZK_OK) status = fixed_build(host, table, base, err);
    if (status == CUZK_OK)
        *out = table;
    else
        FIXED_(free)(host, table);
    return status;
}

void FIXED_(free)(const cuzk_host *host, struct FIXED_T *table) {
    if (table == NULL) return;
    cuzk_host_free(host, table->table, fixed_entries(table), sizeof(affine));
    cuzk_host_free(host, table, 1, sizeof *table);
}

static void fixed_apply_task(void *arg, size_t task, unsigned worker) {
    const fixed_job *job = arg;
    const msm_windows *windows = &job->table->windows;
    sums *s = &job->workers[worker];
    const size_t begin = job->begin + task * FIXED_BLOCK;
    const size_t end = begin + FIXED_BLOCK < job->end ? begin + FIXED_BLOCK : job->end;
    for (size_t i = begin; i < end; i++) {
        msm_recoded k[2]; /* the second is padding */
        msm_recode(&k[0], &job->scalars[i], windows);
        memset(&job->out[i], 0, sizeof(affine));
        sums_open(s, &job->out[i]);
        for (unsigned w = 0; w < windows->count; w++) {
            const uint32_t digit = msm_digit(&k[0], msm_window_at(windows, w));
            if (digit < 2) continue;
            sums_push(s, msm_ref_of(&job->table->table[w * windows->digits + (digit >> 1) - 1],
                                    digit & 1));
        }
    }
    sums_flush(s);
}

cuzk_status FIXED_(apply)(const cuzk_host *host, const struct FIXED_T *table, const fr_t *scalars,
                          size_t n, affine *out, cuzk_error *err) {
    fixed_job job = {.table = table, .scalars = scalars, .out = out};
    cuzk_status status = fixed_workers(host, &job.workers, err);
    for (; job.begin < n && status == CUZK_OK; job.begin = job.end) {
        job.end = n - job.begin < FIXED_STRETCH ? n : job.begin + FIXED_STRETCH;
        cuzk_host_parallel(host, (job.end - job.begin + FIXED_BLOCK - 1) / FIXED_BLOCK,
                           fixed_apply_task, &job);
        if (cuzk_host_cancelled(host))
            status = cuzk_fail(err, CUZK_ERR_CANCELLED,
                               "fixed-base multiplication cancelled after %zu of %zu", job.end, n);
    }
    cuzk_host_free(host, job.workers, host->workers, sizeof(sums));
    return status;
}

#undef FIXED_T
#undef FIXED_
#undef FIXED_BLOCK
#undef FIXED_STRETCH
