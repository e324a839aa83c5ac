/* Inversion by division steps (Bernstein and Yang, eprint 2019/266), in batches of 62 steps on the
 * low words, with the variable-time shortcut of skipping zeros and cancelling several bits of g at
 * once. Numbers are signed, in limbs of 62 bits; the top limb carries the sign. */
#include "field/mont_inv.h"

#include <stddef.h>

#define STEP_BITS 62
#define STEP_LIMBS (MONT_MAX_LIMBS * 64 / STEP_BITS + 1)
#define STEP_MASK (UINT64_MAX >> (64 - STEP_BITS))

typedef __int128 wide_t;

/* The effect of 62 steps: 2^62 (f', g') = (u f + v g, q f + r g); |u| + |v|, |q| + |r| <= 2^62. */
typedef struct step_matrix {
    int64_t u, v, q, r;
} step_matrix;

static void to_62(int64_t *z, const uint64_t *x, int n, int len) {
    for (int i = 0; i < len; i++) {
        const int bit = i * STEP_BITS, limb = bit / 64, shift = bit % 64;
        uint64_t v = limb < n ? x[limb] >> shift : 0;
        if (shift != 0 && limb + 1 < n) v |= x[limb + 1] << (64 - shift);
        z[i] = (int64_t)(v & STEP_MASK);
    }
}

/* z has limbs in [0, 2^62). */
static void from_62(uint64_t *z, const int64_t *x, int n, int len) {
    for (int i = 0; i < n; i++)
        z[i] = 0;
    for (int i = 0; i < len; i++) {
        const int bit = i * STEP_BITS, limb = bit / 64, shift = bit % 64;
        if (limb < n) z[limb] |= (uint64_t)x[i] << shift;
        if (shift > 64 - STEP_BITS && limb + 1 < n) z[limb + 1] |= (uint64_t)x[i] >> (64 - shift);
    }
}

/* 62 division steps on the low words of f (odd) and g. eta is minus the delta of the paper. */
static int64_t steps_var(int64_t eta, uint64_t f, uint64_t g, step_matrix *m) {
    uint64_t u = 1, v = 0, q = 0, r = 1;
    int left = STEP_BITS;
    for (;;) {
        const int zeros = __builtin_ctzll(g | UINT64_MAX << left);
        g >>= zeros;
        u <<= zeros;
        v <<= zeros;
        eta -= zeros;
        left -= zeros;
        if (left == 0) break;
        if (eta < 0) {
            uint64_t t;
            eta = -eta;
            t = f, f = g, g = 0 - t;
            t = u, u = q, q = 0 - t;
            t = v, v = r, r = 0 - t;
        }
        /* Cancel up to 6 low bits of g by a multiple w of f, w = -g / f mod 2^6, but no more than
         * the steps left and eta + 1, after which f and g would change places. f (2 - f^2) is 1/f
         * mod 2^6 for odd f, as f^2 = 1 mod 8. */
        const int limit = eta + 1 > left ? left : (int)eta + 1;
        const uint64_t mask = UINT64_MAX >> (64 - limit) & 63;
        const uint64_t w = f * g * (f * f - 2) & mask;
        g += f * w;
        q += u * w;
        r += v * w;
    }
    *m = (step_matrix){(int64_t)u, (int64_t)v, (int64_t)q, (int64_t)r};
    return eta;
}

/* (f, g) = (u f + v g, q f + r g) / 2^62, exact. */
static void apply_fg(int64_t *f, int64_t *g, const step_matrix *m, int len) {
    wide_t cf = (wide_t)m->u * f[0] + (wide_t)m->v * g[0];
    wide_t cg = (wide_t)m->q * f[0] + (wide_t)m->r * g[0];
    cf >>= STEP_BITS;
    cg >>= STEP_BITS;
    for (int i = 1; i < len; i++) {
        cf += (wide_t)m->u * f[i] + (wide_t)m->v * g[i];
        cg += (wide_t)m->q * f[i] + (wide_t)m->r * g[i];
        f[i - 1] = (int64_t)((uint64_t)cf & STEP_MASK);
        g[i - 1] = (int64_t)((uint64_t)cg & STEP_MASK);
        cf >>= STEP_BITS;
        cg >>= STEP_BITS;
    }
    f[len - 1] = (int64_t)cf;
    g[len - 1] = (int64_t)cg;
}

