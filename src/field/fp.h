/* Fp: the base field of BLS12-381, the integers mod p.
 * Operations: prime_field.h with the prefix fp. Byte forms: 48 bytes big-endian (the zcash
 * encoding). */
#ifndef CUZK_FIELD_FP_H
#define CUZK_FIELD_FP_H

#include "base/status.h"
#include "field/mont.h"

#ifdef __cplusplus
extern "C" {
#endif

#define FP_LIMBS 6
#define FP_BYTES 48

extern const mont_prime cuzk_fp_prime;

#define FIELD fp
#define FIELD_LIMBS FP_LIMBS
#define FIELD_PRIME cuzk_fp_prime
#include "field/prime_field.h"

/* 48 bytes big-endian. Reading refuses a value >= p (CUZK_ERR_NOT_CANONICAL). */
cuzk_status fp_from_bytes(fp_t *z, const uint8_t bytes[FP_BYTES]);
void fp_to_bytes(uint8_t bytes[FP_BYTES], const fp_t *x);
/* Is the plain value of x larger than (p - 1) / 2? The sign rule of the zcash encoding. */
bool fp_is_lexicographically_largest(const fp_t *x);

#ifdef __cplusplus
}
#endif
#endif
