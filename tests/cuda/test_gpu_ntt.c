/* Transforms and the quotient on the device against src/poly. */
#include "gpu.h"
#include "host/host_std.h"
#include "poly/ntt.h"

static const cuzk_host *host;

static fr_t *random_vector(size_t n) {
    fr_t *v = host_new(n * sizeof *v);
    for (size_t i = 0; i < n; i++) {
        uint8_t wide[64];
        check_random_bytes(wide, sizeof wide);
        fr_from_wide(&v[i], wide);
    }
    return v;
}

/* Natural order in and out, through the device's bit reversal. */
static void device_transform(const cuzk_ntt_plan *plan, const void *tables, cuzk_ntt_kind kind,
                             bool from_reversed, const fr_t *in, fr_t *out) {
    const size_t bytes = ((size_t)1 << plan->log2_n) * sizeof(fr_t);
    void *v = gpu_copy(in, bytes), *w = gpu_new(bytes);
    if (from_reversed) {
        CHECK_OK(cuzk_gpu_bit_reverse(plan->log2_n, w, v, NULL, &err));
        CHECK_OK(cuzk_gpu_ntt(plan, tables, kind, true, w, NULL, &err));
    } else {
        CHECK_OK(cuzk_gpu_ntt(plan, tables, kind, false, v, NULL, &err));
        CHECK_OK(cuzk_gpu_bit_reverse(plan->log2_n, w, v, NULL, &err));
    }
    gpu_get(out, w, bytes);
    GPU(cudaFree(v));
    GPU(cudaFree(w));
}

static void check_plan(const cuzk_ntt_plan *plan) {
    const unsigned log2_n = plan->log2_n;
    const size_t n = (size_t)1 << log2_n, bytes = n * sizeof(fr_t);
    ntt_domain *domain;
    CHECK_OK(ntt_domain_new(host, log2_n, &domain, &err));
    fr_t *a = random_vector(n), *b = random_vector(n), *expected = host_new(bytes),
         *got = host_new(bytes), *c = host_new(bytes);
    void *tables = gpu_new(plan->table_bytes);
    CHECK_OK(cuzk_gpu_ntt_tables(plan, tables, NULL, &err));

    memcpy(expected, a, bytes);
    ntt_forward(host, domain, expected);
    for (int reversed = 0; reversed < 2; reversed++) {
        device_transform(plan, tables, CUZK_NTT_FORWARD, reversed != 0, a, got);
        CHECK_MEM(got, expected, bytes);
    }
    memcpy(expected, a, bytes);
    ntt_inverse(host, domain, expected);
    for (int reversed = 0; reversed < 2; reversed++) {
        device_transform(plan, tables, CUZK_NTT_INVERSE, reversed != 0, a, got);
        CHECK_MEM(got, expected, bytes);
    }
    memcpy(expected, a, bytes);
    ntt_coset_forward(host, domain, expected);
    device_transform(plan, tables, CUZK_NTT_COSET_FORWARD, true, a, got);
    CHECK_MEM(got, expected, bytes);
    memcpy(expected, a, bytes);
    ntt_coset_inverse(host, domain, expected);
    device_transform(plan, tables, CUZK_NTT_COSET_INVERSE, false, a, got);
    CHECK_MEM(got, expected, bytes);

    void *d_a = gpu_copy(a, bytes), *d_b = gpu_copy(b, bytes), *d_c = gpu_new(bytes);
    CHECK_OK(cuzk_gpu_quotient(plan, tables, d_a, d_b, d_c, NULL, &err));
    CHECK_OK(cuzk_gpu_bit_reverse(log2_n, d_b, d_a, NULL, &err));
    gpu_get(got, d_b, bytes);
    ntt_quotient(host, domain, a, b, c);
    CHECK_MEM(got, a, bytes);

    void *const device[] = {tables, d_a, d_b, d_c};
    for (int i = 0; i < 4; i++)
        GPU(cudaFree(device[i]));
    free(a);
    free(b);
    free(c);
    free(expected);
    free(got);
    ntt_domain_free(host, domain);
}

static void check_size(unsigned log2_n, unsigned wide) {
    cuzk_ntt_plan plan;
    CHECK_OK(cuzk_ntt_plan_make(&plan, log2_n, wide, &err));
    check_plan(&plan);
}
/* More passes than so few elements need. */
static void check_passes(unsigned log2_n, unsigned passes, unsigned wide) {
    cuzk_ntt_plan plan;
    cuzk_ntt_plan_make_passes(&plan, log2_n, passes, wide);
    check_plan(&plan);
}

TEST(small) {
    for (unsigned k = CUZK_NTT_MIN_LOG2; k <= 12; k++)
        check_size(k, CUZK_NTT_NARROW);
    check_passes(15, 3, CUZK_NTT_NARROW);
    check_passes(15, 3, CUZK_NTT_WIDE_ALL);
}
TEST(large) {
    for (unsigned k = 13; k <= 20; k++)
        check_size(k, CUZK_NTT_NARROW);
    for (unsigned k = 19; k <= 21; k++)
        check_size(k, CUZK_NTT_WIDE_ALL);
    check_size(19, CUZK_NTT_WIDE_QUOTIENT);
    check_passes(20, 4, CUZK_NTT_NARROW);
    check_passes(21, 4, CUZK_NTT_WIDE_ALL);
}

int main(int argc, char **argv) {
    host_std *owner;
    if (!gpu_open()) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    CHECK_OK(host_std_new(0, 0, &owner, &err));
    host = host_std_host(owner);
    const check_case cases[] = {RUN(small), RUN(large)};
    const int status = check_main(argc, argv, cases, sizeof cases / sizeof cases[0]);
    host_std_free(owner);
    return status;
}
