/* The engine's life and its public calls. */
#include "engine/engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/engine_internal.h"
#include "hash/sha256.h"

static uint64_t monotonic_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t engine_now(const engine *e) {
    return (monotonic_ns() - e->start_ns) / 1000000u + 1;
}

static int64_t unix_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* ---- opening ---- */

typedef struct recovery {
    engine *e;
    bool failed; /* no memory */
} recovery;

static void recover_job(void *arg, const journal_job *record) {
    recovery *r = arg;
    engine *e = r->e;
    job *j = job_new(record, 1);
    if (j == NULL) {
        r->failed = true;
        return;
    }
    const bool over = record->state != ENGINE_JOB_QUEUED && record->state != ENGINE_JOB_RUNNING;
    if (over) {
        j->stage = JOB_ENDED;
        j->ended_at = 1;
    } else {
        j->record.state = ENGINE_JOB_QUEUED;
        if (record->deadline_unix_ms != 0) {
            const int64_t left = (int64_t)record->deadline_unix_ms - unix_ms();
            j->deadline_at = left <= 0 ? 1 : (uint64_t)left;
        }
        const unsigned attempts = e->config.job_attempts;
        /* Jobs beside the culprit were running too: the last attempt is made without company. */
        j->alone = attempts > 0 && record->starts > 0 && record->starts + 1 >= attempts;
        if (attempts > 0 && record->starts >= attempts) {
            job_tell(j, "set aside: it was running each of the %u times the engine died",
                     record->starts);
            j->end_status = CUZK_ERR_INTERNAL;
            j->stage = JOB_ENDING;
        }
    }
    job_insert(e, j);
}

static cuzk_status start_threads(engine *e, cuzk_error *err) {
    bool ok = pthread_create(&e->finisher, NULL, finisher_main, e) == 0;
    e->finisher_started = ok;
    if (ok)
        ok = e->housekeeper_started =
            pthread_create(&e->housekeeper, NULL, housekeeper_main, e) == 0;
    for (unsigned i = 0; ok && i < e->config.witness_threads; i++) {
        ok = pthread_create(&e->workers[i], NULL, worker_main, e) == 0;
        if (ok) e->n_workers++;
    }
    for (unsigned i = 0; ok && i < e->n_devices; i++)
        ok = e->devices[i].thread_started =
            pthread_create(&e->devices[i].thread, NULL, device_main, &e->devices[i]) == 0;
    return ok ? CUZK_OK : cuzk_fail(err, CUZK_ERR_NO_MEMORY, "engine: cannot start its threads");
}

static void take_devices(engine *e) {
    bool others = false;
    for (unsigned i = 0; i < e->config.n_devices; i++)
        others |= !e->config.devices[i].is_cpu_fallback;
    for (unsigned i = 0; i < e->config.n_devices; i++) {
        device *d = &e->devices[i];
        d->e = e;
        d->index = i;
        d->ex = e->config.devices[i].ex;
        d->fallback = e->config.devices[i].is_cpu_fallback && others;
        d->ex->ops->info(d->ex, &d->info);
    }
    e->n_devices = e->config.n_devices;
}

cuzk_status engine_open(const engine_config *config, engine **out, cuzk_error *err) {
    *out = NULL;
    const bool valid =
        config->n_devices > 0 && config->n_devices <= MAX_DEVICES && config->witness_threads > 0;
    engine *e = valid ? calloc(1, sizeof *e) : NULL;
    if (e == NULL) {
        for (unsigned i = 0; i < config->n_devices && i < MAX_DEVICES; i++)
            config->devices[i].ex->ops->close(config->devices[i].ex);
        if (valid) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "engine: no memory");
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "engine: %u devices, %u witness threads",
                         config->n_devices, config->witness_threads);
    }
    e->config = *config;
    e->host = config->host;
    e->start_ns = monotonic_ns();
    e->jobs_tail = &e->jobs;
    e->ended_tail = &e->ended;
    pthread_mutex_init(&e->submit_lock, NULL);
    pthread_mutex_init(&e->lock, NULL);
    pthread_condattr_t attr;
    pthread_condattr_init(&attr);
    pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
    pthread_cond_init(&e->work, &attr);
    pthread_cond_init(&e->finish, &attr);
    pthread_cond_init(&e->changed, &attr);
    pthread_condattr_destroy(&attr);
    take_devices(e);
    e->workers = calloc(config->witness_threads, sizeof *e->workers);
    cuzk_status status = e->workers == NULL
                             ? cuzk_fail(err, CUZK_ERR_NO_MEMORY, "engine: no memory")
                             : journal_open(config->state_dir, &e->journal, err);
    if (status == CUZK_OK) {
        recovery r = {.e = e};
        status = journal_each(e->journal, recover_job, &r, err);
        if (status == CUZK_OK && r.failed)
            status = cuzk_fail(err, CUZK_ERR_NO_MEMORY, "engine: no memory for the journal's jobs");
    }
    if (status == CUZK_OK) status = start_threads(e, err);
    if (status != CUZK_OK) {
        engine_close(e);
        return status;
    }
    *out = e;
    return CUZK_OK;
}

