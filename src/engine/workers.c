/* Worker threads: decode bodies, load keys, generate witnesses. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "engine/engine_internal.h"

/* ---- opening a job ---- */

typedef struct opened {
    engine_job_data *data;
    char circuit[32];
    unsigned partitions;
    uint64_t job_bytes, witness_bytes;
    partition *list;
    unsigned n_done;
    cuzk_error error;
} opened;

static void take_partition(void *arg, unsigned k, const uint8_t proof[192], const char *name) {
    opened *o = arg;
    if (k >= o->partitions || o->list[k].view.state == ENGINE_PARTITION_DONE) return;
    memcpy(o->list[k].proof, proof, GROTH16_PROOF_BYTES);
    snprintf(o->list[k].device, sizeof o->list[k].device, "%s", name);
    o->list[k].view.state = ENGINE_PARTITION_DONE;
    o->n_done++;
}

static cuzk_status open_body(engine *e, const char *job_id, opened *o) {
    char path[700];
    file_map map;
    const engine_work_ops *work = e->config.work;
    void *self = e->config.work_self;
    /* Counted before anything of the job is touched: a body that kills the engine is found out. */
    CUZK_TRY(journal_started(e->journal, job_id, &o->error));
    journal_body_path(e->journal, job_id, path, sizeof path);
    cuzk_error io; /* names the file, which is nobody's business */
    const cuzk_status mapped = file_map_open(path, &map, &io);
    if (mapped != CUZK_OK) return cuzk_fail(&o->error, mapped, "the stored request cannot be read");
    cuzk_status status = work->open(self, e->host, map.data, map.bytes, &o->data, &o->error);
    file_map_close(&map);
    CUZK_TRY(status);
    work->describe(self, o->data, o->circuit, &o->partitions, &o->job_bytes, &o->witness_bytes);
    if (o->partitions == 0)
        return cuzk_fail(&o->error, CUZK_ERR_FORMAT, "the request has no partition");
    o->list = calloc(o->partitions, sizeof *o->list);
    if (o->list == NULL)
        return cuzk_fail(&o->error, CUZK_ERR_NO_MEMORY, "no memory for %u partitions",
                         o->partitions);
    for (unsigned k = 0; k < o->partitions; k++)
        o->list[k].view.device = -1;
    return journal_partitions(e->journal, job_id, take_partition, o, &o->error);
}

/* The job's data was charged by an estimate; now its size is known. */
static void settle_estimate(engine *e, job *j, uint64_t bytes) {
    if (bytes < j->data_bytes) {
        memory_release(e, MEMORY_JOB, j->data_bytes - bytes);
    } else if (!memory_reserve(e, MEMORY_JOB, bytes - j->data_bytes)) {
        job_stop(e, j, CUZK_ERR_EXHAUSTED, "memory budget: no room for the decoded request");
        return;
    }
    j->data_bytes = bytes;
}

static void open_job(engine *e, job *j) {
    opened o = {0};
    j->record.state = ENGINE_JOB_RUNNING;
    j->started_at = engine_now(e);
    j->record.queue_wait_ms = j->started_at - j->submitted_at;
    j->record.starts++;
    job_event(e, j, -1, ENGINE_EVENT_STARTED, j->record.queue_wait_ms, NULL);
    pthread_mutex_unlock(&e->lock);
    const cuzk_status status = open_body(e, j->record.job_id, &o);
    pthread_mutex_lock(&e->lock);

    j->data = o.data;
    j->partitions = o.list;
    j->n_partitions = o.list != NULL ? o.partitions : 0;
    j->n_done = o.n_done;
    j->stage = JOB_OPENED;
    if (status == CUZK_OK) {
        memcpy(j->circuit, o.circuit, sizeof j->circuit);
        j->witness_bytes = o.witness_bytes;
        settle_estimate(e, j, o.job_bytes);
    } else {
        job_stop(e, j, status, o.error.text);
    }
    job_settle(e, j); /* stopped meanwhile, or all partitions were done before a crash */
}

/* ---- loading a key ---- */

static void load_key(engine *e, key *k) {
    engine_key_data *data = NULL;
    cuzk_error error = {0};
    const uint64_t start = engine_now(e);
    pthread_mutex_unlock(&e->lock);
    const cuzk_status status =
        e->config.work->key_load(e->config.work_self, e->host, k->circuit, &data, &error);
    pthread_mutex_lock(&e->lock);
    k->load_ms = engine_now(e) - start;
    k->last_used = engine_now(e);
    k->error = error;
    k->error.status = status;
    k->loads++;
    const engine_event event = {.type = ENGINE_EVENT_KEY,
                                .at_ms = engine_now(e),
                                .circuit = k->circuit,
                                .text = status == CUZK_OK ? "loaded" : error.text,
                                .partition = -1,
                                .device = -1,
                                .stage_ms = k->load_ms};
    if (e->config.on_event != NULL) e->config.on_event(e->config.event_self, &event);
    if (status == CUZK_OK) {
        k->data = data;
        k->state = KEY_LOADED;
    } else {
        k->state = KEY_ABSENT;
        memory_release(e, MEMORY_KEY, k->bytes);
        k->bytes = 0;
    }
    for (job *j = e->jobs; j != NULL; j = j->next) {
        if (j->key != k) continue;
        j->srs_load_ms = k->load_ms;
        if (status != CUZK_OK) job_stop(e, j, status, error.text);
    }
    pthread_cond_broadcast(&e->work);
    pthread_cond_broadcast(&e->changed);
}

/* ---- a witness ---- */

static void make_witness(engine *e, job *j, unsigned k) {
    partition *p = &j->partitions[k];
    cuzk_error error = {0};
    witness w;
    j->in_flight++;
    partition_enter(e, j, k, ENGINE_PARTITION_WITNESS);
    pthread_mutex_unlock(&e->lock);
    const cuzk_status status =
        e->config.work->witness(e->config.work_self, e->host, j->key->data, j->data, k, &w, &error);
    pthread_mutex_lock(&e->lock);
    j->in_flight--;
    if (status == CUZK_OK) {
        p->w = w;
        p->has_witness = true;
        partition_enter(e, j, k, ENGINE_PARTITION_READY);
        j->record.synthesis_ms += p->view.witness_ms;
        pthread_cond_broadcast(&e->work);
    } else {
        witness_gone(e, j);
        partition_enter(e, j, k, ENGINE_PARTITION_FAILED);
        char text[600];
        snprintf(text, sizeof text, "partition %u synthesis failed: %s", k, error.text);
        job_stop(e, j, status, text);
    }
    job_settle(e, j);
}

void *worker_main(void *engine_pointer) {
    engine *e = engine_pointer;
    pthread_mutex_lock(&e->lock);
    while (!e->stopping) {
        const task t = schedule_worker(e);
        switch (t.type) {
        case TASK_OPEN:
            open_job(e, t.job);
            break;
        case TASK_LOAD_KEY:
            load_key(e, t.key);
            break;
        case TASK_WITNESS:
            make_witness(e, t.job, t.k);
            break;
        case TASK_NONE:
            pthread_cond_wait(&e->work, &e->lock);
            break;
        }
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}
