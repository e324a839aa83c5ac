/* Known answers: sums of multiples of the generator against one multiplication on the host, and a
 * small quotient against the host's. */
#include <string.h>

#include "cuda/cuda_api.h"
#include "cuda/gpu_device.h"
#include "poly/ntt.h"

#define POINTS 512
#define LOG2_DOMAIN 10
#define DOMAIN_SIZE ((size_t)1 << LOG2_DOMAIN)

typedef struct self_test {
    gpu_device *d;
    g1_affine_t g1[POINTS]; /* (i + 1) times the generator */
    g2_affine_t g2[POINTS];
    fr_t scalars[POINTS];
    uint64_t bits[POINTS / 64];
    fr_t msm, subset; /* logarithms of the sums */
    fr_t a[DOMAIN_SIZE], b[DOMAIN_SIZE], c[DOMAIN_SIZE], h[DOMAIN_SIZE];
    uint8_t result[64 * 1024];
} self_test;

/* Fixed pseudo-random numbers: a multiplicative walk. */
static void fill(fr_t *v, size_t n, uint64_t seed) {
    fr_t step;
    fr_from_u64(&step, 0x9e3779b97f4a7c15u);
    fr_from_u64(&v[0], seed);
    fr_mul(&v[0], &v[0], &step);
    for (size_t i = 1; i < n; i++) {
        fr_mul(&v[i], &v[i - 1], &step);
        fr_add(&v[i], &v[i], &v[0]);
    }
}

static void make_points(self_test *t) {
    g1_t p = g1_infinity();
    g2_t q = g2_infinity();
    fill(t->scalars, POINTS, 5);
    t->msm = t->subset = fr_zero();
    for (unsigned i = 0; i < POINTS; i++) {
        fr_t k, term;
        g1_add_affine(&p, &p, &g1_generator);
        g2_add_affine(&q, &q, &g2_generator);
        g1_to_affine(&t->g1[i], &p);
        g2_to_affine(&t->g2[i], &q);
        fr_from_u64(&k, i + 1);
        fr_mul(&term, &k, &t->scalars[i]);
        fr_add(&t->msm, &t->msm, &term);
        if (i % 3 == 1) {
            t->bits[i / 64] |= (uint64_t)1 << (i % 64);
            fr_add(&t->subset, &t->subset, &k);
        }
    }
}

static cuzk_status fetch(self_test *t, uint64_t at, void *to, size_t bytes, cuzk_error *err) {
    const int ordinal = t->d->info.ordinal;
    GPU_TRY(
        ordinal,
        cudaMemcpyAsync(t->result, t->d->arena + at, bytes, cudaMemcpyDeviceToHost, t->d->upload),
        err);
    GPU_TRY(ordinal, cudaStreamSynchronize(t->d->upload), err);
    if (to != NULL) memcpy(to, t->result, bytes);
    return CUZK_OK;
}

static bool is_multiple(cuzk_gpu_group curve, const void *sum, const fr_t *k) {
    if (curve == CUZK_GPU_G1) {
        g1_t p;
        g1_from_affine(&p, &g1_generator);
        g1_mul_var(&p, &p, k);
        return g1_eq(&p, sum);
    }
    g2_t p;
    g2_from_affine(&p, &g2_generator);
    g2_mul_var(&p, &p, k);
    return g2_eq(&p, sum);
}

static cuzk_status wrong(const self_test *t, const char *what, cuzk_error *err) {
    return cuzk_fail(err, CUZK_ERR_DEVICE, "GPU %d (%s): self-test: %s is wrong",
                     t->d->info.ordinal, t->d->info.name, what);
}

static cuzk_status check_room(const self_test *t, uint64_t needed, cuzk_error *err) {
    if (needed <= t->d->arena_bytes) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_DEVICE_MEMORY,
                     "GPU %d: self-test needs %llu bytes of device memory, %llu are available",
                     t->d->info.ordinal, (unsigned long long)needed,
                     (unsigned long long)t->d->arena_bytes);
}

