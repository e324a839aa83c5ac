/* The CPU executor: A w and B w straight from the compact witness, the quotient, then the five sums
 * with BIT variables as subset sums and inputs and FIELD variables as one gathered MSM for each
 * query (docs/groth16.md). */
#include "groth16/executor.h"
#include "groth16/bits_compact.h"
#include "groth16/groth16_internal.h"

#include "poly/ntt.h"

#include <stdio.h>
#include <time.h>

typedef struct cpu_executor {
    executor base; /* first */
    executor_key key;
    ntt_domain *domain; /* NULL: nothing loaded */
    const witness *begun;
} cpu_executor;

static cpu_executor *cpu_of(executor *ex) {
    return (cpu_executor *)(void *)ex;
}

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static void cpu_info(executor *ex, executor_info *out) {
    *out = (executor_info){.kind = "cpu", .ordinal = -1, .slots = 1};
    snprintf(out->name, sizeof out->name, "CPU (%u threads)", ex->host->workers);
}

/* ---- which bases of a query take part, and with what ---- */

/* The variables that a query has bases for: `inputs` of the inputs, then `aux` of the aux. */
typedef struct density {
    uint64_t inputs, aux;
    const uint64_t *input_map, *aux_map; /* NULL: every one */
} density;

static density density_l(const r1cs *c) {
    return (density){.aux = c->aux};
}
static density density_a(const r1cs *c) {
    return (density){c->inputs, c->a_aux, NULL, c->a_aux_map};
}
static density density_b(const r1cs *c) {
    return (density){c->b_inputs, c->b_aux, c->b_input_map, c->b_aux_map};
}

static size_t bitmap_words(uint64_t n) {
    return (size_t)((n + 63) / 64);
}

static uint64_t dense_word(const density *d, size_t w) {
    return d->aux_map == NULL ? ~(uint64_t)0 : d->aux_map[w];
}

static uint64_t dense_fields(const r1cs *c, const density *d) {
    uint64_t n = 0;
    for (size_t w = 0; w < bitmap_words(c->aux); w++)
        n += (uint64_t)__builtin_popcountll(c->field_map[w] & dense_word(d, w));
    return n;
}

/* A witness as a query sees it. */
typedef struct selection {
    uint64_t inputs; /* bases in front of the first aux one */
    uint64_t n_bits; /* aux bases */
    uint64_t *bits;  /* of the aux bases; owned unless the density is full */
    size_t n;        /* inputs and FIELD variables */
    uint32_t *index; /* their bases, ascending */
    fr_t *scalars;   /* and values */
    const uint64_t *bits_view;
} selection;

static uint64_t selection_bytes(const r1cs *c, const density *d) {
    const uint64_t bits = d->aux_map == NULL ? 0 : bitmap_words(d->aux) * sizeof(uint64_t);
    return bits + (d->inputs + dense_fields(c, d)) * (sizeof(uint32_t) + sizeof(fr_t));
}

static void select_scalars(const r1cs *c, const density *d, const witness *w, selection *s) {
    size_t n = 0;
    for (uint64_t i = 0; n < d->inputs; i++) {
        if (d->input_map != NULL && (d->input_map[i / 64] >> (i % 64) & 1) == 0) continue;
        s->index[n] = (uint32_t)n;
        s->scalars[n++] = w->inputs[i];
    }
    uint64_t base = d->inputs, field = 0; /* dense aux bases and FIELD variables so far */
    for (size_t k = 0; k < bitmap_words(c->aux); k++) {
        const uint64_t fields = c->field_map[k], dense = dense_word(d, k);
        for (uint64_t left = fields & dense; left != 0; left &= left - 1) {
            const uint64_t below = (left & (0 - left)) - 1;
            s->index[n] = (uint32_t)(base + (uint64_t)__builtin_popcountll(dense & below));
            s->scalars[n++] = w->fields[field + (uint64_t)__builtin_popcountll(fields & below)];
        }
        base += (uint64_t)__builtin_popcountll(dense);
        field += (uint64_t)__builtin_popcountll(fields);
    }
}

static void selection_free(const cuzk_host *host, selection *s) {
    groth16_wipe_free(host, s->bits, bitmap_words(s->n_bits), sizeof *s->bits);
    cuzk_host_free(host, s->index, s->n, sizeof *s->index);
    groth16_wipe_free(host, s->scalars, s->n, sizeof *s->scalars);
}

