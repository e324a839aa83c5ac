/* Recording a Filecoin circuit by its id and comparing it with r1cs/SHAPE.json. */
#ifndef CUZK_TESTS_CIRCUIT_GOLDEN_H
#define CUZK_TESTS_CIRCUIT_GOLDEN_H

#include "circuit_test.h"

#include "filecoin/circuits.h"

static inline r1cs *record_circuit_of(const circuit_id *id) {
    cuzk_error err;
    filecoin_circuit *c = NULL;
    r1cs *r = NULL;
    CHECK_OK(filecoin_circuit_new(test_host(), id, &c, &err));
    REQUIRE(c != NULL);
    CHECK_OK(r1cs_record(test_host(), filecoin_circuit_cs(c), &r, &err));
    REQUIRE(r != NULL);
    filecoin_circuit_free(test_host(), c);
    return r;
}

static inline r1cs *record_circuit(const char *id_text) {
    cuzk_error err;
    circuit_id id;
    CHECK_OK(circuit_id_parse(id_text, &id, &err));
    return record_circuit_of(&id);
}

/* Counts, densities and digests of circuit id against r1cs/shape.json. */
static inline void check_circuit(const char *id, const char *shape) {
    char name[128];
    const int failures = check_failures;
    const double start = check_seconds();
    snprintf(name, sizeof name, "filecoin/r1cs/%s.json", shape);
    json e = json_load(name);
    r1cs *r = record_circuit(id);
    const double recorded = check_seconds();
    check_r1cs_counts(r, &e);
    check_r1cs_digests(r, &e);
    printf("       %s: %llu rows, recorded in %.2f s, digests in %.2f s, %.0f MiB at most\n", id,
           (unsigned long long)r->rows, recorded - start, check_seconds() - recorded,
           (double)test_host_peak() / (1 << 20));
    if (check_failures > failures) fprintf(stderr, "in circuit %s\n", id);
    r1cs_free(test_host(), r);
    json_free(&e);
}

#endif
