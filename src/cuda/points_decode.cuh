/* One coordinate of an encoded point. */
#ifndef CUZK_CUDA_POINTS_DECODE_CUH
#define CUZK_CUDA_POINTS_DECODE_CUH

#include "field.cuh"

namespace cuzk {

/* The parameter file's encoding: 48 bytes big-endian, in 16-byte vectors; false
 * when it is >= p, which a flag bit in the top byte makes it too. */
CUZK_HD bool decode_coordinate(const uint4 in[3], fp *out) {
    fp x;
    CUZK_UNROLL
    for (int i = 0; i < 12; i++) {
        const uint4 v = in[2 - i / 4];
        const int k = 3 - i % 4;
        const uint32_t w = k == 0 ? v.x : k == 1 ? v.y : k == 2 ? v.z : v.w;
        x.l[i] = w << 24 | (w << 8 & 0xff0000) | (w >> 8 & 0xff00) | w >> 24;
    }
    uint32_t p[12], t[12];
    fp_prime::modulus(p);
    const bool canonical = limbs_sub<12>(t, x.l, p) != 0;
    *out = (x * fp::r2()).canon();
    return canonical;
}

} // namespace cuzk
#endif
