/* One device as an executor owns it: selection, streams, the arena, the pinned ring that every
 * upload goes through. All memory is taken when it is opened. */
#ifndef CUZK_CUDA_GPU_DEVICE_H
#define CUZK_CUDA_GPU_DEVICE_H

#include "cuda/cuda_library.h"
#include "cuda/gpu_calls.h"
#include "cuda/gpu_plan.h"

#define GPU_RING_BYTES ((size_t)32 << 20) /* each half */

typedef struct gpu_device {
    const cuzk_host *host;
    cuda_device_info info;
    gpu_limits limits;
    cudaStream_t compute, side, upload; /* side: work that fills the gaps of compute */
    uint8_t *arena;
    uint64_t arena_bytes;
    uint8_t *ring[2]; /* pinned */
    cudaEvent_t ring_free[2];
    unsigned ring_next;
} gpu_device;

cuzk_status gpu_devices(cuda_device_info *out, unsigned max, unsigned *n, cuzk_error *err);
/* Select and open; an arena of at most arena_limit bytes (0: what is free less a reserve). On
 * failure everything is given back. */
cuzk_status gpu_device_open(gpu_device *d, const cuzk_host *host, const char *selector,
                            uint64_t arena_limit, cuzk_error *err);
void gpu_device_close(gpu_device *d);

/* Make d current for the calling thread. */
cuzk_status gpu_device_use(const gpu_device *d, cuzk_error *err);
/* arena[at ..] = from[0 .. bytes) in order of the upload stream; from may be changed as soon as
 * this returns. */
cuzk_status gpu_upload(gpu_device *d, uint64_t at, const void *from, uint64_t bytes,
                       cuzk_error *err);

/* to[0 .. bytes) = from, device memory, in order of the given stream; it is there on return. */
cuzk_status gpu_download(gpu_device *d, uint8_t *to, const void *from, uint64_t bytes,
                         cudaStream_t stream, cuzk_error *err);

/* Compare every kind of kernel's result with known answers: CUZK_ERR_DEVICE names the one that
 * differs. Uses the arena. */
cuzk_status gpu_self_test(gpu_device *d, cuzk_error *err);

#endif
