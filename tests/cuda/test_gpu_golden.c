/* On a device: parameters made on it equal the CPU's; proofs with the fixtures' r and s equal the
 * fixtures byte for byte, with all points resident, thoroughly prepared and briefly, and with
 * points streamed through a small arena; nothing acts on the whole device after the executor is
 * open.
 *
 * small: fewer kernels, for compute-sanitizer: each tier of the plan, a partition each. */
#include "../filecoin/c1_from_json.h"
#include "cuda/cuda_library.h"
#include "../filecoin/golden_groth16.h"

static golden_shape g;

typedef void (*prove_fn)(void);

static bool has_device(void) {
    cuzk_error err;
    cuda_device_info info;
    unsigned n = 0;
    CHECK_OK(cuzk_cuda_library_entry()->devices(&info, 1, &n, &err));
    return n != 0 && info.unusable[0] == 0;
}

static void check_setup(const char *shape) {
    cuzk_error err;
    char name[256], path[128], vk_path[128];
    groth16_encoder *encoder = NULL;
    const cuda_library *library = cuzk_cuda_library_entry();
    host_std *std = NULL;
    REQUIRE(host_std_new(0, 0, &std, &err) == CUZK_OK);
    snprintf(name, sizeof name, "filecoin/params/%s.json", shape);
    snprintf(path, sizeof path, "%s.cuda", g.params_path);
    snprintf(vk_path, sizeof vk_path, "%s.cuda", g.vk_path);
    json e = json_load(name);
    const groth16_secrets secrets = golden_secrets(shape, json_get(&e, "toxic"));
    CHECK_OK(library->encoder_open(host_std_host(std), &(cuda_options){NULL, 0}, &encoder, &err));
    REQUIRE(encoder != NULL);
    const double start = check_seconds();
    CHECK_OK(
        groth16_setup_with(host_std_host(std), g.circuit, &secrets, encoder, path, vk_path, &err));
    printf("  set-up on the device %.2f s\n", check_seconds() - start);
    library->encoder_close(encoder);
    size_t bytes = 0;
    char *got = read_file_or_die(path, &bytes);
    CHECK_U64(bytes, g.params->map_bytes);
    CHECK_MEM(got, g.params->map, bytes);
    free(got);
    unlink(path);
    unlink(vk_path);
    json_free(&e);
    CHECK_U64(host_std_used(std), 0);
    host_std_free(std);
}

/* What an open executor holds on the host beside what its plan says. */
#define FIXED_HOST_BYTES ((uint64_t)1 << 20)

static void prove_on_device(uint64_t arena, prove_fn prove) {
    cuzk_error err;
    uint64_t device = 0, host = 0;
    const cuda_library *library = cuzk_cuda_library_entry();
    const cuda_options options = {NULL, arena};
    host_std *std = NULL; /* its own, to see what it takes */
    REQUIRE(host_std_new(0, 0, &std, &err) == CUZK_OK);
    CHECK_OK(library->open(host_std_host(std), &options, &g.ex, &err));
    REQUIRE(g.ex != NULL);
    g.own_memory = true;
    const uint64_t calls = library->device_wide_calls();
    CHECK(calls > 0);
    CHECK_OK(g.ex->ops->plan(g.ex, &g.key, &device, &host, &err));
    printf("  arena limit %.0f MB: planned %.0f MB on the device, %.1f MB on the host\n",
           1e-6 * (double)arena, 1e-6 * (double)device, 1e-6 * (double)host);
    prove(); /* loads and unloads */
    g.ex->ops->unload(g.ex);
    CHECK_U64(library->device_wide_calls(), calls);
    CHECK(host_std_peak(std) <= host + FIXED_HOST_BYTES);
    g.ex->ops->close(g.ex);
    CHECK(library->device_wide_calls() > calls);
    CHECK_U64(host_std_used(std), 0);
    host_std_free(std);
    g.ex = NULL;
}

