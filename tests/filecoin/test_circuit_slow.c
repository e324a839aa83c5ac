/* The large circuits against bellperson's constraint systems; minutes in all, up to a few GiB. Name
 * one to run it alone: test_circuit_slow porep_32g. Where there is no golden file, the counts of
 * REFERENCE 1.2. */
#include "circuit_golden.h"

TEST(porep_8m) {
    check_circuit("porep-8m", "porep-8MiB");
}
TEST(porep_512m) {
    check_circuit("porep-512m", "porep-512MiB");
}
TEST(porep_32g) {
    check_circuit("porep-32g", "porep-32GiB");
}
TEST(window_32g) {
    check_circuit("window-32g", "window-32GiB");
}
TEST(snap_8m) {
    check_circuit("snap-8m", "update-8MiB");
}
TEST(snap_poseidon_512m) {
    check_circuit("snap-poseidon-512m", "update-poseidon-512MiB");
}
TEST(snap_32g) {
    check_circuit("snap-32g", "update-32GiB");
}

typedef struct counts {
    uint64_t inputs, aux, rows;
    unsigned log2_domain;
    uint64_t a_aux, b_aux, nnz[3];
} counts;

static void check_counts(const char *id, const counts *e) {
    r1cs *r = record_circuit(id);
    CHECK_U64(r->inputs, e->inputs);
    CHECK_U64(r->aux, e->aux);
    CHECK_U64(r->rows, e->rows);
    CHECK_U64(r->log2_domain, e->log2_domain);
    CHECK_U64(r->a_aux, e->a_aux);
    CHECK_U64(r->b_aux, e->b_aux);
    CHECK_U64(r->b_inputs, 1);
    for (int m = 0; m < 3; m++)
        CHECK_U64(r->nnz[m], e->nnz[m]);
    r1cs_free(test_host(), r);
}

TEST(porep_64g) {
    check_counts(
        "porep-64g",
        &(counts){
            328, 131076643, 131185849, 27, 130637542, 33386943, {311892197, 131235764, 284512534}});
}
TEST(window_64g) {
    check_counts("window-64g", &(counts){25301,
                                         131500200,
                                         129887900,
                                         27,
                                         99624500,
                                         95413200,
                                         {893299300, 132008500, 163088400}});
}
TEST(snap_512m) {
    check_counts(
        "snap-512m",
        &(counts){5, 57401314, 57450479, 26, 57212317, 14916879, {135362848, 57500527, 121971144}});
}
TEST(snap_64g) {
    check_counts(
        "snap-64g",
        &(counts){5, 84931220, 85006101, 27, 84682725, 22012683, {199699028, 85077653, 180585650}});
}
/* Fields and inputs of one challenge, of which the witness memory follows. */
TEST(porep_32g_units) {
    r1cs *r = record_circuit("porep-32g");
    CHECK_U64(r->n_blocks, 2);
    CHECK_U64(r->blocks[0].aux, 571);
    CHECK_U64(r->blocks[0].rows, 571);
    CHECK_U64(r->blocks[1].aux, 7231629);
    CHECK_U64(r->blocks[1].rows, 7237665);
    CHECK_U64(r->blocks[1].fields, 94377);
    CHECK_U64(r->blocks[1].inputs, 18);
    CHECK_U64(r->fields, 1699102);
    r1cs_free(test_host(), r);
}

TEST_MAIN(RUN(porep_8m), RUN(porep_512m), RUN(porep_32g), RUN(porep_32g_units), RUN(porep_64g),
          RUN(window_32g), RUN(window_64g), RUN(snap_8m), RUN(snap_poseidon_512m), RUN(snap_512m),
          RUN(snap_32g), RUN(snap_64g))
