/* Set-up, proving and verification end to end on a small circuit. */
#include "toy_circuit.h"

#include "groth16/groth16_internal.h"
#include "poly/ntt.h"

TEST(proves_and_verifies) {
    cuzk_error err;
    toy_bench b;
    toy_bench_open(&b, 6);
    for (uint64_t seed = 1; seed <= 3; seed++) {
        witness w;
        groth16_proof proof, again;
        uint8_t bytes[GROTH16_PROOF_BYTES], bytes_again[GROTH16_PROOF_BYTES];
        toy_witness(&b, seed, &w);
        toy_prove(&b, &w, &proof);
        groth16_proof_write(&proof, bytes);
        CHECK_OK(groth16_proof_read(&again, bytes, &err));
        CHECK_OK(groth16_verify(b.host, b.params->vk, &again, w.inputs + 1, w.n_inputs - 1, &err));
        toy_prove(&b, &w, &again); /* fresh blinding: another proof of the same */
        groth16_proof_write(&again, bytes_again);
        CHECK(memcmp(bytes, bytes_again, 48) != 0);
        CHECK(memcmp(bytes + 48, bytes_again + 48, 96) != 0);
        CHECK(memcmp(bytes + 144, bytes_again + 144, 48) != 0);
        witness_free(b.host, &w);
    }
    toy_bench_close(&b);
}

/* ---- the QAP against interpolation, the sums against the secrets ---- */

/* The polynomial of one variable in matrix m at tau, through its column's coefficients. */
static void qap_by_interpolation(const toy_bench *b, const ntt_domain *domain, int m, cs_var var,
                                 fr_t *z) {
    const r1cs *c = b->circuit;
    const size_t size = (size_t)1 << c->log2_domain, cap = r1cs_max_row_terms(c);
    fr_t *column = calloc(size, sizeof *column);
    cs_var *vars = calloc(cap, sizeof *vars);
    uint16_t *coefs = calloc(cap, sizeof *coefs);
    for (uint64_t row = 0; row < c->rows + c->inputs; row++) {
        const size_t n = r1cs_row(c, m, row, vars, coefs);
        for (size_t i = 0; i < n; i++)
            if (vars[i] == var) column[row] = c->dict[coefs[i]];
    }
    ntt_inverse(b->host, domain, column);
    *z = fr_zero();
    for (size_t i = size; i-- > 0;) {
        fr_mul(z, z, &b->secrets.tau);
        fr_add(z, z, &column[i]);
    }
    free(column);
    free(vars);
    free(coefs);
}

TEST(qap_equals_interpolation) {
    cuzk_error err;
    toy_bench b;
    groth16_qap qap;
    ntt_domain *domain = NULL;
    toy_bench_open(&b, 6);
    CHECK_OK(groth16_qap_new(b.host, b.circuit, &b.secrets.tau, &qap, &err));
    CHECK_OK(ntt_domain_new(b.host, b.circuit->log2_domain, &domain, &err));
    for (int m = 0; m < 3; m++) {
        for (size_t i = 0; i < qap.inputs + qap.aux; i += i < 80 ? 1 : 17) {
            fr_t want;
            const cs_var var =
                i < qap.inputs ? (cs_var)i | CS_INPUT_FLAG : (cs_var)(i - qap.inputs);
            qap_by_interpolation(&b, domain, m, var, &want);
            CHECK(fr_eq(&want, &qap.at_tau[m][i]));
        }
    }
    groth16_qap_free(b.host, &qap);
    fr_t root; /* a tau inside the domain */
    ntt_root_of_unity(b.circuit->log2_domain, &root);
    CHECK_STATUS(groth16_qap_new(b.host, b.circuit, &root, &qap, &err), CUZK_ERR_ARGUMENT);
    ntt_domain_free(b.host, domain);
    toy_bench_close(&b);
}

/* sum of w_i v[i] over inputs and aux, or aux only */
static void weighted(const toy_bench *b, const witness *w, const fr_t *v, bool aux_only, fr_t *z) {
    *z = fr_zero();
    for (uint64_t i = aux_only ? w->n_inputs : 0; i < w->n_inputs + w->n_aux; i++) {
        fr_t value;
        if (i < w->n_inputs)
            value = w->inputs[i];
        else
            witness_aux(b->circuit, w, i - w->n_inputs, &value);
        fr_mul(&value, &value, &v[i]);
        fr_add(z, z, &value);
    }
}

