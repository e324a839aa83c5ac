#include "field/fp.h"

#define FIELD fp
#define FIELD_LIMBS FP_LIMBS
#define FIELD_PRIME cuzk_fp_prime
#include "field/prime_field_impl.h"

cuzk_status fp_from_bytes(fp_t *z, const uint8_t bytes[FP_BYTES]) {
    uint64_t plain[FP_LIMBS] = {0};
    for (int i = 0; i < FP_BYTES; i++)
        plain[FP_LIMBS - 1 - i / 8] = plain[FP_LIMBS - 1 - i / 8] << 8 | bytes[i];
    if (!mont_is_canonical(plain, &cuzk_fp_prime, FP_LIMBS)) return CUZK_ERR_NOT_CANONICAL;
    fp_from_limbs(z, plain);
    return CUZK_OK;
}

void fp_to_bytes(uint8_t bytes[FP_BYTES], const fp_t *x) {
    uint64_t plain[FP_LIMBS];
    fp_to_limbs(plain, x);
    for (int i = 0; i < FP_BYTES; i++)
        bytes[i] = (uint8_t)(plain[FP_LIMBS - 1 - i / 8] >> (8 * (7 - i % 8)));
}

/* v > (p - 1) / 2 exactly when 2 v >= p, as p is odd. */
bool fp_is_lexicographically_largest(const fp_t *x) {
    uint64_t plain[FP_LIMBS];
    fp_to_limbs(plain, x);
    for (int i = FP_LIMBS - 1; i > 0; i--)
        plain[i] = plain[i] << 1 | plain[i - 1] >> 63;
    plain[0] <<= 1;
    return !mont_is_canonical(plain, &cuzk_fp_prime, FP_LIMBS);
}
