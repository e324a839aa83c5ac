/* What the files of this layer share. */
#ifndef CUZK_GROTH16_INTERNAL_H
#define CUZK_GROTH16_INTERNAL_H

#include "groth16/groth16.h"

#include <string.h>

static inline uint64_t groth16_min(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}
static inline uint64_t groth16_max(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

/* Free what cuzk_host_alloc gave after wiping it: it held a witness or a secret. memory may be
 * NULL.
 */
static inline void groth16_wipe_free(const cuzk_host *host, void *memory, size_t count,
                                     size_t size) {
    if (memory == NULL) return;
    cuzk_host_zero(host, memory, count * size);
    cuzk_host_free(host, memory, count, size);
}

/* Parse the verifying key at the front of data; *used is its length. Otherwise groth16_vk_read. */
cuzk_status groth16_vk_parse(const cuzk_host *host, const uint8_t *data, size_t bytes,
                             const char *what, groth16_vk **out, size_t *used, cuzk_error *err);

/* A run of uncompressed points of a file. */
typedef struct groth16_points {
    const char *file, *query; /* for error texts */
    const uint8_t *data;
    size_t count;
    bool g2;
} groth16_points;

/* Decode every point in parallel with the given check; infinity is refused. The error names the
 * first bad point. G1 points go to out unless it is NULL. */
cuzk_status groth16_points_check(const cuzk_host *host, const groth16_points *points,
                                 curve_check check, g1_affine_t *out, cuzk_error *err);

/* The polynomials A_i, B_i, C_i of every variable at tau. */
typedef struct groth16_qap {
    size_t inputs, aux;
    fr_t *at_tau[3]; /* R1CS_A, _B, _C: inputs, then aux */
    fr_t vanishing;  /* tau^m - 1 */
} groth16_qap;

/* CUZK_ERR_ARGUMENT when tau is in the domain. */
cuzk_status groth16_qap_new(const cuzk_host *host, const r1cs *circuit, const fr_t *tau,
                            groth16_qap *out, cuzk_error *err);
void groth16_qap_free(const cuzk_host *host, groth16_qap *qap); /* wipes */

#endif