/* ---- closing ---- */

static void add_ms(struct timespec *t, uint64_t ms) {
    t->tv_sec += (time_t)(ms / 1000);
    t->tv_nsec += (long)(ms % 1000) * 1000000;
    if (t->tv_nsec >= 1000000000) {
        t->tv_nsec -= 1000000000;
        t->tv_sec++;
    }
}

/* Wait on `changed`, at most ms. The lock is held. */
static void wait_changed(engine *e, uint64_t ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    add_ms(&until, ms);
    pthread_cond_timedwait(&e->changed, &e->lock, &until);
}

/* Public calls that wait: engine_close lets them out first. */
static void caller_enters(engine *e) {
    pthread_mutex_lock(&e->lock);
    e->n_callers++;
}
static void caller_leaves(engine *e) {
    e->n_callers--;
    if (e->stopping) pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
}

static bool anything_in_flight(const engine *e) {
    for (const job *j = e->jobs; j != NULL; j = j->next)
        if (j->in_flight > 0 || j->stage == JOB_OPENING || j->stage == JOB_ENDING) return true;
    return false;
}

void engine_drain(engine *e, uint64_t timeout_ms) {
    pthread_mutex_lock(&e->lock);
    const uint64_t until = engine_now(e) + timeout_ms;
    e->draining = true;
    while (anything_in_flight(e) && engine_now(e) < until)
        wait_changed(e, 50);
    pthread_mutex_unlock(&e->lock);
}

/* These jobs did not crash: the start is taken back. */
static void pause_jobs(engine *e) {
    for (job *j = e->jobs; j != NULL; j = j->next)
        if (j->in_flight == 0 && (j->stage == JOB_OPENED || j->stage == JOB_STARTED))
            (void)journal_paused(e->journal, j->record.job_id, NULL);
}

static void free_engine(engine *e) {
    while (e->jobs != NULL) {
        job_release(e, e->jobs);
        job_unlink(e, e->jobs);
    }
    while (e->ended != NULL)
        job_unlink(e, e->ended);
    for (key *k = e->keys, *next; k != NULL; k = next) {
        next = k->next;
        if (k->state == KEY_LOADED) key_drop(e, k);
        free(k);
    }
    for (engine_watch *w = e->watches, *next; w != NULL; w = next) {
        next = w->next;
        free(w);
    }
    for (unsigned i = 0; i < e->n_devices; i++)
        e->devices[i].ex->ops->close(e->devices[i].ex);
    pthread_cond_destroy(&e->work);
    pthread_cond_destroy(&e->finish);
    pthread_cond_destroy(&e->changed);
    pthread_mutex_destroy(&e->lock);
    pthread_mutex_destroy(&e->submit_lock);
    free(e->workers);
    free(e);
}

void engine_close(engine *e) {
    if (e == NULL) return;
    pthread_mutex_lock(&e->lock);
    e->stopping = true;
    pthread_cond_broadcast(&e->work);
    pthread_cond_broadcast(&e->finish);
    pthread_cond_broadcast(&e->changed);
    /* A device that hangs in a driver call cannot be joined: its thread and what it holds are left
     * to the end of the process. */
    const uint64_t until = engine_now(e) + 5000;
    bool stuck = false;
    while (e->n_callers > 0)
        wait_changed(e, 1000);
    for (unsigned i = 0; i < e->n_devices; i++) {
        device *d = &e->devices[i];
        while (d->thread_started && !d->thread_done && (!d->hung || engine_now(e) < until))
            wait_changed(e, 50);
        stuck |= d->thread_started && !d->thread_done;
    }
    pthread_mutex_unlock(&e->lock);
    for (unsigned i = 0; i < e->n_workers; i++)
        pthread_join(e->workers[i], NULL);
    /* Only now: what devices had in flight is still verified and stored. */
    pthread_mutex_lock(&e->lock);
    e->finishing = true;
    pthread_cond_broadcast(&e->finish);
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    if (e->finisher_started) pthread_join(e->finisher, NULL);
    if (e->housekeeper_started) pthread_join(e->housekeeper, NULL);
    pause_jobs(e);
    journal_close(e->journal);
    for (unsigned i = 0; i < e->n_devices; i++) {
        if (!e->devices[i].thread_started) continue;
        if (stuck)
            pthread_detach(e->devices[i].thread);
        else
            pthread_join(e->devices[i].thread, NULL);
    }
    if (!stuck) free_engine(e);
}

