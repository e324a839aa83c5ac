/* Signed windows: how a scalar is cut into digits, the same for both groups.
 *
 * A scalar k is first replaced by the smaller of k and r - k, with a sign, so |k| < 2^254. Adding
 * the constant sum of 2^(c-1) 2^(c w) over all windows w but the top one then makes every digit
 * independent of the others: digit w is window w of the sum, less 2^(c-1), in [-2^(c-1), 2^(c-1)).
 * The top window is taken as it is, in [0, 2^(c-1)], which needs c * windows >= 255. */
#ifndef CUZK_MSM_WINDOWS_H
#define CUZK_MSM_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/bytes.h"
#include "field/fr.h"

#define MSM_MIN_WINDOW_BITS 3
#define MSM_MAX_WINDOW_BITS 17

typedef struct msm_windows {
    unsigned bits;      /* c */
    unsigned count;     /* ceil(255 / c) */
    size_t digits;      /* 2^(c-1): largest digit, and number of buckets of a window */
    uint64_t offset[4]; /* the constant above */
} msm_windows;

/* A recoded scalar: |k| + offset < 2^255 as 32 bytes little-endian, bit 255 set for negative k. */
typedef struct msm_recoded {
    uint64_t l[4];
} msm_recoded;
/* msm_digit reads whole words, up to this many bytes past the last scalar of an array. */
#define MSM_RECODED_PADDING 8

/* Where one window is found in a recoded scalar. */
typedef struct msm_window {
    size_t byte;
    unsigned shift;
    uint32_t mask;
    int32_t half; /* 2^(c-1); 0 in the top window */
} msm_window;

void msm_windows_init(msm_windows *z, unsigned bits);
/* Window bits with the least work for n scalars, in affine additions: windows * (n +
 * bucket_cost * buckets). */
unsigned msm_window_bits(size_t n, size_t bucket_cost);
void msm_recode(msm_recoded *z, const fr_t *k, const msm_windows *windows);
msm_window msm_window_at(const msm_windows *windows, unsigned w);

/* Digit of a window as 2 |digit| + sign; below 2 means zero. */
static inline uint32_t msm_digit(const msm_recoded *k, msm_window w) {
    const uint8_t *bytes = (const uint8_t *)k;
    const int32_t digit = (int32_t)((load_le64(bytes + w.byte) >> w.shift) & w.mask) - w.half;
    const uint32_t negative = (uint32_t)(digit < 0);
    const uint32_t magnitude = ((uint32_t)digit ^ (0 - negative)) + negative;
    return magnitude << 1 | (negative ^ (uint32_t)(k->l[3] >> 63));
}

#endif
