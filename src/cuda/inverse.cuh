/* Inversion in Fp by batched division steps (Bernstein and Yang, eprint 2019/266, in the variant
 * with delta starting at 1/2: 879 steps suffice for 381 bits by the bound in
 * github.com/bitcoin-core/secp256k1 doc/safegcd_implementation.md).
 *
 * Thirty steps at a time look only at the low 32 bits of f and g and yield a 2x2 matrix, which is
 * then applied to (f, g) and, mod p, to (d, e). Numbers are 13 signed limbs of 30 bits. All lanes
 * of a warp do the same work; a warp leaves once every lane has g = 0. Some 25,000 instructions. */
#ifndef CUZK_CUDA_INVERSE_CUH
#define CUZK_CUDA_INVERSE_CUH

#include "field.cuh"

namespace cuzk {

struct signed30 {
    static constexpr int N = 13;
    int32_t v[N];
};

constexpr uint32_t INVERSE_MASK = 0x3fffffffu;
constexpr uint32_t INVERSE_P_INV30 = 196611u; /* p^-1 mod 2^30 */
constexpr int INVERSE_ROUNDS = 30;            /* 900 steps */

CUZK_HD void inverse_modulus30(int32_t *z) {
    const int32_t c[signed30::N] = {1073719979, 670826495, 356515835, 721420204, 821437470,
                                    55215066,   288093811, 316751073, 752313463, 517541166,
                                    698659258,  982409209, 1704209};
    CUZK_UNROLL
    for (int i = 0; i < signed30::N; i++)
        z[i] = c[i];
}

struct divsteps_matrix {
    int32_t u, v, q, r; /* 2^30 times the map (f, g) -> (u f + v g, q f + r g) */
};

CUZK_HD int32_t divsteps30(int32_t zeta, uint32_t f, uint32_t g, divsteps_matrix *m) {
    uint32_t u = 1, v = 0, q = 0, r = 1;
    for (int i = 0; i < 30; i++) {
        uint32_t negate = (uint32_t)(zeta >> 31);
        const uint32_t odd = 0u - (g & 1);
        const uint32_t x = (f ^ negate) - negate, y = (u ^ negate) - negate,
                       z = (v ^ negate) - negate;
        g += x & odd;
        q += y & odd;
        r += z & odd;
        negate &= odd;
        zeta = (zeta ^ (int32_t)negate) - 1;
        f += g & negate;
        u += q & negate;
        v += r & negate;
        g >>= 1;
        u <<= 1;
        v <<= 1;
    }
    *m = {(int32_t)u, (int32_t)v, (int32_t)q, (int32_t)r};
    return zeta;
}

/* (f, g) = m (f, g) / 2^30, exact. */
CUZK_HD void divsteps_apply(signed30 *f, signed30 *g, const divsteps_matrix &m) {
    int64_t cf = (int64_t)m.u * f->v[0] + (int64_t)m.v * g->v[0];
    int64_t cg = (int64_t)m.q * f->v[0] + (int64_t)m.r * g->v[0];
    cf >>= 30;
    cg >>= 30;
    CUZK_UNROLL
    for (int i = 1; i < signed30::N; i++) {
        const int32_t fi = f->v[i], gi = g->v[i];
        cf += (int64_t)m.u * fi + (int64_t)m.v * gi;
        cg += (int64_t)m.q * fi + (int64_t)m.r * gi;
        f->v[i - 1] = (int32_t)((uint32_t)cf & INVERSE_MASK);
        g->v[i - 1] = (int32_t)((uint32_t)cg & INVERSE_MASK);
        cf >>= 30;
        cg >>= 30;
    }
    f->v[signed30::N - 1] = (int32_t)cf;
    g->v[signed30::N - 1] = (int32_t)cg;
}

/* (d, e) = m (d, e) / 2^30 mod p; d and e stay in (-2p, p). */
CUZK_HD void divsteps_apply_mod(signed30 *d, signed30 *e, const divsteps_matrix &m) {
    int32_t p[signed30::N];
    inverse_modulus30(p);
    const int32_t sd = d->v[signed30::N - 1] >> 31, se = e->v[signed30::N - 1] >> 31;
    /* start by adding p for each negative input, then choose the multiple that clears 30 bits */
    int32_t md = (m.u & sd) + (m.v & se), me = (m.q & sd) + (m.r & se);
    int64_t cd = (int64_t)m.u * d->v[0] + (int64_t)m.v * e->v[0];
    int64_t ce = (int64_t)m.q * d->v[0] + (int64_t)m.r * e->v[0];
    md -= (int32_t)((INVERSE_P_INV30 * (uint32_t)cd + (uint32_t)md) & INVERSE_MASK);
    me -= (int32_t)((INVERSE_P_INV30 * (uint32_t)ce + (uint32_t)me) & INVERSE_MASK);
    cd += (int64_t)p[0] * md;
    ce += (int64_t)p[0] * me;
    cd >>= 30;
    ce >>= 30;
    CUZK_UNROLL
    for (int i = 1; i < signed30::N; i++) {
        const int32_t di = d->v[i], ei = e->v[i];
        cd += (int64_t)m.u * di + (int64_t)m.v * ei + (int64_t)p[i] * md;
        ce += (int64_t)m.q * di + (int64_t)m.r * ei + (int64_t)p[i] * me;
        d->v[i - 1] = (int32_t)((uint32_t)cd & INVERSE_MASK);
        e->v[i - 1] = (int32_t)((uint32_t)ce & INVERSE_MASK);
        cd >>= 30;
        ce >>= 30;
    }
    d->v[signed30::N - 1] = (int32_t)cd;
    e->v[signed30::N - 1] = (int32_t)ce;
}

/* x in (-2p, p), times the sign of f, to [0, p). */
CUZK_HD void inverse_normalize(signed30 *x, int32_t f_sign) {
    int32_t p[signed30::N];
    inverse_modulus30(p);
    int32_t add = x->v[signed30::N - 1] >> 31;
    CUZK_UNROLL
    for (int i = 0; i < signed30::N; i++) {
        x->v[i] += p[i] & add;
        x->v[i] = (x->v[i] ^ f_sign) - f_sign;
    }
    CUZK_UNROLL
    for (int pass = 0; pass < 2; pass++) {
        CUZK_UNROLL
        for (int i = 0; i < signed30::N - 1; i++) {
            x->v[i + 1] += x->v[i] >> 30;
            x->v[i] &= (int32_t)INVERSE_MASK;
        }
        if (pass == 0) {
            add = x->v[signed30::N - 1] >> 31;
            CUZK_UNROLL
            for (int i = 0; i < signed30::N; i++)
                x->v[i] += p[i] & add;
        }
    }
}

CUZK_HD bool inverse_is_zero(const signed30 &x) {
    int32_t a = 0;
    CUZK_UNROLL
    for (int i = 0; i < signed30::N; i++)
        a |= x.v[i];
    return a == 0;
}

/* z = 1 / x as plain integers mod p, x < p; 0 maps to 0. */
CUZK_HD void inverse_plain(uint32_t *z, const uint32_t *x) {
    signed30 d, e, f, g;
    inverse_modulus30(f.v);
    CUZK_UNROLL
    for (int i = 0; i < signed30::N; i++) {
        const int word = 30 * i / 32, bit = 30 * i % 32;
        uint32_t limb = x[word] >> bit;
        if (bit > 2 && word + 1 < 12) limb |= x[word + 1] << (32 - bit);
        g.v[i] = (int32_t)(limb & INVERSE_MASK);
        d.v[i] = 0;
        e.v[i] = i == 0;
    }
    int32_t zeta = -1;
    for (int round = 0; round < INVERSE_ROUNDS; round++) {
        divsteps_matrix m;
        zeta = divsteps30(zeta, (uint32_t)f.v[0] | (uint32_t)f.v[1] << 30,
                          (uint32_t)g.v[0] | (uint32_t)g.v[1] << 30, &m);
        divsteps_apply_mod(&d, &e, m);
        divsteps_apply(&f, &g, m);
#ifdef __CUDA_ARCH__
        if (__all_sync(__activemask(), inverse_is_zero(g))) break;
#else
        if (inverse_is_zero(g)) break;
#endif
    }
    inverse_normalize(&d, f.v[signed30::N - 1] >> 31);
    CUZK_UNROLL
    for (int i = 0; i < 12; i++) {
        /* word i is limb k from its bit 32 i - 30 k <= 22 on, and limb k + 1 */
        const int k = 32 * i / 30, bit = 32 * i % 30;
        z[i] = (uint32_t)d.v[k] >> bit | (uint32_t)d.v[k + 1] << (30 - bit);
    }
}

/* The Montgomery form x R has the plain inverse x^-1 R^-1, which R^3 repairs. */
CUZK_CALLED fp fp_inverse(fp x) {
    fp z;
    const fp c = x.canon();
    inverse_plain(z.l, c.l);
    return z * fp::r3();
}

CUZK_HD fp fp::inverse() const {
    return fp_inverse(*this);
}

} // namespace cuzk
#endif
