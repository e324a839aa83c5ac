/* Real proofs through the engine: window PoSt of three 2 KiB sectors in two partitions, on the CPU.
 * The parameters are made here (11 MB). */

#include "base/file.h"
#include "check.h"
#include "engine/engine.h"
#include "engine/work_prover.h"
#include "host/host_std.h"
#include "prover/key.h"
#include "prover/prove.h"

#define CIRCUIT "window-2k"
#define N_SECTORS 3
#define BLOB_BYTES 5680 /* one sector's vanilla proof */

static host_std *std_host;
static const cuzk_host *host;
static cuzk_error err;
static char dir[64];
static work_prover work = {0};

/* randomness of tests/data/filecoin/window-2k/meta.json */
static const char randomness_hex[] =
    "88722d4ac0c95292bc2c14e3ca25e2b13f7a538b698d9afc722628a879578c29";

/* A body of this test: the sectors' blobs one after another. */
static cuzk_status decode(const cuzk_host *h, const uint8_t *body, size_t bytes, proof_job **out,
                          cuzk_error *e) {
    const uint8_t *blobs[N_SECTORS];
    size_t sizes[N_SECTORS];
    registered_post post;
    post_vanilla *vanilla;
    node32 randomness;
    if (bytes != N_SECTORS * BLOB_BYTES) return cuzk_fail(e, CUZK_ERR_FORMAT, "%zu bytes", bytes);
    for (size_t i = 0; i < N_SECTORS; i++) {
        blobs[i] = body + i * BLOB_BYTES;
        sizes[i] = BLOB_BYTES;
    }
    check_unhex(randomness, sizeof randomness, randomness_hex);
    CUZK_TRY(registered_post_by_name("StackedDrgWindow2KiBV1_2", &post, e));
    CUZK_TRY(post_vanilla_read(h, &post, blobs, sizes, N_SECTORS, &vanilla, e));
    const cuzk_status status = proof_job_post(h, &post, randomness, vanilla, out, e);
    if (status != CUZK_OK) post_vanilla_free(h, vanilla);
    return status;
}

static void make_params(void) {
    circuit_id id;
    r1cs *circuit;
    groth16_secrets secrets;
    char params[256], vk[256];
    CHECK_OK(circuit_id_parse(CIRCUIT, &id, &err));
    CHECK_OK(circuit_record(host, &id, true, &circuit, &err));
    CHECK_OK(params_path(dir, &id, ".params", params, sizeof params, &err));
    CHECK_OK(params_path(dir, &id, ".vk", vk, sizeof vk, &err));
    CHECK_OK(groth16_secrets_random(host, &secrets, &err));
    CHECK_OK(groth16_setup(host, circuit, &secrets, params, vk, &err));
    r1cs_free(host, circuit);
    snprintf(work.params_dir, sizeof work.params_dir, "%s", dir);
    work.decode = decode;
}

/* ---- an executor that lies ---- */

typedef struct liar {
    executor ex;
    executor *cpu;
    unsigned lies; /* left */
} liar;
static executor *cpu_of(executor *ex) {
    return ((liar *)ex)->cpu;
}
static void liar_info(executor *ex, executor_info *out) {
    cpu_of(ex)->ops->info(cpu_of(ex), out);
    snprintf(out->name, sizeof out->name, "LIAR");
}
static cuzk_status liar_plan(executor *ex, const executor_key *key, uint64_t *device_bytes,
                             uint64_t *host_bytes, cuzk_error *e) {
    return cpu_of(ex)->ops->plan(cpu_of(ex), key, device_bytes, host_bytes, e);
}
static cuzk_status liar_load(executor *ex, const executor_key *key, cuzk_error *e) {
    return cpu_of(ex)->ops->load(cpu_of(ex), key, e);
}
static void liar_unload(executor *ex) {
    cpu_of(ex)->ops->unload(cpu_of(ex));
}
static cuzk_status liar_begin(executor *ex, unsigned slot, const witness *w, cuzk_error *e) {
    return cpu_of(ex)->ops->begin(cpu_of(ex), slot, w, e);
}
static cuzk_status liar_finish(executor *ex, unsigned slot, groth16_sums *out,
                               executor_timing *timing, cuzk_error *e) {
    liar *l = (liar *)ex;
    CUZK_TRY(l->cpu->ops->finish(l->cpu, slot, out, timing, e));
    if (l->lies == 0) return CUZK_OK;
    l->lies--;
    const g1_t h = out->h; /* points of the group, in the wrong places */
    out->h = out->a;
    out->a = h;
    return CUZK_OK;
}
static void liar_close(executor *ex) {
    cpu_of(ex)->ops->close(cpu_of(ex));
    free(ex);
}
static executor *liar_new(unsigned lies) {
    static const executor_ops ops = {.info = liar_info,
                                     .plan = liar_plan,
                                     .load = liar_load,
                                     .unload = liar_unload,
                                     .begin = liar_begin,
                                     .finish = liar_finish,
                                     .close = liar_close};
    liar *l = calloc(1, sizeof *l);
    REQUIRE(l != NULL);
    l->ex = (executor){.ops = &ops, .host = host};
    l->lies = lies;
    CHECK_OK(executor_cpu_open(host, &l->cpu, &err));
    return &l->ex;
}

/* ---- the engine ---- */

