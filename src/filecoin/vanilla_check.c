/* Full verification of vanilla proofs against public data, outside any circuit. */
#include <string.h>

#include "filecoin/graph.h"
#include "filecoin/merkle.h"
#include "filecoin/public_inputs.h"
#include "filecoin/vanilla_place.h"

static bool same(const node32 a, const node32 b) {
    return memcmp(a, b, sizeof(node32)) == 0;
}

static cuzk_status mismatch(cuzk_error *err, const char *what) {
    return cuzk_fail(err, CUZK_ERR_MISMATCH, "%s", what);
}

/* ---- independent checks in parallel ---- */

typedef cuzk_status (*check_fn)(const void *context, size_t item, cuzk_error *err);

typedef struct batch {
    check_fn check;
    const void *context;
    uint8_t *failed;
} batch;

static void run_item(void *arg, size_t item, unsigned worker) {
    const batch *b = arg;
    (void)worker;
    b->failed[item] = b->check(b->context, item, NULL) != CUZK_OK;
}

/* All items, in any order; the error is that of the first bad one, found again for its text. */
static cuzk_status check_all(const cuzk_host *host, size_t n, check_fn check, const void *context,
                             cuzk_error *err) {
    void *failed;
    CUZK_TRY(cuzk_host_alloc(host, &failed, n, 1, "vanilla proof check", err));
    batch b = {check, context, failed};
    cuzk_host_parallel(host, n, run_item, &b);
    const uint8_t *first = memchr(failed, 1, n);
    const size_t item = first == NULL ? n : (size_t)(first - b.failed);
    cuzk_host_free(host, failed, n, 1);
    return item == n ? CUZK_OK : check(context, item, err);
}

static cuzk_status check_comm_r(const node32 comm_c, const node32 comm_r_last, const node32 comm_r,
                                cuzk_error *err) {
    node32 computed;
    merkle_comm_r(comm_c, comm_r_last, computed);
    if (!same(computed, comm_r)) return mismatch(err, "is not H(comm_c, comm_r_last)");
    return CUZK_OK;
}

/* ---- PoRep ---- */

typedef struct porep_context {
    const porep_c1 *c1;
    porep_graph graph;
    merkle_form d, r;
    const uint8_t *comm_c, *comm_r_last;
} porep_context;

static cuzk_status check_column(const porep_context *ctx, const porep_column *column, uint64_t node,
                                cuzk_error *err) {
    node32 hash;
    if (column->index != node)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, ".column.index: %u, expected node %llu",
                         column->index, (unsigned long long)node);
    merkle_column_hash(column->rows, ctx->graph.layers, hash);
    if (!same(hash, column->path.leaf))
        return mismatch(err, ".column.rows: do not hash to the leaf of inclusion_proof");
    TRY_AT(err, merkle_path_check(&ctx->r, &column->path, node, ctx->comm_c, err),
           ".inclusion_proof");
    return CUZK_OK;
}

static cuzk_status check_columns(const porep_context *ctx, const porep_challenge *c,
                                 cuzk_error *err) {
    uint64_t drg[POREP_DRG_PARENTS], exp[POREP_EXP_PARENTS];
    porep_drg_parents(&ctx->graph, c->challenge, drg);
    porep_exp_parents(&ctx->graph, c->challenge, exp);
    TRY_AT(err, check_column(ctx, &c->c_x, c->challenge, err), "c_x");
    for (size_t i = 0; i < POREP_DRG_PARENTS; i++)
        TRY_AT(err, check_column(ctx, &c->drg[i], drg[i], err), "drg_parents[%zu]", i);
    for (size_t i = 0; i < POREP_EXP_PARENTS; i++)
        TRY_AT(err, check_column(ctx, &c->exp[i], exp[i], err), "exp_parents[%zu]", i);
    return CUZK_OK;
}

static cuzk_status check_labeling(const porep_labeling *l, uint32_t layer, uint64_t node,
                                  const node32 *parents, cuzk_error *err) {
    if (l->node != node)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, ".node: %llu, expected challenge %llu",
                         (unsigned long long)l->node, (unsigned long long)node);
    if (l->layer_index != layer)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, ".layer_index: %u, expected %u", l->layer_index,
                         layer);
    for (size_t i = 0; i < POREP_LABEL_PARENTS; i++)
        if (!same(l->parents[i], parents[i]))
            return cuzk_fail(err, CUZK_ERR_MISMATCH,
                             ".parents[%zu]: is not the label in the parent's column", i);
    return CUZK_OK;
}

