/* One thread owns each device and makes every call to its executor. */
#include <stdio.h>
#include <string.h>

#include "engine/engine_internal.h"

void device_failed(engine *e, device *d, cuzk_status status, const char *text) {
    d->failures++;
    d->failures_in_row++;
    if (status == CUZK_ERR_DEVICE_LOST && d->failures_in_row < e->config.device_failures)
        d->failures_in_row = e->config.device_failures; /* nothing will succeed on it any more */
    if (d->quarantined || d->failures_in_row < e->config.device_failures) return;
    d->quarantined = true;
    const engine_event event = {.type = ENGINE_EVENT_DEVICE,
                                .at_ms = engine_now(e),
                                .text = text,
                                .partition = -1,
                                .device = (int)d->index};
    if (e->config.on_event != NULL) e->config.on_event(e->config.event_self, &event);
    /* Partitions that were waiting for this device may now go to the fallback, or nowhere. */
    for (job *j = e->jobs; j != NULL; j = j->next) {
        if (j->stage != JOB_STARTED || j->end_status != CUZK_OK) continue;
        for (unsigned k = 0; k < j->n_partitions && j->end_status == CUZK_OK; k++) {
            partition *p = &j->partitions[k];
            if (p->view.state > ENGINE_PARTITION_READY) continue;
            if (!device_left(e, p)) job_stop(e, j, CUZK_ERR_DEVICE, "every device is quarantined");
        }
    }
    pthread_cond_broadcast(&e->work);
}

/* Calls to the executor are made without the lock, between these two. */
static void call_begin(device *d) {
    d->call_since = engine_now(d->e);
    pthread_mutex_unlock(&d->e->lock);
}
static void call_end(device *d) {
    pthread_mutex_lock(&d->e->lock);
    d->call_since = 0;
}

static void hold(device *d, key *k) {
    d->holds = k;
    k->device_refs++;
}

static void release_hold(device *d) {
    engine *e = d->e;
    key *k = d->holds;
    d->loaded = d->holds = NULL;
    d->yield = false;
    k->device_refs--;
    if (k->evict && k->device_refs == 0 && k->job_refs == 0 && k->state == KEY_LOADED)
        key_drop(e, k);
}

static void let_go_of_key(device *d) {
    engine *e = d->e;
    if (d->loaded != NULL) {
        call_begin(d);
        d->ex->ops->unload(d->ex);
        call_end(d);
    }
    memory_release(e, MEMORY_DEVICE, d->host_bytes);
    d->host_bytes = 0;
    release_hold(d);
    pthread_cond_broadcast(&e->changed);
}

/* Reserve what the executor allocates on the host for the key of j. Where nothing moves for want of
 * memory the other jobs step back; a job that does not fit alone ends. */
static bool reserve_host(device *d, job *j, uint64_t bytes) {
    engine *e = d->e;
    if (memory_reserve(e, MEMORY_DEVICE, bytes)) return true;
    if (memory_may_come(e)) return false;
    memory_make_room(e, j, true);
    if (memory_reserve(e, MEMORY_DEVICE, bytes)) return true;
    if (memory_may_come(e)) return false;
    char text[256];
    snprintf(text, sizeof text,
             "memory budget: proving %s on %s takes %llu bytes of host memory; %llu of %llu are in "
             "use",
             j->circuit, d->info.name, (unsigned long long)bytes, (unsigned long long)e->used,
             (unsigned long long)e->config.memory_budget);
    job_stop(e, j, CUZK_ERR_EXHAUSTED, text);
    return false;
}

/* Partitions that wait for a key which this device cannot load go elsewhere. */
static void key_failed(device *d, key *k, cuzk_status status, const char *text) {
    engine *e = d->e;
    for (job *j = e->jobs; j != NULL; j = j->next) {
        if (j->stage != JOB_STARTED || j->key != k) continue;
        for (unsigned i = 0; i < j->n_partitions && j->end_status == CUZK_OK; i++) {
            partition *p = &j->partitions[i];
            if (p->view.state == ENGINE_PARTITION_READY && device_may_try(e, d, p))
                partition_failed(e, j, i, d, status, text);
        }
    }
}

