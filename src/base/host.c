#include "base/host.h"

#include <string.h>

#define ZERO_CHUNK ((size_t)4 << 20) /* a whole number of huge pages */

cuzk_status cuzk_host_alloc(const cuzk_host *host, void **out, size_t count, size_t size,
                            const char *what, cuzk_error *err) {
    size_t bytes = 0;
    *out = NULL;
    if (!cuzk_mul_size(count, size, &bytes))
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%s: %zu elements of %zu bytes overflow", what,
                         count, size);
    *out = host->alloc(host->self, bytes == 0 ? 1 : bytes);
    if (*out == NULL)
        return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "%s: no memory for %zu bytes", what, bytes);
    return CUZK_OK;
}

void cuzk_host_free(const cuzk_host *host, void *memory, size_t count, size_t size) {
    const size_t bytes = count * size;
    if (memory != NULL) host->free(host->self, memory, bytes == 0 ? 1 : bytes);
}

void cuzk_host_parallel(const cuzk_host *host, size_t tasks, cuzk_task_fn fn, void *arg) {
    if (host->parallel != NULL) {
        host->parallel(host->self, tasks, fn, arg);
        return;
    }
    for (size_t i = 0; i < tasks; i++)
        fn(arg, i, 0);
}

typedef struct zero_job {
    char *memory;
    size_t bytes;
} zero_job;

static void zero_task(void *arg, size_t task, unsigned worker) {
    (void)worker;
    const zero_job *job = arg;
    const size_t first = task * ZERO_CHUNK, left = job->bytes - first;
    explicit_bzero(job->memory + first, left < ZERO_CHUNK ? left : ZERO_CHUNK);
}

void cuzk_host_zero(const cuzk_host *host, void *memory, size_t bytes) {
    zero_job job = {memory, bytes};
    cuzk_host_parallel(host, (bytes + ZERO_CHUNK - 1) / ZERO_CHUNK, zero_task, &job);
}