/* The smallest arena that the plan asks for: the error of a smaller one says how much. */
static uint64_t least_arena(void) {
    cuzk_error err;
    uint64_t device = 0, host = 0;
    unsigned long long needed = 0, available = 0;
    executor *ex = NULL;
    const uint64_t arena = (uint64_t)48 << 20;
    CHECK_OK(cuzk_cuda_library_entry()->open(g.host, &(cuda_options){NULL, arena}, &ex, &err));
    REQUIRE(ex != NULL);
    CHECK_STATUS(ex->ops->plan(ex, &g.key, &device, &host, &err), CUZK_ERR_DEVICE_MEMORY);
    CHECK_STATUS(ex->ops->load(ex, &g.key, &err), CUZK_ERR_DEVICE_MEMORY);
    const char *numbers = strstr(err.text, " needs ");
    REQUIRE(numbers != NULL);
    CHECK_U64(
        sscanf(numbers, " needs %llu bytes of device memory at least, %llu", &needed, &available),
        2);
    CHECK_U64(available, arena);
    ex->ops->close(ex);
    return needed;
}

/* Circuit and parameters, from the CPU; false: there is no device. */
static bool shape_open(const char *shape, const char *circuit) {
    if (!has_device()) {
        printf("skipped: no GPU\n");
        check_skipped = true;
        return false;
    }
    golden_open(&g, shape, circuit);
    g.ex->ops->close(g.ex);
    g.steps_checked = true; /* the CPU's intermediates are checked in tests/filecoin */
    return true;
}

static void shape_close(void) {
    cuzk_error err;
    g.own_memory = false;
    CHECK_OK(executor_cpu_open(g.host, &g.ex, &err));
    golden_close(&g);
}

static void check_shape(const char *shape, const char *circuit, uint64_t small_arena,
                        prove_fn prove) {
    if (!shape_open(shape, circuit)) return;
    check_setup(shape);
    prove_on_device(0, prove); /* with copies of h's points and of FIELD bases, and pairs */
    g.key.effort = EXECUTOR_BRIEF;
    prove_on_device(0, prove); /* without */
    g.key.effort = EXECUTOR_THOROUGH;
    prove_on_device(small_arena, prove);
    prove_on_device(least_arena(), prove);
    shape_close();
}

static void prove_porep_fixture(const char *name) {
    cuzk_error err;
    char text[256];
    snprintf(text, sizeof text, "filecoin/%s/c1.json", name);
    porep_c1 *c1 = c1_load(text);
    CHECK_OK(filecoin_circuit_bind_porep(g.filecoin, c1, 0, &err));
    snprintf(text, sizeof text, "%s-0", name);
    golden_prove(&g, text);
}

static void prove_porep(void) {
    static const char *const names[] = {"porep-2k", "porep-2k-synth", "porep-2k-ni", "porep-2k-v1"};
    for (int i = 0; i < 4; i++)
        prove_porep_fixture(names[i]);
}

static void prove_one_porep(void) {
    prove_porep_fixture("porep-2k");
}

static post_vanilla *load_post(const char *name, size_t n) {
    cuzk_error err;
    registered_post post;
    golden_blob blobs[8];
    const uint8_t *data[8];
    size_t bytes[8];
    post_vanilla *vanilla = NULL;
    char path[128];
    snprintf(path, sizeof path, "filecoin/%s/meta.json", name);
    json meta = json_load(path);
    CHECK_OK(registered_post_by_name(json_str(&meta, "registered_proof"), &post, &err));
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/vanilla-%zu.bin", name, i);
        blobs[i] = golden_load(path);
        data[i] = blobs[i].data;
        bytes[i] = blobs[i].bytes;
    }
    CHECK_OK(post_vanilla_read(g.host, &post, data, bytes, n, &vanilla, &err));
    REQUIRE(vanilla != NULL);
    for (size_t i = 0; i < n; i++)
        free(blobs[i].data);
    json_free(&meta);
    return vanilla;
}

static void prove_winning(void) {
    cuzk_error err;
    post_vanilla *v = load_post("winning-2k", 1);
    CHECK_OK(filecoin_circuit_bind_post(g.filecoin, v->sectors, 1, &err));
    for (int i = 0; i < 20; i++)
        golden_prove(&g, "winning-2k-0");
    post_vanilla_free(g.host, v);
}

static void prove_one_winning(void) {
    cuzk_error err;
    post_vanilla *v = load_post("winning-2k", 1);
    CHECK_OK(filecoin_circuit_bind_post(g.filecoin, v->sectors, 1, &err));
    golden_prove(&g, "winning-2k-0");
    post_vanilla_free(g.host, v);
}

static bool same_sums(const groth16_sums *a, const groth16_sums *b) {
    return g1_eq(&a->h, &b->h) && g1_eq(&a->l, &b->l) && g1_eq(&a->a, &b->a) &&
           g1_eq(&a->b_g1, &b->b_g1) && g2_eq(&a->b_g2, &b->b_g2);
}

