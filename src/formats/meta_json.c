/* The public data of a proof, as in the fixtures' meta.json. */
#include <string.h>

#include "base/file.h"
#include "filecoin/merkle.h"
#include "formats/json_flat.h"
#include "formats/small_json.h"

#define MAX_BYTES ((size_t)256 << 20)

/* Members of the top object that may matter, by name. */
typedef enum member {
    COMM_R,
    COMM_D,
    SEED,
    TICKET,
    REPLICA_ID,
    PROVER_ID,
    RANDOMNESS,
    COMM_R_OLD,
    COMM_R_NEW,
    COMM_D_NEW,
    N_HEX
} member;
static const char *const hex_names[N_HEX] = {
    "comm_r",    "comm_d",     "seed",       "ticket",     "replica_id",
    "prover_id", "randomness", "comm_r_old", "comm_r_new", "comm_d_new",
};

typedef struct reader {
    const cuzk_host *host;
    node32 hex[N_HEX];
    bool has_hex[N_HEX];
    uint64_t miner_id, sector_id, sector_size, proof_number;
    bool has_miner, has_sector_id, has_sector_size, has_proof_number, has_proof_name;
    char proof_name[64];
    post_public_sector *sectors; /* capacity of a power of two */
    size_t n_sectors, capacity;
    bool has_id, has_comm_r; /* of the last sector */
} reader;

static cuzk_status on_proof(reader *r, const json_scalar *s, cuzk_error *err) {
    if (s->kind == JSON_INTEGER && !r->has_proof_name)
        return json_take_u64(s, &r->proof_number, &r->has_proof_number, err);
    if (s->kind != JSON_TEXT || s->n >= sizeof r->proof_name || r->has_proof_name ||
        r->has_proof_number)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%.100s: one name or number is expected", s->path);
    memcpy(r->proof_name, s->text, s->n);
    r->proof_name[s->n] = 0;
    r->has_proof_name = true;
    return CUZK_OK;
}

static cuzk_status check_sector(const reader *r, cuzk_error *err) {
    if (r->n_sectors > 0 && !(r->has_id && r->has_comm_r))
        return cuzk_fail(err, CUZK_ERR_FORMAT, "sectors[%zu]: sector_id or comm_r is missing",
                         r->n_sectors - 1);
    return CUZK_OK;
}

static cuzk_status grow(reader *r, cuzk_error *err) {
    const size_t capacity = r->capacity == 0 ? 16 : 2 * r->capacity;
    void *memory;
    CUZK_TRY(
        cuzk_host_alloc(r->host, &memory, capacity, sizeof *r->sectors, "public sectors", err));
    if (r->n_sectors > 0) memcpy(memory, r->sectors, r->n_sectors * sizeof *r->sectors);
    cuzk_host_free(r->host, r->sectors, r->capacity, sizeof *r->sectors);
    r->sectors = memory;
    r->capacity = capacity;
    return CUZK_OK;
}

static cuzk_status on_sector(reader *r, const json_scalar *s, size_t i, bool id, cuzk_error *err) {
    if (i + 1 != r->n_sectors) {
        CUZK_TRY(check_sector(r, err));
        if (i != r->n_sectors)
            return cuzk_fail(err, CUZK_ERR_FORMAT, "sectors[%zu]: sector_id and comm_r are missing",
                             r->n_sectors);
        if (r->n_sectors == r->capacity) CUZK_TRY(grow(r, err));
        r->sectors[r->n_sectors++] = (post_public_sector){0};
        r->has_id = r->has_comm_r = false;
    }
    if (id) return json_take_u64(s, &r->sectors[i].sector_id, &r->has_id, err);
    CUZK_TRY(json_take_hex32(s, r->sectors[i].comm_r, &r->has_comm_r, err));
    if (!node_is_canonical(r->sectors[i].comm_r))
        return cuzk_fail(err, CUZK_ERR_NOT_CANONICAL, "%.100s: not below the field's modulus r",
                         s->path);
    return CUZK_OK;
}

