/* Fp2, Fp6 and Fp12: laws, and each product against the schoolbook formula of its definition. */
#include "check.h"
#include "field/limbs.h"

#include "field/cpu.h"
#include "field/fp12.h"

static fp_t any_fp(void) {
    fp_t x;
    if (check_random() % 4 != 0 ||
        !limbs_edge(x.l, &cuzk_fp_prime, FP_LIMBS, (int)(check_random() % 64)))
        limbs_random(x.l, &cuzk_fp_prime, FP_LIMBS);
    return x;
}
static fp2_t any_fp2(void) {
    return (fp2_t){any_fp(), any_fp()};
}
static fp6_t any_fp6(void) {
    return (fp6_t){any_fp2(), any_fp2(), any_fp2()};
}
static fp12_t any_fp12(void) {
    return (fp12_t){any_fp6(), any_fp6()};
}

/* x0 y0 - x1 y1 + (x0 y1 + x1 y0) u */
static fp2_t school_fp2(const fp2_t *x, const fp2_t *y) {
    fp2_t z;
    fp_t t;
    fp_mul(&z.c0, &x->c0, &y->c0);
    fp_mul(&t, &x->c1, &y->c1);
    fp_sub(&z.c0, &z.c0, &t);
    fp_mul(&z.c1, &x->c0, &y->c1);
    fp_mul(&t, &x->c1, &y->c0);
    fp_add(&z.c1, &z.c1, &t);
    return z;
}

/* sum of x_i y_j v^(i + j), v^3 = 1 + u */
static fp6_t school_fp6(const fp6_t *x, const fp6_t *y) {
    const fp2_t *a[3] = {&x->c0, &x->c1, &x->c2}, *b[3] = {&y->c0, &y->c1, &y->c2};
    fp2_t c[3] = {fp2_zero(), fp2_zero(), fp2_zero()};
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            fp2_t t = school_fp2(a[i], b[j]);
            const fp2_t xi = {fp_one(), fp_one()};
            if (i + j >= 3) t = school_fp2(&t, &xi);
            fp2_add(&c[(i + j) % 3], &c[(i + j) % 3], &t);
        }
    }
    return (fp6_t){c[0], c[1], c[2]};
}

static fp12_t school_fp12(const fp12_t *x, const fp12_t *y) {
    const fp6_t v = {fp2_zero(), fp2_one(), fp2_zero()};
    fp12_t z;
    fp6_t t = school_fp6(&x->c1, &y->c1);
    t = school_fp6(&t, &v);
    z.c0 = school_fp6(&x->c0, &y->c0);
    fp6_add(&z.c0, &z.c0, &t);
    z.c1 = school_fp6(&x->c0, &y->c1);
    t = school_fp6(&x->c1, &y->c0);
    fp6_add(&z.c1, &z.c1, &t);
    return z;
}

static void check_fp2(void) {
    const fp2_t one = fp2_one();
    for (int i = 0; i < 20000; i++) {
        const fp2_t x = any_fp2(), y = any_fp2(), expected = school_fp2(&x, &y);
        fp2_t z = x, t;
        fp2_mul(&z, &z, &y);
        CHECK(fp2_eq(&z, &expected));
        z = y;
        fp2_mul(&z, &x, &z);
        CHECK(fp2_eq(&z, &expected));
        z = x;
        fp2_sqr(&z, &z);
        t = school_fp2(&x, &x);
        CHECK(fp2_eq(&z, &t));
        const fp2_t xi = {fp_one(), fp_one()};
        z = x;
        fp2_mul_xi(&z, &z);
        t = school_fp2(&x, &xi);
        CHECK(fp2_eq(&z, &t));
        z = x;
        fp2_mul_fp(&z, &z, &z.c1);
        t = (fp2_t){x.c1, fp_zero()};
        t = school_fp2(&x, &t);
        CHECK(fp2_eq(&z, &t));
        if (i % 10 != 0) continue;
        fp2_inv(&z, &x);
        fp2_mul(&z, &z, &x);
        CHECK(fp2_is_zero(&x) ? fp2_is_zero(&z) : fp2_eq(&z, &one));
    }
}

