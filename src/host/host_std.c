#include "host/host_std.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

/* One call of parallel(): workers and the caller take tasks from `next` until it passes `tasks`.
 * Batches form a list, so several threads may call parallel() at once and share the workers. */
typedef struct batch {
    struct batch *next_batch;
    cuzk_task_fn fn;
    void *arg;
    size_t tasks;
    atomic_size_t next;
    size_t running; /* workers inside, under the lock */
} batch;

struct host_std {
    cuzk_host host;
    uint64_t limit;
    _Atomic uint64_t used, peak;
    atomic_bool cancelled;
    void (*progress)(void *arg, const char *stage, uint64_t done, uint64_t total);
    void *progress_arg;

    pthread_mutex_t lock;
    pthread_cond_t work, done;
    batch *batches;
    bool stopping;
    unsigned n_threads; /* workers besides the caller */
    pthread_t *threads;
};

/* Set while a thread runs a task, so that nested parallel() calls stay on it. */
static _Thread_local bool inside_task;
static _Thread_local unsigned current_worker;

/* Blocks of this size and more ask for huge pages: the vectors of a proof are gigabytes that are
 * written front to back, and a fault for every 4 KiB costs more than the arithmetic. */
#define HUGE_PAGE ((size_t)2 << 20)

static void *std_alloc(void *self, size_t bytes) {
    host_std *h = self;
    const size_t align = bytes >= HUGE_PAGE ? HUGE_PAGE : 64;
    const size_t rounded = (bytes + align - 1) & ~(align - 1);
    if (rounded < bytes) return NULL;
    const uint64_t now = atomic_fetch_add(&h->used, bytes) + bytes;
    if (h->limit != 0 && now > h->limit) {
        atomic_fetch_sub(&h->used, bytes);
        return NULL;
    }
    void *p = aligned_alloc(align, rounded);
    if (p == NULL) {
        atomic_fetch_sub(&h->used, bytes);
        return NULL;
    }
    if (align == HUGE_PAGE) (void)madvise(p, rounded, MADV_HUGEPAGE); /* a wish: may be refused */
    uint64_t peak = atomic_load(&h->peak);
    while (now > peak && !atomic_compare_exchange_weak(&h->peak, &peak, now)) {
    }
    return p;
}

static void std_free(void *self, void *memory, size_t bytes) {
    host_std *h = self;
    if (memory == NULL) return;
    atomic_fetch_sub(&h->used, bytes);
    free(memory);
}

static void run_tasks(batch *b, unsigned worker) {
    inside_task = true;
    current_worker = worker;
    for (size_t i = atomic_fetch_add(&b->next, 1); i < b->tasks; i = atomic_fetch_add(&b->next, 1))
        b->fn(b->arg, i, worker);
    inside_task = false;
}

static batch *open_batch(host_std *h) {
    batch *b = h->batches;
    while (b != NULL && atomic_load(&b->next) >= b->tasks)
        b = b->next_batch;
    return b;
}

typedef struct worker_arg {
    host_std *h;
    unsigned id;
} worker_arg;

static void *worker_main(void *arg) {
    worker_arg w = *(worker_arg *)arg;
    free(arg);
    host_std *h = w.h;
    pthread_mutex_lock(&h->lock);
    for (;;) {
        batch *b = open_batch(h);
        if (b != NULL) {
            b->running++;
            pthread_mutex_unlock(&h->lock);
            run_tasks(b, w.id);
            pthread_mutex_lock(&h->lock);
            if (--b->running == 0) pthread_cond_broadcast(&h->done);
        } else if (h->stopping) {
            break;
        } else {
            pthread_cond_wait(&h->work, &h->lock);
        }
    }
    pthread_mutex_unlock(&h->lock);
    return NULL;
}

