/* Fp and Fr on 32-bit limbs, Montgomery form with R = 2^384 and 2^256: the same values in memory as
 * fp_t and fr_t of src/field.
 *
 * Products are formed row by row with an even and an odd accumulator (Koc, Acar, Kaliski 1996,
 * CIOS; the split keeps every 64-bit product on an aligned register pair, so that a pair of
 * instructions becomes one IMAD.WIDE.X). A row adds a * b_i and then m * modulus; the limb that
 * became zero is dropped by swapping the roles of the accumulators.
 *
 * Ranges. fp: values < 2p everywhere ("lazy"); with R > 9.8 p a product of two values whose sizes
 * multiply to at most 9.8 p^2 is again < 2p without a final subtraction. canon() gives the value <
 * p; all memory holds canonical values. fr: values < r everywhere (R < 2.3 r leaves no room). */
#ifndef CUZK_CUDA_FIELD_CUH
#define CUZK_CUDA_FIELD_CUH

#include "limbs.cuh"

namespace cuzk {

struct fp_prime {
    static constexpr int N = 12;
    static constexpr uint32_t N0 = 0xfffcfffdu; /* -p^-1 mod 2^32 */
    static CUZK_HD void modulus(uint32_t *z) {
        const uint32_t c[N] = {0xffffaaabu, 0xb9feffffu, 0xb153ffffu, 0x1eabfffeu,
                               0xf6b0f624u, 0x6730d2a0u, 0xf38512bfu, 0x64774b84u,
                               0x434bacd7u, 0x4b1ba7b6u, 0x397fe69au, 0x1a0111eau};
        CUZK_UNROLL
        for (int i = 0; i < N; i++)
            z[i] = c[i];
    }
    /* Add m p with m chosen so that even[0] becomes 0. */
    static CUZK_HD void reduce_row(uint32_t *even, uint32_t *odd) {
        uint32_t p[N];
        modulus(p);
        const uint32_t m = mul_lo(even[0], N0);
        pairs_mad_cc<N>(odd, p + 1, m);
        pairs_mad_cc<N>(even, p, m);
        odd[N - 1] = addc(odd[N - 1], 0);
    }
};

struct fr_prime {
    static constexpr int N = 8;
    static CUZK_HD void modulus(uint32_t *z) {
        const uint32_t c[N] = {0x00000001u, 0xffffffffu, 0xfffe5bfeu, 0x53bda402u,
                               0x09a1d805u, 0x3339d808u, 0x299d7d48u, 0x73eda753u};
        CUZK_UNROLL
        for (int i = 0; i < N; i++)
            z[i] = c[i];
    }
    /* As above. r = 1 - 2^32 mod 2^64, so m = -even[0], and the products of m with the two low
     * limbs are additions: 6 multiplications a row instead of 9. */
    static CUZK_HD void reduce_row(uint32_t *even, uint32_t *odd) {
        uint32_t p[N];
        modulus(p);
        const uint32_t low = even[0];
        const uint32_t m = sub_cc(0, low);
        const uint32_t high = subc(m, 0); /* m (2^32 - 1) = high 2^32 + low */
        odd[0] = add_cc(odd[0], low);
        odd[1] = addc_cc(odd[1], high);
        CUZK_UNROLL
        for (int j = 2; j < N; j += 2) {
            odd[j] = madc_lo_cc(p[j + 1], m, odd[j]);
            odd[j + 1] = madc_hi_cc(p[j + 1], m, odd[j + 1]);
        }
        even[0] = add_cc(low, m);
        even[1] = addc_cc(even[1], 0);
        CUZK_UNROLL
        for (int j = 2; j < N; j += 2) {
            even[j] = madc_lo_cc(p[j], m, even[j]);
            even[j + 1] = madc_hi_cc(p[j], m, even[j + 1]);
        }
        odd[N - 1] = addc(odd[N - 1], 0);
    }
};

/* z = a b / R, < a b / R + modulus: not reduced further. a < R - modulus. */
template <class P> CUZK_HD void mont_mul_lazy(uint32_t *z, const uint32_t *a, const uint32_t *b) {
    constexpr int N = P::N;
    uint32_t x[N], y[N];
    pairs_mul<N>(x, a, b[0]);
    pairs_mul<N>(y, a + 1, b[0]);
    P::reduce_row(x, y);
    CUZK_UNROLL
    for (int i = 1; i < N; i++) {
        uint32_t *const even = i & 1 ? y : x, *const odd = i & 1 ? x : y;
        even[0] = add_cc(even[0], odd[1]);
        pairs_mad_shift<N>(odd, a + 1, b[i]);
        pairs_mad_cc<N>(even, a, b[i]);
        odd[N - 1] = addc(odd[N - 1], 0);
        P::reduce_row(even, odd);
    }
    /* N is even: the last row's even accumulator is y, shifted down by one limb. */
    z[0] = add_cc(x[0], y[1]);
    CUZK_UNROLL
    for (int i = 1; i < N - 1; i++)
        z[i] = addc_cc(x[i], y[i + 1]);
    z[N - 1] = addc(x[N - 1], 0);
}

/* x = x < m ? x : x - m, for x < 2m; m has N limbs. */
template <int N> CUZK_HD void reduce_once(uint32_t *x, const uint32_t *m) {
    uint32_t t[N];
    const uint32_t borrow = limbs_sub<N>(t, x, m);
    CUZK_UNROLL
    for (int i = 0; i < N; i++)
        x[i] = borrow ? x[i] : t[i];
}

struct alignas(16) fr {
    static constexpr int N = fr_prime::N;
    uint32_t l[N];

