/* Parameters and proofs of a Filecoin circuit against the golden files: set-up from the fixtures'
 * secrets, proofs with the fixtures' r and s, byte for byte (tests/data/filecoin/README.md). */
#ifndef CUZK_TESTS_GOLDEN_GROTH16_H
#define CUZK_TESTS_GOLDEN_GROTH16_H

#include "check.h"
#include "json.h"

#include "filecoin/circuits.h"
#include "groth16/executor.h"
#include "hash/sha256.h"
#include "host/host_std.h"
#include "poly/ntt.h"

#include <sys/stat.h>
#include <unistd.h>

typedef struct golden_blob {
    uint8_t *data;
    size_t bytes;
} golden_blob;

/* tests/data/filecoin/NAME */
static inline golden_blob golden_load(const char *name) {
    char path[512];
    golden_blob b;
    snprintf(path, sizeof path, "%s/filecoin/%s", CUZK_TEST_DATA, name);
    b.data = (uint8_t *)read_file_or_die(path, &b.bytes);
    return b;
}

typedef struct golden_shape {
    const char *name; /* "window-2KiB" */
    host_std *std;
    const cuzk_host *host;
    char dir[64], params_path[96], vk_path[96];
    filecoin_circuit *filecoin;
    r1cs *circuit;
    groth16_params *params;
    executor *ex;
    executor_key key;
    uint64_t base_bytes; /* held before proving: circuit, key, vanilla proof */
    bool own_memory;     /* ex has a host of its own: nothing to check here */
    bool steps_checked;
} golden_shape;

/* The rule of the fixtures: Fr(label). */
static inline fr_t golden_fr(const char *label) {
    sha256_ctx ctx;
    uint8_t bytes[32];
    fr_t z;
    sha256_init(&ctx);
    sha256_update(&ctx, "fixturegen/", 11);
    sha256_update(&ctx, label, strlen(label));
    sha256_final(&ctx, bytes);
    bytes[31] &= 0x3f;
    REQUIRE(fr_from_bytes(&z, bytes) == CUZK_OK);
    return z;
}

static inline groth16_secrets golden_secrets(const char *shape, const json *toxic) {
    static const char *const names[] = {"alpha", "beta", "gamma", "delta", "tau"};
    groth16_secrets s;
    fr_t *const values[] = {&s.alpha, &s.beta, &s.gamma, &s.delta, &s.tau};
    for (int i = 0; i < 5; i++) {
        char label[96];
        uint8_t bytes[FR_BYTES];
        snprintf(label, sizeof label, "toxic/%s/%s", shape, names[i]);
        *values[i] = golden_fr(label);
        fr_to_bytes(bytes, values[i]);
        CHECK_HEX(bytes, sizeof bytes, json_str(toxic, names[i]));
    }
    return s;
}

static inline void golden_check_section(const golden_shape *g, const json *sections,
                                        const char *name, const void *points, size_t count,
                                        size_t end) {
    const json *e = json_get(sections, name);
    const bool is_vk = strcmp(name, "vk") == 0; /* the others start with their count */
    const size_t offset = is_vk ? 0 : (size_t)((const uint8_t *)points - g->params->map) - 4;
    uint8_t digest[32];
    CHECK_U64(offset, json_u64(e, "offset"));
    CHECK_U64(count, json_u64(e, "count"));
    CHECK_U64(end - offset, json_u64(e, "size"));
    sha256(digest, g->params->map + offset, end - offset);
    if (strcmp(check_hex(digest, 32), json_str(e, "sha256")) != 0)
        CHECK_FAILED_("%s: section %s differs", g->name, name);
}

static inline void golden_check_params(const golden_shape *g, const json *e) {
    const groth16_params *p = g->params;
    const json *sections = json_get(e, "sections");
    uint8_t digest[32];
    char name[256];
    const struct {
        const char *name;
        const msm_bases *bases;
        size_t bytes;
    } queries[] = {{"h", &p->h, 96},
                   {"l", &p->l, 96},
                   {"a", &p->a, 96},
                   {"b_g1", &p->b_g1, 96},
                   {"b_g2", &p->b_g2, 192}};
    CHECK_U64(p->map_bytes, json_u64(e, "size"));
    golden_check_section(g, sections, "vk", NULL, p->vk->n_ic, GROTH16_VK_BYTES(p->vk->n_ic));
    for (int i = 0; i < 5; i++) {
        const msm_bases *b = queries[i].bases;
        const size_t start = (size_t)((const uint8_t *)b->data - p->map);
        golden_check_section(g, sections, queries[i].name, b->data, b->count,
                             start + b->count * queries[i].bytes);
    }
    sha256(digest, p->map, p->map_bytes);
    CHECK_HEX(digest, 32, json_str(e, "sha256"));
    snprintf(name, sizeof name, "params/%s.vk", g->name);
    golden_blob want = golden_load(name);
    size_t bytes = 0;
    char *got = read_file_or_die(g->vk_path, &bytes);
    CHECK_U64(bytes, want.bytes);
    CHECK_MEM(got, want.data, want.bytes);
    free(got);
    free(want.data);
}

