/* Products with factors that are known beforehand: all of a butterfly's.
 *
 * With a factor w < r goes w' = floor(w R / r), R = 2^256 (Shoup's precomputed quotient). For
 * x < 2r let q be floor(x w' / R) without the limb products below limb 6, which could add 2^-29 at
 * most to x w' / R. Then
 *     x w / r - q < 1 + x / R + 2^-29 < 1.91,
 * so x w - q r lies in [0, 1.91 r), and its low 256 bits are all that need be computed: 43 + 36 +
 * 21 limb products, 14 of them low halves only, for Montgomery's 112, and no row waits for another.
 * w is the plain integer, so that x keeps its Montgomery form. */
#ifndef CUZK_CUDA_NTT_FACTOR_CUH
#define CUZK_CUDA_NTT_FACTOR_CUH

#include "field.cuh"

namespace cuzk {

struct alignas(16) ntt_factor {
    uint32_t w[8], quotient[8];
};

/* Rows i, i + 1, ... of x w' from limb 6 on: even[k] stands at limb 6 + k, odd[k] at limb 7 + k.
 * Column c of row i is x[i] quotient[c + 6 - i], 0 <= c <= i + 1. Where a chain ends in a pair that
 * an earlier row wrote, its carry starts the next pair. */
template <int i = 0>
CUZK_HD void factor_high_rows(uint32_t *even, uint32_t *odd, const uint32_t *x,
                              const uint32_t *quotient) {
    if constexpr (i < 8) {
        constexpr int first = i == 7 ? 2 : 0;
        constexpr int evens = (i + 1 - first) / 2 + 1, odds = i / 2 + 1;
        pairs_mad_cc<2 * evens>(even + first, quotient + first + 6 - i, x[i]);
        if constexpr (i % 2 == 0 && i > 0) even[i + 2] = addc(0, 0);
        pairs_mad_cc<2 * odds>(odd, quotient + 7 - i, x[i]);
        if constexpr (i % 2 == 1) odd[i + 1] = addc(0, 0);
        factor_high_rows<i + 1>(even, odd, x, quotient);
    }
}

/* Rows 7, 6, ..., i of x a mod R, of which each begins with a[first]: even[k] stands at limb k,
 * odd[k] at limb 1 + k. Downwards, so that the sums grow into registers that x leaves. */
template <int first, int i = 0>
CUZK_HD void factor_low_rows(uint32_t *even, uint32_t *odd, const uint32_t *x, const uint32_t *a) {
    if constexpr (i + first < 8) {
        factor_low_rows<first, i + 1>(even, odd, x, a);
        constexpr int start = i + first, e = start + start % 2, o = start + 1 - start % 2;
        if constexpr (e < 8) pairs_mad_cc<8 - e>(even + e, a + e - i, x[i]);
        if constexpr (o < 7) {
            pairs_mad_cc<7 - o>(odd + o - 1, a + o - i, x[i]);
            odd[6] = madc_lo_cc(a[7 - i], x[i], odd[6]);
        } else {
            odd[6] += a[7 - i] * x[i];
        }
    }
}

/* x < 2r; the result is < 1.91 r. */
CUZK_HD fr operator*(const fr &x, const ntt_factor &f) {
    uint32_t q[8], even[10] = {0}, odd[9] = {0};
    factor_high_rows(even, odd, x.l, f.quotient);
    add_cc(even[1], odd[0]);
    CUZK_UNROLL
    for (int k = 0; k < 7; k++)
        q[k] = addc_cc(even[k + 2], odd[k + 1]);
    q[7] = addc(even[9], odd[8]);

    /* R - r; its two low limbs are -1 and 0: additions. */
    const uint32_t minus_r[8] = {0xffffffffu, 0x00000000u, 0x0001a401u, 0xac425bfdu,
                                 0xf65e27fau, 0xccc627f7u, 0xd66282b7u, 0x8c1258acu};
    uint32_t low_even[8] = {0}, low_odd[7] = {0};
    factor_low_rows<0>(low_even, low_odd, x.l, f.w);
    factor_low_rows<2>(low_even, low_odd, q, minus_r);
    limbs_sub<8>(low_even, low_even, q);
    limbs_add<7>(low_odd, low_odd, q);
    fr z;
    z.l[0] = low_even[0];
    limbs_add<7>(z.l + 1, low_even + 1, low_odd);
    return z;
}

/* w' = (w R - m) / r, where m = w R mod r is the Montgomery form: -m / r mod R. */
CUZK_HD ntt_factor ntt_make_factor(const fr &montgomery) {
    const uint32_t minus_inverse_r[8] = {0xffffffffu, 0xfffffffeu, 0xfffe5bfdu, 0x53ba5bffu,
                                         0x0004ec06u, 0x181b2c17u, 0xd7bf2839u, 0x3d443ab0u};
    uint32_t even[8] = {0}, odd[7] = {0};
    factor_low_rows<0>(even, odd, minus_inverse_r, montgomery.l);
    const fr w = montgomery.from_mont();
    ntt_factor f;
    CUZK_UNROLL
    for (int i = 0; i < 8; i++)
        f.w[i] = w.l[i];
    f.quotient[0] = even[0];
    limbs_add<7>(f.quotient + 1, even + 1, odd);
    return f;
}

} // namespace cuzk
#endif
