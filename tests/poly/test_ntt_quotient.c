/* The six-transform quotient against long division, and against its defining identity. */
#include "check.h"

#include "host/host_std.h"
#include "poly/ntt.h"
#include "poly/ntt_kernel.h"

static host_std *hosts[3]; /* [i]: i workers; [0] not used */
static const cuzk_host *host_with(unsigned workers) {
    cuzk_error err;
    if (hosts[workers] == NULL) CHECK_OK(host_std_new(workers, 0, &hosts[workers], &err));
    REQUIRE(hosts[workers] != NULL);
    return host_std_host(hosts[workers]);
}

static ntt_domain *domain_with(unsigned log2_n, const ntt_kernel *kernel, unsigned tile_log2) {
    cuzk_error err;
    ntt_domain *d = NULL;
    CHECK_OK(ntt_domain_new_with(host_with(1), log2_n, kernel, tile_log2, &d, &err));
    REQUIRE(d != NULL);
    return d;
}

static fr_t *vector(size_t n) {
    fr_t *v = aligned_alloc(64, (n * sizeof *v + 63) / 64 * 64);
    REQUIRE(v != NULL);
    return v;
}

/* Circuits' rows: mostly 0 and 1, some anything; the tail is padding. */
static void fill_rows(fr_t *v, size_t n) {
    for (size_t i = 0; i < n; i++) {
        uint64_t wide[8];
        for (int j = 0; j < 8; j++)
            wide[j] = check_random_runs();
        const uint64_t pick = check_random() % 4;
        v[i] = pick == 0 ? fr_zero() : fr_one();
        if (pick >= 2) fr_from_wide(&v[i], (const uint8_t *)wide);
        if (i > n - n / 8) v[i] = fr_zero();
    }
}

/* Coefficients of the polynomial through the values, by transforms that test_ntt.c checks. */
static fr_t *interpolate(const ntt_domain *d, const fr_t *values, size_t n) {
    fr_t *v = vector(n);
    memcpy(v, values, n * sizeof *v);
    ntt_inverse(host_with(2), d, v);
    return v;
}

/* product[0..2n) = A B - C for the interpolations of rows a, b and a*b. */
static void product_less_c(unsigned log2_n, const fr_t *rows_a, const fr_t *rows_b, fr_t *product) {
    const size_t n = (size_t)1 << log2_n;
    ntt_domain *d = domain_with(log2_n, &ntt_kernel_scalar, NTT_TILE_LOG2);
    fr_t *rows_c = vector(n);
    for (size_t i = 0; i < n; i++)
        fr_mul(&rows_c[i], &rows_a[i], &rows_b[i]);
    fr_t *a = interpolate(d, rows_a, n), *b = interpolate(d, rows_b, n);
    fr_t *c = interpolate(d, rows_c, n);
    memset(product, 0, 2 * n * sizeof *product);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            fr_t t;
            fr_mul(&t, &a[i], &b[j]);
            fr_add(&product[i + j], &product[i + j], &t);
        }
        fr_sub(&product[i], &product[i], &c[i]);
    }
    free(a), free(b), free(c), free(rows_c);
    ntt_domain_free(host_with(1), d);
}

static void check_quotient(unsigned log2_n, const ntt_kernel *kernel, unsigned tile_log2,
                           const fr_t *rows_a, const fr_t *rows_b, const fr_t *expected) {
    const size_t n = (size_t)1 << log2_n;
    ntt_domain *d = domain_with(log2_n, kernel, tile_log2);
    fr_t *a = vector(n), *b = vector(n), *c = vector(n);
    memcpy(a, rows_a, n * sizeof *a), memcpy(b, rows_b, n * sizeof *b);
    memset(c, 0xff, n * sizeof *c); /* holds nothing on entry */
    ntt_quotient(host_with(2), d, a, b, c);
    if (memcmp(a, expected, n * sizeof *a) != 0)
        CHECK_FAILED_("quotient of 2^%u, %s kernel, tiles of 2^%u", log2_n, kernel->name,
                      tile_log2);
    CHECK(fr_is_zero(&a[n - 1]));
    free(a), free(b), free(c);
    ntt_domain_free(host_with(1), d);
}

