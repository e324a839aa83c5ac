/* The last sums of a multi-scalar multiplication, on the host. */
#include "cuda/cuda_api.h"

/* Vector v is P0 + 2^7 P1 with Pi = result[i vectors + v], and counts 2^at[v] times: one Horner
 * scheme over all bit positions. */
#define DEFINE_FINISH(G)                                                                           \
    void cuzk_msm_finish_##G(const cuzk_msm_plan *plan, const void *result, G##_t *out) {          \
        const G##_t *const points = result;                                                        \
        const cuzk_msm_vectors *const v = &plan->vectors;                                          \
        G##_t sum = G##_infinity();                                                                \
        for (unsigned bit = CUZK_MSM_SCALAR_BITS + 7; bit-- > 0;) {                                \
            G##_double(&sum, &sum);                                                                \
            for (unsigned i = 0; i < plan->result_points; i++)                                     \
                if (v->at[i % v->count] + 7 * (i / v->count) == bit)                               \
                    G##_add(&sum, &sum, &points[i]);                                               \
        }                                                                                          \
        *out = sum;                                                                                \
    }

DEFINE_FINISH(g1)
DEFINE_FINISH(g2)