static cuzk_status selection_new(const cuzk_host *host, const r1cs *c, const density *d,
                                 const witness *w, selection *s, cuzk_error *err) {
    *s = (selection){.inputs = d->inputs, .n_bits = d->aux, .bits_view = w->bits};
    s->n = (size_t)(d->inputs + dense_fields(c, d));
    void *index = NULL, *scalars = NULL, *bits = NULL;
    cuzk_status status = cuzk_host_alloc(host, &index, s->n, sizeof *s->index, "selection", err);
    s->index = index;
    if (status == CUZK_OK)
        status = cuzk_host_alloc(host, &scalars, s->n, sizeof *s->scalars, "selection", err);
    s->scalars = scalars;
    if (status == CUZK_OK && d->aux_map != NULL) {
        status =
            cuzk_host_alloc(host, &bits, bitmap_words(d->aux), sizeof *s->bits, "selection", err);
        s->bits = bits;
    }
    if (status != CUZK_OK) {
        selection_free(host, s);
        return status;
    }
    select_scalars(c, d, w, s);
    if (s->bits != NULL) {
        bits_compact(s->bits, w->bits, d->aux_map, bitmap_words(c->aux));
        s->bits_view = s->bits;
    }
    return CUZK_OK;
}

/* ---- l, a, b ---- */

/* A subset sum over the aux bases, which follow those of the inputs, and a multiplication over the
 * bases of the list. */
static msm_bases aux_bases(msm_bases bases, const selection *s, size_t point_bytes) {
    return (msm_bases){(const uint8_t *)bases.data + s->inputs * point_bytes,
                       bases.count - (size_t)s->inputs, bases.form};
}

static cuzk_status sum_context(cuzk_error *err, cuzk_status status, const groth16_params *params,
                               const char *query, uint64_t first) {
    return status == CUZK_OK ? status
                             : cuzk_error_context(err, status, "%s: %s, counted from %llu",
                                                  params->path, query, (unsigned long long)first);
}

/* Steps of a proof for the progress display: A w and B w, the quotient, and the five sums. */
enum { CPU_STEPS = 7 };
static void step_done(const cpu_executor *ex, uint64_t step) {
    cuzk_host_progress(ex->base.host, "sums", step, CPU_STEPS);
}

static cuzk_status query_g1(const cpu_executor *ex, const char *query, msm_bases bases,
                            const selection *s, g1_t *out, cuzk_error *err) {
    const cuzk_host *host = ex->base.host;
    g1_t bits;
    cuzk_status status = msm_subset_g1(host, &bits, aux_bases(bases, s, G1_UNCOMPRESSED_BYTES),
                                       s->bits_view, s->n_bits, err);
    CUZK_TRY(sum_context(err, status, ex->key.params, query, s->inputs));
    status = msm_gather_g1(host, out, bases, s->index, s->scalars, s->n, err);
    CUZK_TRY(sum_context(err, status, ex->key.params, query, 0));
    g1_add(out, out, &bits);
    return CUZK_OK;
}

static cuzk_status query_g2(const cpu_executor *ex, const char *query, msm_bases bases,
                            const selection *s, g2_t *out, cuzk_error *err) {
    const cuzk_host *host = ex->base.host;
    g2_t bits;
    cuzk_status status = msm_subset_g2(host, &bits, aux_bases(bases, s, G2_UNCOMPRESSED_BYTES),
                                       s->bits_view, s->n_bits, err);
    CUZK_TRY(sum_context(err, status, ex->key.params, query, s->inputs));
    status = msm_gather_g2(host, out, bases, s->index, s->scalars, s->n, err);
    CUZK_TRY(sum_context(err, status, ex->key.params, query, 0));
    g2_add(out, out, &bits);
    return CUZK_OK;
}

/* The sums of a density: in G1, which completes a step, and for b in G2 as well (g2 is NULL
 * otherwise). */
static cuzk_status sum_queries(const cpu_executor *ex, const witness *w, density d,
                               const char *query, uint64_t step, msm_bases bases, g1_t *g1,
                               g2_t *g2, cuzk_error *err) {
    selection s;
    CUZK_TRY(selection_new(ex->base.host, ex->key.circuit, &d, w, &s, err));
    cuzk_status status = query_g1(ex, query, bases, &s, g1, err);
    step_done(ex, step);
    if (status == CUZK_OK && g2 != NULL)
        status = query_g2(ex, "b_g2", ex->key.params->b_g2, &s, g2, err);
    selection_free(ex->base.host, &s);
    return status;
}

