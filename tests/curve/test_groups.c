/* G1 and G2: scalar multiplication and subgroup checks against multiplication by plain integers,
 * and every illegal encoding. */
#include "check.h"

#include "curve/curve.h"
#include "curve/curve_constants.h"

/* Points of the curve outside the subgroup, mostly: x = i, or i u, and a root if there is one. */
static bool g1_lift(g1_affine_t *p, uint64_t i) {
    fp_from_u64(&p->x, i);
    fp_sqr(&p->y, &p->x);
    fp_mul(&p->y, &p->y, &p->x);
    fp_add(&p->y, &p->y, &g1_b);
    return fp_sqrt(&p->y, &p->y);
}
static bool g2_lift(g2_affine_t *p, uint64_t i) {
    fp_from_u64(&p->x.c0, i / 2);
    fp_from_u64(&p->x.c1, i);
    fp2_sqr(&p->y, &p->x);
    fp2_mul(&p->y, &p->y, &p->x);
    fp2_add(&p->y, &p->y, &g2_b);
    return fp2_sqrt(&p->y, &p->y);
}

static fr_t random_fr(void) {
    uint8_t bytes[64];
    fr_t k;
    check_random_bytes(bytes, sizeof bytes);
    fr_from_wide(&k, bytes);
    return k;
}

/* Scalars around the boundaries of the decomposition in powers of |x|. */
static fr_t edge_fr(int i) {
    fr_t k = fr_zero(), x;
    const fr_t one = fr_one();
    fr_from_u64(&x, BLS_X_ABS);
    if (i >= 15) return random_fr();
    if (i >= 3)
        for (k = one; i >= 3; i -= 3)
            fr_mul(&k, &k, &x);
    if (i == 0) fr_sub(&k, &k, &one);
    if (i == 2) fr_add(&k, &k, &one);
    return k;
}

