/* Multiples of fixed bases for an MSM with several copies of them: copy c + 1 holds 2^shift times
 * copy c, affine and canonical.
 *
 * A thread doubles a point `shift` times in Jacobian coordinates (2 multiplications and 5 squarings
 * each: https://hyperelliptic.org/EFD/g1p/auto-shortw-jacobian-0.html, dbl-2009-l); the block
 * shares the inversion of the Z. Limit: the integer multiplier. */
#ifndef CUZK_CUDA_MULTIPLES_CUH
#define CUZK_CUDA_MULTIPLES_CUH

#include "point.cuh"

namespace cuzk {

/* X / Z^2, Y / Z^3 with Z = 0 at infinity; values < 2p. */
template <class F> struct jacobian {
    F x, y, z;

    static CUZK_HD jacobian from_affine(const affine<F> &p) {
        return {p.x, p.y, p.is_infinity() ? F::zero() : F::one()};
    }
    CUZK_HD void double_times(uint32_t times) {
        CUZK_NO_UNROLL
        for (uint32_t i = 0; i < times; i++) {
            const F a = square(x), b = square(y), c = square(b);
            const F t = square(x + b) - a - c, d = t + t, e = a + a + a;
            const F yz = product(y, z);
            x = square(e) - d - d;
            const F c2 = c + c, c4 = c2 + c2;
            y = product(e, d - x) - (c4 + c4);
            z = yz + yz; /* infinity stays infinity: 2 y * 0 */
        }
    }
    /* What an inversion may be shared over: never zero. */
    CUZK_HD F denominator() const { return z.is_zero() ? F::one() : z; }
    CUZK_HD affine<F> to_affine(const F &denominator_inverse) const {
        if (z.is_zero()) return affine<F>::infinity();
        const F zz = square(denominator_inverse);
        return {product(x, zz).canon(), product(y, product(zz, denominator_inverse)).canon()};
    }
};

} // namespace cuzk
#endif
