/* Sizes of recorded circuits: witness exact, circuit rounded up. tests/prover/test_size.c records
 * the small ones and compares. */
#include "prover/size.h"

#include <string.h>

static const struct {
    const char *circuit;
    circuit_size size;
} sizes[] = {
    {"porep-2k", {1738784u, 43u << 20}},
    {"porep-8m", {4065528u, 64u << 20}},
    {"porep-512m", {5228896u, 75u << 20}},
    {"porep-32g", {70653000u, 273u << 20}},
    {"porep-64g", {73662472u, 275u << 20}},
    {"winning-2k", {2928168u, 1u << 20}},
    {"winning-8m", {7440224u, 1u << 20}},
    {"winning-512m", {9696256u, 1u << 20}},
    {"winning-32g", {11952280u, 1u << 20}},
    {"winning-64g", {12618048u, 1u << 20}},
    {"window-2k", {705200u, 2u << 20}},
    {"window-8m", {2072488u, 5u << 20}},
    {"window-512m", {2756136u, 6u << 20}},
    {"window-32g", {4039981712u, 55u << 20}},
    {"window-64g", {4187717560u, 57u << 20}},
    {"snap-2k", {1045688u, 15u << 20}},
    {"snap-8m", {3498432u, 190u << 20}},
    {"snap-512m", {32114272u, 216u << 20}},
    {"snap-32g", {41003688u, 233u << 20}},
    {"snap-64g", {43237048u, 236u << 20}},
    {"snap-poseidon-2k", {1171264u, 1u << 20}},
    {"snap-poseidon-8m", {12787376u, 2u << 20}},
    {"snap-poseidon-512m", {580321808u, 16u << 20}},
    {"snap-poseidon-32g", {721764904u, 19u << 20}},
    {"snap-poseidon-64g", {763405072u, 20u << 20}},
};

cuzk_status circuit_size_of(const circuit_id *id, circuit_size *out, cuzk_error *err) {
    char name[32];
    circuit_id_format(id, name);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (strcmp(sizes[i].circuit, name) != 0) continue;
        *out = sizes[i].size;
        return CUZK_OK;
    }
    return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "no sizes known for circuit %s", name);
}