static void check_fp2_sqrt(void) {
    int squares = 0;
    for (int i = 0; i < 400; i++) {
        fp2_t x = any_fp2(), root = fp2_one(), square, negative;
        if (i % 4 == 0) x.c1 = fp_zero();
        if (i % 8 == 1) x.c0 = fp_zero();
        fp2_sqr(&square, &x);
        CHECK(fp2_sqrt(&root, &square));
        fp2_neg(&negative, &x);
        CHECK(fp2_eq(&root, &x) || fp2_eq(&root, &negative));
        if (fp2_is_zero(&x)) continue;
        CHECK(fp2_is_lexicographically_largest(&x) != fp2_is_lexicographically_largest(&negative));
        /* x is a square exactly if its norm is one in Fp */
        fp_t norm, t;
        fp_sqr(&norm, &x.c0);
        fp_sqr(&t, &x.c1);
        fp_add(&norm, &norm, &t);
        const bool expected = fp_sqrt(&t, &norm), found = fp2_sqrt(&root, &x);
        CHECK(found == expected);
        fp2_sqr(&square, &root);
        CHECK(!found || fp2_eq(&square, &x));
        squares += found;
    }
    CHECK(squares > 100 && squares < 350);
}

static void check_fp6(void) {
    for (int i = 0; i < 5000; i++) {
        const fp6_t x = any_fp6(), y = any_fp6(), expected = school_fp6(&x, &y);
        fp6_t z = x, t;
        fp6_mul(&z, &z, &y);
        CHECK(fp6_eq(&z, &expected));
        z = y;
        fp6_mul(&z, &x, &z);
        CHECK(fp6_eq(&z, &expected));
        z = x;
        fp6_sqr(&z, &z);
        t = school_fp6(&x, &x);
        CHECK(fp6_eq(&z, &t));
        const fp6_t sparse = {y.c0, y.c1, fp2_zero()}, middle = {fp2_zero(), y.c1, fp2_zero()};
        z = x;
        fp6_mul_01(&z, &z, &y.c0, &y.c1);
        t = school_fp6(&x, &sparse);
        CHECK(fp6_eq(&z, &t));
        z = x;
        fp6_mul_1(&z, &z, &y.c1);
        t = school_fp6(&x, &middle);
        CHECK(fp6_eq(&z, &t));
        if (i % 20 != 0 || fp6_is_zero(&x)) continue;
        const fp6_t one = {fp2_one(), fp2_zero(), fp2_zero()};
        z = x;
        fp6_inv(&z, &z);
        fp6_mul(&z, &z, &x);
        CHECK(fp6_eq(&z, &one));
    }
}

static void check_fp12(void) {
    for (int i = 0; i < 2000; i++) {
        const fp12_t x = any_fp12(), y = any_fp12(), expected = school_fp12(&x, &y);
        fp12_t z = x, t;
        fp12_mul(&z, &z, &y);
        CHECK(fp12_eq(&z, &expected));
        z = y;
        fp12_mul(&z, &x, &z);
        CHECK(fp12_eq(&z, &expected));
        z = x;
        fp12_sqr(&z, &z);
        t = school_fp12(&x, &x);
        CHECK(fp12_eq(&z, &t));
        const fp12_t line = {{y.c0.c0, y.c0.c1, fp2_zero()}, {fp2_zero(), y.c1.c1, fp2_zero()}};
        z = x;
        fp12_mul_line(&z, &z, &y.c0.c0, &y.c0.c1, &y.c1.c1);
        t = school_fp12(&x, &line);
        CHECK(fp12_eq(&z, &t));
        if (i % 20 != 0) continue;
        z = x;
        fp12_inv(&z, &z);
        fp12_mul(&z, &z, &x);
        CHECK(fp12_is_one(&z));
    }
}

