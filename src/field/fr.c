#include "field/fr.h"

#define FIELD fr
#define FIELD_LIMBS FR_LIMBS
#define FIELD_PRIME cuzk_fr_prime
#include "field/prime_field_impl.h"

static void limbs_from_le(uint64_t limbs[FR_LIMBS], const uint8_t bytes[FR_BYTES]) {
    for (int i = 0; i < FR_LIMBS; i++) {
        limbs[i] = 0;
        for (int j = 7; j >= 0; j--)
            limbs[i] = limbs[i] << 8 | bytes[8 * i + j];
    }
}

cuzk_status fr_from_bytes(fr_t *z, const uint8_t bytes[FR_BYTES]) {
    uint64_t plain[FR_LIMBS];
    limbs_from_le(plain, bytes);
    if (!mont_is_canonical(plain, &cuzk_fr_prime, FR_LIMBS)) return CUZK_ERR_NOT_CANONICAL;
    fr_from_limbs(z, plain);
    return CUZK_OK;
}

void fr_to_bytes(uint8_t bytes[FR_BYTES], const fr_t *x) {
    uint64_t plain[FR_LIMBS];
    fr_to_limbs(plain, x);
    for (int i = 0; i < FR_BYTES; i++)
        bytes[i] = (uint8_t)(plain[i / 8] >> (8 * (i % 8)));
}

/* low + 2^256 high: the Montgomery form of high is high R = 2^256 high. 2^256 < 3 r, so two
 * subtractions reduce a half. */
void fr_from_wide(fr_t *z, const uint8_t bytes[64]) {
    fr_t half[2];
    for (int i = 0; i < 2; i++) {
        limbs_from_le(half[i].l, bytes + 32 * i);
        mont_reduce_once(half[i].l, half[i].l, 0, &cuzk_fr_prime, FR_LIMBS);
        mont_reduce_once(half[i].l, half[i].l, 0, &cuzk_fr_prime, FR_LIMBS);
        fr_from_limbs(&half[i], half[i].l);
    }
    fr_from_limbs(&half[1], half[1].l);
    fr_add(z, &half[0], &half[1]);
}
