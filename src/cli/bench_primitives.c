/* cuzk bench primitives: fields, curves, pairing, hashes, NTT, MSM. */
#include <stdio.h>
#include <string.h>

#include "cli/bench.h"
#include "curve/pairing.h"
#include "filecoin/poseidon.h"
#include "hash/sha256.h"
#include "msm/msm.h"
#include "poly/ntt.h"

/* Operands of the small operations; each chain depends on its last result. */
typedef struct operands {
    fr_t fr[2];
    fp_t fp[2];
    fp2_t fp2[2];
    fp12_t fp12[2];
    g1_t g1[2];
    g2_t g2[2];
    g1_affine_t g1_affine;
    g2_affine_t g2_affine;
    uint8_t bytes[192];
} operands;

#define CHAIN(name, statement)                                                                     \
    static void name(void *arg, size_t n) {                                                        \
        operands *o = arg;                                                                         \
        for (size_t i = 0; i < n; i++) {                                                           \
            statement;                                                                             \
        }                                                                                          \
    }
CHAIN(chain_fr_mul, fr_mul(&o->fr[0], &o->fr[0], &o->fr[1]))
CHAIN(chain_fr_add, fr_add(&o->fr[0], &o->fr[0], &o->fr[1]))
CHAIN(chain_fr_inv, fr_inv(&o->fr[0], &o->fr[0]))
CHAIN(chain_fp_mul, fp_mul(&o->fp[0], &o->fp[0], &o->fp[1]))
CHAIN(chain_fp_sqr, fp_sqr(&o->fp[0], &o->fp[0]))
CHAIN(chain_fp_add, fp_add(&o->fp[0], &o->fp[0], &o->fp[1]))
CHAIN(chain_fp_inv, fp_inv(&o->fp[0], &o->fp[0]))
CHAIN(chain_fp2_mul, fp2_mul(&o->fp2[0], &o->fp2[0], &o->fp2[1]))
CHAIN(chain_fp2_sqr, fp2_sqr(&o->fp2[0], &o->fp2[0]))
CHAIN(chain_fp12_mul, fp12_mul(&o->fp12[0], &o->fp12[0], &o->fp12[1]))
CHAIN(chain_g1_mixed, g1_add_affine(&o->g1[0], &o->g1[0], &o->g1_affine))
CHAIN(chain_g1_add, g1_add(&o->g1[0], &o->g1[0], &o->g1[1]))
CHAIN(chain_g1_double, g1_double(&o->g1[0], &o->g1[0]))
CHAIN(chain_g2_mixed, g2_add_affine(&o->g2[0], &o->g2[0], &o->g2_affine))
CHAIN(chain_g2_double, g2_double(&o->g2[0], &o->g2[0]))
CHAIN(chain_g1_mul, g1_mul_var(&o->g1[0], &o->g1[0], &o->fr[0]))
CHAIN(chain_g2_mul, g2_mul_var(&o->g2[0], &o->g2[0], &o->fr[0]))
CHAIN(chain_g1_subgroup, o->bytes[0] ^= g1_affine_in_subgroup(&o->g1_affine))
CHAIN(chain_g2_subgroup, o->bytes[0] ^= g2_affine_in_subgroup(&o->g2_affine))
CHAIN(chain_miller, pairing_miller(&o->fp12[0], &o->g1_affine, &o->g2_affine, 1))
CHAIN(chain_final, pairing_final_exponentiation(&o->fp12[0], &o->fp12[1]))
CHAIN(chain_pairing, pairing(&o->fp12[0], &o->g1_affine, &o->g2_affine))
CHAIN(chain_sha256, sha256_blocks((uint32_t *)(void *)o->bytes, o->bytes + 64, 1))
CHAIN(chain_poseidon8, {
    fr_t in[8];
    for (int k = 0; k < 8; k++)
        in[k] = o->fr[k & 1];
    poseidon_hash(poseidon_get(POSEIDON_8), in, &o->fr[0]);
})

