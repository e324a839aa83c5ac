/* The durable side of the queue: a SQLite database (WAL, synchronous FULL) and one spool file for
 * each request body, under the state folder. What a function here has returned CUZK_OK for survives
 * kill -9 and a power cut. Calls are serialised by a lock of the journal's own. */
#ifndef CUZK_ENGINE_JOURNAL_H
#define CUZK_ENGINE_JOURNAL_H

#include "engine/engine.h"

typedef struct journal journal;

typedef struct journal_job {
    char job_id[256], kind[32];
    uint8_t digest[32]; /* SHA-256 of kind and body: what makes two requests the same */
    engine_priority priority;
    engine_job_state state;
    unsigned starts; /* times the job was running when the engine died */
    uint64_t body_bytes;
    int64_t submitted_unix_ms, ended_unix_ms;
    uint64_t deadline_unix_ms; /* 0: none */
    char error[1024], devices[1024];
    uint64_t queue_wait_ms, srs_load_ms, synthesis_ms, gpu_compute_ms, total_ms;
} journal_job;

/* Creates the folder (0700) and the database, or opens them; another engine's lock on the folder is
 * CUZK_ERR_EXISTS. Leftovers of a crash (bodies without a job) are removed. */
cuzk_status journal_open(const char *state_dir, journal **out, cuzk_error *err);
void journal_close(journal *j);

/* Write the body to its spool file and the job to the database, both on disk when this returns. */
cuzk_status journal_add(journal *j, const journal_job *job, const uint8_t *body, cuzk_error *err);
/* NOT_FOUND when there is no such job. */
cuzk_status journal_find(journal *j, const char *job_id, journal_job *out, cuzk_error *err);
/* Every job, in the order of submission. */
cuzk_status journal_each(journal *j, void (*fn)(void *arg, const journal_job *job), void *arg,
                         cuzk_error *err);
/* The spool file of a job's body. */
void journal_body_path(const journal *j, const char *job_id, char *out, size_t bytes);

/* The job begins to run: starts + 1, so that a crash from here on counts against it. */
cuzk_status journal_started(journal *j, const char *job_id, cuzk_error *err);
/* The job stopped running without a crash (drain): starts - 1. */
cuzk_status journal_paused(journal *j, const char *job_id, cuzk_error *err);
cuzk_status journal_partition(journal *j, const char *job_id, unsigned partition,
                              const uint8_t proof[192], const char *device, cuzk_error *err);
/* Finished partitions of a job: fn for each. */
cuzk_status journal_partitions(journal *j, const char *job_id,
                               void (*fn)(void *arg, unsigned partition, const uint8_t proof[192],
                                          const char *device),
                               void *arg, cuzk_error *err);
/* The job is over: state, texts and times of `job` are stored, the body is removed. proof (may be
 * NULL) replaces the partitions' proofs. */
cuzk_status journal_ended(journal *j, const journal_job *job, const uint8_t *proof,
                          size_t proof_bytes, cuzk_error *err);
/* The stored proof of a completed job: malloc'ed. */
cuzk_status journal_proof(journal *j, const char *job_id, uint8_t **proof, size_t *bytes,
                          cuzk_error *err);
cuzk_status journal_remove(journal *j, const char *job_id, cuzk_error *err);

#endif
