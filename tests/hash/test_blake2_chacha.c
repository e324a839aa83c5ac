#include "check.h"
#include "hash/blake2.h"
#include "hash/chacha.h"
#include "hash/sha256.h"

/* Bytes i * 7 + n. */
static void message(uint8_t *out, size_t n) {
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(i * 7 + n);
}

static void blake2s_all(uint8_t out[32], const void *data, size_t n) {
    blake2s_ctx ctx;
    blake2s_init(&ctx);
    blake2s_update(&ctx, data, n);
    blake2s_final(&ctx, out);
}

TEST(known_answers) { /* RFC 7693, appendices A and B */
    uint8_t d[64];
    blake2b(d, 64, NULL, 0, "abc", 3);
    CHECK_HEX(d, 64,
              "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
              "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923");
    blake2s_all(d, "abc", 3);
    CHECK_HEX(d, 32, "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982");
}

/* Digests of all digests of lengths 0..300, from Python's hashlib. */
enum variant { BLAKE2B_64, BLAKE2B_32_KEYED, BLAKE2B_VARYING, BLAKE2S };
static void check_lengths(enum variant variant, const char *expected) {
    static const char key[] = "filecoin.io|PoRep|1|Synthetic|1|Generation";
    sha256_ctx all;
    uint8_t m[300], k[64], d[64];
    sha256_init(&all);
    for (size_t n = 0; n <= 300; n++) {
        size_t bytes = 32;
        message(m, n);
        message(k, n % 65);
        switch (variant) {
        case BLAKE2B_64:
            blake2b(d, bytes = 64, NULL, 0, m, n);
            break;
        case BLAKE2B_32_KEYED:
            blake2b(d, bytes, key, sizeof key - 1, m, n);
            break;
        case BLAKE2B_VARYING:
            blake2b(d, bytes = 1 + n % 64, k, n % 65, m, n);
            break;
        case BLAKE2S:
            blake2s_all(d, m, n);
            break;
        }
        sha256_update(&all, d, bytes);
    }
    sha256_final(&all, d);
    CHECK_HEX(d, 32, expected);
}
TEST(every_length) {
    check_lengths(BLAKE2B_64, "9f3bf45191421464d39b3ed06f3bcb3c7bc713518771e045889fff9871b40340");
    check_lengths(BLAKE2B_32_KEYED,
                  "9c1b9b89b03647fcec6dd68ff70f7cdee316d148564bdaaa35705d2723adb2b9");
    check_lengths(BLAKE2B_VARYING,
                  "e940f83e2ef914c7d70f0149f151737e374d1aef0fce5f5b49f70df32444bd4d");
    check_lengths(BLAKE2S, "450c1ab09a61ae5a0e7edb0deac5db4a613415b970e99cdb92a7d13c1f8dd6c6");
}

TEST(streaming_equals_one_call) {
    uint8_t m[1000], whole[64], parts[64];
    check_random_bytes(m, sizeof m);
    for (int round = 0; round < 200; round++) {
        const size_t n = (size_t)(check_random() % sizeof m);
        blake2b_ctx b;
        blake2s_ctx s;
        blake2b_init(&b, 64, m, 20);
        blake2s_init(&s);
        for (size_t at = 0; at < n;) {
            const size_t piece = (size_t)(check_random() % 300);
            const size_t take = piece < n - at ? piece : n - at;
            blake2b_update(&b, m + at, take);
            blake2s_update(&s, m + at, take);
            at += take;
        }
        blake2b_final(&b, parts);
        blake2b(whole, 64, m, 20, m, n);
        CHECK_MEM(parts, whole, 64);
        blake2s_final(&s, parts);
        blake2s_all(whole, m, n);
        CHECK_MEM(parts, whole, 32);
    }
}

TEST(chacha_known_answers) {
    uint8_t key[32], out[64];
    for (size_t i = 0; i < 32; i++)
        key[i] = (uint8_t)i;
    /* RFC 8439, 2.3.2 */
    chacha_block(out, key, (const uint32_t[4]){1, 0x09000000, 0x4a000000, 0}, 20);
    CHECK_HEX(out, 64,
              "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
              "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e");
    /* The ChaCha8 and ChaCha20 keystreams of the zero key (draft-strombergson-chacha-test-vectors,
     * TC1). */
    memset(key, 0, sizeof key);
    chacha_block(out, key, (const uint32_t[4]){0}, 8);
    CHECK_HEX(out, 64,
              "3e00ef2f895f40d67f5bb8e81f09a5a12c840ec3ce9a7f3b181be188ef711a1e"
              "984ce172b9216f419f445367456d5619314a42a3da86b001387bfdb80e0cfe42");
    chacha_block(out, key, (const uint32_t[4]){0}, 20);
    CHECK_HEX(out, 64,
              "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
              "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586");
}

TEST_MAIN(RUN(known_answers), RUN(every_length), RUN(streaming_equals_one_call),
          RUN(chacha_known_answers))
