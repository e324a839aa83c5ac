/* Signed digits of a scalar, and entries of lists made from them and from bits. */
#ifndef CUZK_CUDA_DIGITS_CUH
#define CUZK_CUDA_DIGITS_CUH

#include "field.cuh"
#include "msm_plan.h"

namespace cuzk {

constexpr uint32_t DIGIT_NEGATIVE = 0x80000000u;

/* Writes the digits of k (Montgomery form), each to its row: out[row * stride] = 0, or |digit| with
 * DIGIT_NEGATIVE set when the point is to be subtracted. k > (r - 1) / 2 becomes r - k with all
 * signs turned, so that the top digit needs no sign. */
CUZK_HD void scalar_digits(const fr &k, const cuzk_msm_windows &windows, uint32_t *out,
                           uint64_t stride) {
    const uint32_t half[8] = {0x80000000u, 0x7fffffffu, 0x7fff2dffu, 0xa9ded201u,
                              0x04d0ec02u, 0x199cec04u, 0x94cebea4u, 0x39f6d3a9u}; /* (r - 1) / 2 */
    fr plain = k.from_mont();
    uint32_t t[8];
    const bool negate = limbs_sub<8>(t, half, plain.l) != 0;
    if (negate) {
        uint32_t r[8];
        fr_prime::modulus(r);
        limbs_sub<8>(plain.l, r, plain.l);
    }
    uint32_t carry = 0, set = 0, copy = 0;
    for (uint32_t w = 0; w < windows.count; w++) {
        const uint32_t at = windows.at[w], bits = windows.bits[w];
        const uint32_t word = at / 32, shift = at % 32;
        uint32_t low = 0, high = 0;
        CUZK_UNROLL
        for (uint32_t i = 0; i < 8; i++) { /* no run-time index into registers */
            low = i == word ? plain.l[i] : low;
            high = i == word + 1 ? plain.l[i] : high;
        }
        uint32_t v = (uint32_t)(((uint64_t)high << 32 | low) >> shift) & ((1u << bits) - 1);
        v += carry;
        bool negative = negate;
        carry = 0;
        if (v > 1u << (bits - 1)) {
            v = (1u << bits) - v;
            negative = !negative;
            carry = 1;
        }
        out[(windows.first_row[set] + copy) * stride] =
            v == 0 ? 0 : v | (negative ? DIGIT_NEGATIVE : 0);
        if (++set == windows.sets) {
            set = 0;
            copy++;
        }
    }
}

/* The lists of a set's lines (cuzk_msm_vectors): columns, then rows 1, 2, ... and an empty one. */
struct set_lines {
    uint32_t low, high; /* log2 of the columns and of the rows */
    uint32_t bucket;    /* the set's first */
    uint32_t first;     /* the set's first entry */

    CUZK_HD set_lines(const cuzk_msm_windows &windows, uint32_t set)
        : low(windows.low_bits), high(windows.bits[set] - 1u - low),
          bucket(windows.bucket_base[set]), first(2 * bucket - (set << low)) {}
    CUZK_HD uint32_t lines() const { return (1u << low) + (1u << high); }
    CUZK_HD uint32_t entries() const { return (2u << (low + high)) - (1u << low); }
    /* Where the list of line k begins, counted from `first`. */
    CUZK_HD uint32_t start(uint32_t k) const {
        const uint32_t columns = 1u << low;
        return k < columns ? k << high : (1u << (low + high)) + ((k - columns) << low);
    }
    /* The bucket that is entry i of the set. */
    CUZK_HD uint32_t entry(uint32_t i) const {
        const uint32_t row = i & ((1u << high) - 1), column = i >> high;
        const bool by_columns = column < 1u << low;
        return bucket +
               (by_columns ? (row << low) + column : i - (1u << (low + high)) + (1u << low));
    }
};

/* What a subset sum takes for a word of 32 bits: the points of the set bits, or, with pairs, for
 * each two neighbours one point: one of them, or their sum, which lies at n + half its index. */
CUZK_HD uint32_t subset_marks(uint32_t word, bool pairs) {
    return pairs ? (word | word >> 1) & 0x55555555u : word;
}
/* The point of mark number `bit` of word i. */
CUZK_HD uint32_t subset_entry(uint32_t word, uint32_t i, uint32_t bit, uint32_t n, bool pairs) {
    const uint32_t two = word >> bit & 3, at = i * 32 + bit;
    if (!pairs) return at;
    return two == 3 ? n + at / 2 : at + (two == 2);
}

/* Position i of a vector in bit-reversed order of log2_n bits holds element bit_reverse(i). */
CUZK_HD uint32_t bit_reverse(uint32_t i, uint32_t log2_n) {
#ifdef __CUDA_ARCH__
    return log2_n == 0 ? 0 : __brev(i) >> (32 - log2_n);
#else
    uint32_t z = 0;
    for (uint32_t b = 0; b < log2_n; b++)
        z |= (i >> b & 1) << (log2_n - 1 - b);
    return z;
#endif
}

} // namespace cuzk
#endif
