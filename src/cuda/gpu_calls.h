/* What every CUDA call of the executor goes through: errors as values, and a count of the calls
 * that act on the whole device. */
#ifndef CUZK_CUDA_GPU_CALLS_H
#define CUZK_CUDA_GPU_CALLS_H

#include <cuda_runtime_api.h>
#include <stdint.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* CUZK_OK, or *err names device and call. Errors after which a device is of no use until the
 * process ends (ECC, a fault in a kernel, a device that fell off the bus) are
 * CUZK_ERR_DEVICE_LOST. */
cuzk_status gpu_check(int device, cudaError_t e, const char *call, cuzk_error *err);

/* Calls of cudaMalloc, cudaFree, cudaDeviceSynchronize, cudaMemPoolTrimTo, cudaMemGetInfo,
 * cudaHostRegister and their like so far in this process, from anywhere in this library: the linker
 * sends them through counting wrappers (--wrap). */
uint64_t gpu_device_wide_calls(void);

#ifdef __cplusplus
}
#endif

#define GPU_TRY(device, call, err) CUZK_TRY(gpu_check(device, call, #call, err))

#endif