static engine *open_engine(const char *state, executor *first, executor *second) {
    engine_config c = {.memory_budget = (uint64_t)4 << 30,
                       .witness_threads = 2,
                       .queue_limit = 10,
                       .result_limit = 10,
                       .job_attempts = 3,
                       .device_failures = 2,
                       .on_failure = ENGINE_ON_FAILURE_CPU,
                       .work = &work_prover_ops,
                       .work_self = &work,
                       .host = host};
    engine *e;
    snprintf(c.state_dir, sizeof c.state_dir, "%s/%s", dir, state);
    c.devices[c.n_devices++] = (engine_device_config){.ex = first};
    if (second != NULL)
        c.devices[c.n_devices++] = (engine_device_config){.ex = second, .is_cpu_fallback = true};
    CHECK_OK(engine_open(&c, &e, &err));
    REQUIRE(e != NULL);
    return e;
}

static uint8_t body[N_SECTORS * BLOB_BYTES];

static void read_body(void) {
    for (unsigned i = 0; i < N_SECTORS; i++) {
        char path[512];
        file_map map;
        snprintf(path, sizeof path, CUZK_TEST_DATA "/filecoin/window-2k/vanilla-%u.bin", i);
        CHECK_OK(file_map_open(path, &map, &err));
        REQUIRE(map.bytes == BLOB_BYTES);
        memcpy(body + i * BLOB_BYTES, map.data, BLOB_BYTES);
        file_map_close(&map);
    }
}

static engine_result prove(engine *e, const char *id) {
    engine_request request = {.priority = ENGINE_PRIORITY_NORMAL,
                              .body = body,
                              .body_bytes = sizeof body,
                              .kind = "window-post"};
    engine_submitted submitted;
    engine_result r;
    snprintf(request.request_id, sizeof request.request_id, "%s", id);
    CHECK_OK(engine_submit(e, &request, &submitted, &err));
    CHECK_OK(engine_await(e, id, 600000, NULL, &r, &err));
    return r;
}

/* The result stands on its own: verified with the key from the .vk file and the public data. */
static void check_proof(const engine_result *r) {
    circuit_id id;
    groth16_vk *vk;
    proof_job *job;
    CHECK(r->state == ENGINE_JOB_COMPLETED);
    CHECK_U64(r->proof_bytes, 2 * GROTH16_PROOF_BYTES);
    CHECK_OK(circuit_id_parse(CIRCUIT, &id, &err));
    CHECK_OK(verifying_key_load(host, &id, dir, &vk, &err));
    CHECK_OK(decode(host, body, sizeof body, &job, &err));
    CHECK_OK(verify_job(host, vk, job, r->proof, r->proof_bytes, &err));
    proof_job_free(host, job);
    groth16_vk_free(host, vk);
}

TEST(real_proofs) {
    executor *cpu;
    CHECK_OK(executor_cpu_open(host, &cpu, &err));
    engine *e = open_engine("real", cpu, NULL);
    engine_result r = prove(e, "first"), again;
    check_proof(&r);
    CHECK(strncmp(r.devices, "CPU", 3) == 0);
    again = prove(e, "first"); /* joined: the same bytes, not a second proof */
    CHECK_MEM(again.proof, r.proof, r.proof_bytes);
    engine_result_free(&again);
    engine_result_free(&r);
    /* One flipped bit in the vanilla proof: an error, and no proof. */
    body[5000] ^= 1;
    r = prove(e, "corrupt");
    CHECK(r.state == ENGINE_JOB_FAILED && r.proof == NULL && r.error[0] != 0);
    engine_result_free(&r);
    body[5000] ^= 1;
    r = prove(e, "after");
    check_proof(&r);
    engine_result_free(&r);
    engine_close(e);
}

TEST(a_lying_device_is_redone_on_the_cpu) {
    executor *cpu;
    CHECK_OK(executor_cpu_open(host, &cpu, &err));
    engine *e = open_engine("liar", liar_new(1), cpu);
    engine_result r = prove(e, "first");
    check_proof(&r);
    CHECK(strstr(r.error, "on LIAR: invalid_proof") != NULL);
    CHECK(strstr(r.devices, "LIAR") != NULL && strstr(r.devices, "CPU") != NULL);
    engine_result_free(&r);
    engine_snapshot *s;
    CHECK_OK(engine_snapshot_take(e, &s, &err));
    CHECK_U64(s->devices[0].failures, 1);
    CHECK_U64(s->devices[1].failures, 0);
    engine_snapshot_free(s);
    engine_close(e);
}

TEST(a_lying_device_alone_never_gets_a_proof_out) {
    engine *e = open_engine("alone", liar_new(1000), NULL);
    engine_result r = prove(e, "first");
    CHECK(r.state == ENGINE_JOB_FAILED && r.proof == NULL);
    CHECK(strstr(r.error, "on LIAR: invalid_proof") != NULL);
    engine_result_free(&r);
    engine_close(e);
}

int main(int argc, char **argv) {
    const check_case cases[] = {RUN(real_proofs), RUN(a_lying_device_is_redone_on_the_cpu),
                                RUN(a_lying_device_alone_never_gets_a_proof_out)};
    char command[128];
    strcpy(dir, "/tmp/cuzk-proof-XXXXXX");
    REQUIRE(mkdtemp(dir) != NULL);
    REQUIRE(host_std_new(2, 0, &std_host, &err) == CUZK_OK);
    host = host_std_host(std_host);
    make_params();
    read_body();
    const int code = check_main(argc, argv, cases, sizeof cases / sizeof cases[0]);
    CHECK_U64(host_std_used(std_host), 0);
    host_std_free(std_host);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    return system(command) == 0 && check_failures == 0 ? code : 1;
}
