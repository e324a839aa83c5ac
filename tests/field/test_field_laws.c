/* Field laws for Fr, Fp and for fields that exist only here: BN254's two, instantiated from the
 * same templates, and fields of 13 and 97 elements, tried exhaustively. */
#include "check.h"
#include "field/other_primes.h"

#include "field/cpu.h"
#include "field/fp.h"
#include "field/fr.h"

#define FIELD bn254_r
#define FIELD_LIMBS 4
#define FIELD_PRIME bn254_r_prime
#include "field/prime_field.h"
#define FIELD bn254_r
#define FIELD_LIMBS 4
#define FIELD_PRIME bn254_r_prime
#include "field/prime_field_impl.h"
#define FIELD bn254_r
#define FIELD_LIMBS 4
#define FIELD_PRIME bn254_r_prime
#include "field/field_laws.h"

#define FIELD bn254_p
#define FIELD_LIMBS 4
#define FIELD_PRIME bn254_p_prime
#include "field/prime_field.h"
#define FIELD bn254_p
#define FIELD_LIMBS 4
#define FIELD_PRIME bn254_p_prime
#include "field/prime_field_impl.h"
#define FIELD bn254_p
#define FIELD_LIMBS 4
#define FIELD_PRIME bn254_p_prime
#include "field/field_laws.h"

#define FIELD tiny_13
#define FIELD_LIMBS 1
#define FIELD_PRIME tiny_13_prime
#include "field/prime_field.h"
#define FIELD tiny_13
#define FIELD_LIMBS 1
#define FIELD_PRIME tiny_13_prime
#include "field/prime_field_impl.h"
#define FIELD tiny_13
#define FIELD_LIMBS 1
#define FIELD_PRIME tiny_13_prime
#include "field/field_laws.h"

#define FIELD tiny_97
#define FIELD_LIMBS 1
#define FIELD_PRIME tiny_97_prime
#include "field/prime_field.h"
#define FIELD tiny_97
#define FIELD_LIMBS 1
#define FIELD_PRIME tiny_97_prime
#include "field/prime_field_impl.h"
#define FIELD tiny_97
#define FIELD_LIMBS 1
#define FIELD_PRIME tiny_97_prime
#include "field/field_laws.h"

#define FIELD fr
#define FIELD_LIMBS FR_LIMBS
#define FIELD_PRIME cuzk_fr_prime
#include "field/field_laws.h"

#define FIELD fp
#define FIELD_LIMBS FP_LIMBS
#define FIELD_PRIME cuzk_fp_prime
#include "field/field_laws.h"

static void both_paths(void (*laws)(int), int rounds) {
    laws(rounds);
    cuzk_cpu_force(0);
    laws(rounds / 10);
    cuzk_cpu_force(CUZK_CPU_ALL);
}

TEST(fr_laws) {
    both_paths(fr_laws, 20000);
}
TEST(fp_laws) {
    both_paths(fp_laws, 20000);
}
TEST(bn254_laws) {
    both_paths(bn254_r_laws, 5000);
    both_paths(bn254_p_laws, 5000);
}
TEST(tiny_laws) {
    tiny_13_laws(1000);
    tiny_97_laws(1000);
}

/* Every pair against arithmetic with %. */
TEST(tiny_exhaustive) {
    for (uint64_t i = 0; i < 97; i++) {
        tiny_97_t x, y, z;
        uint64_t plain;
        bool square = false;
        tiny_97_from_u64(&x, i);
        for (uint64_t j = 0; j < 97; j++) {
            tiny_97_from_u64(&y, j + 97 * 1000003);
            tiny_97_to_limbs(&plain, &y);
            CHECK_U64(plain, j);
            tiny_97_add(&z, &x, &y);
            tiny_97_to_limbs(&plain, &z);
            CHECK_U64(plain, (i + j) % 97);
            tiny_97_sub(&z, &x, &y);
            tiny_97_to_limbs(&plain, &z);
            CHECK_U64(plain, (i + 97 - j) % 97);
            tiny_97_mul(&z, &x, &y);
            tiny_97_to_limbs(&plain, &z);
            CHECK_U64(plain, i * j % 97);
            if (j * j % 97 == i) square = true;
        }
        CHECK(tiny_97_sqrt(&z, &x) == square);
        tiny_97_inv(&z, &x);
        tiny_97_to_limbs(&plain, &z);
        CHECK_U64(plain * i % 97, i == 0 ? 0 : 1);
    }
}