/* ---- h ---- */

/* The three vectors of the quotient; b and c go before the MSM starts. */
typedef struct quotient {
    size_t m;
    fr_t *v[3];
} quotient;

static void quotient_free(const cuzk_host *host, quotient *q, int first) {
    for (int k = first; k < 3; k++) {
        groth16_wipe_free(host, q->v[k], q->m, sizeof(fr_t));
        q->v[k] = NULL;
    }
}

static cuzk_status quotient_new(const cpu_executor *ex, const witness *w, quotient *q,
                                executor_timing *timing, cuzk_error *err) {
    const cuzk_host *host = ex->base.host;
    const r1cs *c = ex->key.circuit;
    for (int k = 0; k < 3; k++) {
        void *memory = NULL;
        CUZK_TRY(cuzk_host_alloc(host, &memory, q->m, sizeof(fr_t), "quotient", err));
        q->v[k] = memory;
    }
    const double start = now_ms();
    CUZK_TRY(r1cs_eval(host, c, R1CS_A, w, 0, q->m, q->v[0], err));
    CUZK_TRY(r1cs_eval(host, c, R1CS_B, w, 0, q->m, q->v[1], err));
    const double evaluated = now_ms();
    step_done(ex, 1);
    if (cuzk_host_cancelled(host)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "proof cancelled");
    ntt_quotient(host, ex->domain, q->v[0], q->v[1], q->v[2]);
    timing->eval_ms = evaluated - start;
    timing->ntt_ms = now_ms() - evaluated;
    step_done(ex, 2);
    return CUZK_OK;
}

static cuzk_status sum_h(const cpu_executor *ex, const witness *w, groth16_sums *out,
                         executor_timing *timing, cuzk_error *err) {
    const cuzk_host *host = ex->base.host;
    quotient q = {.m = (size_t)1 << ex->key.circuit->log2_domain};
    cuzk_status status = quotient_new(ex, w, &q, timing, err);
    quotient_free(host, &q, 1);
    if (status == CUZK_OK && cuzk_host_cancelled(host))
        status = cuzk_fail(err, CUZK_ERR_CANCELLED, "proof cancelled");
    if (status == CUZK_OK) {
        status = msm_g1(host, &out->h, ex->key.params->h, q.v[0], q.m - 1, err);
        status = sum_context(err, status, ex->key.params, "h", 0);
    }
    quotient_free(host, &q, 0);
    return status;
}

/* ---- the executor ---- */

static void cpu_unload(executor *ex) {
    cpu_executor *cpu = cpu_of(ex);
    ntt_domain_free(ex->host, cpu->domain);
    cpu->domain = NULL;
    cpu->begun = NULL;
}

static cuzk_status cpu_load(executor *ex, const executor_key *key, cuzk_error *err) {
    cpu_executor *cpu = cpu_of(ex);
    CUZK_TRY(groth16_params_fit(key->params, key->circuit, err));
    cpu_unload(ex);
    cpu->key = *key;
    return ntt_domain_new(ex->host, key->circuit->log2_domain, &cpu->domain, err);
}

static cuzk_status cpu_begin(executor *ex, unsigned slot, const witness *w, cuzk_error *err) {
    cpu_executor *cpu = cpu_of(ex);
    if (cpu->domain == NULL)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "CPU executor: begin without a loaded circuit");
    if (slot != 0 || cpu->begun != NULL)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "CPU executor: slot %u is %s", slot,
                         slot != 0 ? "out of range" : "in use");
    const r1cs *c = cpu->key.circuit;
    if (w->n_aux != c->aux || w->n_fields != c->fields || w->n_inputs != c->inputs)
        return cuzk_fail(err, CUZK_ERR_MISMATCH,
                         "witness of %llu aux, %llu field and %llu input values for circuit %s of "
                         "%llu, %llu and %llu",
                         (unsigned long long)w->n_aux, (unsigned long long)w->n_fields,
                         (unsigned long long)w->n_inputs, c->name, (unsigned long long)c->aux,
                         (unsigned long long)c->fields, (unsigned long long)c->inputs);
    cpu->begun = w;
    return CUZK_OK;
}

