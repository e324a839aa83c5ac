/* Which device a command uses, and the CUDA library where there is one. */
#ifndef CUZK_CLI_DEVICE_H
#define CUZK_CLI_DEVICE_H

#include "cuda/cuda_library.h"

/* name: NULL or "auto" (the first usable GPU when the CUDA library finds one, else the CPU), "cpu",
 * "cuda" (the first), or an ordinal, a UUID or a PCI id with or without "cuda:" before it, counted
 * after CUDA_VISIBLE_DEVICES. All but "cpu" may end in "@SIZE", the device memory to use at most
 * ("cuda:0@16GiB"). Asking for a GPU by name and not getting it is an error, never a fallback. */
cuzk_status device_open(const cuzk_host *host, const char *name, executor **out, cuzk_error *err);

/* A command's --device and --vram-limit (either may be NULL) as one name: a limit in the name wins,
 * and the CPU has none. */
#define DEVICE_NAME_BYTES 192
cuzk_status device_limited(const char *name, const char *limit, char out[DEVICE_NAME_BYTES],
                           cuzk_error *err);
#define VRAM_LIMIT_OPTION(target)                                                                  \
    {                                                                                              \
        CLI_TEXT, "vram-limit", "SIZE",                                                            \
            "device memory to use at most: 16GiB, 512MiB (a limit in the\n"                        \
            "device's name wins)",                                                                 \
            &(target), 0, 0, false                                                                 \
    }

/* Where the points of a set-up are computed, by the same names: NULL for the CPU. */
cuzk_status device_encoder_open(const cuzk_host *host, const char *name, groth16_encoder **out,
                                cuzk_error *err);
void device_encoder_close(groth16_encoder *encoder); /* may be NULL */

/* libcuzk-cuda.so beside the program or in ../lib/cuzk, loaded once; NULL with the cause in *err
 * where it is missing or belongs to another version. */
const cuda_library *device_cuda_library(cuzk_error *err);

#endif
