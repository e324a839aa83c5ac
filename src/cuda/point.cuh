/* G1 and G2 on the device: one body of formulas over fp and fp2, the layouts of g1_affine_t, g1_t,
 * g2_affine_t and g2_t. Affine infinity is all zero, XYZZ infinity has zz = 0; affine coordinates
 * in memory are canonical, XYZZ ones only in results for the host. Formulas:
 * https://hyperelliptic.org/EFD/g1p/auto-shortw-xyzz.html, a = 0. */
#ifndef CUZK_CUDA_POINT_CUH
#define CUZK_CUDA_POINT_CUH

#include "field.cuh"

namespace cuzk {

/* Products in XYZZ formulas are routines that are called: inlined, an addition over fp2 is 25,000
 * instructions, and one over fp still more than the instruction cache likes. */
CUZK_CALLED fp product(fp a, fp b) {
    return a * b;
}
CUZK_CALLED fp square(fp a) {
    return a.sqr();
}
CUZK_CALLED fp2 product(const fp2 &a, const fp2 &b) {
    return a * b;
}
CUZK_HD fp2 square(const fp2 &a) {
    return product(a, a);
}
/* a b - c d: over fp with one reduction, < 2p because the difference is < max(4 p^2, p R). */
CUZK_CALLED fp product_difference(fp a, fp b, fp c, fp d) {
    return wide_reduce(wide_sub(mul_wide(a, b), mul_wide(c, d)));
}
CUZK_HD fp2 product_difference(const fp2 &a, const fp2 &b, const fp2 &c, const fp2 &d) {
    return product(a, b) - product(c, d);
}

template <class F> struct affine {
    F x, y;
    static CUZK_HD affine infinity() { return {F::zero(), F::zero()}; }
    CUZK_HD bool is_infinity() const { return x.limbs_zero() && y.limbs_zero(); }
};

template <class F> struct xyzz {
    F x, y, zz, zzz;

    static CUZK_HD xyzz infinity() { return {F::zero(), F::zero(), F::zero(), F::zero()}; }
    static CUZK_HD xyzz from_affine(const affine<F> &p) {
        if (p.is_infinity()) return infinity();
        return {p.x, p.y, F::one(), F::one()};
    }
    CUZK_HD bool is_infinity() const { return zz.limbs_zero(); }
    CUZK_HD xyzz canon() const { return {x.canon(), y.canon(), zz.canon(), zzz.canon()}; }

    /* dbl-2008-s-1 */
    CUZK_HD xyzz doubled() const {
        const F u = y + y, v = square(u), w = product(u, v), s = product(x, v), xx = square(x);
        const F m = xx + xx + xx;
        xyzz z;
        z.x = square(m) - s - s;
        z.y = product_difference(m, s - z.x, w, y);
        z.zz = product(v, zz);
        z.zzz = product(w, zzz);
        return z; /* infinity stays infinity: zz = v * 0 is 0 or p */
    }
    /* add-2008-s from the four products that tell the two points apart */
    CUZK_HD void add_generic(const F &u1, const F &s1, const F &p, const F &r, const F &zz12,
                             const F &zzz12) {
        const F pp = square(p), ppp = product(p, pp), q = product(u1, pp);
        x = square(r) - ppp - q - q;
        y = product_difference(r, q - x, s1, ppp);
        zz = product(zz12, pp);
        zzz = product(zzz12, ppp);
    }
    CUZK_HD void add(const xyzz &b) {
        if (b.is_infinity()) return;
        if (is_infinity()) {
            *this = b;
            return;
        }
        const F u1 = product(x, b.zz), s1 = product(y, b.zzz);
        const F p = product(b.x, zz) - u1, r = product(b.y, zzz) - s1;
        if (p.is_zero()) {
            *this = r.is_zero() ? doubled() : infinity();
            return;
        }
        add_generic(u1, s1, p, r, product(zz, b.zz), product(zzz, b.zzz));
    }
    CUZK_HD void add(const affine<F> &b) {
        if (b.is_infinity()) return;
        if (is_infinity()) {
            *this = from_affine(b);
            return;
        }
        const F p = product(b.x, zz) - x, r = product(b.y, zzz) - y;
        if (p.is_zero()) {
            *this = r.is_zero() ? from_affine(b).doubled() : infinity();
            return;
        }
        add_generic(x, y, p, r, zz, zzz);
    }
};

} // namespace cuzk
#endif
