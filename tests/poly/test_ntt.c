/* Transforms against the naive DFT, against themselves, by evaluation at random points, and one
 * kernel and number of workers against another. */
#include "check.h"

#include "host/host_std.h"
#include "poly/ntt.h"
#include "poly/ntt_kernel.h"

typedef void transform(const cuzk_host *host, const ntt_domain *domain, fr_t *v);

static host_std *hosts[4]; /* [i]: i workers; [0] not used */
static const cuzk_host *host_with(unsigned workers) {
    cuzk_error err;
    if (hosts[workers] == NULL) CHECK_OK(host_std_new(workers, 0, &hosts[workers], &err));
    REQUIRE(hosts[workers] != NULL);
    return host_std_host(hosts[workers]);
}

static unsigned kernels(const ntt_kernel *list[2]) {
    list[0] = &ntt_kernel_scalar;
    list[1] = ntt_kernel_ifma();
    return list[1] != NULL ? 2 : 1;
}

static ntt_domain *domain_with_tiles(unsigned log2_n, const ntt_kernel *kernel, unsigned tile) {
    cuzk_error err;
    ntt_domain *d = NULL;
    CHECK_OK(ntt_domain_new_with(host_with(1), log2_n, kernel, tile, &d, &err));
    REQUIRE(d != NULL);
    CHECK_U64(ntt_domain_log2(d), log2_n);
    return d;
}
static ntt_domain *domain_with(unsigned log2_n, const ntt_kernel *kernel) {
    return domain_with_tiles(log2_n, kernel, NTT_TILE_LOG2);
}

static fr_t *vector(size_t n) {
    fr_t *v = aligned_alloc(64, (n * sizeof *v + 63) / 64 * 64);
    REQUIRE(v != NULL);
    return v;
}

/* Limbs of r - 1. */
static fr_t largest(void) {
    fr_t x;
    memcpy(x.l, cuzk_fr_prime.p, sizeof x.l);
    x.l[0]--;
    return x;
}

/* Raw limbs, reduced: uniform, long runs, and the edges 0, 1, r - 1. */
static fr_t random_element(void) {
    fr_t x;
    for (int i = 0; i < FR_LIMBS; i++)
        x.l[i] = check_random_runs();
    x.l[FR_LIMBS - 1] >>= 1;
    if (!mont_is_canonical(x.l, &cuzk_fr_prime, FR_LIMBS))
        mont_reduce_once(x.l, x.l, 0, &cuzk_fr_prime, FR_LIMBS);
    const uint64_t pick = check_random() % 16;
    if (pick == 0) x = fr_zero();
    if (pick == 1) x = fr_one();
    if (pick == 2) x = largest();
    return x;
}

static void fill_random(fr_t *v, size_t n) {
    for (size_t i = 0; i < n; i++)
        v[i] = random_element();
}

static fr_t evaluate(const fr_t *coefficients, size_t n, const fr_t *at) {
    fr_t sum = fr_zero();
    for (size_t i = n; i-- > 0;) {
        fr_mul(&sum, &sum, at);
        fr_add(&sum, &sum, &coefficients[i]);
    }
    return sum;
}

static fr_t seven(void) {
    fr_t x;
    fr_from_u64(&x, 7);
    return x;
}

static void check_same(const char *what, unsigned log2_n, const fr_t *got, const fr_t *expected) {
    const size_t n = (size_t)1 << log2_n;
    for (size_t i = 0; i < n; i++) {
        if (fr_eq(&got[i], &expected[i])) continue;
        CHECK_FAILED_("%s of 2^%u differs at %zu", what, log2_n, i);
        return;
    }
}

TEST(roots) {
    /* 7^((r-1)/2^32), the root of unity of blstrs, plain big-endian. */
    fr_t omega, power, one = fr_one();
    uint8_t bytes[FR_BYTES], reversed[FR_BYTES];
    ntt_root_of_unity(32, &omega);
    fr_to_bytes(bytes, &omega);
    for (int i = 0; i < FR_BYTES; i++)
        reversed[i] = bytes[FR_BYTES - 1 - i];
    CHECK_HEX(reversed, FR_BYTES,
              "16a2a19edfe81f20d09b681922c813b4b63683508c2280b93829971f439f0d2b");
    for (unsigned k = 1; k <= 32; k++) {
        ntt_root_of_unity(k, &omega);
        power = omega;
        for (unsigned i = 1; i < k; i++)
            fr_sqr(&power, &power);
        CHECK(!fr_eq(&power, &one));
        fr_sqr(&power, &power);
        CHECK(fr_eq(&power, &one));
    }
    ntt_root_of_unity(0, &omega);
    CHECK(fr_eq(&omega, &one));
}

