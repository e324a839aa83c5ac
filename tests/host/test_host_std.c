/* The thread pool and the byte limit of src/host. */
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"
#include "host/host_std.h"

typedef struct count_arg {
    const cuzk_host *host;
    atomic_uint hits[1000];
    atomic_uint nested;
    atomic_uint bad_worker;
} count_arg;

static void nested_task(void *arg, size_t task, unsigned worker) {
    (void)task;
    (void)worker;
    atomic_fetch_add(&((count_arg *)arg)->nested, 1);
}
static void count_task(void *arg, size_t task, unsigned worker) {
    count_arg *c = arg;
    if (worker >= c->host->workers) atomic_fetch_add(&c->bad_worker, 1);
    atomic_fetch_add(&c->hits[task], 1);
    if (task % 100 == 0) cuzk_host_parallel(c->host, 3, nested_task, c);
}
static void *caller(void *arg) {
    for (int i = 0; i < 20; i++) {
        count_arg *c = calloc(1, sizeof *c);
        c->host = arg;
        cuzk_host_parallel(c->host, 1000, count_task, c);
        for (int t = 0; t < 1000; t++)
            CHECK_U64(atomic_load(&c->hits[t]), 1);
        CHECK_U64(atomic_load(&c->nested), 30);
        CHECK_U64(atomic_load(&c->bad_worker), 0);
        free(c);
    }
    return NULL;
}

TEST(every_task_runs_once_with_several_callers) {
    cuzk_error err;
    for (unsigned threads = 1; threads <= 4; threads++) {
        host_std *h;
        CHECK_OK(host_std_new(threads, 0, &h, &err));
        CHECK_U64(host_std_host(h)->workers, threads);
        pthread_t callers[3];
        for (int i = 0; i < 3; i++)
            pthread_create(&callers[i], NULL, caller, (void *)(uintptr_t)host_std_host(h));
        for (int i = 0; i < 3; i++)
            pthread_join(callers[i], NULL);
        host_std_free(h);
    }
}

TEST(memory_limit_is_kept) {
    cuzk_error err;
    host_std *h;
    CHECK_OK(host_std_new(1, 1000, &h, &err));
    const cuzk_host *host = host_std_host(h);
    void *a, *b;
    CHECK_OK(cuzk_host_alloc(host, &a, 100, 6, "a", &err));
    CHECK(((uintptr_t)a & 63) == 0);
    CHECK_STATUS(cuzk_host_alloc(host, &b, 100, 5, "the b table", &err), CUZK_ERR_NO_MEMORY);
    CHECK(strstr(err.text, "the b table") != NULL && strstr(err.text, "500") != NULL);
    CHECK_U64(host_std_used(h), 600);
    CHECK_STATUS(cuzk_host_alloc(host, &b, SIZE_MAX / 2, 3, "c", &err), CUZK_ERR_ARGUMENT);
    cuzk_host_free(host, a, 100, 6);
    CHECK_U64(host_std_used(h), 0);
    CHECK_U64(host_std_peak(h), 600);
    host_std_free(h);
}

TEST(random_and_cancel) {
    cuzk_error err;
    host_std *h;
    CHECK_OK(host_std_new(2, 0, &h, &err));
    const cuzk_host *host = host_std_host(h);
    uint8_t x[64] = {0}, y[64] = {0};
    CHECK(host->random(host->self, x, sizeof x) == CUZK_OK);
    CHECK(host->random(host->self, y, sizeof y) == CUZK_OK);
    CHECK(memcmp(x, y, sizeof x) != 0);
    CHECK(!cuzk_host_cancelled(host));
    host_std_cancel(h);
    CHECK(cuzk_host_cancelled(host));
    host_std_free(h);
}

TEST_MAIN(RUN(every_task_runs_once_with_several_callers), RUN(memory_limit_is_kept),
          RUN(random_and_cancel))
