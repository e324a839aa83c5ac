/* Template: the bucket method (Pippenger; Bernstein, Doumen, Lange, Oosterwijk, INDOCRYPT 2012,
 * section 4) with buckets in affine form.
 *
 * Terms are taken in tiles. For each tile, blocks of terms are prepared in parallel: zero scalars
 * are dropped, scalars 1 and -1 are summed at once, the others are recoded and their bases loaded.
 * Then tasks, each owning a range of buckets of one window (or whole windows, when terms are few),
 * sort their digits by bucket and add every bucket's points. After the last tile the windows are
 * reduced and put together.
 *
 * Every bucket is a group element in affine form, so its bits do not depend on the order of
 * additions, nor the result on the number of workers. */

#define BLOCK 4096       /* terms of a preparation task */
#define BLOCK_TOTALS 128 /* running sums of the +-1 terms of a block */
#define NAIVE_TERMS 6    /* up to here term by term is faster */
/* Work of reducing a bucket, in additions: two, and a share of the final row and column sums. */
#define BUCKET_COST 2
#define MIN_TILE_TERMS ((size_t)1 << 17)
/* Terms of a tile for each bucket of a window: fewer would make the additions to buckets' old
 * contents count, more only costs memory. */
#define TILE_TERMS_PER_BUCKET 4
/* Terms that fill a few batches of additions: with fewer, a task takes several windows. */
#define MIN_TASK_TERMS 8192
#define MIN_TASK_BUCKETS 1024

/* Kinds of terms by their scalars; terms with scalar 0 are dropped. */
typedef enum term_kind { TERM_FULL, TERM_ONE, TERM_MINUS_ONE, TERM_KINDS } term_kind;

typedef struct pippenger_worker {
    sums sums;
    size_t bases[TERM_KINDS][BLOCK]; /* of a block's terms */
    uint32_t *order;                 /* term of the tile << 1 | negative, sorted by bucket */
    uint32_t *ends;                  /* per bucket of the task: its end in order */
    affine *rows, *columns;
} pippenger_worker;

typedef struct pippenger {
    const cuzk_host *host;
    msm_bases bases;
    const uint32_t *index; /* NULL: base i belongs to scalar i */
    const fr_t *scalars;
    msm_windows windows;
    size_t tile, blocks;               /* terms and blocks of a tile */
    size_t task_windows, task_buckets; /* one is 1 or the other is all of a window */
    unsigned row_bits, column_bits;    /* bucket = row * 2^column_bits + column */
    size_t begin, end;                 /* terms of the current tile */
    affine *points;                    /* of the tile, block by block: full terms first */
    msm_recoded *recoded;              /* likewise */
    uint32_t *full;                    /* number of full terms, by block */
    affine *totals;                    /* of the +-1 terms, BLOCK_TOTALS a block */
    bad_base *bad;                     /* by block */
    affine *buckets;                   /* by window */
    point *window_sums;
    pippenger_worker *workers;
    uint32_t *order_memory, *ends_memory;
    affine *lines_memory;
} pippenger;

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

static size_t divide_up(size_t a, size_t b) {
    return (a + b - 1) / b;
}

/* The base of a term; false when there is none. */
static bool term_base(const pippenger *p, size_t term, size_t *base) {
    *base = p->index == NULL ? term : p->index[term];
    return *base < p->bases.count;
}

/* Lists the bases of a block's terms by kind, and recodes the full ones. */
static bad_base classify(const pippenger *p, pippenger_worker *w, size_t begin, size_t end,
                         msm_recoded *recoded, size_t counts[TERM_KINDS]) {
    const fr_t one = fr_one();
    fr_t minus_one;
    fr_neg(&minus_one, &one);
    for (size_t term = begin; term < end; term++) {
        const fr_t *k = &p->scalars[term];
        size_t base;
        if (fr_is_zero(k)) continue;
        if (!term_base(p, term, &base)) return (bad_base){CUZK_ERR_ARGUMENT, base};
        if (base_is_infinity(&p->bases, base)) continue;
        term_kind kind = TERM_FULL;
        if (fr_eq(k, &one)) kind = TERM_ONE;
        if (fr_eq(k, &minus_one)) kind = TERM_MINUS_ONE;
        if (kind == TERM_FULL) msm_recode(&recoded[counts[kind]], k, &p->windows);
        w->bases[kind][counts[kind]++] = base;
    }
    return (bad_base){CUZK_OK, 0};
}

