/* The compact binary C1 (docs/formats.md): fixed by the registered proof, little-endian, with
 * everything the decoder of the other forms fills, and a SHA-256 at the end. */
#include <string.h>

#include "base/bytes.h"
#include "filecoin/merkle.h"
#include "filecoin/public_inputs.h"
#include "filecoin/vanilla_place.h"
#include "hash/sha256.h"

static const uint8_t magic[8] = POREP_C1_MAGIC;

/* magic, registered proof (u32), partitions (u32), five 32-byte values */
#define HEADER_BYTES (8 + 4 + 4 + 5 * 32)
#define DIGEST_BYTES 32

/* One walk for reading and writing: out NULL reads from in. */
typedef struct cursor {
    const uint8_t *in;
    uint8_t *out;
    size_t at;
    cuzk_error *err;
} cursor;

static cuzk_status walk_bytes(cursor *c, void *value, size_t n) {
    if (c->out != NULL)
        memcpy(c->out + c->at, value, n);
    else
        memcpy(value, c->in + c->at, n);
    c->at += n;
    return CUZK_OK;
}

static cuzk_status walk_node(cursor *c, node32 v) {
    CUZK_TRY(walk_bytes(c, v, 32));
    if (!node_is_canonical(v))
        return cuzk_fail(c->err, CUZK_ERR_NOT_CANONICAL,
                         ": value at offset %zu is not below the field's modulus r", c->at - 32);
    return CUZK_OK;
}

static cuzk_status walk_nodes(cursor *c, const node32 *room, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        TRY_AT(c->err, walk_node(c, vanilla_fill(room)[i]), "[%u]", i);
    return CUZK_OK;
}

static cuzk_status walk_u64(cursor *c, uint64_t *v) {
    return walk_bytes(c, v, sizeof *v); /* little-endian machines only: base/bytes.h */
}

static cuzk_status walk_path(cursor *c, uint64_t leaves, merkle_path *p) {
    CUZK_TRY(walk_u64(c, &p->index));
    if (p->index >= leaves)
        return cuzk_fail(c->err, CUZK_ERR_FORMAT, ".index: leaf %llu of %llu",
                         (unsigned long long)p->index, (unsigned long long)leaves);
    TRY_AT(c->err, walk_node(c, p->leaf), ".leaf");
    TRY_AT(c->err, walk_node(c, p->root), ".root");
    TRY_AT(c->err, walk_nodes(c, p->siblings, p->n_siblings), ".siblings");
    return CUZK_OK;
}

static cuzk_status walk_column(cursor *c, const sector_shape *s, porep_column *column) {
    CUZK_TRY(walk_bytes(c, &column->index, sizeof column->index));
    TRY_AT(c->err, walk_nodes(c, column->rows, s->layers), ".rows");
    TRY_AT(c->err, walk_path(c, s->nodes, &column->path), ".path");
    return CUZK_OK;
}

static cuzk_status walk_labeling(cursor *c, porep_labeling *l) {
    CUZK_TRY(walk_bytes(c, &l->layer_index, sizeof l->layer_index));
    CUZK_TRY(walk_u64(c, &l->node));
    TRY_AT(c->err, walk_nodes(c, l->parents, POREP_LABEL_PARENTS), ".parents");
    return CUZK_OK;
}

static cuzk_status walk_challenge(cursor *c, const sector_shape *s, porep_challenge *p) {
    TRY_AT(c->err, walk_path(c, s->nodes, &p->comm_d), "comm_d");
    TRY_AT(c->err, walk_path(c, s->nodes, &p->comm_r_last), "comm_r_last");
    TRY_AT(c->err, walk_column(c, s, &p->c_x), "c_x");
    for (uint32_t i = 0; i < POREP_DRG_PARENTS; i++)
        TRY_AT(c->err, walk_column(c, s, &p->drg[i]), "drg_parents[%u]", i);
    for (uint32_t i = 0; i < POREP_EXP_PARENTS; i++)
        TRY_AT(c->err, walk_column(c, s, &p->exp[i]), "exp_parents[%u]", i);
    for (uint32_t i = 0; i < s->layers; i++)
        TRY_AT(c->err, walk_labeling(c, &vanilla_fill_labels(p->labels)[i]), "labels[%u]", i);
    TRY_AT(c->err, walk_labeling(c, &p->encoding), "encoding");
    if (c->out == NULL) p->challenge = p->labels[0].node;
    return CUZK_OK;
}

