#include "check.h"
#include "filecoin/public_inputs.h"
#include "filecoin/synth.h"
#include "filecoin/synth_trees.h"
#include "host/host_std.h"

static const cuzk_host *host;
static host_std *standard;

/* ---- trees ---- */

/* Both kinds of trees lead from every path to the same root as a whole tree would. */
TEST(tiled_equals_whole) {
    cuzk_error err;
    const uint32_t tiles[] = {1, 2, 4};
    for (size_t i = 0; i < 6; i++) {
        const sector_shape *s = sector_shape_by_index(i);
        for (int sha = 0; sha < 2; sha++) {
            const merkle_form form =
                sha ? merkle_form_sha256(s->tree_d_levels) : merkle_form_poseidon(&s->tree);
            for (size_t t = 0; t < 3; t++) {
                node32 leaves[4 * TILE_LEAVES], siblings[64], whole_siblings[64];
                node32 *all = malloc(s->nodes * sizeof *all);
                tiled_tree tiled;
                merkle_tree whole;
                for (size_t j = 0; j < 4 * TILE_LEAVES; j++) {
                    check_random_bytes(leaves[j], 32);
                    leaves[j][31] &= 0x3f;
                }
                for (uint64_t j = 0; j < s->nodes; j++)
                    memcpy(all[j], leaves[j * tiles[t] / s->nodes * TILE_LEAVES + j % TILE_LEAVES],
                           32);
                CHECK_OK(
                    tiled_tree_new(host, &form, tiles[t], (const node32 *)leaves, &tiled, &err));
                CHECK_OK(merkle_tree_new(host, &form, (const node32 *)all, &whole, &err));
                CHECK_MEM(tiled_tree_root(&tiled), whole.nodes[form.levels][0], 32);
                merkle_path a = {.siblings = (const node32 *)siblings};
                merkle_path b = {.siblings = (const node32 *)whole_siblings};
                for (uint64_t j = 0; j < s->nodes; j += 1 + check_random() % 20) {
                    tiled_tree_path(&tiled, j, &a);
                    merkle_tree_path(&whole, j, &b);
                    CHECK_MEM(siblings, whole_siblings, 32 * merkle_form_siblings(&form));
                    CHECK_MEM(a.leaf, b.leaf, 32);
                }
                for (uint32_t level = 0; level <= form.levels; level++)
                    CHECK_MEM(tiled_tree_node(&tiled, level, 0), whole.nodes[level][0], 32);
                tiled_tree_free(host, &tiled);
                merkle_tree_free(host, &whole);
                free(all);
            }
        }
    }
}

TEST(sort_unique) {
    for (int round = 0; round < 300; round++) {
        uint64_t v[64], sorted[64];
        const size_t n = (size_t)(check_random() % 65);
        for (size_t i = 0; i < n; i++)
            v[i] = sorted[i] = check_random() % 40;
        const size_t unique = synth_sort_unique(sorted, n);
        for (size_t i = 1; i < unique; i++)
            CHECK(sorted[i - 1] < sorted[i]);
        for (size_t i = 0; i < n; i++)
            CHECK(synth_find(sorted, unique, v[i]) < unique);
        CHECK_U64(synth_find(sorted, unique, 40), unique);
    }
}

/* ---- PoRep ---- */

static void check_porep(uint64_t number, const char *name) {
    cuzk_error err;
    registered_seal seal;
    porep_c1 *c1;
    node32 seed, prover, replica_id;
    check_random_bytes(seed, 32);
    CHECK_OK(registered_seal_by_number(number, &seal, &err));
    CHECK(strcmp(seal.name, name) == 0);
    const double start = check_seconds();
    CHECK_OK(porep_synth(host, &seal, 1000, 42, seed, &c1, &err));
    REQUIRE(c1 != NULL);
    const double made = check_seconds();
    CHECK_OK(porep_c1_check(host, c1, &err));
    printf("%s: made in %.2f s, checked in %.2f s, peak %.1f MB\n", name, made - start,
           check_seconds() - made, (double)host_std_peak(standard) / 1e6);
    prover_id_from_miner(1000, prover);
    porep_replica_id(&seal, prover, 42, c1->ticket, c1->comm_d, replica_id);
    CHECK_MEM(replica_id, c1->replica_id, 32);
    CHECK(memcmp(c1->proofs[0].comm_d.leaf, (node32){0}, 32) != 0);
    porep_c1_free(host, c1);
}
TEST(porep_2k) {
    check_porep(0, "StackedDrg2KiBV1");
    check_porep(5, "StackedDrg2KiBV1_1");
}
TEST(porep_8m) {
    check_porep(6, "StackedDrg8MiBV1_1");
}
TEST(porep_512m) {
    check_porep(7, "StackedDrg512MiBV1_1");
}
TEST(porep_32g) {
    check_porep(8, "StackedDrg32GiBV1_1");
}
TEST(porep_64g) {
    check_porep(9, "StackedDrg64GiBV1_1");
}

