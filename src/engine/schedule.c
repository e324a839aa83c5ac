/* What to do next. Priority, then circuits that a device has loaded, then age. */
#include <stdio.h>
#include <string.h>

#include "engine/engine_internal.h"

unsigned job_effective_priority(const engine *e, const job *j, uint64_t now) {
    const unsigned base = (unsigned)j->record.priority;
    if (base >= ENGINE_PRIORITY_HIGH || e->config.ageing_ms == 0) return base;
    /* Ageing ends at HIGH: nothing old ever stands in the way of a CRITICAL job. */
    const uint64_t aged = base + (now - j->submitted_at) / e->config.ageing_ms;
    return aged > ENGINE_PRIORITY_HIGH ? ENGINE_PRIORITY_HIGH : (unsigned)aged;
}

bool job_before(const engine *e, const job *a, const job *b, const char *circuit, uint64_t now) {
    const unsigned pa = job_effective_priority(e, a, now), pb = job_effective_priority(e, b, now);
    if (pa != pb) return pa > pb;
    if (circuit != NULL) {
        const bool ca = strcmp(a->circuit, circuit) == 0, cb = strcmp(b->circuit, circuit) == 0;
        if (ca != cb) return ca;
    }
    return a->seq < b->seq;
}

bool device_usable(const device *d) {
    return !d->quarantined && !d->hung;
}

/* Is there a device, not the fallback, that may still try the partition? */
static bool first_choice_left(const engine *e, const partition *p) {
    for (unsigned d = 0; d < e->n_devices; d++)
        if (!e->devices[d].fallback && device_usable(&e->devices[d]) && (p->tried >> d & 1) == 0)
            return true;
    return false;
}

bool device_may_try(const engine *e, const device *d, const partition *p) {
    if (!device_usable(d) || (p->tried >> d->index & 1) != 0) return false;
    if (!d->fallback) return true;
    return e->config.on_failure == ENGINE_ON_FAILURE_CPU && !first_choice_left(e, p);
}

/* Running jobs that a stop has not reached. */
static bool is_live(const job *j) {
    return j->stage == JOB_STARTED && j->end_status == CUZK_OK;
}

job *schedule_device(engine *e, const device *d, unsigned *k) {
    const uint64_t now = engine_now(e);
    const char *circuit = d->loaded != NULL ? d->loaded->circuit : NULL;
    job *best = NULL;
    if (e->draining) return NULL;
    for (job *j = e->jobs; j != NULL; j = j->next) {
        if (!is_live(j)) continue;
        if (best != NULL && !job_before(e, j, best, circuit, now)) continue;
        for (unsigned i = 0; i < j->n_partitions; i++) {
            const partition *p = &j->partitions[i];
            if (p->view.state != ENGINE_PARTITION_READY || !device_may_try(e, d, p)) continue;
            best = j;
            *k = i;
            break;
        }
    }
    return best;
}

/* Witnesses that wait or are being made, and how many of them are worth having. */
static unsigned witnesses_ahead(const engine *e, unsigned *best_priority, uint64_t now) {
    unsigned n = 0;
    *best_priority = 0;
    for (const job *j = e->jobs; j != NULL; j = j->next) {
        if (!is_live(j)) continue;
        for (unsigned i = 0; i < j->n_partitions; i++) {
            const engine_partition_state s = j->partitions[i].view.state;
            if (s != ENGINE_PARTITION_READY && s != ENGINE_PARTITION_WITNESS) continue;
            const unsigned p = job_effective_priority(e, j, now);
            if (p > *best_priority) *best_priority = p;
            n++;
        }
    }
    return n;
}

static unsigned lookahead(const engine *e) {
    unsigned n = 0;
    for (unsigned d = 0; d < e->n_devices; d++)
        if (device_usable(&e->devices[d]) && !e->devices[d].fallback)
            n += e->devices[d].info.slots + 1;
    return n == 0 ? 2 : n;
}

/* The best job in a stage, or NULL. */
static job *best_in_stage(engine *e, int stage, uint64_t now) {
    job *best = NULL;
    for (job *j = e->jobs; j != NULL; j = j->next)
        if ((int)j->stage == stage && j->end_status == CUZK_OK &&
            (best == NULL || job_before(e, j, best, NULL, now)))
            best = j;
    return best;
}

static const char *popular_circuit(const engine *e) {
    for (unsigned d = 0; d < e->n_devices; d++)
        if (e->devices[d].loaded != NULL && device_usable(&e->devices[d]))
            return e->devices[d].loaded->circuit;
    return NULL;
}

