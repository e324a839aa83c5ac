#include "cuda/cuda_library.h"

#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "cuda/gpu_device.h"
#include "cuda/gpu_executor.h"

static int driver_version(void) {
    int version = 0;
    return cudaDriverGetVersion(&version) == cudaSuccess ? version : 0;
}

const cuda_library *cuzk_cuda_library_entry(void) {
    static const cuda_library library = {
        .version = CUZK_CUDA_LIBRARY_VERSION,
        .architectures = CUZK_CUDA_ARCHS,
        .runtime_version = CUDART_VERSION,
        .driver_version = driver_version,
        .devices = gpu_devices,
        .open = gpu_executor_open,
        .phases = gpu_executor_phases,
        .device_wide_calls = gpu_device_wide_calls,
        .encoder_open = gpu_encoder_open,
        .encoder_close = gpu_encoder_close,
    };
    /* Kernels come onto the device with the context. By default each comes with its first launch,
     * which waits for kernels that run: the first partition would be served several milliseconds
     * late, with its streams one after another. Read once, by the first call of the driver. */
    (void)setenv("CUDA_MODULE_LOADING", "EAGER", 0);
    return &library;
}
