/* The device's field arithmetic, run on the host through emulated carry chains, against the CPU's.
 */
#include "check.h"
#include "device_math.h"

#define ROUNDS 20000

static void random_limbs(uint64_t *l, int n, const uint64_t *p,
                         bool (*canonical)(const uint64_t *)) {
    const unsigned kind = (unsigned)(check_random() % 16);
    if (kind < 4) { /* 0, 1, p - 1, p - 2 */
        for (int i = 0; i < n; i++)
            l[i] = kind < 2 ? 0 : p[i];
        l[0] += kind == 1 ? 1 : 0;
        l[0] -= kind >= 2 ? kind - 1 : 0;
        return;
    }
    do {
        for (int i = 0; i < n; i++)
            l[i] = check_random_runs();
        l[n - 1] &= UINT64_MAX >> (n == FP_LIMBS ? 3 : 1);
    } while (!canonical(l));
}
static bool fp_canonical(const uint64_t *l) {
    return mont_is_canonical(l, &cuzk_fp_prime, FP_LIMBS);
}
static bool fr_canonical(const uint64_t *l) {
    return mont_is_canonical(l, &cuzk_fr_prime, FR_LIMBS);
}
static fp_t random_fp(void) {
    fp_t z;
    random_limbs(z.l, FP_LIMBS, cuzk_fp_prime.p, fp_canonical);
    return z;
}
static fr_t random_fr(void) {
    fr_t z;
    random_limbs(z.l, FR_LIMBS, cuzk_fr_prime.p, fr_canonical);
    return z;
}

TEST(fp_ring) {
    for (int i = 0; i < ROUNDS; i++) {
        const fp_t a = random_fp(), b = random_fp();
        fp_t got, expected;
        fp_mul(&expected, &a, &b);
        device_fp_mul(&got, &a, &b);
        CHECK_MEM(&got, &expected, sizeof got);
        fp_sqr(&expected, &a);
        device_fp_sqr(&got, &a);
        CHECK_MEM(&got, &expected, sizeof got);
        fp_add(&expected, &a, &b);
        device_fp_add(&got, &a, &b);
        CHECK_MEM(&got, &expected, sizeof got);
        fp_sub(&expected, &a, &b);
        device_fp_sub(&got, &a, &b);
        CHECK_MEM(&got, &expected, sizeof got);
    }
}

/* x + p, the other representative below 2p. */
static fp_t plus_p(const fp_t *x) {
    fp_t z;
    uint64_t carry = 0;
    for (int i = 0; i < FP_LIMBS; i++) {
        const mont_u128 s = (mont_u128)x->l[i] + cuzk_fp_prime.p[i] + carry;
        z.l[i] = (uint64_t)s;
        carry = (uint64_t)(s >> 64);
    }
    return z;
}

TEST(fp_lazy_range) {
    for (int i = 0; i < ROUNDS; i++) {
        const fp_t a = random_fp(), b = random_fp(), a2 = plus_p(&a), b2 = plus_p(&b);
        fp_t raw, expected;
        fp_mul(&expected, &a, &b);
        device_fp_mul_raw(&raw, &a2, &b2);
        const fp_t other = plus_p(&expected);
        CHECK(fp_eq(&raw, &expected) || fp_eq(&raw, &other));
        device_fp_mul(&raw, &a2, &b);
        CHECK(fp_eq(&raw, &expected));
        fp_sub(&expected, &a, &b);
        device_fp_sub(&raw, &a, &b2);
        CHECK(fp_eq(&raw, &expected));
        fp_add(&expected, &a, &b);
        device_fp_add(&raw, &a2, &b2);
        CHECK(fp_eq(&raw, &expected));
        fp_sqr(&expected, &a);
        device_fp_sqr(&raw, &a2);
        CHECK(fp_eq(&raw, &expected));
    }
}

TEST(fp_merged_reductions) {
    for (int i = 0; i < ROUNDS; i++) {
        const fp_t a = random_fp(), b = random_fp(), c = random_fp(), d = random_fp();
        fp_t got, ab, cd, expected;
        fp_mul(&ab, &a, &b);
        fp_mul(&cd, &c, &d);
        fp_add(&expected, &ab, &cd);
        device_fp_sum_of_products(&got, &a, &b, &c, &d);
        CHECK_MEM(&got, &expected, sizeof got);
        fp_sub(&expected, &ab, &cd);
        device_fp_difference_of_products(&got, &a, &b, &c, &d);
        CHECK_MEM(&got, &expected, sizeof got);
    }
}

