/* Template: sums of the bases that a bitmap selects. */

#define SUBSET_BUFFER 4096 /* selected bases waiting to be added */
#define SUBSET_TOTALS 256  /* running sums of a task; 16 points each a batch */

typedef struct subset_worker {
    sums sums;
    size_t index[SUBSET_BUFFER];
    affine buffer[SUBSET_BUFFER];
    affine totals[SUBSET_TOTALS];
} subset_worker;

typedef struct subset_job {
    msm_bases bases;
    const uint64_t *bitmap;
    size_t n, words_per_task;
    subset_worker *workers;
    affine *results; /* of the tasks */
    bad_base *bad;
} subset_job;

static uint64_t subset_word(const subset_job *job, size_t word) {
    const size_t bits = job->n - word * 64;
    const uint64_t value = job->bitmap[word];
    return bits >= 64 ? value : value & (((uint64_t)1 << bits) - 1);
}

/* Load the bases waiting in the worker's list and add them to its totals. */
static cuzk_status subset_add(const subset_job *job, subset_worker *w, size_t waiting,
                              bad_base *bad) {
    *bad = bases_load(w->buffer, &job->bases, w->index, waiting);
    if (bad->status == CUZK_OK) sums_spread(&w->sums, w->totals, SUBSET_TOTALS, w->buffer, waiting);
    return bad->status;
}

static void subset_task(void *arg, size_t task, unsigned worker) {
    const subset_job *job = arg;
    subset_worker *w = &job->workers[worker];
    const size_t words = (job->n + 63) / 64;
    const size_t begin = task * job->words_per_task;
    const size_t end = begin + job->words_per_task < words ? begin + job->words_per_task : words;
    size_t waiting = 0;
    memset(w->totals, 0, sizeof w->totals);
    for (size_t word = begin; word < end; word++) {
        for (uint64_t left = subset_word(job, word); left != 0; left &= left - 1) {
            w->index[waiting++] = word * 64 + (size_t)__builtin_ctzll(left);
            if (waiting < SUBSET_BUFFER) continue;
            if (subset_add(job, w, waiting, &job->bad[task]) != CUZK_OK) return;
            waiting = 0;
        }
    }
    if (subset_add(job, w, waiting, &job->bad[task]) == CUZK_OK)
        sums_total(&w->sums, &job->results[task], w->totals, SUBSET_TOTALS);
}

/* Enough tasks to balance uneven bitmaps, not so many that their final sums count. */
static size_t subset_words_per_task(size_t n, unsigned workers) {
    const size_t words = (n + 63) / 64, tasks = (size_t)workers * 8;
    const size_t least = 512;
    const size_t share = words / tasks + 1;
    return share > least ? share : least;
}

static cuzk_status subset_run(const cuzk_host *host, subset_job *job, size_t tasks, affine *total,
                              cuzk_error *err) {
    for (unsigned i = 0; i < host->workers; i++)
        sums_init(&job->workers[i].sums);
    cuzk_host_parallel(host, tasks, subset_task, job);
    CUZK_TRY(bases_report(bases_first_bad(job->bad, tasks), err));
    sums_total(&job->workers[0].sums, total, job->results, tasks);
    return CUZK_OK;
}

static size_t subset_tasks(size_t n, size_t words_per_task) {
    return (n + words_per_task * 64 - 1) / (words_per_task * 64);
}

size_t OF_GROUP(msm_subset_workspace_bytes)(unsigned workers, size_t n) {
    const size_t tasks = subset_tasks(n, subset_words_per_task(n, workers));
    return workers * sizeof(subset_worker) + tasks * (sizeof(affine) + sizeof(bad_base));
}

cuzk_status OF_GROUP(msm_subset)(const cuzk_host *host, point *out, msm_bases bases,
                                 const uint64_t *bitmap, size_t n, cuzk_error *err) {
    CUZK_TRY(bases_check_count(&bases, n, err));
    const size_t words_per_task = subset_words_per_task(n, host->workers);
    const size_t tasks = subset_tasks(n, words_per_task);
    subset_job job = {.bases = bases, .bitmap = bitmap, .n = n, .words_per_task = words_per_task};
    void *workers = NULL, *results = NULL, *bad = NULL;
    affine total;
    cuzk_status status = cuzk_host_alloc(host, &workers, host->workers, sizeof(subset_worker),
                                         "subset sum workspace", err);
    if (status == CUZK_OK)
        status = cuzk_host_alloc(host, &results, tasks, sizeof(affine), "subset sums", err);
    if (status == CUZK_OK)
        status = cuzk_host_alloc(host, &bad, tasks, sizeof(bad_base), "subset sum reports", err);
    if (status == CUZK_OK) {
        job.workers = workers;
        job.results = results;
        job.bad = bad;
        status = subset_run(host, &job, tasks, &total, err);
    }
    if (status == CUZK_OK) G_(from_affine)(out, &total);
    cuzk_host_free(host, bad, tasks, sizeof(bad_base));
    cuzk_host_free(host, results, tasks, sizeof(affine));
    cuzk_host_free(host, workers, host->workers, sizeof(subset_worker));
    return status;
}