static cuzk_status random_fr(const cuzk_host *host, fr_t *out, size_t n) {
    uint8_t seed[64];
    CUZK_TRY(host->random(host->self, seed, sizeof seed));
    fr_t x, y;
    fr_from_wide(&x, seed);
    seed[0] ^= 1;
    fr_from_wide(&y, seed);
    for (size_t i = 0; i < n; i++) { /* x, x^2 + y, ...: full-size values, quickly */
        out[i] = x;
        fr_sqr(&x, &x);
        fr_add(&x, &x, &y);
    }
    return CUZK_OK;
}

static cuzk_status make_operands(const cuzk_host *host, operands *o) {
    fr_t scalars[4];
    memset(o, 0, sizeof *o);
    CUZK_TRY(random_fr(host, scalars, 4));
    o->fr[0] = scalars[0];
    o->fr[1] = scalars[1];
    g1_from_affine(&o->g1[0], &g1_generator);
    g2_from_affine(&o->g2[0], &g2_generator);
    for (int i = 0; i < 2; i++) {
        g1_mul_var(&o->g1[i], &o->g1[0], &scalars[i]);
        g2_mul_var(&o->g2[i], &o->g2[0], &scalars[i]);
    }
    g1_to_affine(&o->g1_affine, &o->g1[1]);
    g2_to_affine(&o->g2_affine, &o->g2[1]);
    o->fp[0] = o->g1_affine.x;
    o->fp[1] = o->g1_affine.y;
    o->fp2[0] = o->g2_affine.x;
    o->fp2[1] = o->g2_affine.y;
    pairing_miller(&o->fp12[0], &o->g1_affine, &o->g2_affine, 1);
    pairing_miller(&o->fp12[1], &g1_generator, &o->g2_affine, 1);
    return CUZK_OK;
}

