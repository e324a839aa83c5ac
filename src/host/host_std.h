/* The cuzk_host used by programs and tests: aligned malloc with an optional byte limit, a pthread
 * pool, getrandom, progress to a callback. */
#ifndef CUZK_HOST_HOST_STD_H
#define CUZK_HOST_HOST_STD_H

#include "base/host.h"

typedef struct host_std host_std;
/* threads: 0 = one per online CPU. limit_bytes: 0 = none; past it alloc refuses. */
cuzk_status host_std_new(unsigned threads, uint64_t limit_bytes, host_std **out, cuzk_error *err);
void host_std_free(host_std *h);
const cuzk_host *host_std_host(const host_std *h);
/* Bytes held now and at most, through alloc. */
uint64_t host_std_used(const host_std *h);
uint64_t host_std_peak(const host_std *h);
void host_std_set_progress(host_std *h,
                           void (*fn)(void *arg, const char *stage, uint64_t done, uint64_t total),
                           void *arg);
void host_std_cancel(host_std *h); /* async-signal-safe: cancelled() is true from now on */

#endif