/* Load the points of a block. Those of full terms stay in the tile, at the front of the block's
 * part; the others are added up. */
static void prepare_task(void *arg, size_t block, unsigned worker) {
    const pippenger *p = arg;
    pippenger_worker *w = &p->workers[worker];
    const size_t begin = p->begin + block * BLOCK, end = least(begin + BLOCK, p->end);
    affine *points = p->points + block * BLOCK;
    size_t counts[TERM_KINDS] = {0}, loaded = 0;
    bad_base bad[TERM_KINDS];
    p->bad[block] = classify(p, w, begin, end, p->recoded + block * BLOCK, counts);
    if (p->bad[block].status != CUZK_OK) return;
    for (int kind = 0; kind < TERM_KINDS; kind++) {
        bad[kind] = bases_load(points + loaded, &p->bases, w->bases[kind], counts[kind]);
        loaded += counts[kind];
    }
    p->bad[block] = bases_first_bad(bad, TERM_KINDS);
    if (p->bad[block].status != CUZK_OK) return;
    for (size_t i = loaded - counts[TERM_MINUS_ONE]; i < loaded; i++)
        G_(affine_neg)(&points[i], &points[i]);
    p->full[block] = (uint32_t)counts[TERM_FULL];
    sums_spread(&w->sums, p->totals + block * BLOCK_TOTALS, BLOCK_TOTALS,
                points + counts[TERM_FULL], loaded - counts[TERM_FULL]);
}

/* The buckets that a task owns: [first, last) of windows [window, end_window). */
typedef struct bucket_range {
    unsigned window, end_window;
    size_t first, last;
} bucket_range;

static size_t bucket_tasks(const pippenger *p) {
    return divide_up(p->windows.count, p->task_windows) * (p->windows.digits / p->task_buckets);
}

static bucket_range bucket_range_of(const pippenger *p, size_t task) {
    const size_t parts = p->windows.digits / p->task_buckets;
    const size_t window = task / parts * p->task_windows;
    const size_t first = task % parts * p->task_buckets;
    return (bucket_range){(unsigned)window,
                          (unsigned)least(window + p->task_windows, p->windows.count), first,
                          first + p->task_buckets};
}

/* Counting sort of the tile's digits in a range. First pass: ends[b] counts the points of bucket
 * b. Second pass: it is the place of the next one, and so their end at last. */
static void sort_digits(const pippenger *p, const pippenger_worker *w, bucket_range range) {
    const size_t buckets = range.last - range.first;
    const size_t keys = (range.end_window - range.window) * buckets;
    memset(w->ends, 0, keys * sizeof *w->ends);
    for (int pass = 0; pass < 2; pass++) {
        for (unsigned window = range.window; window < range.end_window; window++) {
            const msm_window at = msm_window_at(&p->windows, window);
            uint32_t *ends = w->ends + (window - range.window) * buckets;
            for (size_t block = 0; block < p->blocks; block++) {
                const msm_recoded *k = p->recoded + block * BLOCK;
                for (uint32_t i = 0; i < p->full[block]; i++) {
                    const uint32_t digit = msm_digit(&k[i], at);
                    const size_t bucket = (size_t)(digit >> 1) - 1 - range.first;
                    if (bucket >= buckets) continue; /* also digit 0, which wraps around */
                    if (pass == 0)
                        ends[bucket]++;
                    else
                        w->order[ends[bucket]++] = (uint32_t)(block * BLOCK + i) << 1 | (digit & 1);
                }
            }
        }
        uint32_t sum = 0;
        for (size_t key = 0; key < keys && pass == 0; key++) {
            const uint32_t count = w->ends[key];
            w->ends[key] = sum;
            sum += count;
        }
    }
}

