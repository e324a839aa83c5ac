#include "cuda/gpu_calls.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

static bool is_lost(cudaError_t e) {
    switch (e) {
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorDevicesUnavailable:
    case cudaErrorUnknown:
        return true;
    default:
        return false;
    }
}

cuzk_status gpu_check(int device, cudaError_t e, const char *call, cuzk_error *err) {
    if (e == cudaSuccess) return CUZK_OK;
    const cuzk_status status = e == cudaErrorMemoryAllocation ? CUZK_ERR_DEVICE_MEMORY
                               : is_lost(e)                   ? CUZK_ERR_DEVICE_LOST
                                                              : CUZK_ERR_DEVICE;
    const int name = (int)strcspn(call, "(");
    return cuzk_fail(err, status, "GPU %d: %.*s: %s (%s)", device, name, call,
                     cudaGetErrorString(e), cudaGetErrorName(e));
}

static atomic_ullong calls;

uint64_t gpu_device_wide_calls(void) {
    return atomic_load(&calls);
}

/* The linker resolves NAME to __wrap_NAME and __real_NAME to NAME. */
#define COUNTED(name, parameters, arguments)                                                       \
    cudaError_t __real_##name parameters;                                                          \
    cudaError_t __wrap_##name parameters;                                                          \
    cudaError_t __wrap_##name parameters {                                                         \
        atomic_fetch_add(&calls, 1);                                                               \
        return __real_##name arguments;                                                            \
    }
COUNTED(cudaMalloc, (void **p, size_t bytes), (p, bytes))
COUNTED(cudaFree, (void *p), (p))
COUNTED(cudaHostAlloc, (void **p, size_t bytes, unsigned flags), (p, bytes, flags))
COUNTED(cudaFreeHost, (void *p), (p))
COUNTED(cudaHostRegister, (void *p, size_t bytes, unsigned flags), (p, bytes, flags))
COUNTED(cudaHostUnregister, (void *p), (p))
COUNTED(cudaMallocAsync, (void **p, size_t bytes, cudaStream_t stream), (p, bytes, stream))
COUNTED(cudaFreeAsync, (void *p, cudaStream_t stream), (p, stream))
COUNTED(cudaMemPoolTrimTo, (cudaMemPool_t pool, size_t keep), (pool, keep))
COUNTED(cudaMemGetInfo, (size_t * free, size_t *total), (free, total))
COUNTED(cudaDeviceSynchronize, (void), ())
