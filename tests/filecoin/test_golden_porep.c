/* PoRep at 2 KiB: parameters and proofs of every challenge mode and API version equal the golden
 * files. Slow (some minutes): makes 1.1 GB of parameters in a temporary folder. */
#include "golden_groth16.h"
#include "c1_from_json.h"

static golden_shape g;

static void prove_job(const char *name) {
    cuzk_error err;
    char text[128];
    snprintf(text, sizeof text, "filecoin/%s/c1.json", name);
    porep_c1 *c1 = c1_load(text);
    CHECK_OK(filecoin_circuit_bind_porep(g.filecoin, c1, 0, &err));
    snprintf(text, sizeof text, "%s-0", name);
    golden_prove(&g, text);
}

TEST(porep) {
    golden_open(&g, "porep-2KiB", "porep-2k");
    prove_job("porep-2k");
    prove_job("porep-2k-synth");
    prove_job("porep-2k-ni");
    prove_job("porep-2k-v1");
    golden_close(&g);
}

TEST_MAIN(RUN(porep))