/* A thorough load prepares more only where its plan takes more of the device's memory; what it
 * takes on the host has been reserved. */
static bool thorough_is_more(const device *d, const executor_key *ek, uint64_t device_bytes,
                             uint64_t host_bytes) {
    executor_key thorough = *ek;
    uint64_t device_more = 0, host_more = 0;
    thorough.effort = EXECUTOR_THOROUGH;
    return d->ex->ops->plan(d->ex, &thorough, &device_more, &host_more, NULL) == CUZK_OK &&
           device_more > device_bytes && host_more <= host_bytes;
}

/* Make key k current. False: not now, for want of memory. The lock is opened on the way, so that
 * the caller has to choose again; no job is claimed meanwhile, the key is by `holds`. */
static bool load_key_on(device *d, key *k) {
    engine *e = d->e;
    uint64_t device_bytes = 0, host_bytes = 0;
    cuzk_error error = {0};
    unsigned i;
    executor_key ek = e->config.work->key_for_executor(e->config.work_self, k->data);
    ek.effort = EXECUTOR_NORMAL;
    hold(d, k);
    call_begin(d);
    cuzk_status status = d->ex->ops->plan(d->ex, &ek, &device_bytes, &host_bytes, &error);
    const bool planned = status == CUZK_OK;
    const bool more = planned && thorough_is_more(d, &ek, device_bytes, host_bytes);
    call_end(d);
    if (planned) {
        job *j = d->hung ? NULL : schedule_device(e, d, &i);
        const bool wanted = j != NULL && j->key == k;
        if (!wanted || !reserve_host(d, j, host_bytes)) {
            release_hold(d); /* quietly: this is tried again whenever memory comes */
            return !wanted;
        }
        d->host_bytes = host_bytes;
        call_begin(d);
        status = d->ex->ops->load(d->ex, &ek, &error);
        call_end(d);
    }
    if (status == CUZK_OK) {
        d->loaded = k;
        d->may_prepare = more;
        d->since_load = 0;
        d->ex->ops->info(d->ex, &d->info);
        return true;
    }
    let_go_of_key(d);
    if (d->hung) return false;
    key_failed(d, k, status, error.text);
    /* A circuit too large for the device is no fault of the device. */
    if (planned) device_failed(e, d, status, error.text);
    return true;
}

/* Asked by the executor while it loads, without the lock. */
static bool reload_in_vain(void *device_pointer) {
    device *d = device_pointer;
    engine *e = d->e;
    pthread_mutex_lock(&e->lock);
    const bool vain = e->stopping || e->draining || d->hung || d->yield || d->holds->evict ||
                      schedule_waits_above(e, d->reload_priority);
    pthread_mutex_unlock(&e->lock);
    return vain;
}

static void tell_prepared(const device *d, const char *circuit, uint64_t ms) {
    engine *e = d->e;
    const engine_event event = {.type = ENGINE_EVENT_KEY,
                                .at_ms = engine_now(e),
                                .circuit = circuit,
                                .text = "prepared for many proofs",
                                .partition = -1,
                                .device = (int)d->index,
                                .stage_ms = ms};
    if (e->config.on_event != NULL) e->config.on_event(e->config.event_self, &event);
}

/* Load the key again, with all that pays in the long run. More urgent work ends it; the key is then
 * loaded as it was when its turn comes. */
static void reload_thoroughly(device *d, unsigned priority) {
    engine *e = d->e;
    cuzk_error error = {0};
    executor_key ek = e->config.work->key_for_executor(e->config.work_self, d->loaded->data);
    ek.effort = EXECUTOR_THOROUGH;
    ek.give_up = reload_in_vain;
    ek.give_up_self = d;
    d->reloading = true;
    d->reload_priority = priority;
    const uint64_t start = engine_now(e);
    call_begin(d);
    d->ex->ops->unload(d->ex);
    const cuzk_status status = d->ex->ops->load(d->ex, &ek, &error);
    call_end(d);
    d->reloading = d->may_prepare = false;
    pthread_cond_broadcast(&e->work); /* another device may have waited for its turn */
    if (status == CUZK_OK && !d->hung) {
        d->ex->ops->info(d->ex, &d->info);
        tell_prepared(d, d->loaded->circuit, engine_now(e) - start);
        return;
    }
    d->loaded = NULL;
    let_go_of_key(d);
    if (status != CUZK_ERR_CANCELLED && !d->hung) device_failed(e, d, status, error.text);
}

