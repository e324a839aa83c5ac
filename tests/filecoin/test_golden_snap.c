/* SnapDeals at 2 KiB: parameters and proof equal the golden files. Slow (a minute or two): makes
 * 656 MB of parameters in a temporary folder. */
#include "golden_groth16.h"

TEST(snap) {
    cuzk_error err;
    golden_shape g;
    node32 comm_r_old, comm_r_new, comm_d_new;
    snap_vanilla *vanilla = NULL;
    golden_open(&g, "update-2KiB", "snap-2k");
    json meta = json_load("filecoin/snap-2k/meta.json");
    check_unhex(comm_r_old, 32, json_str(&meta, "comm_r_old"));
    check_unhex(comm_r_new, 32, json_str(&meta, "comm_r_new"));
    check_unhex(comm_d_new, 32, json_str(&meta, "comm_d_new"));
    golden_blob blob = golden_load("snap-2k/vanilla-0.bin");
    const uint8_t *const data[] = {blob.data};
    CHECK_OK(snap_vanilla_read(g.host, sector_shape_by_bytes(2048), data, &blob.bytes, 1, &vanilla,
                               &err));
    REQUIRE(vanilla != NULL);
    CHECK_OK(filecoin_circuit_bind_snap(g.filecoin, &vanilla->partitions[0], 0, comm_r_old,
                                        comm_r_new, comm_d_new, &err));
    golden_prove(&g, "snap-2k-0");
    snap_vanilla_free(g.host, vanilla);
    free(blob.data);
    json_free(&meta);
    golden_close(&g);
}

TEST_MAIN(RUN(snap))