    static CUZK_HD fr zero() {
        fr z;
        CUZK_UNROLL
        for (int i = 0; i < N; i++)
            z.l[i] = 0;
        return z;
    }
    static CUZK_HD fr one() {
        return {{0xfffffffeu, 0x00000001u, 0x00034802u, 0x5884b7fau, 0xecbc4ff5u, 0x998c4fefu,
                 0xacc5056fu, 0x1824b159u}};
    }
    CUZK_HD bool is_zero() const {
        uint32_t a = 0;
        CUZK_UNROLL
        for (int i = 0; i < N; i++)
            a |= l[i];
        return a == 0;
    }
    /* 2r */
    static CUZK_HD void bound(uint32_t *z) {
        const uint32_t c[N] = {0x00000002u, 0xfffffffeu, 0xfffcb7fdu, 0xa77b4805u,
                               0x1343b00au, 0x6673b010u, 0x533afa90u, 0xe7db4ea6u};
        CUZK_UNROLL
        for (int i = 0; i < N; i++)
            z[i] = c[i];
    }
    CUZK_HD fr canon() const {
        fr z = *this;
        uint32_t p[N];
        fr_prime::modulus(p);
        reduce_once<N>(z.l, p);
        return z;
    }
    /* The sum may pass 2^256: its carry takes part in the comparison with 2r. */
    friend CUZK_HD fr operator+(const fr &a, const fr &b) {
        fr z;
        uint32_t r2[N], t[N];
        bound(r2);
        const uint32_t carry = limbs_add<N>(z.l, a.l, b.l);
        t[0] = sub_cc(z.l[0], r2[0]);
        CUZK_UNROLL
        for (int i = 1; i < N; i++)
            t[i] = subc_cc(z.l[i], r2[i]);
        const uint32_t borrow = subc(carry, 0);
        CUZK_UNROLL
        for (int i = 0; i < N; i++)
            z.l[i] = borrow ? z.l[i] : t[i];
        return z;
    }
    friend CUZK_HD fr operator-(const fr &a, const fr &b) {
        fr z;
        uint32_t r2[N];
        bound(r2);
        const uint32_t borrow = limbs_sub<N>(z.l, a.l, b.l);
        limbs_add_masked<N>(z.l, r2, borrow);
        return z;
    }
    /* b is canonical: the result is < 2r r / R + r < 1.91 r, and b + r < R. */
    friend CUZK_HD fr operator*(const fr &a, const fr &b) {
        fr z;
        mont_mul_lazy<fr_prime>(z.l, b.l, a.l);
        return z;
    }
    /* The integer that the Montgomery form stands for, < r. */
    CUZK_HD fr from_mont() const {
        const fr unit = {{1, 0, 0, 0, 0, 0, 0, 0}};
        return (*this * unit).canon();
    }
};

struct alignas(16) fp {
    static constexpr int N = fp_prime::N;
    uint32_t l[N];