static cuzk_status on_scalar(void *context, const json_scalar *s, cuzk_error *err) {
    reader *r = context;
    size_t i;
    if (json_path_is(s->path, "sectors[].sector_id", &i)) return on_sector(r, s, i, true, err);
    if (json_path_is(s->path, "sectors[].comm_r", &i)) return on_sector(r, s, i, false, err);
    for (i = 0; i < N_HEX; i++)
        if (strcmp(s->path, hex_names[i]) == 0)
            return json_take_hex32(s, r->hex[i], &r->has_hex[i], err);
    if (strcmp(s->path, "registered_proof") == 0) return on_proof(r, s, err);
    if (strcmp(s->path, "miner_id") == 0) return json_take_u64(s, &r->miner_id, &r->has_miner, err);
    if (strcmp(s->path, "sector_id") == 0)
        return json_take_u64(s, &r->sector_id, &r->has_sector_id, err);
    if (strcmp(s->path, "sector_size") == 0)
        return json_take_u64(s, &r->sector_size, &r->has_sector_size, err);
    return CUZK_OK;
}

/* ---- what each kind needs ---- */

static cuzk_status need(const reader *r, member m, bool field_element, node32 out,
                        cuzk_error *err) {
    if (!r->has_hex[m]) return cuzk_fail(err, CUZK_ERR_FORMAT, "\"%s\" is missing", hex_names[m]);
    if (field_element && !node_is_canonical(r->hex[m]))
        return cuzk_fail(err, CUZK_ERR_NOT_CANONICAL, "%s: not below the field's modulus r",
                         hex_names[m]);
    memcpy(out, r->hex[m], 32);
    return CUZK_OK;
}

static cuzk_status check_size(const reader *r, const sector_shape *sector, cuzk_error *err) {
    if (r->has_sector_size && r->sector_size != sector->bytes)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "sector_size: %llu, but registered_proof is of %s",
                         (unsigned long long)r->sector_size, sector->name);
    return CUZK_OK;
}

static cuzk_status need_proof(const reader *r, cuzk_error *err) {
    if (!r->has_proof_name && !r->has_proof_number)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "\"registered_proof\" is missing");
    return CUZK_OK;
}

/* replica_id is given, or follows from the ids; when both are there they must agree. */
static cuzk_status porep_id(const reader *r, public_meta *out, cuzk_error *err) {
    node32 derived;
    if (r->has_miner) prover_id_from_miner(r->miner_id, out->prover_id);
    if (r->has_hex[PROVER_ID]) {
        if (r->has_miner && memcmp(out->prover_id, r->hex[PROVER_ID], 32) != 0)
            return cuzk_fail(err, CUZK_ERR_MISMATCH, "prover_id: is not that of miner_id %llu",
                             (unsigned long long)r->miner_id);
        memcpy(out->prover_id, r->hex[PROVER_ID], 32);
    }
    out->has_porep_ids =
        (r->has_miner || r->has_hex[PROVER_ID]) && r->has_sector_id && r->has_hex[TICKET];
    if (!out->has_porep_ids) {
        if (!r->has_hex[REPLICA_ID])
            return cuzk_fail(err, CUZK_ERR_FORMAT,
                             "\"replica_id\" is missing, and so is one of miner_id (prover_id), "
                             "sector_id and ticket");
        return need(r, REPLICA_ID, true, out->porep.replica_id, err);
    }
    out->sector_number = r->sector_id;
    memcpy(out->ticket, r->hex[TICKET], 32);
    porep_replica_id(&out->porep.seal, out->prover_id, r->sector_id, out->ticket, out->porep.comm_d,
                     derived);
    if (r->has_hex[REPLICA_ID] && memcmp(derived, r->hex[REPLICA_ID], 32) != 0)
        return cuzk_fail(err, CUZK_ERR_MISMATCH,
                         "replica_id: is not that of miner, sector_id, ticket and comm_d");
    memcpy(out->porep.replica_id, derived, 32);
    return CUZK_OK;
}

static cuzk_status porep_meta(const reader *r, public_meta *out, cuzk_error *err) {
    registered_seal *seal = &out->porep.seal;
    CUZK_TRY(need_proof(r, err));
    CUZK_TRY(r->has_proof_name ? registered_seal_by_name(r->proof_name, seal, err)
                               : registered_seal_by_number(r->proof_number, seal, err));
    CUZK_TRY(check_size(r, seal->sector, err));
    CUZK_TRY(need(r, COMM_R, true, out->porep.comm_r, err));
    CUZK_TRY(need(r, COMM_D, true, out->porep.comm_d, err));
    if (seal->mode != POREP_NON_INTERACTIVE || r->has_hex[SEED])
        CUZK_TRY(need(r, SEED, false, out->porep.seed, err));
    return porep_id(r, out, err);
}

