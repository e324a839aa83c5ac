#include "check.h"
#include "filecoin/public_inputs.h"
#include "json.h"

static void hex32(node32 out, const json *v, const char *key) {
    check_unhex(out, 32, json_str(v, key));
}

/* The inputs of a fixture, without the leading ONE of the witness files. */
static void check_inputs(const json *list, size_t skip, const fr_t *got, size_t n) {
    CHECK_U64(list->n, n + skip);
    for (size_t i = 0; i < n; i++) {
        node32 bytes;
        fr_to_bytes(bytes, &got[i]);
        CHECK_HEX(bytes, 32, list->items[i + skip].text);
    }
}

static void check_witness_and_proof(const char *job, uint32_t k, const fr_t *got, size_t n) {
    char name[128];
    snprintf(name, sizeof name, "filecoin/witness/%s-%u.json", job, k);
    json v = json_load(name);
    check_inputs(json_get(&v, "inputs"), 1, got, n);
    json_free(&v);
    if (strcmp(job, "porep-8m") == 0) return; /* has no proof */
    snprintf(name, sizeof name, "filecoin/prove/%s-%u.json", job, k);
    v = json_load(name);
    check_inputs(json_get(&v, "public_inputs"), 0, got, n);
    json_free(&v);
}

static void check_porep(const char *job) {
    cuzk_error err;
    char name[128];
    porep_public pub;
    node32 prover, ticket, replica_id;
    fr_t got[3 + 18 * POREP_MAX_CHALLENGES];
    snprintf(name, sizeof name, "filecoin/%s/meta.json", job);
    json meta = json_load(name);
    CHECK_OK(registered_seal_by_name(json_str(&meta, "registered_proof"), &pub.seal, &err));
    hex32(pub.comm_r, &meta, "comm_r");
    hex32(pub.comm_d, &meta, "comm_d");
    hex32(pub.seed, &meta, "seed");
    hex32(ticket, &meta, "ticket");
    prover_id_from_miner(json_u64(&meta, "miner_id"), prover);
    porep_replica_id(&pub.seal, prover, json_u64(&meta, "sector_id"), ticket, pub.comm_d,
                     pub.replica_id);
    hex32(replica_id, &meta, "replica_id");
    CHECK_MEM(pub.replica_id, replica_id, 32);
    const json *challenges = json_get(&meta, "challenges");
    CHECK_U64(challenges->n, porep_public_partitions(&pub.seal));
    for (uint32_t k = 0; k < challenges->n; k++) {
        uint64_t c[POREP_MAX_CHALLENGES];
        CHECK_OK(porep_challenges(&pub, k, c, &err));
        for (size_t i = 0; i < challenges->items[k].n; i++)
            CHECK_U64(c[i], strtoull(challenges->items[k].items[i].text, NULL, 10));
    }
    CHECK_OK(porep_public_inputs(NULL, &pub, 0, got, &err));
    check_witness_and_proof(job, 0, got, porep_public_input_count(pub.seal.sector));
    memset(pub.comm_r, 0xff, 32);
    CHECK_STATUS(porep_public_inputs(NULL, &pub, 0, got, &err), CUZK_ERR_NOT_CANONICAL);
    json_free(&meta);
}
TEST(porep) {
    check_porep("porep-2k");
    check_porep("porep-2k-v1");
    check_porep("porep-2k-synth");
    check_porep("porep-2k-ni");
    check_porep("porep-8m");
}

TEST(independent_porep) {
    cuzk_error err;
    porep_public pub;
    fr_t got[39];
    json v = json_load("vectors/c1-2kib.pub.json"), c1 = json_load("vectors/c1-2kib.json");
    const json *seed = json_get(&c1, "seed");
    CHECK_OK(registered_seal_by_name(json_str(&c1, "registered_proof"), &pub.seal, &err));
    for (size_t i = 0; i < 32; i++)
        pub.seed[i] = (uint8_t)atoi(seed->items[i].text);
    hex32(pub.comm_r, &v, "comm_r");
    hex32(pub.comm_d, &v, "comm_d");
    hex32(pub.replica_id, &v, "replica_id");
    CHECK_OK(porep_public_inputs(NULL, &pub, 0, got, &err));
    check_inputs(json_get(&v, "public_inputs_le_hex"), 0, got, 39);
    json_free(&v);
    json_free(&c1);
}

static void check_post(const char *job) {
    cuzk_error err;
    char name[128];
    registered_post post;
    node32 randomness;
    post_public_sector sectors[8];
    snprintf(name, sizeof name, "filecoin/%s/meta.json", job);
    json meta = json_load(name);
    const json *list = json_get(&meta, "sectors");
    CHECK_OK(registered_post_by_name(json_str(&meta, "registered_proof"), &post, &err));
    hex32(randomness, &meta, "randomness");
    REQUIRE(list->n <= 8);
    for (size_t i = 0; i < list->n; i++) {
        sectors[i].sector_id = json_u64(&list->items[i], "sector_id");
        hex32(sectors[i].comm_r, &list->items[i], "comm_r");
    }
    const size_t n = post_public_input_count(&post);
    fr_t *got = malloc(n * sizeof *got);
    const uint32_t partitions = post_partitions(&post, list->n);
    for (uint32_t k = 0; k < partitions; k++) {
        CHECK_OK(post_public_inputs(&post, randomness, sectors, list->n, k, got, &err));
        check_witness_and_proof(job, k, got, n);
    }
    CHECK_STATUS(post_public_inputs(&post, randomness, sectors, list->n, partitions, got, &err),
                 CUZK_ERR_ARGUMENT);
    CHECK_STATUS(post_public_inputs(&post, randomness, sectors, 0, 0, got, &err),
                 CUZK_ERR_ARGUMENT);
    randomness[31] = 0xff;
    CHECK_STATUS(post_public_inputs(&post, randomness, sectors, list->n, 0, got, &err),
                 CUZK_ERR_NOT_CANONICAL);
    free(got);
    json_free(&meta);
}
TEST(winning) {
    check_post("winning-2k");
}
TEST(window) {
    check_post("window-2k");
}

TEST(snap) {
    cuzk_error err;
    node32 comm_r_old, comm_r_new, comm_d_new;
    fr_t got[4];
    const sector_shape *s = sector_shape_by_name("2k");
    json meta = json_load("filecoin/snap-2k/meta.json");
    hex32(comm_r_old, &meta, "comm_r_old");
    hex32(comm_r_new, &meta, "comm_r_new");
    hex32(comm_d_new, &meta, "comm_d_new");
    json_free(&meta);
    CHECK_OK(snap_public_inputs(s, 0, comm_r_old, comm_r_new, comm_d_new, got, &err));
    check_witness_and_proof("snap-2k", 0, got, 4);
    CHECK_STATUS(snap_public_inputs(s, 1, comm_r_old, comm_r_new, comm_d_new, got, &err),
                 CUZK_ERR_ARGUMENT);
    json v = json_load("vectors/snap-2kib-partition0.pub.json");
    hex32(comm_r_old, &v, "comm_r_old");
    hex32(comm_r_new, &v, "comm_r_new");
    hex32(comm_d_new, &v, "comm_d_new");
    CHECK_OK(snap_public_inputs(s, 0, comm_r_old, comm_r_new, comm_d_new, got, &err));
    check_inputs(json_get(&v, "public_inputs_le_hex"), 0, got, 4);
    json_free(&v);
}

TEST_MAIN(RUN(porep), RUN(independent_porep), RUN(winning), RUN(window), RUN(snap))
