/* Verification: e(A, B) = e(alpha, beta) e(IC, gamma) e(C, delta), IC = ic[0] + sum x_i ic[i+1]
 * (REFERENCE 10.4). */
#include "groth16/groth16_internal.h"

#define MILLER_CHUNK 8u /* pairs of one Miller loop task */

/* A proof that did not come from groth16_proof_read may hold anything. */
static cuzk_status proof_points_check(const groth16_proof *p, cuzk_error *err) {
    const char *bad = NULL;
    if (g1_affine_is_infinity(&p->a) || !g1_affine_is_on_curve(&p->a) ||
        !g1_affine_in_subgroup(&p->a))
        bad = "A";
    else if (g2_affine_is_infinity(&p->b) || !g2_affine_is_on_curve(&p->b) ||
             !g2_affine_in_subgroup(&p->b))
        bad = "B";
    else if (g1_affine_is_infinity(&p->c) || !g1_affine_is_on_curve(&p->c) ||
             !g1_affine_in_subgroup(&p->c))
        bad = "C";
    if (bad == NULL) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_INVALID_PROOF, "proof: point %s is not in the group", bad);
}

static cuzk_status inputs_fit(const groth16_vk *vk, size_t n, cuzk_error *err) {
    if (n == SIZE_MAX || n + 1 != vk->n_ic)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "%zu public inputs, the verifying key takes %zu",
                         n, vk->n_ic - 1);
    return CUZK_OK;
}

/* z = first ic[0] + sum x_i ic[i+1] */
static cuzk_status input_sum(const cuzk_host *host, const groth16_vk *vk, const fr_t *first,
                             const fr_t *x, g1_affine_t *z, cuzk_error *err) {
    const size_t n = vk->n_ic - 1;
    g1_t sum, t;
    CUZK_TRY(msm_g1(host, &sum, (msm_bases){vk->ic + 1, n, MSM_AFFINE}, x, n, err));
    g1_from_affine(&t, &vk->ic[0]);
    g1_mul_var(&t, &t, first);
    g1_add(&sum, &sum, &t);
    g1_to_affine(z, &sum);
    return CUZK_OK;
}

cuzk_status groth16_verify(const cuzk_host *host, const groth16_vk *vk, const groth16_proof *proof,
                           const fr_t *x, size_t n, cuzk_error *err) {
    CUZK_TRY(inputs_fit(vk, n, err));
    CUZK_TRY(proof_points_check(proof, err));
    const fr_t one = fr_one();
    g1_affine_t p[3] = {proof->a};
    const g2_affine_t q[3] = {proof->b, vk->gamma_g2, vk->delta_g2};
    CUZK_TRY(input_sum(host, vk, &one, x, &p[1], err));
    g1_affine_neg(&p[1], &p[1]);
    g1_affine_neg(&p[2], &proof->c);
    fp12_t f;
    pairing_miller(&f, p, q, 3);
    pairing_final_exponentiation(&f, &f);
    if (!fp12_eq(&f, &vk->alpha_beta))
        return cuzk_fail(err, CUZK_ERR_INVALID_PROOF,
                         "the proof does not verify against these public inputs");
    return CUZK_OK;
}

/* ---- many proofs ---- */

/* A non-zero coefficient of 128 bits. */
static cuzk_status coefficient_random(const cuzk_host *host, fr_t *z, cuzk_error *err) {
    uint64_t plain[FR_LIMBS] = {0};
    do {
        const cuzk_status status = host->random(host->self, plain, 16);
        if (status != CUZK_OK) return cuzk_fail(err, status, "verification: no randomness");
    } while ((plain[0] | plain[1]) == 0);
    fr_from_limbs(z, plain);
    return CUZK_OK;
}

typedef struct batch {
    const groth16_proof *proofs;
    size_t n_proofs, n_pairs; /* n_pairs = n_proofs + 3 */
    fr_t *z, *inputs;         /* n_proofs coefficients; n combined inputs */
    g1_affine_t *p;
    g2_affine_t *q;
    fp12_t *f; /* Miller values by chunk */
} batch;

