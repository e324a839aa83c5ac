/* A consistent PoRep C1 output without a sector. The data are eight random nodes repeated, so
 * comm_d is known at once; from it replica_id, and from that the challenges. Then the columns of
 * all challenged nodes and their parents are made, layer by layer: random labels for nodes that are
 * only parents, hashed ones for challenged nodes. Trees C and R-last are sparse over these nodes.
 */
#include <string.h>

#include "filecoin/graph.h"
#include "filecoin/merkle.h"
#include "filecoin/public_inputs.h"
#include "filecoin/synth.h"
#include "filecoin/synth_trees.h"

#define PARENTS (POREP_DRG_PARENTS + POREP_EXP_PARENTS)

typedef struct maker {
    const cuzk_host *host;
    const uint8_t *seed;
    porep_c1 *c1;
    porep_graph graph;
    size_t n_proofs;
    tiled_tree d;
    sparse_tree c, r;
    uint64_t *challenges; /* n_proofs, as derived; then sorted and unique: n_challenged */
    size_t n_challenged;
    uint64_t *nodes; /* challenged nodes and all parents, sorted */
    size_t n_nodes;
    node32 *rows; /* graph.layers of each node */
} maker;

static node32 *rows_of(const maker *m, uint64_t node) {
    return m->rows + synth_find(m->nodes, m->n_nodes, node) * m->graph.layers;
}

/* ---- data, replica id, challenges ---- */

static cuzk_status make_data(maker *m, cuzk_error *err) {
    const merkle_form form = merkle_form_sha256(m->c1->seal.sector->tree_d_levels);
    node32 leaves[TILE_LEAVES];
    for (uint64_t i = 0; i < TILE_LEAVES; i++)
        synth_value(m->seed, SYNTH_DATA, 0, i, leaves[i]);
    CUZK_TRY(tiled_tree_new(m->host, &form, 1, (const node32 *)leaves, &m->d, err));
    memcpy(m->c1->comm_d, tiled_tree_root(&m->d), 32);
    return CUZK_OK;
}

static cuzk_status derive_challenges(maker *m, uint64_t miner_id, uint64_t sector_number,
                                     cuzk_error *err) {
    porep_c1 *c1 = m->c1;
    porep_public pub;
    node32 prover_id;
    synth_value(m->seed, SYNTH_SEED, 0, 0, c1->seed);
    synth_value(m->seed, SYNTH_TICKET, 0, 0, c1->ticket);
    prover_id_from_miner(miner_id, prover_id);
    porep_replica_id(&c1->seal, prover_id, sector_number, c1->ticket, c1->comm_d, c1->replica_id);
    porep_public_of_c1(c1, &pub);
    for (uint32_t k = 0; k < c1->partitions; k++)
        CUZK_TRY(porep_challenges(&pub, k, m->challenges + (size_t)k * c1->challenges, err));
    for (size_t i = 0; i < m->n_proofs; i++)
        c1->proofs[i].challenge = m->challenges[i];
    m->n_challenged = synth_sort_unique(m->challenges, m->n_proofs);
    return CUZK_OK;
}

static void collect_nodes(maker *m) {
    uint64_t *to = m->nodes;
    for (size_t i = 0; i < m->n_challenged; i++) {
        *to++ = m->challenges[i];
        porep_drg_parents(&m->graph, m->challenges[i], to);
        to += POREP_DRG_PARENTS;
        porep_exp_parents(&m->graph, m->challenges[i], to);
        to += POREP_EXP_PARENTS;
    }
    m->n_nodes = synth_sort_unique(m->nodes, (size_t)(to - m->nodes));
}

/* ---- labels ---- */

/* The parents' labels for a label of `node`. */
static void parents_of(const maker *m, uint32_t layer, uint64_t node,
                       node32 parents[POREP_LABEL_PARENTS]) {
    uint64_t at[POREP_EXP_PARENTS];
    node32 drg[POREP_DRG_PARENTS], exp[POREP_EXP_PARENTS];
    porep_drg_parents(&m->graph, node, at);
    for (size_t i = 0; i < POREP_DRG_PARENTS; i++)
        memcpy(drg[i], rows_of(m, at[i])[layer - 1], 32);
    porep_exp_parents(&m->graph, node, at);
    for (size_t i = 0; i < POREP_EXP_PARENTS && layer > 1; i++)
        memcpy(exp[i], rows_of(m, at[i])[layer - 2], 32);
    porep_label_parents(layer, (const node32 *)drg, (const node32 *)exp, parents);
}

/* A DRG parent comes before its child and an expander parent is in the layer before, so layers
 * upward and nodes upward find every label that they need. */
static void make_labels(maker *m) {
    for (size_t i = 0; i < m->n_nodes; i++)
        for (uint32_t layer = 1; layer <= m->graph.layers; layer++)
            synth_value(m->seed, SYNTH_LABEL, layer, m->nodes[i],
                        m->rows[i * m->graph.layers + layer - 1]);
    for (uint32_t layer = 1; layer <= m->graph.layers; layer++) {
        for (size_t i = 0; i < m->n_challenged; i++) {
            node32 parents[POREP_LABEL_PARENTS];
            parents_of(m, layer, m->challenges[i], parents);
            porep_label(m->c1->replica_id, layer, m->challenges[i], (const node32 *)parents,
                        rows_of(m, m->challenges[i])[layer - 1]);
        }
    }
}

/* ---- trees ---- */

