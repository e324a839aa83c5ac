#include "cuda/gpu_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda_api.h"

#define ARENA_RESERVE ((uint64_t)768 << 20) /* left to the driver and to others */
#define COPY_TASK ((size_t)1 << 20)

/* ---- which devices there are ---- */

static void format_uuid(const cudaUUID_t *uuid, char out[48]) {
    char *to = out + sprintf(out, "GPU-");
    for (int i = 0; i < 16; i++) {
        if (i == 4 || i == 6 || i == 8 || i == 10) *to++ = '-';
        to += sprintf(to, "%02x", (unsigned char)uuid->bytes[i]);
    }
}

/* 0 where there is no driver, one that is too old, or no device: *why says which. */
static int device_count(cudaError_t *why) {
    int n = 0;
    *why = cudaGetDeviceCount(&n);
    if (*why == cudaSuccess) return n;
    (void)cudaGetLastError();
    return 0;
}

static cuzk_status no_device(cudaError_t why, cuzk_error *err) {
    int driver = 0;
    if (why == cudaSuccess) why = cudaErrorNoDevice;
    if (cudaDriverGetVersion(&driver) != cudaSuccess) driver = 0;
    return cuzk_fail(
        err, CUZK_ERR_NOT_FOUND,
        "no GPU: cudaGetDeviceCount: %s (%s); this build is of CUDA %d.%d, the driver for "
        "%d.%d",
        cudaGetErrorString(why), cudaGetErrorName(why), CUDART_VERSION / 1000,
        CUDART_VERSION % 1000 / 10, driver / 1000, driver % 1000 / 10);
}

static cuzk_status describe(int ordinal, cuda_device_info *out, cuzk_error *err) {
    struct cudaDeviceProp p;
    *out = (cuda_device_info){.ordinal = ordinal};
    GPU_TRY(ordinal, cudaGetDeviceProperties(&p, ordinal), err);
    GPU_TRY(ordinal, cudaDeviceGetPCIBusId(out->pci, sizeof out->pci, ordinal), err);
    snprintf(out->name, sizeof out->name, "%.95s", p.name);
    format_uuid(&p.uuid, out->uuid);
    out->arch = 10 * p.major + p.minor;
    out->sms = (unsigned)p.multiProcessorCount;
    out->memory_bytes = p.totalGlobalMem;
    return CUZK_OK;
}

/* Make it current: fails for an architecture that no kernel was built for. */
static cuzk_status try_device(int ordinal, cuzk_error *err) {
    GPU_TRY(ordinal, cudaSetDevice(ordinal), err);
    return cuzk_error_context(err, cuzk_gpu_prepare(err), "built for sm_%s", CUZK_CUDA_ARCHS);
}

cuzk_status gpu_devices(cuda_device_info *out, unsigned max, unsigned *n, cuzk_error *err) {
    cudaError_t none;
    (void)err;
    *n = (unsigned)device_count(&none);
    for (unsigned i = 0; i < *n && i < max; i++) {
        cuzk_error why;
        cuzk_status status = describe((int)i, &out[i], &why);
        if (status == CUZK_OK) status = try_device((int)i, &why);
        if (status == CUZK_OK) continue;
        /* one that does not answer is no reason to do without the others */
        snprintf(out[i].unusable, sizeof out[i].unusable, "%.255s", why.text);
        (void)cudaGetLastError();
    }
    return CUZK_OK;
}

static bool is_number(const char *text) {
    return *text != 0 && strspn(text, "0123456789") == strlen(text);
}

static bool matches(const cuda_device_info *info, const char *selector) {
    if (is_number(selector)) return strtol(selector, NULL, 10) == info->ordinal;
    if (strncmp(selector, "GPU-", 4) == 0)
        return strncmp(info->uuid, selector, strlen(selector)) == 0;
    return strcasecmp(info->pci, selector) == 0;
}

