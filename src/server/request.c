#include "server/request.h"

#include <stdio.h>
#include <string.h>

#include "formats/c1_json.h"
#include "server/wire.h"

static const struct {
    const char *name, *label;
    engine_priority priority;
} kinds[REQUEST_KINDS + 1] = {
    [PROOF_POREP] = {"porep-c2", "porep_c2", ENGINE_PRIORITY_NORMAL},
    [PROOF_SNAP] = {"snap-update", "snap_update", ENGINE_PRIORITY_NORMAL},
    [PROOF_WINDOW] = {"window-post", "window_post", ENGINE_PRIORITY_HIGH},
    [PROOF_WINNING] = {"winning-post", "winning_post", ENGINE_PRIORITY_CRITICAL},
};

const char *request_kind_name(uint64_t kind) {
    return kind <= REQUEST_KINDS ? kinds[kind].name : NULL;
}
const char *request_kind_label(uint64_t kind) {
    return kind <= REQUEST_KINDS ? kinds[kind].label : NULL;
}

/* ---- the message ---- */

enum { F_ID = 1, F_KIND = 2, F_PRIORITY = 5, F_VANILLA_PROOFS = 11 };

static uint64_t *number_of(request_view *v, uint32_t field) {
    switch (field) {
    case F_KIND:
        return &v->proof_kind;
    case 3:
        return &v->sector_size;
    case 4:
        return &v->registered_proof;
    case F_PRIORITY:
        return &v->priority;
    case 20:
        return &v->sector_number;
    case 21:
        return &v->miner_id;
    case 23:
        return &v->partition_index;
    default:
        return NULL;
    }
}

static request_bytes *bytes_of(request_view *v, uint32_t field) {
    switch (field) {
    case F_ID:
        return &v->request_id;
    case 10:
        return &v->vanilla_proof;
    case 22:
        return &v->randomness;
    case 30:
        return &v->comm_r_old;
    case 31:
        return &v->comm_r_new;
    case 32:
        return &v->comm_d_new;
    default:
        return NULL;
    }
}

cuzk_status request_view_read(const uint8_t *message, size_t bytes, request_view *out,
                              cuzk_error *err) {
    wire_reader r = {message, message + bytes};
    wire_field f;
    wire_step step;
    memset(out, 0, sizeof *out);
    while ((step = wire_next(&r, &f)) == WIRE_FIELD) {
        if (f.type == WIRE_VARINT) {
            uint64_t *number = number_of(out, f.number);
            if (number != NULL) *number = f.value;
        } else if (f.type == WIRE_BYTES) {
            request_bytes *view = bytes_of(out, f.number);
            if (view != NULL) *view = (request_bytes){f.data, f.bytes};
            if (f.number == F_VANILLA_PROOFS) out->n_vanilla_proofs++;
        }
    }
    if (step == WIRE_MALFORMED)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "malformed SubmitProofRequest at byte %zu",
                         (size_t)(r.at - message));
    return CUZK_OK;
}

cuzk_status request_of_prove(const uint8_t *message, size_t bytes, request_bytes *out,
                             cuzk_error *err) {
    wire_reader r = {message, message + bytes};
    wire_field f;
    wire_step step;
    bool seen = false;
    while ((step = wire_next(&r, &f)) == WIRE_FIELD) {
        if (f.number != 1 || f.type != WIRE_BYTES) continue;
        if (seen) return cuzk_fail(err, CUZK_ERR_ARGUMENT, "submit field given twice");
        *out = (request_bytes){f.data, f.bytes};
        seen = true;
    }
    if (step == WIRE_MALFORMED)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "malformed ProveRequest at byte %zu",
                         (size_t)(r.at - message));
    return seen ? CUZK_OK : cuzk_fail(err, CUZK_ERR_ARGUMENT, "missing submit field");
}

