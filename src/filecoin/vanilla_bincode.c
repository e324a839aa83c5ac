/* bincode 1.x with its default options (REFERENCE 4.3-4.6): little-endian, fixed width, u64
 * lengths, u32 variants. The shape fixes every length, so a blob has one right size. */
#include <string.h>

#include "base/bytes.h"
#include "filecoin/merkle.h"
#include "filecoin/public_inputs.h"
#include "filecoin/vanilla_place.h"

typedef struct reader {
    const uint8_t *data;
    size_t bytes, at;
    cuzk_error *err;
} reader;

static cuzk_status read_bytes(reader *r, void *out, size_t n) {
    if (n > r->bytes - r->at)
        return cuzk_fail(r->err, CUZK_ERR_FORMAT,
                         ": truncated at offset %zu: %zu bytes needed, %zu left", r->at, n,
                         r->bytes - r->at);
    memcpy(out, r->data + r->at, n);
    r->at += n;
    return CUZK_OK;
}

static cuzk_status read_u32(reader *r, uint32_t *out) {
    uint8_t bytes[4] = {0};
    CUZK_TRY(read_bytes(r, bytes, sizeof bytes));
    *out = load_le32(bytes);
    return CUZK_OK;
}

static cuzk_status read_u64(reader *r, uint64_t *out) {
    uint8_t bytes[8] = {0};
    CUZK_TRY(read_bytes(r, bytes, sizeof bytes));
    *out = load_le64(bytes);
    return CUZK_OK;
}

static cuzk_status read_count(reader *r, uint64_t expected) {
    uint64_t n = 0;
    CUZK_TRY(read_u64(r, &n));
    if (n != expected)
        return cuzk_fail(r->err, CUZK_ERR_FORMAT,
                         ": length at offset %zu: %llu entries expected, got %llu", r->at - 8,
                         (unsigned long long)expected, (unsigned long long)n);
    return CUZK_OK;
}

static cuzk_status read_node(reader *r, node32 out) {
    CUZK_TRY(read_bytes(r, out, 32));
    if (!node_is_canonical(out))
        return cuzk_fail(r->err, CUZK_ERR_NOT_CANONICAL,
                         ": value at offset %zu is not below the field's modulus r", r->at - 32);
    return CUZK_OK;
}

static cuzk_status read_nodes(reader *r, const node32 *room, uint32_t n) {
    node32 *out = vanilla_fill(room);
    CUZK_TRY(read_count(r, n));
    for (uint32_t i = 0; i < n; i++)
        TRY_AT(r->err, read_node(r, out[i]), "[%u]", i);
    return CUZK_OK;
}

/* ---- Merkle proofs ---- */

typedef struct path_place {
    const merkle_form *form;
    merkle_path *path;
    const node32 *siblings; /* of the next level */
    uint32_t level, index_bits;
} path_place;

static cuzk_status read_level(reader *r, path_place *at) {
    const uint32_t arity = at->form->arity[at->level];
    uint64_t index = 0;
    TRY_AT(r->err, read_nodes(r, at->siblings, arity - 1), ".hashes");
    CUZK_TRY(read_u64(r, &index));
    if (index >= arity)
        return cuzk_fail(r->err, CUZK_ERR_FORMAT, ": index at offset %zu: %llu, must be below %u",
                         r->at - 8, (unsigned long long)index, arity);
    at->path->index |= index << at->index_bits;
    at->index_bits += merkle_arity_bits(arity);
    at->siblings += arity - 1;
    at->level++;
    return CUZK_OK;
}

static cuzk_status read_levels(reader *r, path_place *at, uint32_t n) {
    CUZK_TRY(read_count(r, n));
    for (uint32_t i = 0; i < n; i++)
        TRY_AT(r->err, read_level(r, at), "[%u]", i);
    return CUZK_OK;
}