/* Both slots, one of them begun twice, since it was withdrawn in between. */
static void prove_withdrawn(const witness *w) {
    cuzk_error err;
    groth16_sums sums[2];
    const executor_ops *ops = g.ex->ops;
    CHECK(!ops->withdraw(g.ex, 0)); /* not begun */
    CHECK_OK(ops->begin(g.ex, 0, w, &err));
    CHECK_OK(ops->begin(g.ex, 1, w, &err));
    CHECK(ops->withdraw(g.ex, 1)); /* behind the other */
    CHECK(!ops->withdraw(g.ex, 1) && !ops->withdraw(g.ex, 2));
    CHECK_OK(ops->begin(g.ex, 1, w, &err));
    CHECK_OK(ops->finish(g.ex, 0, &sums[0], NULL, &err));
    CHECK_OK(ops->finish(g.ex, 1, &sums[1], NULL, &err));
    CHECK(same_sums(&sums[0], &sums[1]));
}

static bool after_three(void *calls) {
    return ++*(unsigned *)calls > 3;
}

/* Nothing is loaded then, and another load is as good as the first. */
static void check_given_up(const witness *w) {
    cuzk_error err;
    unsigned calls = 0;
    executor_key key = g.key;
    key.give_up = after_three;
    key.give_up_self = &calls;
    CHECK_STATUS(g.ex->ops->load(g.ex, &key, &err), CUZK_ERR_CANCELLED);
    CHECK_U64(calls, 4);
    CHECK_STATUS(g.ex->ops->begin(g.ex, 0, w, &err), CUZK_ERR_ARGUMENT);
    CHECK_OK(g.ex->ops->load(g.ex, &g.key, &err));
}

static void prove_one_window(void) {
    cuzk_error err;
    witness w;
    post_vanilla *v = load_post("window-2k", 3);
    CHECK_OK(filecoin_circuit_bind_post(g.filecoin, v->sectors, 2, &err));
    golden_prove(&g, "window-2k-0");
    CHECK_OK(witness_new(g.host, g.circuit, &w, &err));
    CHECK_OK(r1cs_witness(g.host, g.circuit, filecoin_circuit_cs(g.filecoin), &w, &err));
    prove_withdrawn(&w);
    check_given_up(&w);
    prove_withdrawn(&w);
    witness_free(g.host, &w);
    post_vanilla_free(g.host, v);
}

static void prove_window(void) {
    cuzk_error err;
    post_vanilla *v = load_post("window-2k", 3);
    for (int i = 0; i < 40; i++) {
        CHECK_OK(filecoin_circuit_bind_post(g.filecoin, v->sectors, 2, &err));
        golden_prove(&g, "window-2k-0");
        CHECK_OK(filecoin_circuit_bind_post(g.filecoin, v->sectors + 2, 1, &err));
        golden_prove(&g, "window-2k-1");
    }
    post_vanilla_free(g.host, v);
}

static void prove_snap(void) {
    golden_prove_snap(&g);
}

#define MIB ((uint64_t)1 << 20)

TEST(window) {
    check_shape("window-2KiB", "window-2k", 96 * MIB, prove_window);
}
TEST(winning) {
    check_shape("winning-2KiB", "winning-2k", 128 * MIB, prove_winning);
}
TEST(porep) {
    check_shape("porep-2KiB", "porep-2k", 1200 * MIB, prove_porep);
}
TEST(snap) {
    check_shape("update-2KiB", "snap-2k", 700 * MIB, prove_snap);
}

/* The arenas: overlapped with copies of points and resident; streamed; overlapped with wide
 * tables, and spilled. */
TEST(small_window) {
    if (!shape_open("window-2KiB", "window-2k")) return;
    prove_on_device(256 * MIB, prove_one_window);
    prove_on_device(96 * MIB, prove_one_window);
    shape_close();
}
TEST(small_winning) {
    if (!shape_open("winning-2KiB", "winning-2k")) return;
    prove_on_device(160 * MIB, prove_one_winning);
    shape_close();
}
TEST(small_porep) {
    if (!shape_open("porep-2KiB", "porep-2k")) return;
    prove_on_device(400 * MIB, prove_one_porep);
    prove_on_device((uint64_t)12 << 30, prove_one_porep);
    shape_close();
}

TEST_MAIN(RUN(small_window), RUN(small_winning), RUN(small_porep), RUN(window), RUN(winning),
          RUN(porep), RUN(snap))
