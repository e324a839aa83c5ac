/* The curve template over a field of 97 elements: one curve y^2 = x^3 + b of each of the 6 classes
 * up to isomorphism (b = 5^0 .. 5^5, where 5 generates the field's units and 6th powers of it do
 * not change the curve), every pair of points on each, against the textbook's affine addition. */
#include "check.h"
#include "field/other_primes.h"

#define FIELD tiny
#define FIELD_LIMBS 1
#define FIELD_PRIME tiny_97_prime
#include "field/prime_field.h"
#define FIELD tiny
#define FIELD_LIMBS 1
#define FIELD_PRIME tiny_97_prime
#include "field/prime_field_impl.h"

static tiny_t curve_b;

#define CURVE tc
#define CURVE_FIELD tiny
#include "curve/weierstrass.h"
#define CURVE tc
#define CURVE_FIELD tiny
#define CURVE_B curve_b
#include "curve/weierstrass_impl.h"

#define POINTS_MAX 200

static tc_affine_t points[POINTS_MAX]; /* all of the curve, infinity first */
static int n_points;

static void list_points(uint64_t b) {
    tiny_from_u64(&curve_b, b);
    n_points = 1;
    memset(&points[0], 0, sizeof points[0]);
    for (uint64_t x = 0; x < 97; x++) {
        for (uint64_t y = 0; y < 97; y++) {
            if ((y * y + 97 * 97 * 97 - x * x * x - b) % 97 != 0) continue;
            tc_affine_t *p = &points[n_points++];
            tiny_from_u64(&p->x, x);
            tiny_from_u64(&p->y, y);
        }
    }
}

static tc_affine_t textbook_add(const tc_affine_t *p, const tc_affine_t *q) {
    if (tc_affine_is_infinity(p)) return *q;
    if (tc_affine_is_infinity(q)) return *p;
    tiny_t slope, t;
    tc_affine_t z;
    if (tiny_eq(&p->x, &q->x)) {
        tiny_add(&t, &p->y, &q->y);
        if (tiny_is_zero(&t)) return points[0];
        tiny_inv(&t, &t);
        tiny_sqr(&slope, &p->x);
        tiny_mul(&t, &t, &slope);
        tiny_double(&slope, &t);
        tiny_add(&slope, &slope, &t);
    } else {
        tiny_sub(&t, &q->x, &p->x);
        tiny_inv(&t, &t);
        tiny_sub(&slope, &q->y, &p->y);
        tiny_mul(&slope, &slope, &t);
    }
    tiny_sqr(&z.x, &slope);
    tiny_sub(&z.x, &z.x, &p->x);
    tiny_sub(&z.x, &z.x, &q->x);
    tiny_sub(&t, &p->x, &z.x);
    tiny_mul(&t, &t, &slope);
    tiny_sub(&z.y, &t, &p->y);
    return z;
}

/* p in a random one of its XYZZ forms. */
static tc_t any_form(const tc_affine_t *p) {
    tiny_t s, t;
    tc_t z;
    tiny_from_u64(&s, 1 + check_random() % 96);
    tc_from_affine(&z, p);
    if (tc_is_infinity(&z)) {
        tiny_from_u64(&z.x, check_random() % 97); /* X and Y of infinity are free */
        return z;
    }
    tiny_sqr(&z.zz, &s);
    tiny_mul(&z.zzz, &z.zz, &s);
    tiny_mul(&t, &z.x, &z.zz);
    z.x = t;
    tiny_mul(&t, &z.y, &z.zzz);
    z.y = t;
    return z;
}

static void check_is(const tc_t *p, const tc_affine_t *expected, const char *what) {
    tc_affine_t z;
    tc_to_affine(&z, p);
    if (!tc_affine_eq(&z, expected)) CHECK_FAILED_("%s is wrong", what);
    tiny_t zz3, zzz2;
    tiny_sqr(&zz3, &p->zz);
    tiny_mul(&zz3, &zz3, &p->zz);
    tiny_sqr(&zzz2, &p->zzz);
    if (!tiny_eq(&zz3, &zzz2)) CHECK_FAILED_("%s breaks ZZ^3 = ZZZ^2", what);
}

