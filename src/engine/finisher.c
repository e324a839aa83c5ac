/* The finisher: assembles and verifies partitions, stores them, and ends jobs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine/engine_internal.h"

/* ---- partitions ---- */

static job *next_to_verify(engine *e, unsigned *k) {
    const uint64_t now = engine_now(e);
    job *best = NULL;
    for (job *j = e->jobs; j != NULL; j = j->next) {
        if (j->stage != JOB_STARTED) continue;
        if (best != NULL && !job_before(e, j, best, NULL, now)) continue;
        for (unsigned i = 0; i < j->n_partitions; i++) {
            if (j->partitions[i].view.state != ENGINE_PARTITION_VERIFY) continue;
            best = j;
            *k = i;
            break;
        }
    }
    return best;
}

/* Sums that do not verify are the device's fault or the job's: which, shows when another
 * computation of the partition succeeds. */
static bool bad_sums(cuzk_status status) {
    return status == CUZK_ERR_INVALID_PROOF || status == CUZK_ERR_NOT_ON_CURVE ||
           status == CUZK_ERR_NOT_IN_GROUP || status == CUZK_ERR_INFINITY;
}

static void blame_suspects(engine *e, const partition *p) {
    for (unsigned i = 0; i < e->n_devices; i++)
        if ((p->suspects >> i & 1) != 0)
            device_failed(e, &e->devices[i], CUZK_ERR_INVALID_PROOF,
                          "wrong sums, shown by another computation");
}

static void verify_partition(engine *e, job *j, unsigned k) {
    partition *p = &j->partitions[k];
    device *d = &e->devices[p->view.device];
    cuzk_error error = {0};
    const bool last = j->n_done + 1 == j->n_partitions;
    pthread_mutex_unlock(&e->lock);
    cuzk_status status = e->config.work->finish(e->config.work_self, e->host, j->key->data, j->data,
                                                k, &p->sums, p->proof, &error);
    /* The last partition is stored with the end of the job, at once after this. */
    if (status == CUZK_OK && !last)
        status = journal_partition(e->journal, j->record.job_id, k, p->proof, p->device, &error);
    if (status == CUZK_OK) {
        p->has_witness = false;
        e->config.work->witness_drop(e->config.work_self, e->host, &p->w);
    }
    pthread_mutex_lock(&e->lock);
    j->in_flight--;
    if (status == CUZK_OK) {
        witness_gone(e, j);
        blame_suspects(e, p);
        d->proved++;
        d->failures_in_row = 0;
        j->n_done++;
        partition_enter(e, j, k, ENGINE_PARTITION_DONE);
    } else if (bad_sums(status)) {
        p->suspects |= (uint64_t)1 << d->index;
        partition_failed(e, j, k, d, status, error.text);
    } else { /* not the device: the job's data, memory, or the proof cannot be stored */
        char text[600];
        snprintf(text, sizeof text, "partition %u: %s", k, error.text);
        job_stop(e, j, status, text);
    }
    job_settle(e, j);
}

/* ---- jobs ---- */

static engine_job_state end_state(const job *j) {
    if (j->end_status == CUZK_OK) return ENGINE_JOB_COMPLETED;
    return j->end_status == CUZK_ERR_CANCELLED ? ENGINE_JOB_CANCELLED : ENGINE_JOB_FAILED;
}

/* "0: NVIDIA H200, 1: CPU (16 threads)", or one name when all are the same. */
static void list_devices(const job *j, char *out, size_t bytes) {
    bool same = true;
    for (unsigned k = 1; k < j->n_partitions; k++)
        same &= strcmp(j->partitions[k].device, j->partitions[0].device) == 0;
    size_t at = 0;
    out[0] = 0;
    if (j->n_partitions > 0 && same) {
        snprintf(out, bytes, "%s", j->partitions[0].device);
        return;
    }
    for (unsigned k = 0; k < j->n_partitions && at + 2 < bytes; k++)
        at += (size_t)snprintf(out + at, bytes - at, "%s%u: %s", k == 0 ? "" : ", ", k,
                               j->partitions[k].device);
}

