#include "cuda/tuning.h"

#include <stddef.h>

/* sm_90 is measured (docs/benchmarks/gpu-kernels.md); the others follow from their registers and
 * threads a multiprocessor: 64 Ki registers allow 4 blocks of 128 threads at 128 registers. */
static const cuzk_gpu_tuning table[] = {
    {75, 4, 2, 4, 4}, {80, 4, 2, 4, 4},  {86, 4, 2, 4, 4},  {89, 4, 2, 4, 4},
    {90, 4, 2, 4, 4}, {100, 4, 2, 4, 4}, {120, 4, 2, 4, 4},
};

const cuzk_gpu_tuning *cuzk_gpu_tuning_for(int arch) {
    const cuzk_gpu_tuning *best = &table[0];
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].arch <= arch) best = &table[i];
    return best;
}