/* ---- submitting ---- */

static cuzk_status make_uuid(const cuzk_host *host, char out[256], cuzk_error *err) {
    uint8_t b[16];
    if (host->random == NULL || host->random(host->self, b, sizeof b) != CUZK_OK)
        return cuzk_fail(err, CUZK_ERR_IO, "no randomness for a job id");
    b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
    b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
    snprintf(out, 256, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0],
             b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13],
             b[14], b[15]);
    return CUZK_OK;
}

static void request_digest(const engine_request *request, uint8_t out[32]) {
    sha256_ctx ctx;
    sha256_init(&ctx);
    sha256_update(&ctx, request->kind, strlen(request->kind) + 1);
    sha256_update(&ctx, request->body, request->body_bytes);
    sha256_final(&ctx, out);
}

/* With the submit lock held: is there such a job already? */
static cuzk_status join_existing(engine *e, const journal_job *record, engine_submitted *out,
                                 cuzk_error *err) {
    cuzk_status status = CUZK_OK;
    pthread_mutex_lock(&e->lock);
    const job *j = job_find(e, record->job_id);
    if (e->draining || e->stopping) {
        status = cuzk_fail(err, CUZK_ERR_EXHAUSTED, "the engine is shutting down");
    } else if (j != NULL && memcmp(j->record.digest, record->digest, 32) != 0) {
        status = cuzk_fail(err, CUZK_ERR_EXISTS,
                           "a job with this request_id and another request exists");
    } else if (j != NULL) {
        out->joined = true;
        out->queue_position = j->stage < JOB_STARTED ? queue_position(e, j) : 0;
    } else if (record->body_bytes > e->config.memory_budget / 2) {
        status = cuzk_fail(err, CUZK_ERR_EXHAUSTED,
                           "a request of %llu bytes is too large for the memory budget",
                           (unsigned long long)record->body_bytes);
    } else if (e->n_active >= e->config.queue_limit) {
        status = cuzk_fail(err, CUZK_ERR_EXHAUSTED, "the queue is full (%u jobs)",
                           e->config.queue_limit);
    }
    pthread_mutex_unlock(&e->lock);
    return status;
}

static cuzk_status add_job(engine *e, const engine_request *request, journal_job *record,
                           engine_submitted *out, cuzk_error *err) {
    job *j = job_new(record, engine_now(e));
    if (j == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for a job");
    const cuzk_status status = journal_add(e->journal, record, request->body, err);
    if (status != CUZK_OK) {
        free(j);
        return status;
    }
    pthread_mutex_lock(&e->lock);
    if (request->deadline_ms != 0) j->deadline_at = engine_now(e) + request->deadline_ms;
    job_insert(e, j);
    out->queue_position = queue_position(e, j);
    job_event(e, j, -1, ENGINE_EVENT_SUBMITTED, 0, NULL);
    pthread_cond_broadcast(&e->work);
    pthread_mutex_unlock(&e->lock);
    return CUZK_OK;
}

cuzk_status engine_submit(engine *e, const engine_request *request, engine_submitted *out,
                          cuzk_error *err) {
    journal_job record = {.priority = request->priority, .body_bytes = request->body_bytes};
    memset(out, 0, sizeof *out);
    if (request->priority < ENGINE_PRIORITY_LOW || request->priority > ENGINE_PRIORITY_CRITICAL)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "priority %d", (int)request->priority);
    snprintf(record.job_id, sizeof record.job_id, "%s", request->request_id);
    snprintf(record.kind, sizeof record.kind, "%s", request->kind);
    if (record.job_id[0] == 0) CUZK_TRY(make_uuid(e->host, record.job_id, err));
    record.submitted_unix_ms = unix_ms();
    if (request->deadline_ms != 0)
        record.deadline_unix_ms = (uint64_t)record.submitted_unix_ms + request->deadline_ms;
    request_digest(request, record.digest);
    memcpy(out->job_id, record.job_id, sizeof out->job_id);
    pthread_mutex_lock(&e->submit_lock);
    cuzk_status status = join_existing(e, &record, out, err);
    if (status == CUZK_OK && !out->joined) status = add_job(e, request, &record, out, err);
    pthread_mutex_unlock(&e->submit_lock);
    return status;
}