/* The proof of a complete job, verified as a whole once more; NULL when it cannot be had. */
static uint8_t *whole_proof(engine *e, job *j, cuzk_error *error) {
    const size_t bytes = (size_t)j->n_partitions * GROTH16_PROOF_BYTES;
    uint8_t *proof = malloc(bytes);
    if (proof == NULL) {
        (void)cuzk_fail(error, CUZK_ERR_NO_MEMORY, "no memory for the proof");
        return NULL;
    }
    for (unsigned k = 0; k < j->n_partitions; k++)
        memcpy(proof + (size_t)k * GROTH16_PROOF_BYTES, j->partitions[k].proof,
               GROTH16_PROOF_BYTES);
    /* A job whose last partition was stored just before a crash has no key loaded: its partitions
     * were each verified before they were stored. */
    if (j->key == NULL || e->config.work->verify_all(e->config.work_self, e->host, j->key->data,
                                                     j->data, proof, bytes, error) == CUZK_OK)
        return proof;
    free(proof);
    return NULL;
}

static int64_t unix_ms(void) {
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Tell whoever waits; callbacks run without the lock. */
static void notify(engine *e, const char *job_id) {
    engine_watch *due = NULL;
    for (engine_watch **link = &e->watches; *link != NULL;) {
        engine_watch *w = *link;
        if (strcmp(w->job_id, job_id) != 0) {
            link = &w->next;
            continue;
        }
        *link = w->next;
        w->next = due;
        due = w;
    }
    pthread_cond_broadcast(&e->changed);
    pthread_mutex_unlock(&e->lock);
    while (due != NULL) {
        engine_watch *w = due;
        due = w->next;
        w->done(w->arg);
        free(w);
    }
    pthread_mutex_lock(&e->lock);
}

/* Wiping witnesses takes time (4 GiB for a large PoSt), and the job is claimed: without the lock.
 * The charges go back in job_release. */
static void free_job_data(engine *e, job *j) {
    for (unsigned k = 0; k < j->n_partitions; k++) {
        partition *p = &j->partitions[k];
        if (p->has_witness) e->config.work->witness_drop(e->config.work_self, e->host, &p->w);
        p->has_witness = false;
    }
    if (j->data != NULL) e->config.work->close(e->config.work_self, e->host, j->data);
    j->data = NULL;
}

static void end_job(engine *e, job *j) {
    cuzk_error error = {0};
    journal_job record = j->record;
    uint8_t *proof = NULL;
    record.state = end_state(j);
    record.ended_unix_ms = unix_ms();
    record.srs_load_ms = j->srs_load_ms;
    record.total_ms = engine_now(e) - j->submitted_at;
    list_devices(j, record.devices, sizeof record.devices);
    pthread_mutex_unlock(&e->lock);
    if (record.state == ENGINE_JOB_COMPLETED) {
        proof = whole_proof(e, j, &error);
        if (proof == NULL) {
            record.state = ENGINE_JOB_FAILED;
            snprintf(record.error, sizeof record.error, "the whole proof: %.900s", error.text);
        }
    }
    const size_t bytes = (size_t)j->n_partitions * GROTH16_PROOF_BYTES;
    const cuzk_status stored =
        journal_ended(e->journal, &record, proof, proof == NULL ? 0 : bytes, &error);
    free(proof);
    free_job_data(e, j);
    pthread_mutex_lock(&e->lock);
    if (stored != CUZK_OK) {
        /* Not on disk: after a restart it will be done again, but now it must not look done. */
        record.state = ENGINE_JOB_FAILED;
        snprintf(record.error, sizeof record.error, "result could not be stored: %.900s",
                 error.text);
    }
    job_release(e, j);
    j->record = record;
    j->ended_at = engine_now(e);
    j->stage = JOB_ENDED;
    job_retire(e, j);
    if (record.state == ENGINE_JOB_COMPLETED) e->completed++;
    if (record.state == ENGINE_JOB_FAILED) e->failed++;
    if (record.state == ENGINE_JOB_CANCELLED) e->cancelled++;
    job_event(e, j, -1, ENGINE_EVENT_ENDED, record.total_ms, record.error);
    pthread_cond_broadcast(&e->work); /* a job that waited for this one's memory may fit now */
    notify(e, record.job_id);
}

void *finisher_main(void *engine_pointer) {
    engine *e = engine_pointer;
    pthread_mutex_lock(&e->lock);
    for (;;) {
        unsigned k = 0;
        job *j = e->jobs;
        while (j != NULL && j->stage != JOB_ENDING)
            j = j->next;
        if (j != NULL) { /* first: somebody waits for it, and memory comes back */
            end_job(e, j);
            continue;
        }
        j = next_to_verify(e, &k);
        if (j != NULL) {
            /* VERIFY is claimed by being the only finisher; in_flight keeps the job. */
            verify_partition(e, j, k);
            continue;
        }
        if (e->finishing) break;
        pthread_cond_wait(&e->finish, &e->lock);
    }
    pthread_mutex_unlock(&e->lock);
    return NULL;
}
