/* Jobs and partitions: lookup, state changes, and how a job ends. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/engine_internal.h"

static unsigned bucket_of(const char *job_id) {
    uint32_t h = 2166136261u; /* FNV-1a */
    for (; *job_id != 0; job_id++)
        h = (h ^ (uint8_t)*job_id) * 16777619u;
    return h % JOB_BUCKETS;
}

job *job_find(engine *e, const char *job_id) {
    job *j = e->buckets[bucket_of(job_id)];
    while (j != NULL && strcmp(j->record.job_id, job_id) != 0)
        j = j->bucket_next;
    return j;
}

job *job_new(const journal_job *record, uint64_t now) {
    job *j = calloc(1, sizeof *j);
    if (j == NULL) return NULL;
    j->record = *record;
    j->submitted_at = now;
    return j;
}

static void append(job *j, job ***tail, unsigned *count) {
    j->next = NULL;
    **tail = j;
    *tail = &j->next;
    ++*count;
}

static void take_out(job *j, job **first, job ***tail, unsigned *count) {
    job **link = first;
    while (*link != j)
        link = &(*link)->next;
    *link = j->next;
    if (*tail == &j->next) *tail = link;
    --*count;
}

void job_insert(engine *e, job *j) {
    job **bucket = &e->buckets[bucket_of(j->record.job_id)];
    j->bucket_next = *bucket;
    *bucket = j;
    j->seq = e->next_seq++;
    if (j->stage == JOB_ENDED)
        append(j, &e->ended_tail, &e->n_ended);
    else
        append(j, &e->jobs_tail, &e->n_active);
}

void job_retire(engine *e, job *j) {
    take_out(j, &e->jobs, &e->jobs_tail, &e->n_active);
    append(j, &e->ended_tail, &e->n_ended);
}

void job_unlink(engine *e, job *j) {
    job **link = &e->buckets[bucket_of(j->record.job_id)];
    while (*link != j)
        link = &(*link)->bucket_next;
    *link = j->bucket_next;
    if (j->stage == JOB_ENDED)
        take_out(j, &e->ended, &e->ended_tail, &e->n_ended);
    else
        take_out(j, &e->jobs, &e->jobs_tail, &e->n_active);
    free(j->partitions);
    free(j);
}

void job_tell(job *j, const char *format, ...) {
    char *text = j->record.error;
    const size_t cap = sizeof j->record.error, used = strlen(text);
    if (j->story_full || used + 4 >= cap) {
        j->story_full = true;
        return;
    }
    va_list args;
    size_t at = used;
    if (used > 0) at += (size_t)snprintf(text + used, cap - used, "; ");
    va_start(args, format);
    (void)vsnprintf(text + at, cap - at, format, args);
    va_end(args);
}

void job_event(engine *e, const job *j, int k, int type, uint64_t stage_ms, const char *text) {
    if (e->config.on_event == NULL) return;
    engine_event event = {.at_ms = engine_now(e),
                          .job_id = j->record.job_id,
                          .kind = j->record.kind,
                          .circuit = j->circuit,
                          .text = text != NULL ? text : "",
                          .partition = k,
                          .device = -1,
                          .stage_ms = stage_ms,
                          .state = j->record.state};
    event.type = (typeof(event.type))type;
    if (k >= 0) {
        event.stage = j->partitions[k].view.state;
        event.device = j->partitions[k].view.device;
    }
    e->config.on_event(e->config.event_self, &event);
}

void partition_enter(engine *e, job *j, unsigned k, engine_partition_state state) {
    engine_partition_view *v = &j->partitions[k].view;
    const uint64_t now = engine_now(e);
    uint64_t spent = 0;
    switch (state) {
    case ENGINE_PARTITION_WITNESS:
        v->witness_at = now;
        break;
    case ENGINE_PARTITION_READY:
        v->ready_at = now;
        spent = v->witness_ms = now - v->witness_at;
        break;
    case ENGINE_PARTITION_DEVICE:
        v->device_at = now;
        spent = now - v->ready_at;
        break;
    case ENGINE_PARTITION_VERIFY:
        v->verify_at = now;
        spent = v->device_ms = now - v->device_at;
        break;
    case ENGINE_PARTITION_DONE:
        v->done_at = now;
        spent = v->verify_ms = v->verify_at == 0 ? 0 : now - v->verify_at;
        break;
    default:
        break;
    }
    v->state = state;
    job_event(e, j, (int)k, ENGINE_EVENT_STAGE, spent, NULL);
}

