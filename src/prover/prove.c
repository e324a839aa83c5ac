#include "prover/prove.h"

#include <string.h>
#include <time.h>

static double now_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* Is the proof right for what the job's public data demand? The inputs are derived anew, so a
 * vanilla proof that belongs to other public data cannot slip through. */
static cuzk_status verify_partition(const cuzk_host *host, const groth16_vk *vk,
                                    const proof_job *job, uint32_t k, const groth16_proof *proof,
                                    cuzk_error *err) {
    void *memory;
    CUZK_TRY(cuzk_host_alloc(host, &memory, job->n_public, sizeof(fr_t), "public inputs", err));
    fr_t *x = memory;
    cuzk_status status = proof_job_public_inputs(host, job, k, x, err);
    if (status == CUZK_OK) status = groth16_verify(host, vk, proof, x, job->n_public, err);
    cuzk_host_free(host, x, job->n_public, sizeof *x);
    return status;
}

cuzk_status prove_finish(const cuzk_host *host, const proving_key *key, const proof_job *job,
                         uint32_t k, const groth16_sums *sums, const groth16_blinding *rs,
                         groth16_proof *proof, cuzk_error *err) {
    groth16_blinding blinding;
    if (rs != NULL && fr_is_zero(&rs->r) && fr_is_zero(&rs->s))
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "blinding: r and s are both zero");
    if (rs != NULL)
        blinding = *rs;
    else
        CUZK_TRY(groth16_blinding_random(host, &blinding, err));
    groth16_assemble(key->params->vk, sums, &blinding, proof);
    groth16_blinding_wipe(&blinding);
    return verify_partition(host, key->params->vk, job, k, proof, err);
}

cuzk_status prove_partition(const cuzk_host *host, executor *ex, const proving_key *key,
                            const proof_job *job, uint32_t k, const groth16_blinding *rs,
                            groth16_proof *proof, partition_timing *timing, cuzk_error *err) {
    witness w;
    groth16_sums sums;
    partition_timing t = {0};
    CUZK_TRY(witness_new(host, key->circuit, &w, err));

    /* Without progress of its own: it is the small first part of the partition. */
    cuzk_host quiet = *host;
    quiet.progress = NULL;
    const double start = now_ms();
    cuzk_status status = proof_job_witness(&quiet, job, key->circuit, k, &w, err);
    t.witness_ms = now_ms() - start;

    if (status == CUZK_OK) status = ex->ops->begin(ex, 0, &w, err);
    if (status == CUZK_OK) status = ex->ops->finish(ex, 0, &sums, &t.device, err);
    witness_free(host, &w);
    if (status != CUZK_OK) return status;

    const double verify_start = now_ms();
    status = prove_finish(host, key, job, k, &sums, rs, proof, err);
    t.verify_ms = now_ms() - verify_start;
    if (timing != NULL) *timing = t;
    return status;
}

cuzk_status prove_job(const cuzk_host *host, executor *ex, const proving_key *key,
                      const proof_job *job, const groth16_blinding *fixed_rs, uint8_t *out,
                      partition_timing *timings, cuzk_error *err) {
    for (uint32_t k = 0; k < job->partitions; k++) {
        groth16_proof proof;
        cuzk_host_progress(host, "prove", k, job->partitions);
        const cuzk_status status =
            prove_partition(host, ex, key, job, k, fixed_rs != NULL ? &fixed_rs[k] : NULL, &proof,
                            timings != NULL ? &timings[k] : NULL, err);
        if (status != CUZK_OK) return cuzk_error_context(err, status, "partition %u", k);
        groth16_proof_write(&proof, out + (size_t)k * GROTH16_PROOF_BYTES);
    }
    cuzk_host_progress(host, "prove", job->partitions, job->partitions);
    return CUZK_OK;
}

/* Decode all proofs and derive all inputs; the caller owns the two arrays. */
static cuzk_status read_job(const cuzk_host *host, const proof_job *job, const uint8_t *bytes,
                            groth16_proof *proofs, fr_t *inputs, cuzk_error *err) {
    for (uint32_t k = 0; k < job->partitions; k++) {
        cuzk_status status =
            groth16_proof_read(&proofs[k], bytes + (size_t)k * GROTH16_PROOF_BYTES, err);
        if (status == CUZK_OK)
            status = proof_job_public_inputs(host, job, k, inputs + k * job->n_public, err);
        if (status != CUZK_OK) return cuzk_error_context(err, status, "partition %u", k);
    }
    return CUZK_OK;
}

cuzk_status verify_job(const cuzk_host *host, const groth16_vk *vk, const proof_job *job,
                       const uint8_t *proof, size_t bytes, cuzk_error *err) {
    const size_t n = job->partitions;
    if (bytes != n * GROTH16_PROOF_BYTES)
        return cuzk_fail(err, CUZK_ERR_FORMAT,
                         "proof: %zu bytes, expected exactly %zu (%zu partitions of %d)", bytes,
                         n * GROTH16_PROOF_BYTES, n, GROTH16_PROOF_BYTES);
    void *proofs = NULL, *inputs = NULL;
    cuzk_status status = cuzk_host_alloc(host, &proofs, n, sizeof(groth16_proof), "proofs", err);
    if (status == CUZK_OK)
        status = cuzk_host_alloc(host, &inputs, n * job->n_public, sizeof(fr_t), "inputs", err);
    if (status == CUZK_OK) status = read_job(host, job, proof, proofs, inputs, err);
    if (status == CUZK_OK) {
        status = groth16_verify_many(host, vk, proofs, n, inputs, job->n_public, err);
        /* The batch only says that one is bad: find out which. */
        for (size_t k = 0; status == CUZK_ERR_INVALID_PROOF && k < n; k++) {
            const fr_t *x = (const fr_t *)inputs + k * job->n_public;
            if (groth16_verify(host, vk, (const groth16_proof *)proofs + k, x, job->n_public,
                               NULL) != CUZK_OK) {
                (void)cuzk_error_context(err, status, "partition %zu", k);
                break;
            }
        }
    }
    cuzk_host_free(host, proofs, n, sizeof(groth16_proof));
    cuzk_host_free(host, inputs, n * job->n_public, sizeof(fr_t));
    return status;
}
