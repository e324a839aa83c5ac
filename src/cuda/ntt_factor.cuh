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

/* Rows i, i + 1, ... of x w' from limb 6 on, for a w' of `limbs` limbs: even[k] stands at limb
 * 6 + k, odd[k] at limb 7 + k. Column c of row i is x[i] quotient[c + 6 - i], where 0 <= c <= n + 1
 * = i + limbs - 7. Where a chain ends in a pair that an earlier row wrote, its carry starts the
 * next pair. */
template <int limbs, int i = (limbs < 7 ? 7 - limbs : 0)>
CUZK_HD void factor_high_rows(uint32_t *even, uint32_t *odd, const uint32_t *x,
                              const uint32_t *quotient) {
    if constexpr (i < 8) {
        constexpr int n = i + limbs - 8, first = i == 7 ? 2 : 0;
        constexpr int evens = (n + 1 - first) / 2 + 1, odds = n < 0 ? 0 : n / 2 + 1;
        constexpr bool top_row = i == 0 || i == 7 - limbs;
        pairs_mad_cc<2 * evens>(even + first, quotient + first + 6 - i, x[i]);
        if constexpr (n % 2 == 0 && !top_row) even[n + 2] = addc(0, 0);
        if constexpr (odds > 0) pairs_mad_cc<2 * odds>(odd, quotient + 7 - i, x[i]);
        if constexpr (n > 0 && n % 2 == 1) odd[n + 1] = addc(0, 0);
        factor_high_rows<limbs, i + 1>(even, odd, x, quotient);
    }
}

/* Rows 7, 6, ..., i of x a mod R, where a has limbs first to last: even[k] stands at limb k, odd[k]
 * at limb 1 + k. Downwards, so that the sums grow into registers that x leaves. */
template <int first, int last, int i = 0>
CUZK_HD void factor_low_rows(uint32_t *even, uint32_t *odd, const uint32_t *x, const uint32_t *a) {
    if constexpr (i + first < 8) {
        factor_low_rows<first, last, i + 1>(even, odd, x, a);
        constexpr int start = i + first, end = i + last < 7 ? i + last : 7;
        constexpr int e = start + start % 2, o = start + 1 - start % 2;
        static_assert(o <= end, "every row reaches an odd limb");
        constexpr int e_pairs = (end - e + 2) / 2, o_pairs = ((end < 7 ? end : 6) - o + 2) / 2;
        if constexpr (e <= end) {
            pairs_mad_cc<2 * e_pairs>(even + e, a + e - i, x[i]);
            CUZK_UNROLL
            for (int k = e + 2 * e_pairs; k < 8; k++)
                even[k] = addc_cc(even[k], 0);
        }
        if constexpr (o < 7) {
            pairs_mad_cc<2 * o_pairs>(odd + o - 1, a + o - i, x[i]);
            if constexpr (end == 7)
                odd[6] = madc_lo_cc(a[7 - i], x[i], odd[6]);
            else
                odd[6] = addc(odd[6], 0);
        } else {
            odd[6] += a[7 - i] * x[i];
        }
    }
}

/* The low 256 bits of the product in even and odd, less q r. R - r has -1 and 0 for low limbs. */
CUZK_HD fr factor_subtract(uint32_t *even, uint32_t *odd, const uint32_t *q) {
    const uint32_t minus_r[8] = {0xffffffffu, 0x00000000u, 0x0001a401u, 0xac425bfdu,
                                 0xf65e27fau, 0xccc627f7u, 0xd66282b7u, 0x8c1258acu};
    factor_low_rows<2, 7>(even, odd, q, minus_r);
    limbs_sub<8>(even, even, q);
    limbs_add<7>(odd, odd, q);
    fr z;
    z.l[0] = even[0];
    limbs_add<7>(z.l + 1, even + 1, odd);
    return z;
}

/* x < 2r; the result is < 1.91 r. */
CUZK_HD fr operator*(const fr &x, const ntt_factor &f) {
    uint32_t q[8], even[10] = {0}, odd[9] = {0};
    factor_high_rows<8>(even, odd, x.l, f.quotient);
    add_cc(even[1], odd[0]);
    CUZK_UNROLL
    for (int k = 0; k < 7; k++)
        q[k] = addc_cc(even[k + 2], odd[k + 1]);
    q[7] = addc(even[9], odd[8]);

    uint32_t low_even[8] = {0}, low_odd[7] = {0};
    factor_low_rows<0, 7>(low_even, low_odd, x.l, f.w);
    return factor_subtract(low_even, low_odd, q);
}

/* x times the root of order 4. r = u^4 - u^2 + 1 for u = 0xd201000000010000, so u^3 is one: 192
 * bits, of which the low 32 are 0, and a quotient of 193. 27 + 18 + 21 limb products. As above
 * otherwise. */
CUZK_HD fr ntt_times_fourth(const fr &x) {
    const uint32_t u3[8] = {0x00000000u, 0x00010000u, 0x76030000u, 0xec030002u,
                            0x760304d0u, 0x8d51ccceu, 0x00000000u, 0x00000000u};
    const uint32_t quotient[6] = {0x5576304fu, 0x61c5d9dau, 0x3e76ec2au, /* and 2^192 */
                                  0x33cfcc0du, 0x56cd56b5u, 0x381204cau};
    uint32_t q[8], even[8] = {0}, odd[7] = {0};
    factor_high_rows<6>(even, odd, x.l, quotient);
    limbs_add<7>(even + 1, even + 1, odd);
    add_cc(even[0], x.l[0]);
    addc_cc(even[1], x.l[1]);
    CUZK_UNROLL
    for (int k = 0; k < 6; k++)
        q[k] = addc_cc(even[k + 2], x.l[k + 2]);
    q[6] = addc(0, 0);
    q[7] = 0;

    uint32_t low_even[8] = {0}, low_odd[7] = {0};
    factor_low_rows<2, 5>(low_even, low_odd, x.l, u3);
    uint32_t shifted[7]; /* the limb 2^16 of u^3 */
    shifted[0] = x.l[0] << 16;
    CUZK_UNROLL
    for (int k = 1; k < 7; k++)
        shifted[k] = x.l[k] << 16 | x.l[k - 1] >> 16;
    limbs_add<7>(low_odd, low_odd, shifted);
    return factor_subtract(low_even, low_odd, q);
}

/* w' = (w R - m) / r, where m = w R mod r is the Montgomery form: -m / r mod R. */
CUZK_HD ntt_factor ntt_make_factor(const fr &montgomery) {
    const uint32_t minus_inverse_r[8] = {0xffffffffu, 0xfffffffeu, 0xfffe5bfdu, 0x53ba5bffu,
                                         0x0004ec06u, 0x181b2c17u, 0xd7bf2839u, 0x3d443ab0u};
    uint32_t even[8] = {0}, odd[7] = {0};
    factor_low_rows<0, 7>(even, odd, minus_inverse_r, montgomery.l);
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
