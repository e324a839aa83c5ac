#ifdef CUZK_HAVE_SERVER /* what follows needs its libraries */

#include "cli/daemon_client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "formats/blob_list.h"
#include "formats/small_json.h"
#include "host/json_out.h"
#include "server/config.h"

/* ---- connecting ---- */

static cuzk_status read_text(const char *path, char **out, cuzk_error *err) {
    file_map map;
    *out = NULL;
    if (path == NULL) return CUZK_OK;
    CUZK_TRY(file_map_open(path, &map, err));
    *out = strndup(map.data == NULL ? "" : (const char *)map.data, map.bytes);
    file_map_close(&map);
    return *out != NULL ? CUZK_OK : cuzk_fail(err, CUZK_ERR_NO_MEMORY, "%s: no memory", path);
}

/* The first word that is not in a comment. */
static cuzk_status read_token(const char *path, char **out, cuzk_error *err) {
    CUZK_TRY(read_text(path, out, err));
    if (*out == NULL) return CUZK_OK;
    char *at = *out;
    for (;;) {
        at += strspn(at, " \t\r\n");
        if (*at != '#') break;
        at += strcspn(at, "\n");
    }
    const size_t n = strcspn(at, " \t\r\n#");
    if (n == 0) {
        free(*out);
        *out = NULL;
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: no token in it", path);
    }
    memmove(*out, at, n);
    (*out)[n] = 0;
    return CUZK_OK;
}

cuzk_status daemon_connect(const daemon_at *at, rpc_client **out, cuzk_error *err) {
    static daemon_config defaults; /* large */
    char *token = NULL, *ca = NULL, *cert = NULL, *key = NULL;
    const char *address = at->address != NULL ? at->address : getenv("CUZK_DAEMON");
    if (address == NULL) {
        config_defaults(&defaults);
        address = defaults.listen;
    }
    const char *token_file = at->token_file != NULL ? at->token_file : getenv("CUZK_TOKEN_FILE");
    cuzk_status status = read_token(token_file, &token, err);
    if (status == CUZK_OK) status = read_text(at->tls_ca, &ca, err);
    if (status == CUZK_OK) status = read_text(at->tls_cert, &cert, err);
    if (status == CUZK_OK) status = read_text(at->tls_key, &key, err);
    const rpc_client_config config = {address, token, ca, cert, key};
    if (status == CUZK_OK) status = rpc_client_open(&config, out, err);
    free(token);
    free(ca);
    free(cert);
    if (key != NULL) explicit_bzero(key, strlen(key));
    free(key);
    return status;
}

/* ---- requests ---- */

typedef struct parts {
    file_map c1;
    public_meta meta;
    bool has_meta, has_blobs;
    blob_list blobs;
    ProtobufCBinaryData *list;
} parts;

static ProtobufCBinaryData view(const void *data, size_t bytes) {
    return (ProtobufCBinaryData){bytes, (uint8_t *)(uintptr_t)data};
}

