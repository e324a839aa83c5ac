#include "check.h"

#include "groth16/bits_compact.h"

#define MAX_WORDS 40

static uint64_t pick_mask(void) {
    switch (check_random() % 6) {
    case 0:
        return 0;
    case 1:
        return ~(uint64_t)0;
    case 2:
        return (uint64_t)1 << (check_random() % 64);
    case 3:
        return check_random() & check_random() & check_random();
    default:
        return check_random_runs();
    }
}

/* Bit by bit: the meaning of the function. */
static size_t compact_naive(uint64_t *out, const uint64_t *bits, const uint64_t *mask,
                            size_t words) {
    size_t n = 0;
    memset(out, 0, MAX_WORDS * sizeof *out);
    for (size_t i = 0; i < 64 * words; i++) {
        if ((mask[i / 64] >> (i % 64) & 1) == 0) continue;
        out[n / 64] |= (bits[i / 64] >> (i % 64) & 1) << (n % 64);
        n++;
    }
    return n;
}

TEST(agrees_with_the_definition) {
    for (int round = 0; round < 4000; round++) {
        const size_t words = check_random() % (MAX_WORDS + 1);
        uint64_t bits[MAX_WORDS], mask[MAX_WORDS], want[MAX_WORDS], got[MAX_WORDS + 1];
        for (size_t i = 0; i < words; i++) {
            bits[i] = check_random_runs();
            mask[i] = pick_mask();
        }
        const size_t n = compact_naive(want, bits, mask, words);
        const size_t out_words = (n + 63) / 64;
        memset(got, 0x5a, sizeof got);
        CHECK_U64(bits_compact_plain(got, bits, mask, words), n);
        CHECK_MEM(got, want, out_words * sizeof *got);
        CHECK_U64(got[out_words], 0x5a5a5a5a5a5a5a5aULL); /* nothing past the end */
        memset(got, 0x5a, sizeof got);
        CHECK_U64(bits_compact(got, bits, mask, words), n);
        CHECK_MEM(got, want, out_words * sizeof *got);
        CHECK_U64(got[out_words], 0x5a5a5a5a5a5a5a5aULL);
    }
}

TEST(full_and_empty_masks) {
    uint64_t bits[4], mask[4], out[4];
    for (int i = 0; i < 4; i++)
        bits[i] = check_random();
    memset(mask, 0xff, sizeof mask);
    CHECK_U64(bits_compact(out, bits, mask, 4), 256);
    CHECK_MEM(out, bits, sizeof bits);
    memset(mask, 0, sizeof mask);
    CHECK_U64(bits_compact(out, bits, mask, 4), 0);
    CHECK_U64(bits_compact(out, bits, mask, 0), 0);
}

TEST_MAIN(RUN(agrees_with_the_definition), RUN(full_and_empty_masks))
