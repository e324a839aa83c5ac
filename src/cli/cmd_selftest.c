/* cuzk selftest: known answers on this machine, in seconds. Every fast path that this CPU selects
 * takes part, so a machine with a broken instruction or a bad build shows it here. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "curve/pairing.h"
#include "filecoin/graph.h"
#include "filecoin/poseidon.h"
#include "groth16/executor.h"
#include "hash/blake2.h"
#include "hash/sha256.h"
#include "msm/msm.h"
#include "poly/ntt.h"

static cuzk_status expect_hex(const char *what, const uint8_t *got, size_t bytes,
                              const char *expected, cuzk_error *err) {
    char hex[129] = {0};
    cli_hex(hex, got, bytes);
    if (strcmp(hex, expected) == 0) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_INTERNAL, "%s: got %s, expected %s", what, hex, expected);
}

static cuzk_status test_hashes(const cuzk_host *host, cuzk_error *err) {
    uint8_t out[64];
    (void)host;
    sha256(out, "abc", 3);
    CUZK_TRY(expect_hex("SHA-256(abc)", out, 32,
                        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", err));
    blake2b(out, 64, NULL, 0, "abc", 3);
    CUZK_TRY(expect_hex("BLAKE2b(abc)", out, 16, "ba80a53f981c4d0d6a2797b69f12f6e9", err));
    /* neptune: arity 8, inputs 1..8 (REFERENCE 7.4) */
    fr_t in[8], h;
    for (uint64_t i = 0; i < 8; i++)
        fr_from_u64(&in[i], i + 1);
    poseidon_hash(poseidon_get(POSEIDON_8), in, &h);
    fr_to_bytes(out, &h);
    return expect_hex("Poseidon(1..8)", out, 32,
                      "7ec0e1c106a134b810eee278ecefca3ee8c429116af3d14376e0c48f2ed4ed04", err);
}

static cuzk_status random_scalars(const cuzk_host *host, fr_t *out, size_t n, cuzk_error *err) {
    for (size_t i = 0; i < n; i++) {
        uint8_t wide[64];
        if (host->random(host->self, wide, sizeof wide) != CUZK_OK)
            return cuzk_fail(err, CUZK_ERR_IO, "no randomness");
        fr_from_wide(&out[i], wide);
    }
    return CUZK_OK;
}

/* e(a G1, b G2) = e(G1, G2)^(a b), and 1 for a non-trivial product. */
static cuzk_status test_pairing(const cuzk_host *host, cuzk_error *err) {
    fr_t s[3];
    g1_t p1;
    g2_t p2;
    g1_affine_t g1[2];
    g2_affine_t g2[2];
    CUZK_TRY(random_scalars(host, s, 2, err));
    fr_mul(&s[2], &s[0], &s[1]);
    g1_from_affine(&p1, &g1_generator);
    g2_from_affine(&p2, &g2_generator);
    g1_mul_var(&p1, &p1, &s[0]);
    g2_mul_var(&p2, &p2, &s[1]);
    g1_to_affine(&g1[0], &p1);
    g2_to_affine(&g2[0], &p2);
    g1_from_affine(&p1, &g1_generator);
    g1_mul_var(&p1, &p1, &s[2]);
    g1_neg(&p1, &p1);
    g1_to_affine(&g1[1], &p1);
    g2[1] = g2_generator;
    if (!pairing_product_is_one(g1, g2, 2))
        return cuzk_fail(err, CUZK_ERR_INTERNAL, "pairing is not bilinear");
    g1_affine_neg(&g1[1], &g1[1]);
    if (pairing_product_is_one(g1, g2, 2))
        return cuzk_fail(err, CUZK_ERR_INTERNAL, "pairing product of a wrong pair is 1");
    return CUZK_OK;
}

enum { SELFTEST_N = 4096, SELFTEST_LOG2 = 12 };