static void accumulate_task(void *arg, size_t task, unsigned worker) {
    const pippenger *p = arg;
    pippenger_worker *w = &p->workers[worker];
    const bucket_range range = bucket_range_of(p, task);
    const size_t buckets = range.last - range.first;
    const size_t keys = (range.end_window - range.window) * buckets;
    affine *targets = p->buckets + range.window * p->windows.digits + range.first;
    sort_digits(p, w, range);
    uint32_t at = 0;
    for (size_t key = 0; key < keys; key++) {
        if (at == w->ends[key]) continue;
        sums_open(&w->sums, &targets[key]);
        for (; at < w->ends[key]; at++)
            sums_push(&w->sums, msm_ref_of(&p->points[w->order[at] >> 1], w->order[at] & 1));
    }
    sums_flush(&w->sums);
}

/* z = sum (i + first) points[i], i < n; first 0 or 1. */
static void weighted_sum(point *z, const affine *points, size_t n, unsigned first) {
    point running = G_(infinity)();
    *z = G_(infinity)();
    for (size_t i = n; i-- > 0;) {
        G_(add_affine)(&running, &running, &points[i]);
        if (i > 0 || first == 1) G_(add)(z, z, &running);
    }
}

/* Sum of (b + 1) bucket[b] for each window of a task, the buckets seen as a matrix: with
 * b = row 2^column_bits + column it is 2^column_bits sum row R[row] + sum (column + 1) C[column],
 * where R and C are the row and column sums. */
static void reduce_task(void *arg, size_t task, unsigned worker) {
    const pippenger *p = arg;
    pippenger_worker *w = &p->workers[worker];
    const size_t begin = task * p->task_windows;
    const size_t end = least(begin + p->task_windows, p->windows.count);
    const size_t rows = (size_t)1 << p->row_bits, columns = (size_t)1 << p->column_bits;
    const affine *buckets = p->buckets + begin * p->windows.digits;
    const size_t all_rows = (end - begin) * rows, all_columns = (end - begin) * columns;
    memset(w->rows, 0, all_rows * sizeof(affine));
    memset(w->columns, 0, all_columns * sizeof(affine));
    for (size_t row = 0; row < all_rows; row++) {
        sums_open(&w->sums, &w->rows[row]);
        for (size_t column = 0; column < columns; column++)
            sums_push_point(&w->sums, &buckets[row * columns + column]);
    }
    for (size_t i = 0; i < all_columns; i++) {
        const affine *top = &buckets[i / columns * p->windows.digits + i % columns];
        sums_open(&w->sums, &w->columns[i]);
        for (size_t row = 0; row < rows; row++)
            sums_push_point(&w->sums, &top[row * columns]);
    }
    sums_flush(&w->sums);
    for (size_t window = begin; window < end; window++) {
        point by_column;
        point *z = &p->window_sums[window];
        weighted_sum(z, w->rows + (window - begin) * rows, rows, 0);
        for (unsigned i = 0; i < p->column_bits; i++)
            G_(double)(z, z);
        weighted_sum(&by_column, w->columns + (window - begin) * columns, columns, 1);
        G_(add)(z, z, &by_column);
    }
}

static cuzk_status run_tiles(pippenger *p, size_t n, cuzk_error *err) {
    for (p->begin = 0; p->begin < n; p->begin = p->end) {
        p->end = p->begin + least(n - p->begin, p->tile);
        p->blocks = divide_up(p->end - p->begin, BLOCK);
        cuzk_host_parallel(p->host, p->blocks, prepare_task, p);
        CUZK_TRY(bases_report(bases_first_bad(p->bad, p->blocks), err));
        cuzk_host_parallel(p->host, bucket_tasks(p), accumulate_task, p);
        cuzk_host_progress(p->host, "MSM", p->end, n);
        if (cuzk_host_cancelled(p->host))
            return cuzk_fail(err, CUZK_ERR_CANCELLED, "MSM cancelled after %zu of %zu terms",
                             p->end, n);
    }
    return CUZK_OK;
}