TEST(long_division) {
    const ntt_kernel *const kernels[2] = {&ntt_kernel_scalar, ntt_kernel_ifma()};
    for (unsigned log2_n = 0; log2_n <= 10; log2_n++) {
        const size_t n = (size_t)1 << log2_n;
        fr_t *a = vector(n), *b = vector(n), *product = vector(2 * n), *expected = product + n;
        fill_rows(a, n), fill_rows(b, n);
        product_less_c(log2_n, a, b, product);
        /* (X^n - 1) h = product: the high half is h, and the low half must be -h. */
        for (size_t i = 0; i < n; i++) {
            fr_t sum;
            fr_add(&sum, &product[i], &expected[i]);
            CHECK(fr_is_zero(&sum));
        }
        for (int k = 0; k < 2 && kernels[k] != NULL; k++) {
            check_quotient(log2_n, kernels[k], NTT_TILE_LOG2, a, b, expected);
            for (unsigned tile = 2; tile <= 4; tile++)
                check_quotient(log2_n, kernels[k], tile, a, b, expected);
        }
        free(a), free(b), free(product);
    }
}

static fr_t evaluate(const fr_t *coefficients, size_t n, const fr_t *at) {
    fr_t sum = fr_zero();
    for (size_t i = n; i-- > 0;) {
        fr_mul(&sum, &sum, at);
        fr_add(&sum, &sum, &coefficients[i]);
    }
    return sum;
}

/* A(x) B(x) - C(x) = h(x) (x^n - 1) at a random x. */
static void check_identity(unsigned log2_n, const ntt_kernel *kernel) {
    const size_t n = (size_t)1 << log2_n;
    ntt_domain *d = domain_with(log2_n, kernel, NTT_TILE_LOG2);
    fr_t *a = vector(n), *b = vector(n), *c = vector(n), x, at[3], h, power;
    uint64_t wide[8];
    check_random_bytes(wide, sizeof wide);
    fr_from_wide(&x, (const uint8_t *)wide);
    fill_rows(a, n), fill_rows(b, n);
    const fr_t *const rows[3] = {a, b, c};
    for (size_t i = 0; i < n; i++)
        fr_mul(&c[i], &a[i], &b[i]);
    for (int i = 0; i < 3; i++) {
        fr_t *coefficients = interpolate(d, rows[i], n);
        at[i] = evaluate(coefficients, n, &x);
        free(coefficients);
    }
    ntt_quotient(host_with(2), d, a, b, c);
    h = evaluate(a, n, &x);
    power = x;
    for (unsigned i = 0; i < log2_n; i++)
        fr_sqr(&power, &power);
    const fr_t one = fr_one();
    fr_sub(&power, &power, &one);
    fr_mul(&h, &h, &power);
    fr_mul(&at[0], &at[0], &at[1]);
    fr_sub(&at[0], &at[0], &at[2]);
    CHECK(fr_eq(&h, &at[0]));
    free(a), free(b), free(c);
    ntt_domain_free(host_with(1), d);
}

TEST(identity) {
    for (unsigned log2_n = 11; log2_n <= 18; log2_n++)
        check_identity(log2_n, log2_n == 12 ? &ntt_kernel_scalar : ntt_kernel_best());
}

TEST(identity_2_21) {
    check_identity(21, ntt_kernel_best());
}

TEST(vanishing_inverse) {
    for (unsigned log2_n = 0; log2_n <= 27; log2_n += 9) {
        ntt_domain *d = domain_with(log2_n, ntt_kernel_best(), NTT_TILE_LOG2);
        fr_t z, power;
        const fr_t one = fr_one();
        fr_from_u64(&power, 7);
        for (unsigned i = 0; i < log2_n; i++)
            fr_sqr(&power, &power);
        fr_sub(&power, &power, &one);
        ntt_coset_vanishing_inverse(d, &z);
        fr_mul(&z, &z, &power);
        CHECK(fr_eq(&z, &one));
        ntt_domain_free(host_with(1), d);
    }
}

int main(int argc, char **argv) {
    const check_case cases[] = {RUN(long_division), RUN(identity), RUN(vanishing_inverse),
                                RUN(identity_2_21)};
    const int rc = check_main(argc, argv, cases, sizeof cases / sizeof cases[0]);
    for (int i = 0; i < 3; i++)
        if (hosts[i] != NULL) host_std_free(hosts[i]);
    return rc;
}
