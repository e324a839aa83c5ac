/* What the core layers may ask of the program that uses them: memory, workers, progress, entropy.
 * The core never calls malloc, starts a thread, logs or reads the environment by itself; it asks
 * its cuzk_host, so a program sees and bounds every byte and thread. src/host/ has the
 * implementation used by the command line, the daemon and the tests. */
#ifndef CUZK_BASE_HOST_H
#define CUZK_BASE_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One unit of parallel work: task in [0, tasks), worker in [0, host->workers). */
typedef void (*cuzk_task_fn)(void *arg, size_t task, unsigned worker);

typedef struct cuzk_host {
    void *self; /* passed back to every function below */
    /* Memory aligned to 64 bytes, not zeroed; NULL when refused. free accepts NULL and gets the
     * size that was allocated. */
    void *(*alloc)(void *self, size_t bytes);
    void (*free)(void *self, void *memory, size_t bytes);
    /* Number of workers that `parallel` may use at once, >= 1. */
    unsigned workers;
    /* Run fn(arg, 0..tasks-1) in any order and return when all are done. Tasks are handed out one
     * by one, so uneven tasks balance. A call made from inside a task runs on the calling worker
     * alone. NULL: run serially. */
    void (*parallel)(void *self, size_t tasks, cuzk_task_fn fn, void *arg);
    /* Optional (NULL allowed): progress of a long stage, done <= total. One call at a time. */
    void (*progress)(void *self, const char *stage, uint64_t done, uint64_t total);
    /* Optional (NULL: never): has the caller asked to stop? Long loops look at it now and then
     * and return CUZK_ERR_CANCELLED. */
    bool (*cancelled)(void *self);
    /* Cryptographically secure bytes; NULL: functions that need randomness refuse. */
    cuzk_status (*random)(void *self, void *out, size_t bytes);
} cuzk_host;

/* Checked count * size: false on overflow. */
static inline bool cuzk_mul_size(size_t count, size_t size, size_t *out) {
    return !__builtin_mul_overflow(count, size, out);
}

/* host->alloc of count * size bytes with the overflow check and an error text that names what the
 * memory was for and how much was asked. *out is NULL on failure. */
cuzk_status cuzk_host_alloc(const cuzk_host *host, void **out, size_t count, size_t size,
                            const char *what, cuzk_error *err);
/* Counterpart of cuzk_host_alloc; memory may be NULL. */
void cuzk_host_free(const cuzk_host *host, void *memory, size_t count, size_t size);

void cuzk_host_parallel(const cuzk_host *host, size_t tasks, cuzk_task_fn fn, void *arg);

/* Memory to zero by all workers, which for fresh gigabytes is mostly the kernel's clearing of
 * pages; never optimised away, so that secrets may be wiped with it. */
void cuzk_host_zero(const cuzk_host *host, void *memory, size_t bytes);

static inline void cuzk_host_progress(const cuzk_host *host, const char *stage, uint64_t done,
                                      uint64_t total) {
    if (host->progress != NULL) host->progress(host->self, stage, done, total);
}
static inline bool cuzk_host_cancelled(const cuzk_host *host) {
    return host->cancelled != NULL && host->cancelled(host->self);
}

#ifdef __cplusplus
}
#endif
#endif
