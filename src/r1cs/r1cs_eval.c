/* M w for ranges of rows, and the check that a witness satisfies its circuit. */
#include <stdatomic.h>
#include <string.h>

#include "r1cs/r1cs_internal.h"
#include "r1cs/r1cs_program.h"

#define TASK_ROWS ((uint64_t)1 << 16)

/* --- one row, term by term --- */

static void column_value(const r1cs *r, const witness *w, const r1cs_place *at, uint32_t col,
                         fr_t *value) {
    const cs_var var = col_var(at->block, at->instance, col);
    if ((var & CS_INPUT_FLAG) != 0)
        *value = w->inputs[var & ~CS_INPUT_FLAG];
    else
        witness_aux(r, w, var, value);
}

static void eval_row(const r1cs *r, int m, const witness *w, const r1cs_place *at, fr_t *z) {
    const r1cs_matrix *matrix = &at->block->m[m];
    const uint32_t end = matrix->row_start[at->row + 1];
    fr_t sum = fr_zero();
    for (uint32_t k = matrix->row_start[at->row]; k < end; k++) {
        fr_t t;
        column_value(r, w, at, matrix->col[k], &t);
        fr_mul(&t, &t, &r->dict[matrix->coef[k]]);
        fr_add(&sum, &sum, &t);
    }
    *z = sum;
}

/* --- stretches of rows inside one instance --- */

/* Rows at->row .. at->row + n - 1, which are all of one instance. */
static void eval_plain_rows(const r1cs *r, int m, const witness *w, r1cs_place at, uint64_t n,
                            fr_t *z) {
    for (uint64_t i = 0; i < n; i++, at.row++)
        eval_row(r, m, w, &at, &z[i]);
}

static r1cs_frame frame_of(const r1cs *r, const witness *w, const r1cs_place *at) {
    const r1cs_block *b = at->block;
    return (r1cs_frame){
        .dict = r->dict,
        .bits = w->bits,
        .aux_base = b->aux_base + at->instance * b->aux,
        .imports = instance_imports(b, at->instance),
        .fields = w->fields,
        .local_fields = w->fields + b->field_base + at->instance * b->fields,
        .inputs = w->inputs,
        .local_inputs = w->inputs + b->input_base + at->instance * b->inputs,
    };
}

static void eval_compiled_rows(const r1cs *r, const r1cs_program *p, const witness *w,
                               r1cs_place at, uint64_t n, fr_t *z) {
    const r1cs_frame frame = frame_of(r, w, &at);
    fr_t buffer[R1CS_GROUP_ROWS];
    while (n > 0) {
        const uint64_t group = at.row / R1CS_GROUP_ROWS, skip = at.row % R1CS_GROUP_ROWS;
        const uint64_t left = at.block->rows - group * R1CS_GROUP_ROWS;
        const uint64_t size = left < R1CS_GROUP_ROWS ? left : R1CS_GROUP_ROWS;
        const uint64_t take = n < size - skip ? n : size - skip;
        if (take == size) {
            r1cs_program_run(p, group, &frame, z);
        } else {
            r1cs_program_run(p, group, &frame, buffer);
            memcpy(z, buffer + skip, take * sizeof *z);
        }
        z += take;
        n -= take;
        at.row += take;
    }
}

/* --- any rows --- */

/* Appended rows: A has x_i, B and C nothing; zero behind them. */
static void eval_input_rows(const r1cs *r, int m, const witness *w, uint64_t first, uint64_t n,
                            fr_t *z) {
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t input = first + i - r->rows;
        z[i] = m == R1CS_A && input < r->inputs ? w->inputs[input] : fr_zero();
    }
}

static void eval_rows(const r1cs *r, int m, const witness *w, bool plain, uint64_t first,
                      uint64_t n, fr_t *z) {
    const r1cs_programs *programs = ((const r1cs_owner *)r->owner)->programs;
    while (n > 0 && first < r->rows) {
        const r1cs_place at = r1cs_locate(r, first);
        const uint64_t left = at.block->rows - at.row;
        const uint64_t take = n < left ? n : left;
        if (plain || m == R1CS_C)
            eval_plain_rows(r, m, w, at, take, z);
        else
            eval_compiled_rows(r, &programs->p[at.block - r->blocks][m], w, at, take, z);
        first += take;
        n -= take;
        z += take;
    }
    eval_input_rows(r, m, w, first, n, z);
}

typedef struct eval_run {
    const cuzk_host *host;
    const r1cs *r;
    const witness *w;
    int m;
    bool plain;
    uint64_t first, n;
    fr_t *z;
} eval_run;

static void eval_task(void *arg, size_t task, unsigned worker) {
    const eval_run *run = arg;
    const uint64_t skip = task * TASK_ROWS;
    const uint64_t left = run->n - skip;
    (void)worker;
    if (cuzk_host_cancelled(run->host)) return;
    eval_rows(run->r, run->m, run->w, run->plain, run->first + skip,
              left < TASK_ROWS ? left : TASK_ROWS, run->z + skip);
}

