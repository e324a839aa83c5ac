/* Devices that fail, without one: gpu_device.c and gpu_calls.c over a CUDA runtime of this test, in
 * which any call can be made to fail. Every failure is an error value that names device, call and
 * cause, for memory also the bytes, and everything that was taken is given back. */
#include <cuda_runtime_api.h>

#include "check.h"
#include "cuda/cuda_api.h"
#include "cuda/gpu_device.h"
#include "host/host_std.h"

#define GIB ((uint64_t)1 << 30)

static cuzk_error err;
static host_std *std_host;

/* ---- the runtime ---- */

static struct {
    int devices, driver;
    cudaError_t count_error;
    const char *failing; /* the call that fails, on device failing_device (-1: on each) */
    int failing_device;
    unsigned failing_at; /* from this call of the name on, 0: the first */
    cudaError_t with;
    uint64_t free, total;
    int current;
    unsigned calls, taken; /* of the failing name; resources not given back */
    uint64_t arena;
} fake;

static void fake_reset(void) {
    memset(&fake, 0, sizeof fake);
    fake.devices = 2;
    fake.driver = CUDART_VERSION;
    fake.failing_device = -1;
    fake.free = 15 * GIB;
    fake.total = 16 * GIB;
}

static cudaError_t called(const char *name) {
    if (fake.failing == NULL || strcmp(name, fake.failing) != 0) return cudaSuccess;
    if (fake.failing_device >= 0 && fake.failing_device != fake.current) return cudaSuccess;
    return fake.calls++ >= fake.failing_at ? fake.with : cudaSuccess;
}
/* A resource: not NULL, never looked into. */
static cudaError_t take(const char *name, void *out) {
    const cudaError_t e = called(name);
    *(void **)out = e == cudaSuccess ? malloc(1) : NULL;
    if (e == cudaSuccess) fake.taken++;
    return e;
}
static cudaError_t give(const char *name, void *p) {
    free(p);
    fake.taken--;
    return called(name);
}

