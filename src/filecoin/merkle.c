#include "filecoin/merkle.h"

#include <string.h>

#include "base/bytes.h"
#include "field/fr.h"
#include "filecoin/poseidon.h"
#include "hash/sha256.h"

merkle_form merkle_form_poseidon(const tree_shape *tree) {
    merkle_form form = {.levels = tree->base_levels, .base_levels = tree->base_levels};
    for (uint32_t i = 0; i < tree->base_levels; i++)
        form.arity[i] = 8;
    if (tree->sub != 0) form.arity[form.levels++] = (uint8_t)tree->sub;
    if (tree->top != 0) form.arity[form.levels++] = (uint8_t)tree->top;
    return form;
}

merkle_form merkle_form_sha256(uint32_t levels) {
    merkle_form form = {.levels = levels, .base_levels = levels, .sha256 = true};
    for (uint32_t i = 0; i < levels; i++)
        form.arity[i] = 2;
    return form;
}

merkle_form merkle_form_snap_d(const sector_shape *sector) {
    return sector->snap_apex_leaves == 0 ? merkle_form_poseidon(&sector->tree)
                                         : merkle_form_sha256(sector->tree_d_levels);
}

uint32_t merkle_form_siblings(const merkle_form *form) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < form->levels; i++)
        n += form->arity[i] - 1u;
    return n;
}

uint32_t merkle_arity_bits(uint32_t arity) {
    return (uint32_t)__builtin_ctz(arity);
}

bool node_is_canonical(const node32 node) {
    /* r, most significant word first */
    static const uint64_t r[4] = {0x73eda753299d7d48, 0x3339d80809a1d805, 0x53bda402fffe5bfe,
                                  0xffffffff00000001};
    for (size_t i = 0; i < 4; i++) {
        const uint64_t w = load_le64(node + 24 - 8 * i);
        if (w != r[i]) return w < r[i];
    }
    return false;
}

/* ---- node hashes ---- */

static void poseidon_nodes(poseidon_kind kind, uint32_t n, const node32 *in, node32 out) {
    fr_t x[POSEIDON_MAX_WIDTH], y;
    for (uint32_t i = 0; i < n; i++)
        (void)fr_from_bytes(&x[i], in[i]); /* canonical: checked where values enter */
    poseidon_hash(poseidon_get(kind), x, &y);
    fr_to_bytes(out, &y);
}

static poseidon_kind node_kind(uint32_t arity) {
    return arity == 2 ? POSEIDON_2 : arity == 4 ? POSEIDON_4 : POSEIDON_8;
}

void merkle_node(const merkle_form *form, uint32_t arity, const node32 *children, node32 out) {
    if (form->sha256) {
        sha256(out, children, 64);
        out[31] &= 0x3f;
        return;
    }
    poseidon_nodes(node_kind(arity), arity, children, out);
}

void merkle_comm_r(const node32 comm_c, const node32 comm_r_last, node32 out) {
    node32 in[2];
    memcpy(in[0], comm_c, 32);
    memcpy(in[1], comm_r_last, 32);
    poseidon_nodes(POSEIDON_2, 2, (const node32 *)in, out);
}

void merkle_column_hash(const node32 *rows, uint32_t layers, node32 out) {
    poseidon_nodes(layers == 2 ? POSEIDON_2 : POSEIDON_11, layers, rows, out);
}

/* ---- paths ---- */

void merkle_path_root(const merkle_form *form, const merkle_path *path, node32 out) {
    const node32 *siblings = path->siblings;
    uint64_t index = path->index;
    node32 current;
    memcpy(current, path->leaf, 32);
    for (uint32_t level = 0; level < form->levels; level++) {
        const uint32_t arity = form->arity[level], at = (uint32_t)(index & (arity - 1));
        node32 children[MERKLE_MAX_ARITY];
        memcpy(children, siblings, (size_t)at * 32);
        memcpy(children[at], current, 32);
        memcpy(children + at + 1, siblings + at, (size_t)(arity - 1 - at) * 32);
        merkle_node(form, arity, (const node32 *)children, current);
        siblings += arity - 1;
        index >>= merkle_arity_bits(arity);
    }
    memcpy(out, current, 32);
}

/* computed: the root that the path leads to. */
static cuzk_status judge(const merkle_path *path, uint64_t index, const node32 root,
                         const node32 computed, cuzk_error *err) {
    if (path->index != index)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, ": path of leaf %llu, expected leaf %llu",
                         (unsigned long long)path->index, (unsigned long long)index);
    if (memcmp(path->root, root, 32) != 0)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, ": root differs from the tree's root");
    if (memcmp(computed, root, 32) != 0)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, ": the path does not lead to its root");
    return CUZK_OK;
}

cuzk_status merkle_path_check(const merkle_form *form, const merkle_path *path, uint64_t index,
                              const node32 root, cuzk_error *err) {
    node32 computed;
    merkle_path_root(form, path, computed);
    return judge(path, index, root, computed, err);
}

