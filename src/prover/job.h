/* A proof request in memory: which circuit, the decoded vanilla proof, and the public data a
 * verifier would have. The same for every proof kind from here on: a number of partitions, each
 * with a witness and a vector of public inputs. */
#ifndef CUZK_PROVER_JOB_H
#define CUZK_PROVER_JOB_H

#include "filecoin/circuits.h"
#include "filecoin/public_inputs.h"
#include "filecoin/vanilla.h"
#include "r1cs/r1cs.h"

typedef struct proof_job {
    circuit_id circuit;
    uint32_t partitions;
    size_t n_public; /* inputs per partition, ONE not counted */
    /* What a verifier knows; which members are set follows from circuit.kind. */
    porep_public porep;
    registered_post post;
    node32 randomness;
    post_public_sector *post_sectors;
    size_t n_post_sectors;
    node32 comm_r_old, comm_r_new, comm_d_new;
    /* The prover's data, owned; NULL in a job made for verification only. */
    porep_c1 *c1;
    post_vanilla *post_proof;
    snap_vanilla *snap_proof;
} proof_job;

/* Each takes ownership of the vanilla proof on success only. Failures: MISMATCH or FORMAT with the
 * field and place. */
cuzk_status proof_job_porep(const cuzk_host *host, porep_c1 *c1, proof_job **out, cuzk_error *err);
/* The sectors' ids and comm_r's come from the vanilla proof. randomness must be < r. Winning: one
 * sector with 66 paths, unrolled by the circuit. */
cuzk_status proof_job_post(const cuzk_host *host, const registered_post *post,
                           const node32 randomness, post_vanilla *vanilla, proof_job **out,
                           cuzk_error *err);
cuzk_status proof_job_snap(const cuzk_host *host, const circuit_id *circuit,
                           const node32 comm_r_old, const node32 comm_r_new,
                           const node32 comm_d_new, snap_vanilla *vanilla, proof_job **out,
                           cuzk_error *err);
/* For verification: public data alone. */
cuzk_status proof_job_porep_public(const cuzk_host *host, const porep_public *pub, proof_job **out,
                                   cuzk_error *err);
cuzk_status proof_job_post_public(const cuzk_host *host, const registered_post *post,
                                  const node32 randomness, const post_public_sector *sectors,
                                  size_t n_sectors, proof_job **out, cuzk_error *err);
cuzk_status proof_job_snap_public(const cuzk_host *host, const circuit_id *circuit,
                                  const node32 comm_r_old, const node32 comm_r_new,
                                  const node32 comm_d_new, proof_job **out, cuzk_error *err);
void proof_job_free(const cuzk_host *host, proof_job *job);

/* Bytes that the decoded job holds, for a memory budget: an upper estimate from its shape. */
uint64_t proof_job_bytes(const proof_job *job);

/* n_public inputs of partition k, derived as a verifier derives them. */
cuzk_status proof_job_public_inputs(const cuzk_host *host, const proof_job *job, uint32_t k,
                                    fr_t *out, cuzk_error *err);

/* Fill the witness of partition k. */
cuzk_status proof_job_witness(const cuzk_host *host, const proof_job *job, const r1cs *circuit,
                              uint32_t k, witness *w, cuzk_error *err);

#endif