/* Record the circuit, make its parameters, compare them, open the CPU executor. The file lies in a
 * folder of its own under TMPDIR or /tmp. */
static inline void golden_open(golden_shape *g, const char *shape, const char *circuit) {
    cuzk_error err;
    circuit_id id;
    char name[256];
    const char *tmp = getenv("TMPDIR");
    *g = (golden_shape){.name = shape};
    REQUIRE(host_std_new(0, 0, &g->std, &err) == CUZK_OK);
    g->host = host_std_host(g->std);
    snprintf(g->dir, sizeof g->dir, "%.30s/cuzk-golden-XXXXXX", tmp != NULL ? tmp : "/tmp");
    REQUIRE(mkdtemp(g->dir) != NULL);
    snprintf(g->params_path, sizeof g->params_path, "%s/golden.params", g->dir);
    snprintf(g->vk_path, sizeof g->vk_path, "%s/golden.vk", g->dir);

    CHECK_OK(circuit_id_parse(circuit, &id, &err));
    CHECK_OK(filecoin_circuit_new(g->host, &id, &g->filecoin, &err));
    CHECK_OK(r1cs_record(g->host, filecoin_circuit_cs(g->filecoin), &g->circuit, &err));
    REQUIRE(g->circuit != NULL);
    snprintf(name, sizeof name, "filecoin/params/%s.json", shape);
    json e = json_load(name);
    const groth16_secrets secrets = golden_secrets(shape, json_get(&e, "toxic"));
    const double start = check_seconds();
    host_std *setup_std = NULL; /* its own, so that the peak of the other is that of proving */
    REQUIRE(host_std_new(0, 0, &setup_std, &err) == CUZK_OK);
    CHECK_OK(groth16_setup(host_std_host(setup_std), g->circuit, &secrets, g->params_path,
                           g->vk_path, &err));
    printf("  set-up %.2f s, host peak %.0f MB\n", check_seconds() - start,
           1e-6 * (double)host_std_peak(setup_std));
    host_std_free(setup_std);
    CHECK_OK(groth16_params_open(g->host, g->params_path, &g->params, &err));
    REQUIRE(g->params != NULL);
    CHECK_OK(groth16_params_fit(g->params, g->circuit, &err));
    golden_check_params(g, &e);
    json_free(&e);
    g->key = (executor_key){.circuit_id = circuit,
                            .circuit = g->circuit,
                            .params = g->params,
                            .effort = EXECUTOR_THOROUGH};
    CHECK_OK(executor_cpu_open(g->host, &g->ex, &err));
}

static inline void golden_close(golden_shape *g) {
    g->ex->ops->close(g->ex);
    groth16_params_close(g->host, g->params);
    r1cs_free(g->host, g->circuit);
    filecoin_circuit_free(g->host, g->filecoin);
    CHECK_U64(host_std_used(g->std), 0);
    host_std_free(g->std);
    unlink(g->params_path);
    unlink(g->vk_path);
    CHECK(rmdir(g->dir) == 0);
}

/* ---- intermediates ---- */

static inline void golden_check_vector(const fr_t *v, size_t n, const char *expected,
                                       const char *what) {
    sha256_ctx ctx;
    uint8_t bytes[FR_BYTES], digest[32];
    sha256_init(&ctx);
    for (size_t i = 0; i < n; i++) {
        fr_to_bytes(bytes, &v[i]);
        sha256_update(&ctx, bytes, sizeof bytes);
    }
    sha256_final(&ctx, digest);
    if (strcmp(check_hex(digest, 32), expected) != 0) CHECK_FAILED_("%s differs", what);
}

