/* The passes of the device's transforms, run on the host block by block, against src/poly. */
#include "check.h"
#include "device_math.h"
#include "host/host_std.h"
#include "poly/ntt.h"

static cuzk_error err;
static host_std *std_host;

static fr_t largest_value(void) {
    fr_t z;
    memcpy(z.l, cuzk_fr_prime.p, sizeof z.l);
    z.l[0] -= 1;
    return z;
}

/* 0, 1, 2, r - 1, runs of equal bits, and random values. */
static fr_t edge_value(void) {
    fr_t z = fr_zero();
    switch (check_random() % 8) {
    case 0:
        z.l[0] = check_random() % 3;
        break;
    case 1:
        z = largest_value();
        break;
    default:
        do {
            for (int i = 0; i < FR_LIMBS; i++)
                z.l[i] = check_random_runs();
            z.l[FR_LIMBS - 1] >>= 1;
        } while (!mont_is_canonical(z.l, &cuzk_fr_prime, FR_LIMBS));
    }
    return z;
}

/* z += r; the carry out of the top. */
static bool add_r(fr_t *z) {
    mont_u128 s = 0;
    for (int i = 0; i < FR_LIMBS; i++) {
        s += (mont_u128)z->l[i] + cuzk_fr_prime.p[i];
        z->l[i] = (uint64_t)s;
        s >>= 64;
    }
    return s != 0;
}

TEST(known_factors) {
    for (int i = 0; i < 100000; i++) {
        const fr_t w = edge_value();
        fr_t x = edge_value(), expected, other, got;
        fr_mul(&expected, &x, &w);
        other = expected;
        CHECK(!add_r(&other));
        if (check_random() & 1) CHECK(!add_r(&x)); /* x < 2r */
        device_ntt_factor_mul(&got, &x, &w);
        CHECK(fr_eq(&got, &expected) || fr_eq(&got, &other));
    }
}

TEST(root_of_order_4) {
    fr_t w;
    ntt_root_of_unity(2, &w);
    for (int i = 0; i < 100000; i++) {
        fr_t x = edge_value(), expected, other, got;
        fr_mul(&expected, &x, &w);
        other = expected;
        CHECK(!add_r(&other));
        if (check_random() & 1) CHECK(!add_r(&x)); /* x < 2r */
        device_ntt_times_fourth(&got, &x);
        CHECK(fr_eq(&got, &expected) || fr_eq(&got, &other));
    }
}

static fr_t random_value(void) {
    uint8_t wide[64];
    fr_t z;
    check_random_bytes(wide, sizeof wide);
    fr_from_wide(&z, wide);
    return z;
}
static fr_t *make_vector(size_t n, fr_t (*value)(void)) {
    fr_t *v = malloc(n * sizeof *v);
    REQUIRE(v != NULL);
    for (size_t i = 0; i < n; i++)
        v[i] = value();
    return v;
}

static void bit_reverse(fr_t *v, unsigned log2_n) {
    for (size_t i = 0; i < (size_t)1 << log2_n; i++) {
        size_t j = 0;
        for (unsigned b = 0; b < log2_n; b++)
            j |= (i >> b & 1) << (log2_n - 1 - b);
        if (i < j) {
            const fr_t t = v[i];
            v[i] = v[j];
            v[j] = t;
        }
    }
}

/* all: every kind of transform, else one each way. */
static void check_plan(const cuzk_ntt_plan *plan, fr_t (*value)(void), bool all) {
    const unsigned log2_n = plan->log2_n;
    const size_t n = (size_t)1 << log2_n, bytes = n * sizeof(fr_t);
    const cuzk_host *host = host_std_host(std_host);
    ntt_domain *domain;
    CHECK_OK(ntt_domain_new(host, log2_n, &domain, &err));
    fr_t *a = make_vector(n, value), *b = make_vector(n, value), *expected = malloc(bytes),
         *got = malloc(bytes), *c = malloc(bytes);
    REQUIRE(expected != NULL && got != NULL && c != NULL);

    memcpy(expected, a, bytes);
    ntt_forward(host, domain, expected);
    device_ntt(plan, false, 0, false, -1, a, NULL, NULL, got);
    bit_reverse(got, log2_n);
    CHECK_MEM(got, expected, bytes);

    if (!all) goto coset;
    memcpy(got, a, bytes);
    bit_reverse(got, log2_n);
    device_ntt(plan, true, 0, false, -1, got, NULL, NULL, got);
    CHECK_MEM(got, expected, bytes);

coset:
    memcpy(expected, a, bytes);
    ntt_coset_forward(host, domain, expected);
    memcpy(got, a, bytes);
    bit_reverse(got, log2_n);
    device_ntt(plan, true, 0, true, CUZK_NTT_SCALE_COSET, got, NULL, NULL, got);
    CHECK_MEM(got, expected, bytes);

    if (!all) goto done;
    memcpy(expected, a, bytes);
    ntt_inverse(host, domain, expected);
    device_ntt(plan, false, 1, false, CUZK_NTT_SCALE_INVERSE, a, NULL, NULL, got);
    bit_reverse(got, log2_n);
    CHECK_MEM(got, expected, bytes);

    /* with the fused product and difference */
    for (size_t i = 0; i < n; i++)
        fr_mul(&expected[i], &a[i], &b[i]);
    ntt_coset_inverse(host, domain, expected);
    bit_reverse(expected, log2_n);
    for (size_t i = 0; i < n; i++)
        fr_sub(&expected[i], &expected[i], &b[i]);
    device_ntt(plan, false, 1, true, CUZK_NTT_SCALE_COSET_INVERSE, a, b, b, got);
    CHECK_MEM(got, expected, bytes);

    /* the quotient's sequence */
    memcpy(expected, a, bytes);
    memcpy(got, b, bytes);
    ntt_quotient(host, domain, expected, got, c);
    device_ntt(plan, false, 1, false, CUZK_NTT_SCALE_QUOTIENT_C, a, b, NULL, c);
    device_ntt(plan, false, 1, false, -1, a, NULL, NULL, a);
    device_ntt(plan, true, 0, true, CUZK_NTT_SCALE_QUOTIENT_COSET, a, NULL, NULL, a);
    device_ntt(plan, false, 1, false, -1, b, NULL, NULL, b);
    device_ntt(plan, true, 0, true, CUZK_NTT_SCALE_QUOTIENT_COSET, b, NULL, NULL, b);
    device_ntt(plan, false, 1, true, CUZK_NTT_SCALE_QUOTIENT_INVERSE, a, b, c, a);
    bit_reverse(a, log2_n);
    CHECK_MEM(a, expected, bytes);

done:
    free(a);
    free(b);
    free(c);
    free(expected);
    free(got);
    ntt_domain_free(host, domain);
}