void partition_withdrawn(engine *e, job *j, unsigned k) {
    engine_partition_view *v = &j->partitions[k].view;
    v->state = ENGINE_PARTITION_READY;
    v->device = -1;
    v->device_at = 0;
    v->ready_at = engine_now(e); /* what follows is its time in the queue; no stage has ended */
    pthread_cond_broadcast(&e->work);
}

void partition_drop_witness(engine *e, job *j, unsigned k) {
    partition *p = &j->partitions[k];
    if (!p->has_witness) return;
    p->has_witness = false;
    e->config.work->witness_drop(e->config.work_self, e->host, &p->w);
    witness_gone(e, j);
}

void witness_gone(engine *e, job *j) {
    if (--j->witnesses == 0 || j->reserved <= 1) return; /* the bundle keeps its one */
    j->reserved--;
    memory_release(e, MEMORY_WITNESS, j->witness_bytes);
}

static void give_bundle_back(engine *e, job *j) {
    for (unsigned k = 0; k < j->n_partitions; k++)
        partition_drop_witness(e, j, k);
    memory_release(e, MEMORY_WITNESS, j->reserved * j->witness_bytes);
    j->reserved = j->witnesses = 0;
    if (j->key == NULL) return;
    j->key->job_refs--;
    j->key->last_used = engine_now(e);
    j->key = NULL;
}

void job_step_back(engine *e, job *j) {
    give_bundle_back(e, j);
    for (unsigned k = 0; k < j->n_partitions; k++)
        if (j->partitions[k].view.state == ENGINE_PARTITION_READY)
            partition_enter(e, j, k, ENGINE_PARTITION_PENDING);
    j->stage = JOB_OPENED;
}

void job_release(engine *e, job *j) {
    give_bundle_back(e, j);
    if (j->data != NULL) {
        e->config.work->close(e->config.work_self, e->host, j->data);
        j->data = NULL;
    }
    if (j->data_bytes > 0) {
        memory_release(e, MEMORY_JOB, j->data_bytes);
        j->data_bytes = 0;
    }
}

void job_settle(engine *e, job *j) {
    if (j->stage == JOB_ENDING || j->stage == JOB_ENDED || j->stage == JOB_OPENING) return;
    if (j->in_flight > 0) return;
    const bool complete = j->n_partitions > 0 && j->n_done == j->n_partitions;
    if (j->end_status == CUZK_OK && !complete) {
        /* The bundle's witness is on a hung device: the job has to find room for another. */
        if (j->stage == JOB_STARTED && j->reserved == 0) job_step_back(e, j);
        return;
    }
    j->stage = JOB_ENDING;
    pthread_cond_signal(&e->finish);
}

void job_stop(engine *e, job *j, cuzk_status status, const char *text) {
    if (j->end_status != CUZK_OK || j->stage == JOB_ENDING || j->stage == JOB_ENDED) return;
    j->end_status = status;
    if (text != NULL) job_tell(j, "%s", text);
    job_settle(e, j);
}

void partition_failed(engine *e, job *j, unsigned k, device *d, cuzk_status status,
                      const char *text) {
    partition *p = &j->partitions[k];
    char line[512];
    snprintf(line, sizeof line, "partition %u on %s: %s: %s", k, d->info.name,
             cuzk_status_name(status), text);
    p->view.attempts++;
    p->tried |= (uint64_t)1 << d->index;
    job_tell(j, "%s", line);
    bool left = device_left(e, p), others = false;
    for (unsigned i = 0; i < e->n_devices; i++)
        others |= i != d->index && device_usable(&e->devices[i]) &&
                  (!e->devices[i].fallback || e->config.on_failure == ENGINE_ON_FAILURE_CPU);
    /* Where there is only this device, it gets a second chance. */
    if (!left && !others && device_usable(d) && p->view.attempts < 2) {
        p->tried = 0;
        left = true;
    }
    if (!left) {
        partition_enter(e, j, k, ENGINE_PARTITION_FAILED);
        job_stop(e, j, status, "no device is left to try");
        return;
    }
    partition_enter(e, j, k, p->has_witness ? ENGINE_PARTITION_READY : ENGINE_PARTITION_PENDING);
    job_event(e, j, (int)k, ENGINE_EVENT_RETRY, 0, line);
    pthread_cond_broadcast(&e->work);
}
