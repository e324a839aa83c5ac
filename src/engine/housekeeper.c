/* Time: deadlines, the watchdog, retention of results. All by the monotonic clock. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/engine_internal.h"

static void check_deadlines(engine *e, uint64_t now) {
    for (job *j = e->jobs; j != NULL; j = j->next)
        if (j->deadline_at != 0 && now >= j->deadline_at && j->stage < JOB_ENDING)
            job_stop(e, j, CUZK_ERR_TIMEOUT, "the deadline has passed");
}

static void check_devices(engine *e, uint64_t now) {
    if (e->config.watchdog_ms == 0) return;
    for (unsigned i = 0; i < e->n_devices; i++) {
        device *d = &e->devices[i];
        if (d->hung || d->call_since == 0 || now - d->call_since < e->config.watchdog_ms) continue;
        if (strcmp(d->info.kind, "cpu") == 0) continue; /* slow for large circuits, never stuck */
        device_hangs(e, d, now - d->call_since);
    }
}

/* The oldest finished job that is past its time or over the limit, or NULL. */
static job *expired(engine *e, uint64_t now) {
    job *j = e->ended;
    if (j == NULL || e->n_ended > e->config.result_limit) return j;
    return e->config.result_age_ms != 0 && now - j->ended_at > e->config.result_age_ms ? j : NULL;
}

/* Under the submit lock: the same id may be submitted again only when nothing of it is left. */
static void drop_expired(engine *e, uint64_t now) {
    if (expired(e, now) == NULL) return;
    pthread_mutex_unlock(&e->lock);
    pthread_mutex_lock(&e->submit_lock);
    pthread_mutex_lock(&e->lock);
    for (job *j; (j = expired(e, now)) != NULL;) {
        char job_id[256];
        memcpy(job_id, j->record.job_id, sizeof job_id);
        job_unlink(e, j);
        pthread_mutex_unlock(&e->lock);
        (void)journal_remove(e->journal, job_id, NULL);
        pthread_mutex_lock(&e->lock);
    }
    pthread_mutex_unlock(&e->submit_lock);
}

void *housekeeper_main(void *engine_pointer) {
    engine *e = engine_pointer;
    pthread_mutex_lock(&e->lock);
    while (!e->finishing) {
        const uint64_t now = engine_now(e);
        check_deadlines(e, now);
        check_devices(e, now);
        drop_expired(e, now);
        /* Ageing and idle times change what may be done, without anybody saying so. */
        pthread_cond_broadcast(&e->work);
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_nsec += 100 * 1000 * 1000;
        if (until.tv_nsec >= 1000000000) {
            until.tv_nsec -= 1000000000;
            until.tv_sec++;
        }
        pthread_cond_timedwait(&e->changed, &e->lock, &until);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}
