/* The byte budget and the keys that it may evict. */
#include <stdlib.h>
#include <string.h>

#include "engine/engine_internal.h"

static uint64_t *counter(engine *e, memory_use use) {
    switch (use) {
    case MEMORY_KEY:
        return &e->used_keys;
    case MEMORY_WITNESS:
        return &e->used_witnesses;
    case MEMORY_BODY:
        return &e->used_bodies;
    case MEMORY_DEVICE:
        return &e->used_devices;
    default:
        return &e->used_jobs;
    }
}

key *key_find(engine *e, const char *circuit) {
    for (key *k = e->keys; k != NULL; k = k->next)
        if (strcmp(k->circuit, circuit) == 0) return k;
    return NULL;
}

key *key_get(engine *e, const char *circuit) {
    key *k = key_find(e, circuit);
    if (k != NULL) return k;
    k = calloc(1, sizeof *k);
    if (k == NULL) return NULL;
    strncpy(k->circuit, circuit, sizeof k->circuit - 1);
    k->next = e->keys;
    e->keys = k;
    return k;
}

void key_drop(engine *e, key *k) {
    const uint64_t bytes = k->bytes;
    e->config.work->key_free(e->config.work_self, e->host, k->data);
    k->data = NULL;
    k->state = KEY_ABSENT;
    k->evict = false;
    k->bytes = 0;
    memory_release(e, MEMORY_KEY, bytes);
    const engine_event event = {.type = ENGINE_EVENT_KEY,
                                .at_ms = engine_now(e),
                                .circuit = k->circuit,
                                .text = "evicted",
                                .partition = -1,
                                .device = -1};
    if (e->config.on_event != NULL) e->config.on_event(e->config.event_self, &event);
}

/* A hung device never lets go of its key. */
static bool on_hung_device(const engine *e, const key *k) {
    for (unsigned i = 0; i < e->n_devices; i++)
        if (e->devices[i].hung && e->devices[i].holds == k) return true;
    return false;
}

static bool may_go(const engine *e, const key *k, uint64_t min_idle, uint64_t now) {
    return k->state == KEY_LOADED && k->job_refs == 0 && now - k->last_used >= min_idle &&
           !on_hung_device(e, k);
}

/* What evicting every idle key would give, with what devices hold beside it. */
static uint64_t evictable(const engine *e, uint64_t min_idle, uint64_t now) {
    uint64_t bytes = 0;
    for (const key *k = e->keys; k != NULL; k = k->next) {
        if (!may_go(e, k, min_idle, now)) continue;
        bytes += k->bytes;
        for (unsigned i = 0; i < e->n_devices; i++)
            if (e->devices[i].holds == k) bytes += e->devices[i].host_bytes;
    }
    return bytes;
}

/* The idle key that was used longest ago and is not already on its way out. */
static key *oldest_idle(const engine *e, uint64_t min_idle, uint64_t now) {
    key *oldest = NULL;
    for (key *k = e->keys; k != NULL; k = k->next)
        if (may_go(e, k, min_idle, now) && !k->evict &&
            (oldest == NULL || k->last_used < oldest->last_used))
            oldest = k;
    return oldest;
}

bool memory_eviction_pending(const engine *e) {
    for (const key *k = e->keys; k != NULL; k = k->next)
        if (k->evict && may_go(e, k, 0, engine_now(e))) return true;
    return false;
}

bool memory_may_come(const engine *e) {
    for (const job *j = e->jobs; j != NULL; j = j->next)
        if (j->in_flight > 0 || j->stage == JOB_OPENING || j->stage == JOB_ENDING) return true;
    for (const key *k = e->keys; k != NULL; k = k->next)
        if (k->state == KEY_LOADING) return true;
    for (unsigned i = 0; i < e->n_devices; i++) /* unloading, or loading for a job that ended */
        if (!e->devices[i].hung && (e->devices[i].call_since != 0 || e->devices[i].yield))
            return true;
    return e->used_bodies > 0 || memory_eviction_pending(e);
}

void memory_make_room(engine *e, job *j, bool all) {
    const uint64_t now = engine_now(e);
    const unsigned priority = job_effective_priority(e, j, now);
    for (unsigned i = 0; all && i < e->n_devices; i++) {
        device *d = &e->devices[i];
        d->yield = d->loaded != NULL && !d->hung;
        if (d->yield) pthread_cond_broadcast(&e->work);
    }
    for (job *other = e->jobs; other != NULL; other = other->next) {
        if (other->stage != JOB_STARTED || other->end_status != CUZK_OK) continue;
        if (other != j && !all && job_effective_priority(e, other, now) >= priority) continue;
        if (other != j && other->in_flight == 0) {
            job_step_back(e, other);
            continue;
        }
        for (unsigned k = other->n_partitions; k-- > 0 && other->witnesses > 1;) {
            if (other->partitions[k].view.state != ENGINE_PARTITION_READY) continue;
            partition_drop_witness(e, other, k);
            partition_enter(e, other, k, ENGINE_PARTITION_PENDING);
        }
    }
}

bool memory_reserve(engine *e, memory_use use, uint64_t bytes) {
    const uint64_t budget = e->config.memory_budget, now = engine_now(e);
    const uint64_t min_idle = use == MEMORY_BODY ? e->config.eviction_min_idle_ms : 0;
    if (bytes > budget) return false;
    if (e->used + bytes > budget && e->used + bytes > budget + evictable(e, min_idle, now))
        return false; /* nothing is evicted in vain */
    while (e->used + bytes > budget) {
        key *k = oldest_idle(e, min_idle, now);
        if (k == NULL) return false;
        if (k->device_refs > 0) {
            /* its devices let go of it when they are idle, and then wake whoever waits */
            k->evict = true;
            pthread_cond_broadcast(&e->work);
            continue;
        }
        key_drop(e, k);
    }
    e->used += bytes;
    *counter(e, use) += bytes;
    if (e->used > e->peak) e->peak = e->used;
    return true;
}

void memory_release(engine *e, memory_use use, uint64_t bytes) {
    e->used -= bytes;
    *counter(e, use) -= bytes;
    pthread_cond_broadcast(&e->work);
}
