/* SnapDeals at 2 KiB: parameters and proof equal the golden files. Slow (a minute or two): makes
 * 656 MB of parameters in a temporary folder. */
#include "golden_groth16.h"

TEST(snap) {
    golden_shape g;
    golden_open(&g, "update-2KiB", "snap-2k");
    golden_prove_snap(&g);
    golden_close(&g);
}

TEST_MAIN(RUN(snap))