static void scale_task(void *arg, size_t j, unsigned worker) {
    (void)worker;
    const batch *b = arg;
    g1_t t;
    g1_from_affine(&t, &b->proofs[j].a);
    g1_mul_var(&t, &t, &b->z[j]);
    g1_to_affine(&b->p[j], &t);
    b->q[j] = b->proofs[j].b;
}

static void miller_task(void *arg, size_t task, unsigned worker) {
    (void)worker;
    const batch *b = arg;
    const size_t first = task * MILLER_CHUNK;
    pairing_miller(&b->f[task], b->p + first, b->q + first,
                   groth16_min(MILLER_CHUNK, b->n_pairs - first));
}

/* The last three pairs: (-sum z alpha, beta), (-sum z IC, gamma), (-sum z C, delta). */
static cuzk_status batch_tail(const cuzk_host *host, const groth16_vk *vk, batch *b, const fr_t *x,
                              size_t n, cuzk_error *err) {
    g1_affine_t *p = b->p + b->n_proofs;
    g2_affine_t *q = b->q + b->n_proofs;
    fr_t sum = fr_zero(), term;
    g1_t c = g1_infinity(), t;
    for (size_t i = 0; i < n; i++)
        b->inputs[i] = fr_zero();
    for (size_t j = 0; j < b->n_proofs; j++) {
        fr_add(&sum, &sum, &b->z[j]);
        for (size_t i = 0; i < n; i++) {
            fr_mul(&term, &b->z[j], &x[j * n + i]);
            fr_add(&b->inputs[i], &b->inputs[i], &term);
        }
        g1_from_affine(&t, &b->proofs[j].c);
        g1_mul_var(&t, &t, &b->z[j]);
        g1_add(&c, &c, &t);
    }
    g1_from_affine(&t, &vk->alpha_g1);
    g1_mul_var(&t, &t, &sum);
    g1_to_affine(&p[0], &t);
    CUZK_TRY(input_sum(host, vk, &sum, b->inputs, &p[1], err));
    g1_to_affine(&p[2], &c);
    for (int k = 0; k < 3; k++)
        g1_affine_neg(&p[k], &p[k]);
    q[0] = vk->beta_g2;
    q[1] = vk->gamma_g2;
    q[2] = vk->delta_g2;
    return CUZK_OK;
}

static cuzk_status batch_alloc(const cuzk_host *host, batch *b, size_t n, cuzk_error *err) {
    void *z = NULL, *inputs = NULL, *p = NULL, *q = NULL, *f = NULL;
    cuzk_status status = cuzk_host_alloc(host, &z, b->n_proofs, sizeof *b->z, "verification", err);
    if (status == CUZK_OK)
        status = cuzk_host_alloc(host, &inputs, n, sizeof *b->inputs, "verification", err);
    if (status == CUZK_OK)
        status = cuzk_host_alloc(host, &p, b->n_pairs, sizeof *b->p, "verification", err);
    if (status == CUZK_OK)
        status = cuzk_host_alloc(host, &q, b->n_pairs, sizeof *b->q, "verification", err);
    if (status == CUZK_OK)
        status = cuzk_host_alloc(host, &f, b->n_pairs / MILLER_CHUNK + 1, sizeof *b->f,
                                 "verification", err);
    b->z = z;
    b->inputs = inputs;
    b->p = p;
    b->q = q;
    b->f = f;
    return status;
}

static void batch_free(const cuzk_host *host, batch *b, size_t n) {
    cuzk_host_free(host, b->z, b->n_proofs, sizeof *b->z);
    cuzk_host_free(host, b->inputs, n, sizeof *b->inputs);
    cuzk_host_free(host, b->p, b->n_pairs, sizeof *b->p);
    cuzk_host_free(host, b->q, b->n_pairs, sizeof *b->q);
    cuzk_host_free(host, b->f, b->n_pairs / MILLER_CHUNK + 1, sizeof *b->f);
}

