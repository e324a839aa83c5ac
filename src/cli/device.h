/* Which executor a command uses. */
#ifndef CUZK_CLI_DEVICE_H
#define CUZK_CLI_DEVICE_H

#include "groth16/executor.h"

/* name: NULL or "auto" (a GPU when the CUDA library finds one, else the CPU), "cpu", "cuda",
 * "cuda:N". Asking for a GPU by name and not getting it is an error, never a fallback. */
cuzk_status device_open(const cuzk_host *host, const char *name, executor **out, cuzk_error *err);

#endif
