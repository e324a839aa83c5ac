/* A SnapDeals partition proof; a decoded one goes through the check. */
#include "filecoin/public_inputs.h"
#include "fuzz/fuzz.h"

static void try_sector(const sector_shape *sector, const uint8_t *data, size_t size) {
    const cuzk_host *host = host_std_host(fuzz_host());
    const node32 zero = {0};
    cuzk_error err = {0};
    snap_vanilla *v;
    const uint8_t *blobs[16];
    size_t sizes[16];
    for (size_t k = 0; k < 16; k++) {
        blobs[k] = data;
        sizes[k] = size;
    }
    const cuzk_status st =
        snap_vanilla_read(host, sector, blobs, sizes, sector->snap_partitions, &v, &err);
    fuzz_check_refusal(st, &err, v);
    if (v != NULL) (void)snap_vanilla_check(host, v, zero, zero, zero, &err);
    snap_vanilla_free(host, v);
    fuzz_check_memory();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (size_t i = 0; sector_shape_by_index(i) != NULL; i++) {
        try_sector(sector_shape_by_index(i), data, size);
        try_sector(sector_shape_snap_poseidon(sector_shape_by_index(i)), data, size);
    }
    return 0;
}