static cuzk_status walk_c1(cursor *c, porep_c1 *c1) {
    TRY_AT(c->err, walk_node(c, c1->comm_r), "comm_r");
    TRY_AT(c->err, walk_node(c, c1->comm_d), "comm_d");
    TRY_AT(c->err, walk_node(c, c1->replica_id), "replica_id");
    CUZK_TRY(walk_bytes(c, c1->seed, 32));
    CUZK_TRY(walk_bytes(c, c1->ticket, 32));
    for (size_t i = 0; i < (size_t)c1->partitions * c1->challenges; i++)
        TRY_AT(c->err, walk_challenge(c, c1->seal.sector, &c1->proofs[i]), "proofs[%zu][%zu].",
               i / c1->challenges, i % c1->challenges);
    return CUZK_OK;
}

/* ---- sizes ---- */

static size_t file_bytes(const sector_shape *s, uint32_t partitions) {
    const merkle_form r = merkle_form_poseidon(&s->tree);
    const size_t path_r = 8 + 64 + (size_t)merkle_form_siblings(&r) * 32;
    const size_t path_d = 8 + 64 + (size_t)s->tree_d_levels * 32;
    const size_t column = 4 + (size_t)s->layers * 32 + path_r;
    const size_t labeling = 4 + 8 + POREP_LABEL_PARENTS * 32;
    const size_t challenge = path_d + path_r +
                             (1 + POREP_DRG_PARENTS + POREP_EXP_PARENTS) * column +
                             (s->layers + 1) * labeling;
    return HEADER_BYTES + (size_t)partitions * s->porep_challenges * challenge + DIGEST_BYTES;
}

size_t porep_c1_binary_bytes(const porep_c1 *c1) {
    return file_bytes(c1->seal.sector, c1->partitions);
}

cuzk_status porep_c1_write_binary(const porep_c1 *c1, uint8_t *out, size_t bytes, cuzk_error *err) {
    const size_t expected = porep_c1_binary_bytes(c1);
    cursor c = {.out = out, .at = sizeof magic + 8, .err = err};
    if (bytes != expected)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "binary C1: %zu bytes given, %zu needed", bytes,
                         expected);
    memcpy(out, magic, sizeof magic);
    store_le32(out + 8, c1->seal.number);
    store_le32(out + 12, c1->partitions);
    /* Writing only reads the values: the same walk serves both ways. */
    CUZK_TRY(walk_c1(&c, (porep_c1 *)(uintptr_t)c1));
    sha256(out + c.at, out, c.at);
    return CUZK_OK;
}

static cuzk_status check_frame(const uint8_t *data, size_t bytes, registered_seal *seal,
                               cuzk_error *err) {
    uint8_t digest[DIGEST_BYTES];
    if (bytes < HEADER_BYTES + DIGEST_BYTES || memcmp(data, magic, sizeof magic) != 0)
        return cuzk_fail(err, CUZK_ERR_FORMAT,
                         "not a binary C1 of version 1 (%zu bytes, or another magic)", bytes);
    CUZK_TRY(registered_seal_by_number(load_le32(data + 8), seal, err));
    const uint32_t partitions = load_le32(data + 12), needed = porep_public_partitions(seal);
    if (partitions != needed)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "binary C1: %u partitions, %s has %u", partitions,
                         seal->name, needed);
    const size_t expected = file_bytes(seal->sector, partitions);
    if (bytes != expected)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "binary C1 of %s: %zu bytes expected, got %zu",
                         seal->name, expected, bytes);
    sha256(digest, data, bytes - DIGEST_BYTES);
    if (memcmp(digest, data + bytes - DIGEST_BYTES, DIGEST_BYTES) != 0)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "binary C1: checksum does not match: corrupt file");
    return CUZK_OK;
}

cuzk_status porep_c1_read_binary(const cuzk_host *host, const uint8_t *data, size_t bytes,
                                 porep_c1 **out, cuzk_error *err) {
    registered_seal seal;
    porep_c1 *c1;
    *out = NULL;
    CUZK_TRY(check_frame(data, bytes, &seal, err));
    CUZK_TRY(porep_c1_new(host, &seal, porep_public_partitions(&seal), &c1, err));
    cursor c = {.in = data, .at = sizeof magic + 8, .err = err};
    cuzk_status st = walk_c1(&c, c1);
    if (st == CUZK_OK) st = porep_c1_check_header(c1, err);
    if (st != CUZK_OK) {
        porep_c1_free(host, c1);
        return st;
    }
    *out = c1;
    return CUZK_OK;
}