cuzk_status engine_admit_body(engine *e, uint64_t bytes, cuzk_error *err) {
    pthread_mutex_lock(&e->lock);
    /* Bodies in flight never take more than a quarter: the rest is for work. */
    const bool fits = e->used_bodies + bytes <= e->config.memory_budget / 4 &&
                      memory_reserve(e, MEMORY_BODY, bytes);
    pthread_mutex_unlock(&e->lock);
    if (fits) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_EXHAUSTED, "no room for a request of %llu bytes now",
                     (unsigned long long)bytes);
}

void engine_release_body(engine *e, uint64_t bytes) {
    pthread_mutex_lock(&e->lock);
    memory_release(e, MEMORY_BODY, bytes);
    pthread_mutex_unlock(&e->lock);
}

/* ---- waiting ---- */

static cuzk_status copy_result(engine *e, const journal_job *record, engine_result *out,
                               cuzk_error *err) {
    memset(out, 0, sizeof *out);
    memcpy(out->job_id, record->job_id, sizeof out->job_id);
    out->state = record->state;
    memcpy(out->error, record->error, sizeof out->error);
    memcpy(out->devices, record->devices, sizeof out->devices);
    out->queue_wait_ms = record->queue_wait_ms;
    out->srs_load_ms = record->srs_load_ms;
    out->synthesis_ms = record->synthesis_ms;
    out->gpu_compute_ms = record->gpu_compute_ms;
    out->total_ms = record->total_ms;
    if (record->state != ENGINE_JOB_COMPLETED) return CUZK_OK;
    return journal_proof(e->journal, record->job_id, &out->proof, &out->proof_bytes, err);
}

cuzk_status engine_await(engine *e, const char *job_id, uint64_t timeout_ms,
                         const volatile bool *stop, engine_result *out, cuzk_error *err) {
    cuzk_status status = CUZK_OK;
    journal_job record;
    memset(out, 0, sizeof *out);
    caller_enters(e);
    const uint64_t until = timeout_ms == 0 ? UINT64_MAX : engine_now(e) + timeout_ms;
    for (;;) {
        const job *j = job_find(e, job_id);
        if (j == NULL) {
            status = cuzk_fail(err, CUZK_ERR_NOT_FOUND, "job not found: %s", job_id);
        } else if (j->stage == JOB_ENDED) {
            record = j->record;
            break;
        } else if (stop != NULL && __atomic_load_n(stop, __ATOMIC_RELAXED)) {
            status = cuzk_fail(err, CUZK_ERR_CANCELLED, "waiting was cancelled");
        } else if (e->stopping) {
            status = cuzk_fail(err, CUZK_ERR_CANCELLED, "the engine is shutting down");
        } else if (engine_now(e) >= until) {
            status = cuzk_fail(err, CUZK_ERR_TIMEOUT, "job is still running: %s", job_id);
        }
        if (status != CUZK_OK) break;
        const uint64_t left = until - engine_now(e);
        wait_changed(e, stop != NULL && left > 100 ? 100 : left > 60000 ? 60000 : left + 1);
    }
    pthread_mutex_unlock(&e->lock);
    if (status == CUZK_OK) status = copy_result(e, &record, out, err);
    pthread_mutex_lock(&e->lock);
    caller_leaves(e);
    return status;
}