static task next_witness(engine *e, uint64_t now) {
    unsigned ahead_priority;
    const unsigned ahead = witnesses_ahead(e, &ahead_priority, now);
    const char *circuit = popular_circuit(e);
    job *best = NULL;
    unsigned k = 0;
    for (job *j = e->jobs; j != NULL; j = j->next) {
        if (!is_live(j) || j->key->state != KEY_LOADED) continue;
        if (best != NULL && !job_before(e, j, best, circuit, now)) continue;
        for (unsigned i = 0; i < j->n_partitions; i++) {
            if (j->partitions[i].view.state != ENGINE_PARTITION_PENDING) continue;
            best = j;
            k = i;
            break;
        }
    }
    if (best == NULL) return (task){.type = TASK_NONE};
    if (ahead >= lookahead(e) && job_effective_priority(e, best, now) <= ahead_priority)
        return (task){.type = TASK_NONE};
    /* The first witness of a job is in its bundle. */
    if (best->witnesses > 0 && !memory_reserve(e, MEMORY_WITNESS, best->witness_bytes))
        return (task){.type = TASK_NONE};
    best->witnesses++;
    return (task){.type = TASK_WITNESS, .job = best, .k = k};
}

/* Reserve a bundle for an opened job: its key, unless that is there, and one witness. When nothing
 * runs that could give memory back, a job that does not fit never will: it fails with the figures.
 */
static bool reserve_bundle(engine *e, job *j) {
    key *k = key_get(e, j->circuit);
    if (k == NULL) {
        job_stop(e, j, CUZK_ERR_NO_MEMORY, "no memory for a key");
        return false;
    }
    uint64_t key_bytes = 0;
    cuzk_error err = {0};
    if (k->state == KEY_ABSENT &&
        e->config.work->key_size(e->config.work_self, j->circuit, &key_bytes, &err) != CUZK_OK) {
        job_stop(e, j, err.status, err.text);
        return false;
    }
    k->evict = false;
    k->job_refs++; /* so that making room does not evict it */
    bool fits = memory_reserve(e, MEMORY_WITNESS, j->witness_bytes);
    if (fits && k->state == KEY_ABSENT) {
        fits = memory_reserve(e, MEMORY_KEY, key_bytes);
        if (!fits) memory_release(e, MEMORY_WITNESS, j->witness_bytes);
    }
    if (fits) {
        if (k->state == KEY_ABSENT) {
            k->bytes = key_bytes;
            k->wanted = true;
            k->state = KEY_LOADING;
        }
        j->key = k;
        j->stage = JOB_STARTED;
        return true;
    }
    k->job_refs--;
    for (const job *other = e->jobs; other != NULL; other = other->next)
        if (other != j && (other->stage == JOB_STARTED || other->stage == JOB_ENDING)) return false;
    for (const key *other = e->keys; other != NULL; other = other->next)
        if (other->evict || other->state == KEY_LOADING) return false;
    char text[256];
    snprintf(text, sizeof text,
             "memory budget: %s needs %llu bytes for its key and %llu for a witness; %llu of %llu "
             "are in use",
             j->circuit, (unsigned long long)key_bytes, (unsigned long long)j->witness_bytes,
             (unsigned long long)e->used, (unsigned long long)e->config.memory_budget);
    job_stop(e, j, CUZK_ERR_EXHAUSTED, text);
    return false;
}

/* A decoded body is smaller than the body: bincode is raw bytes, JSON far larger. */
static uint64_t open_estimate(const job *j) {
    return j->record.body_bytes + (1u << 20);
}

task schedule_worker(engine *e) {
    const uint64_t now = engine_now(e);
    if (e->draining) return (task){.type = TASK_NONE};
    for (key *k = e->keys; k != NULL; k = k->next) {
        if (k->state == KEY_LOADING && k->wanted) {
            k->wanted = false; /* claimed */
            return (task){.type = TASK_LOAD_KEY, .key = k};
        }
    }
    /* At most one job waits decoded, unless a more urgent one comes. */
    job *opened = best_in_stage(e, JOB_OPENED, now);
    if (opened != NULL && reserve_bundle(e, opened)) {
        pthread_cond_broadcast(&e->work);
        return schedule_worker(e);
    }
    const task witness_task = next_witness(e, now);
    job *waiting = best_in_stage(e, JOB_WAITING, now);
    const bool urgent =
        waiting != NULL && (opened == NULL || job_effective_priority(e, waiting, now) >
                                                  job_effective_priority(e, opened, now));
    const bool first = witness_task.type == TASK_NONE ||
                       (urgent && job_effective_priority(e, waiting, now) >
                                      job_effective_priority(e, witness_task.job, now));
    if (!urgent || !first || !memory_reserve(e, MEMORY_JOB, open_estimate(waiting)))
        return witness_task;
    if (witness_task.type == TASK_WITNESS) { /* give the witness's claim back */
        if (--witness_task.job->witnesses > 0)
            memory_release(e, MEMORY_WITNESS, witness_task.job->witness_bytes);
    }
    waiting->data_bytes = open_estimate(waiting);
    waiting->stage = JOB_OPENING;
    return (task){.type = TASK_OPEN, .job = waiting};
}

unsigned queue_position(const engine *e, const job *j) {
    const uint64_t now = engine_now(e);
    unsigned n = 0;
    for (const job *other = e->jobs; other != NULL; other = other->next)
        if (other != j && other->stage < JOB_STARTED && job_before(e, other, j, NULL, now)) n++;
    return n;
}
