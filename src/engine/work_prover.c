#include "engine/work_prover.h"

#include <string.h>

#include "filecoin/circuits.h"
#include "prover/key.h"
#include "prover/prove.h"
#include "prover/size.h"

/* engine_job_data is a proof_job, engine_key_data a proving_key: only the names differ. */
static proof_job *as_job(const engine_job_data *job) {
    return (proof_job *)(uintptr_t)job;
}
static proving_key *as_key(const engine_key_data *key) {
    return (proving_key *)(uintptr_t)key;
}

static cuzk_status open_job(void *self, const cuzk_host *host, const uint8_t *body, size_t bytes,
                            engine_job_data **out, cuzk_error *err) {
    const work_prover *w = self;
    proof_job *job;
    CUZK_TRY(w->decode(host, body, bytes, &job, err));
    *out = (engine_job_data *)job;
    return CUZK_OK;
}

static void close_job(void *self, const cuzk_host *host, engine_job_data *job) {
    (void)self;
    proof_job_free(host, as_job(job));
}

static void describe(void *self, const engine_job_data *data, char circuit[32],
                     unsigned *partitions, uint64_t *job_bytes, uint64_t *bytes_of_witness) {
    const proof_job *job = as_job(data);
    circuit_size size = {0};
    (void)self;
    circuit_id_format(&job->circuit, circuit);
    *partitions = job->partitions;
    *job_bytes = proof_job_bytes(job);
    (void)circuit_size_of(&job->circuit, &size, NULL);
    *bytes_of_witness = size.witness_bytes;
}

static cuzk_status key_size(void *self, const char *circuit, uint64_t *host_bytes,
                            cuzk_error *err) {
    circuit_id id;
    circuit_size size = {0};
    (void)self;
    CUZK_TRY(circuit_id_parse(circuit, &id, err));
    CUZK_TRY(circuit_size_of(&id, &size, err));
    *host_bytes = size.circuit_bytes;
    return CUZK_OK;
}

static cuzk_status key_load(void *self, const cuzk_host *host, const char *circuit,
                            engine_key_data **out, cuzk_error *err) {
    const work_prover *w = self;
    circuit_id id;
    proving_key *key;
    CUZK_TRY(circuit_id_parse(circuit, &id, err));
    CUZK_TRY(proving_key_load(host, &id, w->params_dir, &key, err));
    *out = (engine_key_data *)key;
    return CUZK_OK;
}

static void key_free(void *self, const cuzk_host *host, engine_key_data *key) {
    (void)self;
    proving_key_free(host, as_key(key));
}

static executor_key for_executor(void *self, const engine_key_data *key) {
    (void)self;
    return proving_key_for_executor(as_key(key));
}

static cuzk_status make_witness(void *self, const cuzk_host *host, const engine_key_data *key,
                                const engine_job_data *job, unsigned partition, witness *w,
                                cuzk_error *err) {
    (void)self;
    CUZK_TRY(witness_new(host, as_key(key)->circuit, w, err));
    const cuzk_status status =
        proof_job_witness(host, as_job(job), as_key(key)->circuit, partition, w, err);
    if (status != CUZK_OK) witness_free(host, w);
    return status;
}

static void drop_witness(void *self, const cuzk_host *host, witness *w) {
    (void)self;
    witness_free(host, w);
}

static cuzk_status finish(void *self, const cuzk_host *host, const engine_key_data *key,
                          const engine_job_data *job, unsigned partition, const groth16_sums *sums,
                          uint8_t proof[GROTH16_PROOF_BYTES], cuzk_error *err) {
    groth16_proof p;
    (void)self;
    CUZK_TRY(prove_finish(host, as_key(key), as_job(job), partition, sums, NULL, &p, err));
    groth16_proof_write(&p, proof);
    return CUZK_OK;
}

static cuzk_status verify_all(void *self, const cuzk_host *host, const engine_key_data *key,
                              const engine_job_data *job, const uint8_t *proof, size_t bytes,
                              cuzk_error *err) {
    (void)self;
    return verify_job(host, as_key(key)->params->vk, as_job(job), proof, bytes, err);
}

const engine_work_ops work_prover_ops = {
    .open = open_job,
    .close = close_job,
    .describe = describe,
    .key_size = key_size,
    .key_load = key_load,
    .key_free = key_free,
    .key_for_executor = for_executor,
    .witness = make_witness,
    .witness_drop = drop_witness,
    .finish = finish,
    .verify_all = verify_all,
};
