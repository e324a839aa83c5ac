/* The fixtures' proofs (made and verified by bellperson) under the fixtures' verifying keys. */
#include "check.h"
#include "json.h"

#include "groth16/groth16.h"
#include "host/host_std.h"

static host_std *std_host;
static const cuzk_host *host;

static void host_open(void) {
    cuzk_error err;
    if (std_host == NULL) CHECK_OK(host_std_new(2, 0, &std_host, &err));
    REQUIRE(std_host != NULL);
    host = host_std_host(std_host);
}

static groth16_vk *load_vk(const char *shape, uint8_t **data, size_t *bytes) {
    cuzk_error err;
    char path[1024];
    groth16_vk *vk = NULL;
    snprintf(path, sizeof path, "%s/filecoin/params/%s.vk", CUZK_TEST_DATA, shape);
    *data = (uint8_t *)read_file_or_die(path, bytes);
    CHECK_OK(groth16_vk_read(host, *data, *bytes, path, &vk, &err));
    REQUIRE(vk != NULL);
    return vk;
}

/* A job of prove/JOB.json. */
typedef struct golden {
    uint8_t proof[GROTH16_PROOF_BYTES];
    uint8_t *inputs;
    size_t n;
    char shape[32];
} golden;

static golden load_job(const char *job) {
    golden g = {.n = 0};
    char name[256];
    snprintf(name, sizeof name, "filecoin/prove/%s.json", job);
    json j = json_load(name);
    snprintf(g.shape, sizeof g.shape, "%s", json_str(&j, "shape"));
    CHECK_U64(check_unhex(g.proof, sizeof g.proof, json_str(&j, "proof")), sizeof g.proof);
    const json *inputs = json_get(&j, "public_inputs");
    g.n = inputs->n;
    g.inputs = malloc(g.n * FR_BYTES);
    for (size_t i = 0; i < g.n; i++)
        CHECK_U64(check_unhex(g.inputs + i * FR_BYTES, FR_BYTES, inputs->items[i].text), FR_BYTES);
    json_free(&j);
    return g;
}

static void check_job(const char *job, unsigned flip_step) {
    cuzk_error err;
    host_open();
    golden g = load_job(job);
    uint8_t *data = NULL;
    size_t bytes = 0;
    groth16_vk *vk = load_vk(g.shape, &data, &bytes);
    CHECK_OK(groth16_verify_bytes(host, vk, g.proof, sizeof g.proof, 1, g.inputs, g.n, &err));
    for (size_t bit = check_random() % flip_step; bit < 8 * sizeof g.proof; bit += flip_step) {
        g.proof[bit / 8] ^= (uint8_t)(1u << bit % 8);
        CHECK(groth16_verify_bytes(host, vk, g.proof, sizeof g.proof, 1, g.inputs, g.n, &err) !=
              CUZK_OK);
        g.proof[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t i = 0; i < g.n; i += 1 + g.n / 16) {
        g.inputs[i * FR_BYTES] ^= 1;
        CHECK_STATUS(
            groth16_verify_bytes(host, vk, g.proof, sizeof g.proof, 1, g.inputs, g.n, &err),
            CUZK_ERR_INVALID_PROOF);
        g.inputs[i * FR_BYTES] ^= 1;
    }
    groth16_proof proof; /* reading and writing are inverse */
    uint8_t again[GROTH16_PROOF_BYTES];
    CHECK_OK(groth16_proof_read(&proof, g.proof, &err));
    groth16_proof_write(&proof, again);
    CHECK_MEM(again, g.proof, sizeof again);
    uint8_t *vk_again = malloc(bytes);
    CHECK_U64(GROTH16_VK_BYTES(vk->n_ic), bytes);
    groth16_vk_write(vk, vk_again);
    CHECK_MEM(vk_again, data, bytes);
    free(vk_again);
    groth16_vk_free(host, vk);
    free(data);
    free(g.inputs);
}

TEST(porep) {
    check_job("porep-2k-0", 1);
    check_job("porep-2k-synth-0", 13);
    check_job("porep-2k-ni-0", 13);
    check_job("porep-2k-v1-0", 13);
}
TEST(winning) {
    check_job("winning-2k-0", 13);
}
TEST(window) {
    check_job("window-2k-0", 13);
    check_job("window-2k-1", 13);
}
TEST(snap) {
    check_job("snap-2k-0", 13);
}

/* Both partitions of the window proof at once, in the right order only. */
TEST(window_partitions_together) {
    cuzk_error err;
    host_open();
    golden g[2] = {load_job("window-2k-0"), load_job("window-2k-1")};
    uint8_t *data = NULL, proofs[2 * GROTH16_PROOF_BYTES];
    size_t bytes = 0;
    groth16_vk *vk = load_vk(g[0].shape, &data, &bytes);
    const size_t n = g[0].n;
    uint8_t *inputs = malloc(2 * n * FR_BYTES);
    for (int swap = 0; swap < 2; swap++) {
        for (int k = 0; k < 2; k++) {
            memcpy(proofs + k * GROTH16_PROOF_BYTES, g[k ^ swap].proof, GROTH16_PROOF_BYTES);
            memcpy(inputs + (size_t)k * n * FR_BYTES, g[k].inputs, n * FR_BYTES);
        }
        CHECK_STATUS(groth16_verify_bytes(host, vk, proofs, sizeof proofs, 2, inputs, n, &err),
                     swap ? CUZK_ERR_INVALID_PROOF : CUZK_OK);
    }
    free(inputs);
    groth16_vk_free(host, vk);
    free(data);
    free(g[0].inputs);
    free(g[1].inputs);
}

/* A proof of one kind under the key of another. */
TEST(other_kinds_key_is_refused) {
    cuzk_error err;
    host_open();
    golden g = load_job("porep-2k-0");
    uint8_t *data = NULL;
    size_t bytes = 0;
    groth16_vk *vk = load_vk("window-2KiB", &data, &bytes);
    CHECK_STATUS(groth16_verify_bytes(host, vk, g.proof, sizeof g.proof, 1, g.inputs, g.n, &err),
                 CUZK_ERR_MISMATCH);
    groth16_vk_free(host, vk);
    free(data);
    free(g.inputs);
    CHECK_U64(host_std_used(std_host), 0);
    host_std_free(std_host);
    std_host = NULL;
}

TEST_MAIN(RUN(porep), RUN(winning), RUN(window), RUN(snap), RUN(window_partitions_together),
          RUN(other_kinds_key_is_refused))