static bool is_g1_power(const g1_t *p, const fr_t *k) {
    g1_t g;
    g1_from_affine(&g, &g1_generator);
    g1_mul_var(&g, &g, k);
    return g1_eq(p, &g);
}

TEST(sums_equal_the_exponents) {
    cuzk_error err;
    toy_bench b;
    groth16_qap qap;
    executor *ex = NULL;
    toy_bench_open(&b, 6);
    CHECK_OK(groth16_qap_new(b.host, b.circuit, &b.secrets.tau, &qap, &err));
    CHECK_OK(executor_cpu_open(b.host, &ex, &err));
    CHECK_OK(ex->ops->load(ex, &b.key, &err));
    for (uint64_t seed = 1; seed <= 3; seed++) {
        witness w;
        groth16_sums sums;
        executor_timing timing;
        toy_witness(&b, seed, &w);
        CHECK_OK(ex->ops->begin(ex, 0, &w, &err));
        CHECK_OK(ex->ops->finish(ex, 0, &sums, &timing, &err));
        CHECK(timing.eval_ms > 0 && timing.ntt_ms > 0 && timing.msm_ms > 0);
        CHECK(timing.total_ms >= timing.eval_ms + timing.ntt_ms);

        fr_t a, bb, c, l, t, h, inverse_delta;
        fr_inv(&inverse_delta, &b.secrets.delta);
        weighted(&b, &w, qap.at_tau[R1CS_A], false, &a);
        weighted(&b, &w, qap.at_tau[R1CS_B], false, &bb);
        weighted(&b, &w, qap.at_tau[R1CS_C], false, &c);
        CHECK(is_g1_power(&sums.a, &a));
        CHECK(is_g1_power(&sums.b_g1, &bb));
        g2_t g2;
        g2_from_affine(&g2, &g2_generator);
        g2_mul_var(&g2, &g2, &bb);
        CHECK(g2_eq(&sums.b_g2, &g2));
        fr_mul(&h, &a, &bb); /* h(tau) t(tau) = a b - c */
        fr_sub(&h, &h, &c);
        fr_mul(&h, &h, &inverse_delta);
        CHECK(is_g1_power(&sums.h, &h));
        weighted(&b, &w, qap.at_tau[R1CS_A], true, &t);
        fr_mul(&l, &t, &b.secrets.beta);
        weighted(&b, &w, qap.at_tau[R1CS_B], true, &t);
        fr_mul(&t, &t, &b.secrets.alpha);
        fr_add(&l, &l, &t);
        weighted(&b, &w, qap.at_tau[R1CS_C], true, &t);
        fr_add(&l, &l, &t);
        fr_mul(&l, &l, &inverse_delta);
        CHECK(is_g1_power(&sums.l, &l));
        witness_free(b.host, &w);
    }
    ex->ops->close(ex);
    groth16_qap_free(b.host, &qap);
    toy_bench_close(&b);
}

/* ---- refusals ---- */

