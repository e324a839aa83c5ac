/* One block of memory for a whole vanilla proof: the shape fixes every length, so the pointers are
 * laid out before the values are read. */
#include "filecoin/vanilla.h"

#include <string.h>

#include "filecoin/merkle.h"

typedef struct arena {
    const cuzk_host *host;
    size_t bytes, used;
    uint8_t *memory; /* begins with its own size */
} arena;

/* Every piece starts on a multiple of this. */
#define ALIGNMENT 32

static bool arena_reserve(arena *a, size_t count, size_t size) {
    size_t bytes;
    return cuzk_mul_size(count, size, &bytes) &&
           !__builtin_add_overflow(bytes, ALIGNMENT, &bytes) &&
           !__builtin_add_overflow(a->bytes, bytes / ALIGNMENT * ALIGNMENT, &a->bytes);
}

static cuzk_status arena_open(arena *a, bool sized, const char *what, cuzk_error *err) {
    void *memory = NULL;
    if (!sized || __builtin_add_overflow(a->bytes, ALIGNMENT, &a->bytes))
        return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "%s: too large", what);
    CUZK_TRY(cuzk_host_alloc(a->host, &memory, a->bytes, 1, what, err));
    memset(memory, 0, a->bytes);
    memcpy(memory, &a->bytes, sizeof a->bytes);
    a->memory = memory;
    a->used = ALIGNMENT;
    return CUZK_OK;
}

static void *arena_take(arena *a, size_t count, size_t size) {
    void *p = a->memory + a->used;
    a->used += (count * size + ALIGNMENT) / ALIGNMENT * ALIGNMENT;
    return p;
}

static void arena_close(const cuzk_host *host, void *memory) {
    size_t bytes;
    memcpy(&bytes, memory, sizeof bytes);
    cuzk_host_free(host, memory, bytes, 1);
}

/* Cuts nodes off the front of *nodes. */
static const node32 *cut(node32 **nodes, size_t n) {
    const node32 *first = *nodes;
    *nodes += n;
    return first;
}

static void lay_out_path(merkle_path *path, uint32_t siblings, node32 **nodes) {
    path->n_siblings = siblings;
    path->siblings = cut(nodes, siblings);
}

/* ---- PoRep ---- */

static void lay_out_column(porep_column *column, uint32_t layers, uint32_t siblings,
                           node32 **nodes) {
    column->rows = cut(nodes, layers);
    lay_out_path(&column->path, siblings, nodes);
}

static void lay_out_challenge(porep_challenge *c, const sector_shape *s, uint32_t siblings,
                              porep_labeling *labels, node32 **nodes) {
    lay_out_path(&c->comm_d, s->tree_d_levels, nodes);
    lay_out_path(&c->comm_r_last, siblings, nodes);
    lay_out_column(&c->c_x, s->layers, siblings, nodes);
    for (size_t i = 0; i < POREP_DRG_PARENTS; i++)
        lay_out_column(&c->drg[i], s->layers, siblings, nodes);
    for (size_t i = 0; i < POREP_EXP_PARENTS; i++)
        lay_out_column(&c->exp[i], s->layers, siblings, nodes);
    for (uint32_t i = 0; i < s->layers; i++)
        labels[i].parents = cut(nodes, POREP_LABEL_PARENTS);
    c->labels = labels;
    c->encoding.parents = cut(nodes, POREP_LABEL_PARENTS);
}

cuzk_status porep_c1_new(const cuzk_host *host, const registered_seal *seal, uint32_t partitions,
                         porep_c1 **out, cuzk_error *err) {
    const sector_shape *s = seal->sector;
    const merkle_form form = merkle_form_poseidon(&s->tree);
    const uint32_t siblings = merkle_form_siblings(&form);
    const size_t columns = 1 + POREP_DRG_PARENTS + POREP_EXP_PARENTS;
    const size_t nodes_each = s->tree_d_levels + siblings + columns * (s->layers + siblings) +
                              (size_t)(s->layers + 1) * POREP_LABEL_PARENTS;
    const size_t n = (size_t)partitions * s->porep_challenges;
    arena a = {.host = host};
    *out = NULL;
    const bool sized = arena_reserve(&a, 1, sizeof(porep_c1)) &&
                       arena_reserve(&a, n, sizeof(porep_challenge)) &&
                       arena_reserve(&a, n * s->layers, sizeof(porep_labeling)) &&
                       arena_reserve(&a, n, nodes_each * sizeof(node32));
    CUZK_TRY(arena_open(&a, sized, "PoRep vanilla proofs", err));
    porep_c1 *c1 = arena_take(&a, 1, sizeof *c1);
    *c1 = (porep_c1){.seal = *seal,
                     .partitions = partitions,
                     .challenges = s->porep_challenges,
                     .proofs = arena_take(&a, n, sizeof(porep_challenge)),
                     .arena = a.memory};
    porep_labeling *labels = arena_take(&a, n * s->layers, sizeof *labels);
    node32 *nodes = arena_take(&a, n, nodes_each * sizeof *nodes);
    for (size_t i = 0; i < n; i++)
        lay_out_challenge(&c1->proofs[i], s, siblings, labels + i * s->layers, &nodes);
    *out = c1;
    return CUZK_OK;
}

