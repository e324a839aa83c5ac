/* Set-up from known secrets: scalars from the QAP at tau, then fixed-base multiplications streamed
 * into the parameter file. Layout and meaning of the sections: REFERENCE 2.2. */
#include "groth16/groth16_internal.h"

#include "base/bytes.h"
#include "base/file.h"

#define SETUP_CHUNK 65536u  /* points in memory at once */
#define VK_POINTS 64u       /* about as many as a verifying key has */
#define ENCODE_CHUNK 1024u  /* points of one encoding task */
#define SCALAR_CHUNK 16384u /* variables of one task */

typedef struct setup {
    const cuzk_host *host;
    const r1cs *circuit;
    const groth16_secrets *secrets;
    groth16_qap qap;
    msm_fixed_g1 *g1;
    msm_fixed_g2 *g2;
    file_writer *writer;
    groth16_encoder *encoder; /* NULL: g1 and g2 */
    size_t chunk;             /* points in memory at once */
    fr_t *scalars;            /* chunk */
    void *points;             /* chunk g2_affine_t, or g1_affine_t; unused with an encoder */
    uint8_t *bytes;           /* chunk encoded G2 points */
    uint8_t *vk;              /* vk_bytes: the verifying key as written */
    size_t vk_bytes;
    uint64_t done, total;
} setup;

/* ---- scalars ---- */

typedef struct numerator_job {
    const setup *s;
    fr_t inverse_gamma, inverse_delta;
} numerator_job;

/* C_i becomes (beta A_i + alpha B_i + C_i) / gamma for inputs, / delta for aux. */
static void numerator_task(void *arg, size_t task, unsigned worker) {
    (void)worker;
    const numerator_job *job = arg;
    const groth16_qap *qap = &job->s->qap;
    const size_t first = task * SCALAR_CHUNK;
    const size_t end = first + groth16_min(SCALAR_CHUNK, qap->inputs + qap->aux - first);
    for (size_t i = first; i < end; i++) {
        fr_t *sum = &qap->at_tau[R1CS_C][i], term;
        fr_mul(&term, &job->s->secrets->beta, &qap->at_tau[R1CS_A][i]);
        fr_add(sum, sum, &term);
        fr_mul(&term, &job->s->secrets->alpha, &qap->at_tau[R1CS_B][i]);
        fr_add(sum, sum, &term);
        fr_mul(sum, sum, i < qap->inputs ? &job->inverse_gamma : &job->inverse_delta);
    }
}

static cuzk_status numerators(setup *s, cuzk_error *err) {
    const size_t n = s->qap.inputs + s->qap.aux;
    numerator_job job = {.s = s};
    fr_inv(&job.inverse_gamma, &s->secrets->gamma);
    fr_inv(&job.inverse_delta, &s->secrets->delta);
    cuzk_host_parallel(s->host, (n + SCALAR_CHUNK - 1) / SCALAR_CHUNK, numerator_task, &job);
    for (size_t i = 0; i < n; i++) {
        if (!fr_is_zero(&s->qap.at_tau[R1CS_C][i])) continue;
        const bool input = i < s->qap.inputs;
        return cuzk_fail(err, CUZK_ERR_INFINITY, "circuit %s: %s %zu is unconstrained",
                         s->circuit->name, input ? "input" : "aux variable",
                         input ? i : i - s->qap.inputs);
    }
    return CUZK_OK;
}

static bool bit(const uint64_t *map, size_t i) {
    return (map[i / 64] >> (i % 64) & 1) != 0;
}

/* Move the values of the variables that occur in matrix m to the front; a missing input map means
 * all inputs. A zero among them would be a point that the file format cannot hold. */
static cuzk_status compact(setup *s, int m, const uint64_t *input_map, const uint64_t *aux_map,
                           size_t expected, cuzk_error *err) {
    fr_t *v = s->qap.at_tau[m];
    size_t n = 0;
    for (size_t i = 0; i < s->qap.inputs + s->qap.aux; i++) {
        const bool dense = i >= s->qap.inputs ? bit(aux_map, i - s->qap.inputs)
                                              : input_map == NULL || bit(input_map, i);
        if (!dense) continue;
        if (fr_is_zero(&v[i]))
            return cuzk_fail(err, CUZK_ERR_INFINITY,
                             "circuit %s: tau is a root of %s's polynomial of variable %zu",
                             s->circuit->name, m == R1CS_A ? "A" : "B", i);
        v[n++] = v[i];
    }
    if (n != expected)
        return cuzk_fail(err, CUZK_ERR_INTERNAL, "circuit %s: %zu dense variables, expected %zu",
                         s->circuit->name, n, expected);
    return CUZK_OK;
}

