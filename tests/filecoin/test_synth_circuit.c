/* Synthetic vanilla proofs satisfy the circuits, and their public inputs are those that a verifier
 * derives. */
#include "circuit_golden.h"

#include "filecoin/public_inputs.h"
#include "filecoin/synth.h"

typedef struct trial {
    circuit_id id;
    r1cs *r;
    filecoin_circuit *c;
    witness w;
} trial;

static trial trial_new(const char *id_text) {
    cuzk_error err;
    trial t = {.r = record_circuit(id_text)};
    CHECK_OK(circuit_id_parse(id_text, &t.id, &err));
    CHECK_OK(filecoin_circuit_new(test_host(), &t.id, &t.c, &err));
    CHECK_OK(witness_new(test_host(), t.r, &t.w, &err));
    return t;
}

/* Input 0 is ONE. */
static void trial_check(trial *t, const fr_t *inputs, size_t n) {
    cuzk_error err;
    uint64_t row = 0;
    CHECK_OK(r1cs_witness(test_host(), t->r, filecoin_circuit_cs(t->c), &t->w, &err));
    CHECK_OK(r1cs_check(test_host(), t->r, &t->w, &row, &err));
    CHECK_U64(t->r->inputs, n + 1);
    for (size_t i = 0; i < n; i++)
        CHECK(fr_eq(&t->w.inputs[i + 1], &inputs[i]));
}

static void trial_free(trial *t) {
    witness_free(test_host(), &t->w);
    filecoin_circuit_free(test_host(), t->c);
    r1cs_free(test_host(), t->r);
}

static void check_porep(const char *id_text, uint64_t number, uint32_t k) {
    cuzk_error err;
    registered_seal seal;
    porep_public pub;
    porep_c1 *c1;
    node32 seed;
    fr_t inputs[3 + 18 * POREP_MAX_CHALLENGES];
    check_random_bytes(seed, 32);
    CHECK_OK(registered_seal_by_number(number, &seal, &err));
    CHECK_OK(porep_synth(test_host(), &seal, 1000, 7, seed, &c1, &err));
    REQUIRE(c1 != NULL);
    trial t = trial_new(id_text);
    CHECK_OK(filecoin_circuit_bind_porep(t.c, c1, k, &err));
    porep_public_of_c1(c1, &pub);
    CHECK_OK(porep_public_inputs(test_host(), &pub, k, inputs, &err));
    trial_check(&t, inputs, porep_public_input_count(seal.sector));
    trial_free(&t);
    porep_c1_free(test_host(), c1);
}
TEST(porep_2k) {
    check_porep("porep-2k", 0, 0);
    check_porep("porep-2k", 5, 0);
}
TEST(porep_8m) {
    check_porep("porep-8m", 6, 0);
}

static void check_post(const char *id_text, uint64_t number, size_t n_sectors, uint32_t k) {
    cuzk_error err;
    registered_post post;
    post_vanilla *v;
    node32 seed, randomness;
    check_random_bytes(seed, 32);
    CHECK_OK(registered_post_by_number(number, &post, &err));
    CHECK_OK(post_synth(test_host(), &post, 5, n_sectors, seed, randomness, &v, &err));
    REQUIRE(v != NULL);
    post_public_sector *sectors = malloc(n_sectors * sizeof *sectors);
    for (size_t i = 0; i < n_sectors; i++) {
        sectors[i].sector_id = v->sectors[i].sector_id;
        memcpy(sectors[i].comm_r, v->sectors[i].comm_r, 32);
    }
    const size_t n = post_public_input_count(&post);
    fr_t *inputs = malloc(n * sizeof *inputs);
    CHECK_OK(post_public_inputs(&post, randomness, sectors, n_sectors, k, inputs, &err));
    trial t = trial_new(id_text);
    const size_t first = post.window ? (size_t)k * post.sector->window_sectors : 0;
    CHECK_OK(
        filecoin_circuit_bind_post(t.c, v->sectors + first, (uint32_t)(n_sectors - first), &err));
    trial_check(&t, inputs, n);
    trial_free(&t);
    post_vanilla_free(test_host(), v);
    free(sectors);
    free(inputs);
}
TEST(winning) {
    check_post("winning-2k", 0, 1, 0);
    check_post("winning-32g", 3, 1, 0);
    check_post("winning-64g", 4, 1, 0);
}
TEST(window) {
    check_post("window-2k", 10, 3, 1);
    check_post("window-8m", 6, 3, 1);
}

static void check_snap(const char *id_text, uint32_t k) {
    cuzk_error err;
    trial t = trial_new(id_text);
    snap_vanilla *v;
    node32 seed, old, new, d;
    fr_t inputs[4];
    check_random_bytes(seed, 32);
    CHECK_OK(snap_synth(test_host(), t.id.sector, seed, old, new, d, &v, &err));
    REQUIRE(v != NULL);
    CHECK_OK(filecoin_circuit_bind_snap(t.c, &v->partitions[k], k, old, new, d, &err));
    CHECK_OK(snap_public_inputs(t.id.sector, k, old, new, d, inputs, &err));
    trial_check(&t, inputs, 4);
    trial_free(&t);
    snap_vanilla_free(test_host(), v);
}
TEST(snap) {
    check_snap("snap-2k", 0);
    check_snap("snap-16k", 1);
    check_snap("snap-32k", 0);
}
TEST(snap_poseidon) {
    check_snap("snap-poseidon-2k", 0);
    check_snap("snap-poseidon-16k", 0);
    check_snap("snap-poseidon-32k", 0);
    check_snap("snap-poseidon-8m", 0);
}

/* 130 million rows: 20 seconds and half a GB; much longer under a sanitizer. */
TEST(porep_32g) {
    check_porep("porep-32g", 8, 9);
}

TEST_MAIN(RUN(porep_2k), RUN(porep_8m), RUN(winning), RUN(window), RUN(snap), RUN(snap_poseidon),
          RUN(porep_32g))