static cuzk_status check_labels(const porep_context *ctx, const porep_challenge *c,
                                cuzk_error *err) {
    const uint32_t layers = ctx->graph.layers;
    node32 drg[POREP_DRG_PARENTS], exp[POREP_EXP_PARENTS], parents[POREP_LABEL_PARENTS], label;
    memset(exp, 0, sizeof exp);
    for (uint32_t layer = 1; layer <= layers; layer++) {
        for (size_t i = 0; i < POREP_DRG_PARENTS; i++)
            memcpy(drg[i], c->drg[i].rows[layer - 1], 32);
        for (size_t i = 0; i < POREP_EXP_PARENTS && layer > 1; i++)
            memcpy(exp[i], c->exp[i].rows[layer - 2], 32);
        porep_label_parents(layer, (const node32 *)drg, (const node32 *)exp, parents);
        TRY_AT(err,
               check_labeling(&c->labels[layer - 1], layer, c->challenge, (const node32 *)parents,
                              err),
               "labeling_proofs[%u]", layer - 1);
        porep_label(ctx->c1->replica_id, layer, c->challenge, (const node32 *)parents, label);
        if (!same(label, c->c_x.rows[layer - 1]))
            return cuzk_fail(err, CUZK_ERR_MISMATCH,
                             "replica_column_proofs.c_x.column.rows[%u]: is not the label that its "
                             "parents give",
                             layer - 1);
    }
    TRY_AT(err, check_labeling(&c->encoding, layers, c->challenge, (const node32 *)parents, err),
           "encoding_proof");
    return CUZK_OK;
}

static cuzk_status check_challenge(const porep_context *ctx, const porep_challenge *c,
                                   cuzk_error *err) {
    node32 encoded;
    TRY_AT(err, merkle_path_check(&ctx->d, &c->comm_d, c->challenge, ctx->c1->comm_d, err),
           "comm_d_proofs");
    TRY_AT(err, check_columns(ctx, c, err), "replica_column_proofs.");
    CUZK_TRY(check_labels(ctx, c, err));
    TRY_AT(err, merkle_path_check(&ctx->r, &c->comm_r_last, c->challenge, ctx->comm_r_last, err),
           "comm_r_last_proof");
    porep_encode(c->c_x.rows[ctx->graph.layers - 1], c->comm_d.leaf, encoded);
    if (!same(encoded, c->comm_r_last.leaf))
        return mismatch(err, "comm_r_last_proof.leaf: is not the encoded data leaf");
    return CUZK_OK;
}

static cuzk_status check_porep_item(const void *context, size_t item, cuzk_error *err) {
    const porep_context *ctx = context;
    TRY_AT(err, check_challenge(ctx, &ctx->c1->proofs[item], err), "vanilla_proofs[%zu][%zu].",
           item / ctx->c1->challenges, item % ctx->c1->challenges);
    return CUZK_OK;
}

static cuzk_status check_porep_challenges(const porep_c1 *c1, cuzk_error *err) {
    porep_public pub;
    porep_public_of_c1(c1, &pub);
    for (uint32_t k = 0; k < c1->partitions; k++) {
        uint64_t expected[POREP_MAX_CHALLENGES];
        CUZK_TRY(porep_challenges(&pub, k, expected, err));
        for (uint32_t i = 0; i < c1->challenges; i++) {
            const uint64_t got = c1->proofs[(size_t)k * c1->challenges + i].challenge;
            if (got != expected[i])
                return cuzk_fail(err, CUZK_ERR_MISMATCH,
                                 "vanilla_proofs[%u][%u].labeling_proofs[0].node: %llu, but the "
                                 "challenge derived from replica_id and %s is %llu",
                                 k, i, (unsigned long long)got,
                                 c1->seal.mode == POREP_INTERACTIVE       ? "seed"
                                 : c1->seal.mode == POREP_NON_INTERACTIVE ? "comm_r"
                                                                          : "comm_r and seed",
                                 (unsigned long long)expected[i]);
        }
    }
    return CUZK_OK;
}

cuzk_status porep_c1_check(const cuzk_host *host, const porep_c1 *c1, cuzk_error *err) {
    const sector_shape *s = c1->seal.sector;
    if (c1->partitions != porep_public_partitions(&c1->seal))
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "vanilla_proofs: %u partitions, %s has %u",
                         c1->partitions, c1->seal.name, porep_public_partitions(&c1->seal));
    porep_context ctx = {.c1 = c1,
                         .d = merkle_form_sha256(s->tree_d_levels),
                         .r = merkle_form_poseidon(&s->tree),
                         .comm_c = c1->proofs[0].c_x.path.root,
                         .comm_r_last = c1->proofs[0].comm_r_last.root};
    porep_graph_of(&ctx.graph, &c1->seal);
    CUZK_TRY(porep_c1_check_header(c1, err));
    CUZK_TRY(check_porep_challenges(c1, err));
    TRY_AT(err, check_comm_r(ctx.comm_c, ctx.comm_r_last, c1->comm_r, err), "comm_r: ");
    return check_all(host, (size_t)c1->partitions * c1->challenges, check_porep_item, &ctx, err);
}

