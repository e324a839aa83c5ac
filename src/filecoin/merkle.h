/* Merkle trees of Filecoin sectors: their forms, node hashes, paths and, for tests and synthetic
 * data, whole trees (REFERENCE 5.1, 6.5). */
#ifndef CUZK_FILECOIN_MERKLE_H
#define CUZK_FILECOIN_MERKLE_H

#include "base/host.h"
#include "filecoin/shape.h"
#include "filecoin/vanilla.h"

#define MERKLE_MAX_LEVELS 31
#define MERKLE_MAX_ARITY 8

/* The arity of every level from the leaves up: base levels, then one for each of sub and top. */
typedef struct merkle_form {
    uint32_t levels, base_levels;
    bool sha256; /* tree D: SHA-256 cut to 254 bits; else Poseidon */
    uint8_t arity[MERKLE_MAX_LEVELS];
} merkle_form;

/* Trees C and R-last. */
merkle_form merkle_form_poseidon(const tree_shape *tree);
/* Tree D. */
merkle_form merkle_form_sha256(uint32_t levels);
/* Tree D of an update: SHA-256, or the shape of tree R in the all-Poseidon variant. */
merkle_form merkle_form_snap_d(const sector_shape *sector);
/* Siblings of a whole path. */
uint32_t merkle_form_siblings(const merkle_form *form);
/* log2 of the arity: index bits of a level. */
uint32_t merkle_arity_bits(uint32_t arity);

/* Size of a path in bincode (REFERENCE 4.4). */
size_t merkle_path_bincode_bytes(const merkle_form *form);

/* Is the little-endian value < r? */
bool node_is_canonical(const node32 node);

/* The parent of `arity` canonical children. */
void merkle_node(const merkle_form *form, uint32_t arity, const node32 *children, node32 out);
/* The root that path's leaf, siblings and index lead to (path->root is not looked at). */
void merkle_path_root(const merkle_form *form, const merkle_path *path, node32 out);
/* MISMATCH when path does not lead from its leaf to its root, or its index is not `index`. */
cuzk_status merkle_path_check(const merkle_form *form, const merkle_path *path, uint64_t index,
                              const node32 root, cuzk_error *err);

/* merkle_path_check of n paths of one Poseidon tree, eight hashes at a time. The error is that of
 * the first bad path; *bad is its number. */
cuzk_status merkle_paths_check(const merkle_form *form, const merkle_path *paths, size_t n,
                               const uint64_t *indices, const node32 root, size_t *bad,
                               cuzk_error *err);

/* comm_r = H2(comm_c, comm_r_last) */
void merkle_comm_r(const node32 comm_c, const node32 comm_r_last, node32 out);
/* Hash of a column of 2 or 11 labels. */
void merkle_column_hash(const node32 *rows, uint32_t layers, node32 out);

/* A whole tree in memory: level 0 are the leaves. */
typedef struct merkle_tree {
    merkle_form form;
    uint64_t leaves;
    node32 *nodes[MERKLE_MAX_LEVELS + 1];
    uint64_t n_nodes;
} merkle_tree;
/* leaves: as many as the form has; copied. */
cuzk_status merkle_tree_new(const cuzk_host *host, const merkle_form *form, const node32 *leaves,
                            merkle_tree *out, cuzk_error *err);
void merkle_tree_free(const cuzk_host *host, merkle_tree *tree);
/* The path of leaf `index`: path->siblings must have room for merkle_form_siblings nodes. */
void merkle_tree_path(const merkle_tree *tree, uint64_t index, merkle_path *path);

#endif