static cuzk_status batch_verify(const cuzk_host *host, const groth16_vk *vk, batch *b,
                                const fr_t *x, size_t n, cuzk_error *err) {
    for (size_t j = 0; j < b->n_proofs; j++)
        CUZK_TRY(coefficient_random(host, &b->z[j], err));
    cuzk_host_parallel(host, b->n_proofs, scale_task, b);
    CUZK_TRY(batch_tail(host, vk, b, x, n, err));
    const size_t chunks = (b->n_pairs + MILLER_CHUNK - 1) / MILLER_CHUNK;
    cuzk_host_parallel(host, chunks, miller_task, b);
    fp12_t f = b->f[0];
    for (size_t i = 1; i < chunks; i++)
        fp12_mul(&f, &f, &b->f[i]);
    pairing_final_exponentiation(&f, &f);
    if (!fp12_is_one(&f))
        return cuzk_fail(err, CUZK_ERR_INVALID_PROOF,
                         "of %zu proofs at least one does not verify against its public inputs",
                         b->n_proofs);
    return CUZK_OK;
}

cuzk_status groth16_verify_many(const cuzk_host *host, const groth16_vk *vk,
                                const groth16_proof *proofs, size_t n_proofs, const fr_t *x,
                                size_t n, cuzk_error *err) {
    if (n_proofs == 0) return cuzk_fail(err, CUZK_ERR_ARGUMENT, "verification: no proofs given");
    if (n_proofs == 1) return groth16_verify(host, vk, proofs, x, n, err);
    CUZK_TRY(inputs_fit(vk, n, err));
    if (host->random == NULL)
        return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "verification: the host has no randomness");
    for (size_t j = 0; j < n_proofs; j++) {
        const cuzk_status status = proof_points_check(&proofs[j], err);
        if (status != CUZK_OK)
            return cuzk_error_context(err, status, "proof %zu of %zu", j, n_proofs);
    }
    batch b = {.proofs = proofs, .n_proofs = n_proofs, .n_pairs = n_proofs + 3};
    cuzk_status status = batch_alloc(host, &b, n, err);
    if (status == CUZK_OK) status = batch_verify(host, vk, &b, x, n, err);
    batch_free(host, &b, n);
    return status;
}

/* ---- bytes ---- */

static cuzk_status bytes_decode(const uint8_t *proof_bytes, size_t n_proofs,
                                const uint8_t *input_bytes, size_t n, groth16_proof *proofs,
                                fr_t *x, cuzk_error *err) {
    for (size_t j = 0; j < n_proofs; j++) {
        const cuzk_status status =
            groth16_proof_read(&proofs[j], proof_bytes + j * GROTH16_PROOF_BYTES, err);
        if (status != CUZK_OK)
            return cuzk_error_context(err, status, "proof %zu of %zu", j, n_proofs);
        for (size_t i = 0; i < n; i++)
            if (fr_from_bytes(&x[j * n + i], input_bytes + (j * n + i) * FR_BYTES) != CUZK_OK)
                return cuzk_fail(err, CUZK_ERR_NOT_CANONICAL,
                                 "public input %zu of proof %zu is not below the group order", i,
                                 j);
    }
    return CUZK_OK;
}

cuzk_status groth16_verify_bytes(const cuzk_host *host, const groth16_vk *vk,
                                 const uint8_t *proof_bytes, size_t bytes, size_t n_proofs,
                                 const uint8_t *input_bytes, size_t n, cuzk_error *err) {
    CUZK_TRY(inputs_fit(vk, n, err));
    size_t expected = 0, n_x = 0;
    if (n_proofs == 0 || !cuzk_mul_size(n_proofs, GROTH16_PROOF_BYTES, &expected) ||
        bytes != expected)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%zu proofs have %zu bytes, not %zu", n_proofs,
                         expected, bytes);
    if (!cuzk_mul_size(n_proofs, n, &n_x))
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%zu proofs with %zu inputs each overflow",
                         n_proofs, n);
    void *proofs = NULL, *x = NULL;
    cuzk_status status =
        cuzk_host_alloc(host, &proofs, n_proofs, sizeof(groth16_proof), "proofs", err);
    if (status == CUZK_OK) status = cuzk_host_alloc(host, &x, n_x, sizeof(fr_t), "inputs", err);
    if (status == CUZK_OK)
        status = bytes_decode(proof_bytes, n_proofs, input_bytes, n, proofs, x, err);
    if (status == CUZK_OK) status = groth16_verify_many(host, vk, proofs, n_proofs, x, n, err);
    cuzk_host_free(host, proofs, n_proofs, sizeof(groth16_proof));
    cuzk_host_free(host, x, n_x, sizeof(fr_t));
    return status;
}
