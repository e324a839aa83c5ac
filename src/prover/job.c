#include "prover/job.h"

#include <stdio.h>
#include <string.h>

static cuzk_status job_new(const cuzk_host *host, proof_job **out, cuzk_error *err) {
    void *memory;
    CUZK_TRY(cuzk_host_alloc(host, &memory, 1, sizeof(proof_job), "proof job", err));
    memset(memory, 0, sizeof(proof_job));
    *out = memory;
    return CUZK_OK;
}

void proof_job_free(const cuzk_host *host, proof_job *job) {
    if (job == NULL) return;
    cuzk_host_free(host, job->post_sectors, job->n_post_sectors, sizeof *job->post_sectors);
    if (job->c1 != NULL) porep_c1_free(host, job->c1);
    if (job->post_proof != NULL) post_vanilla_free(host, job->post_proof);
    if (job->snap_proof != NULL) snap_vanilla_free(host, job->snap_proof);
    cuzk_host_free(host, job, 1, sizeof *job);
}

/* A 32-byte value that must be a field element; `what` names it. */
static cuzk_status check_element(const node32 value, const char *what, cuzk_error *err) {
    fr_t x;
    if (fr_from_bytes(&x, value) != CUZK_OK)
        return cuzk_fail(err, CUZK_ERR_NOT_CANONICAL, "%s: not a field element (value >= r)", what);
    return CUZK_OK;
}

static cuzk_status check_not_zero(const node32 value, const char *what, cuzk_error *err) {
    static const node32 zero;
    if (memcmp(value, zero, sizeof zero) == 0)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "invalid all-zero %s", what);
    return CUZK_OK;
}

cuzk_status proof_job_porep_public(const cuzk_host *host, const porep_public *pub, proof_job **out,
                                   cuzk_error *err) {
    CUZK_TRY(check_not_zero(pub->comm_d, "commitment (comm_d)", err));
    CUZK_TRY(check_not_zero(pub->comm_r, "commitment (comm_r)", err));
    if (pub->seal.mode != POREP_NON_INTERACTIVE)
        CUZK_TRY(check_not_zero(pub->seed, "porep challenge seed", err));
    CUZK_TRY(check_element(pub->comm_d, "comm_d", err));
    CUZK_TRY(check_element(pub->comm_r, "comm_r", err));
    CUZK_TRY(check_element(pub->replica_id, "replica_id", err));
    CUZK_TRY(job_new(host, out, err));
    proof_job *job = *out;
    job->circuit = (circuit_id){.kind = PROOF_POREP, .sector = pub->seal.sector};
    job->porep = *pub;
    job->partitions = porep_public_partitions(&pub->seal);
    job->n_public = porep_public_input_count(pub->seal.sector);
    return CUZK_OK;
}

cuzk_status proof_job_porep(const cuzk_host *host, porep_c1 *c1, proof_job **out, cuzk_error *err) {
    porep_public pub;
    porep_public_of_c1(c1, &pub);
    const uint32_t expected = porep_public_partitions(&c1->seal);
    if (c1->partitions != expected)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "C1: %u partitions, %s has %u", c1->partitions,
                         c1->seal.name, expected);
    CUZK_TRY(proof_job_porep_public(host, &pub, out, err));
    (*out)->c1 = c1;
    return CUZK_OK;
}

cuzk_status proof_job_post_public(const cuzk_host *host, const registered_post *post,
                                  const node32 randomness, const post_public_sector *sectors,
                                  size_t n_sectors, proof_job **out, cuzk_error *err) {
    if (n_sectors == 0) return cuzk_fail(err, CUZK_ERR_FORMAT, "PoSt: no sectors");
    if (!post->window && n_sectors != 1)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "winning PoSt: %zu sectors, expected 1",
                         n_sectors);
    CUZK_TRY(check_element(randomness, "randomness", err));
    for (size_t i = 0; i < n_sectors; i++) {
        char what[48];
        (void)snprintf(what, sizeof what, "sector %zu comm_r", i);
        CUZK_TRY(check_element(sectors[i].comm_r, what, err));
    }
    CUZK_TRY(job_new(host, out, err));
    proof_job *job = *out;
    void *memory;
    const cuzk_status status =
        cuzk_host_alloc(host, &memory, n_sectors, sizeof *sectors, "PoSt sectors", err);
    if (status != CUZK_OK) {
        proof_job_free(host, job);
        *out = NULL;
        return status;
    }
    memcpy(memory, sectors, n_sectors * sizeof *sectors);
    job->post_sectors = memory;
    job->n_post_sectors = n_sectors;
    job->circuit =
        (circuit_id){.kind = post->window ? PROOF_WINDOW : PROOF_WINNING, .sector = post->sector};
    job->post = *post;
    memcpy(job->randomness, randomness, sizeof job->randomness);
    job->partitions = post_partitions(post, n_sectors);
    job->n_public = post_public_input_count(post);
    return CUZK_OK;
}

cuzk_status proof_job_post(const cuzk_host *host, const registered_post *post,
                           const node32 randomness, post_vanilla *vanilla, proof_job **out,
                           cuzk_error *err) {
    void *memory;
    const size_t n = vanilla->n_sectors;
    CUZK_TRY(cuzk_host_alloc(host, &memory, n, sizeof(post_public_sector), "PoSt sectors", err));
    post_public_sector *sectors = memory;
    for (size_t i = 0; i < n; i++) {
        sectors[i].sector_id = vanilla->sectors[i].sector_id;
        memcpy(sectors[i].comm_r, vanilla->sectors[i].comm_r, sizeof sectors[i].comm_r);
    }
    const cuzk_status status = proof_job_post_public(host, post, randomness, sectors, n, out, err);
    cuzk_host_free(host, sectors, n, sizeof *sectors);
    if (status == CUZK_OK) (*out)->post_proof = vanilla;
    return status;
}