/* MSM with bases of known logarithm: sum s_i (k_i G) = (sum s_i k_i) G. */
static cuzk_status test_msm(const cuzk_host *host, cuzk_error *err) {
    static fr_t scalars[SELFTEST_N], logs[SELFTEST_N];
    static g1_affine_t bases[SELFTEST_N];
    msm_fixed_g1 *table;
    g1_t got, expected;
    fr_t sum = fr_zero(), t;
    CUZK_TRY(random_scalars(host, scalars, SELFTEST_N, err));
    CUZK_TRY(random_scalars(host, logs, SELFTEST_N, err));
    CUZK_TRY(msm_fixed_g1_new(host, &g1_generator, SELFTEST_N, &table, err));
    const cuzk_status status = msm_fixed_g1_apply(host, table, logs, SELFTEST_N, bases, err);
    msm_fixed_g1_free(host, table);
    CUZK_TRY(status);
    CUZK_TRY(
        msm_g1(host, &got, (msm_bases){bases, SELFTEST_N, MSM_AFFINE}, scalars, SELFTEST_N, err));
    for (size_t i = 0; i < SELFTEST_N; i++) {
        fr_mul(&t, &scalars[i], &logs[i]);
        fr_add(&sum, &sum, &t);
    }
    g1_from_affine(&expected, &g1_generator);
    g1_mul_var(&expected, &expected, &sum);
    return g1_eq(&got, &expected) ? CUZK_OK
                                  : cuzk_fail(err, CUZK_ERR_INTERNAL, "MSM gives a wrong sum");
}

/* A transform must agree with the polynomial's value at one random power of the root. */
static cuzk_status test_ntt(const cuzk_host *host, cuzk_error *err) {
    static fr_t coefficients[SELFTEST_N], values[SELFTEST_N];
    ntt_domain *domain;
    fr_t x, value = fr_zero();
    const uint64_t index[1] = {1234};
    CUZK_TRY(random_scalars(host, coefficients, SELFTEST_N, err));
    memcpy(values, coefficients, sizeof values);
    CUZK_TRY(ntt_domain_new(host, SELFTEST_LOG2, &domain, err));
    ntt_forward(host, domain, values);
    ntt_root_of_unity(SELFTEST_LOG2, &x);
    fr_pow_var(&x, &x, index, 1);
    for (size_t i = SELFTEST_N; i-- > 0;) {
        fr_mul(&value, &value, &x);
        fr_add(&value, &value, &coefficients[i]);
    }
    const bool forward = fr_eq(&value, &values[1234]);
    ntt_inverse(host, domain, values);
    const bool inverse = memcmp(values, coefficients, sizeof values) == 0;
    ntt_domain_free(host, domain);
    return forward && inverse ? CUZK_OK
                              : cuzk_fail(err, CUZK_ERR_INTERNAL, "NTT: %s transform is wrong",
                                          forward ? "inverse" : "forward");
}

/* ---- a whole proof of a toy circuit: x^2 = y, y x = z, z public, 40 bits ---- */

typedef struct toy {
    fr_t x;
} toy;

static void toy_synth(cs *c, void *state, uint64_t instance) {
    const toy *t = state;
    fr_t y, z, one = fr_one(), minus;
    (void)instance;
    fr_sqr(&y, &t->x);
    fr_mul(&z, &y, &t->x);
    fr_neg(&minus, &one);
    const cs_var vz = cs_alloc_input(c, &z), vx = cs_alloc(c, &t->x), vy = cs_alloc(c, &y);
    const cs_var bits = cs_alloc_bits(c, 0x5a5a5a5a5aULL, 40);
    if (!cs_recording(c)) return;
    cs_lc *a = cs_scratch(c, 0), *b = cs_scratch(c, 1), *k = cs_scratch(c, 2);
    cs_lc_add(c, a, vx, &one);
    cs_lc_add(c, k, vy, &one);
    cs_enforce(c, a, a, k);
    a = cs_scratch(c, 0);
    b = cs_scratch(c, 1);
    k = cs_scratch(c, 2);
    cs_lc_add(c, a, vy, &one);
    cs_lc_add(c, b, vx, &one);
    cs_lc_add(c, k, vz, &one);
    cs_enforce(c, a, b, k);
    for (cs_var i = 0; i < 40; i++) {
        a = cs_scratch(c, 0);
        b = cs_scratch(c, 1);
        cs_lc_add(c, a, CS_ONE, &one);
        cs_lc_add(c, a, bits + i, &minus);
        cs_lc_add(c, b, bits + i, &one);
        cs_enforce(c, a, b, NULL);
    }
}