static cuzk_status post_meta(reader *r, bool window, public_meta *out, cuzk_error *err) {
    CUZK_TRY(need_proof(r, err));
    CUZK_TRY(r->has_proof_name ? registered_post_by_name(r->proof_name, &out->post, err)
                               : registered_post_by_number(r->proof_number, &out->post, err));
    if (out->post.window != window)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "registered_proof: of a %s PoSt, expected %s",
                         out->post.window ? "window" : "winning", window ? "window" : "winning");
    CUZK_TRY(check_size(r, out->post.sector, err));
    CUZK_TRY(need(r, RANDOMNESS, true, out->randomness, err));
    CUZK_TRY(check_sector(r, err));
    if (window ? r->n_sectors == 0 : r->n_sectors != 1)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "sectors: %s expected, got %zu",
                         window ? "at least one" : "exactly one", r->n_sectors);
    const size_t bytes = r->n_sectors * sizeof *r->sectors;
    void *sectors;
    CUZK_TRY(cuzk_host_alloc(r->host, &sectors, bytes, 1, "public sectors", err));
    out->sectors = memcpy(sectors, r->sectors, bytes);
    out->n_sectors = r->n_sectors;
    return CUZK_OK;
}

static cuzk_status snap_meta(const reader *r, public_meta *out, cuzk_error *err) {
    uint64_t number = r->proof_number;
    if (r->has_proof_name) {
        uint32_t named;
        CUZK_TRY(registered_update_by_name(r->proof_name, &named, err));
        number = named;
    }
    if (r->has_proof_name || r->has_proof_number) {
        CUZK_TRY(registered_update_by_number(number, &out->update_sector, err));
        CUZK_TRY(check_size(r, out->update_sector, err));
    } else {
        if (!r->has_sector_size) return need_proof(r, err);
        out->update_sector = sector_shape_by_bytes(r->sector_size);
        if (out->update_sector == NULL)
            return cuzk_fail(err, CUZK_ERR_FORMAT, "sector_size: there is no sector of %llu bytes",
                             (unsigned long long)r->sector_size);
    }
    CUZK_TRY(need(r, COMM_R_OLD, true, out->comm_r_old, err));
    CUZK_TRY(need(r, COMM_R_NEW, true, out->comm_r_new, err));
    return need(r, COMM_D_NEW, true, out->comm_d_new, err);
}

cuzk_status public_meta_read(const cuzk_host *host, proof_kind kind, const char *json, size_t bytes,
                             public_meta *out, cuzk_error *err) {
    reader r = {.host = host};
    *out = (public_meta){.kind = kind};
    cuzk_status st = json_flat_parse(json, bytes, MAX_BYTES, on_scalar, &r, err);
    if (st == CUZK_OK) {
        switch (kind) {
        case PROOF_POREP:
            st = porep_meta(&r, out, err);
            break;
        case PROOF_WINDOW:
        case PROOF_WINNING:
            st = post_meta(&r, kind == PROOF_WINDOW, out, err);
            break;
        case PROOF_SNAP:
            st = snap_meta(&r, out, err);
            break;
        }
    }
    cuzk_host_free(host, r.sectors, r.capacity, sizeof *r.sectors);
    return st;
}

cuzk_status public_meta_read_file(const cuzk_host *host, proof_kind kind, const char *path,
                                  public_meta *out, cuzk_error *err) {
    file_map map;
    *out = (public_meta){.kind = kind};
    CUZK_TRY(file_map_open(path, &map, err));
    const cuzk_status st =
        public_meta_read(host, kind, (const char *)map.data, map.bytes, out, err);
    file_map_close(&map);
    return st == CUZK_OK ? CUZK_OK : cuzk_error_context(err, st, "%s", path);
}

void public_meta_free(const cuzk_host *host, public_meta *meta) {
    cuzk_host_free(host, meta->sectors, meta->n_sectors * sizeof *meta->sectors, 1);
    meta->sectors = NULL;
    meta->n_sectors = 0;
}
