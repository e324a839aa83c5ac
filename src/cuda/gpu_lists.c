#include "cuda/gpu_lists.h"

static size_t bitmap_words(uint64_t n) {
    return (size_t)((n + 63) / 64);
}

static void fill_inputs(const r1cs *c, gpu_density d, gpu_lists *l) {
    l->n = 0;
    if (d == GPU_DENSITY_L) return;
    for (uint64_t i = 0; i < c->inputs; i++) {
        if (d == GPU_DENSITY_B && (c->b_input_map[i / 64] >> (i % 64) & 1) == 0) continue;
        l->index[l->n] = (uint32_t)l->n;
        l->from[l->n++] = (uint32_t)i;
    }
}

static void fill_aux(const r1cs *c, gpu_lists *l) {
    uint64_t base = l->n, value = c->inputs;
    for (size_t k = 0; k < bitmap_words(c->aux); k++) {
        const uint64_t fields = c->field_map[k], dense = l->map != NULL ? l->map[k] : ~(uint64_t)0;
        for (uint64_t left = fields & dense; left != 0; left &= left - 1) {
            const uint64_t below = (left & (0 - left)) - 1;
            l->index[l->n] = (uint32_t)(base + (uint64_t)__builtin_popcountll(dense & below));
            l->from[l->n++] = (uint32_t)(value + (uint64_t)__builtin_popcountll(fields & below));
        }
        base += (uint64_t)__builtin_popcountll(dense);
        value += (uint64_t)__builtin_popcountll(fields);
    }
}

static void fill_ranks(gpu_lists *l) {
    uint32_t before = 0;
    for (uint64_t k = 0; k < l->words; k++) {
        l->rank[k] = before;
        before += (uint32_t)__builtin_popcount((uint32_t)(l->map[k / 2] >> (k % 2 * 32)));
    }
}

cuzk_status gpu_lists_new(const cuzk_host *host, const r1cs *c, const gpu_plan *plan, gpu_density d,
                          gpu_lists *out, cuzk_error *err) {
    void *index = NULL, *from = NULL, *rank = NULL;
    *out = (gpu_lists){.n = plan->index[d].bytes / sizeof(uint32_t)};
    if (d == GPU_DENSITY_A) out->map = c->a_aux_map;
    if (d == GPU_DENSITY_B) out->map = c->b_aux_map;
    out->words = out->map != NULL ? 2 * bitmap_words(c->aux) : 0;
    cuzk_status status = cuzk_host_alloc(host, &index, out->n, sizeof(uint32_t), "lists", err);
    if (status == CUZK_OK)
        status = cuzk_host_alloc(host, &from, out->n, sizeof(uint32_t), "lists", err);
    if (status == CUZK_OK)
        status = cuzk_host_alloc(host, &rank, out->words, sizeof(uint32_t), "lists", err);
    out->index = index;
    out->from = from;
    out->rank = rank;
    if (status != CUZK_OK) {
        gpu_lists_free(host, out);
        return status;
    }
    fill_inputs(c, d, out);
    fill_aux(c, out);
    fill_ranks(out);
    return CUZK_OK;
}

void gpu_lists_free(const cuzk_host *host, gpu_lists *l) {
    cuzk_host_free(host, l->index, l->n, sizeof(uint32_t));
    cuzk_host_free(host, l->from, l->n, sizeof(uint32_t));
    cuzk_host_free(host, l->rank, l->words, sizeof(uint32_t));
}

uint64_t gpu_lists_bytes(const gpu_plan *p) {
    uint64_t most = 0;
    for (int d = 0; d < GPU_DENSITIES; d++) {
        const uint64_t bytes = p->index[d].bytes + p->from[d].bytes + p->ranks[d].bytes;
        if (bytes > most) most = bytes;
    }
    return most;
}

/* The first entry whose base is not below `base`. */
static uint64_t lower_bound(const gpu_lists *l, uint64_t base) {
    uint64_t low = 0, high = l->n;
    while (low < high) {
        const uint64_t middle = (low + high) / 2;
        if (l->index[middle] < base)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

gpu_range gpu_lists_range(const gpu_lists *l, uint64_t base, uint64_t bases) {
    const uint64_t first = lower_bound(l, base);
    return (gpu_range){first, lower_bound(l, base + bases) - first};
}
