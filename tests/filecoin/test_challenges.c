#include "check.h"
#include "field/fr.h"
#include "filecoin/public_inputs.h"
#include "hash/sha256.h"
#include "json.h"

static void hex32(node32 out, const json *v, const char *key) {
    check_unhex(out, 32, json_str(v, key));
}

static void check_list(const json *e, const char *key, const uint64_t *got) {
    const json *list = json_get(e, key);
    for (size_t i = 0; i < list->n; i++)
        CHECK_U64(got[i], strtoull(list->items[i].text, NULL, 10));
}

static void check_porep(const json *e, const porep_public *base, porep_challenge_mode mode,
                        const char *name) {
    cuzk_error err;
    char key[64];
    uint64_t got[POREP_MAX_CHALLENGES];
    porep_public pub = *base;
    pub.seal.sector = sector_shape_by_bytes(32 * json_u64(e, "sector_nodes"));
    pub.seal.mode = mode;
    CHECK_U64(json_u64(e, "challenges_per_partition"), pub.seal.sector->porep_challenges);
    snprintf(key, sizeof key, "%s_k0", name);
    CHECK_OK(porep_challenges(&pub, 0, got, &err));
    check_list(e, key, got);
    const uint32_t last = porep_public_partitions(&pub.seal) - 1;
    snprintf(key, sizeof key, "%s_last_k", name);
    if (json_find(e, key) != NULL) CHECK_U64(last, json_u64(e, key));
    snprintf(key, sizeof key, "%s_last", name);
    CHECK_OK(porep_challenges(&pub, last, got, &err));
    check_list(e, key, got);
    CHECK_STATUS(porep_challenges(&pub, last + 1, got, &err), CUZK_ERR_ARGUMENT);
}

TEST(porep) {
    json v = json_load("filecoin/prims/challenges.json");
    porep_public pub = {0};
    hex32(pub.comm_r, &v, "comm_r");
    hex32(pub.replica_id, &v, "replica_id");
    hex32(pub.seed, &v, "seed");
    const json *list = json_get(&v, "porep");
    CHECK(list->n >= 4);
    for (size_t i = 0; i < list->n; i++) {
        check_porep(&list->items[i], &pub, POREP_INTERACTIVE, "interactive");
        check_porep(&list->items[i], &pub, POREP_SYNTHETIC, "synthetic");
        check_porep(&list->items[i], &pub, POREP_NON_INTERACTIVE, "non_interactive");
    }
    json_free(&v);
}

TEST(replica_id) {
    json v = json_load("filecoin/prims/challenges.json");
    const json *e = json_get(&v, "generate_replica_id");
    cuzk_error err;
    registered_seal seal;
    node32 prover, expected_prover, ticket, comm_d, got;
    CHECK_OK(registered_seal_by_number(8, &seal, &err));
    prover_id_from_miner(1000, prover);
    hex32(expected_prover, e, "prover_id");
    CHECK_MEM(prover, expected_prover, 32);
    hex32(ticket, e, "ticket");
    hex32(comm_d, e, "comm_d");
    porep_replica_id(&seal, prover, json_u64(e, "sector_id"), ticket, comm_d, got);
    CHECK_HEX(got, 32, json_str(e, "replica_id"));
    json_free(&v);
}

TEST(prover_ids) {
    node32 id;
    prover_id_from_miner(0, id);
    CHECK_HEX(id, 32, "0000000000000000000000000000000000000000000000000000000000000000");
    prover_id_from_miner(127, id);
    CHECK_HEX(id, 4, "7f000000");
    prover_id_from_miner(128, id);
    CHECK_HEX(id, 4, "80010000");
    prover_id_from_miner(UINT64_MAX, id);
    CHECK_HEX(id, 12, "ffffffffffffffffff010000");
}

