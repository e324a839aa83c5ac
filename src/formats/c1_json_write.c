#include "formats/c1_json.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "filecoin/merkle.h"
#include "formats/base64.h"

/* Text on its way to a file, in pieces of a whole number of base64 groups. */
typedef struct out {
    file_writer *file;
    cuzk_error *err;
    cuzk_status status; /* the first failure; later writes do nothing */
    bool base64;
    size_t used;
    char text[3 * 16384];
} out;

static void flush(out *o) {
    char encoded[4 * 16384];
    const char *data = o->text;
    size_t n = o->used;
    if (o->base64) {
        base64_encode((const uint8_t *)o->text, o->used, encoded);
        n = base64_encoded_bytes(o->used);
        data = encoded;
    }
    if (o->status == CUZK_OK) o->status = file_writer_write(o->file, data, n, o->err);
    o->used = 0;
}

static void put(out *o, const char *s, size_t n) {
    while (n > 0) {
        const size_t room = sizeof o->text - o->used, take = n < room ? n : room;
        memcpy(o->text + o->used, s, take);
        o->used += take;
        s += take;
        n -= take;
        if (o->used == sizeof o->text) flush(o);
    }
}

static void put_text(out *o, const char *s) {
    put(o, s, strlen(s));
}

static void put_u64(out *o, uint64_t v) {
    char s[24];
    put(o, s, (size_t)snprintf(s, sizeof s, "%llu", (unsigned long long)v));
}

static void put_bytes(out *o, const node32 v) {
    char s[1 + 32 * 4], *p = s;
    for (size_t i = 0; i < 32; i++) {
        const unsigned b = v[i];
        *p++ = i == 0 ? '[' : ',';
        if (b >= 100) *p++ = (char)('0' + b / 100);
        if (b >= 10) *p++ = (char)('0' + b / 10 % 10);
        *p++ = (char)('0' + b % 10);
    }
    *p++ = ']';
    put(o, s, (size_t)(p - s));
}

static void put_nodes(out *o, const node32 *nodes, uint32_t n) {
    put_text(o, "[");
    for (uint32_t i = 0; i < n; i++) {
        if (i > 0) put_text(o, ",");
        put_bytes(o, nodes[i]);
    }
    put_text(o, "]");
}

/* ---- Merkle proofs ---- */

typedef struct path_at {
    const merkle_form *form;
    const node32 *siblings;
    uint64_t index;
    uint32_t level;
} path_at;

static void put_levels(out *o, path_at *at, uint32_t n) {
    put_text(o, "{\"path\":[");
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t arity = at->form->arity[at->level++];
        put_text(o, i > 0 ? ",{\"hashes\":" : "{\"hashes\":");
        put_nodes(o, at->siblings, arity - 1);
        put_text(o, ",\"index\":");
        put_u64(o, at->index & (arity - 1));
        put_text(o, "}");
        at->siblings += arity - 1;
        at->index >>= merkle_arity_bits(arity);
    }
    put_text(o, "]}");
}

static void put_merkle(out *o, const merkle_form *form, const merkle_path *path) {
    static const char *const names[] = {"{\"data\":{\"Single\":{", "{\"data\":{\"Sub\":{",
                                        "{\"data\":{\"Top\":{"};
    const uint32_t variant = form->levels - form->base_levels;
    path_at at = {form, path->siblings, path->index, 0};
    put_text(o, names[variant]);
    if (variant > 0) {
        put_text(o, "\"base_proof\":");
        put_levels(o, &at, form->base_levels);
        put_text(o, ",\"sub_proof\":");
        put_levels(o, &at, 1);
        if (variant > 1) {
            put_text(o, ",\"top_proof\":");
            put_levels(o, &at, 1);
        }
        put_text(o, ",");
    }
    put_text(o, "\"root\":");
    put_bytes(o, path->root);
    put_text(o, ",\"leaf\":");
    put_bytes(o, path->leaf);
    if (variant == 0) {
        put_text(o, ",\"path\":");
        put_levels(o, &at, form->levels);
    }
    put_text(o, "}}}");
}

/* ---- a challenge ---- */

typedef struct forms {
    merkle_form d, r;
    uint32_t layers;
} forms;

