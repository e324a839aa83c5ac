/* A porep_c1 from c1.json, for tests that must not depend on the JSON library of src/formats. */
#ifndef CUZK_TESTS_C1_FROM_JSON_H
#define CUZK_TESTS_C1_FROM_JSON_H

#include "json.h"

#include "filecoin/vanilla.h"

/* Everything lives until the program ends, in a list that leak checkers can follow. */
typedef struct c1_piece {
    struct c1_piece *next;
    uint8_t memory[];
} c1_piece;
static c1_piece *c1_pieces;
static inline void *c1_new(size_t count, size_t size) {
    c1_piece *piece = calloc(1, sizeof *piece + count * size);
    REQUIRE(piece != NULL);
    piece->next = c1_pieces;
    c1_pieces = piece;
    return piece->memory;
}
static inline void c1_node(const json *v, uint8_t out[32]) {
    REQUIRE(v->n == 32);
    for (size_t i = 0; i < 32; i++)
        out[i] = (uint8_t)strtoul(v->items[i].text, NULL, 10);
}
static inline const node32 *c1_nodes(const json *v) {
    node32 *nodes = c1_new(v->n, sizeof *nodes);
    for (size_t i = 0; i < v->n; i++)
        c1_node(&v->items[i], nodes[i]);
    return (const node32 *)nodes;
}

/* {"data": {"Single" | "Sub" | "Top": {...}}}; parts in the order base, sub, top. */
static inline void c1_path(const json *proof, merkle_path *out) {
    static const char *const parts[] = {"path", "base_proof", "sub_proof", "top_proof"};
    const json *data = &json_get(proof, "data")->items[0];
    node32 *siblings = c1_new(256, sizeof *siblings);
    unsigned bits = 0;
    c1_node(json_get(data, "leaf"), out->leaf);
    c1_node(json_get(data, "root"), out->root);
    out->siblings = (const node32 *)siblings;
    for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++) {
        const json *p = json_find(data, parts[part]);
        if (p == NULL) continue;
        const json *path = json_get(p, "path");
        for (size_t i = 0; i < path->n; i++) {
            const json *hashes = json_get(&path->items[i], "hashes");
            for (size_t j = 0; j < hashes->n; j++)
                c1_node(&hashes->items[j], siblings[out->n_siblings++]);
            out->index |= json_u64(&path->items[i], "index") << bits;
            bits += (unsigned)__builtin_ctzll(hashes->n + 1);
        }
    }
}
static inline void c1_column(const json *v, porep_column *out) {
    out->rows = c1_nodes(json_get(json_get(v, "column"), "rows"));
    c1_path(json_get(v, "inclusion_proof"), &out->path);
}
static inline void c1_challenge(const json *v, porep_challenge *out) {
    const json *columns = json_get(v, "replica_column_proofs");
    out->challenge = json_u64(&json_get(v, "labeling_proofs")->items[0], "node");
    c1_path(json_get(v, "comm_d_proofs"), &out->comm_d);
    c1_path(json_get(v, "comm_r_last_proof"), &out->comm_r_last);
    c1_column(json_get(columns, "c_x"), &out->c_x);
    for (size_t i = 0; i < POREP_DRG_PARENTS; i++)
        c1_column(&json_get(columns, "drg_parents")->items[i], &out->drg[i]);
    for (size_t i = 0; i < POREP_EXP_PARENTS; i++)
        c1_column(&json_get(columns, "exp_parents")->items[i], &out->exp[i]);
}
/* The fields that circuits and public inputs use; tests/data/NAME. */
static inline porep_c1 *c1_load(const char *name) {
    cuzk_error err;
    porep_c1 *c1 = c1_new(1, sizeof *c1);
    json v = json_load(name);
    CHECK_OK(registered_seal_by_name(json_str(&v, "registered_proof"), &c1->seal, &err));
    c1_node(json_get(&v, "comm_r"), c1->comm_r);
    c1_node(json_get(&v, "comm_d"), c1->comm_d);
    c1_node(json_get(&v, "replica_id"), c1->replica_id);
    c1_node(json_get(&v, "seed"), c1->seed);
    c1_node(json_get(&v, "ticket"), c1->ticket);
    const json *partitions = &json_get(&v, "vanilla_proofs")->items[0];
    c1->partitions = (uint32_t)partitions->n;
    c1->challenges = (uint32_t)partitions->items[0].n;
    c1->proofs = c1_new((size_t)c1->partitions * c1->challenges, sizeof *c1->proofs);
    for (size_t i = 0; i < partitions->n; i++)
        for (size_t j = 0; j < c1->challenges; j++)
            c1_challenge(&partitions->items[i].items[j], &c1->proofs[i * c1->challenges + j]);
    json_free(&v);
    return c1;
}

#endif