cuzk_status proof_job_snap_public(const cuzk_host *host, const circuit_id *circuit,
                                  const node32 comm_r_old, const node32 comm_r_new,
                                  const node32 comm_d_new, proof_job **out, cuzk_error *err) {
    CUZK_TRY(check_element(comm_r_old, "comm_r_old", err));
    CUZK_TRY(check_element(comm_r_new, "comm_r_new", err));
    CUZK_TRY(check_element(comm_d_new, "comm_d_new", err));
    CUZK_TRY(job_new(host, out, err));
    proof_job *job = *out;
    job->circuit = *circuit;
    job->partitions = circuit_partitions(circuit);
    job->n_public = 4;
    memcpy(job->comm_r_old, comm_r_old, sizeof job->comm_r_old);
    memcpy(job->comm_r_new, comm_r_new, sizeof job->comm_r_new);
    memcpy(job->comm_d_new, comm_d_new, sizeof job->comm_d_new);
    return CUZK_OK;
}

cuzk_status proof_job_snap(const cuzk_host *host, const circuit_id *circuit,
                           const node32 comm_r_old, const node32 comm_r_new,
                           const node32 comm_d_new, snap_vanilla *vanilla, proof_job **out,
                           cuzk_error *err) {
    if (vanilla->n_partitions != circuit_partitions(circuit))
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "snap: %u vanilla proofs, %s has %u partitions",
                         vanilla->n_partitions, circuit->sector->name, circuit_partitions(circuit));
    CUZK_TRY(proof_job_snap_public(host, circuit, comm_r_old, comm_r_new, comm_d_new, out, err));
    (*out)->snap_proof = vanilla;
    return CUZK_OK;
}

cuzk_status proof_job_public_inputs(const cuzk_host *host, const proof_job *job, uint32_t k,
                                    fr_t *out, cuzk_error *err) {
    switch (job->circuit.kind) {
    case PROOF_POREP:
        return porep_public_inputs(host, &job->porep, k, out, err);
    case PROOF_WINDOW:
    case PROOF_WINNING:
        return post_public_inputs(&job->post, job->randomness, job->post_sectors,
                                  job->n_post_sectors, k, out, err);
    case PROOF_SNAP:
        return snap_public_inputs(job->circuit.sector, k, job->comm_r_old, job->comm_r_new,
                                  job->comm_d_new, out, err);
    }
    return cuzk_fail(err, CUZK_ERR_INTERNAL, "proof kind %d", (int)job->circuit.kind);
}

uint64_t proof_job_bytes(const proof_job *job) {
    uint64_t bytes = sizeof *job + job->n_post_sectors * sizeof *job->post_sectors;
    if (job->c1 != NULL) {
        const uint64_t n = (uint64_t)job->c1->partitions * job->c1->challenges;
        const uint64_t labels = (job->circuit.sector->layers + 1u) *
                                (sizeof(porep_labeling) + POREP_LABEL_PARENTS * sizeof(node32));
        bytes += porep_c1_binary_bytes(job->c1) + n * (sizeof(porep_challenge) + labels);
    }
    if (job->post_proof != NULL) {
        const post_sector *s = job->post_proof->sectors;
        bytes += job->post_proof->n_sectors *
                 (sizeof *s + s->n_paths * sizeof(merkle_path) +
                  post_sector_bincode_bytes(job->circuit.sector, s->n_paths));
    }
    if (job->snap_proof != NULL)
        bytes +=
            job->partitions * (job->snap_proof->partitions->n_challenges * sizeof(snap_challenge) +
                               snap_partition_bincode_bytes(job->circuit.sector));
    return bytes;
}

static cuzk_status bind(filecoin_circuit *c, const proof_job *job, uint32_t k, cuzk_error *err) {
    if (job->c1 != NULL) return filecoin_circuit_bind_porep(c, job->c1, k, err);
    if (job->snap_proof != NULL)
        return filecoin_circuit_bind_snap(c, &job->snap_proof->partitions[k], k, job->comm_r_old,
                                          job->comm_r_new, job->comm_d_new, err);
    if (job->post_proof != NULL) {
        const uint32_t per = job->post.window ? job->post.sector->window_sectors : 1;
        const uint32_t first = k * per, all = job->post_proof->n_sectors;
        const uint32_t n = all - first < per ? all - first : per;
        return filecoin_circuit_bind_post(c, job->post_proof->sectors + first, n, err);
    }
    return cuzk_fail(err, CUZK_ERR_ARGUMENT, "a job without a vanilla proof cannot be proven");
}

cuzk_status proof_job_witness(const cuzk_host *host, const proof_job *job, const r1cs *circuit,
                              uint32_t k, witness *w, cuzk_error *err) {
    if (k >= job->partitions)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "partition %u of %u", k, job->partitions);
    filecoin_circuit *c;
    CUZK_TRY(filecoin_circuit_new(host, &job->circuit, &c, err));
    cuzk_status status = bind(c, job, k, err);
    if (status == CUZK_OK) status = r1cs_witness(host, circuit, filecoin_circuit_cs(c), w, err);
    filecoin_circuit_free(host, c);
    return status;
}