static void add_small(uint8_t *little_endian, int v) {
    for (int i = 0; v != 0; i++) {
        v += little_endian[i];
        little_endian[i] = (uint8_t)v;
        v >>= 8;
    }
}

TEST(fr_bytes) {
    uint8_t modulus[FR_BYTES], bytes[FR_BYTES];
    for (int i = 0; i < FR_BYTES; i++)
        modulus[i] = (uint8_t)(cuzk_fr_prime.p[i / 8] >> (8 * (i % 8)));
    for (int offset = -3; offset <= 3; offset++) {
        fr_t x, expected;
        memcpy(bytes, modulus, sizeof bytes);
        add_small(bytes, offset);
        if (offset >= 0) {
            CHECK_STATUS(fr_from_bytes(&x, bytes), CUZK_ERR_NOT_CANONICAL);
            continue;
        }
        CHECK_STATUS(fr_from_bytes(&x, bytes), CUZK_OK);
        fr_from_u64(&expected, (uint64_t)-offset);
        fr_neg(&expected, &expected);
        CHECK(fr_eq(&x, &expected));
    }
    memset(bytes, 0xff, sizeof bytes);
    fr_t x;
    CHECK_STATUS(fr_from_bytes(&x, bytes), CUZK_ERR_NOT_CANONICAL);
    for (int i = 0; i < 2000; i++) {
        const fr_t v = fr_any(i);
        fr_to_bytes(bytes, &v);
        CHECK_STATUS(fr_from_bytes(&x, bytes), CUZK_OK);
        CHECK(fr_eq(&x, &v));
    }
}

/* low + 2^256 high, by Horner's rule on bytes. */
TEST(fr_wide) {
    for (int i = 0; i < 2000; i++) {
        uint8_t bytes[64];
        fr_t x, expected = fr_zero(), base, digit;
        memset(bytes, i == 0 ? 0xff : 0, sizeof bytes);
        if (i > 1) check_random_bytes(bytes, sizeof bytes);
        fr_from_wide(&x, bytes);
        fr_from_u64(&base, 256);
        for (int k = 63; k >= 0; k--) {
            fr_from_u64(&digit, bytes[k]);
            fr_mul(&expected, &expected, &base);
            fr_add(&expected, &expected, &digit);
        }
        CHECK(fr_eq(&x, &expected));
    }
}

TEST(fp_bytes) {
    uint8_t bytes[FP_BYTES];
    fp_t x, expected;
    for (int offset = -3; offset <= 3; offset++) {
        uint64_t plain[FP_LIMBS];
        memcpy(plain, cuzk_fp_prime.p, sizeof plain);
        plain[0] += (uint64_t)offset; /* p's lowest limb is far from wrapping */
        for (int i = 0; i < FP_BYTES; i++)
            bytes[FP_BYTES - 1 - i] = (uint8_t)(plain[i / 8] >> (8 * (i % 8)));
        if (offset >= 0) {
            CHECK_STATUS(fp_from_bytes(&x, bytes), CUZK_ERR_NOT_CANONICAL);
            continue;
        }
        CHECK_STATUS(fp_from_bytes(&x, bytes), CUZK_OK);
        fp_from_u64(&expected, (uint64_t)-offset);
        fp_neg(&expected, &expected);
        CHECK(fp_eq(&x, &expected));
    }
    for (int i = 0; i < 2000; i++) {
        const fp_t v = fp_any(i);
        fp_to_bytes(bytes, &v);
        CHECK_STATUS(fp_from_bytes(&x, bytes), CUZK_OK);
        CHECK(fp_eq(&x, &v));
        fp_neg(&x, &v); /* exactly one of v and -v is the larger, unless v is 0 */
        CHECK(fp_is_lexicographically_largest(&v) + fp_is_lexicographically_largest(&x) ==
              (fp_is_zero(&v) ? 0 : 1));
        uint8_t negative[FP_BYTES];
        fp_to_bytes(negative, &x);
        CHECK(fp_is_lexicographically_largest(&v) == (memcmp(bytes, negative, FP_BYTES) > 0));
    }
}

TEST_MAIN(RUN(fr_laws), RUN(fp_laws), RUN(bn254_laws), RUN(tiny_laws), RUN(tiny_exhaustive),
          RUN(fr_bytes), RUN(fr_wide), RUN(fp_bytes))
