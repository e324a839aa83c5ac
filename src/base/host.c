#include "base/host.h"

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