static void check_pair(const tc_affine_t *p, const tc_affine_t *q) {
    const tc_affine_t sum = textbook_add(p, q);
    const tc_t a = any_form(p), b = any_form(q);
    tc_t z = a;
    tc_add(&z, &z, &b);
    check_is(&z, &sum, "p + q in place of p");
    z = b;
    tc_add(&z, &a, &z);
    check_is(&z, &sum, "p + q in place of q");
    z = a;
    tc_add_affine(&z, &z, q);
    check_is(&z, &sum, "p + affine q");
    tc_sub_affine(&z, &z, q);
    check_is(&z, p, "p + q - q");
    tc_sub_affine(&z, &a, q);
    tc_add(&z, &z, &b);
    check_is(&z, p, "p - q + q");
    CHECK(tc_eq(&a, &b) == tc_affine_eq(p, q));
}

static void check_point(const tc_affine_t *p) {
    const tc_affine_t twice = textbook_add(p, p);
    const tc_t a = any_form(p), again = any_form(p);
    tc_t z = a;
    CHECK(tc_affine_is_on_curve(p));
    CHECK(tc_eq(&a, &again));
    tc_double(&z, &z);
    check_is(&z, &twice, "2 p");
    if (!tc_affine_is_infinity(p)) {
        tc_double_affine(&z, p);
        check_is(&z, &twice, "2 affine p");
    }
    z = a;
    tc_add(&z, &z, &z);
    check_is(&z, &twice, "p + p, all in one place");
    tc_neg(&z, &a);
    tc_add(&z, &z, &a);
    CHECK(tc_is_infinity(&z));

    tc_affine_t multiple = points[0];
    for (uint64_t k = 0; k < 300; k++) {
        tc_mul_limbs_var(&z, &a, &k, 1);
        check_is(&z, &multiple, "k p");
        tc_mul_u64_var(&z, &a, k);
        check_is(&z, &multiple, "k p, double and add");
        multiple = textbook_add(&multiple, p);
    }
}

/* Numbers of several limbs and of all ones, whose carries run to the top. */
static void check_joint(void) {
    for (int round = 0; round < 50; round++) {
        uint64_t k[CURVE_JOINT_MAX * 2];
        tc_t p[CURVE_JOINT_MAX], z, expected = tc_infinity(), term;
        for (int i = 0; i < CURVE_JOINT_MAX; i++) {
            p[i] = any_form(&points[check_random() % (uint64_t)n_points]);
            k[2 * i] = round % 3 == 0 ? UINT64_MAX : check_random_runs();
            k[2 * i + 1] = round % 3 == 1 ? UINT64_MAX : check_random_runs();
        }
        for (int i = 0; i < CURVE_JOINT_MAX; i++) {
            tc_t high;
            tc_mul_u64_var(&high, &p[i], k[2 * i + 1]);
            for (int j = 0; j < 64; j++)
                tc_double(&high, &high);
            tc_mul_u64_var(&term, &p[i], k[2 * i]);
            tc_add(&term, &term, &high);
            tc_add(&expected, &expected, &term);
            tc_mul_joint_var(&z, p, k, (size_t)i + 1, 2);
            CHECK(tc_eq(&z, &expected));
        }
    }
}

static void check_batch_to_affine(void) {
    tc_t forms[POINTS_MAX];
    tc_affine_t z[POINTS_MAX];
    tiny_t scratch[POINTS_MAX];
    for (int i = 0; i < n_points; i++)
        forms[i] = any_form(&points[i]);
    tc_batch_to_affine(z, forms, (size_t)n_points, scratch);
    CHECK_MEM(z, points, (size_t)n_points * sizeof z[0]);
}

TEST(all_curves) {
    int with_two_torsion = 0;
    uint64_t b = 1;
    for (int class = 0; class < 6; class ++, b = 5 * b % 97) {
        list_points(b);
        for (int i = 0; i < n_points; i++) {
            check_point(&points[i]);
            with_two_torsion += i > 0 && tiny_is_zero(&points[i].y);
            for (int j = 0; j < n_points; j++)
                check_pair(&points[i], &points[j]);
        }
        check_joint();
        check_batch_to_affine();
    }
    CHECK(with_two_torsion > 0);
}

TEST(off_curve) {
    list_points(5);
    int on = 0;
    for (uint64_t x = 0; x < 97; x++) {
        for (uint64_t y = 0; y < 97; y++) {
            tc_affine_t p;
            tiny_from_u64(&p.x, x);
            tiny_from_u64(&p.y, y);
            on += tc_affine_is_on_curve(&p);
        }
    }
    CHECK_U64(on, n_points); /* (0, 0) stands for infinity */
}

TEST_MAIN(RUN(all_curves), RUN(off_curve))
