/* The QAP polynomials at tau: the rows with the Lagrange coefficients of the domain. */
#include "groth16/groth16_internal.h"

#include "poly/ntt.h"

#define LAGRANGE_CHUNK 4096u
#define CANCEL_ROWS 65536u

typedef struct lagrange_job {
    fr_t *out; /* m coefficients */
    size_t m;
    fr_t omega, tau, scale;          /* scale = (tau^m - 1) / m */
    fr_t (*scratch)[LAGRANGE_CHUNK]; /* one for each worker */
} lagrange_job;

/* L_j(tau) = scale omega^j / (tau - omega^j). */
static void lagrange_task(void *arg, size_t task, unsigned worker) {
    lagrange_job *job = arg;
    const size_t first = task * LAGRANGE_CHUNK, n = groth16_min(LAGRANGE_CHUNK, job->m - first);
    fr_t *out = job->out + first, start, power;
    fr_pow_var(&start, &job->omega, &(uint64_t){first}, 1);
    power = start;
    for (size_t j = 0; j < n; j++) {
        fr_sub(&out[j], &job->tau, &power);
        fr_mul(&power, &power, &job->omega);
    }
    fr_batch_inv(out, n, job->scratch[worker]);
    fr_mul(&power, &start, &job->scale);
    for (size_t j = 0; j < n; j++) {
        fr_mul(&out[j], &out[j], &power);
        fr_mul(&power, &power, &job->omega);
    }
}

static cuzk_status lagrange(const cuzk_host *host, unsigned log2_m, const fr_t *tau,
                            const fr_t *vanishing, fr_t *out, cuzk_error *err) {
    lagrange_job job = {.out = out, .m = (size_t)1 << log2_m, .tau = *tau};
    ntt_root_of_unity(log2_m, &job.omega);
    fr_from_u64(&job.scale, job.m);
    fr_inv(&job.scale, &job.scale);
    fr_mul(&job.scale, &job.scale, vanishing);
    void *scratch = NULL;
    CUZK_TRY(cuzk_host_alloc(host, &scratch, host->workers, sizeof *job.scratch,
                             "Lagrange coefficients", err));
    job.scratch = scratch;
    cuzk_host_parallel(host, (job.m + LAGRANGE_CHUNK - 1) / LAGRANGE_CHUNK, lagrange_task, &job);
    groth16_wipe_free(host, scratch, host->workers, sizeof *job.scratch);
    return CUZK_OK;
}

/* Rows are worked off twice. Variables of an instance are met in its own rows alone, and in those
 * of later blocks as shared ones, so instances add into their own variables in parallel; what all
 * share (inputs and variables of other blocks) is added by one task for each matrix. A row's shared
 * terms come before its AUX_LOCAL ones, so the second pass looks at few terms. */
typedef struct rows_job {
    const cuzk_host *host;
    const r1cs *circuit;
    const r1cs_block *block; /* of the first pass */
    const fr_t *lagrange;
    groth16_qap *qap;
} rows_job;

static void add_term(const rows_job *job, uint64_t row, uint16_t coef, fr_t *sum) {
    fr_t term = job->lagrange[row];
    if (coef != 0) fr_mul(&term, &term, &job->circuit->dict[coef]);
    fr_add(sum, sum, &term);
}

/* A task for each instance of a block and each matrix: terms of the instance's own variables. */
static void own_terms_task(void *arg, size_t task, unsigned worker) {
    (void)worker;
    const rows_job *job = arg;
    const r1cs_block *b = job->block;
    const uint64_t instance = task / 3;
    const r1cs_matrix *m = &b->m[task % 3];
    fr_t *const inputs = job->qap->at_tau[task % 3], *const aux = inputs + job->qap->inputs;
    fr_t *const own_inputs = inputs + b->input_base + instance * b->inputs, *const own_aux =
                                                                                aux + b->aux_base +
                                                                                instance * b->aux;
    const uint64_t base = b->row_base + instance * b->rows;
    for (uint64_t row = 0; row < b->rows; row++) {
        if (row % CANCEL_ROWS == 0 && cuzk_host_cancelled(job->host)) return;
        for (uint32_t k = m->row_start[row]; k < m->row_start[row + 1]; k++) {
            const uint32_t tag = m->col[k] >> R1CS_COL_TAG_SHIFT;
            if (tag != R1CS_AUX_LOCAL && tag != R1CS_INPUT_LOCAL) continue;
            fr_t *const own = tag == R1CS_AUX_LOCAL ? own_aux : own_inputs;
            add_term(job, base + row, m->coef[k], &own[m->col[k] & R1CS_COL_INDEX_MASK]);
        }
    }
}