static void std_parallel(void *self, size_t tasks, cuzk_task_fn fn, void *arg) {
    host_std *h = self;
    if (inside_task || h->n_threads == 0 || tasks <= 1) {
        const unsigned worker = inside_task ? current_worker : 0;
        for (size_t i = 0; i < tasks; i++)
            fn(arg, i, worker);
        return;
    }
    batch b = {.fn = fn, .arg = arg, .tasks = tasks};
    atomic_init(&b.next, 0);
    pthread_mutex_lock(&h->lock);
    b.next_batch = h->batches;
    h->batches = &b;
    pthread_cond_broadcast(&h->work);
    pthread_mutex_unlock(&h->lock);

    run_tasks(&b, 0);

    pthread_mutex_lock(&h->lock);
    batch **link = &h->batches;
    while (*link != &b)
        link = &(*link)->next_batch;
    *link = b.next_batch;
    while (b.running > 0)
        pthread_cond_wait(&h->done, &h->lock);
    pthread_mutex_unlock(&h->lock);
}

static void std_progress(void *self, const char *stage, uint64_t done, uint64_t total) {
    host_std *h = self;
    if (h->progress != NULL) h->progress(h->progress_arg, stage, done, total);
}

static bool std_cancelled(void *self) {
    return atomic_load(&((host_std *)self)->cancelled);
}

static cuzk_status std_random(void *self, void *out, size_t bytes) {
    (void)self;
    uint8_t *p = out;
    while (bytes > 0) {
        const ssize_t n = getrandom(p, bytes, 0);
        if (n < 0) {
            if (errno == EINTR) continue;
            return CUZK_ERR_IO;
        }
        p += n;
        bytes -= (size_t)n;
    }
    return CUZK_OK;
}

cuzk_status host_std_new(unsigned threads, uint64_t limit_bytes, host_std **out, cuzk_error *err) {
    *out = NULL;
    if (threads == 0) {
        const long online = sysconf(_SC_NPROCESSORS_ONLN);
        threads = online < 1 ? 1 : (unsigned)online;
    }
    host_std *h = calloc(1, sizeof *h);
    if (h == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "host: no memory");
    h->limit = limit_bytes;
    h->host = (cuzk_host){
        .self = h,
        .alloc = std_alloc,
        .free = std_free,
        .workers = threads,
        .parallel = std_parallel,
        .progress = std_progress,
        .cancelled = std_cancelled,
        .random = std_random,
    };
    pthread_mutex_init(&h->lock, NULL);
    pthread_cond_init(&h->work, NULL);
    pthread_cond_init(&h->done, NULL);
    h->threads = calloc(threads, sizeof *h->threads);
    if (h->threads == NULL) {
        host_std_free(h);
        return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "host: no memory for %u threads", threads);
    }
    for (unsigned i = 1; i < threads; i++) {
        worker_arg *w = malloc(sizeof *w);
        if (w != NULL) *w = (worker_arg){h, i};
        if (w == NULL || pthread_create(&h->threads[i - 1], NULL, worker_main, w) != 0) {
            free(w);
            host_std_free(h);
            return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "host: cannot start thread %u of %u", i + 1,
                             threads);
        }
        h->n_threads = i;
    }
    *out = h;
    return CUZK_OK;
}

void host_std_free(host_std *h) {
    if (h == NULL) return;
    pthread_mutex_lock(&h->lock);
    h->stopping = true;
    pthread_cond_broadcast(&h->work);
    pthread_mutex_unlock(&h->lock);
    for (unsigned i = 0; i < h->n_threads; i++)
        pthread_join(h->threads[i], NULL);
    pthread_cond_destroy(&h->done);
    pthread_cond_destroy(&h->work);
    pthread_mutex_destroy(&h->lock);
    free(h->threads);
    free(h);
}

const cuzk_host *host_std_host(const host_std *h) {
    return &h->host;
}
uint64_t host_std_used(const host_std *h) {
    return atomic_load(&h->used);
}
uint64_t host_std_peak(const host_std *h) {
    return atomic_load(&h->peak);
}

void host_std_set_progress(host_std *h,
                           void (*fn)(void *arg, const char *stage, uint64_t done, uint64_t total),
                           void *arg) {
    h->progress = fn;
    h->progress_arg = arg;
}

void host_std_cancel(host_std *h) {
    atomic_store(&h->cancelled, true);
}
