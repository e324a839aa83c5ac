/* The groups G1 (over Fp, y^2 = x^3 + 4) and G2 (over Fp2, y^2 = x^3 + 4 (1 + u)) of BLS12-381,
 * both of prime order r. Points and operations: weierstrass.h with the prefixes g1 and g2. */
#ifndef CUZK_CURVE_CURVE_H
#define CUZK_CURVE_CURVE_H

#include "field/fp.h"
#include "field/fp2.h"
#include "field/fr.h"

#ifdef __cplusplus
extern "C" {
#endif

#define G1_COMPRESSED_BYTES 48
#define G1_UNCOMPRESSED_BYTES 96
#define G2_COMPRESSED_BYTES 96
#define G2_UNCOMPRESSED_BYTES 192

/* How much a decoder checks beyond the encoding itself. Canonical coordinates and legal flags are
 * always checked. */
typedef enum curve_check {
    CURVE_CHECK_ENCODING, /* coordinates < p, flags legal */
    CURVE_CHECK_ON_CURVE, /* and the curve equation */
    CURVE_CHECK_SUBGROUP  /* and membership in the group of order r */
} curve_check;

#define CURVE g1
#define CURVE_FIELD fp
#include "curve/weierstrass.h"

#define CURVE g2
#define CURVE_FIELD fp2
#include "curve/weierstrass.h"

extern const g1_affine_t g1_generator;
extern const g2_affine_t g2_generator;

/* z = k p for p in the group of order r (by endomorphism: elsewhere on the curve the result is
 * wrong, use g1_mul_limbs_var). Variable time. */
void g1_mul_var(g1_t *z, const g1_t *p, const fr_t *k);
void g2_mul_var(g2_t *z, const g2_t *p, const fr_t *k);
/* Is p, a point on the curve, in the group of order r? By endomorphism (Scott, eprint 2021/1130).
 */
bool g1_affine_in_subgroup(const g1_affine_t *p);
bool g2_affine_in_subgroup(const g2_affine_t *p);

/* zcash encoding (github.com/zcash/librustzcash pairing/src/bls12_381/README.md): big-endian x then
 * y, for G2 each coordinate c1 then c0; flags in the top bits of byte 0: 0x80 compressed, 0x40
 * infinity (everything else zero), 0x20 sign of y (compressed only). Every illegal combination is
 * refused with its cause in the status: FORMAT (flags, dirty infinity), NOT_CANONICAL,
 * NOT_ON_CURVE, NOT_IN_GROUP. Infinity itself is legal here; callers that forbid it check. */
cuzk_status g1_read_compressed(g1_affine_t *z, const uint8_t in[G1_COMPRESSED_BYTES],
                               curve_check check);
cuzk_status g1_read_uncompressed(g1_affine_t *z, const uint8_t in[G1_UNCOMPRESSED_BYTES],
                                 curve_check check);
cuzk_status g2_read_compressed(g2_affine_t *z, const uint8_t in[G2_COMPRESSED_BYTES],
                               curve_check check);
cuzk_status g2_read_uncompressed(g2_affine_t *z, const uint8_t in[G2_UNCOMPRESSED_BYTES],
                                 curve_check check);
void g1_write_compressed(uint8_t out[G1_COMPRESSED_BYTES], const g1_affine_t *p);
void g1_write_uncompressed(uint8_t out[G1_UNCOMPRESSED_BYTES], const g1_affine_t *p);
void g2_write_compressed(uint8_t out[G2_COMPRESSED_BYTES], const g2_affine_t *p);
void g2_write_uncompressed(uint8_t out[G2_UNCOMPRESSED_BYTES], const g2_affine_t *p);

#ifdef __cplusplus
}
#endif
#endif
