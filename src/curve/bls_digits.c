#include "curve/bls_digits.h"

#include "curve/curve_constants.h"

void bls_digits(uint64_t digits[BLS_DIGITS], const fr_t *k) {
    uint64_t n[FR_LIMBS];
    fr_to_limbs(n, k);
    for (int d = 0; d < BLS_DIGITS; d++) {
        uint64_t rest = 0;
        for (int i = FR_LIMBS - 1; i >= 0; i--) {
            const mont_u128 part = (mont_u128)rest << 64 | n[i];
            n[i] = (uint64_t)(part / BLS_X_ABS);
            rest = (uint64_t)(part % BLS_X_ABS);
        }
        digits[d] = rest;
    }
}
