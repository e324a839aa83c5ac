/* The fast Montgomery routines against the plain ones that define them, and the plain ones against
 * arithmetic by shifting and adding, for the primes of BLS12-381 and BN254. */
#include "check.h"
#include "field/other_primes.h"
#include "field/limbs.h"

#include "field/cpu.h"
#include "field/fp_wide.h"
#include "field/fr.h"

#define EDGES_MAX 2000

typedef struct prime_case {
    const char *name;
    const mont_prime *P;
    int n;
} prime_case;

static const prime_case primes[] = {{"Fr", &cuzk_fr_prime, 4},
                                    {"Fp", &cuzk_fp_prime, 6},
                                    {"BN254 r", &bn254_r_prime, 4},
                                    {"BN254 p", &bn254_p_prime, 4}};

/* All of add, sub and mul on one pair, in place too. */
static void check_pair(const prime_case *c, const uint64_t *x, const uint64_t *y) {
    uint64_t fast[6], plain[6];
    const size_t bytes = (size_t)c->n * 8;
#define CHECK_OPERATION(op)                                                                        \
    do {                                                                                           \
        if (c->n == 4) {                                                                           \
            mont_plain_##op(plain, x, y, c->P, 4);                                                 \
            mont_##op(fast, x, y, c->P, 4);                                                        \
        } else {                                                                                   \
            mont_plain_##op(plain, x, y, c->P, 6);                                                 \
            mont_##op(fast, x, y, c->P, 6);                                                        \
        }                                                                                          \
        if (memcmp(fast, plain, bytes) != 0)                                                       \
            CHECK_FAILED_("%s " #op " of %s", c->name, check_hex(x, bytes));                       \
        if (!limbs_less(plain, c->P->p, c->n))                                                     \
            CHECK_FAILED_("%s " #op " is not reduced", c->name);                                   \
        memcpy(fast, x, bytes);                                                                    \
        if (c->n == 4)                                                                             \
            mont_##op(fast, fast, y, c->P, 4);                                                     \
        else                                                                                       \
            mont_##op(fast, fast, y, c->P, 6);                                                     \
        if (memcmp(fast, plain, bytes) != 0) CHECK_FAILED_("%s " #op " in place (x)", c->name);    \
        memcpy(fast, y, bytes);                                                                    \
        if (c->n == 4)                                                                             \
            mont_##op(fast, x, fast, c->P, 4);                                                     \
        else                                                                                       \
            mont_##op(fast, x, fast, c->P, 6);                                                     \
        if (memcmp(fast, plain, bytes) != 0) CHECK_FAILED_("%s " #op " in place (y)", c->name);    \
    } while (0)
    CHECK_OPERATION(add);
    CHECK_OPERATION(sub);
    CHECK_OPERATION(mul);
}

TEST(fast_equals_plain_on_edges) {
    static uint64_t edges[EDGES_MAX][6];
    for (size_t p = 0; p < sizeof primes / sizeof primes[0]; p++) {
        const prime_case *c = &primes[p];
        int n = 0;
        while (n < EDGES_MAX && limbs_edge(edges[n], c->P, c->n, n))
            n++;
        CHECK(n > 500 && n < EDGES_MAX);
        for (int i = 0; i < n; i++)
            for (int j = i % 7; j < n; j += 7)
                check_pair(c, edges[i], edges[j]);
    }
}

TEST(fast_equals_plain_on_random) {
    for (size_t p = 0; p < sizeof primes / sizeof primes[0]; p++) {
        for (int i = 0; i < 600000; i++) {
            uint64_t x[6], y[6];
            limbs_random(x, primes[p].P, primes[p].n);
            limbs_random(y, primes[p].P, primes[p].n);
            check_pair(&primes[p], x, y);
        }
    }
}

/* z = x y mod p by doubling and adding plain integers: nothing in common with Montgomery. */
static void slow_mul(uint64_t *z, const uint64_t *x, const uint64_t *y, const prime_case *c) {
    uint64_t sum[6] = {0};
    for (int i = 64 * c->n - 1; i >= 0; i--) {
        mont_plain_add(sum, sum, sum, c->P, c->n);
        if ((y[i / 64] >> (i % 64) & 1) != 0) mont_plain_add(sum, sum, x, c->P, c->n);
    }
    memcpy(z, sum, (size_t)c->n * 8);
}

/* (x R^2 / R) (y R^2 / R) / R = x y R, and times 1 / R: x y. */
TEST(plain_multiplication) {
    for (size_t p = 0; p < sizeof primes / sizeof primes[0]; p++) {
        const prime_case *c = &primes[p];
        const uint64_t one[6] = {1};
        for (int i = 0; i < 3000; i++) {
            uint64_t x[6], y[6], slow[6], a[6], b[6];
            limbs_random(x, c->P, c->n);
            if (!limbs_edge(y, c->P, c->n, i)) limbs_random(y, c->P, c->n);
            slow_mul(slow, x, y, c);
            mont_plain_mul(a, x, c->P->r2, c->P, c->n);
            mont_plain_mul(b, y, c->P->r2, c->P, c->n);
            mont_plain_mul(a, a, b, c->P, c->n);
            mont_plain_mul(a, a, one, c->P, c->n);
            CHECK_MEM(a, slow, (size_t)c->n * 8);
        }
    }
}

/* Wide arithmetic, on operands over the whole range that fp_wide.h allows. */
TEST(wide_fast_equals_plain) {
    for (int i = 0; i < 1000000; i++) {
        fp_t x, y, fast, plain;
        fp_wide u, v, w;
        limbs_random(x.l, &cuzk_fp_prime, 6);
        limbs_random(y.l, &cuzk_fp_prime, 6);
        fp_add_unreduced(&fast, &x, &y);
        mont_plain_add_unreduced(plain.l, x.l, y.l, 6);
        CHECK_MEM(&fast, &plain, sizeof fast);
        for (int k = 0; k < 3; k++)
            fp_add_unreduced(&x, &x, &y); /* < 4 p */
        fp_wide_mul(&u, &x, &y);
        mont_plain_wide_mul(w.l, x.l, y.l, 6);
        CHECK_MEM(&u, &w, sizeof u);
        for (int k = 0; k < 12; k++)
            u.l[k] = check_random_runs(), v.l[k] = check_random_runs();
        limbs_random(u.l + 6, &cuzk_fp_prime, 6);
        limbs_random(v.l + 6, &cuzk_fp_prime, 6);
        fp_wide_reduce(&fast, &u);
        mont_plain_wide_reduce(plain.l, u.l, &cuzk_fp_prime, 6);
        CHECK_MEM(&fast, &plain, sizeof fast);
        mont_plain_wide_add(w.l, u.l, v.l, &cuzk_fp_prime, 6);
        fp_wide sum = u;
        fp_wide_add(&sum, &sum, &v);
        CHECK_MEM(&sum, &w, sizeof w);
        mont_plain_wide_sub(w.l, u.l, v.l, &cuzk_fp_prime, 6);
        fp_wide difference = v;
        fp_wide_sub(&difference, &u, &difference);
        CHECK_MEM(&difference, &w, sizeof w);
        fp_wide_sub_plain(&difference, &u, &u);
        mont_plain_wide_sub(w.l, u.l, u.l, &cuzk_fp_prime, 6);
        CHECK_MEM(&difference, &w, sizeof w);
    }
}

/* x y / R both ways, for x, y < 2 p as the tower uses them. */
TEST(wide_agrees_with_mul) {
    for (int i = 0; i < 100000; i++) {
        fp_t x, y, z, expected;
        fp_wide w;
        limbs_random(x.l, &cuzk_fp_prime, 6);
        limbs_random(y.l, &cuzk_fp_prime, 6);
        fp_mul(&expected, &x, &y);
        fp_wide_mul(&w, &x, &y);
        fp_wide_reduce(&z, &w);
        CHECK(fp_eq(&z, &expected));
        mont_plain_add_unreduced(x.l, x.l, cuzk_fp_prime.p, 6);
        fp_mul(&z, &x, &y);
        CHECK(fp_eq(&z, &expected));
        mont_plain_add_unreduced(y.l, y.l, cuzk_fp_prime.p, 6);
        fp_wide_mul(&w, &x, &y);
        fp_wide_reduce(&z, &w);
        CHECK(fp_eq(&z, &expected));
    }
}

TEST(forced_portable) {
    cuzk_cpu_force(0);
    CHECK(!cuzk_cpu_has_adx() && !cuzk_cpu_has_avx512ifma());
    fp_t x, y, portable, fast;
    fp_wide portable_wide, fast_wide;
    limbs_random(x.l, &cuzk_fp_prime, 6);
    limbs_random(y.l, &cuzk_fp_prime, 6);
    fp_mul(&portable, &x, &y);
    fp_wide_mul(&portable_wide, &x, &y);
    cuzk_cpu_force(CUZK_CPU_ALL);
    fp_mul(&fast, &x, &y);
    fp_wide_mul(&fast_wide, &x, &y);
    CHECK(fp_eq(&fast, &portable));
    CHECK_MEM(&fast_wide, &portable_wide, sizeof fast_wide);
    if (!cuzk_cpu_has_adx()) SKIP("no ADX here: the fast routines were not tested");
}

TEST_MAIN(RUN(fast_equals_plain_on_edges), RUN(fast_equals_plain_on_random),
          RUN(plain_multiplication), RUN(wide_fast_equals_plain), RUN(wide_agrees_with_mul),
          RUN(forced_portable))
