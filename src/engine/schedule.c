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

/* Grouping by circuit must not starve a job: past the ageing time only age counts. */
static bool overdue(const engine *e, const job *j, uint64_t now) {
    return e->config.ageing_ms != 0 && now - j->submitted_at >= e->config.ageing_ms;
}

bool job_before(const engine *e, const job *a, const job *b, const char *circuit, uint64_t now) {
    const unsigned pa = job_effective_priority(e, a, now), pb = job_effective_priority(e, b, now);
    if (pa != pb) return pa > pb;
    const bool oa = overdue(e, a, now), ob = overdue(e, b, now);
    if (oa != ob) return oa;
    if (!oa && circuit != NULL) {
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

bool device_left(const engine *e, const partition *p) {
    for (unsigned d = 0; d < e->n_devices; d++)
        if (device_may_try(e, &e->devices[d], p)) return true;
    return false;
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

static bool wants_device(const job *j) {
    if (j->end_status != CUZK_OK || j->stage > JOB_STARTED) return false;
    if (j->stage < JOB_STARTED) return true;
    for (unsigned i = 0; i < j->n_partitions; i++)
        if (j->partitions[i].view.state <= ENGINE_PARTITION_READY) return true;
    return false;
}

bool schedule_waits_above(const engine *e, unsigned priority) {
    for (const job *j = e->jobs; j != NULL; j = j->next)
        if ((unsigned)j->record.priority > priority && wants_device(j)) return true;
    return false;
}

/* One device at a time, and never in front of a CRITICAL job. */
bool schedule_reload(engine *e, const device *d, unsigned *priority) {
    unsigned k;
    const unsigned after = e->config.thorough_after;
    if (after == 0 || e->draining || e->stopping || !device_usable(d)) return false;
    if (d->loaded == NULL || d->loaded->evict || d->yield) return false;
    if (!d->may_prepare || d->since_load < after) return false;
    for (unsigned i = 0; i < e->n_devices; i++)
        if (e->devices[i].reloading) return false;
    const job *next = schedule_device(e, d, &k);
    if (next != NULL && next->key != d->loaded) return false;
    *priority = next != NULL ? (unsigned)next->record.priority : ENGINE_PRIORITY_NORMAL;
    return *priority < ENGINE_PRIORITY_CRITICAL && !schedule_waits_above(e, *priority);
}

/* Partitions of running jobs at least as urgent as `priority` that no device has taken yet, from
 * state `from` on: PENDING, or WITNESS for those that hold memory. */
static unsigned partitions_ahead(const engine *e, unsigned priority, engine_partition_state from,
                                 uint64_t now) {
    unsigned n = 0;
    for (const job *j = e->jobs; j != NULL; j = j->next) {
        if (!is_live(j) || job_effective_priority(e, j, now) < priority) continue;
        for (unsigned i = 0; i < j->n_partitions; i++) {
            const engine_partition_state s = j->partitions[i].view.state;
            n += s >= from && s <= ENGINE_PARTITION_READY;
        }
    }
    return n;
}

/* Witnesses worth having ready: what the devices can take at once, and one more for each. */
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

/* May j have one witness more? Its first comes with the bundle; others take free room only, and not
 * while a job at least as urgent (`hungry`) waits for memory. */
static bool witness_fits(const engine *e, const job *j, unsigned hungry, uint64_t now) {
    if (j->witnesses < j->reserved) return true;
    return job_effective_priority(e, j, now) > hungry &&
           e->used + j->witness_bytes <= e->config.memory_budget;
}

static job *best_witness(engine *e, const job *opened, uint64_t now, unsigned *k) {
    const char *circuit = popular_circuit(e);
    const unsigned hungry = opened == NULL ? 0 : job_effective_priority(e, opened, now);
    job *best = NULL;
    for (job *j = e->jobs; j != NULL; j = j->next) {
        if (!is_live(j) || j->key->state != KEY_LOADED) continue;
        if (best != NULL && !job_before(e, j, best, circuit, now)) continue;
        if (!witness_fits(e, j, hungry, now)) continue;
        for (unsigned i = 0; i < j->n_partitions; i++) {
            if (j->partitions[i].view.state != ENGINE_PARTITION_PENDING) continue;
            best = j;
            *k = i;
            break;
        }
    }
    if (best != NULL && partitions_ahead(e, job_effective_priority(e, best, now),
                                         ENGINE_PARTITION_WITNESS, now) >= lookahead(e))
        return NULL;
    return best;
}

static void stop_for_memory(engine *e, job *j, const char *what, uint64_t bytes) {
    char text[256];
    snprintf(text, sizeof text, "memory budget: %s takes %llu bytes; %llu of %llu are in use", what,
             (unsigned long long)bytes, (unsigned long long)e->used,
             (unsigned long long)e->config.memory_budget);
    job_stop(e, j, CUZK_ERR_EXHAUSTED, text);
}

static bool claim_witness(engine *e, job *j) {
    if (j->witnesses == j->reserved) {
        if (!memory_reserve(e, MEMORY_WITNESS, j->witness_bytes)) return false;
        j->reserved++;
    }
    j->witnesses++;
    return true;
}

/* Devices may have been lost while the job was not running. */
static bool every_partition_has_a_device(const engine *e, const job *j) {
    for (unsigned k = 0; k < j->n_partitions; k++)
        if (j->partitions[k].view.state < ENGINE_PARTITION_DONE &&
            !device_left(e, &j->partitions[k]))
            return false;
    return true;
}

static bool others_run(const engine *e, const job *j) {
    for (const job *other = e->jobs; other != NULL; other = other->next)
        if (other != j && other->stage != JOB_WAITING && other->stage != JOB_OPENED) return true;
    return false;
}

static bool reserve_bundle(engine *e, const job *j, uint64_t key_bytes) {
    if (!memory_reserve(e, MEMORY_WITNESS, j->witness_bytes)) return false;
    if (memory_reserve(e, MEMORY_KEY, key_bytes)) return true;
    memory_release(e, MEMORY_WITNESS, j->witness_bytes);
    return false;
}

/* Reserve a bundle for an opened job: its key, unless that is there, and one witness. When nothing
 * runs that could give memory back, a job that does not fit never will: it fails with the figures.
 */
static void start_job(engine *e, job *j) {
    key *k = key_get(e, j->circuit);
    uint64_t key_bytes = 0;
    cuzk_error err = {0};
    if (k == NULL) {
        job_stop(e, j, CUZK_ERR_NO_MEMORY, "no memory for a key");
        return;
    }
    if (!every_partition_has_a_device(e, j)) {
        job_stop(e, j, CUZK_ERR_DEVICE, "every device is quarantined");
        return;
    }
    if (k->state == KEY_ABSENT &&
        e->config.work->key_size(e->config.work_self, j->circuit, &key_bytes, &err) != CUZK_OK) {
        job_stop(e, j, err.status, err.text);
        return;
    }
    k->evict = false;
    k->job_refs++; /* so that making room does not evict it */
    bool fits = reserve_bundle(e, j, key_bytes);
    if (!fits) {
        memory_make_room(e, j, false);
        fits = reserve_bundle(e, j, key_bytes);
    }
    if (!fits) {
        k->job_refs--;
        if (!others_run(e, j) && !memory_may_come(e))
            stop_for_memory(e, j, "key and witness", key_bytes + j->witness_bytes);
        return;
    }
    if (k->state == KEY_ABSENT) {
        k->bytes = key_bytes;
        k->wanted = true;
        k->state = KEY_LOADING;
    }
    j->reserved = 1;
    j->key = k;
    j->stage = JOB_STARTED;
    pthread_cond_broadcast(&e->work);
}

/* Start what is opened, best first; the job that has to wait for memory, or NULL. */
static job *start_opened(engine *e, uint64_t now) {
    job *j;
    while ((j = best_in_stage(e, JOB_OPENED, now)) != NULL) {
        start_job(e, j);
        if (j->stage == JOB_OPENED) break;
    }
    return j;
}

/* A decoded body is smaller than the body: bincode is raw bytes, JSON far larger. */
static uint64_t open_estimate(const job *j) {
    return j->record.body_bytes + (1u << 20);
}

/* The next job to decode. Few are decoded ahead, so that memory stays free for urgent ones: enough
 * partitions to keep the devices busy and to choose between circuits. */
static job *best_waiting(engine *e, const job *opened, uint64_t now) {
    job *j = best_in_stage(e, JOB_WAITING, now);
    if (j == NULL) return NULL;
    const unsigned priority = job_effective_priority(e, j, now);
    if (opened != NULL && job_effective_priority(e, opened, now) >= priority) return NULL;
    unsigned opening = 0;
    for (const job *other = e->jobs; other != NULL; other = other->next) {
        if (other->alone && other->stage != JOB_WAITING) return NULL;
        opening += other->stage == JOB_OPENING;
    }
    if (j->alone && (others_run(e, j) || opened != NULL)) return NULL;
    const unsigned ahead = partitions_ahead(e, priority, ENGINE_PARTITION_PENDING, now);
    return ahead + opening < 2 * lookahead(e) ? j : NULL;
}

static bool claim_open(engine *e, job *j) {
    const uint64_t bytes = open_estimate(j);
    if (!memory_reserve(e, MEMORY_JOB, bytes)) {
        if (!others_run(e, j) && !memory_may_come(e)) stop_for_memory(e, j, "the request", bytes);
        return false;
    }
    j->data_bytes = bytes;
    j->stage = JOB_OPENING;
    return true;
}

task schedule_worker(engine *e) {
    const uint64_t now = engine_now(e);
    const task none = {.type = TASK_NONE};
    if (e->draining || e->stopping) return none;
    const job *opened = start_opened(e, now);
    for (key *k = e->keys; k != NULL; k = k->next) {
        if (k->state != KEY_LOADING || !k->wanted) continue;
        k->wanted = false; /* claimed */
        return (task){.type = TASK_LOAD_KEY, .key = k};
    }
    unsigned k = 0;
    job *w = best_witness(e, opened, now, &k);
    job *waiting = best_waiting(e, opened, now);
    if (waiting != NULL &&
        (w == NULL ||
         job_effective_priority(e, waiting, now) > job_effective_priority(e, w, now)) &&
        claim_open(e, waiting))
        return (task){.type = TASK_OPEN, .job = waiting};
    if (w != NULL && claim_witness(e, w)) return (task){.type = TASK_WITNESS, .job = w, .k = k};
    return none;
}

unsigned queue_position(const engine *e, const job *j) {
    const uint64_t now = engine_now(e);
    unsigned n = 0;
    for (const job *other = e->jobs; other != NULL; other = other->next)
        if (other != j && other->stage < JOB_STARTED && job_before(e, other, j, NULL, now)) n++;
    return n;
}
