#include "filecoin/graph.h"

#include <string.h>

#include "base/bytes.h"
#include "field/fr.h"
#include "hash/blake2.h"
#include "hash/chacha.h"
#include "hash/sha256.h"

static void tagged_hash(const char *tag, const node32 porep_id, uint8_t out[32]) {
    sha256_ctx ctx;
    sha256_init(&ctx);
    sha256_update(&ctx, tag, strlen(tag));
    sha256_update(&ctx, porep_id, 32);
    sha256_final(&ctx, out);
}

void porep_graph_init(porep_graph *g, const sector_shape *sector, porep_api api,
                      const node32 porep_id) {
    uint8_t digest[32];
    *g = (porep_graph){.nodes = sector->nodes, .layers = sector->layers, .api = api};
    tagged_hash("Filecoin_DRSample", porep_id, digest);
    memcpy(g->drg_seed, digest, sizeof g->drg_seed);
    tagged_hash("Filecoin_Feistel", porep_id, digest);
    for (size_t i = 0; i < 4; i++)
        g->feistel_keys[i] = load_le64(digest + 8 * i);
}

void porep_id_of(const registered_seal *seal, node32 out) {
    memset(out, 0, 32);
    store_le64(out, seal->number);
}

void porep_graph_of(porep_graph *g, const registered_seal *seal) {
    node32 porep_id;
    porep_id_of(seal, porep_id);
    porep_graph_init(g, seal->sector, seal->api, porep_id);
}

/* ---- DRG parents ---- */

static uint32_t ceil_log2(uint64_t x) {
    uint32_t bits = 0;
    while (((uint64_t)1 << bits) < x)
        bits++;
    return bits;
}

void porep_drg_parents(const porep_graph *g, uint64_t node, uint64_t out[POREP_DRG_PARENTS]) {
    enum { SAMPLED = POREP_DRG_PARENTS - 1 };
    if (node < 2) {
        memset(out, 0, POREP_DRG_PARENTS * sizeof *out);
        return;
    }
    uint8_t key[32], stream[64 * 2];
    memcpy(key, g->drg_seed, sizeof g->drg_seed);
    store_le32(key + sizeof g->drg_seed, (uint32_t)node);
    /* Two u64 for each of the five parents: 80 bytes of keystream. */
    chacha_block(stream, key, (const uint32_t[4]){0}, 8);
    chacha_block(stream + 64, key, (const uint32_t[4]){1}, 8);

    const uint64_t meta = node * SAMPLED; /* index in the graph with 5 meta-nodes a node */
    /* The f64 logarithm of the original is exact enough for an integer one to agree: meta < 2^34,
     * where the distance of log2(2^k + 1) from k is far above one rounding. */
    const uint64_t buckets = ceil_log2(meta);
    uint64_t sampled[SAMPLED];
    for (size_t i = 0; i < SAMPLED; i++) {
        const uint64_t bucket = load_le64(stream + 16 * i) % buckets + 1;
        const uint64_t power = (uint64_t)1 << bucket;
        const uint64_t largest = meta < power ? meta : power;
        const uint64_t smallest = largest / 2 < 2 ? 2 : largest / 2;
        const uint64_t distance =
            smallest + load_le64(stream + 16 * i + 8) % (largest - smallest + 1);
        const uint64_t parent = (meta - distance) / SAMPLED;
        sampled[i] = parent == node ? node - 1 : parent;
    }
    const bool predecessor_last = g->api == POREP_API_1_0;
    memcpy(out + (predecessor_last ? 0 : 1), sampled, sizeof sampled);
    out[predecessor_last ? SAMPLED : 0] = node - 1;
}

/* ---- expander parents ---- */

static uint64_t feistel_round(uint64_t x, uint64_t key, uint64_t mask) {
    uint8_t in[16], digest[64];
    store_be64(in, x);
    store_be64(in + 8, key);
    blake2b(digest, sizeof digest, NULL, 0, in, sizeof in);
    return load_be64(digest) & mask;
}