static cuzk_status read_path(reader *r, const merkle_form *form, merkle_path *path) {
    static const char *const names[] = {".base_proof.path", ".sub_proof.path", ".top_proof.path"};
    const uint32_t variant = form->levels - form->base_levels;
    path_place at = {.form = form, .path = path, .siblings = path->siblings};
    uint32_t got = 0;
    path->index = 0;
    CUZK_TRY(read_u32(r, &got));
    if (got != variant)
        return cuzk_fail(
            r->err, CUZK_ERR_FORMAT,
            ": variant at offset %zu: %u (0 Single, 1 Sub, 2 Top), expected %u for this "
            "sector size",
            r->at - 4, got, variant);
    if (variant != 0) {
        TRY_AT(r->err, read_levels(r, &at, form->base_levels), "%s", names[0]);
        for (uint32_t i = 1; i <= variant; i++)
            TRY_AT(r->err, read_levels(r, &at, 1), "%s", names[i]);
    }
    TRY_AT(r->err, read_node(r, path->root), ".root");
    TRY_AT(r->err, read_node(r, path->leaf), ".leaf");
    if (variant == 0) TRY_AT(r->err, read_levels(r, &at, form->levels), ".path");
    return CUZK_OK;
}

static cuzk_status check_size(const reader *r, size_t expected, const char *what,
                              const sector_shape *sector) {
    if (r->bytes != expected)
        return cuzk_fail(r->err, CUZK_ERR_FORMAT,
                         ": %s for a %s sector has %zu bytes, got %zu (%s)", what, sector->name,
                         expected, r->bytes,
                         r->bytes < expected ? "truncated, or of another sector size"
                                             : "trailing bytes, or of another sector size");
    return CUZK_OK;
}

/* ---- PoRep ---- */

typedef struct forms {
    merkle_form d, r;
} forms;

static forms sector_forms(const sector_shape *s) {
    return (forms){merkle_form_sha256(s->tree_d_levels), merkle_form_poseidon(&s->tree)};
}

static cuzk_status read_column(reader *r, const merkle_form *form, uint32_t layers,
                               porep_column *c) {
    TRY_AT(r->err, read_u32(r, &c->index), ".column.index");
    TRY_AT(r->err, read_nodes(r, c->rows, layers), ".column.rows");
    TRY_AT(r->err, read_path(r, form, &c->path), ".inclusion_proof");
    return CUZK_OK;
}

static cuzk_status read_columns(reader *r, const merkle_form *form, uint32_t layers,
                                porep_column *columns, uint32_t n) {
    CUZK_TRY(read_count(r, n));
    for (uint32_t i = 0; i < n; i++)
        TRY_AT(r->err, read_column(r, form, layers, &columns[i]), "[%u]", i);
    return CUZK_OK;
}

static cuzk_status read_labeling(reader *r, porep_labeling *l) {
    TRY_AT(r->err, read_nodes(r, l->parents, POREP_LABEL_PARENTS), ".parents");
    TRY_AT(r->err, read_u32(r, &l->layer_index), ".layer_index");
    TRY_AT(r->err, read_u64(r, &l->node), ".node");
    return CUZK_OK;
}

static cuzk_status read_labelings(reader *r, const porep_labeling *room, uint32_t n) {
    porep_labeling *labels = vanilla_fill_labels(room);
    CUZK_TRY(read_count(r, n));
    for (uint32_t i = 0; i < n; i++)
        TRY_AT(r->err, read_labeling(r, &labels[i]), "[%u]", i);
    return CUZK_OK;
}

static cuzk_status read_challenge(reader *r, const sector_shape *s, const forms *f,
                                  porep_challenge *c) {
    TRY_AT(r->err, read_path(r, &f->d, &c->comm_d), "comm_d_proofs");
    TRY_AT(r->err, read_path(r, &f->r, &c->comm_r_last), "comm_r_last_proof");
    TRY_AT(r->err, read_column(r, &f->r, s->layers, &c->c_x), "replica_column_proofs.c_x");
    TRY_AT(r->err, read_columns(r, &f->r, s->layers, c->drg, POREP_DRG_PARENTS),
           "replica_column_proofs.drg_parents");
    TRY_AT(r->err, read_columns(r, &f->r, s->layers, c->exp, POREP_EXP_PARENTS),
           "replica_column_proofs.exp_parents");
    TRY_AT(r->err, read_labelings(r, c->labels, s->layers), "labeling_proofs");
    TRY_AT(r->err, read_labeling(r, &c->encoding), "encoding_proof");
    c->challenge = c->labels[0].node;
    return CUZK_OK;
}