TEST(any_flipped_bit_is_refused) {
    cuzk_error err;
    toy_bench b;
    witness w;
    groth16_proof proof;
    uint8_t bytes[GROTH16_PROOF_BYTES], inputs[64 * FR_BYTES];
    toy_bench_open(&b, 6);
    toy_witness(&b, 1, &w);
    toy_prove(&b, &w, &proof);
    groth16_proof_write(&proof, bytes);
    const size_t n = w.n_inputs - 1;
    for (size_t i = 0; i < n; i++)
        fr_to_bytes(inputs + i * FR_BYTES, &w.inputs[i + 1]);
    const groth16_vk *vk = b.params->vk;
    CHECK_OK(groth16_verify_bytes(b.host, vk, bytes, sizeof bytes, 1, inputs, n, &err));
    for (size_t bit = 0; bit < 8 * sizeof bytes; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        const cuzk_status s =
            groth16_verify_bytes(b.host, vk, bytes, sizeof bytes, 1, inputs, n, &err);
        CHECK(s == CUZK_ERR_INVALID_PROOF || s == CUZK_ERR_FORMAT || s == CUZK_ERR_NOT_CANONICAL ||
              s == CUZK_ERR_NOT_ON_CURVE || s == CUZK_ERR_NOT_IN_GROUP || s == CUZK_ERR_INFINITY);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    for (size_t i = 0; i < n; i++) { /* one bit of each input, and the input plus r */
        uint8_t saved[FR_BYTES];
        memcpy(saved, inputs + i * FR_BYTES, FR_BYTES);
        inputs[i * FR_BYTES + i % 31] ^= 8;
        CHECK_STATUS(groth16_verify_bytes(b.host, vk, bytes, sizeof bytes, 1, inputs, n, &err),
                     CUZK_ERR_INVALID_PROOF);
        memcpy(inputs + i * FR_BYTES, saved, FR_BYTES);
        uint64_t limbs[FR_LIMBS], carry = 0;
        memcpy(limbs, saved, sizeof limbs);
        for (int k = 0; k < FR_LIMBS; k++) {
            const unsigned __int128 t = (unsigned __int128)limbs[k] + cuzk_fr_prime.p[k] + carry;
            limbs[k] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        REQUIRE(carry == 0); /* 2 r < 2^256 */
        memcpy(inputs + i * FR_BYTES, limbs, sizeof limbs);
        CHECK_STATUS(groth16_verify_bytes(b.host, vk, bytes, sizeof bytes, 1, inputs, n, &err),
                     CUZK_ERR_NOT_CANONICAL);
        memcpy(inputs + i * FR_BYTES, saved, FR_BYTES);
    }
    CHECK_STATUS(groth16_verify_bytes(b.host, vk, bytes, 191, 1, inputs, n, &err), CUZK_ERR_FORMAT);
    CHECK_STATUS(groth16_verify_bytes(b.host, vk, bytes, 192, 2, inputs, n, &err), CUZK_ERR_FORMAT);
    CHECK_STATUS(groth16_verify_bytes(b.host, vk, bytes, 0, 0, inputs, n, &err), CUZK_ERR_FORMAT);
    CHECK_STATUS(groth16_verify_bytes(b.host, vk, bytes, 192, 1, inputs, n - 1, &err),
                 CUZK_ERR_MISMATCH);
    CHECK_OK(groth16_verify_bytes(b.host, vk, bytes, sizeof bytes, 1, inputs, n, &err));
    witness_free(b.host, &w);
    toy_bench_close(&b);
}

TEST(wrong_inputs_are_refused) {
    cuzk_error err;
    toy_bench b;
    witness w;
    groth16_proof proof;
    const fr_t one = fr_one();
    toy_bench_open(&b, 6);
    toy_witness(&b, 1, &w);
    toy_prove(&b, &w, &proof);
    const groth16_vk *vk = b.params->vk;
    const size_t n = w.n_inputs - 1;
    for (size_t i = 1; i <= n; i++) {
        const fr_t saved = w.inputs[i];
        fr_add(&w.inputs[i], &w.inputs[i], &one);
        CHECK_STATUS(groth16_verify(b.host, vk, &proof, w.inputs + 1, n, &err),
                     CUZK_ERR_INVALID_PROOF);
        w.inputs[i] = saved;
    }
    CHECK_STATUS(groth16_verify(b.host, vk, &proof, w.inputs + 1, n - 1, &err), CUZK_ERR_MISMATCH);
    CHECK_STATUS(groth16_verify(b.host, vk, &proof, w.inputs + 1, n + 1, &err), CUZK_ERR_MISMATCH);
    CHECK_STATUS(groth16_verify(b.host, vk, &proof, w.inputs + 1, SIZE_MAX, &err),
                 CUZK_ERR_MISMATCH);
    groth16_proof bad = proof; /* points that no decoder has seen */
    fp_add(&bad.a.x, &bad.a.x, &bad.a.y);
    CHECK_STATUS(groth16_verify(b.host, vk, &bad, w.inputs + 1, n, &err), CUZK_ERR_INVALID_PROOF);
    bad = proof;
    memset(&bad.b, 0, sizeof bad.b);
    CHECK_STATUS(groth16_verify(b.host, vk, &bad, w.inputs + 1, n, &err), CUZK_ERR_INVALID_PROOF);
    bad = proof;
    memset(&bad.c, 0, sizeof bad.c);
    CHECK_STATUS(groth16_verify(b.host, vk, &bad, w.inputs + 1, n, &err), CUZK_ERR_INVALID_PROOF);
    /* Malleability, as documented: (-A, -B, C) is a second proof of the same. */
    g1_affine_neg(&bad.a, &proof.a);
    g2_affine_neg(&bad.b, &proof.b);
    bad.c = proof.c;
    CHECK_OK(groth16_verify(b.host, vk, &bad, w.inputs + 1, n, &err));
    witness_free(b.host, &w);
    toy_bench_close(&b);
}

TEST(infinity_in_a_proof_is_refused) {
    cuzk_error err;
    groth16_proof p;
    const struct { size_t at, bytes; } points[] = {{0, 48}, {48, 96}, {144, 48}};
    for (int k = 0; k < 3; k++) {
        uint8_t bytes[GROTH16_PROOF_BYTES];
        g1_write_compressed(bytes, &g1_generator);
        g2_write_compressed(bytes + 48, &g2_generator);
        g1_write_compressed(bytes + 144, &g1_generator);
        CHECK_OK(groth16_proof_read(&p, bytes, &err));
        memset(bytes + points[k].at, 0, points[k].bytes);
        bytes[points[k].at] = 0xc0;
        CHECK_STATUS(groth16_proof_read(&p, bytes, &err), CUZK_ERR_INFINITY);
        CHECK(strchr(err.text, "ABC"[k]) != NULL);
    }
}

#define MANY 11
TEST(one_bad_proof_among_many_is_found) {
    cuzk_error err;
    toy_bench b;
    witness w[MANY];
    groth16_proof proofs[MANY];
    toy_bench_open(&b, 6);
    const size_t n = b.circuit->inputs - 1;
    fr_t *x = calloc(MANY * n, sizeof *x);
    for (size_t j = 0; j < MANY; j++) {
        toy_witness(&b, 100 + j, &w[j]);
        toy_prove(&b, &w[j], &proofs[j]);
        memcpy(x + j * n, w[j].inputs + 1, n * sizeof *x);
    }
    const groth16_vk *vk = b.params->vk;
    for (size_t k = 1; k <= MANY; k++)
        CHECK_OK(groth16_verify_many(b.host, vk, proofs, k, x, n, &err));
    const fr_t one = fr_one();
    for (size_t j = 0; j < MANY; j++) {
        const groth16_proof good = proofs[j];
        const fr_t good_x = x[j * n + j % n];
        proofs[j].c = proofs[(j + 1) % MANY].c;
        CHECK_STATUS(groth16_verify_many(b.host, vk, proofs, MANY, x, n, &err),
                     CUZK_ERR_INVALID_PROOF);
        proofs[j] = good;
        fr_add(&x[j * n + j % n], &good_x, &one);
        CHECK_STATUS(groth16_verify_many(b.host, vk, proofs, MANY, x, n, &err),
                     CUZK_ERR_INVALID_PROOF);
        x[j * n + j % n] = good_x;
    }
    /* Errors that cancel without the random coefficients: C + D in one, C - D in another. */
    g1_t c;
    g1_from_affine(&c, &proofs[0].c);
    g1_add_affine(&c, &c, &g1_generator);
    g1_to_affine(&proofs[0].c, &c);
    g1_from_affine(&c, &proofs[1].c);
    g1_sub_affine(&c, &c, &g1_generator);
    g1_to_affine(&proofs[1].c, &c);
    CHECK_STATUS(groth16_verify_many(b.host, vk, proofs, MANY, x, n, &err), CUZK_ERR_INVALID_PROOF);
    CHECK_STATUS(groth16_verify_many(b.host, vk, proofs, 0, x, n, &err), CUZK_ERR_ARGUMENT);
    CHECK_STATUS(groth16_verify_many(b.host, vk, proofs, MANY, x, n - 1, &err), CUZK_ERR_MISMATCH);
    for (size_t j = 0; j < MANY; j++)
        witness_free(b.host, &w[j]);
    free(x);
    toy_bench_close(&b);
}

/* ---- the executor ---- */

TEST(executor_refuses_what_does_not_fit) {
    cuzk_error err;
    toy_bench b, other;
    witness w;
    executor *ex = NULL;
    groth16_sums sums;
    groth16_proof proof;
    groth16_blinding rs = {fr_one(), fr_zero()};
    toy_bench_open(&b, 6);
    toy_bench_open(&other, 7);
    toy_witness(&b, 1, &w);
    CHECK_OK(executor_cpu_open(b.host, &ex, &err));
    executor_info info;
    ex->ops->info(ex, &info);
    CHECK(strcmp(info.kind, "cpu") == 0 && info.slots == 1 && info.ordinal == -1);
    CHECK(strcmp(info.name, "CPU (2 threads)") == 0);
    CHECK_STATUS(ex->ops->begin(ex, 0, &w, &err), CUZK_ERR_ARGUMENT);
    CHECK_STATUS(ex->ops->finish(ex, 0, &sums, NULL, &err), CUZK_ERR_ARGUMENT);
    const executor_key mixed = {.circuit_id = "toy", .circuit = b.circuit, .params = other.params};
    CHECK_STATUS(ex->ops->load(ex, &mixed, &err), CUZK_ERR_MISMATCH);
    CHECK(strstr(err.text, "ic has 9 points") != NULL);
    CHECK_OK(ex->ops->load(ex, &other.key, &err));
    CHECK_STATUS(ex->ops->begin(ex, 0, &w, &err), CUZK_ERR_MISMATCH);
    CHECK_OK(ex->ops->load(ex, &b.key, &err)); /* takes the place of the other key */
    CHECK_STATUS(ex->ops->begin(ex, 1, &w, &err), CUZK_ERR_ARGUMENT);
    CHECK_OK(ex->ops->begin(ex, 0, &w, &err));
    CHECK_STATUS(ex->ops->begin(ex, 0, &w, &err), CUZK_ERR_ARGUMENT);
    CHECK_OK(ex->ops->finish(ex, 0, &sums, NULL, &err));
    CHECK_OK(executor_prove(ex, &b.key, &w, &rs, &proof, NULL, &err));
    rs.r = fr_zero();
    CHECK_STATUS(executor_prove(ex, &b.key, &w, &rs, &proof, NULL, &err), CUZK_ERR_ARGUMENT);
    /* A witness that does not satisfy the circuit gives no proof. */
    rs.r = fr_one();
    w.bits[0] ^= 16;
    CHECK_STATUS(executor_prove(ex, &b.key, &w, &rs, &proof, NULL, &err), CUZK_ERR_INVALID_PROOF);
    w.bits[0] ^= 16;
    CHECK_OK(executor_prove(ex, &b.key, &w, &rs, &proof, NULL, &err));
    ex->ops->unload(ex);
    CHECK_STATUS(ex->ops->begin(ex, 0, &w, &err), CUZK_ERR_ARGUMENT);
    ex->ops->close(ex);
    witness_free(b.host, &w);
    toy_bench_close(&other);
    toy_bench_close(&b);
}

TEST(fixed_blinding_repeats_and_random_differs) {
    cuzk_error err;
    groth16_blinding a, c;
    groth16_secrets x, y;
    host_std *std = NULL;
    CHECK_OK(host_std_new(1, 0, &std, &err));
    const cuzk_host *host = host_std_host(std);
    CHECK_OK(groth16_blinding_random(host, &a, &err));
    CHECK_OK(groth16_blinding_random(host, &c, &err));
    CHECK(!fr_eq(&a.r, &c.r) && !fr_eq(&a.s, &c.s) && !fr_eq(&a.r, &a.s));
    groth16_blinding_wipe(&a);
    CHECK(fr_is_zero(&a.r) && fr_is_zero(&a.s));
    CHECK_OK(groth16_secrets_random(host, &x, &err));
    CHECK_OK(groth16_secrets_random(host, &y, &err));
    CHECK(!fr_eq(&x.tau, &y.tau) && !fr_eq(&x.delta, &x.gamma));
    cuzk_host deaf = *host; /* without a source of randomness: refuse, never guess */
    deaf.random = NULL;
    CHECK_STATUS(groth16_blinding_random(&deaf, &a, &err), CUZK_ERR_UNSUPPORTED);
    CHECK_STATUS(groth16_secrets_random(&deaf, &x, &err), CUZK_ERR_UNSUPPORTED);
    host_std_free(std);
}

TEST(bad_secrets_are_refused) {
    cuzk_error err;
    toy_bench b;
    char path[128];
    toy_bench_open(&b, 6);
    snprintf(path, sizeof path, "%s/other.params", b.dir);
    fr_t *const values[] = {&b.secrets.alpha, &b.secrets.beta, &b.secrets.gamma, &b.secrets.delta,
                            &b.secrets.tau};
    for (int i = 0; i < 5; i++) {
        const fr_t saved = *values[i];
        *values[i] = fr_zero();
        CHECK_STATUS(groth16_setup(b.host, b.circuit, &b.secrets, path, b.vk_path, &err),
                     CUZK_ERR_ARGUMENT);
        *values[i] = saved;
    }
    const fr_t delta = b.secrets.delta;
    b.secrets.delta = b.secrets.gamma;
    CHECK_STATUS(groth16_setup(b.host, b.circuit, &b.secrets, path, b.vk_path, &err),
                 CUZK_ERR_ARGUMENT);
    b.secrets.delta = fr_one();
    CHECK_STATUS(groth16_setup(b.host, b.circuit, &b.secrets, path, b.vk_path, &err),
                 CUZK_ERR_ARGUMENT);
    b.secrets.delta = delta;
    CHECK(access(path, F_OK) != 0);
    toy_bench_close(&b);
}

TEST(cancelling_leaves_nothing) {
    cuzk_error err;
    toy_bench b;
    witness w;
    executor *ex = NULL;
    groth16_sums sums;
    char path[128];
    toy_bench_open(&b, 6);
    toy_witness(&b, 1, &w);
    CHECK_OK(executor_cpu_open(b.host, &ex, &err));
    CHECK_OK(ex->ops->load(ex, &b.key, &err));
    host_std_cancel(b.std);
    snprintf(path, sizeof path, "%s/other.params", b.dir);
    CHECK_STATUS(groth16_setup(b.host, b.circuit, &b.secrets, path, b.vk_path, &err),
                 CUZK_ERR_CANCELLED);
    CHECK(access(path, F_OK) != 0);
    CHECK_OK(ex->ops->begin(ex, 0, &w, &err));
    CHECK_STATUS(ex->ops->finish(ex, 0, &sums, NULL, &err), CUZK_ERR_CANCELLED);
    CHECK_STATUS(groth16_params_check(b.host, b.params, CURVE_CHECK_ENCODING, &err),
                 CUZK_ERR_CANCELLED);
    ex->ops->close(ex);
    witness_free(b.host, &w);
    toy_bench_close(&b); /* finds left files and memory */
}

/* Every allocation in turn refused: an error, and nothing leaks. */
typedef struct failing_host {
    const cuzk_host *inner;
    long left; /* allocations before the first refused one */
} failing_host;
static void *failing_alloc(void *self, size_t bytes) {
    failing_host *f = self;
    return f->left-- <= 0 ? NULL : f->inner->alloc(f->inner->self, bytes);
}
static void failing_free(void *self, void *memory, size_t bytes) {
    const failing_host *f = self;
    f->inner->free(f->inner->self, memory, bytes);
}
static cuzk_status failing_random(void *self, void *out, size_t bytes) {
    const failing_host *f = self;
    return f->inner->random(f->inner->self, out, bytes);
}

typedef struct phase_job {
    toy_bench *b;
    const witness *w;
    char path[128], vk_path[128];
} phase_job;

static cuzk_status phase_setup(const cuzk_host *host, const phase_job *j) {
    cuzk_error err;
    return groth16_setup(host, j->b->circuit, &j->b->secrets, j->path, j->vk_path, &err);
}

static cuzk_status phase_prove(const cuzk_host *host, const phase_job *j) {
    cuzk_error err;
    executor *ex = NULL;
    groth16_params *params = NULL;
    groth16_proof proofs[2];
    const groth16_blinding rs = {fr_one(), fr_one()};
    CUZK_TRY(groth16_params_open(host, j->b->params_path, &params, &err));
    const executor_key key = {.circuit_id = "toy", .circuit = j->b->circuit, .params = params};
    cuzk_status status = executor_cpu_open(host, &ex, &err);
    if (status == CUZK_OK) status = ex->ops->load(ex, &key, &err);
    if (status == CUZK_OK) status = executor_prove(ex, &key, j->w, &rs, &proofs[0], NULL, &err);
    if (status == CUZK_OK) {
        fr_t x[64];
        const size_t n = j->w->n_inputs - 1;
        proofs[1] = proofs[0];
        for (size_t k = 0; k < 2; k++)
            memcpy(x + k * n, j->w->inputs + 1, n * sizeof(fr_t));
        status = groth16_verify_many(host, params->vk, proofs, 2, x, n, &err);
    }
    if (ex != NULL) ex->ops->close(ex);
    groth16_params_close(host, params);
    return status;
}

static void refuse_each(cuzk_status (*phase)(const cuzk_host *host, const phase_job *j),
                        const phase_job *j) {
    const uint64_t used = host_std_used(j->b->std);
    cuzk_status status = CUZK_ERR_NO_MEMORY;
    long n = 0;
    for (; status != CUZK_OK && n < 2000; n++) {
        failing_host f = {j->b->host, n};
        const cuzk_host host = {.self = &f,
                                .alloc = failing_alloc,
                                .free = failing_free,
                                .workers = 1,
                                .random = failing_random};
        status = phase(&host, j);
        CHECK(status == CUZK_OK || status == CUZK_ERR_NO_MEMORY);
        CHECK_U64(host_std_used(j->b->std), used);
    }
    CHECK_STATUS(status, CUZK_OK);
    CHECK(n > 10);
}

TEST(every_refused_allocation_is_an_error) {
    toy_bench b;
    witness w;
    toy_bench_open(&b, 2);
    toy_witness(&b, 1, &w);
    phase_job j = {.b = &b, .w = &w};
    snprintf(j.path, sizeof j.path, "%s/other.params", b.dir);
    snprintf(j.vk_path, sizeof j.vk_path, "%s/other.vk", b.dir);
    refuse_each(phase_setup, &j);
    refuse_each(phase_prove, &j);
    unlink(j.path);
    unlink(j.vk_path);
    witness_free(b.host, &w);
    toy_bench_close(&b);
}

/* No memory goes back to the host with a FIELD value of the witness in it. */
typedef struct scanning_host {
    const cuzk_host *inner;
    const witness *w;
    size_t found;
} scanning_host;
static void *scanning_alloc(void *self, size_t bytes) {
    const scanning_host *s = self;
    return s->inner->alloc(s->inner->self, bytes);
}
static size_t scan(const scanning_host *s, const void *memory, size_t bytes) {
    size_t found = 0;
    for (size_t i = 0; i + sizeof(fr_t) <= bytes; i += 8)
        for (uint64_t k = 0; k < s->w->n_fields; k++)
            found += memcmp((const uint8_t *)memory + i, &s->w->fields[k], sizeof(fr_t)) == 0;
    return found;
}
static void scanning_free(void *self, void *memory, size_t bytes) {
    scanning_host *s = self;
    if (memory != NULL) s->found += scan(s, memory, bytes);
    s->inner->free(s->inner->self, memory, bytes);
}

TEST(freed_memory_holds_no_witness) {
    cuzk_error err;
    toy_bench b;
    witness w;
    executor *ex = NULL;
    groth16_sums sums;
    toy_bench_open(&b, 2);
    toy_witness(&b, 1, &w);
    scanning_host s = {b.host, &w, 0};
    const cuzk_host host = {
        .self = &s, .alloc = scanning_alloc, .free = scanning_free, .workers = 1};
    CHECK(scan(&s, w.fields, w.n_fields * sizeof(fr_t)) >= w.n_fields); /* it would be found */
    CHECK_OK(executor_cpu_open(&host, &ex, &err));
    CHECK_OK(ex->ops->load(ex, &b.key, &err));
    CHECK_OK(ex->ops->begin(ex, 0, &w, &err));
    CHECK_OK(ex->ops->finish(ex, 0, &sums, NULL, &err));
    ex->ops->close(ex);
    CHECK_U64(s.found, 0);
    witness_free(b.host, &w);
    toy_bench_close(&b);
}

TEST_MAIN(RUN(proves_and_verifies), RUN(qap_equals_interpolation), RUN(sums_equal_the_exponents),
          RUN(any_flipped_bit_is_refused), RUN(wrong_inputs_are_refused),
          RUN(infinity_in_a_proof_is_refused), RUN(one_bad_proof_among_many_is_found),
          RUN(executor_refuses_what_does_not_fit), RUN(fixed_blinding_repeats_and_random_differs),
          RUN(bad_secrets_are_refused), RUN(cancelling_leaves_nothing),
          RUN(every_refused_allocation_is_an_error), RUN(freed_memory_holds_no_witness))