TEST(post) {
    json v = json_load("filecoin/prims/challenges.json");
    const json *list = json_get(&v, "post");
    node32 randomness;
    hex32(randomness, &v, "post_randomness");
    CHECK(list->n >= 8);
    for (size_t i = 0; i < list->n; i++) {
        const json *e = &list->items[i], *leaves = json_get(e, "leaves");
        const sector_shape *s = sector_shape_by_bytes(json_u64(e, "sector_size"));
        const bool window = json_u64(e, "challenge_count") == WINDOW_CHALLENGES;
        const registered_post post = {.sector = s,
                                      .window = window,
                                      .api_1_2 = strcmp(json_str(e, "api_version"), "1.2.0") == 0};
        for (uint32_t n = 0; n < leaves->n; n++) {
            const size_t at = (size_t)json_u64(e, "sector_index");
            const uint64_t index =
                window ? post_challenge_index(&post, at, n)
                       : post_challenge_index(&post, 0, (uint32_t)at); /* pseudo-sector */
            CHECK_U64(post_leaf_challenge(s, randomness, json_u64(e, "sector_id"), index),
                      strtoull(leaves->items[n].text, NULL, 10));
        }
    }
    json_free(&v);
}

TEST(snap) {
    json v = json_load("filecoin/prims/challenges.json");
    const json *list = json_get(&v, "update");
    cuzk_error err;
    node32 comm_r, comm_d;
    hex32(comm_r, &v, "comm_r");
    hex32(comm_d, &v, "comm_d");
    CHECK(list->n >= 9);
    for (size_t i = 0; i < list->n; i++) {
        const json *e = &list->items[i];
        const sector_shape *s = sector_shape_by_bytes(32 * json_u64(e, "sector_nodes"));
        const uint32_t k = (uint32_t)json_u64(e, "k");
        uint64_t got[SNAP_MAX_CHALLENGES];
        fr_t inputs[4], expected;
        sha256_ctx ctx;
        uint8_t digest[32];
        CHECK_U64(s->snap_partitions, json_u64(e, "partitions"));
        CHECK_U64(s->snap_challenges, json_u64(e, "count"));
        CHECK_OK(snap_challenges(s, k, comm_r, got, &err));
        check_list(e, "challenges_head", got);
        sha256_init(&ctx);
        for (uint32_t j = 0; j < s->snap_challenges; j++) {
            const uint32_t c = (uint32_t)got[j]; /* little-endian machine */
            sha256_update(&ctx, &c, sizeof c);
        }
        sha256_final(&ctx, digest);
        CHECK_HEX(digest, 32, json_str(e, "challenges_sha256_u32le"));
        CHECK_OK(snap_public_inputs(s, k, comm_r, comm_r, comm_d, inputs, &err));
        fr_from_u64(&expected, k | json_u64(e, "h_select") << __builtin_ctz(s->snap_partitions));
        CHECK(fr_eq(&inputs[0], &expected));
    }
    json_free(&v);
}

TEST(snap_randomness) {
    json v = json_load("filecoin/prims/challenges.json");
    const json *rhos = json_get(&v, "update_rho_high_0_1_511_1023");
    const sector_shape *s = sector_shape_by_name("32g");
    const uint64_t high[] = {0, 1, 511, 1023};
    node32 comm_r, comm_d, bytes;
    fr_t phi, rho;
    hex32(comm_r, &v, "comm_r");
    hex32(comm_d, &v, "comm_d");
    snap_phi(comm_d, comm_r, &phi);
    fr_to_bytes(bytes, &phi);
    CHECK_HEX(bytes, 32, json_str(&v, "update_phi_of_comm_d_comm_r"));
    for (size_t i = 0; i < 4; i++) {
        snap_rho(s, &phi, high[i] << 20 | (check_random() & 0xfffff), &rho);
        fr_to_bytes(bytes, &rho);
        CHECK_HEX(bytes, 32, rhos->items[i].text);
    }
    json_free(&v);
}

TEST_MAIN(RUN(porep), RUN(replica_id), RUN(prover_ids), RUN(post), RUN(snap), RUN(snap_randomness))
