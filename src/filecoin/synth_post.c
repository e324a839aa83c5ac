/* Winning and window PoSt proofs without sectors: challenges depend on randomness and sector ids
 * only, so each sector has a sparse tree R-last over its challenged leaves. */
#include <string.h>

#include "filecoin/merkle.h"
#include "filecoin/public_inputs.h"
#include "filecoin/synth.h"
#include "filecoin/synth_trees.h"

typedef struct maker {
    const registered_post *post;
    const uint8_t *seed, *randomness;
    post_vanilla *v;
    merkle_form form;
    uint32_t n_paths;
    uint8_t *scratch; /* scratch_bytes for each worker: a sparse tree */
    size_t scratch_bytes;
} maker;

static void make_sector(void *arg, size_t task, unsigned worker) {
    const maker *m = arg;
    post_sector *s = &m->v->sectors[task];
    uint64_t leaves[WINNING_SECTORS], unique[WINNING_SECTORS];
    sparse_tree tree;
    for (uint32_t i = 0; i < m->n_paths; i++)
        leaves[i] = unique[i] = post_leaf_challenge(m->post->sector, m->randomness, s->sector_id,
                                                    post_challenge_index(m->post, task, i));
    const size_t n = synth_sort_unique(unique, m->n_paths);
    node32 sector_seed;
    synth_value(m->seed, SYNTH_REPLICA, s->sector_id, 0, sector_seed);
    sparse_tree_init(&tree, &m->form, sector_seed, SYNTH_TREE_R, n,
                     m->scratch + worker * m->scratch_bytes);
    for (size_t i = 0; i < n; i++) {
        tree.index[0][i] = unique[i];
        synth_value(sector_seed, SYNTH_REPLICA, 1, unique[i], tree.node[0][i]);
    }
    sparse_tree_hash(NULL, &tree);
    for (uint32_t i = 0; i < m->n_paths; i++)
        sparse_tree_path(&tree, leaves[i], &s->paths[i]);
    memcpy(s->comm_r_last, tree.node[tree.form.levels][0], 32);
    synth_value(sector_seed, SYNTH_COMM_C, 0, 0, s->comm_c);
    merkle_comm_r(s->comm_c, s->comm_r_last, s->comm_r);
}

cuzk_status post_synth(const cuzk_host *host, const registered_post *post, uint64_t first_sector,
                       size_t n_sectors, const node32 seed, node32 randomness, post_vanilla **out,
                       cuzk_error *err) {
    maker m = {.post = post,
               .seed = seed,
               .randomness = randomness,
               .form = merkle_form_poseidon(&post->sector->tree),
               .n_paths = post->window ? WINDOW_CHALLENGES : WINNING_SECTORS};
    void *scratch;
    *out = NULL;
    if (post->window ? n_sectors == 0 : n_sectors != 1)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%s PoSt of %zu sectors",
                         post->window ? "window" : "winning", n_sectors);
    m.scratch_bytes = sparse_tree_bytes(&m.form, m.n_paths);
    CUZK_TRY(post_vanilla_new(host, post->sector, n_sectors, m.n_paths, &m.v, err));
    const cuzk_status st =
        cuzk_host_alloc(host, &scratch, host->workers, m.scratch_bytes, "synthetic PoSt", err);
    if (st != CUZK_OK) {
        post_vanilla_free(host, m.v);
        return st;
    }
    m.scratch = scratch;
    synth_value(seed, SYNTH_RANDOMNESS, 0, 0, randomness);
    for (size_t i = 0; i < n_sectors; i++)
        m.v->sectors[i].sector_id = first_sector + i;
    cuzk_host_parallel(host, n_sectors, make_sector, &m);
    cuzk_host_free(host, scratch, host->workers, m.scratch_bytes);
    *out = m.v;
    return CUZK_OK;
}
