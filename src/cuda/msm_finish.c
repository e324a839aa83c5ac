/* The last sums of a multi-scalar multiplication, on the host. */
#include "cuda/cuda_api.h"

/* Set s of the result is P0 + 2^g (P1 + 2^7 P2 + 2^14 P3) with Pi = result[i sets + s] and g =
 * segment_log2, and counts 2^at[s] times: one Horner scheme over all bit positions. */
#define DEFINE_FINISH(G)                                                                           \
    void cuzk_msm_finish_##G(const cuzk_msm_plan *plan, const void *result, G##_t *out) {          \
        const G##_t *const points = result;                                                        \
        const cuzk_msm_windows *const w = &plan->windows;                                          \
        const unsigned levels = plan->reduce_levels, g = plan->segment_log2;                       \
        G##_t sum = G##_infinity();                                                                \
        for (unsigned bit = w->at[w->sets - 1] + g + 7 * levels; bit-- > 0;) {                     \
            G##_double(&sum, &sum);                                                                \
            for (unsigned s = 0; s < w->sets; s++)                                                 \
                for (unsigned i = 0; i <= levels; i++)                                             \
                    if (w->at[s] + (i == 0 ? 0 : g + 7 * (i - 1)) == bit)                          \
                        G##_add(&sum, &sum, &points[i * w->sets + s]);                             \
        }                                                                                          \
        *out = sum;                                                                                \
    }

DEFINE_FINISH(g1)
DEFINE_FINISH(g2)