/* ---- points ---- */

typedef struct encode_job {
    const void *points;
    uint8_t *out;
    size_t n;
    bool g2;
} encode_job;

static void encode_task(void *arg, size_t task, unsigned worker) {
    (void)worker;
    const encode_job *job = arg;
    const size_t first = task * ENCODE_CHUNK,
                 end = first + groth16_min(ENCODE_CHUNK, job->n - first);
    for (size_t i = first; i < end; i++)
        if (job->g2)
            g2_write_uncompressed(job->out + i * G2_UNCOMPRESSED_BYTES,
                                  (const g2_affine_t *)job->points + i);
        else
            g1_write_uncompressed(job->out + i * G1_UNCOMPRESSED_BYTES,
                                  (const g1_affine_t *)job->points + i);
}

/* s->bytes = scalars[i] times the generator, i < n <= s->chunk. */
static cuzk_status encode(setup *s, const fr_t *scalars, size_t n, bool g2, cuzk_error *err) {
    if (s->encoder != NULL) return s->encoder->encode(s->encoder, scalars, n, g2, s->bytes, err);
    CUZK_TRY(g2 ? msm_fixed_g2_apply(s->host, s->g2, scalars, n, s->points, err)
                : msm_fixed_g1_apply(s->host, s->g1, scalars, n, s->points, err));
    encode_job job = {s->points, s->bytes, n, g2};
    cuzk_host_parallel(s->host, (n + ENCODE_CHUNK - 1) / ENCODE_CHUNK, encode_task, &job);
    return CUZK_OK;
}

static cuzk_status emit_chunk(setup *s, const fr_t *scalars, size_t n, bool g2, cuzk_error *err) {
    if (cuzk_host_cancelled(s->host)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "set-up cancelled");
    CUZK_TRY(encode(s, scalars, n, g2, err));
    CUZK_TRY(file_writer_write(s->writer, s->bytes,
                               n * (g2 ? G2_UNCOMPRESSED_BYTES : G1_UNCOMPRESSED_BYTES), err));
    s->done += n;
    cuzk_host_progress(s->host, "parameters", s->done, s->total);
    return CUZK_OK;
}

static cuzk_status emit_count(setup *s, size_t count, cuzk_error *err) {
    uint8_t bytes[4];
    if (count > UINT32_MAX)
        return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "a section of %zu points: at most 2^32 - 1",
                         count);
    store_be32(bytes, (uint32_t)count);
    return file_writer_write(s->writer, bytes, sizeof bytes, err);
}

static cuzk_status emit_section(setup *s, const fr_t *scalars, size_t count, bool g2,
                                cuzk_error *err) {
    CUZK_TRY(emit_count(s, count, err));
    for (size_t i = 0; i < count; i += s->chunk)
        CUZK_TRY(emit_chunk(s, scalars + i, groth16_min(s->chunk, count - i), g2, err));
    return CUZK_OK;
}

typedef struct powers_job {
    fr_t *out;
    const fr_t *tau;
    fr_t scale;
    size_t first, n; /* out[j] = scale tau^(first + j), j < n */
} powers_job;

static void powers_task(void *arg, size_t task, unsigned worker) {
    (void)worker;
    const powers_job *job = arg;
    const size_t first = task * SCALAR_CHUNK,
                 end = first + groth16_min(SCALAR_CHUNK, job->n - first);
    fr_t power;
    fr_pow_var(&power, job->tau, &(uint64_t){job->first + first}, 1);
    fr_mul(&power, &power, &job->scale);
    for (size_t j = first; j < end; j++) {
        job->out[j] = power;
        fr_mul(&power, &power, job->tau);
    }
}

