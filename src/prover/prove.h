/* From a job to proof bytes on one executor, and from bytes to a verdict. */
#ifndef CUZK_PROVER_PROVE_H
#define CUZK_PROVER_PROVE_H

#include "prover/job.h"
#include "prover/key.h"

/* Where the time of one partition went, milliseconds. */
typedef struct partition_timing {
    double witness_ms, verify_ms;
    executor_timing device;
} partition_timing;

/* The end of a partition: blind the device's sums (rs NULL: fresh from host->random), assemble, and
 * verify against the public inputs derived from the job's public data. INVALID_PROOF: the sums were
 * wrong, or the vanilla proof belongs to other public data. */
cuzk_status prove_finish(const cuzk_host *host, const proving_key *key, const proof_job *job,
                         uint32_t k, const groth16_sums *sums, const groth16_blinding *rs,
                         groth16_proof *proof, cuzk_error *err);

/* Prove partition k: witness, device, assembly, verification against the public inputs derived from
 * the job's public data. The executor has key loaded. */
cuzk_status prove_partition(const cuzk_host *host, executor *ex, const proving_key *key,
                            const proof_job *job, uint32_t k, const groth16_blinding *rs,
                            groth16_proof *proof, partition_timing *timing, cuzk_error *err);

/* All partitions, concatenated: out has partitions * 192 bytes. fixed_rs: NULL, or one blinding for
 * each partition (test use only). timings: NULL or one for each partition. */
cuzk_status prove_job(const cuzk_host *host, executor *ex, const proving_key *key,
                      const proof_job *job, const groth16_blinding *fixed_rs, uint8_t *out,
                      partition_timing *timings, cuzk_error *err);

/* Verify the concatenated proofs of a job (all partitions in one batch). bytes must be exactly
 * partitions * 192. CUZK_ERR_INVALID_PROOF names the first bad partition. */
cuzk_status verify_job(const cuzk_host *host, const groth16_vk *vk, const proof_job *job,
                       const uint8_t *proof, size_t bytes, cuzk_error *err);

#endif
