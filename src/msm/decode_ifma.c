#include "msm/decode.h"

#include <string.h>

#include "field/ifma.h"

#if defined(__x86_64__)

/* What takes a plain number to the number of its fp_t, v R64: mul by v R64 R / R. From R64^2, whose
 * `enter` form is R64^2 R^2 / R64 / R = R64 R. */
IFMA_INLINE void to_montgomery_factor(ifma_fp *z) {
    fp_t square;
    const fp_t *from[IFMA_LANES];
    memcpy(square.l, cuzk_fp_prime.r2, sizeof square.l);
    for (int i = 0; i < IFMA_LANES; i++)
        from[i] = &square;
    ifma_fp_load(z, from);
    ifma_fp_enter(z, z);
}

/* Eight big-endian coordinates at bytes[i] to eight places. False if one is not below p or has a
 * flag bit, which counts as more than p. */
IFMA_INLINE bool decode_coordinates(fp_t *const to[IFMA_LANES],
                                    const uint8_t *const bytes[IFMA_LANES], const ifma_fp *factor) {
    const __m512i swap =
        _mm512_broadcast_i32x4(_mm_setr_epi8(7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
    const uint64_t *high[IFMA_LANES], *low[IFMA_LANES];
    __m512i big[FP_LIMBS], words[FP_LIMBS];
    ifma_fp x, below;
    for (int i = 0; i < IFMA_LANES; i++) {
        high[i] = (const uint64_t *)(const void *)bytes[i];
        low[i] = (const uint64_t *)(const void *)(bytes[i] + 32);
    }
    ifma_gather4(big, high);
    ifma_gather2(big + 4, low);
    IFMA_UNROLL for (int i = 0; i < FP_LIMBS; i++) words[FP_LIMBS - 1 - i] =
        _mm512_shuffle_epi8(big[i], swap);
    /* Below 2^381 < 2 p, a number changes when it is not below p. */
    if (_mm512_test_epi64_mask(words[FP_LIMBS - 1], ifma_splat((uint64_t)7 << 61)) != 0)
        return false;
    ifma_split_words(x.l, words, IFMA_FP_LIMBS, FP_LIMBS);
    ifma_fp_subtract_once(&below, &x);
    IFMA_UNROLL for (int i = 0; i < IFMA_FP_LIMBS;
                     i++) if (_mm512_cmpneq_epi64_mask(below.l[i], x.l[i]) != 0) return false;
    ifma_fp_mul(&x, &x, factor);
    ifma_fp_canonical(&x, &x);
    ifma_fp_store(to, IFMA_LANES, &x);
    return true;
}

/* n points of `coordinates` elements each; in the encoding, the elements come in the order given:
 * element j of a point is at place order[j]. */
static IFMA_TARGET size_t decode_points(fp_t *z, const uint8_t *encoded, const size_t *index,
                                        size_t n, size_t coordinates, const size_t *order) {
    ifma_fp factor;
    to_montgomery_factor(&factor);
    size_t i = 0;
    for (; i + IFMA_LANES <= n; i += IFMA_LANES) {
        for (size_t j = 0; j < coordinates; j++) {
            const uint8_t *bytes[IFMA_LANES];
            fp_t *to[IFMA_LANES];
            for (size_t lane = 0; lane < IFMA_LANES; lane++) {
                to[lane] = &z[(i + lane) * coordinates + j];
                bytes[lane] = encoded + (index[i + lane] * coordinates + order[j]) * FP_BYTES;
            }
            if (!decode_coordinates(to, bytes, &factor)) return i;
        }
    }
    return i;
}

size_t msm_decode_ifma_g1(g1_affine_t *z, const uint8_t *encoded, const size_t *index, size_t n) {
    static const size_t order[] = {0, 1};
    return decode_points(&z->x, encoded, index, n, 2, order);
}

/* Each coordinate is encoded c1 first. */
size_t msm_decode_ifma_g2(g2_affine_t *z, const uint8_t *encoded, const size_t *index, size_t n) {
    static const size_t order[] = {1, 0, 3, 2};
    return decode_points(&z->x.c0, encoded, index, n, 4, order);
}

#endif
