#include "filecoin/shape.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "hash/sha256.h"

/* ---- sector sizes ---- */

#define NODES(log2_nodes)                                                                          \
    .bytes = (uint64_t)32 << (log2_nodes), .nodes = (uint64_t)1 << (log2_nodes)
#define SMALL_POREP                                                                                \
    .layers = 2, .porep_partitions = 1, .porep_challenges = 2, .porep_min_challenges = 2,          \
    .ni_partitions = 13
#define LARGE_POREP                                                                                \
    .layers = 11, .porep_partitions = 10, .porep_challenges = 18, .porep_min_challenges = 176,     \
    .ni_partitions = 126
#define SNAP(partitions, challenges, apex)                                                         \
    .snap_partitions = (partitions), .snap_challenges = (challenges), .snap_apex_leaves = (apex)
#define SNAP_POSEIDON(partitions, challenges, apex)                                                \
    .snap_partitions = 1, .snap_challenges = (partitions) * (challenges), .snap_apex_leaves = 0

/* clang-format off */
#define SECTORS(UPDATE)                                                                            \
    {NODES(5), .name = "1KiB", .suffix = "1k", .tree = {1, 4, 0}, .tree_d_levels = 5,              \
     SMALL_POREP, .window_sectors = 2, UPDATE(1, 10, 8)},                                          \
    {NODES(6), .name = "2KiB", .suffix = "2k", .tree = {2, 0, 0}, .tree_d_levels = 6,              \
     SMALL_POREP, .window_sectors = 2, UPDATE(1, 10, 8), .published = true},                       \
    {NODES(7), .name = "4KiB", .suffix = "4k", .tree = {2, 2, 0}, .tree_d_levels = 7,              \
     SMALL_POREP, .window_sectors = 2, UPDATE(1, 10, 8)},                                          \
    {NODES(8), .name = "8KiB", .suffix = "8k", .tree = {2, 4, 0}, .tree_d_levels = 8,              \
     SMALL_POREP, .window_sectors = 2, UPDATE(1, 10, 8)},                                          \
    {NODES(9), .name = "16KiB", .suffix = "16k", .tree = {2, 8, 0}, .tree_d_levels = 9,            \
     SMALL_POREP, .window_sectors = 2, UPDATE(2, 10, 128)},                                        \
    {NODES(10), .name = "32KiB", .suffix = "32k", .tree = {2, 8, 2}, .tree_d_levels = 10,          \
     SMALL_POREP, .window_sectors = 2, UPDATE(2, 10, 128)},                                        \
    {NODES(18), .name = "8MiB", .suffix = "8m", .tree = {6, 0, 0}, .tree_d_levels = 18,            \
     SMALL_POREP, .window_sectors = 2, UPDATE(4, 10, 128), .published = true},                     \
    {NODES(19), .name = "16MiB", .suffix = "16m", .tree = {6, 2, 0}, .tree_d_levels = 19,          \
     SMALL_POREP, .window_sectors = 2, UPDATE(4, 10, 128)},                                        \
    {NODES(24), .name = "512MiB", .suffix = "512m", .tree = {8, 0, 0}, .tree_d_levels = 24,        \
     SMALL_POREP, .window_sectors = 2, UPDATE(16, 86, 128), .published = true},                    \
    {NODES(25), .name = "1GiB", .suffix = "1g", .tree = {8, 2, 0}, .tree_d_levels = 25,            \
     SMALL_POREP, .window_sectors = 2, UPDATE(16, 86, 128)},                                       \
    {NODES(30), .name = "32GiB", .suffix = "32g", .tree = {9, 8, 0}, .tree_d_levels = 30,          \
     LARGE_POREP, .window_sectors = 2349, UPDATE(16, 86, 128), .published = true},                 \
    {NODES(31), .name = "64GiB", .suffix = "64g", .tree = {9, 8, 2}, .tree_d_levels = 31,          \
     LARGE_POREP, .window_sectors = 2300, UPDATE(16, 86, 128), .published = true},
/* clang-format on */

static const sector_shape shapes[] = {SECTORS(SNAP)};
static const sector_shape snap_poseidon_shapes[] = {SECTORS(SNAP_POSEIDON)};
#define N_SHAPES (sizeof shapes / sizeof shapes[0])

const sector_shape *sector_shape_by_bytes(uint64_t bytes) {
    for (size_t i = 0; i < N_SHAPES; i++)
        if (shapes[i].bytes == bytes) return &shapes[i];
    return NULL;
}

const sector_shape *sector_shape_by_index(size_t index) {
    return index < N_SHAPES ? &shapes[index] : NULL;
}

const sector_shape *sector_shape_snap_poseidon(const sector_shape *sector) {
    for (size_t i = 0; i < N_SHAPES; i++)
        if (snap_poseidon_shapes[i].bytes == sector->bytes) return &snap_poseidon_shapes[i];
    return NULL;
}

