#include "filecoin/synth_trees.h"

#include <string.h>

#include "base/bytes.h"
#include "hash/sha256.h"

void synth_value(const node32 seed, uint32_t domain, uint64_t a, uint64_t b, node32 out) {
    uint8_t message[32 + 4 + 8 + 8];
    memcpy(message, seed, 32);
    store_le32(message + 32, domain);
    store_le64(message + 36, a);
    store_le64(message + 44, b);
    sha256(out, message, sizeof message);
    out[31] &= 0x3f;
}

/* Heap sort: no memory, no worst case. */
static void sift_down(uint64_t *v, size_t at, size_t n) {
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && v[child + 1] > v[child]) child++;
        if (v[at] >= v[child]) return;
        const uint64_t t = v[at];
        v[at] = v[child];
        v[child] = t;
    }
}

size_t synth_sort_unique(uint64_t *v, size_t n) {
    size_t unique = 0;
    for (size_t i = n / 2; i-- > 0;)
        sift_down(v, i, n);
    for (size_t end = n; end > 1; end--) {
        const uint64_t t = v[0];
        v[0] = v[end - 1];
        v[end - 1] = t;
        sift_down(v, 0, end - 1);
    }
    for (size_t i = 0; i < n; i++)
        if (i == 0 || v[i] != v[unique - 1]) v[unique++] = v[i];
    return unique;
}