static cuzk_status select_device(const char *selector, cuda_device_info *out, cuzk_error *err) {
    cudaError_t none;
    const int n = device_count(&none);
    if (n == 0) return no_device(none, err);
    for (int i = 0; i < n; i++) {
        const cuzk_status status = describe(i, out, err);
        if (matches(out, selector)) return status; /* its ordinal is known in any case */
    }
    return cuzk_fail(err, CUZK_ERR_NOT_FOUND,
                     "no GPU '%s' among the %d visible ones (ordinal, UUID or PCI id)", selector,
                     n);
}

/* ---- opening ---- */

static cuzk_status take_arena(gpu_device *d, uint64_t limit, cuzk_error *err) {
    const int ordinal = d->info.ordinal;
    size_t available = 0, total = 0;
    void *arena = NULL;
    GPU_TRY(ordinal, cudaMemGetInfo(&available, &total), err);
    if (available <= ARENA_RESERVE)
        return cuzk_fail(err, CUZK_ERR_DEVICE_MEMORY,
                         "GPU %d: %zu bytes are free, %llu are kept in reserve", ordinal, available,
                         (unsigned long long)ARENA_RESERVE);
    d->arena_bytes = (available - ARENA_RESERVE) & ~(uint64_t)0xfffff;
    if (limit != 0 && limit < d->arena_bytes) d->arena_bytes = limit & ~(uint64_t)0xff;
    const cuzk_status status =
        gpu_check(ordinal, cudaMalloc(&arena, d->arena_bytes), "cudaMalloc", err);
    d->arena = arena;
    return cuzk_error_context(err, status, "arena of %llu bytes, %zu are free",
                              (unsigned long long)d->arena_bytes, available);
}

static cuzk_status open_resources(gpu_device *d, uint64_t arena_limit, cuzk_error *err) {
    const int ordinal = d->info.ordinal;
    CUZK_TRY(try_device(ordinal, err));
    d->limits = (gpu_limits){d->info.sms, cuzk_gpu_tuning_for(d->info.arch), EXECUTOR_THOROUGH};
    int low = 0, high = 0;
    GPU_TRY(ordinal, cudaDeviceGetStreamPriorityRange(&low, &high), err);
    GPU_TRY(ordinal, cudaStreamCreateWithPriority(&d->compute, cudaStreamNonBlocking, high), err);
    GPU_TRY(ordinal, cudaStreamCreateWithPriority(&d->side, cudaStreamNonBlocking, low), err);
    GPU_TRY(ordinal, cudaStreamCreateWithFlags(&d->upload, cudaStreamNonBlocking), err);
    for (int i = 0; i < 2; i++) {
        void *half = NULL;
        CUZK_TRY(cuzk_error_context(
            err,
            gpu_check(ordinal, cudaHostAlloc(&half, GPU_RING_BYTES, cudaHostAllocDefault),
                      "cudaHostAlloc", err),
            "pinned host memory of %zu bytes", GPU_RING_BYTES));
        d->ring[i] = half;
        GPU_TRY(ordinal, cudaEventCreateWithFlags(&d->ring_free[i], cudaEventDisableTiming), err);
    }
    return take_arena(d, arena_limit, err);
}

cuzk_status gpu_device_open(gpu_device *d, const cuzk_host *host, const char *selector,
                            uint64_t arena_limit, cuzk_error *err) {
    *d = (gpu_device){.host = host};
    CUZK_TRY(select_device(selector != NULL ? selector : "0", &d->info, err));
    cuzk_status status = open_resources(d, arena_limit, err);
    if (status == CUZK_OK) status = gpu_self_test(d, err);
    if (status != CUZK_OK) gpu_device_close(d);
    return status;
}

void gpu_device_close(gpu_device *d) {
    (void)cudaSetDevice(d->info.ordinal);
    if (d->compute != NULL) (void)cudaStreamSynchronize(d->compute);
    if (d->side != NULL) (void)cudaStreamSynchronize(d->side);
    if (d->upload != NULL) (void)cudaStreamSynchronize(d->upload);
    if (d->arena != NULL) (void)cudaFree(d->arena);
    for (int i = 0; i < 2; i++) {
        if (d->ring[i] != NULL) {
            explicit_bzero(d->ring[i], GPU_RING_BYTES); /* witnesses went through it */
            (void)cudaFreeHost(d->ring[i]);
        }
        if (d->ring_free[i] != NULL) (void)cudaEventDestroy(d->ring_free[i]);
    }
    if (d->compute != NULL) (void)cudaStreamDestroy(d->compute);
    if (d->side != NULL) (void)cudaStreamDestroy(d->side);
    if (d->upload != NULL) (void)cudaStreamDestroy(d->upload);
    (void)cudaGetLastError();
    *d = (gpu_device){0};
}