static cuzk_status cpu_sums(const cpu_executor *cpu, const witness *w, groth16_sums *out,
                            executor_timing *timing, cuzk_error *err) {
    const r1cs *c = cpu->key.circuit;
    const groth16_params *p = cpu->key.params;
    const double start = now_ms();
    step_done(cpu, 0);
    CUZK_TRY(sum_h(cpu, w, out, timing, err));
    step_done(cpu, 3);
    CUZK_TRY(sum_queries(cpu, w, density_l(c), "l", 4, p->l, &out->l, NULL, err));
    CUZK_TRY(sum_queries(cpu, w, density_a(c), "a", 5, p->a, &out->a, NULL, err));
    CUZK_TRY(sum_queries(cpu, w, density_b(c), "b_g1", 6, p->b_g1, &out->b_g1, &out->b_g2, err));
    step_done(cpu, 7);
    timing->total_ms = now_ms() - start;
    timing->msm_ms = timing->total_ms - timing->eval_ms - timing->ntt_ms;
    return CUZK_OK;
}

static cuzk_status cpu_finish(executor *ex, unsigned slot, groth16_sums *out,
                              executor_timing *timing, cuzk_error *err) {
    cpu_executor *cpu = cpu_of(ex);
    if (slot != 0 || cpu->begun == NULL)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "CPU executor: slot %u was not begun", slot);
    const witness *w = cpu->begun;
    cpu->begun = NULL;
    executor_timing spent = {0};
    const cuzk_status status = cpu_sums(cpu, w, out, &spent, err);
    if (timing != NULL) *timing = spent;
    return status;
}

static void cpu_close(executor *ex) {
    cpu_unload(ex);
    cuzk_host_free(ex->host, ex, 1, sizeof(cpu_executor));
}

/* The most that a query's sums hold at once, the selection included. */
static uint64_t query_bytes_g1(unsigned workers, const r1cs *c, density d) {
    const size_t terms = (size_t)(d.inputs + dense_fields(c, &d));
    return selection_bytes(c, &d) +
           groth16_max(msm_workspace_bytes_g1(workers, terms),
                       msm_subset_workspace_bytes_g1(workers, (size_t)d.aux));
}
static uint64_t query_bytes_g2(unsigned workers, const r1cs *c, density d) {
    const size_t terms = (size_t)(d.inputs + dense_fields(c, &d));
    return selection_bytes(c, &d) +
           groth16_max(msm_workspace_bytes_g2(workers, terms),
                       msm_subset_workspace_bytes_g2(workers, (size_t)d.aux));
}

static cuzk_status cpu_plan(executor *ex, const executor_key *key, uint64_t *device_bytes,
                            uint64_t *host_bytes, cuzk_error *err) {
    (void)err;
    const r1cs *c = key->circuit;
    const unsigned workers = ex->host->workers;
    const uint64_t m = (uint64_t)1 << c->log2_domain, vector = m * sizeof(fr_t);
    uint64_t peak = groth16_max(3 * vector, vector + msm_workspace_bytes_g1(workers, m - 1));
    peak = groth16_max(peak, query_bytes_g1(workers, c, density_l(c)));
    peak = groth16_max(peak, query_bytes_g1(workers, c, density_a(c)));
    peak = groth16_max(peak, query_bytes_g1(workers, c, density_b(c)));
    peak = groth16_max(peak, query_bytes_g2(workers, c, density_b(c)));
    *device_bytes = 0;
    *host_bytes = ntt_domain_bytes(c->log2_domain) + peak;
    return CUZK_OK;
}

static const executor_ops cpu_ops = {
    .info = cpu_info,
    .plan = cpu_plan,
    .load = cpu_load,
    .unload = cpu_unload,
    .begin = cpu_begin,
    .finish = cpu_finish,
    .close = cpu_close,
};

cuzk_status executor_cpu_open(const cuzk_host *host, executor **out, cuzk_error *err) {
    *out = NULL;
    void *memory = NULL;
    CUZK_TRY(cuzk_host_alloc(host, &memory, 1, sizeof(cpu_executor), "CPU executor", err));
    cpu_executor *cpu = memory;
    *cpu = (cpu_executor){.base = {&cpu_ops, host}};
    *out = &cpu->base;
    return CUZK_OK;
}
