#include "check.h"
#include "hash/sha256.h"
#include "hash/sha256_impl.h"
#include "json.h"

/* Bytes i * 7 + n. */
static void message(uint8_t *out, size_t n) {
    for (size_t i = 0; i < n; i++)
        out[i] = (uint8_t)(i * 7 + n);
}

TEST(known_answers) {
    uint8_t d[32];
    sha256(d, "", 0);
    CHECK_HEX(d, 32, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256(d, "abc", 3);
    CHECK_HEX(d, 32, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256(d, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56);
    CHECK_HEX(d, 32, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

TEST(million_a) {
    static uint8_t a[1000000];
    uint8_t d[32];
    memset(a, 'a', sizeof a);
    sha256(d, a, sizeof a);
    CHECK_HEX(d, 32, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

/* The digest of all digests of lengths 0..300, from Python's hashlib. */
TEST(every_length) {
    sha256_ctx all;
    uint8_t m[300], d[32];
    sha256_init(&all);
    for (size_t n = 0; n <= 300; n++) {
        message(m, n);
        sha256(d, m, n);
        sha256_update(&all, d, sizeof d);
    }
    sha256_final(&all, d);
    CHECK_HEX(d, 32, "60d63ff40b5558727a9b786ac0be9300f7ca58fd9ddd3b2f3681b369018a87dc");
}

TEST(streaming_equals_one_call) {
    uint8_t m[1000], whole[32], parts[32];
    check_random_bytes(m, sizeof m);
    for (int round = 0; round < 200; round++) {
        const size_t n = (size_t)(check_random() % sizeof m);
        sha256_ctx ctx;
        sha256_init(&ctx);
        for (size_t at = 0; at < n;) {
            const size_t piece = (size_t)(check_random() % 150);
            const size_t take = piece < n - at ? piece : n - at;
            sha256_update(&ctx, m + at, take);
            at += take;
        }
        sha256_final(&ctx, parts);
        sha256(whole, m, n);
        CHECK_MEM(parts, whole, 32);
    }
}

TEST(extension_equals_plain) {
#ifdef CUZK_SHA_NI
    if (!sha256_ni_available()) SKIP("no SHA extensions on this CPU");
    uint8_t blocks[64 * 9];
    for (int round = 0; round < 500; round++) {
        uint32_t plain[8], fast[8];
        const size_t n = (size_t)(check_random() % 10);
        for (size_t i = 0; i < sizeof blocks; i += 8) {
            const uint64_t v = check_random_runs();
            memcpy(blocks + i, &v, 8);
        }
        for (size_t i = 0; i < 8; i++)
            plain[i] = fast[i] = (uint32_t)check_random_runs();
        sha256_blocks_plain(plain, blocks, n);
        sha256_blocks_ni(fast, blocks, n);
        CHECK_MEM(fast, plain, sizeof plain);
    }
#else
    SKIP("x86-64 only");
#endif
}

TEST(golden_node_hash) {
    json v = json_load("filecoin/prims/hashes.json");
    uint8_t in[64], d[32];
    check_unhex(in, 32, json_str(&v, "a"));
    check_unhex(in + 32, 32, json_str(&v, "b"));
    sha256(d, in, 64);
    d[31] &= 0x3f;
    CHECK_HEX(d, 32, json_str(&v, "sha256_truncated_hash2"));
    memset(in, 0, sizeof in);
    sha256(d, in, 64);
    d[31] &= 0x3f;
    CHECK_HEX(d, 32, json_str(&v, "sha256_truncated_hash2_zeros"));
    memset(in, 0xff, sizeof in);
    sha256(d, in, 64);
    d[31] &= 0x3f;
    CHECK_HEX(d, 32, json_str(&v, "sha256_truncated_of_64_ff"));
    json_free(&v);
}

TEST_MAIN(RUN(known_answers), RUN(million_a), RUN(every_length), RUN(streaming_equals_one_call),
          RUN(extension_equals_plain), RUN(golden_node_hash))