static cuzk_status prove_toy(const cuzk_host *host, const r1cs *circuit, const cs_circuit *def,
                             const groth16_params *params, cuzk_error *err) {
    const executor_key key = {
        .circuit_id = "selftest", .circuit = circuit, .params = params, .effort = EXECUTOR_BRIEF};
    executor *ex;
    witness w;
    groth16_blinding rs;
    groth16_proof proof;
    CUZK_TRY(executor_cpu_open(host, &ex, err));
    cuzk_status status = witness_new(host, circuit, &w, err);
    if (status == CUZK_OK) {
        status = r1cs_witness(host, circuit, def, &w, err);
        if (status == CUZK_OK) status = groth16_blinding_random(host, &rs, err);
        if (status == CUZK_OK) status = ex->ops->load(ex, &key, err);
        if (status == CUZK_OK) {
            status = executor_prove(ex, &key, &w, &rs, &proof, NULL, err);
            ex->ops->unload(ex);
        }
        if (status == CUZK_OK) { /* and a wrong public input must be refused */
            fr_t wrong = fr_one();
            if (groth16_verify(host, params->vk, &proof, &wrong, 1, NULL) != CUZK_ERR_INVALID_PROOF)
                status = cuzk_fail(err, CUZK_ERR_INTERNAL, "a wrong public input was accepted");
        }
        witness_free(host, &w);
    }
    ex->ops->close(ex);
    return status;
}

static cuzk_status test_groth16(const cuzk_host *host, cuzk_error *err) {
    char dir[] = "/tmp/cuzk-selftest.XXXXXX", params_file[64], vk_file[64];
    toy state;
    r1cs *circuit;
    groth16_secrets secrets;
    groth16_params *params;
    const cs_circuit def = {.name = "selftest",
                            .n_blocks = 1,
                            .blocks = {{.name = "all", .count = 1, .synth = toy_synth}},
                            .state = &state};
    fr_from_u64(&state.x, 3);
    if (mkdtemp(dir) == NULL) return cuzk_fail(err, CUZK_ERR_IO, "no temporary folder");
    snprintf(params_file, sizeof params_file, "%s/p.params", dir);
    snprintf(vk_file, sizeof vk_file, "%s/p.vk", dir);
    cuzk_status status = r1cs_record(host, &def, &circuit, err);
    if (status == CUZK_OK) {
        status = random_scalars(host, &secrets.alpha, sizeof secrets / sizeof(fr_t), err);
        if (status == CUZK_OK)
            status = groth16_setup(host, circuit, &secrets, params_file, vk_file, err);
        if (status == CUZK_OK) status = groth16_params_open(host, params_file, &params, err);
        if (status == CUZK_OK) {
            status = prove_toy(host, circuit, &def, params, err);
            groth16_params_close(host, params);
        }
        r1cs_free(host, circuit);
    }
    unlink(params_file);
    unlink(vk_file);
    rmdir(dir);
    return status;
}

static int run(int argc, char **argv, const cli_command *self) {
    static const struct {
        const char *name;
        cuzk_status (*fn)(const cuzk_host *host, cuzk_error *err);
    } tests[] = {
        {"hashes", test_hashes},
        {"pairing", test_pairing},
        {"msm", test_msm},
        {"ntt", test_ntt},
        {"set-up, prove, verify", test_groth16},
    };
    int code, failures = 0;
    cli_session s;
    cuzk_error err = {0};
    if (!cli_parse(argc, argv, self, NULL, 0, NULL, 0, &code)) return code;
    if (cli_session_open(&s, 0, true, &err) != CUZK_OK) return cli_report(self, &err);
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        const double start = cli_now();
        const cuzk_status status = tests[i].fn(s.host, &err);
        printf("%-24s %s (%.0f ms)\n", tests[i].name, status == CUZK_OK ? "ok" : err.text,
               (cli_now() - start) * 1e3);
        failures += status != CUZK_OK;
    }
    cli_session_close(&s);
    printf(failures == 0 ? "all known answers are right\n" : "%d FAILED\n", failures);
    return failures == 0 ? EXIT_OK : EXIT_FAILED;
}

const cli_command cmd_selftest = {
    .name = "selftest",
    .summary = "known answers on this machine, in seconds",
    .about = "Checks hashes, pairing, MSM, NTT and a whole proof with the code paths that this\n"
             "machine selects.",
    .run = run,
};
