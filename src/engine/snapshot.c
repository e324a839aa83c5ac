/* A consistent copy of everything an operator looks at. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_internal.h"

/* Ended jobs shown: the newest. */
#define RECENT_JOBS 200

static void copy_job(const job *j, engine_job_view *v) {
    memcpy(v->job_id, j->record.job_id, sizeof v->job_id);
    memcpy(v->kind, j->record.kind, sizeof v->kind);
    memcpy(v->circuit, j->circuit, sizeof v->circuit);
    v->priority = j->record.priority;
    v->state = j->stage == JOB_ENDED     ? j->record.state
               : j->stage == JOB_WAITING ? ENGINE_JOB_QUEUED
                                         : ENGINE_JOB_RUNNING;
    v->submitted_at = j->submitted_at;
    v->started_at = j->started_at;
    v->ended_at = j->ended_at;
    v->n_partitions = j->n_partitions;
    v->n_done = j->n_done;
    snprintf(v->error, sizeof v->error, "%.255s", j->record.error);
    if (j->n_partitions == 0) return;
    v->partitions = calloc(j->n_partitions, sizeof *v->partitions);
    if (v->partitions == NULL) {
        v->n_partitions = 0;
        return;
    }
    for (unsigned k = 0; k < j->n_partitions; k++)
        v->partitions[k] = j->partitions[k].view;
}

static void copy_device(const engine *e, const device *d, engine_device_view *v) {
    v->info = d->info;
    v->busy = d->n_begun > 0;
    v->quarantined = d->quarantined;
    v->partition = -1;
    v->busy_since = d->busy_since;
    v->busy_total_ms = d->busy_total + (d->busy_since == 0 ? 0 : engine_now(e) - d->busy_since);
    v->proved = d->proved;
    v->failures = d->failures;
    v->failures_in_row = d->failures_in_row;
    if (d->n_begun == 0 || d->slots[d->order[0]].orphan) return;
    const job *j = d->slots[d->order[0]].job;
    memcpy(v->job_id, j->record.job_id, sizeof v->job_id);
    memcpy(v->kind, j->record.kind, sizeof v->kind);
    v->partition = (int)d->slots[d->order[0]].k;
}

static void copy_key(const engine *e, const key *k, engine_key_view *v) {
    memcpy(v->circuit, k->circuit, sizeof v->circuit);
    v->tier = k->device_refs > 0       ? ENGINE_TIER_DEVICE
              : k->state == KEY_LOADED ? ENGINE_TIER_MAPPED
                                       : ENGINE_TIER_ABSENT;
    v->bytes = k->bytes;
    v->references = k->job_refs;
    v->idle_ms = k->job_refs > 0 ? 0 : engine_now(e) - k->last_used;
    v->loading = k->state == KEY_LOADING;
}

static bool allocate(engine_snapshot *s, size_t jobs, size_t devices, size_t keys) {
    s->jobs = calloc(jobs + 1, sizeof *s->jobs);
    s->devices = calloc(devices + 1, sizeof *s->devices);
    s->keys = calloc(keys + 1, sizeof *s->keys);
    return s->jobs != NULL && s->devices != NULL && s->keys != NULL;
}

static void copy_totals(const engine *e, engine_snapshot *s) {
    s->uptime_ms = engine_now(e);
    s->memory_budget = e->config.memory_budget;
    s->memory_used = e->used;
    s->memory_peak = e->peak;
    s->memory_keys = e->used_keys + e->used_devices;
    s->memory_witnesses = e->used_witnesses + e->used_jobs;
    s->memory_bodies = e->used_bodies;
    s->witness_limit = e->config.witness_threads;
    s->completed = e->completed;
    s->failed = e->failed;
    s->cancelled = e->cancelled;
    s->draining = e->draining;
    for (const job *j = e->jobs; j != NULL; j = j->next)
        for (unsigned k = 0; k < j->n_partitions; k++)
            s->witness_active += j->partitions[k].view.state == ENGINE_PARTITION_WITNESS;
}

cuzk_status engine_snapshot_take(engine *e, engine_snapshot **out, cuzk_error *err) {
    engine_snapshot *s = calloc(1, sizeof *s);
    *out = NULL;
    if (s == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for a snapshot");
    pthread_mutex_lock(&e->lock);
    size_t keys = 0;
    for (const key *k = e->keys; k != NULL; k = k->next)
        keys++;
    const unsigned recent = e->n_ended < RECENT_JOBS ? e->n_ended : RECENT_JOBS;
    const bool ok = allocate(s, e->n_active + recent, e->n_devices, keys);
    if (ok) {
        unsigned skip = e->n_ended - recent;
        copy_totals(e, s);
        for (const job *j = e->ended; j != NULL; j = j->next) {
            if (skip > 0)
                skip--;
            else
                copy_job(j, &s->jobs[s->n_jobs++]);
        }
        for (const job *j = e->jobs; j != NULL; j = j->next)
            copy_job(j, &s->jobs[s->n_jobs++]);
        for (unsigned i = 0; i < e->n_devices; i++)
            copy_device(e, &e->devices[i], &s->devices[s->n_devices++]);
        for (const key *k = e->keys; k != NULL; k = k->next)
            copy_key(e, k, &s->keys[s->n_keys++]);
    }
    pthread_mutex_unlock(&e->lock);
    if (!ok) {
        engine_snapshot_free(s);
        return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for a snapshot");
    }
    *out = s;
    return CUZK_OK;
}

void engine_snapshot_free(engine_snapshot *s) {
    if (s == NULL) return;
    for (size_t i = 0; i < s->n_jobs; i++)
        free(s->jobs[i].partitions);
    free(s->jobs);
    free(s->devices);
    free(s->keys);
    free(s);
}