static void hash_column(void *arg, size_t task, unsigned worker) {
    maker *m = arg;
    (void)worker;
    m->c.index[0][task] = m->nodes[task];
    merkle_column_hash((const node32 *)(m->rows + task * m->graph.layers), m->graph.layers,
                       m->c.node[0][task]);
}

static void make_trees(maker *m) {
    cuzk_host_parallel(m->host, m->n_nodes, hash_column, m);
    sparse_tree_hash(m->host, &m->c);
    for (size_t i = 0; i < m->n_challenged; i++) {
        const uint64_t node = m->challenges[i];
        m->r.index[0][i] = node;
        porep_encode(rows_of(m, node)[m->graph.layers - 1], tiled_tree_leaf(&m->d, node),
                     m->r.node[0][i]);
    }
    sparse_tree_hash(m->host, &m->r);
    merkle_comm_r(m->c.node[m->c.form.levels][0], m->r.node[m->r.form.levels][0], m->c1->comm_r);
}

/* ---- proofs ---- */

static void fill_column(const maker *m, uint64_t node, porep_column *column) {
    column->index = (uint32_t)node;
    memcpy(vanilla_fill(column->rows), rows_of(m, node), m->graph.layers * sizeof(node32));
    sparse_tree_path(&m->c, node, &column->path);
}

static void fill_labeling(const maker *m, uint32_t layer, uint64_t node, porep_labeling *l) {
    l->layer_index = layer;
    l->node = node;
    parents_of(m, layer, node, vanilla_fill(l->parents));
}

static void fill_proof(void *arg, size_t task, unsigned worker) {
    const maker *m = arg;
    porep_challenge *p = &m->c1->proofs[task];
    uint64_t parents[PARENTS];
    (void)worker;
    tiled_tree_path(&m->d, p->challenge, &p->comm_d);
    sparse_tree_path(&m->r, p->challenge, &p->comm_r_last);
    fill_column(m, p->challenge, &p->c_x);
    porep_drg_parents(&m->graph, p->challenge, parents);
    porep_exp_parents(&m->graph, p->challenge, parents + POREP_DRG_PARENTS);
    for (size_t i = 0; i < POREP_DRG_PARENTS; i++)
        fill_column(m, parents[i], &p->drg[i]);
    for (size_t i = 0; i < POREP_EXP_PARENTS; i++)
        fill_column(m, parents[POREP_DRG_PARENTS + i], &p->exp[i]);
    for (uint32_t layer = 1; layer <= m->graph.layers; layer++)
        fill_labeling(m, layer, p->challenge, &vanilla_fill_labels(p->labels)[layer - 1]);
    fill_labeling(m, m->graph.layers, p->challenge, &p->encoding);
}

/* ---- all of it ---- */

/* One block: rows, both sparse trees, challenges, nodes. */
static cuzk_status make(maker *m, uint64_t miner_id, uint64_t sector_number, cuzk_error *err) {
    const merkle_form form = merkle_form_poseidon(&m->c1->seal.sector->tree);
    const size_t n = m->n_proofs, most = n * (1 + PARENTS);
    const size_t rows_bytes = most * m->graph.layers * sizeof(node32);
    const size_t c_bytes = sparse_tree_bytes(&form, most), r_bytes = sparse_tree_bytes(&form, n);
    const size_t bytes = rows_bytes + c_bytes + r_bytes + (n + most) * sizeof(uint64_t);
    void *memory;
    CUZK_TRY(make_data(m, err));
    CUZK_TRY(cuzk_host_alloc(m->host, &memory, bytes, 1, "synthetic PoRep", err));
    uint8_t *at = memory;
    m->rows = memory;
    uint8_t *c_memory = at + rows_bytes, *r_memory = c_memory + c_bytes;
    m->challenges = (uint64_t *)(void *)(r_memory + r_bytes);
    m->nodes = m->challenges + n;
    const cuzk_status st = derive_challenges(m, miner_id, sector_number, err);
    if (st == CUZK_OK) {
        collect_nodes(m);
        make_labels(m);
        sparse_tree_init(&m->c, &form, m->seed, SYNTH_TREE_C, m->n_nodes, c_memory);
        sparse_tree_init(&m->r, &form, m->seed, SYNTH_TREE_R, m->n_challenged, r_memory);
        make_trees(m);
        cuzk_host_parallel(m->host, n, fill_proof, m);
    }
    cuzk_host_free(m->host, memory, bytes, 1);
    return st;
}

cuzk_status porep_synth(const cuzk_host *host, const registered_seal *seal, uint64_t miner_id,
                        uint64_t sector_number, const node32 seed, porep_c1 **out,
                        cuzk_error *err) {
    maker m = {.host = host, .seed = seed};
    *out = NULL;
    if (seal->mode != POREP_INTERACTIVE)
        return cuzk_fail(err, CUZK_ERR_UNSUPPORTED,
                         "%s: its challenges depend on comm_r, and a synthetic comm_r on the "
                         "challenges; only the interactive proofs can be synthesised",
                         seal->name);
    CUZK_TRY(porep_c1_new(host, seal, seal->sector->porep_partitions, &m.c1, err));
    m.n_proofs = (size_t)m.c1->partitions * m.c1->challenges;
    porep_graph_of(&m.graph, seal);
    const cuzk_status st = make(&m, miner_id, sector_number, err);
    tiled_tree_free(host, &m.d);
    if (st != CUZK_OK) {
        porep_c1_free(host, m.c1);
        return st;
    }
    *out = m.c1;
    return CUZK_OK;
}
