/* PoRep at 2 KiB: parameters and proofs of every challenge mode and API version equal the golden
 * files. Slow (some minutes): makes 1.1 GB of parameters in a temporary folder. */
#include "golden_groth16.h"
#include "c1_from_json.h"

static golden_shape g;

static void prove_job(const char *name, const char *job_k) {
    cuzk_error err;
    char text[256];
    snprintf(text, sizeof text, "filecoin/%s/c1.json", name);
    porep_c1 *c1 = c1_load(text);
    CHECK_OK(filecoin_circuit_bind_porep(g.filecoin, c1, 0, &err));
    golden_prove(&g, job_k);
}

TEST(porep) {
    golden_open(&g, "porep-2KiB", "porep-2k");
    prove_job("porep-2k", "porep-2k-0");
    prove_job("porep-2k-synth", "porep-2k-synth-0");
    prove_job("porep-2k-ni", "porep-2k-ni-0");
    prove_job("porep-2k-v1", "porep-2k-v1-0");
    golden_close(&g);
}

TEST_MAIN(RUN(porep))