const sector_shape *sector_shape_by_name(const char *name) {
    for (size_t i = 0; i < N_SHAPES; i++)
        if (strcasecmp(shapes[i].name, name) == 0 || strcasecmp(shapes[i].suffix, name) == 0)
            return &shapes[i];
    return NULL;
}

/* The published size number i, in the order of the registered proof numbers. */
static const sector_shape *published_shape(uint64_t i) {
    for (size_t at = 0; at < N_SHAPES; at++)
        if (shapes[at].published && i-- == 0) return &shapes[at];
    return NULL;
}

/* ---- circuit ids ---- */

/* Canonical name first for each kind. */
static const struct {
    const char *prefix;
    proof_kind kind;
    bool snap_poseidon;
} circuit_prefixes[] = {
    {"porep-", PROOF_POREP, false},       {"winning-", PROOF_WINNING, false},
    {"window-", PROOF_WINDOW, false},     {"wpost-", PROOF_WINDOW, false},
    {"snap-poseidon-", PROOF_SNAP, true}, {"snap-", PROOF_SNAP, false},
};
#define N_PREFIXES (sizeof circuit_prefixes / sizeof circuit_prefixes[0])

cuzk_status circuit_id_parse(const char *text, circuit_id *out, cuzk_error *err) {
    for (size_t i = 0; i < N_PREFIXES; i++) {
        const size_t n = strlen(circuit_prefixes[i].prefix);
        if (strncasecmp(text, circuit_prefixes[i].prefix, n) != 0) continue;
        const sector_shape *sector = sector_shape_by_name(text + n);
        if (sector == NULL)
            return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                             "circuit \"%.64s\": unknown sector size \"%.32s\"", text, text + n);
        const bool poseidon = circuit_prefixes[i].snap_poseidon;
        *out = (circuit_id){circuit_prefixes[i].kind,
                            poseidon ? sector_shape_snap_poseidon(sector) : sector, poseidon};
        return CUZK_OK;
    }
    return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                     "circuit \"%.64s\": expected porep-, winning-, window- (wpost-), snap- or "
                     "snap-poseidon- and a sector size, such as porep-2k",
                     text);
}

void circuit_id_format(const circuit_id *id, char out[32]) {
    size_t i = 0;
    while (i + 1 < N_PREFIXES && (circuit_prefixes[i].kind != id->kind ||
                                  circuit_prefixes[i].snap_poseidon != id->snap_poseidon))
        i++;
    snprintf(out, 32, "%s%s", circuit_prefixes[i].prefix, id->sector->suffix);
}

uint32_t circuit_partitions(const circuit_id *id) {
    switch (id->kind) {
    case PROOF_POREP:
        return id->sector->porep_partitions;
    case PROOF_SNAP:
        return id->sector->snap_partitions;
    case PROOF_WINDOW:
    case PROOF_WINNING:
        break;
    }
    return 1;
}

/* ---- parameter file names ---- */

static void tree_name(const tree_shape *tree, char out[96]) {
    snprintf(out, 96, "merkletree-poseidon_hasher-8-%u-%u", tree->sub, tree->top);
}

void circuit_identifier(const circuit_id *id, char out[512]) {
    const sector_shape *s = id->sector;
    char tree[96];
    tree_name(&s->tree, tree);
    switch (id->kind) {
    case PROOF_POREP:
        snprintf(out, 512,
                 "layered_drgporep::PublicParams{ graph: stacked_graph::StackedGraph{"
                 "expansion_degree: %d base_graph: drgraph::BucketGraph{size: %llu; degree: %d; "
                 "hasher: poseidon_hasher} }, challenges: LayerChallenges { layers: %u, "
                 "max_count: %u }, tree: %s }",
                 POREP_EXP_PARENTS, (unsigned long long)s->nodes, POREP_DRG_PARENTS, s->layers,
                 s->porep_challenges, tree);
        return;
    case PROOF_SNAP:
        snprintf(out, 512, "empty_sector_update::PublicParams{ sector_nodes: %llu }",
                 (unsigned long long)s->nodes);
        return;
    case PROOF_WINDOW:
    case PROOF_WINNING:
        break;
    }
    const bool window = id->kind == PROOF_WINDOW;
    snprintf(out, 512,
             "FallbackPoSt::PublicParams{sector_size: %llu, challenge_count: %u, sector_count: %u}",
             (unsigned long long)s->bytes, window ? WINDOW_CHALLENGES : 1,
             window ? s->window_sectors : WINNING_SECTORS);
}