/* h[i] = tau^i (tau^m - 1) / delta, i < m - 1. */
static cuzk_status emit_h(setup *s, cuzk_error *err) {
    const size_t count = ((size_t)1 << s->circuit->log2_domain) - 1;
    powers_job job = {.out = s->scalars, .tau = &s->secrets->tau};
    fr_inv(&job.scale, &s->secrets->delta);
    fr_mul(&job.scale, &job.scale, &s->qap.vanishing);
    CUZK_TRY(emit_count(s, count, err));
    for (; job.first < count; job.first += job.n) {
        job.n = groth16_min(s->chunk, count - job.first);
        cuzk_host_parallel(s->host, (job.n + SCALAR_CHUNK - 1) / SCALAR_CHUNK, powers_task, &job);
        CUZK_TRY(emit_chunk(s, s->scalars, job.n, false, err));
    }
    return CUZK_OK;
}

/* Needs numerators(); vk->ic is allocated here. */
static cuzk_status make_vk(setup *s, groth16_vk *vk, cuzk_error *err) {
    const groth16_secrets *x = s->secrets;
    g1_affine_t g1[3];
    g2_affine_t g2[3];
    CUZK_TRY(msm_fixed_g1_apply(s->host, s->g1, (const fr_t[]){x->alpha, x->beta, x->delta}, 3, g1,
                                err));
    CUZK_TRY(msm_fixed_g2_apply(s->host, s->g2, (const fr_t[]){x->beta, x->gamma, x->delta}, 3, g2,
                                err));
    *vk = (groth16_vk){.alpha_g1 = g1[0],
                       .beta_g1 = g1[1],
                       .delta_g1 = g1[2],
                       .beta_g2 = g2[0],
                       .gamma_g2 = g2[1],
                       .delta_g2 = g2[2],
                       .n_ic = s->qap.inputs};
    void *ic = NULL;
    CUZK_TRY(cuzk_host_alloc(s->host, &ic, vk->n_ic, sizeof *vk->ic, "verifying key", err));
    vk->ic = ic;
    return msm_fixed_g1_apply(s->host, s->g1, s->qap.at_tau[R1CS_C], vk->n_ic, vk->ic, err);
}

static cuzk_status write_vk(setup *s, cuzk_error *err) {
    groth16_vk vk = {0};
    cuzk_status status = make_vk(s, &vk, err);
    if (status == CUZK_OK) {
        groth16_vk_write(&vk, s->vk);
        status = file_writer_write(s->writer, s->vk, s->vk_bytes, err);
    }
    cuzk_host_free(s->host, vk.ic, vk.n_ic, sizeof *vk.ic);
    return status;
}

static cuzk_status write_sections(setup *s, cuzk_error *err) {
    const r1cs *c = s->circuit;
    const size_t n_a = c->inputs + c->a_aux, n_b = c->b_inputs + c->b_aux;
    CUZK_TRY(numerators(s, err));
    CUZK_TRY(compact(s, R1CS_A, NULL, c->a_aux_map, n_a, err));
    CUZK_TRY(compact(s, R1CS_B, c->b_input_map, c->b_aux_map, n_b, err));
    CUZK_TRY(write_vk(s, err));
    CUZK_TRY(emit_h(s, err));
    CUZK_TRY(emit_section(s, s->qap.at_tau[R1CS_C] + c->inputs, c->aux, false, err));
    CUZK_TRY(emit_section(s, s->qap.at_tau[R1CS_A], n_a, false, err));
    CUZK_TRY(emit_section(s, s->qap.at_tau[R1CS_B], n_b, false, err));
    return emit_section(s, s->qap.at_tau[R1CS_B], n_b, true, err);
}

static cuzk_status setup_alloc(setup *s, cuzk_error *err) {
    void *scalars = NULL, *bytes = NULL, *vk = NULL;
    CUZK_TRY(cuzk_host_alloc(s->host, &scalars, s->chunk, sizeof(fr_t), "set-up", err));
    s->scalars = scalars;
    if (s->encoder == NULL)
        CUZK_TRY(
            cuzk_host_alloc(s->host, &s->points, s->chunk, sizeof(g2_affine_t), "set-up", err));
    CUZK_TRY(cuzk_host_alloc(s->host, &bytes, s->chunk, G2_UNCOMPRESSED_BYTES, "set-up", err));
    s->bytes = bytes;
    s->vk_bytes = GROTH16_VK_BYTES(s->qap.inputs);
    CUZK_TRY(cuzk_host_alloc(s->host, &vk, s->vk_bytes, 1, "verifying key", err));
    s->vk = vk;
    const r1cs *c = s->circuit;
    const uint64_t m = (uint64_t)1 << c->log2_domain;
    const uint64_t n_g2 = c->b_inputs + c->b_aux;
    const uint64_t n_g1 = m - 1 + c->aux + c->inputs + c->a_aux + n_g2;
    s->total = n_g1 + n_g2;
    const bool all = s->encoder == NULL;
    CUZK_TRY(msm_fixed_g1_new(s->host, &g1_generator, all ? n_g1 : VK_POINTS, &s->g1, err));
    return msm_fixed_g2_new(s->host, &g2_generator, all ? n_g2 : VK_POINTS, &s->g2, err);
}

