/* Winning and window PoSt at 2 KiB: parameters and proofs equal the golden files. */
#include "golden_groth16.h"

typedef struct post_job {
    registered_post post;
    golden_blob blobs[8];
    post_vanilla *vanilla;
} post_job;

static void post_job_open(const golden_shape *g, post_job *j, const char *name, size_t n) {
    cuzk_error err;
    const uint8_t *data[8];
    size_t bytes[8];
    char path[128];
    snprintf(path, sizeof path, "filecoin/%s/meta.json", name);
    json meta = json_load(path);
    CHECK_OK(registered_post_by_name(json_str(&meta, "registered_proof"), &j->post, &err));
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/vanilla-%zu.bin", name, i);
        j->blobs[i] = golden_load(path);
        data[i] = j->blobs[i].data;
        bytes[i] = j->blobs[i].bytes;
    }
    CHECK_OK(post_vanilla_read(g->host, &j->post, data, bytes, n, &j->vanilla, &err));
    REQUIRE(j->vanilla != NULL);
    json_free(&meta);
}

static void post_job_close(const golden_shape *g, post_job *j, size_t n) {
    post_vanilla_free(g->host, j->vanilla);
    for (size_t i = 0; i < n; i++)
        free(j->blobs[i].data);
}

TEST(winning) {
    cuzk_error err;
    golden_shape g;
    post_job j;
    golden_open(&g, "winning-2KiB", "winning-2k");
    post_job_open(&g, &j, "winning-2k", 1);
    CHECK_OK(filecoin_circuit_bind_post(g.filecoin, j.vanilla->sectors, 1, &err));
    golden_prove(&g, "winning-2k-0");
    post_job_close(&g, &j, 1);
    golden_close(&g);
}

/* Three sectors in partitions of two: the second one repeats its last sector. */
TEST(window) {
    cuzk_error err;
    golden_shape g;
    post_job j;
    golden_open(&g, "window-2KiB", "window-2k");
    post_job_open(&g, &j, "window-2k", 3);
    CHECK_OK(filecoin_circuit_bind_post(g.filecoin, j.vanilla->sectors, 2, &err));
    golden_prove(&g, "window-2k-0");
    CHECK_OK(filecoin_circuit_bind_post(g.filecoin, j.vanilla->sectors + 2, 1, &err));
    golden_prove(&g, "window-2k-1");
    post_job_close(&g, &j, 3);
    golden_close(&g);
}

TEST_MAIN(RUN(winning), RUN(window))
