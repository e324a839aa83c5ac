#include "groth16/bits_compact.h"

/* The bits of v at the set bits of mask, packed to the low end. */
static inline uint64_t extract_plain(uint64_t v, uint64_t mask) {
    uint64_t z = 0;
    for (unsigned k = 0; mask != 0; mask &= mask - 1, k++)
        z |= (v >> __builtin_ctzll(mask) & 1) << k;
    return z;
}

static inline __attribute__((always_inline)) size_t
compact(uint64_t *out, const uint64_t *bits, const uint64_t *mask, size_t words,
        uint64_t (*extract)(uint64_t v, uint64_t mask)) {
    size_t n = 0;
    uint64_t word = 0; /* the last n % 64 bits, not yet stored */
    for (size_t i = 0; i < words; i++) {
        if (mask[i] == 0) continue;
        const unsigned fill = (unsigned)(n % 64);
        const unsigned count = (unsigned)__builtin_popcountll(mask[i]);
        const uint64_t v = extract(bits[i], mask[i]);
        word |= v << fill;
        if (fill + count >= 64) {
            out[n / 64] = word;
            word = fill == 0 ? 0 : v >> (64 - fill);
        }
        n += count;
    }
    if (n % 64 != 0) out[n / 64] = word;
    return n;
}

size_t bits_compact_plain(uint64_t *out, const uint64_t *bits, const uint64_t *mask, size_t words) {
    return compact(out, bits, mask, words, extract_plain);
}

#if defined(__x86_64__)
#include <immintrin.h>

__attribute__((target("bmi2"))) static uint64_t extract_pext(uint64_t v, uint64_t mask) {
    return _pext_u64(v, mask);
}

__attribute__((target("bmi2,popcnt"))) static size_t
compact_pext(uint64_t *out, const uint64_t *bits, const uint64_t *mask, size_t words) {
    return compact(out, bits, mask, words, extract_pext);
}

size_t bits_compact(uint64_t *out, const uint64_t *bits, const uint64_t *mask, size_t words) {
    if (__builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"))
        return compact_pext(out, bits, mask, words);
    return bits_compact_plain(out, bits, mask, words);
}
#else
size_t bits_compact(uint64_t *out, const uint64_t *bits, const uint64_t *mask, size_t words) {
    return bits_compact_plain(out, bits, mask, words);
}
#endif