cudaError_t cudaGetDeviceCount(int *n) {
    *n = fake.count_error == cudaSuccess ? fake.devices : 0;
    return fake.count_error;
}
cudaError_t cudaDriverGetVersion(int *version) {
    *version = fake.driver;
    return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *p, int ordinal) {
    fake.current = ordinal;
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "Test GPU");
    p->uuid.bytes[0] = (char)(0xa0 + ordinal);
    p->major = 9;
    p->multiProcessorCount = 132;
    p->totalGlobalMem = fake.total;
    return called("cudaGetDeviceProperties");
}
cudaError_t cudaDeviceGetPCIBusId(char *out, int bytes, int ordinal) {
    snprintf(out, (size_t)bytes, "0000:%02x:00.0", 0x3b + ordinal);
    return called("cudaDeviceGetPCIBusId");
}
cudaError_t cudaSetDevice(int ordinal) {
    fake.current = ordinal;
    return called("cudaSetDevice");
}
cudaError_t cudaGetLastError(void) {
    return cudaSuccess;
}
const char *cudaGetErrorString(cudaError_t e) {
    return e == cudaErrorMemoryAllocation ? "out of memory" : "text of the runtime";
}
const char *cudaGetErrorName(cudaError_t e) {
    switch (e) {
    case cudaErrorMemoryAllocation:
        return "cudaErrorMemoryAllocation";
    case cudaErrorInsufficientDriver:
        return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice:
        return "cudaErrorNoDevice";
    case cudaErrorNoKernelImageForDevice:
        return "cudaErrorNoKernelImageForDevice";
    case cudaErrorECCUncorrectable:
        return "cudaErrorECCUncorrectable";
    default:
        return "cudaErrorOther";
    }
}
cudaError_t cudaMemGetInfo(size_t *available, size_t *total) {
    *available = fake.free;
    *total = fake.total;
    return called("cudaMemGetInfo");
}
cudaError_t cudaMalloc(void **p, size_t bytes) {
    fake.arena = bytes;
    return take("cudaMalloc", p);
}
cudaError_t cudaFree(void *p) {
    return give("cudaFree", p);
}
cudaError_t cudaHostAlloc(void **p, size_t bytes, unsigned flags) {
    (void)flags;
    const cudaError_t e = called("cudaHostAlloc");
    *p = e == cudaSuccess ? malloc(bytes) : NULL;
    if (e == cudaSuccess) fake.taken++;
    return e;
}
cudaError_t cudaFreeHost(void *p) {
    return give("cudaFreeHost", p);
}
cudaError_t cudaDeviceGetStreamPriorityRange(int *low, int *high) {
    *low = *high = 0;
    return called("cudaDeviceGetStreamPriorityRange");
}
cudaError_t cudaStreamCreateWithPriority(cudaStream_t *s, unsigned flags, int priority) {
    (void)flags;
    (void)priority;
    return take("cudaStreamCreateWithPriority", s);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *s, unsigned flags) {
    (void)flags;
    return take("cudaStreamCreateWithFlags", s);
}
cudaError_t cudaStreamSynchronize(cudaStream_t s) {
    (void)s;
    return called("cudaStreamSynchronize");
}
cudaError_t cudaStreamDestroy(cudaStream_t s) {
    return give("cudaStreamDestroy", s);
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t *e, unsigned flags) {
    (void)flags;
    return take("cudaEventCreateWithFlags", e);
}
cudaError_t cudaEventDestroy(cudaEvent_t e) {
    return give("cudaEventDestroy", e);
}
cudaError_t cudaEventSynchronize(cudaEvent_t e) {
    (void)e;
    return called("cudaEventSynchronize");
}
cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t s) {
    (void)e;
    (void)s;
    return called("cudaEventRecord");
}
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind,
                            cudaStream_t s) {
    (void)to;
    (void)from;
    (void)bytes;
    (void)kind;
    (void)s;
    return called("cudaMemcpyAsync");
}
/* Counted by gpu_calls.c, and never called. */
cudaError_t cudaHostRegister(void *p, size_t bytes, unsigned flags) {
    (void)p;
    (void)bytes;
    (void)flags;
    abort();
}
cudaError_t cudaHostUnregister(void *p) {
    (void)p;
    abort();
}
cudaError_t cudaMallocAsync(void **p, size_t bytes, cudaStream_t stream) {
    (void)p;
    (void)bytes;
    (void)stream;
    abort();
}
cudaError_t cudaFreeAsync(void *p, cudaStream_t stream) {
    (void)p;
    (void)stream;
    abort();
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep) {
    (void)pool;
    (void)keep;
    abort();
}
cudaError_t cudaDeviceSynchronize(void) {
    abort();
}

/* The kernels' part: attributes are where a missing kernel image shows. */
cuzk_status cuzk_gpu_prepare(cuzk_error *e) {
    return gpu_check(fake.current, called("cudaFuncSetAttribute"), "cudaFuncSetAttribute(sort)", e);
}
static bool self_test_fails;
cuzk_status gpu_self_test(gpu_device *d, cuzk_error *e) {
    if (!self_test_fails) return CUZK_OK;
    return cuzk_fail(e, CUZK_ERR_DEVICE, "GPU %d: self-test: the quotient is wrong",
                     d->info.ordinal);
}

/* ---- tests ---- */

static bool says(const char *part) {
    if (strstr(err.text, part) != NULL) return true;
    fprintf(stderr, "  \"%s\" is not in: %s\n", part, err.text);
    return false;
}

static cuzk_status open_device(const char *selector, uint64_t limit) {
    gpu_device d;
    const cuzk_status status = gpu_device_open(&d, host_std_host(std_host), selector, limit, &err);
    if (status == CUZK_OK) gpu_device_close(&d);
    CHECK_U64(fake.taken, 0);
    return status;
}