static cuzk_status check_arguments(const r1cs *r, int m, const witness *w, cuzk_error *err) {
    if (m < R1CS_A || m > R1CS_C)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%s: there is no matrix %d", r->name, m);
    if (m == R1CS_C && !r->has_c)
        return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "%s: C was dropped", r->name);
    if (w->n_aux != r->aux || w->n_fields != r->fields || w->n_inputs != r->inputs)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "the witness was made for another circuit than %s",
                         r->name);
    return CUZK_OK;
}

static cuzk_status eval_all(const eval_run *run, cuzk_error *err) {
    CUZK_TRY(check_arguments(run->r, run->m, run->w, err));
    if (run->first > UINT64_MAX - run->n)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%s: rows out of range", run->r->name);
    cuzk_host_parallel(run->host, (size_t)((run->n + TASK_ROWS - 1) / TASK_ROWS), eval_task,
                       (void *)(uintptr_t)run);
    if (cuzk_host_cancelled(run->host))
        return cuzk_fail(err, CUZK_ERR_CANCELLED, "evaluating %s: cancelled", run->r->name);
    return CUZK_OK;
}

cuzk_status r1cs_eval(const cuzk_host *host, const r1cs *r, int m, const witness *w, uint64_t first,
                      uint64_t n, fr_t *z, cuzk_error *err) {
    const eval_run run = {host, r, w, m, false, first, n, z};
    return eval_all(&run, err);
}

cuzk_status r1cs_eval_plain(const cuzk_host *host, const r1cs *r, int m, const witness *w,
                            uint64_t first, uint64_t n, fr_t *z, cuzk_error *err) {
    const eval_run run = {host, r, w, m, true, first, n, z};
    return eval_all(&run, err);
}

/* --- is every row satisfied? --- */

#define CHECK_ROWS 1024u

typedef struct check_run {
    const cuzk_host *host;
    const r1cs *r;
    const witness *w;
    fr_t *rows;           /* 3 * CHECK_ROWS for each worker */
    _Atomic uint64_t bad; /* lowest bad row so far; r->rows: none */
} check_run;

static void note_bad(check_run *run, uint64_t row) {
    uint64_t bad = atomic_load(&run->bad);
    while (row < bad && !atomic_compare_exchange_weak(&run->bad, &bad, row)) {
    }
}

static void check_task(void *arg, size_t task, unsigned worker) {
    check_run *run = arg;
    fr_t *abc = run->rows + (size_t)worker * 3 * CHECK_ROWS;
    const uint64_t end_of_task = (task + 1) * TASK_ROWS;
    const uint64_t end = end_of_task < run->r->rows ? end_of_task : run->r->rows;
    for (uint64_t row = task * TASK_ROWS; row < end; row += CHECK_ROWS) {
        const uint64_t n = end - row < CHECK_ROWS ? end - row : CHECK_ROWS;
        if (row >= atomic_load(&run->bad) || cuzk_host_cancelled(run->host)) return;
        for (int m = 0; m < 3; m++)
            eval_rows(run->r, m, run->w, false, row, n, abc + (unsigned)m * CHECK_ROWS);
        for (uint64_t i = 0; i < n; i++) {
            fr_t product;
            fr_mul(&product, &abc[i], &abc[CHECK_ROWS + i]);
            if (!fr_eq(&product, &abc[2 * CHECK_ROWS + i])) {
                note_bad(run, row + i);
                return;
            }
        }
    }
}

cuzk_status r1cs_check(const cuzk_host *host, const r1cs *r, const witness *w, uint64_t *bad_row,
                       cuzk_error *err) {
    check_run run = {.host = host, .r = r, .w = w, .bad = r->rows};
    void *memory = NULL;
    if (bad_row != NULL) *bad_row = r->rows;
    CUZK_TRY(check_arguments(r, R1CS_C, w, err));
    CUZK_TRY(
        cuzk_host_alloc(host, &memory, host->workers, 3 * CHECK_ROWS * sizeof(fr_t), "check", err));
    run.rows = memory;
    cuzk_host_parallel(host, (size_t)((r->rows + TASK_ROWS - 1) / TASK_ROWS), check_task, &run);
    explicit_bzero(memory, host->workers * 3 * CHECK_ROWS * sizeof(fr_t));
    cuzk_host_free(host, memory, host->workers, 3 * CHECK_ROWS * sizeof(fr_t));
    if (cuzk_host_cancelled(host))
        return cuzk_fail(err, CUZK_ERR_CANCELLED, "checking %s: cancelled", r->name);
    const uint64_t bad = run.bad;
    if (bad == r->rows) return CUZK_OK;
    if (bad_row != NULL) *bad_row = bad;
    const r1cs_place at = r1cs_locate(r, bad);
    return cuzk_fail(err, CUZK_ERR_UNSATISFIED,
                     "%s: row %llu is not satisfied (block %s, instance %llu, row %llu of it)",
                     r->name, (unsigned long long)bad, at.block->name,
                     (unsigned long long)at.instance, (unsigned long long)at.row);
}