/* ---- PoSt ---- */

typedef struct post_context {
    const registered_post *post;
    const uint8_t *randomness;
    const post_vanilla *v;
    merkle_form form;
} post_context;

/* Paths of one item: as many as are hashed at once, so that the 66 of a WinningPoSt's one sector
 * spread over the workers. */
#define POST_GROUP 8u

static uint32_t post_groups(const post_vanilla *v) {
    return (v->sectors[0].n_paths + POST_GROUP - 1) / POST_GROUP;
}

static cuzk_status check_post_paths(const post_context *ctx, size_t sector, uint32_t first,
                                    cuzk_error *err) {
    const post_sector *s = &ctx->v->sectors[sector];
    const uint32_t n = s->n_paths - first < POST_GROUP ? s->n_paths - first : POST_GROUP;
    uint64_t leaves[POST_GROUP];
    size_t bad;
    for (uint32_t i = 0; i < n; i++)
        leaves[i] = post_leaf_challenge(ctx->post->sector, ctx->randomness, s->sector_id,
                                        post_challenge_index(ctx->post, sector, first + i));
    TRY_AT(err,
           merkle_paths_check(&ctx->form, s->paths + first, n, leaves, s->comm_r_last, &bad, err),
           "inclusion_proofs[%zu]", first + bad);
    return CUZK_OK;
}

static cuzk_status check_post_item(const void *context, size_t item, cuzk_error *err) {
    const post_context *ctx = context;
    const size_t groups = post_groups(ctx->v), sector = item / groups;
    const post_sector *s = &ctx->v->sectors[sector];
    const uint32_t first = (uint32_t)(item % groups) * POST_GROUP;
    if (first == 0)
        TRY_AT(err, check_comm_r(s->comm_c, s->comm_r_last, s->comm_r, err),
               "vanilla proof %zu (sector %llu) comm_r: ", sector,
               (unsigned long long)s->sector_id);
    TRY_AT(err, check_post_paths(ctx, sector, first, err), "vanilla proof %zu (sector %llu) ",
           sector, (unsigned long long)s->sector_id);
    return CUZK_OK;
}

cuzk_status post_vanilla_check(const cuzk_host *host, const registered_post *post,
                               const node32 randomness, const post_vanilla *v, cuzk_error *err) {
    const post_context ctx = {post, randomness, v, merkle_form_poseidon(&post->sector->tree)};
    if (!node_is_canonical(randomness))
        return cuzk_fail(err, CUZK_ERR_NOT_CANONICAL,
                         "randomness is not below the field's modulus r");
    return check_all(host, (size_t)v->n_sectors * post_groups(v), check_post_item, &ctx, err);
}

/* ---- Snap ---- */

typedef struct snap_context {
    const snap_vanilla *v;
    merkle_form d, r;
    const uint8_t *comm_r_old, *comm_r_new, *comm_d_new;
    fr_t phi;
} snap_context;

/* The apex leaf over the challenge must be on its path in tree D. */
static cuzk_status check_apex(const snap_context *ctx, const snap_partition *p,
                              const merkle_path *path, cuzk_error *err) {
    const uint32_t apex_bits = (uint32_t)__builtin_ctz(p->n_apex);
    const uint32_t partition_bits = (uint32_t)__builtin_ctz(ctx->v->sector->snap_partitions);
    const uint32_t low = ctx->d.levels - partition_bits - apex_bits;
    const merkle_form below = merkle_form_sha256(low);
    const uint64_t at = path->index >> low & (p->n_apex - 1);
    node32 node;
    merkle_path_root(&below, path, node);
    if (!same(node, p->apex[at]))
        return cuzk_fail(err, CUZK_ERR_MISMATCH,
                         ".proof_d_new: does not pass through apex_leafs[%llu]",
                         (unsigned long long)at);
    return CUZK_OK;
}

