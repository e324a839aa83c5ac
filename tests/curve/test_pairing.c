/* The pairing: bilinear, not degenerate, of order r, and products under one final exponentiation.
 */
#include "check.h"

#include "curve/pairing.h"
#include "field/cpu.h"

static fr_t random_fr(void) {
    uint8_t bytes[64];
    fr_t k;
    check_random_bytes(bytes, sizeof bytes);
    fr_from_wide(&k, bytes);
    return k;
}

static g1_affine_t g1_times(const fr_t *k) {
    g1_t z;
    g1_affine_t a;
    g1_from_affine(&z, &g1_generator);
    g1_mul_var(&z, &z, k);
    g1_to_affine(&a, &z);
    return a;
}
static g2_affine_t g2_times(const fr_t *k) {
    g2_t z;
    g2_affine_t a;
    g2_from_affine(&z, &g2_generator);
    g2_mul_var(&z, &z, k);
    g2_to_affine(&a, &z);
    return a;
}

static void fp12_pow(fp12_t *z, const fp12_t *x, const uint64_t *e, int limbs) {
    fp12_t acc = fp12_one();
    for (int i = 64 * limbs - 1; i >= 0; i--) {
        fp12_sqr(&acc, &acc);
        if ((e[i / 64] >> (i % 64) & 1) != 0) fp12_mul(&acc, &acc, x);
    }
    *z = acc;
}

static void check_bilinear(void) {
    fp12_t base, left, right;
    pairing(&base, &g1_generator, &g2_generator);
    CHECK(!fp12_is_one(&base));
    fp12_pow(&left, &base, cuzk_fr_prime.p, FR_LIMBS);
    CHECK(fp12_is_one(&left));
    for (int i = 0; i < 4; i++) {
        const fr_t a = random_fr(), b = random_fr();
        const g1_affine_t p = g1_times(&a);
        const g2_affine_t q = g2_times(&b);
        fr_t ab;
        uint64_t plain[FR_LIMBS];
        fr_mul(&ab, &a, &b);
        fr_to_limbs(plain, &ab);
        pairing(&left, &p, &q);
        fp12_pow(&right, &base, plain, FR_LIMBS);
        CHECK(fp12_eq(&left, &right));
    }
}

TEST(bilinear) {
    check_bilinear();
}
TEST(bilinear_portable) {
    cuzk_cpu_force(0);
    check_bilinear();
    cuzk_cpu_force(CUZK_CPU_ALL);
}

TEST(infinity) {
    g1_affine_t p = g1_generator;
    g2_affine_t q = g2_generator;
    fp12_t z;
    memset(&p, 0, sizeof p);
    pairing(&z, &p, &q);
    CHECK(fp12_is_one(&z));
    p = g1_generator;
    memset(&q, 0, sizeof q);
    pairing(&z, &p, &q);
    CHECK(fp12_is_one(&z));
}

/* Products of n pairs, past the number that share their squarings, with infinities among them. */
TEST(products) {
    enum { N = 35 };
    static g1_affine_t p[N];
    static g2_affine_t q[N];
    fp12_t each, product = fp12_one(), z;
    CHECK(pairing_product_is_one(p, q, 0));
    for (size_t i = 0; i < N; i++) {
        const fr_t a = random_fr(), b = random_fr();
        p[i] = g1_times(&a);
        q[i] = g2_times(&b);
        if (i % 7 == 3) memset(&p[i], 0, sizeof p[i]);
        if (i % 7 == 5) memset(&q[i], 0, sizeof q[i]);
        pairing(&each, &p[i], &q[i]);
        fp12_mul(&product, &product, &each);
        pairing_miller(&z, p, q, i + 1);
        pairing_final_exponentiation(&z, &z);
        CHECK(fp12_eq(&z, &product));
        CHECK(!pairing_product_is_one(p, q, i + 1));
    }
}

/* sum a_i b_i = 0 makes the product 1, and any other sum does not. */
TEST(product_is_one) {
    for (int round = 0; round < 3; round++) {
        g1_affine_t p[4];
        g2_affine_t q[4];
        fr_t sum = fr_zero(), t;
        for (int i = 0; i < 3; i++) {
            const fr_t a = random_fr(), b = random_fr();
            p[i] = g1_times(&a);
            q[i] = g2_times(&b);
            fr_mul(&t, &a, &b);
            fr_sub(&sum, &sum, &t);
        }
        p[3] = g1_times(&sum);
        q[3] = g2_generator;
        CHECK(pairing_product_is_one(p, q, 4));
        g1_affine_neg(&p[3], &p[3]);
        CHECK(!pairing_product_is_one(p, q, 4));
    }
}

TEST_MAIN(RUN(bilinear), RUN(bilinear_portable), RUN(infinity), RUN(products), RUN(product_is_one))
