/* The table of circuit sizes against recorded circuits. */
#include "check.h"
#include "host/host_std.h"
#include "prover/key.h"
#include "prover/size.h"

static void compare(const char *name) {
    cuzk_error err;
    circuit_id id;
    circuit_size size;
    host_std *h;
    r1cs *r;
    CHECK_OK(circuit_id_parse(name, &id, &err));
    CHECK_OK(circuit_size_of(&id, &size, &err));
    CHECK_OK(host_std_new(1, 0, &h, &err));
    const cuzk_status status = circuit_record(host_std_host(h), &id, false, &r, &err);
    REQUIRE(status == CUZK_OK);
    const uint64_t used = host_std_used(h);
    CHECK_U64(size.witness_bytes, witness_bytes(r));
    if (used > size.circuit_bytes || size.circuit_bytes > 2 * used + (2u << 20))
        CHECK_FAILED_("%s: %" PRIu64 " bytes recorded, table says %" PRIu64, name, used,
                      size.circuit_bytes);
    r1cs_free(host_std_host(h), r);
    host_std_free(h);
}

TEST(small_circuits) {
    static const char *const names[] = {"porep-2k",    "winning-2k", "winning-32g",
                                        "winning-64g", "window-2k",  "window-512m",
                                        "window-32g",  "snap-2k",    "snap-poseidon-2k"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        compare(names[i]);
}

TEST(every_published_circuit_has_a_size) {
    static const char *const kinds[] = {"porep", "winning", "window", "snap", "snap-poseidon"};
    static const char *const sectors[] = {"2k", "8m", "512m", "32g", "64g"};
    for (size_t k = 0; k < 5; k++) {
        for (size_t s = 0; s < 5; s++) {
            char name[32];
            cuzk_error err;
            circuit_id id;
            circuit_size size;
            snprintf(name, sizeof name, "%s-%s", kinds[k], sectors[s]);
            CHECK_OK(circuit_id_parse(name, &id, &err));
            CHECK_OK(circuit_size_of(&id, &size, &err));
            CHECK(size.witness_bytes > 0 && size.circuit_bytes > 0);
        }
    }
}

TEST_MAIN(RUN(small_circuits), RUN(every_published_circuit_has_a_size))