/* A permutation of 0..n-1: a Feistel network over the next even power of two, walked until the
 * value is in range. */
static uint64_t permute(const porep_graph *g, uint64_t n, uint64_t value) {
    uint32_t half = 1;
    while (((uint64_t)1 << (2 * half)) < n)
        half++;
    const uint64_t mask = ((uint64_t)1 << half) - 1;
    do {
        uint64_t left = value >> half, right = value & mask;
        for (size_t i = 0; i < 3; i++) {
            const uint64_t next = left ^ feistel_round(right, g->feistel_keys[i], mask);
            left = right;
            right = next;
        }
        value = left << half | right;
    } while (value >= n);
    return value;
}

void porep_exp_parents(const porep_graph *g, uint64_t node, uint64_t out[POREP_EXP_PARENTS]) {
    for (uint64_t i = 0; i < POREP_EXP_PARENTS; i++) {
        uint64_t v = permute(g, g->nodes * POREP_EXP_PARENTS, node * POREP_EXP_PARENTS + i);
        if (g->api == POREP_API_1_0) v = (uint32_t)v; /* as the first version did */
        out[i] = v / POREP_EXP_PARENTS;
    }
}

/* ---- labels ---- */

static void label_hash(const node32 replica_id, uint32_t layer, uint64_t node,
                       const node32 *parents, size_t n_parents, node32 out) {
    uint8_t head[64] = {0};
    sha256_ctx ctx;
    memcpy(head, replica_id, 32);
    store_be32(head + 32, layer);
    store_be64(head + 36, node);
    sha256_init(&ctx);
    sha256_update(&ctx, head, sizeof head);
    sha256_update(&ctx, parents, n_parents * sizeof(node32));
    sha256_final(&ctx, out);
    out[31] &= 0x3f;
}

void porep_label(const node32 replica_id, uint32_t layer, uint64_t node,
                 const node32 parents[POREP_LABEL_PARENTS], node32 out) {
    label_hash(replica_id, layer, node, parents, POREP_LABEL_PARENTS, out);
}

void porep_label_parents(uint32_t layer, const node32 drg[POREP_DRG_PARENTS],
                         const node32 exp[POREP_EXP_PARENTS], node32 out[POREP_LABEL_PARENTS]) {
    const size_t period = POREP_DRG_PARENTS + (layer > 1 ? (size_t)POREP_EXP_PARENTS : 0);
    for (size_t i = 0; i < POREP_LABEL_PARENTS; i++) {
        const size_t at = i % period;
        memcpy(out[i], at < POREP_DRG_PARENTS ? drg[at] : exp[at - POREP_DRG_PARENTS], 32);
    }
}

void porep_label_layer(const porep_graph *g, const node32 replica_id, uint32_t layer,
                       const node32 *previous, node32 *out) {
    label_hash(replica_id, layer, 0, NULL, 0, out[0]);
    for (uint64_t node = 1; node < g->nodes; node++) {
        uint64_t at[POREP_EXP_PARENTS];
        node32 drg[POREP_DRG_PARENTS], exp[POREP_EXP_PARENTS], parents[POREP_LABEL_PARENTS];
        porep_drg_parents(g, node, at);
        for (size_t i = 0; i < POREP_DRG_PARENTS; i++)
            memcpy(drg[i], out[at[i]], 32);
        if (layer > 1) {
            porep_exp_parents(g, node, at);
            for (size_t i = 0; i < POREP_EXP_PARENTS; i++)
                memcpy(exp[i], previous[at[i]], 32);
        }
        porep_label_parents(layer, (const node32 *)drg, (const node32 *)exp, parents);
        porep_label(replica_id, layer, node, (const node32 *)parents, out[node]);
    }
}

void porep_encode(const node32 key, const node32 data, node32 out) {
    fr_t k, d;
    (void)fr_from_bytes(&k, key); /* canonical by contract */
    (void)fr_from_bytes(&d, data);
    fr_add(&k, &k, &d);
    fr_to_bytes(out, &k);
}