/* Every step from A w and B w to the coefficients of h. */
static inline void golden_check_quotient(const golden_shape *g, const witness *w, const json *e) {
    static const char *const names[] = {"a", "b", "c"};
    cuzk_error err;
    ntt_domain *domain = NULL;
    host_std *std = NULL; /* not part of what proving takes */
    REQUIRE(host_std_new(0, 0, &std, &err) == CUZK_OK);
    const cuzk_host *host = host_std_host(std);
    const size_t m = (size_t)1 << g->circuit->log2_domain;
    fr_t *v[3];
    CHECK_OK(ntt_domain_new(host, g->circuit->log2_domain, &domain, &err));
    for (int k = 0; k < 3; k++) {
        v[k] = malloc(m * sizeof(fr_t));
        CHECK_OK(r1cs_eval(host, g->circuit, k, w, 0, m, v[k], &err));
        ntt_inverse(host, domain, v[k]);
        golden_check_vector(v[k], m,
                            json_str(json_get(e, "interpolated_coefficients_sha256"), names[k]),
                            "interpolated coefficients");
        ntt_coset_forward(host, domain, v[k]);
        golden_check_vector(v[k], m, json_str(json_get(e, "coset_evaluations_sha256"), names[k]),
                            "coset evaluations");
    }
    for (int k = 0; k < 2; k++)
        CHECK_OK(r1cs_eval(host, g->circuit, k, w, 0, m, v[k], &err));
    ntt_quotient(host, domain, v[0], v[1], v[2]);
    CHECK(fr_is_zero(&v[0][m - 1]));
    CHECK_U64(m - 1, json_u64(e, "h_coefficients"));
    golden_check_vector(v[0], m - 1, json_str(e, "h_sha256"), "h coefficients");
    for (int k = 0; k < 3; k++)
        free(v[k]);
    ntt_domain_free(host, domain);
    host_std_free(std);
}

/* The sum of one or two encoded points equals got. */
static inline void golden_check_g1(const g1_t *got, const json *msm, const char *one,
                                   const char *two) {
    const char *const names[] = {one, two};
    g1_t sum = g1_infinity();
    for (int i = 0; i < 2 && names[i] != NULL; i++) {
        uint8_t bytes[G1_COMPRESSED_BYTES];
        g1_affine_t p;
        check_unhex(bytes, sizeof bytes, json_str(msm, names[i]));
        CHECK_STATUS(g1_read_compressed(&p, bytes, CURVE_CHECK_SUBGROUP), CUZK_OK);
        g1_add_affine(&sum, &sum, &p);
    }
    if (!g1_eq(&sum, got)) CHECK_FAILED_("sum %s differs", one);
}
static inline void golden_check_g2(const g2_t *got, const json *msm, const char *one,
                                   const char *two) {
    const char *const names[] = {one, two};
    g2_t sum = g2_infinity();
    for (int i = 0; i < 2; i++) {
        uint8_t bytes[G2_COMPRESSED_BYTES];
        g2_affine_t p;
        check_unhex(bytes, sizeof bytes, json_str(msm, names[i]));
        CHECK_STATUS(g2_read_compressed(&p, bytes, CURVE_CHECK_SUBGROUP), CUZK_OK);
        g2_add_affine(&sum, &sum, &p);
    }
    if (!g2_eq(&sum, got)) CHECK_FAILED_("sum %s differs", one);
}

static inline void golden_check_sums(const groth16_sums *sums, const json *msm) {
    golden_check_g1(&sums->h, msm, "h", NULL);
    golden_check_g1(&sums->l, msm, "l", NULL);
    golden_check_g1(&sums->a, msm, "a_aux", "a_inputs");
    golden_check_g1(&sums->b_g1, msm, "b_g1_aux", "b_g1_inputs");
    golden_check_g2(&sums->b_g2, msm, "b_g2_aux", "b_g2_inputs");
}

/* ---- proofs ---- */

/* What proving took, witness included, is what the plan says. To be called before anything else
 * takes memory from the host. */
static inline void golden_check_memory(const golden_shape *g) {
    cuzk_error err;
    if (g->own_memory) return;
    uint64_t device = 0, host = 0;
    CHECK_OK(g->ex->ops->plan(g->ex, &g->key, &device, &host, &err));
    const uint64_t planned = g->base_bytes + witness_bytes(g->circuit) + host;
    printf("  host peak %.3f MB, planned %.3f MB\n", 1e-6 * (double)host_std_peak(g->std),
           1e-6 * (double)planned);
    CHECK(host_std_peak(g->std) <= planned);
}

/* One partition, whose values are bound to g->filecoin: witness, intermediates and proof of JOB-K
 * (e.g. "window-2k-1"), and a proof with fresh blinding. */
