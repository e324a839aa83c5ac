/* Entries of a transform's tables, computed one by one from powers of the roots. */
#ifndef CUZK_CUDA_NTT_TABLES_CUH
#define CUZK_CUDA_NTT_TABLES_CUH

#include "digits.cuh"
#include "ntt_factor.cuh"
#include "ntt_plan.h"
#include "vectors.cuh"

namespace cuzk {

/* power[i] = x^(2^i) */
struct fr_powers {
    fr power[32];
    CUZK_HD fr operator()(uint64_t e) const {
        fr z = fr::one();
        for (int i = 0; i < 32; i++)
            if (e >> i & 1) z = z * power[i];
        return z.canon();
    }
};

struct ntt_power_table {
    fr_powers root;
    CUZK_HD ntt_factor entry(uint32_t k) const { return ntt_make_factor(root(k)); }
};

/* The factors between passes a and q: entry (i, j) is root^(2^(bits above a) reverse(i) j
 * 2^(bits below q)) times coset^(2^(bits above a) reverse(i)), times factor. */
struct ntt_twist_table {
    fr_powers root, coset;
    fr factor;
    uint32_t above, row_bits, column_bits, below;

    CUZK_HD fr entry(uint32_t k) const {
        const uint64_t i = (uint64_t)bit_reverse(k >> column_bits, row_bits) << above;
        const uint64_t j = k & (((uint64_t)1 << column_bits) - 1);
        return (root((i * j) << below & 0xffffffffu) * coset(i) * factor).canon();
    }
};

/* entry(k) = factor * base^(2^above reverse(k)) */
struct ntt_scale_table {
    fr_powers base;
    fr factor;
    uint32_t above, bits;

    CUZK_HD fr entry(uint32_t k) const {
        return (base((uint64_t)bit_reverse(k, bits) << above) * factor).canon();
    }
};

/* entry(k): the product of the last pass's twists of element k. */
struct ntt_wide_table {
    const fr *twist[CUZK_NTT_MAX_PASSES - 1];
    uint32_t twists, column_bits;
    uint32_t row_at[CUZK_NTT_MAX_PASSES - 1], row_bits[CUZK_NTT_MAX_PASSES - 1];

    CUZK_HD fr factor(uint32_t a, uint32_t k) const {
        const uint32_t row = k >> row_at[a] & ((1u << row_bits[a]) - 1);
        const uint32_t column = k & ((1u << column_bits) - 1);
        return load16(twist[a] + ((uint64_t)row << column_bits | column));
    }
    CUZK_HD fr entry(uint32_t k) const {
        fr z = factor(0, k);
        for (uint32_t a = 1; a < twists; a++)
            z = z * factor(a, k);
        return z.canon();
    }
};

} // namespace cuzk
#endif