static size_t challenge_bytes(const sector_shape *s, const forms *f) {
    const size_t labeling = 8 + POREP_LABEL_PARENTS * 32 + 4 + 8;
    const size_t column = 4 + 8 + (size_t)s->layers * 32 + merkle_path_bincode_bytes(&f->r);
    return merkle_path_bincode_bytes(&f->d) + merkle_path_bincode_bytes(&f->r) +
           (1 + POREP_DRG_PARENTS + POREP_EXP_PARENTS) * column + 3 * 8 +
           (s->layers + 1) * labeling;
}

static cuzk_status read_c1(reader *r, porep_c1 *c1) {
    const forms f = sector_forms(c1->seal.sector);
    TRY_AT(r->err, read_count(r, c1->partitions), "vanilla_proofs");
    for (uint32_t k = 0; k < c1->partitions; k++) {
        TRY_AT(r->err, read_count(r, c1->challenges), "vanilla_proofs[%u]", k);
        for (uint32_t i = 0; i < c1->challenges; i++)
            TRY_AT(
                r->err,
                read_challenge(r, c1->seal.sector, &f, &c1->proofs[(size_t)k * c1->challenges + i]),
                "vanilla_proofs[%u][%u].", k, i);
    }
    TRY_AT(r->err, read_node(r, c1->comm_r), "comm_r");
    TRY_AT(r->err, read_node(r, c1->comm_d), "comm_d");
    TRY_AT(r->err, read_node(r, c1->replica_id), "replica_id");
    TRY_AT(r->err, read_bytes(r, c1->seed, 32), "seed");
    TRY_AT(r->err, read_bytes(r, c1->ticket, 32), "ticket");
    return CUZK_OK;
}

cuzk_status porep_c1_read_bincode(const cuzk_host *host, const registered_seal *seal,
                                  const uint8_t *data, size_t bytes, porep_c1 **out,
                                  cuzk_error *err) {
    const sector_shape *s = seal->sector;
    const forms f = sector_forms(s);
    const uint32_t partitions = porep_public_partitions(seal);
    reader r = {.data = data, .bytes = bytes, .err = err};
    porep_c1 *c1;
    *out = NULL;
    CUZK_TRY(check_size(
        &r, 8 + partitions * (8 + s->porep_challenges * challenge_bytes(s, &f)) + (size_t)5 * 32,
        "bincode C1 output", s));
    CUZK_TRY(porep_c1_new(host, seal, partitions, &c1, err));
    cuzk_status st = read_c1(&r, c1);
    if (st == CUZK_OK) st = porep_c1_check_header(c1, err);
    if (st != CUZK_OK) {
        porep_c1_free(host, c1);
        return st;
    }
    *out = c1;
    return CUZK_OK;
}

/* ---- PoSt ---- */

static cuzk_status read_post_sector(reader *r, const merkle_form *form, post_sector *s) {
    TRY_AT(r->err, read_u64(r, &s->sector_id), "sector_id");
    TRY_AT(r->err, read_node(r, s->comm_r), "comm_r");
    TRY_AT(r->err, read_count(r, 1), "vanilla_proof.sectors");
    TRY_AT(r->err, read_count(r, s->n_paths), "vanilla_proof.sectors[0].inclusion_proofs");
    for (uint32_t i = 0; i < s->n_paths; i++)
        TRY_AT(r->err, read_path(r, form, &s->paths[i]),
               "vanilla_proof.sectors[0].inclusion_proofs[%u]", i);
    TRY_AT(r->err, read_node(r, s->comm_c), "vanilla_proof.sectors[0].comm_c");
    TRY_AT(r->err, read_node(r, s->comm_r_last), "vanilla_proof.sectors[0].comm_r_last");
    return CUZK_OK;
}

static cuzk_status read_post_blobs(const merkle_form *form, const uint8_t *const *blobs,
                                   const size_t *blob_bytes, post_vanilla *v, cuzk_error *err) {
    for (uint32_t i = 0; i < v->n_sectors; i++) {
        reader r = {.data = blobs[i], .bytes = blob_bytes[i], .err = err};
        TRY_AT(err, read_post_sector(&r, form, &v->sectors[i]), "vanilla proof %u ", i);
    }
    return CUZK_OK;
}

