/* Helpers of the launchers: every CUDA failure becomes an error value that names device and call.
 */
#ifndef CUZK_CUDA_LAUNCH_CUH
#define CUZK_CUDA_LAUNCH_CUH

#include <cuda_runtime.h>
#include <stdint.h>

#include "gpu_calls.h"
#include "vectors.cuh"

namespace cuzk {

inline cuzk_status cuda_check(cudaError_t e, const char *call, cuzk_error *err) {
    if (e == cudaSuccess) return CUZK_OK;
    int device = -1;
    (void)cudaGetDevice(&device);
    return gpu_check(device, e, call, err);
}

/* After a kernel launch. */
inline cuzk_status launched(const char *kernel, cuzk_error *err) {
    return cuda_check(cudaGetLastError(), kernel, err);
}

template <class T> T *at(void *scratch, size_t offset) {
    return (T *)((char *)scratch + offset);
}

inline unsigned blocks_for(uint64_t n, unsigned threads) {
    return (unsigned)((n + threads - 1) / threads);
}

} // namespace cuzk
#endif
