/* How a query finds its part of a witness: made once for each circuit on the host. */
#ifndef CUZK_CUDA_GPU_LISTS_H
#define CUZK_CUDA_GPU_LISTS_H

#include "cuda/gpu_plan.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gpu_lists {
    uint64_t n;      /* inputs and FIELD variables of the density */
    uint32_t *index; /* their bases, ascending */
    uint32_t *from;  /* and places among the values: inputs, then FIELD variables */
    /* Which aux variables are dense (borrowed; NULL: all), and how many before each 32-bit word. */
    const uint64_t *map;
    uint32_t *rank;
    uint64_t words; /* of 32 bits */
} gpu_lists;

cuzk_status gpu_lists_new(const cuzk_host *host, const r1cs *circuit, const gpu_plan *plan,
                          gpu_density d, gpu_lists *out, cuzk_error *err);
void gpu_lists_free(const cuzk_host *host, gpu_lists *lists);
/* The most that a gpu_lists takes. */
uint64_t gpu_lists_bytes(const gpu_plan *plan);

typedef struct gpu_range {
    uint64_t first, n;
} gpu_range;
/* The list's entries whose base is in [base, base + bases). */
gpu_range gpu_lists_range(const gpu_lists *lists, uint64_t base, uint64_t bases);

#ifdef __cplusplus
}
#endif
#endif
