/* The last sums of a multi-scalar multiplication, on the host. */
#include "cuda/cuda_api.h"

/* Window w of the result is A + 2^s (W + 128 V) with A, W, V = result[w], result[windows + w],
 * result[2 windows + w] and s = segment_log2, and counts 2^at[w] times: one Horner scheme over all
 * bit positions. */
#define DEFINE_FINISH(G)                                                                           \
    void cuzk_msm_finish_##G(const cuzk_msm_plan *plan, const void *result, G##_t *out) {          \
        const G##_t *const points = result;                                                        \
        const cuzk_msm_windows *const w = &plan->windows;                                          \
        const unsigned streams = plan->reduce_blocks == 1 ? 2 : 3;                                 \
        const unsigned shift[3] = {0, plan->segment_log2, plan->segment_log2 + 7};                 \
        G##_t sum = G##_infinity();                                                                \
        for (unsigned bit = CUZK_MSM_SCALAR_BITS + CUZK_MSM_MAX_WINDOW_BITS; bit-- > 0;) {         \
            G##_double(&sum, &sum);                                                                \
            for (unsigned i = 0; i < w->count; i++)                                                \
                for (unsigned s = 0; s < streams; s++)                                             \
                    if (w->at[i] + shift[s] == bit)                                                \
                        G##_add(&sum, &sum, &points[s * w->count + i]);                            \
        }                                                                                          \
        *out = sum;                                                                                \
    }

DEFINE_FINISH(g1)
DEFINE_FINISH(g2)
