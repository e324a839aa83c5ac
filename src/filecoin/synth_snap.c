/* A SnapDeals update without sectors. Its challenges depend on comm_r_new, so no tree may depend on
 * the challenges: all leaves are known instead. The old replica and the new data are eight nodes
 * repeated. The new replica is old + data * rho, and rho depends on the high bits of the node's
 * index alone, so it is tiled: one tile of eight repeated nodes for each value of those bits. */
#include <string.h>

#include "field/fr.h"
#include "filecoin/merkle.h"
#include "filecoin/public_inputs.h"
#include "filecoin/synth.h"
#include "filecoin/synth_trees.h"

typedef struct maker {
    const cuzk_host *host;
    const sector_shape *sector;
    const uint8_t *seed;
    snap_vanilla *v;
    merkle_form form_d, form_r;
    node32 comm_c;
    tiled_tree d_new, r_old, r_new;
} maker;

static cuzk_status make_repeated(maker *m, const merkle_form *form, uint32_t domain,
                                 tiled_tree *out, cuzk_error *err) {
    node32 leaves[TILE_LEAVES];
    for (uint64_t i = 0; i < TILE_LEAVES; i++)
        synth_value(m->seed, domain, 0, i, leaves[i]);
    return tiled_tree_new(m->host, form, 1, (const node32 *)leaves, out, err);
}

/* As many tiles as there are values of rho. */
static uint32_t rho_values(const sector_shape *s) {
    return (uint32_t)1 << (s->nodes <= 1024 ? 1 : 10);
}

static void new_leaf(const maker *m, const fr_t *rho, uint64_t i, node32 out) {
    fr_t data, leaf;
    (void)fr_from_bytes(&data, tiled_tree_leaf(&m->d_new, i)); /* 254 bits: canonical */
    (void)fr_from_bytes(&leaf, tiled_tree_leaf(&m->r_old, i));
    fr_mul(&data, &data, rho);
    fr_add(&leaf, &leaf, &data);
    fr_to_bytes(out, &leaf);
}

static cuzk_status make_new(maker *m, const node32 comm_r_old, cuzk_error *err) {
    const uint32_t tiles = rho_values(m->sector);
    const uint64_t tile_nodes = m->sector->nodes / tiles;
    fr_t phi, rho;
    void *memory;
    CUZK_TRY(cuzk_host_alloc(m->host, &memory, (size_t)tiles * TILE_LEAVES, sizeof(node32),
                             "synthetic update", err));
    node32 *leaves = memory;
    snap_phi(tiled_tree_root(&m->d_new), comm_r_old, &phi);
    for (uint32_t tile = 0; tile < tiles; tile++) {
        snap_rho(m->sector, &phi, tile * tile_nodes, &rho);
        for (uint64_t i = 0; i < TILE_LEAVES; i++)
            new_leaf(m, &rho, i, leaves[(size_t)tile * TILE_LEAVES + i]);
    }
    const cuzk_status st =
        tiled_tree_new(m->host, &m->form_r, tiles, (const node32 *)leaves, &m->r_new, err);
    cuzk_host_free(m->host, memory, (size_t)tiles * TILE_LEAVES, sizeof(node32));
    return st;
}

static void fill_apex(const maker *m, uint32_t k, snap_partition *p) {
    const uint32_t all = m->sector->snap_partitions * p->n_apex; /* nodes of the apex level */
    const uint32_t level = m->form_d.levels - (uint32_t)__builtin_ctz(all);
    for (uint32_t i = 0; i < p->n_apex; i++)
        memcpy(vanilla_fill(p->apex)[i],
               tiled_tree_node(&m->d_new, level, (uint64_t)k * p->n_apex + i), 32);
}

static cuzk_status fill_partition(const maker *m, uint32_t k, const node32 comm_r_new,
                                  cuzk_error *err) {
    snap_partition *p = &m->v->partitions[k];
    uint64_t challenges[SNAP_MAX_CHALLENGES];
    CUZK_TRY(snap_challenges(m->sector, k, comm_r_new, challenges, err));
    memcpy(p->comm_c, m->comm_c, 32);
    if (p->n_apex != 0) fill_apex(m, k, p);
    for (uint32_t i = 0; i < p->n_challenges; i++) {
        tiled_tree_path(&m->r_old, challenges[i], &p->challenges[i].r_old);
        tiled_tree_path(&m->d_new, challenges[i], &p->challenges[i].d_new);
        tiled_tree_path(&m->r_new, challenges[i], &p->challenges[i].r_new);
    }
    return CUZK_OK;
}

static cuzk_status make(maker *m, node32 comm_r_old, node32 comm_r_new, node32 comm_d_new,
                        cuzk_error *err) {
    synth_value(m->seed, SYNTH_COMM_C, 0, 0, m->comm_c);
    CUZK_TRY(make_repeated(m, &m->form_r, SYNTH_REPLICA, &m->r_old, err));
    CUZK_TRY(make_repeated(m, &m->form_d, SYNTH_DATA, &m->d_new, err));
    memcpy(comm_d_new, tiled_tree_root(&m->d_new), 32);
    merkle_comm_r(m->comm_c, tiled_tree_root(&m->r_old), comm_r_old);
    CUZK_TRY(make_new(m, comm_r_old, err));
    merkle_comm_r(m->comm_c, tiled_tree_root(&m->r_new), comm_r_new);
    CUZK_TRY(snap_vanilla_new(m->host, m->sector, &m->v, err));
    for (uint32_t k = 0; k < m->v->n_partitions; k++)
        CUZK_TRY(fill_partition(m, k, comm_r_new, err));
    return CUZK_OK;
}

cuzk_status snap_synth(const cuzk_host *host, const sector_shape *sector, const node32 seed,
                       node32 comm_r_old, node32 comm_r_new, node32 comm_d_new, snap_vanilla **out,
                       cuzk_error *err) {
    maker m = {.host = host,
               .sector = sector,
               .seed = seed,
               .form_d = merkle_form_snap_d(sector),
               .form_r = merkle_form_poseidon(&sector->tree)};
    const cuzk_status st = make(&m, comm_r_old, comm_r_new, comm_d_new, err);
    tiled_tree_free(host, &m.d_new);
    tiled_tree_free(host, &m.r_old);
    tiled_tree_free(host, &m.r_new);
    *out = m.v;
    if (st != CUZK_OK) {
        snap_vanilla_free(host, m.v);
        *out = NULL;
    }
    return st;
}
