/* Merkle nodes and paths in a circuit (filecoin-hashers, storage-proofs-core gadgets/por.rs;
 * REFERENCE 8.7, 9.1). */
#ifndef CUZK_FILECOIN_GADGET_MERKLE_H
#define CUZK_FILECOIN_GADGET_MERKLE_H

#include "filecoin/gadget_num.h"
#include "filecoin/shape.h"
#include "filecoin/vanilla.h"

/* Levels of a path from the leaf upward, each of arity 2, 4 or 8. */
#define MERKLE_MAX_LEVELS 34
typedef struct merkle_levels {
    uint32_t n;
    bool sha256; /* node hash: SHA-256 (arity 2), or Poseidon of the level's arity */
    uint8_t arity[MERKLE_MAX_LEVELS];
} merkle_levels;

merkle_levels merkle_levels_binary(uint32_t n);                /* tree D, SHA-256 */
merkle_levels merkle_levels_poseidon(const tree_shape *shape); /* trees C and R */
/* Siblings of a whole path, and bits of a leaf index. */
uint32_t merkle_siblings(const merkle_levels *levels);
uint32_t merkle_index_bits(const merkle_levels *levels);

/* SHA-256 of two numbers, cut to 254 bits. */
gadget_num merkle_sha256_node(cs *c, const gadget_num *left, const gadget_num *right);

/* The root that the path from value leads to: index bits and siblings are allocated level by level
 * (trap T16), then the packed index becomes a public input. path is NULL while recording. */
gadget_num merkle_por_root(cs *c, const merkle_levels *levels, const merkle_path *path,
                           const gadget_num *value);
/* PoR with a private root: merkle_por_root * ONE = root. */
void merkle_por(cs *c, const merkle_levels *levels, const merkle_path *path,
                const gadget_num *value, const gadget_num *root);

/* Witnessing many paths: the values of all node hashes of a path, in order; Poseidon trees only. */
size_t merkle_trace_length(const merkle_levels *levels);
/* Those of n paths, some hashes at a time: path i's to out + i merkle_trace_length(levels). */
void merkle_trace_paths(const merkle_levels *levels, const merkle_path *paths, unsigned n,
                        fr_t *out);
/* merkle_por with its path's values at hand; trace is NULL while recording, or when there are none.
 */
void merkle_por_traced(cs *c, const merkle_levels *levels, const merkle_path *path,
                       const gadget_num *value, const gadget_num *root, const fr_t *trace);

/* A path check without inputs, over index bits and siblings that exist already. */
void merkle_check(cs *c, const merkle_levels *levels, const gadget_bit *bits,
                  const gadget_num *siblings, const gadget_num *leaf, const gadget_num *root);

#endif