cuzk_status gpu_device_use(const gpu_device *d, cuzk_error *err) {
    return gpu_check(d->info.ordinal, cudaSetDevice(d->info.ordinal), "cudaSetDevice", err);
}

/* ---- uploads ---- */

typedef struct copy_job {
    uint8_t *to;
    const uint8_t *from;
    size_t bytes;
} copy_job;

static void copy_task(void *arg, size_t task, unsigned worker) {
    (void)worker;
    const copy_job *job = arg;
    const size_t first = task * COPY_TASK, left = job->bytes - first;
    memcpy(job->to + first, job->from + first, left < COPY_TASK ? left : COPY_TASK);
}

/* What a half of the ring takes of `bytes` from `done` on. */
static size_t chunk_bytes(uint64_t bytes, uint64_t done) {
    return (size_t)(bytes - done < GPU_RING_BYTES ? bytes - done : GPU_RING_BYTES);
}

static void copy(const gpu_device *d, uint8_t *to, const uint8_t *from, size_t bytes) {
    copy_job job = {to, from, bytes};
    cuzk_host_parallel(d->host, (bytes + COPY_TASK - 1) / COPY_TASK, copy_task, &job);
}

cuzk_status gpu_upload(gpu_device *d, uint64_t at, const void *from, uint64_t bytes,
                       cuzk_error *err) {
    const int ordinal = d->info.ordinal;
    for (uint64_t done = 0; done < bytes;) {
        const size_t n = chunk_bytes(bytes, done);
        const unsigned half = d->ring_next++ % 2;
        GPU_TRY(ordinal, cudaEventSynchronize(d->ring_free[half]), err);
        copy(d, d->ring[half], (const uint8_t *)from + done, n);
        GPU_TRY(ordinal,
                cudaMemcpyAsync(d->arena + at + done, d->ring[half], n, cudaMemcpyHostToDevice,
                                d->upload),
                err);
        GPU_TRY(ordinal, cudaEventRecord(d->ring_free[half], d->upload), err);
        done += n;
    }
    return CUZK_OK;
}

cuzk_status gpu_download(gpu_device *d, uint8_t *to, const void *from, uint64_t bytes,
                         cudaStream_t stream, cuzk_error *err) {
    const int ordinal = d->info.ordinal;
    const uint64_t chunks = (bytes + GPU_RING_BYTES - 1) / GPU_RING_BYTES;
    /* Chunk k is on its way while chunk k - 1 leaves the other half. */
    for (uint64_t k = 0; k <= chunks; k++) {
        if (k < chunks) {
            const unsigned half = (d->ring_next + (unsigned)k) % 2;
            const uint64_t at = k * GPU_RING_BYTES;
            GPU_TRY(ordinal, cudaEventSynchronize(d->ring_free[half]), err);
            GPU_TRY(ordinal,
                    cudaMemcpyAsync(d->ring[half], (const uint8_t *)from + at,
                                    chunk_bytes(bytes, at), cudaMemcpyDeviceToHost, stream),
                    err);
            GPU_TRY(ordinal, cudaEventRecord(d->ring_free[half], stream), err);
        }
        if (k > 0) {
            const unsigned half = (d->ring_next + (unsigned)k - 1) % 2;
            const uint64_t at = (k - 1) * GPU_RING_BYTES;
            GPU_TRY(ordinal, cudaEventSynchronize(d->ring_free[half]), err);
            copy(d, to + at, d->ring[half], chunk_bytes(bytes, at));
        }
    }
    return CUZK_OK;
}
