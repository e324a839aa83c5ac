/* Decoding of points. */
#ifndef CUZK_CUDA_POINTS_CUH
#define CUZK_CUDA_POINTS_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "base/status.h"

namespace cuzk {

/* n points of `coordinates` (2 or 4) each; a G2 coordinate stands in the file as c1, c0. */
cuzk_status points_decode(void *out, const void *in, uint64_t n, unsigned coordinates,
                          uint64_t first, uint64_t *bad, cudaStream_t stream, cuzk_error *err);

} // namespace cuzk
#endif
