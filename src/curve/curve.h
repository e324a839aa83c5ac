/* The groups G1 (over Fp) and G2 (over Fp2) of BLS12-381, both of prime order r.
 *
 * Two forms of a point: affine (x, y) with infinity as all-zero (which is not on the curve), and
 * XYZZ (X, Y, ZZ, ZZZ) with x = X/ZZ, y = Y/ZZZ, ZZ^3 = ZZZ^2 and infinity as ZZ = 0
 * (https://hyperelliptic.org/EFD/g1p/auto-shortw-xyzz.html). Every operation is complete: it is
 * right for equal and opposite points and for infinity. Outputs may alias inputs.
 * G1 and G2 share one body of formulas (curve_template.h). */
#ifndef CUZK_CURVE_CURVE_H
#define CUZK_CURVE_CURVE_H

#include "field/fp.h"
#include "field/fp2.h"
#include "field/fr.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct g1_affine_t {
    fp_t x, y;
} g1_affine_t;
typedef struct g1_t {
    fp_t x, y, zz, zzz;
} g1_t;
typedef struct g2_affine_t {
    fp2_t x, y;
} g2_affine_t;
typedef struct g2_t {
    fp2_t x, y, zz, zzz;
} g2_t;

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

#define CURVE_DECLARE(G)                                                                           \
    extern const G##_affine_t G##_generator;                                                       \
    static inline bool G##_is_infinity(const G##_t *p);                                            \
    bool G##_affine_is_infinity(const G##_affine_t *p);                                            \
    G##_t G##_infinity(void);                                                                      \
    void G##_from_affine(G##_t *z, const G##_affine_t *p);                                         \
    void G##_to_affine(G##_affine_t *z, const G##_t *p);                                           \
    /* n points with one inversion; scratch: n field elements of the curve's field */              \
    void G##_batch_to_affine(G##_affine_t *z, const G##_t *p, size_t n, void *scratch);            \
    void G##_add(G##_t *z, const G##_t *p, const G##_t *q);                                        \
    void G##_add_affine(G##_t *z, const G##_t *p, const G##_affine_t *q);                          \
    void G##_sub_affine(G##_t *z, const G##_t *p, const G##_affine_t *q);                          \
    void G##_double(G##_t *z, const G##_t *p);                                                     \
    void G##_neg(G##_t *z, const G##_t *p);                                                        \
    void G##_affine_neg(G##_affine_t *z, const G##_affine_t *p);                                   \
    bool G##_eq(const G##_t *p, const G##_t *q);                                                   \
    bool G##_affine_eq(const G##_affine_t *p, const G##_affine_t *q);                              \
    /* z = k p; _var: time depends on k */                                                         \
    void G##_mul_var(G##_t *z, const G##_t *p, const fr_t *k);                                     \
    bool G##_affine_is_on_curve(const G##_affine_t *p);                                            \
    /* p is on the curve; by endomorphism (Scott, eprint 2021/1130) */                             \
    bool G##_affine_in_subgroup(const G##_affine_t *p);

CURVE_DECLARE(g1)
CURVE_DECLARE(g2)
#undef CURVE_DECLARE

static inline bool g1_is_infinity(const g1_t *p) {
    return fp_is_zero(&p->zz);
}
static inline bool g2_is_infinity(const g2_t *p) {
    return fp2_is_zero(&p->zz);
}

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
