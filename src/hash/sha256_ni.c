/* SHA-256 with the x86 SHA extensions. The instructions keep the state as two registers, ABEF and
 * CDGH (A and C in the top lanes), and do two rounds each. */
#include "hash/sha256.h"
#include "hash/sha256_impl.h"

#ifdef CUZK_SHA_NI
#include <cpuid.h>
#include <immintrin.h>

bool sha256_ni_available(void) {
    /* 0 unknown, 1 no, 2 yes: a race writes the same value twice. */
    static int known;
    int v = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (v == 0) {
        unsigned a, b, c, d;
        const bool sse41 = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_SSE4_1) != 0;
        v = sse41 && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0 ? 2 : 1;
        __atomic_store_n(&known, v, __ATOMIC_RELAXED);
    }
    return v == 2;
}

#define TARGET __attribute__((target("sha,sse4.1,ssse3")))

/* Words 4i..4i+3 of the schedule, i >= 4, from the four registers before. */
TARGET static inline __m128i schedule(__m128i w0, __m128i w1, __m128i w2, __m128i w3) {
    const __m128i t = _mm_add_epi32(_mm_sha256msg1_epu32(w0, w1), _mm_alignr_epi8(w3, w2, 4));
    return _mm_sha256msg2_epu32(t, w3);
}

TARGET static inline void four_rounds(__m128i *abef, __m128i *cdgh, __m128i w, size_t i) {
    const __m128i k = _mm_loadu_si128((const __m128i *)(const void *)(sha256_k + 4 * i));
    const __m128i wk = _mm_add_epi32(w, k);
    *cdgh = _mm_sha256rnds2_epu32(*cdgh, *abef, wk);
    *abef = _mm_sha256rnds2_epu32(*abef, *cdgh, _mm_shuffle_epi32(wk, 0x0e));
}

TARGET static inline __m128i load(const void *p) {
    return _mm_loadu_si128(p);
}

TARGET void sha256_blocks_ni(uint32_t state[8], const uint8_t *blocks, size_t n) {
    const __m128i swap = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
    /* DCBA, HGFE -> CDAB, EFGH -> ABEF, CDGH */
    const __m128i cdab = _mm_shuffle_epi32(load(state), 0xb1);
    const __m128i efgh = _mm_shuffle_epi32(load(state + 4), 0x1b);
    __m128i abef = _mm_alignr_epi8(cdab, efgh, 8);
    __m128i cdgh = _mm_blend_epi16(efgh, cdab, 0xf0);
    for (; n > 0; n--, blocks += 64) {
        const __m128i abef_in = abef, cdgh_in = cdgh;
        __m128i w[4];
#pragma GCC unroll 4
        for (size_t i = 0; i < 4; i++) {
            w[i] = _mm_shuffle_epi8(load(blocks + 16 * i), swap);
            four_rounds(&abef, &cdgh, w[i], i);
        }
#pragma GCC unroll 12
        for (size_t i = 4; i < 16; i++) {
            w[i % 4] = schedule(w[i % 4], w[(i + 1) % 4], w[(i + 2) % 4], w[(i + 3) % 4]);
            four_rounds(&abef, &cdgh, w[i % 4], i);
        }
        abef = _mm_add_epi32(abef, abef_in);
        cdgh = _mm_add_epi32(cdgh, cdgh_in);
    }
    const __m128i feba = _mm_shuffle_epi32(abef, 0x1b), dchg = _mm_shuffle_epi32(cdgh, 0xb1);
    _mm_storeu_si128((__m128i *)(void *)state, _mm_blend_epi16(feba, dchg, 0xf0));
    _mm_storeu_si128((__m128i *)(void *)(state + 4), _mm_alignr_epi8(dchg, feba, 8));
}
#else
typedef int sha256_ni_absent; /* a translation unit may not be empty */
#endif