static void combine_windows(point *out, const pippenger *p, size_t blocks) {
    affine units;
    *out = G_(infinity)();
    for (unsigned w = p->windows.count; w-- > 0;) {
        for (unsigned i = 0; i < p->windows.bits; i++)
            G_(double)(out, out);
        G_(add)(out, out, &p->window_sums[w]);
    }
    sums_total(&p->workers[0].sums, &units, p->totals, blocks * BLOCK_TOTALS);
    G_(add_affine)(out, out, &units);
}

static cuzk_status run(pippenger *p, point *out, size_t n, cuzk_error *err) {
    const size_t blocks = divide_up(p->tile, BLOCK), digits = p->windows.digits;
    const size_t lines = ((size_t)1 << p->row_bits) + ((size_t)1 << p->column_bits);
    for (unsigned i = 0; i < p->host->workers; i++) {
        pippenger_worker *w = &p->workers[i];
        sums_init(&w->sums);
        w->order = p->order_memory + i * p->tile * p->task_windows;
        w->ends = p->ends_memory + i * p->task_buckets * p->task_windows;
        w->rows = p->lines_memory + i * lines * p->task_windows;
        w->columns = w->rows + ((size_t)p->task_windows << p->row_bits);
    }
    memset(p->buckets, 0, p->windows.count * digits * sizeof(affine));
    memset(p->totals, 0, blocks * BLOCK_TOTALS * sizeof(affine));
    memset(p->bad, 0, blocks * sizeof(bad_base));
    CUZK_TRY(run_tiles(p, n, err));
    cuzk_host_parallel(p->host, divide_up(p->windows.count, p->task_windows), reduce_task, p);
    combine_windows(out, p, blocks);
    return CUZK_OK;
}

/* Scalars that are not 0, 1 or -1: the size that matters for the choice of windows. */
static size_t count_full(const fr_t *scalars, size_t n) {
    const fr_t one = fr_one();
    fr_t minus_one;
    size_t full = 0;
    fr_neg(&minus_one, &one);
    for (size_t i = 0; i < n; i++)
        full += !fr_is_zero(&scalars[i]) && !fr_eq(&scalars[i], &one) &&
                !fr_eq(&scalars[i], &minus_one);
    return full;
}

/* Choices for n terms, `full` of which have scalars other than 0, 1 and -1. */
static void plan(pippenger *p, size_t n, size_t full) {
    msm_windows_init(&p->windows, msm_window_bits(full, BUCKET_COST));
    const size_t digits = p->windows.digits, tile = digits * TILE_TERMS_PER_BUCKET;
    p->tile = least(n, tile > MIN_TILE_TERMS ? tile : MIN_TILE_TERMS);
    p->column_bits = p->windows.bits / 2;
    p->row_bits = p->windows.bits - 1 - p->column_bits;
    p->task_windows = least(MIN_TASK_TERMS / p->tile + 1, p->windows.count);
    p->task_buckets = digits;
    while (p->task_windows == 1 && p->task_buckets > MIN_TASK_BUCKETS &&
           bucket_tasks(p) < 2 * (size_t)p->host->workers)
        p->task_buckets /= 2;
}

typedef struct allocation {
    void **memory;
    size_t count, size;
} allocation;

#define ALLOCATIONS 11

/* What a planned MSM allocates. */
static void list_allocations(pippenger *p, allocation all[ALLOCATIONS]) {
    const size_t workers = p->host->workers, blocks = divide_up(p->tile, BLOCK);
    const size_t lines = ((size_t)1 << p->row_bits) + ((size_t)1 << p->column_bits);
    const allocation list[ALLOCATIONS] = {
        {(void **)&p->points, p->tile, sizeof(affine)},
        {(void **)&p->recoded, p->tile + 1, sizeof(msm_recoded)}, /* with MSM_RECODED_PADDING */
        {(void **)&p->full, blocks, sizeof(uint32_t)},
        {(void **)&p->totals, blocks * BLOCK_TOTALS, sizeof(affine)},
        {(void **)&p->bad, blocks, sizeof(bad_base)},
        {(void **)&p->buckets, p->windows.count * p->windows.digits, sizeof(affine)},
        {(void **)&p->window_sums, p->windows.count, sizeof(point)},
        {(void **)&p->workers, workers, sizeof(pippenger_worker)},
        {(void **)&p->order_memory, workers * p->task_windows * p->tile, sizeof(uint32_t)},
        {(void **)&p->ends_memory, workers * p->task_windows * p->task_buckets, sizeof(uint32_t)},
        {(void **)&p->lines_memory, workers * p->task_windows * lines, sizeof(affine)},
    };
    memcpy(all, list, sizeof list);
}