static void check_size(unsigned log2_n, fr_t (*value)(void)) {
    cuzk_ntt_plan plan;
    CHECK_OK(cuzk_ntt_plan_make(&plan, log2_n, CUZK_NTT_NARROW, &err));
    check_plan(&plan, value, true);
}
/* More passes than so few elements need. */
static void check_passes(unsigned log2_n, unsigned passes, unsigned wide, fr_t (*value)(void),
                         bool all) {
    cuzk_ntt_plan plan;
    cuzk_ntt_plan_make_passes(&plan, log2_n, passes, wide);
    check_plan(&plan, value, all);
}

TEST(one_pass) {
    for (unsigned k = CUZK_NTT_MIN_LOG2; k <= 9; k++) {
        check_size(k, random_value);
        check_size(k, edge_value);
        check_size(k, largest_value);
    }
}
TEST(two_passes) {
    for (unsigned k = 10; k <= 13; k++) {
        check_size(k, random_value);
        check_size(k, edge_value);
    }
}
TEST(three_passes) {
    check_passes(15, 3, CUZK_NTT_NARROW, random_value, true);
    check_passes(15, 3, CUZK_NTT_WIDE_ALL, edge_value, true);
    check_passes(15, 3, CUZK_NTT_WIDE_QUOTIENT, largest_value, true);
    check_passes(16, 3, CUZK_NTT_WIDE_FORWARD, random_value, true);
    check_passes(19, 3, CUZK_NTT_NARROW, random_value, false);
}
/* From natural order with a wide table, back with narrow ones. */
TEST(four_passes) {
    check_passes(20, 4, CUZK_NTT_WIDE_FORWARD, edge_value, false);
}
TEST(plan) {
    cuzk_ntt_plan p;
    CHECK_STATUS(cuzk_ntt_plan_make(&p, 4, CUZK_NTT_NARROW, &err), CUZK_ERR_ARGUMENT);
    CHECK_STATUS(cuzk_ntt_plan_make(&p, 32, CUZK_NTT_NARROW, &err), CUZK_ERR_ARGUMENT);
    for (unsigned k = CUZK_NTT_MIN_LOG2; k <= CUZK_NTT_MAX_LOG2; k++) {
        CHECK_OK(cuzk_ntt_plan_make(&p, k, CUZK_NTT_NARROW, &err));
        unsigned sum = 0;
        for (unsigned q = 0; q < p.passes; q++) {
            CHECK(p.bits[q] >= CUZK_NTT_MIN_BITS && p.bits[q] <= CUZK_NTT_MAX_BITS);
            sum += p.bits[q];
            CHECK_U64(p.below[q], k - sum);
        }
        CHECK_U64(sum, k);

        const size_t narrow = p.table_bytes, entries = p.passes > 2 ? (size_t)1 << k : 0;
        CHECK(narrow < (size_t)200 << 20);
        for (unsigned wide = 1; wide <= CUZK_NTT_WIDE_ALL; wide++) {
            CHECK_OK(cuzk_ntt_plan_make(&p, k, wide, &err));
            CHECK_U64(p.table_bytes,
                      narrow + (size_t)__builtin_popcount(wide) * entries * sizeof(fr_t));
        }
    }
}

int main(int argc, char **argv) {
    CHECK_OK(host_std_new(1, 0, &std_host, &err));
    const check_case cases[] = {RUN(plan),       RUN(known_factors), RUN(root_of_order_4),
                                RUN(one_pass),   RUN(two_passes),    RUN(three_passes),
                                RUN(four_passes)};
    const int status = check_main(argc, argv, cases, sizeof cases / sizeof cases[0]);
    host_std_free(std_host);
    return status;
}