/* merkle_path_root of n <= POSEIDON_LANES paths. */
static void path_roots(const merkle_form *form, const merkle_path *paths, unsigned n, node32 *out) {
    fr_t children[POSEIDON_LANES][MERKLE_MAX_ARITY], current[POSEIDON_LANES];
    const fr_t *in[POSEIDON_LANES];
    fr_t *to[POSEIDON_LANES];
    uint32_t sibling = 0, bit = 0;
    for (unsigned i = 0; i < n; i++) {
        in[i] = children[i];
        to[i] = &current[i];
        (void)fr_from_bytes(&current[i], paths[i].leaf); /* canonical, like all of them */
    }
    for (uint32_t level = 0; level < form->levels; level++) {
        const uint32_t arity = form->arity[level];
        for (unsigned i = 0; i < n; i++) {
            const uint32_t at = (uint32_t)(paths[i].index >> bit) & (arity - 1);
            const node32 *from = paths[i].siblings + sibling;
            for (uint32_t c = 0; c < arity; c++)
                if (c != at) (void)fr_from_bytes(&children[i][c], *from++);
            children[i][at] = current[i];
        }
        poseidon_hash_lanes(poseidon_get(node_kind(arity)), n, in, to);
        sibling += arity - 1;
        bit += merkle_arity_bits(arity);
    }
    for (unsigned i = 0; i < n; i++)
        fr_to_bytes(out[i], &current[i]);
}

cuzk_status merkle_paths_check(const merkle_form *form, const merkle_path *paths, size_t n,
                               const uint64_t *indices, const node32 root, size_t *bad,
                               cuzk_error *err) {
    node32 computed[POSEIDON_LANES];
    for (*bad = 0; *bad < n; ++*bad) {
        const size_t lane = *bad % POSEIDON_LANES, left = n - *bad;
        if (lane == 0)
            path_roots(form, paths + *bad,
                       (unsigned)(left < POSEIDON_LANES ? left : POSEIDON_LANES), computed);
        CUZK_TRY(judge(&paths[*bad], indices[*bad], root, computed[lane], err));
    }
    return CUZK_OK;
}

/* ---- whole trees ---- */

typedef struct tree_level {
    const merkle_form *form;
    uint32_t arity;
    const node32 *children;
    node32 *parents;
    uint64_t n, chunk;
} tree_level;

static void hash_chunk(void *arg, size_t task, unsigned worker) {
    const tree_level *l = arg;
    const uint64_t first = task * l->chunk;
    const uint64_t last = first + l->chunk < l->n ? first + l->chunk : l->n;
    (void)worker;
    for (uint64_t i = first; i < last; i++)
        merkle_node(l->form, l->arity, l->children + i * l->arity, l->parents[i]);
}

cuzk_status merkle_tree_new(const cuzk_host *host, const merkle_form *form, const node32 *leaves,
                            merkle_tree *out, cuzk_error *err) {
    uint64_t sizes[MERKLE_MAX_LEVELS + 1], total = 0;
    void *memory;
    sizes[form->levels] = 1;
    for (uint32_t i = form->levels; i-- > 0;)
        sizes[i] = sizes[i + 1] * form->arity[i];
    for (uint32_t i = 0; i <= form->levels; i++)
        total += sizes[i];
    CUZK_TRY(cuzk_host_alloc(host, &memory, total, sizeof(node32), "Merkle tree", err));
    *out = (merkle_tree){.form = *form, .leaves = sizes[0], .n_nodes = total};
    node32 *at = memory;
    for (uint32_t i = 0; i <= form->levels; i++) {
        out->nodes[i] = at;
        at += sizes[i];
    }
    memcpy(out->nodes[0], leaves, sizes[0] * sizeof(node32));
    for (uint32_t i = 0; i < form->levels; i++) {
        tree_level l = {&out->form,        form->arity[i], (const node32 *)out->nodes[i],
                        out->nodes[i + 1], sizes[i + 1],   256};
        cuzk_host_parallel(host, (l.n + l.chunk - 1) / l.chunk, hash_chunk, &l);
    }
    return CUZK_OK;
}

void merkle_tree_free(const cuzk_host *host, merkle_tree *tree) {
    cuzk_host_free(host, tree->nodes[0], tree->n_nodes, sizeof(node32));
}

void merkle_tree_path(const merkle_tree *tree, uint64_t index, merkle_path *path) {
    node32 *siblings = vanilla_fill(path->siblings);
    path->index = index;
    memcpy(path->leaf, tree->nodes[0][index], 32);
    memcpy(path->root, tree->nodes[tree->form.levels][0], 32);
    for (uint32_t level = 0; level < tree->form.levels; level++) {
        const uint32_t arity = tree->form.arity[level], at = (uint32_t)(index & (arity - 1));
        node32 *group = tree->nodes[level] + (index - at);
        memcpy(siblings, group, (size_t)at * 32);
        memcpy(siblings + at, group + at + 1, (size_t)(arity - 1 - at) * 32);
        siblings += arity - 1;
        index >>= merkle_arity_bits(arity);
    }
}