static cuzk_status allocate_and_run(pippenger *p, point *out, size_t n, cuzk_error *err) {
    allocation all[ALLOCATIONS];
    cuzk_status status = CUZK_OK;
    list_allocations(p, all);
    for (size_t i = 0; i < ALLOCATIONS && status == CUZK_OK; i++)
        status = cuzk_host_alloc(p->host, all[i].memory, all[i].count, all[i].size, "MSM workspace",
                                 err);
    if (status == CUZK_OK) status = run(p, out, n, err);
    for (size_t i = 0; i < ALLOCATIONS; i++) {
        /* Digits, orders and bucket sums all tell of the scalars, which are a witness. */
        if (*all[i].memory != NULL) explicit_bzero(*all[i].memory, all[i].count * all[i].size);
        cuzk_host_free(p->host, *all[i].memory, all[i].count, all[i].size);
    }
    return status;
}

size_t OF_GROUP(msm_workspace_bytes)(unsigned workers, size_t n) {
    const cuzk_host host = {.workers = workers};
    pippenger p = {.host = &host};
    allocation all[ALLOCATIONS];
    size_t bytes = 0;
    if (n <= NAIVE_TERMS) return 0;
    plan(&p, n, n);
    list_allocations(&p, all);
    for (size_t i = 0; i < ALLOCATIONS; i++)
        bytes += all[i].count * all[i].size;
    return bytes;
}

void OF_GROUP(msm_naive)(point *out, const affine *bases, const fr_t *scalars, size_t n) {
    *out = G_(infinity)();
    for (size_t i = 0; i < n; i++) {
        point term;
        G_(from_affine)(&term, &bases[i]);
        G_(mul_var)(&term, &term, &scalars[i]);
        G_(add)(out, out, &term);
    }
}

static cuzk_status term_by_term(const pippenger *p, point *out, size_t n, cuzk_error *err) {
    affine points[NAIVE_TERMS];
    fr_t scalars[NAIVE_TERMS];
    size_t bases[NAIVE_TERMS] = {0}, used = 0;
    for (size_t i = 0; i < n; i++) {
        if (fr_is_zero(&p->scalars[i])) continue;
        bad_base bad = {CUZK_ERR_ARGUMENT, 0};
        if (!term_base(p, i, &bad.index)) return bases_report(bad, err);
        bases[used] = bad.index;
        scalars[used++] = p->scalars[i];
    }
    CUZK_TRY(bases_report(bases_load(points, &p->bases, bases, used), err));
    OF_GROUP(msm_naive)(out, points, scalars, used);
    return CUZK_OK;
}

static cuzk_status gather(const cuzk_host *host, point *out, msm_bases bases, const uint32_t *index,
                          const fr_t *scalars, size_t n, cuzk_error *err) {
    pippenger p = {.host = host, .bases = bases, .index = index, .scalars = scalars};
    if (n <= NAIVE_TERMS) return term_by_term(&p, out, n, err);
    plan(&p, n, count_full(scalars, n));
    return allocate_and_run(&p, out, n, err);
}

cuzk_status OF_GROUP(msm)(const cuzk_host *host, point *out, msm_bases bases, const fr_t *scalars,
                          size_t n, cuzk_error *err) {
    CUZK_TRY(bases_check_count(&bases, n, err));
    return gather(host, out, bases, NULL, scalars, n, err);
}

cuzk_status OF_GROUP(msm_gather)(const cuzk_host *host, point *out, msm_bases bases,
                                 const uint32_t *index, const fr_t *scalars, size_t n,
                                 cuzk_error *err) {
    return gather(host, out, bases, index, scalars, n, err);
}