static cuzk_status test_sums(self_test *t, cuzk_gpu_group curve, cuzk_error *err) {
    gpu_device *d = t->d;
    cuzk_msm_plan msm;
    cuzk_subset_plan subset;
    const uint64_t points = 0, scalars = points + sizeof t->g2, bits = scalars + sizeof t->scalars,
                   result = bits + 4096, scratch = result + sizeof t->result;
    /* G1 with a copy, in the room of G2's points */
    const unsigned copies = sizeof t->g2 / CUZK_GPU_AFFINE_BYTES(curve) / POINTS;
    CUZK_TRY(
        cuzk_msm_plan_make(&msm, curve, POINTS, copies, d->limits.sms, d->limits.tuning, 0, err));
    CUZK_TRY(cuzk_subset_plan_make(&subset, curve, POINTS, POINTS, false, d->limits.sms,
                                   d->limits.tuning, err));
    if (msm.result_bytes > sizeof t->result) return wrong(t, "the size of a result", err);
    CUZK_TRY(check_room(t, scratch + msm.scratch_bytes, err));
    CUZK_TRY(check_room(t, scratch + subset.scratch_bytes, err));
    CUZK_TRY(gpu_upload(d, points, curve == CUZK_GPU_G1 ? (const void *)t->g1 : t->g2,
                        POINTS * CUZK_GPU_AFFINE_BYTES(curve), err));
    CUZK_TRY(gpu_upload(d, scalars, t->scalars, sizeof t->scalars, err));
    CUZK_TRY(gpu_upload(d, bits, t->bits, sizeof t->bits, err));
    CUZK_TRY(cuzk_gpu_multiples(&msm, d->arena + points, 0, POINTS, d->upload, err));
    const cuzk_gpu_scalars source = {d->arena + scalars, NULL, 0};
    CUZK_TRY(cuzk_gpu_msm(&msm, d->arena + points, &source, d->arena + scratch, d->arena + result,
                          d->upload, err));
    CUZK_TRY(fetch(t, result, NULL, msm.result_bytes, err));
    g1_t sum1;
    g2_t sum2;
    if (curve == CUZK_GPU_G1)
        cuzk_msm_finish_g1(&msm, t->result, &sum1);
    else
        cuzk_msm_finish_g2(&msm, t->result, &sum2);
    if (!is_multiple(curve, curve == CUZK_GPU_G1 ? (const void *)&sum1 : &sum2, &t->msm))
        return wrong(t, curve == CUZK_GPU_G1 ? "an MSM in G1" : "an MSM in G2", err);
    CUZK_TRY(cuzk_gpu_subset(&subset, d->arena + points, (const uint64_t *)(d->arena + bits),
                             d->arena + scratch, d->arena + result, d->upload, err));
    CUZK_TRY(fetch(t, result, NULL, subset.result_bytes, err));
    if (!is_multiple(curve, t->result, &t->subset))
        return wrong(t, curve == CUZK_GPU_G1 ? "a subset sum in G1" : "a subset sum in G2", err);
    return CUZK_OK;
}

static cuzk_status host_quotient(self_test *t, cuzk_error *err) {
    ntt_domain *domain = NULL;
    CUZK_TRY(ntt_domain_new(t->d->host, LOG2_DOMAIN, &domain, err));
    memcpy(t->h, t->a, sizeof t->h);
    fr_t b[DOMAIN_SIZE];
    memcpy(b, t->b, sizeof b);
    ntt_quotient(t->d->host, domain, t->h, b, t->c);
    ntt_domain_free(t->d->host, domain);
    return CUZK_OK;
}

static cuzk_status test_quotient(self_test *t, cuzk_error *err) {
    gpu_device *d = t->d;
    cuzk_ntt_plan plan;
    CUZK_TRY(cuzk_ntt_plan_make(&plan, LOG2_DOMAIN, CUZK_NTT_NARROW, err));
    const uint64_t tables = 4 * sizeof t->a;
    CUZK_TRY(check_room(t, tables + plan.table_bytes, err));
    fill(t->a, DOMAIN_SIZE, 7);
    fill(t->b, DOMAIN_SIZE, 11);
    CUZK_TRY(host_quotient(t, err));
    CUZK_TRY(gpu_upload(d, 0, t->a, sizeof t->a, err));
    CUZK_TRY(gpu_upload(d, sizeof t->a, t->b, sizeof t->b, err));
    CUZK_TRY(cuzk_gpu_ntt_tables(&plan, d->arena + tables, d->upload, err));
    CUZK_TRY(cuzk_gpu_quotient(&plan, d->arena + tables, d->arena, d->arena + sizeof t->a,
                               d->arena + 2 * sizeof t->a, d->upload, err));
    CUZK_TRY(
        cuzk_gpu_bit_reverse(LOG2_DOMAIN, d->arena + 3 * sizeof t->a, d->arena, d->upload, err));
    CUZK_TRY(fetch(t, 3 * sizeof t->a, t->a, sizeof t->a, err));
    return memcmp(t->a, t->h, sizeof t->h) == 0 ? CUZK_OK : wrong(t, "a quotient", err);
}

cuzk_status gpu_self_test(gpu_device *d, cuzk_error *err) {
    void *memory = NULL;
    CUZK_TRY(cuzk_host_alloc(d->host, &memory, 1, sizeof(self_test), "self-test", err));
    self_test *t = memory;
    memset(t, 0, sizeof *t);
    t->d = d;
    make_points(t);
    cuzk_status status = test_sums(t, CUZK_GPU_G1, err);
    if (status == CUZK_OK) status = test_sums(t, CUZK_GPU_G2, err);
    if (status == CUZK_OK) status = test_quotient(t, err);
    cuzk_host_free(d->host, t, 1, sizeof *t);
    return status;
}
