/* What the programs on a device share: finding it, memory, and points with known logarithms. */
#ifndef CUZK_TESTS_GPU_H
#define CUZK_TESTS_GPU_H

#include <cuda_runtime_api.h>

#include "check.h"
#include "cuda/cuda_api.h"

static cuzk_error err;
static unsigned gpu_sms;
static const cuzk_gpu_tuning *gpu_tuning;

#define GPU(call)                                                                                  \
    do {                                                                                           \
        const cudaError_t e_ = (call);                                                             \
        if (e_ != cudaSuccess) {                                                                   \
            CHECK_FAILED_("%s: %s", #call, cudaGetErrorString(e_));                                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* Select device 0; false where there is none. */
static inline bool gpu_open(void) {
    int count = 0;
    struct cudaDeviceProp properties;
    if (cudaGetDeviceCount(&count) != cudaSuccess || count == 0) return false;
    GPU(cudaSetDevice(0));
    GPU(cudaGetDeviceProperties(&properties, 0));
    gpu_sms = (unsigned)properties.multiProcessorCount;
    gpu_tuning = cuzk_gpu_tuning_for(10 * properties.major + properties.minor);
    CHECK_OK(cuzk_gpu_prepare(&err));
    return true;
}

static inline void *gpu_new(size_t bytes) {
    void *p = NULL;
    GPU(cudaMalloc(&p, bytes == 0 ? 1 : bytes));
    return p;
}
static inline void *gpu_copy(const void *host, size_t bytes) {
    void *p = gpu_new(bytes);
    GPU(cudaMemcpy(p, host, bytes, cudaMemcpyHostToDevice));
    return p;
}
static inline void gpu_get(void *host, const void *device, size_t bytes) {
    GPU(cudaMemcpy(host, device, bytes, cudaMemcpyDeviceToHost));
}
static inline void *host_new(size_t bytes) {
    void *p = malloc(bytes == 0 ? 1 : bytes);
    REQUIRE(p != NULL);
    return p;
}

/* points[i] = first + i step times the generator. */
#define GPU_DEFINE_POINTS(G, F)                                                                    \
    static inline void gpu_points_##G(G##_affine_t *points, size_t n, uint64_t first,              \
                                      uint64_t step) {                                             \
        G##_t *const p = host_new(n * sizeof *p);                                                  \
        F *const scratch = host_new(n * sizeof *scratch);                                          \
        G##_t current, base;                                                                       \
        G##_affine_t increment;                                                                    \
        fr_t k;                                                                                    \
        G##_from_affine(&base, &G##_generator);                                                    \
        fr_from_u64(&k, first);                                                                    \
        G##_mul_var(&current, &base, &k);                                                          \
        fr_from_u64(&k, step);                                                                     \
        G##_mul_var(&base, &base, &k);                                                             \
        G##_to_affine(&increment, &base);                                                          \
        for (size_t i = 0; i < n; i++) {                                                           \
            p[i] = current;                                                                        \
            G##_add_affine(&current, &current, &increment);                                        \
        }                                                                                          \
        G##_batch_to_affine(points, p, n, scratch);                                                \
        free(p);                                                                                   \
        free(scratch);                                                                             \
    }
GPU_DEFINE_POINTS(g1, fp_t)
GPU_DEFINE_POINTS(g2, fp2_t)

#endif