size_t synth_find(const uint64_t *values, size_t n, uint64_t value) {
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (values[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && values[low] == value ? low : n;
}

/* ---- sparse ---- */

size_t sparse_tree_bytes(const merkle_form *form, size_t n) {
    return (form->levels + 1) * n * (sizeof(node32) + sizeof(uint64_t));
}

void sparse_tree_init(sparse_tree *t, const merkle_form *form, const node32 seed, uint32_t domain,
                      size_t n, void *memory) {
    node32 *nodes = memory;
    uint64_t *indices = (uint64_t *)(void *)(nodes + (form->levels + 1) * n);
    *t = (sparse_tree){.form = *form, .seed = seed, .domain = domain, .n = {n}};
    for (uint32_t level = 0; level <= form->levels; level++) {
        t->node[level] = nodes + level * n;
        t->index[level] = indices + level * n;
    }
}

/* The children of node `parent` of level + 1. */
static void sparse_children(const sparse_tree *t, uint32_t level, uint64_t parent,
                            node32 children[MERKLE_MAX_ARITY]) {
    const uint32_t arity = t->form.arity[level];
    for (uint32_t i = 0; i < arity; i++) {
        const uint64_t index = parent * arity + i;
        const size_t at = synth_find(t->index[level], t->n[level], index);
        if (at < t->n[level])
            memcpy(children[i], t->node[level][at], 32);
        else
            synth_value(t->seed, t->domain, level, index, children[i]);
    }
}

typedef struct sparse_level {
    sparse_tree *tree;
    uint32_t level;
} sparse_level;

static void hash_parent(void *arg, size_t task, unsigned worker) {
    const sparse_level *l = arg;
    sparse_tree *t = l->tree;
    node32 children[MERKLE_MAX_ARITY];
    (void)worker;
    sparse_children(t, l->level, t->index[l->level + 1][task], children);
    merkle_node(&t->form, t->form.arity[l->level], (const node32 *)children,
                t->node[l->level + 1][task]);
}

void sparse_tree_hash(const cuzk_host *host, sparse_tree *t) {
    for (uint32_t level = 0; level < t->form.levels; level++) {
        const uint32_t bits = merkle_arity_bits(t->form.arity[level]);
        size_t parents = 0;
        for (size_t i = 0; i < t->n[level]; i++) {
            const uint64_t parent = t->index[level][i] >> bits;
            if (parents == 0 || t->index[level + 1][parents - 1] != parent)
                t->index[level + 1][parents++] = parent;
        }
        t->n[level + 1] = parents;
        sparse_level l = {t, level};
        if (host != NULL) {
            cuzk_host_parallel(host, parents, hash_parent, &l);
            continue;
        }
        for (size_t i = 0; i < parents; i++)
            hash_parent(&l, i, 0);
    }
}

void sparse_tree_path(const sparse_tree *t, uint64_t leaf, merkle_path *path) {
    node32 *siblings = vanilla_fill(path->siblings);
    uint64_t index = leaf;
    path->index = leaf;
    memcpy(path->leaf, t->node[0][synth_find(t->index[0], t->n[0], leaf)], 32);
    memcpy(path->root, t->node[t->form.levels][0], 32);
    for (uint32_t level = 0; level < t->form.levels; level++) {
        const uint32_t arity = t->form.arity[level], at = (uint32_t)(index & (arity - 1));
        node32 children[MERKLE_MAX_ARITY];
        index >>= merkle_arity_bits(arity);
        sparse_children(t, level, index, children);
        memcpy(siblings, children, (size_t)at * 32);
        memcpy(siblings + at, children + at + 1, (size_t)(arity - 1 - at) * 32);
        siblings += arity - 1;
    }
}

/* ---- tiled ---- */

/* Of each tile: the nodes of its block level by level (8 + 4 + 2 for arity 2, 8 for arity 8), then
 * one node for each level from block_levels to tile_levels. */
#define BLOCK_NODES 14
#define TILE_NODES (BLOCK_NODES + MERKLE_MAX_LEVELS + 1)

/* Levels above 0 exist for arity 2 only. */
static node32 *block_level(node32 *tile, uint32_t level) {
    return tile + (level == 0 ? 0 : level == 1 ? 8 : 12);
}

static void hash_tile(void *arg, size_t task, unsigned worker) {
    const tiled_tree *t = arg;
    node32 *tile = t->tiles + task * TILE_NODES;
    const uint32_t arity = t->form.arity[0];
    (void)worker;
    for (uint32_t level = 0; level < t->block_levels; level++) {
        const uint32_t parents = level + 1 == t->block_levels ? 1 : 8u >> (level + 1);
        node32 *to = parents == 1 ? tile + BLOCK_NODES : block_level(tile, level + 1);
        for (uint32_t i = 0; i < parents; i++)
            merkle_node(&t->form, arity, (const node32 *)(block_level(tile, level) + i * arity),
                        to[i]);
    }
    for (uint32_t level = t->block_levels; level < t->tile_levels; level++) {
        node32 children[MERKLE_MAX_ARITY];
        for (uint32_t i = 0; i < arity; i++)
            memcpy(children[i], tile[BLOCK_NODES + level - t->block_levels], 32);
        merkle_node(&t->form, arity, (const node32 *)children,
                    tile[BLOCK_NODES + level + 1 - t->block_levels]);
    }
}

/* The tree over the tiles' roots: a tile that is no full subtree has several equal ones. */
static cuzk_status tiled_top(const cuzk_host *host, tiled_tree *t, uint64_t n_nodes,
                             cuzk_error *err) {
    merkle_form above = {.levels = t->form.levels - t->tile_levels, .sha256 = t->form.sha256};
    void *roots;
    memcpy(above.arity, t->form.arity + t->tile_levels, above.levels);
    CUZK_TRY(cuzk_host_alloc(host, &roots, n_nodes, sizeof(node32), "synthetic tree", err));
    for (uint64_t i = 0; i < n_nodes; i++)
        memcpy((node32 *)roots + i,
               t->tiles + i * t->n_tiles / n_nodes * TILE_NODES + BLOCK_NODES + t->tile_levels -
                   t->block_levels,
               32);
    const cuzk_status st = merkle_tree_new(host, &above, roots, &t->top, err);
    cuzk_host_free(host, roots, n_nodes, sizeof(node32));
    return st;
}

cuzk_status tiled_tree_new(const cuzk_host *host, const merkle_form *form, uint32_t n_tiles,
                           const node32 *leaves, tiled_tree *out, cuzk_error *err) {
    const uint32_t base_bits = merkle_arity_bits(form->arity[0]);
    uint64_t bits = 0;
    void *tiles;
    for (uint32_t i = 0; i < form->levels; i++)
        bits += merkle_arity_bits(form->arity[i]);
    const uint64_t tile_bits = bits - (uint64_t)__builtin_ctz(n_tiles);
    const uint64_t whole_levels = tile_bits / base_bits;
    *out = (tiled_tree){
        .form = *form,
        .n_tiles = n_tiles,
        .block_levels = 3 / base_bits,
        .tile_levels =
            whole_levels < form->base_levels ? (uint32_t)whole_levels : form->base_levels,
        .tile_bits = tile_bits,
    };
    CUZK_TRY(
        cuzk_host_alloc(host, &tiles, n_tiles, TILE_NODES * sizeof(node32), "synthetic tree", err));
    out->tiles = tiles;
    for (uint32_t i = 0; i < n_tiles; i++)
        memcpy(out->tiles + (size_t)i * TILE_NODES, leaves + (size_t)i * TILE_LEAVES,
               TILE_LEAVES * sizeof(node32));
    cuzk_host_parallel(host, n_tiles, hash_tile, out);
    const cuzk_status st =
        tiled_top(host, out, (uint64_t)1 << (bits - (uint64_t)out->tile_levels * base_bits), err);
    if (st != CUZK_OK) {
        cuzk_host_free(host, tiles, n_tiles, TILE_NODES * sizeof(node32));
        out->tiles = NULL;
    }
    return st;
}

void tiled_tree_free(const cuzk_host *host, tiled_tree *t) {
    if (t->tiles == NULL) return;
    merkle_tree_free(host, &t->top);
    cuzk_host_free(host, t->tiles, t->n_tiles, TILE_NODES * sizeof(node32));
    t->tiles = NULL;
}

const uint8_t *tiled_tree_root(const tiled_tree *t) {
    return t->top.nodes[t->top.form.levels][0];
}

const uint8_t *tiled_tree_node(const tiled_tree *t, uint32_t level, uint64_t index) {
    if (level >= t->tile_levels) return t->top.nodes[level - t->tile_levels][index];
    const uint64_t first_leaf = index << (level * merkle_arity_bits(t->form.arity[0]));
    node32 *tile = t->tiles + (first_leaf >> t->tile_bits) * TILE_NODES;
    if (level >= t->block_levels) return tile[BLOCK_NODES + level - t->block_levels];
    return block_level(tile, level)[index & ((8u >> level) - 1)];
}

const uint8_t *tiled_tree_leaf(const tiled_tree *t, uint64_t leaf) {
    return tiled_tree_node(t, 0, leaf);
}

void tiled_tree_path(const tiled_tree *t, uint64_t leaf, merkle_path *path) {
    node32 *siblings = vanilla_fill(path->siblings);
    uint64_t index = leaf;
    path->index = leaf;
    memcpy(path->leaf, tiled_tree_leaf(t, leaf), 32);
    memcpy(path->root, tiled_tree_root(t), 32);
    for (uint32_t level = 0; level < t->form.levels; level++) {
        const uint32_t arity = t->form.arity[level];
        const uint64_t at = index & (arity - 1);
        for (uint64_t i = 0; i < arity; i++)
            if (i != at) memcpy(*siblings++, tiled_tree_node(t, level, index - at + i), 32);
        index >>= merkle_arity_bits(arity);
    }
}