static cuzk_status check_update(const snap_context *ctx, const snap_challenge *c, cuzk_error *err) {
    fr_t rho, data, leaf;
    node32 expected;
    snap_rho(ctx->v->sector, &ctx->phi, c->r_new.index, &rho);
    (void)fr_from_bytes(&data, c->d_new.leaf); /* canonical: the decoder checked */
    (void)fr_from_bytes(&leaf, c->r_old.leaf);
    fr_mul(&data, &data, &rho);
    fr_add(&leaf, &leaf, &data);
    fr_to_bytes(expected, &leaf);
    if (!same(expected, c->r_new.leaf))
        return mismatch(err, ".proof_r_new.leaf: is not old leaf + data leaf * rho");
    return CUZK_OK;
}

/* The apex leaves must hash to one node, from which the partition path leads to comm_d_new. */
static cuzk_status check_apex_tree(const snap_context *ctx, const snap_partition *p, uint32_t k,
                                   cuzk_error *err) {
    const uint32_t partition_bits = (uint32_t)__builtin_ctz(ctx->v->sector->snap_partitions);
    const merkle_form top = merkle_form_sha256(partition_bits);
    const merkle_path *path = &p->challenges[0].d_new;
    node32 row[128];
    memcpy(row, p->apex, p->n_apex * sizeof *row);
    for (uint32_t n = p->n_apex; n > 1; n /= 2)
        for (uint32_t i = 0; i < n / 2; i++)
            merkle_node(&ctx->d, 2, (const node32 *)&row[2 * i], row[i]);
    merkle_path above = {.siblings = path->siblings + (ctx->d.levels - partition_bits), .index = k};
    memcpy(above.leaf, row[0], 32);
    merkle_path_root(&top, &above, row[1]);
    if (!same(row[1], ctx->comm_d_new))
        return mismatch(err, "apex_leafs: do not lead to comm_d_new");
    return CUZK_OK;
}

static cuzk_status check_snap_challenge(const snap_context *ctx, const snap_partition *p,
                                        const snap_challenge *c, uint64_t node, cuzk_error *err) {
    TRY_AT(err, merkle_path_check(&ctx->r, &c->r_old, node, p->challenges[0].r_old.root, err),
           ".proof_r_old");
    TRY_AT(err, merkle_path_check(&ctx->d, &c->d_new, node, ctx->comm_d_new, err), ".proof_d_new");
    TRY_AT(err, merkle_path_check(&ctx->r, &c->r_new, node, p->challenges[0].r_new.root, err),
           ".proof_r_new");
    if (p->n_apex != 0) CUZK_TRY(check_apex(ctx, p, &c->d_new, err));
    return check_update(ctx, c, err);
}

static cuzk_status check_snap_partition(const snap_context *ctx, uint32_t k, cuzk_error *err) {
    const snap_partition *p = &ctx->v->partitions[k];
    uint64_t challenges[SNAP_MAX_CHALLENGES];
    CUZK_TRY(snap_challenges(ctx->v->sector, k, ctx->comm_r_new, challenges, err));
    TRY_AT(err, check_comm_r(p->comm_c, p->challenges[0].r_old.root, ctx->comm_r_old, err),
           "comm_r_old: ");
    TRY_AT(err, check_comm_r(p->comm_c, p->challenges[0].r_new.root, ctx->comm_r_new, err),
           "comm_r_new: ");
    for (uint32_t i = 0; i < p->n_challenges; i++)
        TRY_AT(err, check_snap_challenge(ctx, p, &p->challenges[i], challenges[i], err),
               "challenge_proofs[%u]", i);
    return p->n_apex != 0 ? check_apex_tree(ctx, p, k, err) : CUZK_OK;
}

static cuzk_status check_snap_item(const void *context, size_t item, cuzk_error *err) {
    TRY_AT(err, check_snap_partition(context, (uint32_t)item, err), "vanilla proof %zu ", item);
    return CUZK_OK;
}

cuzk_status snap_vanilla_check(const cuzk_host *host, const snap_vanilla *v,
                               const node32 comm_r_old, const node32 comm_r_new,
                               const node32 comm_d_new, cuzk_error *err) {
    snap_context ctx = {.v = v,
                        .d = merkle_form_snap_d(v->sector),
                        .r = merkle_form_poseidon(&v->sector->tree),
                        .comm_r_old = comm_r_old,
                        .comm_r_new = comm_r_new,
                        .comm_d_new = comm_d_new};
    if (!node_is_canonical(comm_r_old) || !node_is_canonical(comm_r_new) ||
        !node_is_canonical(comm_d_new))
        return cuzk_fail(err, CUZK_ERR_NOT_CANONICAL,
                         "comm_r_old, comm_r_new or comm_d_new is not below the field's modulus r");
    snap_phi(comm_d_new, comm_r_old, &ctx.phi);
    return check_all(host, v->n_partitions, check_snap_item, &ctx, err);
}