/* (d, e) = (u d + v e, q d + r e) / 2^62 mod p; both stay in (-2p, p). A multiple of p is added
 * that clears the low 62 bits, and one more p for each negative input keeps the range. */
static void apply_de(int64_t *d, int64_t *e, const step_matrix *m, const int64_t *p,
                     uint64_t p_inverse, int len) {
    const int64_t d_sign = d[len - 1] >> 63, e_sign = e[len - 1] >> 63;
    int64_t md = (m->u & d_sign) + (m->v & e_sign);
    int64_t me = (m->q & d_sign) + (m->r & e_sign);
    wide_t cd = (wide_t)m->u * d[0] + (wide_t)m->v * e[0];
    wide_t ce = (wide_t)m->q * d[0] + (wide_t)m->r * e[0];
    md -= (int64_t)((p_inverse * (uint64_t)cd + (uint64_t)md) & STEP_MASK);
    me -= (int64_t)((p_inverse * (uint64_t)ce + (uint64_t)me) & STEP_MASK);
    cd += (wide_t)p[0] * md;
    ce += (wide_t)p[0] * me;
    cd >>= STEP_BITS;
    ce >>= STEP_BITS;
    for (int i = 1; i < len; i++) {
        cd += (wide_t)m->u * d[i] + (wide_t)m->v * e[i] + (wide_t)p[i] * md;
        ce += (wide_t)m->q * d[i] + (wide_t)m->r * e[i] + (wide_t)p[i] * me;
        d[i - 1] = (int64_t)((uint64_t)cd & STEP_MASK);
        e[i - 1] = (int64_t)((uint64_t)ce & STEP_MASK);
        cd >>= STEP_BITS;
        ce >>= STEP_BITS;
    }
    d[len - 1] = (int64_t)cd;
    e[len - 1] = (int64_t)ce;
}

/* x += k p, limbs carried into [0, 2^62) but for the top one. */
static void add_multiple(int64_t *x, const int64_t *p, int64_t k, int len) {
    int64_t carry = 0;
    for (int i = 0; i < len; i++) {
        carry += x[i] + k * p[i];
        x[i] = i == len - 1 ? carry : (int64_t)((uint64_t)carry & STEP_MASK);
        carry >>= STEP_BITS;
    }
}

static void negate(int64_t *x, int len) {
    for (int i = 0; i < len; i++)
        x[i] = -x[i];
}

void mont_inv(uint64_t *z, const uint64_t *x, const mont_prime *P, int n) {
    int64_t f[STEP_LIMBS], g[STEP_LIMBS], d[STEP_LIMBS] = {0}, e[STEP_LIMBS] = {1}, p[STEP_LIMBS];
    const int len = (int)(P->bits / STEP_BITS) + 1;
    const uint64_t p_inverse = (0 - P->n0) & STEP_MASK;
    to_62(p, P->p, n, len);
    to_62(f, P->p, n, len);
    to_62(g, x, n, len);
    int64_t eta = -1;
    int active = len; /* f and g shrink; their leading limbs are dropped */
    for (;;) {
        step_matrix m;
        eta = steps_var(eta, (uint64_t)f[0], (uint64_t)g[0], &m);
        apply_de(d, e, &m, p, p_inverse, len);
        apply_fg(f, g, &m, active);
        int64_t any = 0;
        for (int i = 0; i < active; i++)
            any |= g[i];
        if (any == 0) break;
        const int64_t ft = f[active - 1], gt = g[active - 1];
        if (active > 1 && (ft == 0 || ft == -1) && (gt == 0 || gt == -1)) {
            /* the sign moves into bits 62 and 63 of the next limb, below */
            f[active - 2] |= (int64_t)((uint64_t)ft << STEP_BITS);
            g[active - 2] |= (int64_t)((uint64_t)gt << STEP_BITS);
            active--;
        }
    }
    /* f is 1 or -1 (p when x is 0, and then d is 0): d = f / x. */
    if (d[len - 1] < 0) add_multiple(d, p, 1, len);
    if (f[active - 1] < 0) negate(d, len);
    add_multiple(d, p, 0, len);
    if (d[len - 1] < 0) add_multiple(d, p, 1, len);
    uint64_t r3[MONT_MAX_LIMBS], t[MONT_MAX_LIMBS];
    from_62(t, d, n, len);
    mont_plain_mul(r3, P->r2, P->r2, P, n);
    mont_plain_mul(z, t, r3, P, n);
}