TEST(porep_same_seed_same_proof) {
    cuzk_error err;
    registered_seal seal;
    porep_c1 *a, *b;
    node32 seed = {1};
    CHECK_OK(registered_seal_by_number(5, &seal, &err));
    CHECK_OK(porep_synth(host, &seal, 1000, 1, seed, &a, &err));
    CHECK_OK(porep_synth(host, &seal, 1000, 1, seed, &b, &err));
    REQUIRE(a != NULL && b != NULL);
    const size_t n = porep_c1_binary_bytes(a);
    uint8_t *x = malloc(n), *y = malloc(n);
    CHECK_OK(porep_c1_write_binary(a, x, n, &err));
    CHECK_OK(porep_c1_write_binary(b, y, n, &err));
    CHECK_MEM(x, y, n);
    porep_c1_free(host, b);
    CHECK_OK(porep_synth(host, &seal, 1000, 2, seed, &b, &err));
    CHECK_OK(porep_c1_write_binary(b, y, n, &err));
    CHECK(memcmp(x, y, n) != 0);
    porep_c1_free(host, a);
    porep_c1_free(host, b);
    free(x);
    free(y);
}

TEST(porep_circular_modes) {
    cuzk_error err;
    registered_seal seal;
    porep_c1 *c1;
    const node32 seed = {0};
    for (uint64_t number = 10; number < 20; number += 5) {
        CHECK_OK(registered_seal_by_number(number, &seal, &err));
        CHECK_STATUS(porep_synth(host, &seal, 1, 1, seed, &c1, &err), CUZK_ERR_UNSUPPORTED);
        CHECK(c1 == NULL);
    }
}

/* ---- PoSt ---- */

static void check_post(uint64_t number, size_t n_sectors) {
    cuzk_error err;
    registered_post post;
    post_vanilla *v, *again;
    node32 seed, randomness;
    char name[64];
    check_random_bytes(seed, 32);
    CHECK_OK(registered_post_by_number(number, &post, &err));
    registered_post_name(&post, name);
    const double start = check_seconds();
    CHECK_OK(post_synth(host, &post, 100, n_sectors, seed, randomness, &v, &err));
    REQUIRE(v != NULL);
    const double made = check_seconds();
    CHECK_OK(post_vanilla_check(host, &post, randomness, v, &err));
    printf("%s, %zu sectors: made in %.2f s, checked in %.2f s\n", name, n_sectors, made - start,
           check_seconds() - made);
    const size_t bytes = post_sector_bincode_bytes(post.sector, v->sectors[0].n_paths);
    const uint8_t **blobs = malloc(n_sectors * sizeof *blobs);
    size_t *sizes = malloc(n_sectors * sizeof *sizes);
    uint8_t *all = malloc(n_sectors * bytes);
    for (size_t i = 0; i < n_sectors; i++) {
        post_sector_write_bincode(v, (uint32_t)i, all + i * bytes);
        blobs[i] = all + i * bytes;
        sizes[i] = bytes;
    }
    CHECK_OK(post_vanilla_read(host, &post, blobs, sizes, n_sectors, &again, &err));
    REQUIRE(again != NULL);
    uint8_t *written = malloc(bytes);
    for (size_t i = 0; i < n_sectors; i++) {
        post_sector_write_bincode(again, (uint32_t)i, written);
        CHECK_MEM(written, blobs[i], bytes);
    }
    free(written);
    post_vanilla_free(host, v);
    post_vanilla_free(host, again);
    free(blobs);
    free(sizes);
    free(all);
}
TEST(winning) {
    for (uint64_t number = 0; number < 5; number++)
        check_post(number, 1);
}
TEST(window) {
    check_post(5, 3);
    check_post(10, 3);
    check_post(11, 2);
    check_post(12, 1);
    check_post(13, 20);
    check_post(8, 20);
    check_post(14, 20);
}
TEST(post_refused) {
    cuzk_error err;
    registered_post post;
    post_vanilla *v;
    node32 seed = {0}, randomness;
    CHECK_OK(registered_post_by_number(0, &post, &err));
    CHECK_STATUS(post_synth(host, &post, 1, 2, seed, randomness, &v, &err), CUZK_ERR_ARGUMENT);
    CHECK_OK(registered_post_by_number(10, &post, &err));
    CHECK_STATUS(post_synth(host, &post, 1, 0, seed, randomness, &v, &err), CUZK_ERR_ARGUMENT);
}

/* ---- Snap ---- */

