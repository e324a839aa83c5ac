/* The QAP polynomials at tau: a pass over the rows with the Lagrange coefficients of the domain. */
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

typedef struct rows_job {
    const cuzk_host *host;
    const r1cs *circuit;
    const fr_t *lagrange;
    groth16_qap *qap;
    size_t max_terms;
    cs_var *vars;    /* 3 * max_terms */
    uint16_t *coefs; /* 3 * max_terms */
} rows_job;

/* One task for each matrix: every task adds into its own vector. */
static void rows_task(void *arg, size_t matrix, unsigned worker) {
    (void)worker;
    const rows_job *job = arg;
    const r1cs *circuit = job->circuit;
    cs_var *vars = job->vars + matrix * job->max_terms;
    uint16_t *coefs = job->coefs + matrix * job->max_terms;
    fr_t *inputs = job->qap->at_tau[matrix], *aux = inputs + circuit->inputs;
    const uint64_t rows = circuit->rows + circuit->inputs;
    for (uint64_t row = 0; row < rows; row++) {
        if (row % CANCEL_ROWS == 0 && cuzk_host_cancelled(job->host)) return;
        const size_t n = r1cs_row(circuit, (int)matrix, row, vars, coefs);
        for (size_t t = 0; t < n; t++) {
            const uint32_t index = vars[t] & ~CS_INPUT_FLAG;
            fr_t *sum = (vars[t] & CS_INPUT_FLAG) != 0 ? &inputs[index] : &aux[index];
            fr_t term = job->lagrange[row];
            if (coefs[t] != 0) fr_mul(&term, &term, &circuit->dict[coefs[t]]);
            fr_add(sum, sum, &term);
        }
    }
}

static cuzk_status add_rows(const cuzk_host *host, const r1cs *circuit, const fr_t *coefficients,
                            groth16_qap *qap, cuzk_error *err) {
    rows_job job = {host, circuit, coefficients, qap, r1cs_max_row_terms(circuit), NULL, NULL};
    const size_t n = 3 * job.max_terms;
    void *vars = NULL, *coefs = NULL;
    cuzk_status status = cuzk_host_alloc(host, &vars, n, sizeof *job.vars, "row terms", err);
    if (status == CUZK_OK)
        status = cuzk_host_alloc(host, &coefs, n, sizeof *job.coefs, "row terms", err);
    if (status == CUZK_OK) {
        job.vars = vars;
        job.coefs = coefs;
        cuzk_host_parallel(host, 3, rows_task, &job);
        if (cuzk_host_cancelled(host))
            status = cuzk_fail(err, CUZK_ERR_CANCELLED, "set-up cancelled");
    }
    cuzk_host_free(host, vars, n, sizeof *job.vars);
    cuzk_host_free(host, coefs, n, sizeof *job.coefs);
    return status;
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
        memset(memory, 0, (qap->inputs + qap->aux) * sizeof(fr_t));
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
