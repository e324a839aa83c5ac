/* A submission on the wire, and how it becomes a job of the prover. */
#ifndef CUZK_SERVER_REQUEST_H
#define CUZK_SERVER_REQUEST_H

#include "engine/engine.h"
#include "prover/job.h"

typedef struct request_bytes {
    const uint8_t *data;
    size_t bytes;
} request_bytes;

/* SubmitProofRequest as views of its message. */
typedef struct request_view {
    request_bytes request_id, vanilla_proof, randomness, comm_r_old, comm_r_new, comm_d_new;
    uint64_t proof_kind, sector_size, registered_proof, priority, sector_number, miner_id;
    uint64_t partition_index;
    size_t n_vanilla_proofs;
} request_view;

cuzk_status request_view_read(const uint8_t *message, size_t bytes, request_view *out,
                              cuzk_error *err);
/* The submit field of a ProveRequest; missing or repeated: ARGUMENT. */
cuzk_status request_of_prove(const uint8_t *message, size_t bytes, request_bytes *out,
                             cuzk_error *err);

/* What the engine wants to know of a submission: id, kind, priority, body (the message itself,
 * which is borrowed). Bad id or kind: ARGUMENT. Everything else is checked when the job is opened.
 */
cuzk_status request_for_engine(const uint8_t *message, size_t bytes, engine_request *out,
                               cuzk_error *err);

/* A spooled message to a checked job: work_prover's decode. */
cuzk_status request_decode(const cuzk_host *host, const uint8_t *body, size_t bytes,
                           proof_job **out, cuzk_error *err);

/* The kinds by their names in GetStatus and /status ("porep-c2") and in metrics ("porep_c2"). */
enum { REQUEST_KINDS = 4 };
const char *request_kind_name(uint64_t kind); /* NULL: no such kind */
const char *request_kind_label(uint64_t kind);

#endif