static void fp12_pow(fp12_t *z, const fp12_t *x, const uint64_t *e, int limbs) {
    fp12_t acc = fp12_one();
    for (int i = 64 * limbs - 1; i >= 0; i--) {
        fp12_sqr(&acc, &acc);
        if ((e[i / 64] >> (i % 64) & 1) != 0) fp12_mul(&acc, &acc, x);
    }
    *z = acc;
}

/* frobenius is x^p; on the cyclotomic subgroup, reached by x^((p^6 - 1)(p^2 + 1)), the cheaper
 * squaring and inversion hold. */
static void check_frobenius(void) {
    for (int i = 0; i < 20; i++) {
        const fp12_t x = any_fp12();
        fp12_t z, t, m;
        fp12_pow(&t, &x, cuzk_fp_prime.p, FP_LIMBS);
        fp12_frobenius(&z, &x);
        CHECK(fp12_eq(&z, &t));
        for (int k = 1; k < 6; k++)
            fp12_frobenius(&z, &z);
        fp12_conjugate(&t, &x);
        CHECK(fp12_eq(&z, &t));

        fp12_inv(&t, &x);
        fp12_mul(&m, &z, &t);
        fp12_frobenius(&t, &m);
        fp12_frobenius(&t, &t);
        fp12_mul(&m, &m, &t);
        z = m;
        fp12_cyclotomic_sqr(&z, &z);
        fp12_sqr(&t, &m);
        CHECK(fp12_eq(&z, &t));
        fp12_conjugate(&t, &m);
        fp12_mul(&t, &t, &m);
        CHECK(fp12_is_one(&t));
        fp12_cyclotomic_sqr(&z, &x); /* x itself is not in the subgroup */
        fp12_sqr(&t, &x);
        CHECK(!fp12_eq(&z, &t));
    }
}

static void everything(void) {
    check_fp2();
    check_fp2_sqrt();
    check_fp6();
    check_fp12();
    check_frobenius();
}

TEST(tower) {
    everything();
}
TEST(tower_portable) {
    cuzk_cpu_force(0);
    everything();
    cuzk_cpu_force(CUZK_CPU_ALL);
}

static bool fp2_read_refuses(int coefficient) {
    uint8_t bytes[FP2_BYTES] = {0};
    fp2_t z;
    memset(bytes + FP_BYTES * coefficient, 0xff, FP_BYTES);
    return fp2_from_bytes(&z, bytes) == CUZK_ERR_NOT_CANONICAL;
}

TEST(fp2_bytes) {
    CHECK(fp2_read_refuses(0));
    CHECK(fp2_read_refuses(1));
    const fp2_t u = {fp_zero(), fp_one()};
    uint8_t bytes[FP2_BYTES];
    fp2_to_bytes(bytes, &u);
    CHECK_U64(bytes[FP_BYTES - 1], 1); /* c1 comes first */
    CHECK_U64(bytes[FP2_BYTES - 1], 0);
    for (int i = 0; i < 100; i++) {
        const fp2_t x = any_fp2();
        fp2_t y;
        fp2_to_bytes(bytes, &x);
        CHECK_STATUS(fp2_from_bytes(&y, bytes), CUZK_OK);
        CHECK(fp2_eq(&x, &y));
    }
}

/* Zeros in a batch stay zero and leave the others alone. */
TEST(fp2_batch_inv) {
    fp2_t x[9], expected[9], scratch[9];
    for (int i = 0; i < 9; i++) {
        x[i] = i % 4 == 1 ? fp2_zero() : any_fp2();
        fp2_inv(&expected[i], &x[i]);
    }
    fp2_batch_inv(x, 9, scratch);
    for (int i = 0; i < 9; i++)
        CHECK(fp2_eq(&x[i], &expected[i]));
}

TEST_MAIN(RUN(tower), RUN(tower_portable), RUN(fp2_bytes), RUN(fp2_batch_inv))
