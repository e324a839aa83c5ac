/* The small circuits against bellperson's constraint systems, and circuits of unpublished sizes
 * against the hashes of REFERENCE 14.2. The large ones are in test_circuit_slow.c. */
#include "circuit_golden.h"

TEST(porep_2k) {
    check_circuit("porep-2k", "porep-2KiB");
}
TEST(winning_2k) {
    check_circuit("winning-2k", "winning-2KiB");
}
TEST(winning_8m) {
    check_circuit("winning-8m", "winning-8MiB");
}
TEST(winning_512m) {
    check_circuit("winning-512m", "winning-512MiB");
}
TEST(winning_32g) {
    check_circuit("winning-32g", "winning-32GiB");
}
TEST(window_2k) {
    check_circuit("window-2k", "window-2KiB");
}
TEST(window_8m) {
    check_circuit("window-8m", "window-8MiB");
}
TEST(window_512m) {
    check_circuit("window-512m", "window-512MiB");
}
TEST(snap_2k) {
    check_circuit("snap-2k", "update-2KiB");
}
TEST(snap_poseidon_2k) {
    check_circuit("snap-poseidon-2k", "update-poseidon-2KiB");
}
TEST(snap_poseidon_8m) {
    check_circuit("snap-poseidon-8m", "update-poseidon-8MiB");
}

static void check_hash(const circuit_id *id, uint64_t inputs, uint64_t aux, uint64_t rows,
                       const char *expected) {
    cuzk_error err;
    uint8_t hash[32];
    r1cs *r = record_circuit_of(id);
    CHECK_U64(r->inputs, inputs);
    CHECK_U64(r->aux, aux);
    CHECK_U64(r->rows, rows);
    CHECK_OK(r1cs_cs_hash(test_host(), r, hash, &err));
    check_hex_text(hash, 32, expected, r->name);
    r1cs_free(test_host(), r);
}

TEST(winning_64g) {
    circuit_id id;
    cuzk_error err;
    CHECK_OK(circuit_id_parse("winning-64g", &id, &err));
    check_hash(&id, 133, 396000, 391314,
               "280879cc466ac3a629e7369617c7f774b28b9e39d39bcf56b896ff72d2481107");
}

/* 8-4-2, and one challenge in a partition. */
TEST(porep_8_4_2) {
    const sector_shape *like = sector_shape_by_name("2KiB");
    REQUIRE(like != NULL);
    sector_shape sector = *like;
    sector.tree = (tree_shape){1, 4, 2};
    sector.porep_challenges = 1;
    const circuit_id id = {.kind = PROOF_POREP, .sector = &sector};
    check_hash(&id, 22, 1345810, 1346982,
               "c9b69c85139ae04bac789fecb881052900c660c6337ab4b520eaa0c9f7293f75");
}
TEST(porep_8_leaves) {
    const sector_shape *like = sector_shape_by_name("2KiB");
    REQUIRE(like != NULL);
    sector_shape sector = *like;
    sector.tree = (tree_shape){1, 0, 0};
    sector.tree_d_levels = 3;
    sector.porep_challenges = 1;
    const circuit_id id = {.kind = PROOF_POREP, .sector = &sector};
    check_hash(&id, 22, 1198525, 1199620,
               "b9e22ee377bc73c4e08f679252c4f87948f5812be8c95358a6bf87a7279a785f");
}
TEST(snap_1k) {
    const circuit_id id = {.kind = PROOF_SNAP, .sector = sector_shape_by_name("1KiB")};
    check_hash(&id, 5, 1247309, 1248389,
               "9aa72227dad454f80a1ccbe181a4cae6d74c61eefde0323939b9df51d1f800b4");
}
TEST(snap_16k) {
    const circuit_id id = {.kind = PROOF_SNAP, .sector = sector_shape_by_name("16KiB")};
    check_hash(&id, 5, 6293944, 6300021,
               "95a1d46c7000ac6634072da5fa76d2c6faf4f399e8e2b25bd2c2266913c1ddaa");
}

TEST_MAIN(RUN(porep_2k), RUN(winning_2k), RUN(winning_8m), RUN(winning_512m), RUN(winning_32g),
          RUN(window_2k), RUN(window_8m), RUN(window_512m), RUN(snap_2k), RUN(snap_poseidon_2k),
          RUN(snap_poseidon_8m), RUN(winning_64g), RUN(porep_8_4_2), RUN(porep_8_leaves),
          RUN(snap_1k), RUN(snap_16k))