TEST(domain_limits) {
    cuzk_error err;
    ntt_domain *d = NULL;
    CHECK_STATUS(ntt_domain_new(host_with(1), 33, &d, &err), CUZK_ERR_ARGUMENT);
    CHECK(d == NULL);
    CHECK(ntt_domain_bytes(27) < (size_t)8 << 20);
    const uint64_t before = host_std_used(hosts[1]);
    CHECK_OK(ntt_domain_new(host_with(1), 20, &d, &err));
    CHECK_U64(host_std_used(hosts[1]) - before, ntt_domain_bytes(20));
    ntt_domain_free(host_with(1), d);
    ntt_domain_free(host_with(1), NULL);
    CHECK_U64(host_std_used(hosts[1]), before);
    host_std *small = NULL;
    CHECK_OK(host_std_new(1, 4096, &small, &err));
    CHECK_STATUS(ntt_domain_new(host_std_host(small), 27, &d, &err), CUZK_ERR_NO_MEMORY);
    CHECK(d == NULL);
    host_std_free(small);
}

/* Every output of a small transform, plain and coset, both ways. */
static void check_naive(unsigned log2_n, const ntt_kernel *kernel, unsigned tile_log2) {
    const size_t n = (size_t)1 << log2_n;
    ntt_domain *d = domain_with_tiles(log2_n, kernel, tile_log2);
    fr_t *x = vector(n), *plain = vector(n), *coset = vector(n), *v = vector(n);
    fr_t omega, at = fr_one(), g = seven();
    fill_random(x, n);
    ntt_root_of_unity(log2_n, &omega);
    for (size_t i = 0; i < n; i++) {
        fr_t shifted;
        fr_mul(&shifted, &at, &g);
        plain[i] = evaluate(x, n, &at);
        coset[i] = evaluate(x, n, &shifted);
        fr_mul(&at, &at, &omega);
    }
    const struct {
        transform *run;
        const fr_t *in, *out;
        const char *name;
    } cases[] = {{ntt_forward, x, plain, "forward"},
                 {ntt_inverse, plain, x, "inverse"},
                 {ntt_coset_forward, x, coset, "coset forward"},
                 {ntt_coset_inverse, coset, x, "coset inverse"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        memcpy(v, cases[i].in, n * sizeof *v);
        cases[i].run(host_with(2), d, v);
        check_same(cases[i].name, log2_n, v, cases[i].out);
    }
    free(x), free(plain), free(coset), free(v);
    ntt_domain_free(host_with(1), d);
}

TEST(naive) {
    const ntt_kernel *list[2];
    const unsigned count = kernels(list);
    for (unsigned k = 0; k < count; k++)
        for (unsigned log2_n = 0; log2_n <= 10; log2_n++)
            check_naive(log2_n, list[k], NTT_TILE_LOG2);
}

/* Small tiles: two to five passes. */
TEST(naive_many_passes) {
    const ntt_kernel *list[2];
    const unsigned count = kernels(list);
    for (unsigned k = 0; k < count; k++)
        for (unsigned tile = 2; tile <= 4; tile++)
            for (unsigned log2_n = 0; log2_n <= 10; log2_n++)
                check_naive(log2_n, list[k], tile);
}

static void check_round_trip(unsigned log2_n, const ntt_kernel *kernel) {
    const size_t n = (size_t)1 << log2_n;
    ntt_domain *d = domain_with(log2_n, kernel);
    fr_t *x = vector(n), *v = vector(n);
    fill_random(x, n);
    memcpy(v, x, n * sizeof *v);
    ntt_forward(host_with(2), d, v);
    ntt_inverse(host_with(2), d, v);
    check_same("inverse of forward", log2_n, v, x);
    ntt_coset_inverse(host_with(2), d, v);
    ntt_coset_forward(host_with(2), d, v);
    check_same("coset forward of inverse", log2_n, v, x);
    free(x), free(v);
    ntt_domain_free(host_with(1), d);
}

TEST(round_trips) {
    const ntt_kernel *list[2];
    const unsigned count = kernels(list);
    for (unsigned log2_n = 0; log2_n <= 18; log2_n++)
        for (unsigned k = 0; k < count; k++)
            if (log2_n <= 16 || k + 1 == count) check_round_trip(log2_n, list[k]);
}

TEST(round_trip_2_22) {
    check_round_trip(22, ntt_kernel_best());
}

/* A delta at i becomes the powers of omega^i. */
TEST(deltas) {
    for (unsigned log2_n = 0; log2_n <= 13; log2_n++) {
        const size_t n = (size_t)1 << log2_n;
        ntt_domain *d = domain_with(log2_n, ntt_kernel_best());
        fr_t *v = vector(n), *powers = vector(n);
        for (int trial = 0; trial < 4; trial++) {
            const size_t at = trial == 0 ? 0 : trial == 1 ? n - 1 : check_random() % n;
            fr_t ratio = fr_one(), omega;
            ntt_root_of_unity(log2_n, &omega);
            fr_pow_var(&ratio, &omega, &(uint64_t){at}, 1);
            powers[0] = fr_one();
            for (size_t i = 1; i < n; i++)
                fr_mul(&powers[i], &powers[i - 1], &ratio);
            memset(v, 0, n * sizeof *v);
            v[at] = fr_one();
            ntt_forward(host_with(2), d, v);
            check_same("delta", log2_n, v, powers);
        }
        free(v), free(powers);
        ntt_domain_free(host_with(1), d);
    }
}

TEST(convolution) {
    for (unsigned log2_n = 1; log2_n <= 10; log2_n++) {
        const size_t n = (size_t)1 << log2_n, half = n / 2;
        ntt_domain *d = domain_with(log2_n, ntt_kernel_best());
        fr_t *x = vector(n), *y = vector(n), *product = vector(n);
        memset(x, 0, n * sizeof *x), memset(y, 0, n * sizeof *y);
        memset(product, 0, n * sizeof *product);
        fill_random(x, half), fill_random(y, half);
        for (size_t i = 0; i < half; i++) {
            for (size_t j = 0; j < half; j++) {
                fr_t t;
                fr_mul(&t, &x[i], &y[j]);
                fr_add(&product[i + j], &product[i + j], &t);
            }
        }
        ntt_forward(host_with(1), d, x);
        ntt_forward(host_with(1), d, y);
        for (size_t i = 0; i < n; i++)
            fr_mul(&x[i], &x[i], &y[i]);
        ntt_inverse(host_with(1), d, x);
        check_same("convolution", log2_n, x, product);
        free(x), free(y), free(product);
        ntt_domain_free(host_with(1), d);
    }
}

/* Outputs of a transform too large for the naive sum, at random places. */
static void check_by_evaluation(unsigned log2_n, int points) {
    const size_t n = (size_t)1 << log2_n;
    ntt_domain *d = domain_with(log2_n, ntt_kernel_best());
    fr_t *x = vector(n), *v = vector(n), *w = vector(n);
    fill_random(x, n);
    memcpy(v, x, n * sizeof *v);
    memcpy(w, x, n * sizeof *w);
    ntt_forward(host_with(2), d, v);
    ntt_coset_forward(host_with(2), d, w);
    for (int i = 0; i < points; i++) {
        const uint64_t at = i == 0 ? n - 1 : check_random() % n;
        fr_t point, value;
        const fr_t g = seven();
        ntt_root_of_unity(log2_n, &point);
        fr_pow_var(&point, &point, &at, 1);
        value = evaluate(x, n, &point);
        CHECK(fr_eq(&value, &v[at]));
        fr_mul(&point, &point, &g);
        value = evaluate(x, n, &point);
        CHECK(fr_eq(&value, &w[at]));
    }
    free(x), free(v), free(w);
    ntt_domain_free(host_with(1), d);
}

TEST(evaluation) {
    check_by_evaluation(19, 3);
    check_by_evaluation(20, 3);
}

static void check_variants_agree(unsigned log2_n, const fr_t *x) {
    transform *const transforms[] = {ntt_forward, ntt_inverse, ntt_coset_forward,
                                     ntt_coset_inverse};
    const ntt_kernel *list[2];
    const unsigned count = kernels(list);
    const size_t n = (size_t)1 << log2_n;
    fr_t *v = vector(n), *expected = vector(n);
    for (size_t t = 0; t < 4; t++) {
        for (unsigned k = 0; k < count; k++) {
            ntt_domain *d = domain_with(log2_n, list[k]);
            for (unsigned workers = 1; workers <= 3; workers++) {
                memcpy(v, x, n * sizeof *v);
                transforms[t](host_with(workers), d, v);
                if (k == 0 && workers == 1) memcpy(expected, v, n * sizeof *v);
                if (memcmp(v, expected, n * sizeof *v) != 0)
                    CHECK_FAILED_("2^%u: %s, %u workers differ", log2_n, list[k]->name, workers);
            }
            ntt_domain_free(host_with(1), d);
        }
    }
    free(v), free(expected);
}

/* Every kernel and number of workers ends in the same bits; r - 1 everywhere, or in one half, is
 * where unreduced sums grow most. */
TEST(variants_agree) {
    for (unsigned log2_n = 0; log2_n <= 17; log2_n += log2_n < 10 ? 1 : 7) {
        const size_t n = (size_t)1 << log2_n;
        fr_t *x = vector(n);
        fill_random(x, n);
        check_variants_agree(log2_n, x);
        for (size_t i = 0; i < n; i++)
            x[i] = largest();
        check_variants_agree(log2_n, x);
        memset(x, 0, n / 2 * sizeof *x);
        check_variants_agree(log2_n, x);
        free(x);
    }
}

int main(int argc, char **argv) {
    const check_case cases[] = {
        RUN(roots),          RUN(domain_limits),  RUN(naive),       RUN(naive_many_passes),
        RUN(round_trips),    RUN(deltas),         RUN(convolution), RUN(evaluation),
        RUN(variants_agree), RUN(round_trip_2_22)};
    const int rc = check_main(argc, argv, cases, sizeof cases / sizeof cases[0]);
    for (int i = 0; i < 4; i++)
        if (hosts[i] != NULL) host_std_free(hosts[i]);
    return rc;
}