static unsigned free_slot(const device *d) {
    for (unsigned s = 0; s < MAX_SLOTS; s++)
        if (d->slots[s].job == NULL) return s;
    return 0;
}

static void slot_over(device *d, unsigned slot) {
    d->slots[slot].job = NULL;
    if (d->n_begun > 0) return;
    d->busy_total += engine_now(d->e) - d->busy_since;
    d->busy_since = 0;
}

/* The device has come back with a partition that was given away. */
static void drop_orphan(device *d, unsigned slot) {
    engine *e = d->e;
    pthread_mutex_unlock(&e->lock);
    e->config.work->witness_drop(e->config.work_self, e->host, &d->slots[slot].w);
    pthread_mutex_lock(&e->lock);
    memory_release(e, MEMORY_WITNESS, d->slots[slot].orphan_bytes);
    d->slots[slot].orphan = false;
}

void device_hangs(engine *e, device *d, uint64_t silent_ms) {
    char text[160];
    snprintf(text, sizeof text, "no progress for %llu ms", (unsigned long long)silent_ms);
    d->hung = true;
    d->reloading = false;                           /* the others do not wait for it */
    d->failures_in_row = e->config.device_failures; /* quarantined at once */
    for (unsigned i = 0; i < d->n_begun; i++) {
        const unsigned slot = d->order[i];
        job *j = d->slots[slot].job;
        const unsigned k = d->slots[slot].k;
        /* The witness is the device's until it comes back; the partition makes another. */
        d->slots[slot].orphan = true;
        d->slots[slot].orphan_bytes = j->witness_bytes;
        j->witnesses--;
        j->reserved--;
        j->partitions[k].has_witness = false;
        j->in_flight--;
        partition_failed(e, j, k, d, CUZK_ERR_TIMEOUT, text);
        job_settle(e, j);
    }
    device_failed(e, d, CUZK_ERR_TIMEOUT, text);
}

/* Hand a partition to the executor. */
static void begin_partition(device *d, job *j, unsigned k) {
    engine *e = d->e;
    partition *p = &j->partitions[k];
    const unsigned slot = free_slot(d);
    cuzk_error error = {0};
    d->slots[slot].job = j;
    d->slots[slot].k = k;
    d->slots[slot].w = p->w;
    d->slots[slot].orphan = d->slots[slot].started = false;
    d->order[d->n_begun++] = slot;
    if (d->busy_since == 0) d->busy_since = engine_now(e);
    j->in_flight++;
    p->view.device = (int)d->index;
    partition_enter(e, j, k, ENGINE_PARTITION_DEVICE);
    call_begin(d);
    const cuzk_status status = d->ex->ops->begin(d->ex, slot, &d->slots[slot].w, &error);
    call_end(d);
    if (status == CUZK_OK) return;
    d->n_begun--; /* it was the last */
    slot_over(d, slot);
    if (d->slots[slot].orphan) {
        drop_orphan(d, slot);
        return;
    }
    j->in_flight--;
    partition_failed(e, j, k, d, status, error.text);
    device_failed(e, d, status, error.text);
    job_settle(e, j);
}