    static CUZK_HD fp zero() {
        fp z;
        CUZK_UNROLL
        for (int i = 0; i < N; i++)
            z.l[i] = 0;
        return z;
    }
    static CUZK_HD fp one() {
        return {{0x0002fffdu, 0x76090000u, 0xc40c0002u, 0xebf4000bu, 0x53c758bau, 0x5f489857u,
                 0x70525745u, 0x77ce5853u, 0xa256ec6du, 0x5c071a97u, 0xfa80e493u, 0x15f65ec3u}};
    }
    /* R^2 and R^3 mod p: into Montgomery form, and repair of an inverse of it. */
    static CUZK_HD fp r2() {
        return {{0x1c341746u, 0xf4df1f34u, 0x09d104f1u, 0x0a76e6a6u, 0x4c95b6d5u, 0x8de5476cu,
                 0x939d83c0u, 0x67eb88a9u, 0xb519952du, 0x9a793e85u, 0x92cae3aau, 0x11988fe5u}};
    }
    static CUZK_HD fp r3() {
        return {{0xd94ca1e0u, 0xed48ac6bu, 0x03a7adf8u, 0x315f831eu, 0x615e29ddu, 0x9a53352au,
                 0x921e1761u, 0x34c04e5eu, 0x65724728u, 0x2512d435u, 0x91755d4du, 0x0aa63460u}};
    }
    /* 2p */
    static CUZK_HD void bound(uint32_t *z) {
        const uint32_t c[N] = {0xffff5556u, 0x73fdffffu, 0x62a7ffffu, 0x3d57fffdu,
                               0xed61ec48u, 0xce61a541u, 0xe70a257eu, 0xc8ee9709u,
                               0x869759aeu, 0x96374f6cu, 0x72ffcd34u, 0x340223d4u};
        CUZK_UNROLL
        for (int i = 0; i < N; i++)
            z[i] = c[i];
    }
    /* All limbs zero: for a canonical value, the value zero. */
    CUZK_HD bool limbs_zero() const {
        uint32_t a = 0;
        CUZK_UNROLL
        for (int i = 0; i < N; i++)
            a |= l[i];
        return a == 0;
    }
    CUZK_HD fp canon() const {
        fp z = *this;
        uint32_t p[N];
        fp_prime::modulus(p);
        reduce_once<N>(z.l, p);
        return z;
    }
    CUZK_HD bool is_zero() const { return canon().limbs_zero(); }
    friend CUZK_HD fp operator+(const fp &a, const fp &b) {
        fp z;
        uint32_t p2[N];
        bound(p2);
        limbs_add<N>(z.l, a.l, b.l);
        reduce_once<N>(z.l, p2);
        return z;
    }
    friend CUZK_HD fp operator-(const fp &a, const fp &b) {
        fp z;
        uint32_t p2[N];
        bound(p2);
        const uint32_t borrow = limbs_sub<N>(z.l, a.l, b.l);
        limbs_add_masked<N>(z.l, p2, borrow);
        return z;
    }
    friend CUZK_HD fp operator*(const fp &a, const fp &b) {
        fp z;
        mont_mul_lazy<fp_prime>(z.l, a.l, b.l);
        return z;
    }
    /* Same canonical value? Both canonical. */
    friend CUZK_HD bool limbs_equal(const fp &a, const fp &b) {
        uint32_t d = 0;
        CUZK_UNROLL
        for (int i = 0; i < N; i++)
            d |= a.l[i] ^ b.l[i];
        return d == 0;
    }
    CUZK_HD fp sqr() const;
    CUZK_HD fp inverse() const;
    CUZK_HD uint32_t low_word() const { return l[0]; }