cuzk_status request_for_engine(const uint8_t *message, size_t bytes, engine_request *out,
                               cuzk_error *err) {
    request_view v;
    CUZK_TRY(request_view_read(message, bytes, &v, err));
    memset(out, 0, sizeof *out);
    if (v.proof_kind == 0 || v.proof_kind > REQUEST_KINDS)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "invalid proof_kind: %llu",
                         (unsigned long long)v.proof_kind);
    const request_bytes id = v.request_id;
    if (id.bytes >= sizeof out->request_id)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "request_id has %zu bytes, at most %zu are taken",
                         id.bytes, sizeof out->request_id - 1);
    if (id.bytes > 0 && (memchr(id.data, 0, id.bytes) != NULL || !wire_is_utf8(id.data, id.bytes)))
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "request_id is not UTF-8 text");
    if (id.bytes > 0) memcpy(out->request_id, id.data, id.bytes);
    out->priority = v.priority == 0                          ? kinds[v.proof_kind].priority
                    : v.priority <= ENGINE_PRIORITY_CRITICAL ? (engine_priority)v.priority
                                                             : ENGINE_PRIORITY_NORMAL;
    snprintf(out->kind, sizeof out->kind, "%s", kinds[v.proof_kind].name);
    out->body = message;
    out->body_bytes = bytes;
    return CUZK_OK;
}

/* ---- from the message to a job ---- */

/* Far above what a partition of any size has (2,349): empty blobs take two bytes on the wire, but
 * sixteen here. */
#define MAX_BLOBS 65536

typedef struct blobs {
    size_t n;
    const uint8_t **data;
    size_t *bytes;
} blobs;

static void blobs_free(const cuzk_host *host, blobs *b) {
    cuzk_host_free(host, b->data, b->n, sizeof *b->data);
    cuzk_host_free(host, b->bytes, b->n, sizeof *b->bytes);
}

static cuzk_status blobs_read(const cuzk_host *host, const uint8_t *message, size_t bytes, size_t n,
                              blobs *out, cuzk_error *err) {
    void *data = NULL, *sizes = NULL;
    *out = (blobs){0};
    if (n == 0) return cuzk_fail(err, CUZK_ERR_ARGUMENT, "no vanilla_proofs");
    if (n > MAX_BLOBS)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%zu vanilla_proofs, at most %d are taken", n,
                         MAX_BLOBS);
    cuzk_status status = cuzk_host_alloc(host, &data, n, sizeof *out->data, "vanilla proofs", err);
    if (status == CUZK_OK)
        status = cuzk_host_alloc(host, &sizes, n, sizeof *out->bytes, "vanilla proofs", err);
    *out = (blobs){n, data, sizes};
    if (status != CUZK_OK) {
        blobs_free(host, out);
        return status;
    }
    wire_reader r = {message, message + bytes};
    wire_field f;
    size_t at = 0;
    while (at < n && wire_next(&r, &f) == WIRE_FIELD) {
        if (f.number != F_VANILLA_PROOFS || f.type != WIRE_BYTES) continue;
        out->data[at] = f.data;
        out->bytes[at++] = f.bytes;
    }
    return CUZK_OK;
}

static cuzk_status take_node(node32 out, request_bytes from, const char *what, cuzk_error *err) {
    if (from.bytes != 32)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%s must be exactly 32 bytes, got %zu", what,
                         from.bytes);
    memcpy(out, from.data, 32);
    return CUZK_OK;
}

/* A proof for another sector than the request says would be refused by the chain. */
static cuzk_status check_replica(const request_view *v, const porep_c1 *c1, cuzk_error *err) {
    node32 prover_id, replica_id;
    if (v->miner_id == 0 && v->sector_number == 0) return CUZK_OK;
    prover_id_from_miner(v->miner_id, prover_id);
    porep_replica_id(&c1->seal, prover_id, v->sector_number, c1->ticket, c1->comm_d, replica_id);
    if (memcmp(replica_id, c1->replica_id, 32) == 0) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_MISMATCH,
                     "the C1 output's replica_id is not that of miner %llu, sector %llu",
                     (unsigned long long)v->miner_id, (unsigned long long)v->sector_number);
}

