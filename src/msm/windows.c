#include "msm/windows.h"

#define SCALAR_BITS 255 /* of r; |k| < 2^254 and one bit for the carry into the top window */

void msm_windows_init(msm_windows *z, unsigned bits) {
    *z = (msm_windows){
        .bits = bits, .count = (SCALAR_BITS + bits - 1) / bits, .digits = (size_t)1 << (bits - 1)};
    for (unsigned w = 0; w + 1 < z->count; w++) {
        const unsigned at = w * bits + bits - 1;
        z->offset[at / 64] |= (uint64_t)1 << (at % 64);
    }
}

unsigned msm_window_bits(size_t n, size_t bucket_cost) {
    unsigned best = MSM_MIN_WINDOW_BITS;
    double least = 0;
    for (unsigned bits = MSM_MIN_WINDOW_BITS; bits <= MSM_MAX_WINDOW_BITS; bits++) {
        const double windows = (SCALAR_BITS + bits - 1) / bits;
        const double buckets = (double)((uint64_t)1 << (bits - 1));
        const double cost = windows * ((double)n + (double)bucket_cost * buckets);
        if (bits == MSM_MIN_WINDOW_BITS || cost < least) {
            least = cost;
            best = bits;
        }
    }
    return best;
}

/* z = x - y, returns the borrow. */
static uint64_t sub4(uint64_t z[4], const uint64_t x[4], const uint64_t y[4]) {
    uint64_t borrow = 0;
    for (int i = 0; i < 4; i++) {
        const mont_u128 d = (mont_u128)x[i] - y[i] - borrow;
        z[i] = (uint64_t)d;
        borrow = (uint64_t)(d >> 64) & 1;
    }
    return borrow;
}

void msm_recode(msm_recoded *z, const fr_t *k, const msm_windows *windows) {
    uint64_t plain[FR_LIMBS], negated[FR_LIMBS], difference[FR_LIMBS];
    fr_to_limbs(plain, k);
    sub4(negated, cuzk_fr_prime.p, plain);
    const uint64_t negative = sub4(difference, negated, plain); /* r - k < k */
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) {
        const mont_u128 s =
            (mont_u128)(negative ? negated[i] : plain[i]) + windows->offset[i] + carry;
        z->l[i] = (uint64_t)s;
        carry = (uint64_t)(s >> 64);
    }
    z->l[3] |= negative << 63;
}

msm_window msm_window_at(const msm_windows *windows, unsigned w) {
    const unsigned at = w * windows->bits;
    const bool top = w + 1 == windows->count;
    const unsigned width = top ? SCALAR_BITS - at : windows->bits;
    return (msm_window){.byte = at / 8,
                        .shift = at % 8,
                        .mask = ((uint32_t)1 << width) - 1,
                        .half = top ? 0 : (int32_t)windows->digits};
}