cuzk_status engine_watch_job(engine *e, const char *job_id, void (*done)(void *arg), void *arg,
                             engine_watch **out, cuzk_error *err) {
    *out = NULL;
    engine_watch *w = calloc(1, sizeof *w);
    if (w == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory to watch a job");
    snprintf(w->job_id, sizeof w->job_id, "%s", job_id);
    w->done = done;
    w->arg = arg;
    pthread_mutex_lock(&e->lock);
    const job *j = job_find(e, job_id);
    const bool over = j != NULL && j->stage == JOB_ENDED;
    if (j != NULL && !over) {
        w->id = ++e->last_watch;
        w->next = e->watches;
        e->watches = w;
        *out = (engine_watch *)w->id;
    }
    pthread_mutex_unlock(&e->lock);
    if (j == NULL) {
        free(w);
        return cuzk_fail(err, CUZK_ERR_NOT_FOUND, "job not found: %s", job_id);
    }
    if (over) {
        free(w);
        done(arg);
    }
    return CUZK_OK;
}

bool engine_unwatch(engine *e, engine_watch *watch) {
    bool found = false;
    pthread_mutex_lock(&e->lock);
    for (engine_watch **link = &e->watches; *link != NULL; link = &(*link)->next) {
        engine_watch *w = *link;
        if (w->id != (uintptr_t)watch) continue;
        *link = w->next;
        free(w);
        found = true;
        break;
    }
    pthread_mutex_unlock(&e->lock);
    return found;
}

void engine_result_free(engine_result *result) {
    free(result->proof);
    memset(result, 0, sizeof *result);
}

cuzk_status engine_cancel(engine *e, const char *job_id, bool *was_running, cuzk_error *err) {
    cuzk_status status = CUZK_OK;
    *was_running = false;
    pthread_mutex_lock(&e->lock);
    job *j = job_find(e, job_id);
    if (j == NULL) {
        status = cuzk_fail(err, CUZK_ERR_NOT_FOUND, "job not found: %s", job_id);
    } else {
        *was_running = j->stage > JOB_WAITING && j->stage < JOB_ENDING;
        job_stop(e, j, CUZK_ERR_CANCELLED, "cancelled");
    }
    pthread_mutex_unlock(&e->lock);
    return status;
}

/* ---- keys ---- */

cuzk_status engine_preload(engine *e, const char *circuit_id, bool *already, uint64_t *load_ms,
                           cuzk_error *err) {
    uint64_t bytes = 0;
    *already = false;
    *load_ms = 0;
    CUZK_TRY(e->config.work->key_size(e->config.work_self, circuit_id, &bytes, err));
    caller_enters(e);
    cuzk_status status = CUZK_OK;
    key *k = key_get(e, circuit_id);
    if (k == NULL) {
        status = cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for a key");
    } else if (k->state == KEY_LOADED) {
        *already = true;
    } else {
        const unsigned loads = k->loads;
        bool fits = true;
        while (k->state == KEY_ABSENT && !(fits = memory_reserve(e, MEMORY_KEY, bytes)) &&
               memory_eviction_pending(e) && !e->stopping)
            wait_changed(e, 100);
        if (k->state == KEY_ABSENT) {
            if (fits) {
                k->bytes = bytes;
                k->state = KEY_LOADING;
                k->wanted = true;
                pthread_cond_broadcast(&e->work);
            } else {
                status = cuzk_fail(err, CUZK_ERR_EXHAUSTED,
                                   "insufficient memory budget for %s (%llu bytes), available: "
                                   "%llu, total: %llu",
                                   circuit_id, (unsigned long long)bytes,
                                   (unsigned long long)(e->config.memory_budget - e->used),
                                   (unsigned long long)e->config.memory_budget);
            }
        }
        while (status == CUZK_OK && k->loads == loads && !e->stopping && !e->draining)
            wait_changed(e, 1000);
        if (status == CUZK_OK && k->loads == loads)
            status = cuzk_fail(err, CUZK_ERR_CANCELLED, "the engine is shutting down");
        if (status == CUZK_OK && k->error.status != CUZK_OK) {
            status = k->error.status;
            if (err != NULL) *err = k->error;
        }
        *load_ms = k->load_ms;
    }
    caller_leaves(e);
    return status;
}

cuzk_status engine_evict(engine *e, const char *circuit_id, bool *was_loaded, uint64_t *freed_bytes,
                         cuzk_error *err) {
    cuzk_status status = CUZK_OK;
    *was_loaded = false;
    *freed_bytes = 0;
    caller_enters(e);
    key *k = key_find(e, circuit_id);
    if (k != NULL && k->state == KEY_LOADED) {
        *was_loaded = true;
        if (k->job_refs > 0) {
            status = cuzk_fail(err, CUZK_ERR_EXHAUSTED, "%s is in use by %u jobs", circuit_id,
                               k->job_refs);
        } else {
            const uint64_t bytes = k->bytes;
            const uint64_t until = engine_now(e) + 30000;
            k->evict = true;
            pthread_cond_broadcast(&e->work);
            while (k->evict && k->state == KEY_LOADED && k->device_refs > 0 &&
                   engine_now(e) < until && !e->stopping)
                wait_changed(e, 100);
            if (k->state == KEY_LOADED && k->job_refs == 0 && k->device_refs == 0) key_drop(e, k);
            if (k->state == KEY_ABSENT) *freed_bytes = bytes;
        }
    }
    caller_leaves(e);
    return status;
}