static cuzk_status fill_vanilla(const cuzk_host *host, const job_files *files, parts *p,
                                Cuzk__V1__SubmitProofRequest *m, cuzk_error *err) {
    CUZK_TRY(public_meta_read_file(host, files->kind, files->meta, &p->meta, err));
    p->has_meta = true;
    CUZK_TRY(blob_list_read_files(host, files->vanilla.items, files->vanilla.n, &p->blobs, err));
    p->has_blobs = true;
    p->list = calloc(p->blobs.n + 1, sizeof *p->list);
    if (p->list == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for a request");
    for (size_t i = 0; i < p->blobs.n; i++)
        p->list[i] = view(p->blobs.data[i], p->blobs.bytes[i]);
    m->n_vanilla_proofs = p->blobs.n;
    m->vanilla_proofs = p->list;
    if (files->kind != PROOF_SNAP) {
        m->registered_proof = p->meta.post.number;
        m->sector_size = p->meta.post.sector->bytes;
        m->randomness = view(p->meta.randomness, 32);
        return CUZK_OK;
    }
    const sector_shape *sector;
    for (uint64_t i = 0; registered_update_by_number(i, &sector, err) == CUZK_OK; i++)
        if (sector == p->meta.update_sector) m->registered_proof = i;
    m->sector_size = p->meta.update_sector->bytes;
    m->comm_r_old = view(p->meta.comm_r_old, 32);
    m->comm_r_new = view(p->meta.comm_r_new, 32);
    m->comm_d_new = view(p->meta.comm_d_new, 32);
    return CUZK_OK;
}

cuzk_status proof_request_make(const cuzk_host *host, const job_files *files, proof_request *out,
                               cuzk_error *err) {
    parts *p = calloc(1, sizeof *p);
    cuzk__v1__submit_proof_request__init(&out->message);
    out->parts = p;
    if (p == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for a request");
    out->message.proof_kind = (Cuzk__V1__ProofKind)files->kind;
    cuzk_status status;
    if (files->kind == PROOF_POREP) {
        status = file_map_open(files->c1, &p->c1, err);
        if (status == CUZK_OK) out->message.vanilla_proof = view(p->c1.data, p->c1.bytes);
    } else {
        status = fill_vanilla(host, files, p, &out->message, err);
    }
    if (status != CUZK_OK) proof_request_free(host, out);
    return status;
}

void proof_request_free(const cuzk_host *host, proof_request *r) {
    parts *p = r->parts;
    if (p == NULL) return;
    if (p->c1.data != NULL) file_map_close(&p->c1);
    if (p->has_meta) public_meta_free(host, &p->meta);
    if (p->has_blobs) blob_list_free(host, &p->blobs);
    free(p->list);
    free(p);
    r->parts = NULL;
}

bool priority_by_name(const char *name, Cuzk__V1__Priority *out) {
    static const char *const names[] = {"low", "normal", "high", "critical"};
    *out = CUZK__V1__PRIORITY__PRIORITY_UNSPECIFIED;
    if (name == NULL) return true;
    for (int i = 0; i < 4; i++) {
        if (strcmp(names[i], name) != 0) continue;
        *out = (Cuzk__V1__Priority)(i + 1);
        return true;
    }
    return false;
}

/* ---- results ---- */

static const char *const result_names[] = {"unknown", "completed", "failed", "cancelled",
                                           "timeout"};

static void print_json(const Cuzk__V1__AwaitProofResponse *r) {
    json_out j = {.file = stdout};
    json_out_object(&j, NULL);
    json_out_string(&j, "job_id", r->job_id);
    json_out_string(&j, "status", (unsigned)r->status < 5 ? result_names[r->status] : "unknown");
    json_out_hex(&j, "proof", r->proof.data, r->proof.len);
    json_out_string(&j, "error_message", r->error_message);
    json_out_string(&j, "devices", r->devices);
    json_out_u64(&j, "queue_wait_ms", r->queue_wait_ms);
    json_out_u64(&j, "srs_load_ms", r->srs_load_ms);
    json_out_u64(&j, "synthesis_ms", r->synthesis_ms);
    json_out_u64(&j, "gpu_compute_ms", r->gpu_compute_ms);
    json_out_u64(&j, "total_ms", r->total_ms);
    json_out_end_object(&j);
}

int print_result(const cli_command *self, const Cuzk__V1__AwaitProofResponse *r, const char *out,
                 bool json) {
    const bool done = r->status == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED;
    cuzk_error err;
    if (json) print_json(r);
    if (!done) {
        fprintf(stderr, "cuzk %s: %s: %s%s%s\n", self->name, r->job_id,
                (unsigned)r->status < 5 ? result_names[r->status] : "unknown",
                r->error_message[0] != 0 ? ": " : "", r->error_message);
        return EXIT_FAILED;
    }
    if (out != NULL && file_write_all(out, r->proof.data, r->proof.len, &err) != CUZK_OK)
        return cli_report(self, &err);
    if (!json)
        fprintf(stderr,
                "%s: completed in %.2f s (waited %.2f s, parameters %.2f s, witness %.2f s, device "
                "%.2f s) on %s\n",
                r->job_id, (double)r->total_ms / 1000, (double)r->queue_wait_ms / 1000,
                (double)r->srs_load_ms / 1000, (double)r->synthesis_ms / 1000,
                (double)r->gpu_compute_ms / 1000, r->devices);
    for (size_t i = 0; out == NULL && !json && i < r->proof.len; i++)
        printf("%02x", r->proof.data[i]);
    if (out == NULL && !json) putchar('\n');
    return EXIT_OK;
}

int prove_at_daemon(const cli_command *self, const job_files *files, const char *address,
                    const char *out, bool json) {
    const daemon_at at = {.address = address};
    Cuzk__V1__ProveRequest request = CUZK__V1__PROVE_REQUEST__INIT;
    Cuzk__V1__ProveResponse *reply;
    proof_request submit;
    rpc_client *client;
    cli_session s;
    cuzk_error err = {0};
    if (cli_session_open(&s, 1, true, &err) != CUZK_OK) return cli_report(self, &err);
    cuzk_status status = proof_request_make(s.host, files, &submit, &err);
    if (status == CUZK_OK) {
        request.submit = &submit.message;
        status = daemon_connect(&at, &client, &err);
        if (status == CUZK_OK) {
            status = rpc_client_call(client, "Prove", &request.base, 0,
                                     &cuzk__v1__prove_response__descriptor, &reply, &err);
            rpc_client_close(client);
        }
        proof_request_free(s.host, &submit);
    }
    cli_session_close(&s);
    if (status != CUZK_OK) return cli_report(self, &err);
    const int code = print_result(self, reply->result, out, json);
    cuzk__v1__prove_response__free_unpacked(reply, NULL);
    return code;
}

#endif
