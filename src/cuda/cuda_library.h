/* The entry of libcuzk-cuda.so, which programs load at run time: everything behind it needs a CUDA
 * driver, nothing in this header does. */
#ifndef CUZK_CUDA_LIBRARY_H
#define CUZK_CUDA_LIBRARY_H

#include "groth16/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUZK_CUDA_LIBRARY_VERSION 1
#define CUZK_CUDA_LIBRARY_ENTRY "cuzk_cuda_library_entry"

typedef struct cuda_device_info {
    int ordinal; /* among the visible devices: after CUDA_VISIBLE_DEVICES */
    char name[96], uuid[48], pci[32];
    int arch; /* 10 * major + minor */
    unsigned sms;
    uint64_t memory_bytes;
    char unusable[256]; /* why not; empty when it can be used */
} cuda_device_info;

typedef struct cuda_options {
    /* "N" (ordinal), "GPU-..." (UUID, or its beginning), "0000:3b:00.0" (PCI id); NULL: 0 */
    const char *device;
    uint64_t vram_limit; /* bytes of the arena at most; 0: all that is free less a reserve */
} cuda_options;

/* Milliseconds of the phases of a partition, in order of time. */
#define CUDA_PHASES 8
typedef struct cuda_phases {
    double ms[CUDA_PHASES]; /* upload, A w and B w, quotient, h, l, a, b_g1, b_g2 */
} cuda_phases;

typedef struct cuda_library {
    uint32_t version;          /* CUZK_CUDA_LIBRARY_VERSION */
    const char *architectures; /* built in: "90" */
    int runtime_version;       /* 13000: CUDA 13.0 */
    /* The driver's newest CUDA version; 0: there is no driver. */
    int (*driver_version)(void);
    /* Visible devices, at most max; *n is their number. No driver or no device: CUZK_OK and 0. */
    cuzk_status (*devices)(cuda_device_info *out, unsigned max, unsigned *n, cuzk_error *err);
    /* Takes the arena and checks the device with known answers. */
    cuzk_status (*open)(const cuzk_host *host, const cuda_options *options, executor **out,
                        cuzk_error *err);
    /* Of the partition last finished. */
    void (*phases)(const executor *ex, cuda_phases *out);
    /* Device-wide calls (cuda/gpu_calls.h) since the process started. */
    uint64_t (*device_wide_calls)(void);
    /* The points of a set-up on a device; close frees it. */
    cuzk_status (*encoder_open)(const cuzk_host *host, const cuda_options *options,
                                groth16_encoder **out, cuzk_error *err);
    void (*encoder_close)(groth16_encoder *encoder);
} cuda_library;

/* The symbol CUZK_CUDA_LIBRARY_ENTRY. */
typedef const cuda_library *(*cuda_library_entry_fn)(void);
__attribute__((visibility("default"))) const cuda_library *cuzk_cuda_library_entry(void);

#ifdef __cplusplus
}
#endif
#endif
