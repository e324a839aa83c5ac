/* cuzk bench witness and cuzk bench prove. */
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/device.h"
#include "cli/inputs.h"
#include "filecoin/synth.h"
#include "prover/prove.h"

typedef struct witness_bench {
    const cuzk_host *host;
    proof_job *job;
    r1cs *circuit;
    witness w;
    fr_t *rows; /* one tile, or the whole domain for the executor's way of working */
    uint64_t n_rows;
} witness_bench;

static cuzk_status run_witness(void *arg) {
    witness_bench *b = arg;
    return proof_job_witness(b->host, b->job, b->circuit, 0, &b->w, NULL);
}
static cuzk_status run_eval_a(void *arg) {
    witness_bench *b = arg;
    return r1cs_eval(b->host, b->circuit, R1CS_A, &b->w, 0, b->n_rows, b->rows, NULL);
}
static cuzk_status run_eval_b(void *arg) {
    witness_bench *b = arg;
    return r1cs_eval(b->host, b->circuit, R1CS_B, &b->w, 0, b->n_rows, b->rows, NULL);
}

/* A synthetic job for any PoRep circuit. */
static cuzk_status synth_job(const cuzk_host *host, const circuit_id *id, proof_job **out,
                             cuzk_error *err) {
    static const node32 seed = {1};
    registered_seal seal;
    porep_c1 *c1;
    char name[64];
    if (id->kind != PROOF_POREP)
        return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "bench witness: porep circuits only");
    snprintf(name, sizeof name, "StackedDrg%sV1_1", id->sector->name);
    CUZK_TRY(registered_seal_by_name(name, &seal, err));
    CUZK_TRY(porep_synth(host, &seal, 1000, 1, seed, &c1, err));
    const cuzk_status status = proof_job_porep(host, c1, out, err);
    if (status != CUZK_OK) porep_c1_free(host, c1);
    return status;
}

static cuzk_status witness_rows(bench_table *t, witness_bench *b, cuzk_error *err) {
    CUZK_TRY(witness_new(b->host, b->circuit, &b->w, err));
    b->n_rows = b->circuit->rows + b->circuit->inputs;
    cuzk_status status =
        cuzk_host_alloc(b->host, (void **)&b->rows, b->n_rows, sizeof(fr_t), "rows of A w", err);
    if (status == CUZK_OK) {
        const double cpu = cli_cpu_seconds();
        status = proof_job_witness(b->host, b->job, b->circuit, 0, &b->w, err);
        if (!t->json)
            printf("first witness: %.3f core-seconds, %llu bytes\n", cli_cpu_seconds() - cpu,
                   (unsigned long long)witness_bytes(b->circuit));
        bench_large(t, "witness", 0, run_witness, b);
        bench_large(t, "A w", b->n_rows, run_eval_a, b);
        bench_large(t, "B w", b->n_rows, run_eval_b, b);
        cuzk_host_free(b->host, b->rows, b->n_rows, sizeof(fr_t));
    }
    witness_free(b->host, &b->w);
    return status;
}

cuzk_status bench_witness(const cuzk_host *host, bench_table *t, const char *circuit,
                          cuzk_error *err) {
    circuit_id id;
    witness_bench b = {.host = host};
    CUZK_TRY(circuit_id_parse(circuit, &id, err));
    CUZK_TRY(synth_job(host, &id, &b.job, err));
    const double start = cli_now();
    cuzk_status status = circuit_record(host, &id, false, &b.circuit, err);
    if (status == CUZK_OK) {
        bench_open(t, circuit);
        if (!t->json) printf("recorded in %.2f s\n", cli_now() - start);
        status = witness_rows(t, &b, err);
        bench_close(t);
        r1cs_free(host, b.circuit);
    }
    proof_job_free(host, b.job);
    return status;
}

typedef struct prove_bench {
    const cuzk_host *host;
    proof_job *job;
    proving_key *key;
    executor *ex;
} prove_bench;

static cuzk_status run_prove(void *arg) {
    prove_bench *b = arg;
    groth16_proof proof;
    return prove_partition(b->host, b->ex, b->key, b->job, 0, NULL, &proof, NULL, NULL);
}

cuzk_status bench_prove(const cuzk_host *host, bench_table *t, const char *c1, const char *params,
                        const char *device, cuzk_error *err) {
    static job_files files;
    files = (job_files){.kind = PROOF_POREP, .c1 = c1};
    prove_bench b = {.host = host};
    cuzk_status status = job_files_open(host, &files, &b.job, err);
    if (status == CUZK_OK) status = proving_key_load(host, &b.job->circuit, params, &b.key, err);
    if (status == CUZK_OK) status = device_open(host, device, &b.ex, err);
    if (status == CUZK_OK) {
        executor_key key = proving_key_for_executor(b.key);
        key.effort = EXECUTOR_THOROUGH;
        status = b.ex->ops->load(b.ex, &key, err);
    }
    if (status == CUZK_OK) {
        executor_info info;
        b.ex->ops->info(b.ex, &info);
        bench_open(t, info.name);
        bench_large(t, "one partition, verified", 0, run_prove, &b);
        bench_close(t);
        b.ex->ops->unload(b.ex);
    }
    if (b.ex != NULL) b.ex->ops->close(b.ex);
    proving_key_free(host, b.key);
    proof_job_free(host, b.job);
    return status;
}
