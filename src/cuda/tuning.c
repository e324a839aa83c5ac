#include "cuda/tuning.h"

#include <stddef.h>

/* Rows: arch, tree blocks G1 and G2, widest window, bucket costs G1 and G2. sm_90 is measured
 * (docs/benchmarks/gpu-kernels.md): 5 or 6 tree blocks at 96 or 80 registers spill and are 10
 * and 22 % slower there. A bucket counts about 3 by the kernels' times: two additions in sums of
 * lines, and two in scans and leftovers of the tree's levels, less its first point, which is no
 * addition. Costs from 3 to 6 are within 1 %; 4 takes less memory (2^27 points: 3.8 GB). The others
 * follow from 64 Ki registers a multiprocessor and, for sm_75, 64 KiB of shared memory a block. */
static const cuzk_gpu_tuning table[] = {
    {75, 4, 2, 20, 4, 4}, {80, 4, 2, 24, 4, 4},  {86, 4, 2, 24, 4, 4},  {89, 4, 2, 24, 4, 4},
    {90, 4, 2, 24, 4, 4}, {100, 4, 2, 24, 4, 4}, {120, 4, 2, 24, 4, 4},
};

const cuzk_gpu_tuning *cuzk_gpu_tuning_for(int arch) {
    const cuzk_gpu_tuning *best = &table[0];
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (table[i].arch <= arch) best = &table[i];
    return best;
}
