/* Encodings, arithmetic and pairings against values made by blstrs (tests/data/filecoin/README.md).
 */
#include "check.h"
#include "json.h"

#include "curve/curve.h"
#include "curve/pairing.h"

static json vectors;

static fr_t fr_member(const json *v, const char *key) {
    uint8_t bytes[FR_BYTES];
    fr_t x = fr_zero();
    check_unhex(bytes, sizeof bytes, json_str(v, key));
    CHECK_STATUS(fr_from_bytes(&x, bytes), CUZK_OK);
    return x;
}

static void check_fr(const json *v, const char *key, const fr_t *x) {
    uint8_t bytes[FR_BYTES];
    fr_to_bytes(bytes, x);
    CHECK_HEX(bytes, sizeof bytes, json_str(v, key));
}

TEST(fr) {
    const json *v = json_get(&vectors, "fr");
    const fr_t x = fr_member(v, "x"), y = fr_member(v, "y"), one = fr_one();
    fr_t z;
    fr_add(&z, &x, &y);
    check_fr(v, "x_plus_y", &z);
    fr_mul(&z, &x, &y);
    check_fr(v, "x_times_y", &z);
    fr_inv(&z, &x);
    check_fr(v, "x_inverse", &z);
    fr_neg(&z, &one);
    check_fr(v, "r_minus_1", &z);
    fr_from_u64(&z, 7);
    check_fr(v, "multiplicative_generator", &z);
    memcpy(z.l, cuzk_fr_prime.root, sizeof z.l);
    check_fr(v, "root_of_unity", &z);
    CHECK_U64(cuzk_fr_prime.two_adicity, json_u64(v, "two_adicity"));
    uint8_t modulus[FR_BYTES];
    check_unhex(modulus, sizeof modulus, json_str(v, "modulus_le"));
    CHECK_STATUS(fr_from_bytes(&z, modulus), CUZK_ERR_NOT_CANONICAL);
}

