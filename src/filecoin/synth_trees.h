/* Merkle trees over sectors that do not exist: sparse ones, which hold only the paths that somebody
 * asks for, and tiled ones, whose leaves repeat, so that every path is known. */
#ifndef CUZK_FILECOIN_SYNTH_TREES_H
#define CUZK_FILECOIN_SYNTH_TREES_H

#include "base/host.h"
#include "filecoin/merkle.h"

/* 254 bits that depend on all arguments: SHA-256 with the two top bits cleared. */
void synth_value(const node32 seed, uint32_t domain, uint64_t a, uint64_t b, node32 out);
/* What a value is for: keeps them apart. */
enum synth_domain {
    SYNTH_SEED,
    SYNTH_TICKET,
    SYNTH_RANDOMNESS,
    SYNTH_COMM_C,
    SYNTH_DATA,
    SYNTH_LABEL,
    SYNTH_REPLICA,
    SYNTH_TREE_C,
    SYNTH_TREE_R,
};

/* Sorts and removes duplicates; returns how many are left. */
size_t synth_sort_unique(uint64_t *values, size_t n);
/* Position of value in n sorted values; n when absent. */
size_t synth_find(const uint64_t *values, size_t n, uint64_t value);

/* ---- sparse ---- */

/* Nodes that are not over a given leaf are synth_value(seed, domain, level, index). */
typedef struct sparse_tree {
    merkle_form form;
    const uint8_t *seed;
    uint32_t domain;
    size_t n[MERKLE_MAX_LEVELS + 1]; /* known nodes of each level, sorted by index */
    uint64_t *index[MERKLE_MAX_LEVELS + 1];
    node32 *node[MERKLE_MAX_LEVELS + 1];
} sparse_tree;

/* Bytes of memory for a tree over n leaves, aligned to 32. */
size_t sparse_tree_bytes(const merkle_form *form, size_t n);
/* Lays the tree out in memory; index[0] and node[0] are then to be filled with n leaves, sorted
 * and without duplicates. */
void sparse_tree_init(sparse_tree *t, const merkle_form *form, const node32 seed, uint32_t domain,
                      size_t n, void *memory);
/* Hashes up to the root. host NULL: on this thread alone. */
void sparse_tree_hash(const cuzk_host *host, sparse_tree *t);
/* The path of a leaf that was given. */
void sparse_tree_path(const sparse_tree *t, uint64_t leaf, merkle_path *path);

/* ---- tiled ---- */

/* The sector is cut into n_tiles equal regions; in each, eight leaves repeat over and over. */
#define TILE_LEAVES 8
typedef struct tiled_tree {
    merkle_form form;
    uint32_t n_tiles;
    uint32_t block_levels; /* over the eight leaves */
    uint32_t tile_levels;  /* within a tile; from block_levels on, equal nodes in every level */
    uint64_t tile_bits;    /* log2 of a tile's leaves */
    node32 *tiles;         /* TILE_NODES each */
    merkle_tree top;       /* from level tile_levels on */
} tiled_tree;

/* leaves: n_tiles * TILE_LEAVES. n_tiles is a power of two; a tile has at least 8 leaves. */
cuzk_status tiled_tree_new(const cuzk_host *host, const merkle_form *form, uint32_t n_tiles,
                           const node32 *leaves, tiled_tree *out, cuzk_error *err);
void tiled_tree_free(const cuzk_host *host, tiled_tree *t);
const uint8_t *tiled_tree_root(const tiled_tree *t);
const uint8_t *tiled_tree_leaf(const tiled_tree *t, uint64_t leaf);
/* The node over a leaf, levels above it. */
const uint8_t *tiled_tree_node(const tiled_tree *t, uint32_t level, uint64_t index);
void tiled_tree_path(const tiled_tree *t, uint64_t leaf, merkle_path *path);

#endif