static void put_column(out *o, const forms *f, const porep_column *c) {
    put_text(o, "{\"column\":{\"index\":");
    put_u64(o, c->index);
    put_text(o, ",\"rows\":");
    put_nodes(o, c->rows, f->layers);
    put_text(o, ",\"_h\":null},\"inclusion_proof\":");
    put_merkle(o, &f->r, &c->path);
    put_text(o, "}");
}

static void put_columns(out *o, const forms *f, const porep_column *c, uint32_t n) {
    for (uint32_t i = 0; i < n; i++) {
        put_text(o, i > 0 ? "," : "[");
        put_column(o, f, &c[i]);
    }
    put_text(o, "]");
}

static void put_labeling(out *o, const porep_labeling *l) {
    put_text(o, "{\"parents\":");
    put_nodes(o, l->parents, POREP_LABEL_PARENTS);
    put_text(o, ",\"layer_index\":");
    put_u64(o, l->layer_index);
    put_text(o, ",\"node\":");
    put_u64(o, l->node);
    put_text(o, "}");
}

static void put_challenge(out *o, const forms *f, const porep_challenge *c) {
    put_text(o, "{\"comm_d_proofs\":");
    put_merkle(o, &f->d, &c->comm_d);
    put_text(o, ",\"comm_r_last_proof\":");
    put_merkle(o, &f->r, &c->comm_r_last);
    put_text(o, ",\"replica_column_proofs\":{\"c_x\":");
    put_column(o, f, &c->c_x);
    put_text(o, ",\"drg_parents\":");
    put_columns(o, f, c->drg, POREP_DRG_PARENTS);
    put_text(o, ",\"exp_parents\":");
    put_columns(o, f, c->exp, POREP_EXP_PARENTS);
    put_text(o, "},\"labeling_proofs\":");
    for (uint32_t i = 0; i < f->layers; i++) {
        put_text(o, i > 0 ? "," : "[");
        put_labeling(o, &c->labels[i]);
    }
    put_text(o, "],\"encoding_proof\":");
    put_labeling(o, &c->encoding);
    put_text(o, "}");
}

static void put_member(out *o, const char *name, const node32 v) {
    put_text(o, ",\"");
    put_text(o, name);
    put_text(o, "\":");
    put_bytes(o, v);
}

static void put_c1(out *o, const porep_c1 *c1) {
    const sector_shape *s = c1->seal.sector;
    const forms f = {merkle_form_sha256(s->tree_d_levels), merkle_form_poseidon(&s->tree),
                     s->layers};
    put_text(o, "{\"registered_proof\":\"");
    put_text(o, c1->seal.name);
    put_text(o, "\",\"vanilla_proofs\":{\"StackedDrg");
    put_text(o, s->name);
    put_text(o, "V1\":[");
    for (uint32_t k = 0; k < c1->partitions; k++) {
        put_text(o, k > 0 ? ",[" : "[");
        for (uint32_t i = 0; i < c1->challenges; i++) {
            if (i > 0) put_text(o, ",");
            put_challenge(o, &f, &c1->proofs[(size_t)k * c1->challenges + i]);
        }
        put_text(o, "]");
    }
    put_text(o, "]}");
    put_member(o, "comm_r", c1->comm_r);
    put_member(o, "comm_d", c1->comm_d);
    put_member(o, "replica_id", c1->replica_id);
    put_member(o, "seed", c1->seed);
    put_member(o, "ticket", c1->ticket);
    put_text(o, "}");
}

static void put_wrapper(out *o, const porep_c1 *c1, const c1_source *wrap) {
    put_text(o, "{\"SectorNum\":");
    put_u64(o, wrap->sector_number);
    put_text(o, ",\"Phase1Out\":\"");
    flush(o);
    o->base64 = true;
    put_c1(o, c1);
    flush(o);
    o->base64 = false;
    put_text(o, "\",\"SectorSize\":");
    put_u64(o, wrap->sector_size);
    put_text(o, "}");
}

cuzk_status porep_c1_write_json_file(const porep_c1 *c1, const c1_source *wrap, const char *path,
                                     cuzk_error *err) {
    out o = {.err = err, .status = CUZK_OK};
    CUZK_TRY(file_writer_open(path, &o.file, err));
    if (wrap == NULL)
        put_c1(&o, c1);
    else
        put_wrapper(&o, c1, wrap);
    flush(&o);
    if (o.status != CUZK_OK) {
        file_writer_abort(o.file);
        return o.status;
    }
    return file_writer_commit(o.file, err);
}
