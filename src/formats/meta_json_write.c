#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "formats/small_json.h"

typedef struct out {
    file_writer *file;
    cuzk_error *err;
    cuzk_status status; /* the first failure; later writes do nothing */
    bool first;
} out;

static void put(out *o, const char *text) {
    if (o->status == CUZK_OK) o->status = file_writer_write(o->file, text, strlen(text), o->err);
}

static void put_key(out *o, const char *key) {
    put(o, o->first ? "\n  \"" : ",\n  \"");
    o->first = false;
    put(o, key);
    put(o, "\": ");
}

static void put_u64_value(out *o, uint64_t v) {
    char text[24];
    snprintf(text, sizeof text, "%llu", (unsigned long long)v);
    put(o, text);
}

static void put_u64(out *o, const char *key, uint64_t v) {
    put_key(o, key);
    put_u64_value(o, v);
}

static void put_hex_value(out *o, const node32 v) {
    char text[67] = "\"";
    for (size_t i = 0; i < 32; i++)
        snprintf(text + 1 + 2 * i, 3, "%02x", v[i]);
    text[65] = '"';
    text[66] = 0;
    put(o, text);
}

static void put_hex(out *o, const char *key, const node32 v) {
    put_key(o, key);
    put_hex_value(o, v);
}

static void put_string(out *o, const char *key, const char *text) {
    put_key(o, key);
    put(o, "\"");
    put(o, text);
    put(o, "\"");
}

static void put_porep(out *o, const public_meta *m) {
    put_string(o, "registered_proof", m->porep.seal.name);
    put_u64(o, "sector_size", m->porep.seal.sector->bytes);
    put_hex(o, "comm_r", m->porep.comm_r);
    put_hex(o, "comm_d", m->porep.comm_d);
    put_hex(o, "replica_id", m->porep.replica_id);
    put_hex(o, "seed", m->porep.seed);
    if (!m->has_porep_ids) return;
    put_hex(o, "prover_id", m->prover_id);
    put_u64(o, "sector_id", m->sector_number);
    put_hex(o, "ticket", m->ticket);
}

static void put_post(out *o, const public_meta *m) {
    char name[64];
    registered_post_name(&m->post, name);
    put_string(o, "registered_proof", name);
    put_u64(o, "sector_size", m->post.sector->bytes);
    put_hex(o, "randomness", m->randomness);
    put_key(o, "sectors");
    for (size_t i = 0; i < m->n_sectors; i++) {
        put(o, i == 0 ? "[\n    {\"sector_id\": " : ",\n    {\"sector_id\": ");
        put_u64_value(o, m->sectors[i].sector_id);
        put(o, ", \"comm_r\": ");
        put_hex_value(o, m->sectors[i].comm_r);
        put(o, "}");
    }
    put(o, "\n  ]");
}

static void put_snap(out *o, const public_meta *m) {
    put_u64(o, "sector_size", m->update_sector->bytes);
    put_hex(o, "comm_r_old", m->comm_r_old);
    put_hex(o, "comm_r_new", m->comm_r_new);
    put_hex(o, "comm_d_new", m->comm_d_new);
}

cuzk_status public_meta_write_file(const public_meta *meta, const char *path, cuzk_error *err) {
    out o = {.err = err, .status = CUZK_OK, .first = true};
    CUZK_TRY(file_writer_open(path, &o.file, err));
    put(&o, "{");
    switch (meta->kind) {
    case PROOF_POREP:
        put_porep(&o, meta);
        break;
    case PROOF_WINDOW:
    case PROOF_WINNING:
        put_post(&o, meta);
        break;
    case PROOF_SNAP:
        put_snap(&o, meta);
        break;
    }
    put(&o, "\n}\n");
    if (o.status != CUZK_OK) {
        file_writer_abort(o.file);
        return o.status;
    }
    return file_writer_commit(o.file, err);
}