static void small_rows(bench_table *t, operands *o) {
    static const struct {
        const char *name;
        void (*fn)(void *arg, size_t n);
    } rows[] = {
        {"fr mul", chain_fr_mul},
        {"fr add", chain_fr_add},
        {"fr inverse", chain_fr_inv},
        {"fp mul", chain_fp_mul},
        {"fp sqr", chain_fp_sqr},
        {"fp add", chain_fp_add},
        {"fp inverse", chain_fp_inv},
        {"fp2 mul", chain_fp2_mul},
        {"fp2 sqr", chain_fp2_sqr},
        {"fp12 mul", chain_fp12_mul},
        {"g1 mixed add", chain_g1_mixed},
        {"g1 add", chain_g1_add},
        {"g1 double", chain_g1_double},
        {"g2 mixed add", chain_g2_mixed},
        {"g2 double", chain_g2_double},
        {"g1 scalar mul", chain_g1_mul},
        {"g2 scalar mul", chain_g2_mul},
        {"g1 subgroup check", chain_g1_subgroup},
        {"g2 subgroup check", chain_g2_subgroup},
        {"miller loop", chain_miller},
        {"final exponentiation", chain_final},
        {"pairing", chain_pairing},
        {"sha256 block", chain_sha256},
        {"poseidon arity 8", chain_poseidon8},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        bench_small(t, rows[i].name, rows[i].fn, o);
}

/* ---- vectors ---- */

typedef struct vectors {
    const cuzk_host *host;
    size_t n;
    fr_t *scalars, *b, *c;
    g1_affine_t *g1;
    g2_affine_t *g2;
    uint64_t *bitmap;
    ntt_domain *domain;
} vectors;

static cuzk_status run_ntt(void *arg) {
    vectors *v = arg;
    ntt_forward(v->host, v->domain, v->scalars);
    return CUZK_OK;
}
static cuzk_status run_quotient(void *arg) {
    vectors *v = arg;
    ntt_quotient(v->host, v->domain, v->scalars, v->b, v->c);
    return CUZK_OK;
}
static cuzk_status run_msm_g1(void *arg) {
    vectors *v = arg;
    g1_t out;
    return msm_g1(v->host, &out, (msm_bases){v->g1, v->n, MSM_AFFINE}, v->scalars, v->n, NULL);
}
static cuzk_status run_msm_g2(void *arg) {
    vectors *v = arg;
    g2_t out;
    return msm_g2(v->host, &out, (msm_bases){v->g2, v->n, MSM_AFFINE}, v->scalars, v->n, NULL);
}
static cuzk_status run_subset_g1(void *arg) {
    vectors *v = arg;
    g1_t out;
    return msm_subset_g1(v->host, &out, (msm_bases){v->g1, v->n, MSM_AFFINE}, v->bitmap, v->n,
                         NULL);
}

static cuzk_status make_bases(const cuzk_host *host, vectors *v, cuzk_error *err) {
    msm_fixed_g1 *t1;
    msm_fixed_g2 *t2;
    CUZK_TRY(msm_fixed_g1_new(host, &g1_generator, v->n, &t1, err));
    cuzk_status status = msm_fixed_g1_apply(host, t1, v->scalars, v->n, v->g1, err);
    msm_fixed_g1_free(host, t1);
    CUZK_TRY(status);
    CUZK_TRY(msm_fixed_g2_new(host, &g2_generator, v->n, &t2, err));
    status = msm_fixed_g2_apply(host, t2, v->scalars, v->n, v->g2, err);
    msm_fixed_g2_free(host, t2);
    return status;
}

static void free_vectors(const cuzk_host *host, vectors *v) {
    if (v->domain != NULL) ntt_domain_free(host, v->domain);
    cuzk_host_free(host, v->scalars, v->n, sizeof *v->scalars);
    cuzk_host_free(host, v->b, v->n, sizeof *v->b);
    cuzk_host_free(host, v->c, v->n, sizeof *v->c);
    cuzk_host_free(host, v->g1, v->n, sizeof *v->g1);
    cuzk_host_free(host, v->g2, v->n, sizeof *v->g2);
    cuzk_host_free(host, v->bitmap, v->n / 64, sizeof *v->bitmap);
}

static cuzk_status make_vectors(const cuzk_host *host, vectors *v, unsigned log2_n,
                                cuzk_error *err) {
    const size_t n = v->n;
    CUZK_TRY(cuzk_host_alloc(host, (void **)&v->scalars, n, sizeof *v->scalars, "scalars", err));
    CUZK_TRY(cuzk_host_alloc(host, (void **)&v->b, n, sizeof *v->b, "vector b", err));
    CUZK_TRY(cuzk_host_alloc(host, (void **)&v->c, n, sizeof *v->c, "vector c", err));
    CUZK_TRY(cuzk_host_alloc(host, (void **)&v->g1, n, sizeof *v->g1, "G1 bases", err));
    CUZK_TRY(cuzk_host_alloc(host, (void **)&v->g2, n, sizeof *v->g2, "G2 bases", err));
    CUZK_TRY(cuzk_host_alloc(host, (void **)&v->bitmap, n / 64, 8, "bitmap", err));
    CUZK_TRY(ntt_domain_new(host, log2_n, &v->domain, err));
    CUZK_TRY(random_fr(host, v->scalars, n));
    CUZK_TRY(random_fr(host, v->b, n));
    for (size_t i = 0; i < n / 64; i++)
        v->bitmap[i] = v->b[i].l[0];
    return make_bases(host, v, err);
}

static void vector_rows(bench_table *t, vectors *v, unsigned log2_n, unsigned threads) {
    static const struct {
        const char *name;
        cuzk_status (*fn)(void *arg);
    } rows[] = {{"ntt forward", run_ntt},
                {"quotient (6 ntts)", run_quotient},
                {"msm g1", run_msm_g1},
                {"msm g2", run_msm_g2},
                {"subset sum g1, half set", run_subset_g1}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s 2^%u, %u thread%s", rows[i].name, log2_n, threads,
                 threads == 1 ? "" : "s");
        bench_large(t, name, v->n, rows[i].fn, v);
    }
}

cuzk_status bench_primitives(const cuzk_host *host, bench_table *t, uint64_t max_log2,
                             cuzk_error *err) {
    operands o;
    cuzk_status status = make_operands(host, &o);
    if (status != CUZK_OK) return cuzk_fail(err, status, "no randomness");
    bench_open(t, "primitives");
    small_rows(t, &o);
    for (unsigned log2_n = 14; log2_n <= max_log2 && status == CUZK_OK; log2_n += 2) {
        vectors v = {.host = host, .n = (size_t)1 << log2_n};
        status = make_vectors(host, &v, log2_n, err);
        if (status == CUZK_OK) vector_rows(t, &v, log2_n, host->workers);
        free_vectors(host, &v);
    }
    bench_close(t);
    return status;
}