TEST(a_device_that_works) {
    fake_reset();
    gpu_device d;
    const uint64_t calls = gpu_device_wide_calls();
    CHECK_OK(gpu_device_open(&d, host_std_host(std_host), "GPU-a1", 0, &err));
    CHECK_U64(d.info.ordinal, 1);
    CHECK_U64(d.arena_bytes, 15 * GIB - ((uint64_t)768 << 20));
    CHECK_U64(fake.arena, d.arena_bytes);
    CHECK_U64(fake.taken, 8); /* three streams, two events, two halves of the ring, the arena */
    CHECK(gpu_device_wide_calls() > calls);
    gpu_device_close(&d);
    CHECK_U64(fake.taken, 0);
    CHECK_OK(gpu_device_open(&d, host_std_host(std_host), "0000:3B:00.0", 10 * GIB, &err));
    CHECK_U64(d.info.ordinal, 0);
    CHECK_U64(fake.arena, 10 * GIB);
    gpu_device_close(&d);
    CHECK_STATUS(open_device("GPU-b", 0), CUZK_ERR_NOT_FOUND);
    CHECK(says("'GPU-b'") && says("2 visible"));
    CHECK_STATUS(open_device("2", 0), CUZK_ERR_NOT_FOUND);
}

TEST(no_device_and_an_old_driver) {
    cuda_device_info infos[4];
    unsigned n = 9;
    fake_reset();
    fake.count_error = cudaErrorNoDevice;
    CHECK_OK(gpu_devices(infos, 4, &n, &err));
    CHECK_U64(n, 0);
    CHECK_STATUS(open_device(NULL, 0), CUZK_ERR_NOT_FOUND);
    CHECK(says("cudaErrorNoDevice"));
    fake.count_error = cudaErrorInsufficientDriver;
    fake.driver = 11080;
    CHECK_OK(gpu_devices(infos, 4, &n, &err));
    CHECK_U64(n, 0);
    CHECK_STATUS(open_device("1", 0), CUZK_ERR_NOT_FOUND);
    CHECK(says("cudaErrorInsufficientDriver") && says("the driver for 11.8"));
    fake.count_error = cudaSuccess;
    fake.devices = 0;
    CHECK_STATUS(open_device(NULL, 0), CUZK_ERR_NOT_FOUND);
    CHECK(says("cudaErrorNoDevice"));
}