    /* For canonical a and b, without comparisons: a + b < 2p, a - b + p and p - b, at most 2p. */
    friend CUZK_HD fp add_canonical(const fp &a, const fp &b) {
        fp z;
        limbs_add<N>(z.l, a.l, b.l);
        return z;
    }
    friend CUZK_HD fp subtract_canonical(const fp &a, const fp &b) {
        fp z;
        uint32_t p[N];
        fp_prime::modulus(p);
        limbs_add<N>(z.l, a.l, p);
        limbs_sub<N>(z.l, z.l, b.l);
        return z;
    }
    friend CUZK_HD fp negate_canonical(const fp &b) {
        fp z;
        fp_prime::modulus(z.l);
        limbs_sub<N>(z.l, z.l, b.l);
        return z;
    }
    /* a canonical, b < 2p: a - b + 2p < 3p, for one factor of a product whose other is < 2p. */
    friend CUZK_HD fp subtract_loose(const fp &a, const fp &b) {
        fp z;
        uint32_t p2[N];
        bound(p2);
        limbs_add<N>(z.l, a.l, p2);
        limbs_sub<N>(z.l, z.l, b.l);
        return z;
    }
};

/* ---- double-width values, for sums of products with one reduction ---- */

struct fp_wide {
    uint32_t l[24];
};

CUZK_HD fp_wide mul_wide(const fp &a, const fp &b) {
    constexpr int N = 12;
    uint32_t e[2 * N] = {0}, o[2 * N] = {0}; /* o stands one limb higher */
    pairs_mul<N>(e, a.l, b.l[0]);
    pairs_mul<N>(o, a.l + 1, b.l[0]);
    CUZK_UNROLL
    for (int i = 1; i < N; i++) {
        if (i & 1) {
            pairs_mad_cc<N>(e + i + 1, a.l + 1, b.l[i]);
            pairs_mad_cc<N>(o + i - 1, a.l, b.l[i]);
            o[i + N - 1] = addc(0, 0);
        } else {
            pairs_mad_cc<N>(o + i, a.l + 1, b.l[i]);
            pairs_mad_cc<N>(e + i, a.l, b.l[i]);
            e[i + N] = addc(0, 0);
        }
    }
    fp_wide z;
    z.l[0] = e[0];
    z.l[1] = add_cc(e[1], o[0]);
    CUZK_UNROLL
    for (int i = 2; i < 2 * N - 1; i++)
        z.l[i] = addc_cc(e[i], o[i - 1]);
    z.l[2 * N - 1] = addc(e[2 * N - 1], o[2 * N - 2]);
    return z;
}

/* a[i] a[j] for j = i + first, i + first + 2, ... onto acc, whose limb 0 holds position 2 i +
 * first; count pairs. */
template <int count> CUZK_HD void sqr_row(uint32_t *acc, const uint32_t *aj, uint32_t ai) {
    if constexpr (count > 0) pairs_mad_cc<2 * count>(acc, aj, ai);
}

template <int i> CUZK_HD void sqr_rows(uint32_t *e, uint32_t *o, const uint32_t *a) {
    constexpr int N = 12;
    if constexpr (i < N - 1) {
        constexpr int odd_count = (N - i) / 2, even_count = (N - 1 - i) / 2;
        sqr_row<odd_count>(o + 2 * i, a + i + 1, a[i]);
        if constexpr (i & 1) o[2 * i + 2 * odd_count] = addc(0, 0);
        if constexpr (even_count > 0) {
            sqr_row<even_count>(e + 2 * i + 2, a + i + 2, a[i]);
            if constexpr (!(i & 1)) e[2 * i + 2 + 2 * even_count] = addc(0, 0);
        }
        sqr_rows<i + 1>(e, o, a);
    }
}

CUZK_HD fp_wide sqr_wide(const fp &a) {
    constexpr int N = 12;
    uint32_t e[2 * N + 2] = {0}, o[2 * N + 2] = {0};
    sqr_rows<0>(e, o, a.l);
    uint32_t t[2 * N];
    t[0] = 0;
    t[1] = o[0];
    t[2] = add_cc(e[2], o[1]);
    CUZK_UNROLL
    for (int i = 3; i < 2 * N - 1; i++)
        t[i] = addc_cc(e[i], o[i - 1]);
    t[2 * N - 1] = addc(e[2 * N - 1], o[2 * N - 2]);
    fp_wide z;
    z.l[0] = 0;
    CUZK_UNROLL
    for (int i = 1; i < 2 * N; i++)
        z.l[i] = (t[i] << 1) | (t[i - 1] >> 31);
    z.l[0] = mad_lo_cc(a.l[0], a.l[0], z.l[0]);
    z.l[1] = madc_hi_cc(a.l[0], a.l[0], z.l[1]);
    CUZK_UNROLL
    for (int i = 1; i < N - 1; i++) {
        z.l[2 * i] = madc_lo_cc(a.l[i], a.l[i], z.l[2 * i]);
        z.l[2 * i + 1] = madc_hi_cc(a.l[i], a.l[i], z.l[2 * i + 1]);
    }
    z.l[2 * N - 2] = madc_lo_cc(a.l[N - 1], a.l[N - 1], z.l[2 * N - 2]);
    z.l[2 * N - 1] = madc_hi(a.l[N - 1], a.l[N - 1], z.l[2 * N - 1]);
    return z;
}

CUZK_HD fp_wide wide_add(const fp_wide &a, const fp_wide &b) {
    fp_wide z;
    limbs_add<24>(z.l, a.l, b.l);
    return z;
}

/* a - b, plus p R when that is negative: the same residue after reduction. */
CUZK_HD fp_wide wide_sub(const fp_wide &a, const fp_wide &b) {
    fp_wide z;
    uint32_t p[12];
    fp_prime::modulus(p);
    const uint32_t borrow = limbs_sub<24>(z.l, a.l, b.l);
    limbs_add_masked<12>(z.l + 12, p, borrow);
    return z;
}

/* t / R mod p, < t / R + p. */
CUZK_HD fp wide_reduce(const fp_wide &t) {
    constexpr int N = 12;
    uint32_t p[N], x[N], y[N];
    fp_prime::modulus(p);
    CUZK_UNROLL
    for (int i = 0; i < N; i++)
        x[i] = t.l[i];
    const uint32_t m0 = mul_lo(x[0], fp_prime::N0);
    pairs_mul<N>(y, p + 1, m0);
    pairs_mad_cc<N>(x, p, m0);
    y[N - 1] = addc(y[N - 1], 0);
    CUZK_UNROLL
    for (int i = 1; i < N; i++) {
        uint32_t *const even = i & 1 ? y : x, *const odd = i & 1 ? x : y;
        even[0] = add_cc(even[0], odd[1]);
        const uint32_t m = mul_lo(even[0], fp_prime::N0); /* leaves the flag alone */
        pairs_mad_shift<N>(odd, p + 1, m);
        pairs_mad_cc<N>(even, p, m);
        odd[N - 1] = addc(odd[N - 1], 0);
    }
    fp z;
    z.l[0] = add_cc(x[0], y[1]);
    CUZK_UNROLL
    for (int i = 1; i < N - 1; i++)
        z.l[i] = addc_cc(x[i], y[i + 1]);
    z.l[N - 1] = addc(x[N - 1], 0);
    limbs_add<N>(z.l, z.l, t.l + N);
    return z;
}

CUZK_HD fp fp::sqr() const {
    return wide_reduce(sqr_wide(*this));
}

/* ---- Fp2 = Fp[i] / (i^2 + 1) ---- */

struct alignas(16) fp2 {
    fp c0, c1;