static inline void golden_prove(golden_shape *g, const char *job_k) {
    cuzk_error err;
    char name[256], label[256], job[64];
    witness w;
    groth16_sums sums;
    groth16_proof proof;
    groth16_blinding rs;
    executor_timing timing;
    uint8_t bytes[GROTH16_PROOF_BYTES];
    snprintf(name, sizeof name, "filecoin/prove/%s.json", job_k);
    json e = json_load(name);
    snprintf(name, sizeof name, "filecoin/prove/%s.intermediates.json", job_k);
    json steps = json_load(name);

    g->ex->ops->unload(g->ex);
    g->base_bytes = host_std_used(g->std);
    CHECK_OK(g->ex->ops->load(g->ex, &g->key, &err));
    CHECK_OK(witness_new(g->host, g->circuit, &w, &err));
    double start = check_seconds();
    CHECK_OK(r1cs_witness(g->host, g->circuit, filecoin_circuit_cs(g->filecoin), &w, &err));
    printf("  %s: witness %.3f s", job_k, check_seconds() - start);
    const json *inputs = json_get(&e, "public_inputs");
    CHECK_U64(w.n_inputs - 1, inputs->n);
    for (size_t i = 0; i < inputs->n && i + 1 < w.n_inputs; i++) {
        fr_to_bytes(bytes, &w.inputs[i + 1]);
        CHECK_HEX(bytes, FR_BYTES, inputs->items[i].text);
    }

    start = check_seconds();
    CHECK_OK(g->ex->ops->begin(g->ex, 0, &w, &err));
    CHECK_OK(g->ex->ops->finish(g->ex, 0, &sums, &timing, &err));
    printf(", sums %.2f s (eval %.0f ms, NTT %.0f ms, MSM %.0f ms)\n", check_seconds() - start,
           timing.eval_ms, timing.ntt_ms, timing.msm_ms);
    golden_check_memory(g);
    golden_check_sums(&sums, json_get(&steps, "msm"));
    if (!g->steps_checked) golden_check_quotient(g, &w, &steps); /* slow: once a circuit */
    g->steps_checked = true;

    snprintf(job, sizeof job, "%s", json_str(&e, "job"));
    snprintf(label, sizeof label, "rs/%s/%s/r", job, json_str(&e, "partition"));
    rs.r = golden_fr(label);
    snprintf(label, sizeof label, "rs/%s/%s/s", job, json_str(&e, "partition"));
    rs.s = golden_fr(label);
    groth16_assemble(g->params->vk, &sums, &rs, &proof);
    groth16_proof_write(&proof, bytes);
    snprintf(name, sizeof name, "prove/%s.proof.bin", job_k);
    golden_blob want = golden_load(name);
    CHECK_U64(want.bytes, sizeof bytes);
    CHECK_MEM(bytes, want.data, sizeof bytes);
    free(want.data);

    CHECK_OK(groth16_blinding_random(g->host, &rs, &err));
    groth16_assemble(g->params->vk, &sums, &rs, &proof);
    CHECK_OK(groth16_verify(g->host, g->params->vk, &proof, w.inputs + 1, w.n_inputs - 1, &err));
    witness_free(g->host, &w);
    json_free(&e);
    json_free(&steps);
}

/* The update of 2 KiB, bound and proven; g is open on its shape. */
static inline void golden_prove_snap(golden_shape *g) {
    cuzk_error err;
    node32 comm_r_old, comm_r_new, comm_d_new;
    snap_vanilla *vanilla = NULL;
    json meta = json_load("filecoin/snap-2k/meta.json");
    check_unhex(comm_r_old, 32, json_str(&meta, "comm_r_old"));
    check_unhex(comm_r_new, 32, json_str(&meta, "comm_r_new"));
    check_unhex(comm_d_new, 32, json_str(&meta, "comm_d_new"));
    golden_blob blob = golden_load("snap-2k/vanilla-0.bin");
    const uint8_t *const data[] = {blob.data};
    CHECK_OK(snap_vanilla_read(g->host, sector_shape_by_bytes(2048), data, &blob.bytes, 1, &vanilla,
                               &err));
    REQUIRE(vanilla != NULL);
    CHECK_OK(filecoin_circuit_bind_snap(g->filecoin, &vanilla->partitions[0], 0, comm_r_old,
                                        comm_r_new, comm_d_new, &err));
    golden_prove(g, "snap-2k-0");
    snap_vanilla_free(g->host, vanilla);
    free(blob.data);
    json_free(&meta);
}

#endif