static cuzk_status decode_porep(const cuzk_host *host, const request_view *v, proof_job **out,
                                cuzk_error *err) {
    porep_c1 *c1;
    if (v->vanilla_proof.bytes == 0)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "failed to parse C1 output: no vanilla_proof");
    CUZK_TRY(
        porep_c1_read_any(host, v->vanilla_proof.data, v->vanilla_proof.bytes, &c1, NULL, err));
    cuzk_status status = porep_c1_check(host, c1, err);
    if (status == CUZK_OK) status = check_replica(v, c1, err);
    if (status == CUZK_OK) status = proof_job_porep(host, c1, out, err);
    if (status != CUZK_OK) porep_c1_free(host, c1);
    return status;
}

static cuzk_status decode_post(const cuzk_host *host, const request_view *v, const blobs *b,
                               proof_job **out, cuzk_error *err) {
    registered_post post;
    node32 randomness;
    post_vanilla *vanilla;
    CUZK_TRY(registered_post_by_number(v->registered_proof, &post, err));
    if (post.window != (v->proof_kind == PROOF_WINDOW))
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "registered_proof %llu is not of kind %s",
                         (unsigned long long)v->registered_proof, kinds[v->proof_kind].name);
    CUZK_TRY(take_node(randomness, v->randomness, "randomness", err));
    CUZK_TRY(post_vanilla_read(host, &post, b->data, b->bytes, b->n, &vanilla, err));
    cuzk_status status = post_vanilla_check(host, &post, randomness, vanilla, err);
    if (status == CUZK_OK) status = proof_job_post(host, &post, randomness, vanilla, out, err);
    if (status != CUZK_OK) post_vanilla_free(host, vanilla);
    return status;
}

static cuzk_status decode_snap(const cuzk_host *host, const request_view *v, const blobs *b,
                               proof_job **out, cuzk_error *err) {
    circuit_id id = {.kind = PROOF_SNAP};
    node32 r_old, r_new, d_new;
    snap_vanilla *vanilla;
    CUZK_TRY(registered_update_by_number(v->registered_proof, &id.sector, err));
    CUZK_TRY(take_node(r_old, v->comm_r_old, "comm_r_old", err));
    CUZK_TRY(take_node(r_new, v->comm_r_new, "comm_r_new", err));
    CUZK_TRY(take_node(d_new, v->comm_d_new, "comm_d_new", err));
    CUZK_TRY(snap_vanilla_read(host, id.sector, b->data, b->bytes, b->n, &vanilla, err));
    cuzk_status status = snap_vanilla_check(host, vanilla, r_old, r_new, d_new, err);
    if (status == CUZK_OK)
        status = proof_job_snap(host, &id, r_old, r_new, d_new, vanilla, out, err);
    if (status != CUZK_OK) snap_vanilla_free(host, vanilla);
    return status;
}

cuzk_status request_decode(const cuzk_host *host, const uint8_t *body, size_t bytes,
                           proof_job **out, cuzk_error *err) {
    request_view v;
    blobs b;
    *out = NULL;
    CUZK_TRY(request_view_read(body, bytes, &v, err));
    if (v.proof_kind == PROOF_POREP) return decode_porep(host, &v, out, err);
    CUZK_TRY(blobs_read(host, body, bytes, v.n_vanilla_proofs, &b, err));
    cuzk_status status;
    if (v.proof_kind == PROOF_SNAP)
        status = decode_snap(host, &v, &b, out, err);
    else if (v.proof_kind == PROOF_WINDOW || v.proof_kind == PROOF_WINNING)
        status = decode_post(host, &v, &b, out, err);
    else
        status = cuzk_fail(err, CUZK_ERR_ARGUMENT, "invalid proof_kind: %llu",
                           (unsigned long long)v.proof_kind);
    blobs_free(host, &b);
    return status;
}