    static CUZK_HD fp2 zero() { return {fp::zero(), fp::zero()}; }
    static CUZK_HD fp2 one() { return {fp::one(), fp::zero()}; }
    CUZK_HD bool limbs_zero() const { return c0.limbs_zero() && c1.limbs_zero(); }
    CUZK_HD fp2 canon() const { return {c0.canon(), c1.canon()}; }
    CUZK_HD bool is_zero() const { return canon().limbs_zero(); }
    CUZK_HD uint32_t low_word() const { return c0.l[0]; }
    friend CUZK_HD fp2 add_canonical(const fp2 &a, const fp2 &b) {
        return {add_canonical(a.c0, b.c0), add_canonical(a.c1, b.c1)};
    }
    friend CUZK_HD fp2 subtract_canonical(const fp2 &a, const fp2 &b) {
        return {subtract_canonical(a.c0, b.c0), subtract_canonical(a.c1, b.c1)};
    }
    friend CUZK_HD fp2 negate_canonical(const fp2 &b) {
        return {negate_canonical(b.c0), negate_canonical(b.c1)};
    }
    /* Sums of two coordinates below 3p would be too large for the product: reduced here. */
    friend CUZK_HD fp2 subtract_loose(const fp2 &a, const fp2 &b) { return a - b; }
    friend CUZK_HD fp2 operator+(const fp2 &a, const fp2 &b) { return {a.c0 + b.c0, a.c1 + b.c1}; }
    friend CUZK_HD fp2 operator-(const fp2 &a, const fp2 &b) { return {a.c0 - b.c0, a.c1 - b.c1}; }
    /* Karatsuba on unreduced products: 3 products, 2 reductions. Sizes: (4p)^2 = 16 p^2 < 2^768;
     * the reduced sums stay below 8 p^2 / R + p and p R / R + p. */
    friend CUZK_HD fp2 operator*(const fp2 &a, const fp2 &b) {
        fp sa, sb;
        limbs_add<12>(sa.l, a.c0.l, a.c1.l);
        limbs_add<12>(sb.l, b.c0.l, b.c1.l);
        const fp_wide t0 = mul_wide(a.c0, b.c0), t1 = mul_wide(a.c1, b.c1);
        fp_wide t = mul_wide(sa, sb);
        limbs_sub<24>(t.l, t.l, t0.l);
        limbs_sub<24>(t.l, t.l, t1.l);
        return {wide_reduce(wide_sub(t0, t1)), wide_reduce(t)};
    }
    /* (c0 + c1)(c0 - c1) + 2 c0 c1 i */
    CUZK_HD fp2 sqr() const {
        fp s;
        limbs_add<12>(s.l, c0.l, c1.l);
        fp t;
        limbs_add<12>(t.l, c0.l, c0.l);
        return {s * (c0 - c1), t * c1};
    }
    friend CUZK_HD bool limbs_equal(const fp2 &a, const fp2 &b) {
        return limbs_equal(a.c0, b.c0) && limbs_equal(a.c1, b.c1);
    }
    /* conjugate over norm */
    CUZK_HD fp2 inverse() const {
        const fp n = wide_reduce(wide_add(sqr_wide(c0), sqr_wide(c1))).inverse();
        return {c0 * n, fp::zero() - c1 * n};
    }
};

} // namespace cuzk

#include "inverse.cuh"
#endif
