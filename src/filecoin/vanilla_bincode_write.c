/* The writing side of the PoSt and SnapDeals wire forms (REFERENCE 4.4-4.6). */
#include <string.h>

#include "base/bytes.h"
#include "filecoin/merkle.h"
#include "filecoin/vanilla.h"

static uint8_t *put_bytes(uint8_t *to, const void *p, size_t n) {
    memcpy(to, p, n);
    return to + n;
}

static uint8_t *put_u64(uint8_t *to, uint64_t v) {
    store_le64(to, v);
    return to + 8;
}

typedef struct path_at {
    const merkle_form *form;
    const node32 *siblings;
    uint64_t index;
    uint32_t level;
} path_at;

static uint8_t *put_levels(uint8_t *to, path_at *at, uint32_t n) {
    to = put_u64(to, n);
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t arity = at->form->arity[at->level++];
        to = put_u64(to, arity - 1);
        to = put_bytes(to, at->siblings, (arity - 1) * sizeof(node32));
        to = put_u64(to, at->index & (arity - 1));
        at->siblings += arity - 1;
        at->index >>= merkle_arity_bits(arity);
    }
    return to;
}

static uint8_t *put_path(uint8_t *to, const merkle_form *form, const merkle_path *path) {
    const uint32_t variant = form->levels - form->base_levels;
    path_at at = {form, path->siblings, path->index, 0};
    store_le32(to, variant);
    to += 4;
    if (variant > 0) {
        to = put_levels(to, &at, form->base_levels);
        for (uint32_t i = 0; i < variant; i++)
            to = put_levels(to, &at, 1);
    }
    to = put_bytes(to, path->root, 32);
    to = put_bytes(to, path->leaf, 32);
    return variant == 0 ? put_levels(to, &at, form->levels) : to;
}

size_t merkle_path_bincode_bytes(const merkle_form *form) {
    const size_t groups = 1 + form->levels - form->base_levels;
    return 4 + 64 + 8 * groups + (size_t)form->levels * 16 +
           (size_t)merkle_form_siblings(form) * 32;
}

size_t post_sector_bincode_bytes(const sector_shape *sector, uint32_t n_paths) {
    const merkle_form form = merkle_form_poseidon(&sector->tree);
    return 8 + 32 + 8 + 8 + n_paths * merkle_path_bincode_bytes(&form) + 64;
}

void post_sector_write_bincode(const post_vanilla *v, uint32_t i, uint8_t *out) {
    const merkle_form form = merkle_form_poseidon(&v->sector->tree);
    const post_sector *s = &v->sectors[i];
    out = put_u64(out, s->sector_id);
    out = put_bytes(out, s->comm_r, 32);
    out = put_u64(out, 1);
    out = put_u64(out, s->n_paths);
    for (uint32_t j = 0; j < s->n_paths; j++)
        out = put_path(out, &form, &s->paths[j]);
    out = put_bytes(out, s->comm_c, 32);
    put_bytes(out, s->comm_r_last, 32);
}

size_t snap_partition_bincode_bytes(const sector_shape *sector) {
    const merkle_form d = merkle_form_snap_d(sector), r = merkle_form_poseidon(&sector->tree);
    const size_t apex = sector->snap_apex_leaves;
    return 32 + (apex != 0 ? 8 + apex * 32 : 0) + 8 +
           (size_t)sector->snap_challenges *
               (2 * merkle_path_bincode_bytes(&r) + merkle_path_bincode_bytes(&d));
}

void snap_partition_write_bincode(const snap_vanilla *v, uint32_t k, uint8_t *out) {
    const merkle_form d = merkle_form_snap_d(v->sector), r = merkle_form_poseidon(&v->sector->tree);
    const snap_partition *p = &v->partitions[k];
    out = put_bytes(out, p->comm_c, 32);
    if (p->n_apex != 0) {
        out = put_u64(out, p->n_apex);
        out = put_bytes(out, p->apex, p->n_apex * sizeof(node32));
    }
    out = put_u64(out, p->n_challenges);
    for (uint32_t i = 0; i < p->n_challenges; i++) {
        out = put_path(out, &r, &p->challenges[i].r_old);
        out = put_path(out, &d, &p->challenges[i].d_new);
        out = put_path(out, &r, &p->challenges[i].r_new);
    }
}
