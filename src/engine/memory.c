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

/* The idle key that was used longest ago, if any may go. */
static key *oldest_idle(engine *e, uint64_t min_idle) {
    const uint64_t now = engine_now(e);
    key *oldest = NULL;
    for (key *k = e->keys; k != NULL; k = k->next) {
        if (k->state != KEY_LOADED || k->job_refs > 0 || k->evict) continue;
        if (now - k->last_used < min_idle) continue;
        if (oldest == NULL || k->last_used < oldest->last_used) oldest = k;
    }
    return oldest;
}

bool memory_reserve(engine *e, memory_use use, uint64_t bytes) {
    if (bytes > e->config.memory_budget) return false;
    while (e->used + bytes > e->config.memory_budget) {
        key *k = oldest_idle(e, use == MEMORY_BODY ? e->config.eviction_min_idle_ms : 0);
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