cuzk_status post_vanilla_read(const cuzk_host *host, const registered_post *post,
                              const uint8_t *const *blobs, const size_t *blob_bytes, size_t n_blobs,
                              post_vanilla **out, cuzk_error *err) {
    const merkle_form form = merkle_form_poseidon(&post->sector->tree);
    const uint32_t n_paths = post->window ? WINDOW_CHALLENGES : WINNING_SECTORS;
    const char *what =
        post->window ? "a window PoSt vanilla proof" : "a winning PoSt vanilla proof";
    post_vanilla *v;
    *out = NULL;
    if (post->window ? n_blobs == 0 : n_blobs != 1)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s vanilla proofs: %s expected, got %zu",
                         post->window ? "window PoSt" : "winning PoSt",
                         post->window ? "at least one" : "exactly one", n_blobs);
    for (size_t i = 0; i < n_blobs; i++) {
        const reader r = {.bytes = blob_bytes[i], .err = err};
        TRY_AT(err,
               check_size(&r, post_sector_bincode_bytes(post->sector, n_paths), what, post->sector),
               "vanilla proof %zu", i);
    }
    CUZK_TRY(post_vanilla_new(host, post->sector, n_blobs, n_paths, &v, err));
    const cuzk_status st = read_post_blobs(&form, blobs, blob_bytes, v, err);
    if (st != CUZK_OK) {
        post_vanilla_free(host, v);
        return st;
    }
    *out = v;
    return CUZK_OK;
}

/* ---- SnapDeals ---- */

static cuzk_status read_snap_challenge(reader *r, const forms *f, snap_challenge *c) {
    TRY_AT(r->err, read_path(r, &f->r, &c->r_old), ".proof_r_old");
    TRY_AT(r->err, read_path(r, &f->d, &c->d_new), ".proof_d_new");
    TRY_AT(r->err, read_path(r, &f->r, &c->r_new), ".proof_r_new");
    return CUZK_OK;
}

static cuzk_status read_snap_partition(reader *r, const forms *f, snap_partition *p) {
    TRY_AT(r->err, read_node(r, p->comm_c), "comm_c");
    if (p->n_apex != 0) TRY_AT(r->err, read_nodes(r, p->apex, p->n_apex), "apex_leafs");
    TRY_AT(r->err, read_count(r, p->n_challenges), "challenge_proofs");
    for (uint32_t i = 0; i < p->n_challenges; i++)
        TRY_AT(r->err, read_snap_challenge(r, f, &p->challenges[i]), "challenge_proofs[%u]", i);
    return CUZK_OK;
}

static cuzk_status read_snap_blobs(const forms *f, const uint8_t *const *blobs,
                                   const size_t *blob_bytes, snap_vanilla *v, cuzk_error *err) {
    for (uint32_t k = 0; k < v->n_partitions; k++) {
        reader r = {.data = blobs[k], .bytes = blob_bytes[k], .err = err};
        TRY_AT(err, read_snap_partition(&r, f, &v->partitions[k]), "vanilla proof %u ", k);
    }
    return CUZK_OK;
}

cuzk_status snap_vanilla_read(const cuzk_host *host, const sector_shape *sector,
                              const uint8_t *const *blobs, const size_t *blob_bytes, size_t n_blobs,
                              snap_vanilla **out, cuzk_error *err) {
    const forms f = {merkle_form_snap_d(sector), merkle_form_poseidon(&sector->tree)};
    const size_t expected = snap_partition_bincode_bytes(sector);
    snap_vanilla *v;
    *out = NULL;
    if (n_blobs != sector->snap_partitions)
        return cuzk_fail(err, CUZK_ERR_FORMAT,
                         "SnapDeals vanilla proofs: a %s sector has %u partitions, got %zu proofs",
                         sector->name, sector->snap_partitions, n_blobs);
    for (size_t i = 0; i < n_blobs; i++) {
        const reader r = {.bytes = blob_bytes[i], .err = err};
        TRY_AT(err, check_size(&r, expected, "a SnapDeals vanilla proof", sector),
               "vanilla proof %zu", i);
    }
    CUZK_TRY(snap_vanilla_new(host, sector, &v, err));
    const cuzk_status st = read_snap_blobs(&f, blobs, blob_bytes, v, err);
    if (st != CUZK_OK) {
        snap_vanilla_free(host, v);
        return st;
    }
    *out = v;
    return CUZK_OK;
}
