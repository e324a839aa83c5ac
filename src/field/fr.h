/* Fr: the scalar field of BLS12-381, the integers mod r, the order of G1 and G2.
 * Operations: prime_field.h with the prefix fr. Byte forms: 32 bytes little-endian. */
#ifndef CUZK_FIELD_FR_H
#define CUZK_FIELD_FR_H

#include "base/status.h"
#include "field/mont.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FR_LIMBS 4
#define FR_BYTES 32

extern const mont_prime cuzk_fr_prime;

#define FIELD fr
#define FIELD_LIMBS FR_LIMBS
#define FIELD_PRIME cuzk_fr_prime
#include "field/prime_field.h"

/* 32 bytes little-endian. Reading refuses a value >= r (CUZK_ERR_NOT_CANONICAL). */
cuzk_status fr_from_bytes(fr_t *z, const uint8_t bytes[FR_BYTES]);
void fr_to_bytes(uint8_t bytes[FR_BYTES], const fr_t *x);
/* 64 bytes little-endian, reduced mod r: uniform when the bytes are. */
void fr_from_wide(fr_t *z, const uint8_t bytes[64]);

#ifdef __cplusplus
}
#endif
#endif