static void setup_free(setup *s) {
    groth16_qap_free(s->host, &s->qap);
    groth16_wipe_free(s->host, s->scalars, s->chunk, sizeof(fr_t));
    cuzk_host_free(s->host, s->points, s->chunk, sizeof(g2_affine_t));
    cuzk_host_free(s->host, s->bytes, s->chunk, G2_UNCOMPRESSED_BYTES);
    cuzk_host_free(s->host, s->vk, s->vk_bytes, 1);
    msm_fixed_g1_free(s->host, s->g1);
    msm_fixed_g2_free(s->host, s->g2);
}

static cuzk_status secrets_check(const groth16_secrets *x, cuzk_error *err) {
    const fr_t one = fr_one();
    const struct {
        const char *name;
        const fr_t *value;
    } values[] = {{"alpha", &x->alpha},
                  {"beta", &x->beta},
                  {"gamma", &x->gamma},
                  {"delta", &x->delta},
                  {"tau", &x->tau}};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (fr_is_zero(values[i].value))
            return cuzk_fail(err, CUZK_ERR_ARGUMENT, "set-up: the secret %s is zero",
                             values[i].name);
    if (fr_eq(&x->delta, &x->gamma) || fr_eq(&x->delta, &one))
        return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                         "set-up: the secret delta must differ from gamma and from 1");
    return CUZK_OK;
}

cuzk_status groth16_setup(const cuzk_host *host, const r1cs *circuit,
                          const groth16_secrets *secrets, const char *params_path,
                          const char *vk_path, cuzk_error *err) {
    return groth16_setup_with(host, circuit, secrets, NULL, params_path, vk_path, err);
}

cuzk_status groth16_setup_with(const cuzk_host *host, const r1cs *circuit,
                               const groth16_secrets *secrets, groth16_encoder *encoder,
                               const char *params_path, const char *vk_path, cuzk_error *err) {
    CUZK_TRY(secrets_check(secrets, err));
    if (!circuit->has_c)
        return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "set-up: circuit %s was loaded without C",
                         circuit->name);
    setup s = {.host = host,
               .circuit = circuit,
               .secrets = secrets,
               .encoder = encoder,
               .chunk = encoder != NULL ? encoder->chunk : SETUP_CHUNK};
    CUZK_TRY(file_writer_open(params_path, &s.writer, err)); /* a bad path fails at once */
    cuzk_status status = groth16_qap_new(host, circuit, &secrets->tau, &s.qap, err);
    if (status == CUZK_OK) status = setup_alloc(&s, err);
    if (status == CUZK_OK) status = write_sections(&s, err);
    if (status != CUZK_OK) {
        file_writer_abort(s.writer);
    } else {
        /* The small file first: a full disk then leaves no parameters without their key. */
        status = file_write_all(vk_path, s.vk, s.vk_bytes, err);
        if (status == CUZK_OK)
            status = file_writer_commit(s.writer, err);
        else
            file_writer_abort(s.writer);
    }
    setup_free(&s);
    return status;
}

cuzk_status groth16_secrets_random(const cuzk_host *host, groth16_secrets *out, cuzk_error *err) {
    if (host->random == NULL)
        return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "set-up: the host has no source of randomness");
    fr_t *const values[] = {&out->alpha, &out->beta, &out->gamma, &out->delta, &out->tau};
    do {
        for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
            uint8_t wide[64];
            const cuzk_status status = host->random(host->self, wide, sizeof wide);
            if (status != CUZK_OK) return cuzk_fail(err, status, "set-up: no randomness");
            fr_from_wide(values[i], wide);
            explicit_bzero(wide, sizeof wide);
        }
    } while (secrets_check(out, NULL) != CUZK_OK);
    return CUZK_OK;
}