#define CHECK_ENCODINGS(G, POINT_BYTES)                                                            \
    do {                                                                                           \
        const json *list = json_get(&vectors, #G);                                                 \
        CHECK(list->n > 0);                                                                        \
        for (size_t i = 0; i < list->n; i++) {                                                     \
            const json *item = &list->items[i];                                                    \
            uint8_t in[2 * POINT_BYTES], out[2 * POINT_BYTES];                                     \
            G##_affine_t p, q;                                                                     \
            CHECK_U64(check_unhex(in, sizeof in, json_str(item, "compressed")), POINT_BYTES);      \
            CHECK_STATUS(G##_read_compressed(&p, in, CURVE_CHECK_SUBGROUP), CUZK_OK);              \
            G##_write_compressed(out, &p);                                                         \
            CHECK_MEM(out, in, POINT_BYTES);                                                       \
            G##_write_uncompressed(out, &p);                                                       \
            CHECK_HEX(out, sizeof out, json_str(item, "uncompressed"));                            \
            CHECK_STATUS(G##_read_uncompressed(&q, out, CURVE_CHECK_SUBGROUP), CUZK_OK);           \
            CHECK(G##_affine_eq(&p, &q));                                                          \
            if (strcmp(json_str(item, "name"), "generator") == 0)                                  \
                CHECK(G##_affine_eq(&p, &G##_generator));                                          \
        }                                                                                          \
    } while (0)

TEST(g1_encodings) {
    CHECK_ENCODINGS(g1, G1_COMPRESSED_BYTES);
}
TEST(g2_encodings) {
    CHECK_ENCODINGS(g2, G2_COMPRESSED_BYTES);
}

static bool is_true(const json *v, const char *key) {
    return strcmp(json_str(v, key), "true") == 0;
}

/* blst refuses x = 0 in its unchecked reading too, as such points are never in G1; here only the
 * subgroup check does. */
TEST(g1_decoding) {
    const json *list = json_get(&vectors, "g1_decoding");
    CHECK(list->n > 0);
    for (size_t i = 0; i < list->n; i++) {
        const json *item = &list->items[i];
        const bool x_is_zero = strncmp(json_str(item, "name"), "x = 0:", 6) == 0;
        uint8_t in[G1_COMPRESSED_BYTES];
        g1_affine_t p;
        CHECK_U64(check_unhex(in, sizeof in, json_str(item, "bytes")), sizeof in);
        const cuzk_status checked = g1_read_compressed(&p, in, CURVE_CHECK_SUBGROUP);
        const cuzk_status unchecked = g1_read_compressed(&p, in, CURVE_CHECK_ON_CURVE);
        CHECK((checked == CUZK_OK) == is_true(item, "from_compressed"));
        CHECK((unchecked == CUZK_OK) == (is_true(item, "from_compressed_unchecked") || x_is_zero));
        if (x_is_zero) CHECK_STATUS(checked, CUZK_ERR_NOT_IN_GROUP);
    }
}

TEST(sum_of_products) {
    const json *v = json_get(&vectors, "msm5"), *points = json_get(v, "points"),
               *scalars = json_get(v, "scalars");
    g1_t sum = g1_infinity(), term;
    for (size_t i = 0; i < points->n; i++) {
        uint8_t in[G1_COMPRESSED_BYTES], scalar[FR_BYTES];
        g1_affine_t p;
        fr_t k;
        check_unhex(in, sizeof in, points->items[i].text);
        check_unhex(scalar, sizeof scalar, scalars->items[i].text);
        CHECK_STATUS(g1_read_compressed(&p, in, CURVE_CHECK_SUBGROUP), CUZK_OK);
        CHECK_STATUS(fr_from_bytes(&k, scalar), CUZK_OK);
        g1_from_affine(&term, &p);
        g1_mul_var(&term, &term, &k);
        g1_add(&sum, &sum, &term);
    }
    g1_affine_t result;
    uint8_t out[G1_COMPRESSED_BYTES];
    g1_to_affine(&result, &sum);
    g1_write_compressed(out, &result);
    CHECK_HEX(out, sizeof out, json_str(v, "result"));
}

TEST(pairings) {
    const json *fr = json_get(&vectors, "fr"), *list = json_get(&vectors, "pairing");
    const fr_t x = fr_member(fr, "x"), y = fr_member(fr, "y");
    CHECK(list->n > 0);
    for (size_t i = 0; i < list->n; i++) {
        const json *item = &list->items[i], *coefficients = json_get(item, "fp12_be");
        const char *name = json_str(item, "name");
        g1_affine_t p = g1_generator;
        g2_affine_t q = g2_generator;
        fp12_t z;
        if (strcmp(name, "e(x*g1,y*g2)") == 0) {
            g1_t xp;
            g2_t yq;
            g1_from_affine(&xp, &p);
            g1_mul_var(&xp, &xp, &x);
            g1_to_affine(&p, &xp);
            g2_from_affine(&yq, &q);
            g2_mul_var(&yq, &yq, &y);
            g2_to_affine(&q, &yq);
        } else if (strcmp(name, "e(infinity,g2)") == 0) {
            memset(&p, 0, sizeof p);
        } else {
            CHECK(strcmp(name, "e(g1,g2)") == 0);
        }
        uint8_t bytes[FP12_BYTES];
        pairing(&z, &p, &q);
        fp12_to_bytes(bytes, &z);
        CHECK_U64(coefficients->n, 12);
        for (size_t k = 0; k < coefficients->n; k++)
            CHECK_HEX(bytes + FP_BYTES * k, FP_BYTES, coefficients->items[k].text);
    }
}

int main(int argc, char **argv) {
    vectors = json_load("filecoin/prims/curve.json");
    const check_case cases[] = {RUN(fr),          RUN(g1_encodings),    RUN(g2_encodings),
                                RUN(g1_decoding), RUN(sum_of_products), RUN(pairings)};
    const int result = check_main(argc, argv, cases, sizeof cases / sizeof cases[0]);
    json_free(&vectors);
    return result;
}