static void check_snap(const sector_shape *s) {
    cuzk_error err;
    snap_vanilla *v, *again;
    node32 seed, old, new, d;
    check_random_bytes(seed, 32);
    const double start = check_seconds();
    CHECK_OK(snap_synth(host, s, seed, old, new, d, &v, &err));
    REQUIRE(v != NULL);
    const double made = check_seconds();
    CHECK_OK(snap_vanilla_check(host, v, old, new, d, &err));
    printf("update %s%s: made in %.2f s, checked in %.2f s\n", s->name,
           s->snap_apex_leaves == 0 ? ", Poseidon" : "", made - start, check_seconds() - made);
    CHECK(memcmp(old, new, 32) != 0);
    const size_t bytes = snap_partition_bincode_bytes(s), n = s->snap_partitions;
    const uint8_t *blobs[16];
    size_t sizes[16];
    uint8_t *all = malloc(n * bytes);
    for (size_t k = 0; k < n; k++) {
        snap_partition_write_bincode(v, (uint32_t)k, all + k * bytes);
        blobs[k] = all + k * bytes;
        sizes[k] = bytes;
    }
    CHECK_OK(snap_vanilla_read(host, s, blobs, sizes, n, &again, &err));
    REQUIRE(again != NULL);
    uint8_t *written = malloc(bytes);
    for (size_t k = 0; k < n; k++) {
        snap_partition_write_bincode(again, (uint32_t)k, written);
        CHECK_MEM(written, blobs[k], bytes);
    }
    free(written);
    snap_vanilla_free(host, again);
    snap_vanilla_free(host, v);
    free(all);
}
TEST(snap) {
    const sector_shape *s;
    for (size_t i = 0; (s = sector_shape_by_index(i)) != NULL; i++)
        if (s->nodes != UINT64_C(1) << 24 && s->nodes != UINT64_C(1) << 25) /* as slow as 32 GiB */
            check_snap(s);
}
TEST(snap_poseidon) {
    const sector_shape *s;
    for (size_t i = 0; (s = sector_shape_by_index(i)) != NULL; i++)
        check_snap(sector_shape_snap_poseidon(s));
}

/* A change of any byte is refused, by the reader or by the check. */
TEST(snap_poseidon_changed) {
    cuzk_error err;
    const sector_shape *s = sector_shape_snap_poseidon(sector_shape_by_name("2KiB"));
    snap_vanilla *v;
    node32 seed, old, new, d;
    check_random_bytes(seed, 32);
    CHECK_OK(snap_synth(host, s, seed, old, new, d, &v, &err));
    const size_t bytes = snap_partition_bincode_bytes(s);
    uint8_t *blob = malloc(bytes);
    const uint8_t *const blobs[] = {blob, blob};
    const size_t sizes[] = {bytes, bytes};
    snap_partition_write_bincode(v, 0, blob);
    snap_vanilla_free(host, v);
    CHECK_STATUS(snap_vanilla_read(host, s, blobs, sizes, 2, &v, &err), CUZK_ERR_FORMAT);
    CHECK_STATUS(snap_vanilla_read(host, sector_shape_by_name("2KiB"), blobs, sizes, 1, &v, &err),
                 CUZK_ERR_FORMAT);
    for (size_t i = 0; i < bytes; i += 1 + (size_t)(check_random() % 50)) {
        blob[i] ^= 1;
        cuzk_status st = snap_vanilla_read(host, s, blobs, sizes, 1, &v, &err);
        if (st == CUZK_OK) st = snap_vanilla_check(host, v, old, new, d, &err);
        CHECK(st == CUZK_ERR_FORMAT || st == CUZK_ERR_NOT_CANONICAL || st == CUZK_ERR_MISMATCH);
        snap_vanilla_free(host, v);
        blob[i] ^= 1;
    }
    CHECK_OK(snap_vanilla_read(host, s, blobs, sizes, 1, &v, &err));
    CHECK_OK(snap_vanilla_check(host, v, old, new, d, &err));
    d[0] ^= 1;
    CHECK_STATUS(snap_vanilla_check(host, v, old, new, d, &err), CUZK_ERR_MISMATCH);
    snap_vanilla_free(host, v);
    free(blob);
}

int main(int argc, char **argv) {
    const check_case cases[] = {RUN(tiled_equals_whole),
                                RUN(sort_unique),
                                RUN(porep_2k),
                                RUN(porep_8m),
                                RUN(porep_512m),
                                RUN(porep_32g),
                                RUN(porep_64g),
                                RUN(porep_same_seed_same_proof),
                                RUN(porep_circular_modes),
                                RUN(winning),
                                RUN(window),
                                RUN(post_refused),
                                RUN(snap),
                                RUN(snap_poseidon),
                                RUN(snap_poseidon_changed)};
    cuzk_error err;
    if (host_std_new(2, 0, &standard, &err) != CUZK_OK) return 1;
    host = host_std_host(standard);
    const int rc = check_main(argc, argv, cases, sizeof cases / sizeof cases[0]);
    if (host_std_used(standard) != 0) {
        fprintf(stderr, "leaked %" PRIu64 " bytes\n", host_std_used(standard));
        return 1;
    }
    host_std_free(standard);
    return rc;
}
