/* The largest domain of Filecoin's circuits, 2^27: takes 4.1 GiB and some 40 core-seconds. */
#include "check.h"

#include <unistd.h>

#include "host/host_std.h"
#include "poly/ntt.h"

#define LOG2_N 27
#define TERMS 48
#define POINTS 48

/* Few terms, so that outputs anywhere can be computed directly. */
TEST(sparse_2_27) {
    const uint64_t free_bytes =
        (uint64_t)sysconf(_SC_AVPHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    if (free_bytes < (uint64_t)6 << 30) SKIP("less than 6 GiB of memory are free");
    const size_t n = (size_t)1 << LOG2_N;
    host_std *host = NULL;
    ntt_domain *d = NULL;
    cuzk_error err;
    fr_t *v = calloc(n, sizeof *v), g, omega;
    REQUIRE(v != NULL);
    CHECK_OK(host_std_new(0, 0, &host, &err));
    CHECK_OK(ntt_domain_new(host_std_host(host), LOG2_N, &d, &err));
    REQUIRE(d != NULL);
    uint64_t at[TERMS];
    fr_t values[TERMS];
    for (int i = 0; i < TERMS; i++) {
        at[i] = i == 0 ? 0 : i == 1 ? n - 1 : check_random() % n;
        fr_from_u64(&v[at[i]], check_random());
    }
    for (int i = 0; i < TERMS; i++)
        values[i] = v[at[i]];
    ntt_coset_forward(host_std_host(host), d, v);
    fr_from_u64(&g, 7);
    ntt_root_of_unity(LOG2_N, &omega);
    for (int point = 0; point < POINTS; point++) {
        const uint64_t index = point == 0 ? 0 : point == 1 ? n - 1 : check_random() % n;
        fr_t x, power, sum = fr_zero();
        fr_pow_var(&x, &omega, &index, 1);
        fr_mul(&x, &x, &g);
        for (int i = 0; i < TERMS; i++) {
            bool counted = false; /* two terms may have been drawn at one place */
            for (int j = 0; j < i; j++)
                counted = counted || at[j] == at[i];
            if (counted) continue;
            fr_pow_var(&power, &x, &at[i], 1);
            fr_mul(&power, &power, &values[i]);
            fr_add(&sum, &sum, &power);
        }
        CHECK(fr_eq(&sum, &v[index]));
    }
    ntt_coset_inverse(host_std_host(host), d, v);
    for (int i = 0; i < TERMS; i++) {
        CHECK(fr_eq(&v[at[i]], &values[i]));
        v[at[i]] = fr_zero();
    }
    size_t others = 0;
    for (size_t i = 0; i < n; i++)
        others += !fr_is_zero(&v[i]);
    CHECK_U64(others, 0);
    free(v);
    ntt_domain_free(host_std_host(host), d);
    host_std_free(host);
}

TEST_MAIN(RUN(sparse_2_27))