/* Terms of one row of an instance that are not its own variables'. */
static void add_shared(const rows_job *job, const r1cs_block *b, uint64_t instance, uint64_t row,
                       size_t matrix) {
    const r1cs_matrix *m = &b->m[matrix];
    fr_t *const inputs = job->qap->at_tau[matrix], *const aux = inputs + job->qap->inputs;
    for (uint32_t k = m->row_start[row]; k < m->row_start[row + 1]; k++) {
        const uint32_t index = m->col[k] & R1CS_COL_INDEX_MASK;
        fr_t *sum;
        switch ((r1cs_col_tag)(m->col[k] >> R1CS_COL_TAG_SHIFT)) {
        case R1CS_AUX_LOCAL:
            return; /* and so are the rest */
        case R1CS_INPUT_LOCAL:
            continue;
        case R1CS_AUX_IMPORT:
            sum = &aux[b->imports[instance * b->n_imports + index]];
            break;
        case R1CS_AUX_GLOBAL:
            sum = &aux[index];
            break;
        default:
            sum = &inputs[index];
        }
        add_term(job, b->row_base + instance * b->rows + row, m->coef[k], sum);
    }
}

static void shared_terms_task(void *arg, size_t matrix, unsigned worker) {
    (void)worker;
    const rows_job *job = arg;
    const r1cs *c = job->circuit;
    for (unsigned i = 0; i < c->n_blocks; i++) {
        const r1cs_block *b = &c->blocks[i];
        for (uint64_t instance = 0; instance < b->count; instance++) {
            if (cuzk_host_cancelled(job->host)) return;
            for (uint64_t row = 0; row < b->rows; row++)
                add_shared(job, b, instance, row, matrix);
        }
    }
    for (uint64_t i = 0; matrix == R1CS_A && i < c->inputs; i++) /* input_i * 0 = 0 */
        add_term(job, c->rows + i, 0, &job->qap->at_tau[R1CS_A][i]);
}

static cuzk_status add_rows(const cuzk_host *host, const r1cs *circuit, const fr_t *coefficients,
                            groth16_qap *qap, cuzk_error *err) {
    rows_job job = {host, circuit, NULL, coefficients, qap};
    for (unsigned i = 0; i < circuit->n_blocks; i++) {
        job.block = &circuit->blocks[i];
        cuzk_host_parallel(host, 3 * (size_t)job.block->count, own_terms_task, &job);
    }
    cuzk_host_parallel(host, 3, shared_terms_task, &job);
    if (cuzk_host_cancelled(host)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "set-up cancelled");
    return CUZK_OK;
}

static cuzk_status qap_fill(const cuzk_host *host, const r1cs *circuit, const fr_t *tau,
                            groth16_qap *qap, cuzk_error *err) {
    const size_t m = (size_t)1 << circuit->log2_domain;
    const fr_t one = fr_one();
    qap->vanishing = *tau;
    for (unsigned i = 0; i < circuit->log2_domain; i++)
        fr_sqr(&qap->vanishing, &qap->vanishing);
    fr_sub(&qap->vanishing, &qap->vanishing, &one);
    if (fr_is_zero(&qap->vanishing))
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "tau lies in the domain of size 2^%u",
                         circuit->log2_domain);
    for (int k = 0; k < 3; k++) {
        void *memory = NULL;
        CUZK_TRY(cuzk_host_alloc(host, &memory, qap->inputs + qap->aux, sizeof(fr_t),
                                 "QAP polynomials", err));
        cuzk_host_zero(host, memory, (qap->inputs + qap->aux) * sizeof(fr_t));
        qap->at_tau[k] = memory;
    }
    void *coefficients = NULL;
    CUZK_TRY(cuzk_host_alloc(host, &coefficients, m, sizeof(fr_t), "Lagrange coefficients", err));
    cuzk_status status =
        lagrange(host, circuit->log2_domain, tau, &qap->vanishing, coefficients, err);
    if (status == CUZK_OK) status = add_rows(host, circuit, coefficients, qap, err);
    groth16_wipe_free(host, coefficients, m, sizeof(fr_t));
    return status;
}

cuzk_status groth16_qap_new(const cuzk_host *host, const r1cs *circuit, const fr_t *tau,
                            groth16_qap *out, cuzk_error *err) {
    *out = (groth16_qap){.inputs = circuit->inputs, .aux = circuit->aux};
    const cuzk_status status = qap_fill(host, circuit, tau, out, err);
    if (status != CUZK_OK) groth16_qap_free(host, out);
    return status;
}

void groth16_qap_free(const cuzk_host *host, groth16_qap *qap) {
    for (int k = 0; k < 3; k++) {
        groth16_wipe_free(host, qap->at_tau[k], qap->inputs + qap->aux, sizeof(fr_t));
        qap->at_tau[k] = NULL;
    }
}
