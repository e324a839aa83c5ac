/* Groth16 (eprint 2016/260) over BLS12-381 as bellperson arranges it: keys, set-up, proofs,
 * verification. REFERENCE: filecoin-project/bellperson src/groth16/. */
#ifndef CUZK_GROTH16_GROTH16_H
#define CUZK_GROTH16_GROTH16_H

#include "base/host.h"
#include "curve/curve.h"
#include "curve/pairing.h"
#include "msm/msm.h"
#include "r1cs/r1cs.h"

/* ---- keys ---- */

typedef struct groth16_vk {
    g1_affine_t alpha_g1, beta_g1, delta_g1;
    g2_affine_t beta_g2, gamma_g2, delta_g2;
    g1_affine_t *ic; /* n_ic = inputs (ONE included) */
    size_t n_ic;
    fp12_t alpha_beta; /* e(alpha, beta), computed at load */
} groth16_vk;

/* Parse the .vk layout (bellperson VerifyingKey::write): 868 + 96 n bytes. Every point is checked
 * (canonical, on curve, subgroup, not infinity) and the key is sane: delta is neither gamma nor the
 * generator, and G1 and G2 beta and delta agree by pairing (CUZK_ERR_MISMATCH otherwise). `what`
 * names the file in error texts. */
cuzk_status groth16_vk_read(const cuzk_host *host, const uint8_t *data, size_t bytes,
                            const char *what, groth16_vk **out, cuzk_error *err);
void groth16_vk_free(const cuzk_host *host, groth16_vk *vk);
#define GROTH16_VK_BYTES(n_ic) (868u + 96u * (size_t)(n_ic))
void groth16_vk_write(const groth16_vk *vk, uint8_t *out);

/* A parameter file, mapped read-only: verifying key decoded, queries as encoded bases. */
typedef struct groth16_params {
    groth16_vk *vk;
    msm_bases h, l, a, b_g1, b_g2; /* MSM_ENCODED views into the mapping */
    const uint8_t *map;
    size_t map_bytes;
    char path[512];
} groth16_params;

/* Map and check the layout: section lengths against the file size, in 64 bits; vk as above. Bulk
 * points are not decoded here (a prover decodes each one it uses). */
cuzk_status groth16_params_open(const cuzk_host *host, const char *path, groth16_params **out,
                                cuzk_error *err);
void groth16_params_close(const cuzk_host *host, groth16_params *params);
/* Do circuit and parameters belong together? Lengths of all five queries and of ic. */
cuzk_status groth16_params_fit(const groth16_params *params, const r1cs *circuit, cuzk_error *err);
/* Every bulk point: encoding, on curve, optionally subgroup; query and index named. Slow. */
cuzk_status groth16_params_check(const cuzk_host *host, const groth16_params *params,
                                 curve_check check, cuzk_error *err);

/* ---- set-up: insecure by nature, for tests and development ---- */

typedef struct groth16_secrets {
    fr_t alpha, beta, gamma, delta, tau;
} groth16_secrets;
/* Secrets from host->random, none zero, delta neither gamma nor 1. The caller zeroes them. */
cuzk_status groth16_secrets_random(const cuzk_host *host, groth16_secrets *out, cuzk_error *err);
/* Write a parameter file and its .vk for circuit to the given paths (temporary name, fsync,
 * rename). The generators are the standard ones. circuit must have been recorded with C. */
cuzk_status groth16_setup(const cuzk_host *host, const r1cs *circuit,
                          const groth16_secrets *secrets, const char *params_path,
                          const char *vk_path, cuzk_error *err);

/* Where the points of a set-up may be computed instead of on the host's workers: encode writes
 * scalars[i] times the generator of G1 or G2, i < n <= chunk, as the parameter file has them. */
typedef struct groth16_encoder groth16_encoder;
struct groth16_encoder {
    size_t chunk;
    cuzk_status (*encode)(groth16_encoder *self, const fr_t *scalars, size_t n, bool g2,
                          uint8_t *out, cuzk_error *err);
};
/* groth16_setup with an encoder, which may be NULL. */
cuzk_status groth16_setup_with(const cuzk_host *host, const r1cs *circuit,
                               const groth16_secrets *secrets, groth16_encoder *encoder,
                               const char *params_path, const char *vk_path, cuzk_error *err);

/* ---- proofs ---- */

#define GROTH16_PROOF_BYTES 192
typedef struct groth16_proof {
    g1_affine_t a;
    g2_affine_t b;
    g1_affine_t c;
} groth16_proof;

void groth16_proof_write(const groth16_proof *p, uint8_t out[GROTH16_PROOF_BYTES]);
/* Refuses illegal encodings, points off the curve or outside the group, and infinity; the text says
 * which of A, B, C. */
cuzk_status groth16_proof_read(groth16_proof *p, const uint8_t in[GROTH16_PROOF_BYTES],
                               cuzk_error *err);

/* Verify one proof against public inputs x[0..n) (ONE not among them): CUZK_OK or
 * CUZK_ERR_INVALID_PROOF (also when a point of the struct is outside its group); CUZK_ERR_MISMATCH
 * when n + 1 != n_ic. Groth16 proofs are malleable: their bytes identify nothing. */
cuzk_status groth16_verify(const cuzk_host *host, const groth16_vk *vk, const groth16_proof *proof,
                           const fr_t *x, size_t n, cuzk_error *err);
/* Verify n_proofs at once by a random linear combination with 128-bit coefficients from
 * host->random; inputs are n_proofs consecutive vectors of n. No proofs: CUZK_ERR_ARGUMENT. */
cuzk_status groth16_verify_many(const cuzk_host *host, const groth16_vk *vk,
                                const groth16_proof *proofs, size_t n_proofs, const fr_t *x,
                                size_t n, cuzk_error *err);

/* The same from bytes as they travel: n_proofs concatenated proofs of exactly 192 bytes each, and
 * for each of them n public inputs of 32 bytes little-endian. An input that is not below r is
 * refused (CUZK_ERR_NOT_CANONICAL), never reduced; a wrong length is CUZK_ERR_FORMAT. */
cuzk_status groth16_verify_bytes(const cuzk_host *host, const groth16_vk *vk,
                                 const uint8_t *proof_bytes, size_t bytes, size_t n_proofs,
                                 const uint8_t *input_bytes, size_t n, cuzk_error *err);

/* The sums an executor computes from a witness (REFERENCE.md 10.3). */
typedef struct groth16_sums {
    g1_t h, l, a, b_g1;
    g2_t b_g2;
} groth16_sums;

/* Blinding. */
typedef struct groth16_blinding {
    fr_t r, s;
} groth16_blinding;
/* Fresh blinding from host->random, never both zero. */
cuzk_status groth16_blinding_random(const cuzk_host *host, groth16_blinding *out, cuzk_error *err);
/* Zero it: to be called as soon as the proof is assembled. */
void groth16_blinding_wipe(groth16_blinding *rs);

/* A = alpha + a + r delta, B = beta + b + s delta, C = h + l + s A + r B1 - r s delta. */
void groth16_assemble(const groth16_vk *vk, const groth16_sums *sums, const groth16_blinding *rs,
                      groth16_proof *proof);

#endif