TEST(fp_inverse) {
    for (int i = 0; i < 2000; i++) {
        const fp_t a = random_fp();
        fp_t got, expected;
        fp_inv(&expected, &a);
        device_fp_inverse(&got, &a);
        CHECK_MEM(&got, &expected, sizeof got);
    }
}

TEST(fr_ring) {
    for (int i = 0; i < ROUNDS; i++) {
        const fr_t a = random_fr(), b = random_fr();
        fr_t got, expected;
        fr_mul(&expected, &a, &b);
        device_fr_mul(&got, &a, &b);
        CHECK_MEM(&got, &expected, sizeof got);
        fr_add(&expected, &a, &b);
        device_fr_add(&got, &a, &b);
        CHECK_MEM(&got, &expected, sizeof got);
        fr_sub(&expected, &a, &b);
        device_fr_sub(&got, &a, &b);
        CHECK_MEM(&got, &expected, sizeof got);
    }
}

/* Every representative below 2r as either operand; products take a canonical second factor. */
static fr_t plus_r(const fr_t *x) {
    fr_t z;
    uint64_t carry = 0;
    for (int i = 0; i < FR_LIMBS; i++) {
        const mont_u128 s = (mont_u128)x->l[i] + cuzk_fr_prime.p[i] + carry;
        z.l[i] = (uint64_t)s;
        carry = (uint64_t)(s >> 64);
    }
    return z;
}
TEST(fr_lazy_range) {
    for (int i = 0; i < ROUNDS; i++) {
        const fr_t a = random_fr(), b = random_fr(), a2 = plus_r(&a), b2 = plus_r(&b);
        const fr_t *const as[] = {&a, &a2}, *const bs[] = {&b, &b2};
        fr_t product, sum, difference, got;
        fr_mul(&product, &a, &b);
        fr_add(&sum, &a, &b);
        fr_sub(&difference, &a, &b);
        for (int j = 0; j < 4; j++) {
            if (j < 2) {
                device_fr_mul(&got, as[j], &b);
                CHECK(fr_eq(&got, &product));
            }
            device_fr_add(&got, as[j & 1], bs[j >> 1]);
            CHECK(fr_eq(&got, &sum));
            device_fr_sub(&got, as[j & 1], bs[j >> 1]);
            CHECK(fr_eq(&got, &difference));
        }
    }
}

TEST(fp2_field) {
    for (int i = 0; i < ROUNDS; i++) {
        const fp2_t a = {random_fp(), random_fp()}, b = {random_fp(), random_fp()};
        fp2_t got, expected;
        fp2_mul(&expected, &a, &b);
        device_fp2_mul(&got, &a, &b);
        CHECK_MEM(&got, &expected, sizeof got);
        fp2_sqr(&expected, &a);
        device_fp2_sqr(&got, &a);
        CHECK_MEM(&got, &expected, sizeof got);
        if (i % 16 != 0) continue;
        fp2_inv(&expected, &a);
        device_fp2_inverse(&got, &a);
        CHECK_MEM(&got, &expected, sizeof got);
    }
}

/* Sums of random multiples of the generator, and every special case: equal, opposite, infinity. */
#define GROUP_TEST(G)                                                                              \
    TEST(G##_addition) {                                                                           \
        for (int i = 0; i < 60; i++) {                                                             \
            const fr_t j = random_fr(), k = random_fr();                                           \
            G##_t p, q, got, expected;                                                             \
            G##_affine_t qa;                                                                       \
            G##_from_affine(&p, &G##_generator);                                                   \
            q = p;                                                                                 \
            G##_mul_var(&p, &p, &j);                                                               \
            G##_mul_var(&q, &q, &k);                                                               \
            if (i % 4 == 1) q = p;                                                                 \
            if (i % 4 == 2) G##_neg(&q, &p);                                                       \
            if (i % 8 == 3) q = G##_infinity();                                                    \
            if (i % 8 == 7) p = G##_infinity();                                                    \
            G##_to_affine(&qa, &q);                                                                \
            if (i % 3 == 1) G##_from_affine(&q, &qa);                                              \
            G##_add(&expected, &p, &q);                                                            \
            device_##G##_add(&got, &p, &q);                                                        \
            CHECK(G##_eq(&got, &expected));                                                        \
            device_##G##_add_affine(&got, &p, &qa);                                                \
            CHECK(G##_eq(&got, &expected));                                                        \
        }                                                                                          \
    }
GROUP_TEST(g1)
GROUP_TEST(g2)

TEST_MAIN(RUN(fp_ring), RUN(fp_lazy_range), RUN(fp_merged_reductions), RUN(fp_inverse),
          RUN(fr_ring), RUN(fr_lazy_range), RUN(fp2_field), RUN(g1_addition), RUN(g2_addition))