/* A device that cannot be used, or does not even answer, is named; the others stay. */
TEST(one_of_two_cannot_be_used) {
    static const struct {
        const char *call;
        cudaError_t with;
        const char *name;
    } cases[] = {
        {"cudaFuncSetAttribute", cudaErrorNoKernelImageForDevice,
         "cudaErrorNoKernelImageForDevice"},
        {"cudaGetDeviceProperties", cudaErrorECCUncorrectable, "cudaErrorECCUncorrectable"},
        {"cudaSetDevice", cudaErrorDevicesUnavailable, "cudaErrorOther"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuda_device_info infos[4];
        unsigned n = 0;
        fake_reset();
        fake.failing = cases[i].call;
        fake.failing_device = 0;
        fake.with = cases[i].with;
        CHECK_OK(gpu_devices(infos, 4, &n, &err));
        CHECK_U64(n, 2);
        CHECK(strstr(infos[0].unusable, cases[i].name) != NULL);
        CHECK(strstr(infos[0].unusable, "GPU 0") != NULL);
        CHECK(strstr(infos[0].unusable, cases[i].call) != NULL);
        CHECK(infos[1].unusable[0] == 0);
        CHECK_OK(open_device("1", 0));
        CHECK(open_device("0", 0) != CUZK_OK);
        CHECK(says("GPU 0") && says(cases[i].call) && says(cases[i].name));
    }
}

/* Each call of opening fails in turn. */
TEST(every_call_may_fail) {
    static const char *const calls[] = {"cudaSetDevice",
                                        "cudaFuncSetAttribute",
                                        "cudaDeviceGetStreamPriorityRange",
                                        "cudaStreamCreateWithPriority",
                                        "cudaStreamCreateWithFlags",
                                        "cudaHostAlloc",
                                        "cudaEventCreateWithFlags",
                                        "cudaMemGetInfo",
                                        "cudaMalloc"};
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        for (unsigned at = 0; at < 2; at++) {
            fake_reset();
            fake.failing = calls[i];
            fake.failing_at = at;
            fake.with = cudaErrorECCUncorrectable;
            const cuzk_status status = open_device("1", 0);
            if (fake.calls <= at) {
                CHECK_U64(status, CUZK_OK);
                continue;
            }
            if (strcmp(calls[i], "cudaSetDevice") == 0 && at > 0) continue; /* of closing */
            CHECK_STATUS(status, CUZK_ERR_DEVICE_LOST);
            CHECK(says("GPU 1") && says(calls[i]) && says("cudaErrorECCUncorrectable"));
        }
}

TEST(memory_that_is_refused) {
    fake_reset();
    fake.failing = "cudaMalloc";
    fake.with = cudaErrorMemoryAllocation;
    CHECK_STATUS(open_device("0", 12 * GIB), CUZK_ERR_DEVICE_MEMORY);
    CHECK(says("GPU 0: cudaMalloc: out of memory"));
    CHECK(says("arena of 12884901888 bytes, 16106127360 are free"));
    fake.failing = "cudaHostAlloc";
    CHECK_STATUS(open_device("0", 0), CUZK_ERR_DEVICE_MEMORY);
    CHECK(says("pinned host memory of 33554432 bytes") && says("cudaHostAlloc"));
    fake_reset();
    fake.free = (uint64_t)700 << 20; /* another program has the rest */
    CHECK_STATUS(open_device("0", 0), CUZK_ERR_DEVICE_MEMORY);
    CHECK(says("734003200 bytes are free"));
}

TEST(a_wrong_answer_in_the_self_test) {
    fake_reset();
    self_test_fails = true;
    CHECK_STATUS(open_device("1", 0), CUZK_ERR_DEVICE);
    CHECK(says("GPU 1: self-test"));
    self_test_fails = false;
}

/* What ends a device's use for good, and what does not. */
TEST(kinds_of_errors) {
    static const cudaError_t lost[] = {cudaErrorECCUncorrectable,   cudaErrorNvlinkUncorrectable,
                                       cudaErrorIllegalAddress,     cudaErrorLaunchFailure,
                                       cudaErrorLaunchTimeout,      cudaErrorDevicesUnavailable,
                                       cudaErrorHardwareStackError, cudaErrorUnknown};
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++) {
        CHECK_STATUS(gpu_check(3, lost[i], "cudaEventSynchronize(e)", &err), CUZK_ERR_DEVICE_LOST);
        CHECK(says("GPU 3: cudaEventSynchronize: "));
    }
    CHECK_STATUS(gpu_check(0, cudaErrorMemoryAllocation, "cudaMalloc", &err),
                 CUZK_ERR_DEVICE_MEMORY);
    CHECK_STATUS(gpu_check(0, cudaErrorInvalidValue, "cudaMemcpyAsync(a, b)", &err),
                 CUZK_ERR_DEVICE);
    CHECK_OK(gpu_check(0, cudaSuccess, "cudaMalloc", &err));
}

/* Uploads and downloads hand errors on. */
TEST(transfers) {
    static const char *const calls[] = {"cudaEventSynchronize", "cudaMemcpyAsync",
                                        "cudaEventRecord"};
    static uint8_t bytes[64];
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++) {
        gpu_device d;
        fake_reset();
        CHECK_OK(gpu_device_open(&d, host_std_host(std_host), NULL, 0, &err));
        CHECK_OK(gpu_upload(&d, 0, bytes, sizeof bytes, &err));
        fake.failing = calls[i];
        fake.with = cudaErrorIllegalAddress;
        CHECK_STATUS(gpu_upload(&d, 0, bytes, sizeof bytes, &err), CUZK_ERR_DEVICE_LOST);
        CHECK(says("GPU 0") && says(calls[i]));
        CHECK_STATUS(gpu_download(&d, bytes, d.arena, sizeof bytes, d.compute, &err),
                     CUZK_ERR_DEVICE_LOST);
        CHECK(says("GPU 0") && says(calls[i]));
        gpu_device_close(&d);
        CHECK_U64(fake.taken, 0);
    }
}

int main(int argc, char **argv) {
    const check_case cases[] = {
        RUN(a_device_that_works),       RUN(no_device_and_an_old_driver),
        RUN(one_of_two_cannot_be_used), RUN(every_call_may_fail),
        RUN(memory_that_is_refused),    RUN(a_wrong_answer_in_the_self_test),
        RUN(kinds_of_errors),           RUN(transfers)};
    REQUIRE(host_std_new(1, 0, &std_host, &err) == CUZK_OK);
    const int code = check_main(argc, argv, cases, sizeof cases / sizeof cases[0]);
    host_std_free(std_host);
    return code;
}