#define GROUP_TESTS(g)                                                                             \
    static g##_t g##_times(const g##_affine_t *p, const uint64_t *k, size_t limbs) {               \
        g##_t z;                                                                                   \
        g##_from_affine(&z, p);                                                                    \
        g##_mul_limbs_var(&z, &z, k, limbs);                                                       \
        return z;                                                                                  \
    }                                                                                              \
    TEST(g##_scalar_multiplication) {                                                              \
        g##_t p, fast;                                                                             \
        g##_from_affine(&p, &g##_generator);                                                       \
        for (int i = 0; i < 60; i++) {                                                             \
            uint64_t plain[FR_LIMBS];                                                              \
            const fr_t k = edge_fr(i);                                                             \
            g##_affine_t q;                                                                        \
            g##_to_affine(&q, &p);                                                                 \
            fr_to_limbs(plain, &k);                                                                \
            const g##_t slow = g##_times(&q, plain, FR_LIMBS);                                     \
            g##_mul_var(&fast, &p, &k);                                                            \
            CHECK(g##_eq(&fast, &slow));                                                           \
            if (!g##_is_infinity(&fast)) p = fast;                                                 \
        }                                                                                          \
        const g##_t infinity = g##_infinity();                                                     \
        const fr_t k = random_fr();                                                                \
        g##_mul_var(&fast, &infinity, &k);                                                         \
        CHECK(g##_is_infinity(&fast));                                                             \
    }                                                                                              \
    /* in the group exactly if r times the point is infinity */                                    \
    TEST(g##_subgroup) {                                                                           \
        int lifted = 0;                                                                            \
        CHECK(g##_affine_is_on_curve(&g##_generator));                                             \
        CHECK(g##_affine_in_subgroup(&g##_generator));                                             \
        for (uint64_t i = 1; i < 60; i++) {                                                        \
            g##_affine_t p, q;                                                                     \
            if (!g##_lift(&p, i)) continue;                                                        \
            lifted++;                                                                              \
            CHECK(g##_affine_is_on_curve(&p));                                                     \
            g##_t z = g##_times(&p, cuzk_fr_prime.p, FR_LIMBS);                                    \
            CHECK(!g##_is_infinity(&z));                                                           \
            CHECK(!g##_affine_in_subgroup(&p));                                                    \
            g##_to_affine(&q, &z); /* of cofactor order: plus a point of the group, still out */   \
            CHECK(!g##_affine_in_subgroup(&q));                                                    \
            g##_add_affine(&z, &z, &g##_generator);                                                \
            g##_to_affine(&q, &z);                                                                 \
            CHECK(!g##_affine_in_subgroup(&q));                                                    \
            z = g##_clear_cofactor(&p);                                                            \
            CHECK(!g##_is_infinity(&z));                                                           \
            g##_to_affine(&q, &z);                                                                 \
            CHECK(g##_affine_in_subgroup(&q));                                                     \
            p.x = q.x;                                                                             \
            CHECK(!g##_affine_is_on_curve(&p));                                                    \
        }                                                                                          \
        CHECK(lifted > 10);                                                                        \
    }

/* Cofactor of G1: (x - 1)^2 / 3. */
static g1_t g1_clear_cofactor(const g1_affine_t *p) {
    const mont_u128 x1 = (mont_u128)BLS_X_ABS + 1, h = x1 * (x1 / 3);
    const uint64_t limbs[2] = {(uint64_t)h, (uint64_t)(h >> 64)};
    g1_t z;
    g1_from_affine(&z, p);
    g1_mul_limbs_var(&z, &z, limbs, 2);
    return z;
}

/* Any multiple of the cofactor of G2 does; (p^2 + 1 - t2) / r with 9 h2 = x^8 - 4 x^7 + 5 x^6 -
 * 4 x^4 + 6 x^3 - 4 x^2 - 4 x + 13, by Horner's rule at x = -|x|: all signs turn positive. */
static g2_t g2_clear_cofactor(const g2_affine_t *p) {
    static const int coefficients[] = {4, 5, 0, -4, -6, -4, 4, 13};
    g2_t base, z, term;
    g2_from_affine(&base, p);
    z = base;
    for (size_t i = 0; i < sizeof coefficients / sizeof coefficients[0]; i++) {
        const int c = coefficients[i];
        g2_mul_u64_var(&z, &z, BLS_X_ABS);
        g2_mul_u64_var(&term, &base, (uint64_t)(c < 0 ? -c : c));
        if (c < 0) g2_neg(&term, &term);
        g2_add(&z, &z, &term);
    }
    return z;
}

GROUP_TESTS(g1)
GROUP_TESTS(g2)

/* (0, 2) has order 3 and is fixed by phi; and the points of the other small orders. */
TEST(g1_small_orders) {
    static const uint64_t orders[] = {3, 11, 10177, 859267, 52437899};
    const mont_u128 x1 = (mont_u128)BLS_X_ABS + 1, h = x1 * (x1 / 3);
    for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++) {
        mont_u128 rest = h;
        while (rest % orders[i] == 0)
            rest /= orders[i];
        const uint64_t limbs[2] = {(uint64_t)rest, (uint64_t)(rest >> 64)};
        g1_affine_t p, q;
        g1_t z;
        uint64_t lift = 0;
        do {
            while (!g1_lift(&p, lift))
                lift++;
            lift++;
            z = g1_times(&p, cuzk_fr_prime.p, FR_LIMBS);
            g1_mul_limbs_var(&z, &z, limbs, 2);
        } while (g1_is_infinity(&z));
        g1_to_affine(&q, &z); /* of order orders[i] or its square */
        CHECK(!g1_affine_in_subgroup(&q));
        g1_mul_u64_var(&z, &z, orders[i]);
        g1_mul_u64_var(&z, &z, orders[i]);
        CHECK(g1_is_infinity(&z));
    }
}

/* What reading `bytes` gives, at the deepest check. */
#define READ(g, form, bytes, check)                                                                \
    ({                                                                                             \
        g##_affine_t point_;                                                                       \
        g##_read_##form(&point_, bytes, check);                                                    \
    })

#define ENCODING_TESTS(g, N)                                                                       \
    TEST(g##_bad_uncompressed) {                                                                   \
        uint8_t good[2 * (N)], b[2 * (N)];                                                         \
        g##_affine_t p;                                                                            \
        g##_write_uncompressed(good, &g##_generator);                                              \
        CHECK_STATUS(READ(g, uncompressed, good, CURVE_CHECK_SUBGROUP), CUZK_OK);                  \
        for (unsigned flags = 1; flags < 8; flags++) { /* every flag is wrong on a real point */   \
            memcpy(b, good, sizeof b);                                                             \
            b[0] |= (uint8_t)(flags << 5);                                                         \
            CHECK_STATUS(READ(g, uncompressed, b, CURVE_CHECK_ENCODING), CUZK_ERR_FORMAT);         \
        }                                                                                          \
        memset(b, 0, sizeof b);                                                                    \
        b[0] = 0x40;                                                                               \
        CHECK_STATUS(g##_read_uncompressed(&p, b, CURVE_CHECK_SUBGROUP), CUZK_OK);                 \
        CHECK(g##_affine_is_infinity(&p));                                                         \
        for (size_t i = 0; i < sizeof b; i++) { /* infinity with something beside it */            \
            b[i] ^= 1;                                                                             \
            CHECK_STATUS(READ(g, uncompressed, b, CURVE_CHECK_ENCODING), CUZK_ERR_FORMAT);         \
            b[i] ^= 1;                                                                             \
        }                                                                                          \
        b[0] = 0; /* (0, 0) is not infinity */                                                     \
        CHECK_STATUS(READ(g, uncompressed, b, CURVE_CHECK_ON_CURVE), CUZK_ERR_NOT_ON_CURVE);       \
        for (size_t i = 0; i < sizeof b; i += FP_BYTES) { /* each coefficient = p */               \
            memcpy(b, good, sizeof b);                                                             \
            write_p(b + i);                                                                        \
            CHECK_STATUS(READ(g, uncompressed, b, CURVE_CHECK_ENCODING), CUZK_ERR_NOT_CANONICAL);  \
        }                                                                                          \
        for (size_t i = 0; i < sizeof b; i++) { /* any bit flipped is seen */                      \
            memcpy(b, good, sizeof b);                                                             \
            b[i] ^= (uint8_t)(1u << (i % 8));                                                      \
            CHECK(READ(g, uncompressed, b, CURVE_CHECK_ON_CURVE) != CUZK_OK);                      \
        }                                                                                          \
        memcpy(b, good, sizeof b);                                                                 \
        b[sizeof b - 1] ^= 1;                                                                      \
        CHECK_STATUS(READ(g, uncompressed, b, CURVE_CHECK_ENCODING), CUZK_OK);                     \
        CHECK_STATUS(READ(g, uncompressed, b, CURVE_CHECK_ON_CURVE), CUZK_ERR_NOT_ON_CURVE);       \
        for (uint64_t i = 1; !g##_lift(&p, i); i++) {                                              \
        }                                                                                          \
        g##_write_uncompressed(b, &p);                                                             \
        CHECK_STATUS(READ(g, uncompressed, b, CURVE_CHECK_ON_CURVE), CUZK_OK);                     \
        CHECK_STATUS(READ(g, uncompressed, b, CURVE_CHECK_SUBGROUP), CUZK_ERR_NOT_IN_GROUP);       \
    }                                                                                              \
    TEST(g##_bad_compressed) {                                                                     \
        uint8_t good[N], b[N];                                                                     \
        g##_affine_t p, q;                                                                         \
        g##_write_compressed(good, &g##_generator);                                                \
        CHECK_STATUS(READ(g, compressed, good, CURVE_CHECK_SUBGROUP), CUZK_OK);                    \
        memcpy(b, good, sizeof b);                                                                 \
        b[0] &= 0x7f; /* without the compression flag */                                           \
        CHECK_STATUS(READ(g, compressed, b, CURVE_CHECK_ENCODING), CUZK_ERR_FORMAT);               \
        b[0] = good[0] | 0x40;                                                                     \
        CHECK_STATUS(READ(g, compressed, b, CURVE_CHECK_ENCODING), CUZK_ERR_FORMAT);               \
        b[0] = good[0] ^ 0x20; /* the other root: -p */                                            \
        CHECK_STATUS(g##_read_compressed(&p, b, CURVE_CHECK_SUBGROUP), CUZK_OK);                   \
        g##_affine_neg(&q, &p);                                                                    \
        CHECK(g##_affine_eq(&q, &g##_generator));                                                  \
        memset(b, 0, sizeof b);                                                                    \
        b[0] = 0xc0;                                                                               \
        CHECK_STATUS(g##_read_compressed(&p, b, CURVE_CHECK_SUBGROUP), CUZK_OK);                   \
        CHECK(g##_affine_is_infinity(&p));                                                         \
        for (size_t i = 0; i < sizeof b; i++) {                                                    \
            b[i] ^= i == 0 ? 0x20 : 1;                                                             \
            CHECK_STATUS(READ(g, compressed, b, CURVE_CHECK_ENCODING), CUZK_ERR_FORMAT);           \
            b[i] ^= i == 0 ? 0x20 : 1;                                                             \
        }                                                                                          \
        for (size_t i = 0; i < sizeof b; i += FP_BYTES) {                                          \
            memcpy(b, good, sizeof b);                                                             \
            write_p(b + i);                                                                        \
            if (i == 0) b[0] |= 0x80;                                                              \
            CHECK_STATUS(READ(g, compressed, b, CURVE_CHECK_ENCODING), CUZK_ERR_NOT_CANONICAL);    \
        }                                                                                          \
        int lifted = 0, refused = 0;                                                               \
        for (uint64_t i = 0; i < 30; i++) {                                                        \
            if (g##_lift(&p, i)) {                                                                 \
                lifted++;                                                                          \
                g##_write_compressed(b, &p);                                                       \
                CHECK_STATUS(g##_read_compressed(&q, b, CURVE_CHECK_ON_CURVE), CUZK_OK);           \
                CHECK(g##_affine_eq(&p, &q));                                                      \
                CHECK_STATUS(READ(g, compressed, b, CURVE_CHECK_SUBGROUP), CUZK_ERR_NOT_IN_GROUP); \
            } else {                                                                               \
                refused++;                                                                         \
                p.y = g##_generator.y; /* only x and the sign are written */                       \
                g##_write_compressed(b, &p);                                                       \
                CHECK_STATUS(READ(g, compressed, b, CURVE_CHECK_ENCODING), CUZK_ERR_NOT_ON_CURVE); \
            }                                                                                      \
        }                                                                                          \
        CHECK(lifted > 5 && refused > 5);                                                          \
    }                                                                                              \
    TEST(g##_round_trip) {                                                                         \
        g##_t z;                                                                                   \
        g##_from_affine(&z, &g##_generator);                                                       \
        for (int i = 0; i < 40; i++) {                                                             \
            uint8_t b[2 * (N)];                                                                    \
            g##_affine_t p, q;                                                                     \
            const fr_t k = random_fr();                                                            \
            g##_mul_var(&z, &z, &k);                                                               \
            g##_to_affine(&p, &z);                                                                 \
            g##_write_uncompressed(b, &p);                                                         \
            CHECK_STATUS(g##_read_uncompressed(&q, b, CURVE_CHECK_SUBGROUP), CUZK_OK);             \
            CHECK(g##_affine_eq(&p, &q));                                                          \
            g##_write_compressed(b, &p);                                                           \
            CHECK_STATUS(g##_read_compressed(&q, b, CURVE_CHECK_SUBGROUP), CUZK_OK);               \
            CHECK(g##_affine_eq(&p, &q));                                                          \
        }                                                                                          \
    }

/* p, big-endian: the smallest non-canonical coefficient. */
static void write_p(uint8_t out[FP_BYTES]) {
    for (int i = 0; i < FP_BYTES; i++)
        out[FP_BYTES - 1 - i] = (uint8_t)(cuzk_fp_prime.p[i / 8] >> (8 * (i % 8)));
}

ENCODING_TESTS(g1, FP_BYTES)
ENCODING_TESTS(g2, FP2_BYTES)

TEST_MAIN(RUN(g1_scalar_multiplication), RUN(g2_scalar_multiplication), RUN(g1_subgroup),
          RUN(g2_subgroup), RUN(g1_small_orders), RUN(g1_bad_uncompressed),
          RUN(g2_bad_uncompressed), RUN(g1_bad_compressed), RUN(g2_bad_compressed),
          RUN(g1_round_trip), RUN(g2_round_trip))