/* Wait for the oldest partition on the device. */
static void finish_partition(device *d) {
    engine *e = d->e;
    const unsigned slot = d->order[0];
    job *j = d->slots[slot].job;
    const unsigned k = d->slots[slot].k;
    groth16_sums sums;
    executor_timing timing = {0};
    cuzk_error error = {0};
    call_begin(d);
    const cuzk_status status = d->ex->ops->finish(d->ex, slot, &sums, &timing, &error);
    call_end(d);
    d->n_begun--;
    memmove(d->order, d->order + 1, d->n_begun * sizeof d->order[0]);
    slot_over(d, slot);
    if (d->slots[slot].orphan) { /* too late: another device has it */
        drop_orphan(d, slot);
        return;
    }
    partition *p = &j->partitions[k];
    p->view.timing = timing;
    if (status == CUZK_OK) {
        d->since_load++;
        p->sums = sums;
        snprintf(p->device, sizeof p->device, "%s", d->info.name);
        partition_enter(e, j, k, ENGINE_PARTITION_VERIFY);
        j->record.gpu_compute_ms += p->view.device_ms;
        pthread_cond_signal(&e->finish); /* in_flight passes to the finisher */
        return;
    }
    j->in_flight--;
    partition_failed(e, j, k, d, status, error.text);
    device_failed(e, d, status, error.text);
    job_settle(e, j);
}

/* Take back the partition begun last, if it has not started. */
static bool withdraw_last(device *d) {
    engine *e = d->e;
    const unsigned slot = d->order[d->n_begun - 1];
    job *j = d->slots[slot].job;
    const unsigned k = d->slots[slot].k;
    call_begin(d);
    const bool withdrawn = d->ex->ops->withdraw(d->ex, slot);
    call_end(d);
    d->slots[slot].started = !withdrawn;
    if (!withdrawn) return false;
    d->n_begun--;
    slot_over(d, slot);
    if (d->slots[slot].orphan) {
        drop_orphan(d, slot);
        return true;
    }
    j->in_flight--;
    partition_withdrawn(e, j, k);
    job_settle(e, j);
    return true;
}

/* Is the partition begun last one that may give way to work of that priority? */
static bool may_withdraw(const device *d, unsigned priority) {
    if (d->ex->ops->withdraw == NULL || d->n_begun == 0 || !device_usable(d)) return false;
    const unsigned last = d->order[d->n_begun - 1];
    return !d->slots[last].started &&
           job_effective_priority(d->e, d->slots[last].job, engine_now(d->e)) < priority;
}

/* Partitions that are begun but have not started give way to a more urgent job, so that it waits
 * for the running one only. True: the lock was open on the way, so that the caller has to choose
 * again. */
static bool give_way(device *d, const job *urgent) {
    const unsigned priority = job_effective_priority(d->e, urgent, engine_now(d->e));
    if (!may_withdraw(d, priority)) return false;
    while (may_withdraw(d, priority) && withdraw_last(d)) {
    }
    return true;
}

/* Begin as many partitions as there are slots; one key at a time. */
static void fill_slots(device *d) {
    engine *e = d->e;
    while (device_usable(d) && !e->stopping && d->n_begun < d->info.slots &&
           d->n_begun < MAX_SLOTS) {
        unsigned k, priority;
        if (schedule_reload(e, d, &priority)) {
            if (d->n_begun > 0) return; /* the pipeline runs dry first */
            reload_thoroughly(d, priority);
            continue;
        }
        job *j = schedule_device(e, d, &k);
        if (j == NULL) return;
        if (give_way(d, j)) continue;
        if (d->loaded != j->key) {
            /* the lock is opened for this: choose again after it */
            if (d->n_begun > 0) return;
            if (d->holds != NULL)
                let_go_of_key(d);
            else if (!load_key_on(d, j->key))
                return;
            continue;
        }
        begin_partition(d, j, k);
    }
}

void *device_main(void *device_pointer) {
    device *d = device_pointer;
    engine *e = d->e;
    pthread_mutex_lock(&e->lock);
    for (;;) {
        fill_slots(d);
        if (d->n_begun > 0) {
            finish_partition(d);
            continue;
        }
        if (d->holds != NULL && (d->holds->evict || d->yield || !device_usable(d)))
            let_go_of_key(d);
        if (e->stopping) break;
        pthread_cond_wait(&e->work, &e->lock);
    }
    if (d->holds != NULL) let_go_of_key(d);
    d->thread_done = true;
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    return NULL;
}