void circuit_cache_id(const circuit_id *id, char out[256]) {
    char identifier[512], tree[96], hex[65];
    uint8_t digest[32];
    circuit_identifier(id, identifier);
    sha256(digest, identifier, strlen(identifier));
    for (size_t i = 0; i < 32; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    tree_name(&id->sector->tree, tree);
    const char *prefix = "proof-of-spacetime-fallback-", *suffix = "";
    if (id->kind == PROOF_POREP) {
        prefix = "stacked-proof-of-replication-";
        suffix = "-sha256_hasher";
    } else if (id->kind == PROOF_SNAP) {
        prefix = id->snap_poseidon ? "empty-sector-update-poseidon-" : "empty-sector-update-";
    }
    snprintf(out, 256, "%s%s%s-%s", prefix, tree, suffix, hex);
}

/* ---- registered proofs ---- */

#define PUBLISHED_SIZES 5

static const struct {
    porep_api api;
    porep_challenge_mode mode;
    const char *version;
} seal_groups[] = {
    {POREP_API_1_0, POREP_INTERACTIVE, "V1"},
    {POREP_API_1_1, POREP_INTERACTIVE, "V1_1"},
    {POREP_API_1_2, POREP_SYNTHETIC, "V1_1_Feat_SyntheticPoRep"},
    {POREP_API_1_2, POREP_NON_INTERACTIVE, "V1_2_Feat_NonInteractivePoRep"},
};
#define N_SEALS (PUBLISHED_SIZES * sizeof seal_groups / sizeof seal_groups[0])

cuzk_status registered_seal_by_number(uint64_t number, registered_seal *out, cuzk_error *err) {
    if (number >= N_SEALS)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                         "unknown RegisteredSealProof value: %llu (0 to %zu are known)",
                         (unsigned long long)number, N_SEALS - 1);
    const size_t group = (size_t)number / PUBLISHED_SIZES;
    const sector_shape *sector = published_shape(number % PUBLISHED_SIZES);
    *out = (registered_seal){.number = (uint32_t)number,
                             .sector = sector,
                             .api = seal_groups[group].api,
                             .mode = seal_groups[group].mode};
    snprintf(out->name, sizeof out->name, "StackedDrg%s%s", sector->name,
             seal_groups[group].version);
    return CUZK_OK;
}

cuzk_status registered_seal_by_name(const char *name, registered_seal *out, cuzk_error *err) {
    for (uint64_t i = 0; i < N_SEALS; i++) {
        CUZK_TRY(registered_seal_by_number(i, out, err));
        if (strcmp(out->name, name) == 0) return CUZK_OK;
    }
    return cuzk_fail(err, CUZK_ERR_ARGUMENT, "unknown registered seal proof \"%.64s\"", name);
}

/* Winning V1, window V1, window V1_2. */
#define N_POSTS (3 * PUBLISHED_SIZES)

cuzk_status registered_post_by_number(uint64_t number, registered_post *out, cuzk_error *err) {
    if (number >= N_POSTS)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                         "unknown RegisteredPoStProof value: %llu (0 to %d are known)",
                         (unsigned long long)number, N_POSTS - 1);
    *out = (registered_post){.number = (uint32_t)number,
                             .sector = published_shape(number % PUBLISHED_SIZES),
                             .window = number >= PUBLISHED_SIZES,
                             .api_1_2 = number >= 2 * PUBLISHED_SIZES};
    return CUZK_OK;
}

void registered_post_name(const registered_post *post, char out[64]) {
    const char *size = post->sector->name;
    if (!post->window)
        snprintf(out, 64, "StackedDrgWinning%sV1", size);
    else
        snprintf(out, 64, "StackedDrgWindow%s%s", size, post->api_1_2 ? "V1_2" : "V1");
}

cuzk_status registered_post_by_name(const char *name, registered_post *out, cuzk_error *err) {
    for (uint64_t i = 0; i < N_POSTS; i++) {
        char candidate[64];
        CUZK_TRY(registered_post_by_number(i, out, err));
        registered_post_name(out, candidate);
        if (strcmp(candidate, name) == 0) return CUZK_OK;
    }
    return cuzk_fail(err, CUZK_ERR_ARGUMENT, "unknown registered PoSt proof \"%.64s\"", name);
}

cuzk_status registered_update_by_number(uint64_t number, const sector_shape **out,
                                        cuzk_error *err) {
    *out = published_shape(number);
    if (*out == NULL)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                         "unknown RegisteredUpdateProof value: %llu (0 to %d are known)",
                         (unsigned long long)number, PUBLISHED_SIZES - 1);
    return CUZK_OK;
}

cuzk_status registered_update_by_name(const char *name, uint32_t *number, cuzk_error *err) {
    for (uint32_t i = 0; i < PUBLISHED_SIZES; i++) {
        char candidate[64];
        snprintf(candidate, sizeof candidate, "StackedDrg%sV1", published_shape(i)->name);
        if (strcmp(candidate, name) != 0) continue;
        *number = i;
        return CUZK_OK;
    }
    return cuzk_fail(err, CUZK_ERR_ARGUMENT, "unknown registered update proof \"%.64s\"", name);
}