static bool all_zero(const node32 v) {
    static const node32 zero;
    return memcmp(v, zero, sizeof zero) == 0;
}

cuzk_status porep_c1_check_header(const porep_c1 *c1, cuzk_error *err) {
    if (all_zero(c1->comm_d))
        return cuzk_fail(err, CUZK_ERR_FORMAT, "Invalid all zero commitment (comm_d)");
    if (all_zero(c1->comm_r))
        return cuzk_fail(err, CUZK_ERR_FORMAT, "Invalid all zero commitment (comm_r)");
    if (c1->seal.mode != POREP_NON_INTERACTIVE && all_zero(c1->seed))
        return cuzk_fail(err, CUZK_ERR_FORMAT, "Invalid porep challenge seed (all zero)");
    return CUZK_OK;
}

void porep_c1_free(const cuzk_host *host, porep_c1 *c1) {
    if (c1 != NULL) arena_close(host, c1->arena);
}

/* ---- PoSt ---- */

cuzk_status post_vanilla_new(const cuzk_host *host, const sector_shape *sector, size_t n_sectors,
                             uint32_t n_paths, post_vanilla **out, cuzk_error *err) {
    const merkle_form form = merkle_form_poseidon(&sector->tree);
    const uint32_t siblings = merkle_form_siblings(&form);
    size_t n = 0;
    arena a = {.host = host};
    *out = NULL;
    const bool sized = n_sectors <= UINT32_MAX && cuzk_mul_size(n_sectors, n_paths, &n) &&
                       arena_reserve(&a, 1, sizeof(post_vanilla)) &&
                       arena_reserve(&a, n_sectors, sizeof(post_sector)) &&
                       arena_reserve(&a, n, sizeof(merkle_path)) &&
                       arena_reserve(&a, n, siblings * sizeof(node32));
    CUZK_TRY(arena_open(&a, sized, "PoSt vanilla proofs", err));
    post_vanilla *v = arena_take(&a, 1, sizeof *v);
    *v = (post_vanilla){.sector = sector,
                        .n_sectors = (uint32_t)n_sectors,
                        .sectors = arena_take(&a, n_sectors, sizeof(post_sector)),
                        .arena = a.memory};
    merkle_path *paths = arena_take(&a, n, sizeof *paths);
    node32 *nodes = arena_take(&a, n, siblings * sizeof *nodes);
    for (size_t i = 0; i < n; i++)
        lay_out_path(&paths[i], siblings, &nodes);
    for (size_t i = 0; i < n_sectors; i++) {
        v->sectors[i].n_paths = n_paths;
        v->sectors[i].paths = paths + i * n_paths;
    }
    *out = v;
    return CUZK_OK;
}

void post_vanilla_free(const cuzk_host *host, post_vanilla *v) {
    if (v != NULL) arena_close(host, v->arena);
}

/* ---- SnapDeals ---- */

cuzk_status snap_vanilla_new(const cuzk_host *host, const sector_shape *sector, snap_vanilla **out,
                             cuzk_error *err) {
    const merkle_form form = merkle_form_poseidon(&sector->tree),
                      form_d = merkle_form_snap_d(sector);
    const uint32_t siblings = merkle_form_siblings(&form), d = merkle_form_siblings(&form_d);
    const uint32_t partitions = sector->snap_partitions, challenges = sector->snap_challenges;
    const uint32_t apex = sector->snap_apex_leaves;
    const size_t n = (size_t)partitions * challenges;
    const size_t nodes_each = apex + (size_t)challenges * (2 * (size_t)siblings + d);
    arena a = {.host = host};
    *out = NULL;
    const bool sized = arena_reserve(&a, 1, sizeof(snap_vanilla)) &&
                       arena_reserve(&a, partitions, sizeof(snap_partition)) &&
                       arena_reserve(&a, n, sizeof(snap_challenge)) &&
                       arena_reserve(&a, partitions, nodes_each * sizeof(node32));
    CUZK_TRY(arena_open(&a, sized, "SnapDeals vanilla proofs", err));
    snap_vanilla *v = arena_take(&a, 1, sizeof *v);
    *v = (snap_vanilla){.sector = sector,
                        .n_partitions = partitions,
                        .partitions = arena_take(&a, partitions, sizeof(snap_partition)),
                        .arena = a.memory};
    snap_challenge *list = arena_take(&a, n, sizeof *list);
    node32 *nodes = arena_take(&a, partitions, nodes_each * sizeof *nodes);
    for (uint32_t k = 0; k < partitions; k++) {
        snap_partition *p = &v->partitions[k];
        p->n_apex = apex;
        p->apex = cut(&nodes, apex);
        p->n_challenges = challenges;
        p->challenges = list + (size_t)k * challenges;
        for (uint32_t i = 0; i < challenges; i++) {
            lay_out_path(&p->challenges[i].r_old, siblings, &nodes);
            lay_out_path(&p->challenges[i].d_new, d, &nodes);
            lay_out_path(&p->challenges[i].r_new, siblings, &nodes);
        }
    }
    *out = v;
    return CUZK_OK;
}

void snap_vanilla_free(const cuzk_host *host, snap_vanilla *v) {
    if (v != NULL) arena_close(host, v->arena);
}
