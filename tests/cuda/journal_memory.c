/* The engine's journal without SQLite, for benches on machines that have none: bodies are files,
 * all else is memory. Nothing survives the process. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "engine/journal.h"

#define MAX_PARTITIONS 64

typedef struct stored {
    struct stored *next;
    journal_job job;
    struct {
        bool done;
        uint8_t proof[192];
        char device[96];
    } partitions[MAX_PARTITIONS];
    uint8_t *proof;
    size_t proof_bytes;
} stored;

struct journal {
    pthread_mutex_t lock;
    stored *jobs;
    char dir[512];
};

cuzk_status journal_open(const char *state_dir, journal **out, cuzk_error *err) {
    journal *j = calloc(1, sizeof *j);
    if (j == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "journal: no memory");
    snprintf(j->dir, sizeof j->dir, "%s", state_dir);
    if (mkdir(j->dir, 0700) != 0 && errno != EEXIST) {
        free(j);
        return cuzk_fail(err, CUZK_ERR_IO, "state folder %s: %s", state_dir, strerror(errno));
    }
    pthread_mutex_init(&j->lock, NULL);
    *out = j;
    return CUZK_OK;
}

void journal_body_path(const journal *j, const char *job_id, char *out, size_t bytes) {
    snprintf(out, bytes, "%s/%s.body", j->dir, job_id);
}

static void drop_body(const journal *j, const char *job_id) {
    char path[800];
    journal_body_path(j, job_id, path, sizeof path);
    (void)unlink(path);
}

void journal_close(journal *j) {
    if (j == NULL) return;
    for (stored *s = j->jobs, *next; s != NULL; s = next) {
        next = s->next;
        drop_body(j, s->job.job_id);
        free(s->proof);
        free(s);
    }
    (void)rmdir(j->dir);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

static stored *find(journal *j, const char *job_id) {
    stored *s = j->jobs;
    while (s != NULL && strcmp(s->job.job_id, job_id) != 0)
        s = s->next;
    return s;
}

static cuzk_status missing(const stored *s, cuzk_error *err) {
    return s != NULL ? CUZK_OK : cuzk_fail(err, CUZK_ERR_NOT_FOUND, "journal: no such job");
}

cuzk_status journal_add(journal *j, const journal_job *job, const uint8_t *body, cuzk_error *err) {
    char path[800];
    stored *s = calloc(1, sizeof *s);
    if (s == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "journal: no memory");
    s->job = *job;
    journal_body_path(j, job->job_id, path, sizeof path);
    FILE *f = fopen(path, "w");
    bool ok = f != NULL && fwrite(body, 1, job->body_bytes, f) == job->body_bytes;
    if (f != NULL && fclose(f) != 0) ok = false;
    if (!ok) {
        free(s);
        return cuzk_fail(err, CUZK_ERR_IO, "journal: %s: %s", path, strerror(errno));
    }
    pthread_mutex_lock(&j->lock);
    s->next = j->jobs;
    j->jobs = s;
    pthread_mutex_unlock(&j->lock);
    return CUZK_OK;
}

cuzk_status journal_find(journal *j, const char *job_id, journal_job *out, cuzk_error *err) {
    pthread_mutex_lock(&j->lock);
    const stored *s = find(j, job_id);
    if (s != NULL) *out = s->job;
    pthread_mutex_unlock(&j->lock);
    return missing(s, err);
}

cuzk_status journal_each(journal *j, void (*fn)(void *arg, const journal_job *job), void *arg,
                         cuzk_error *err) {
    (void)j; /* nothing is left of an earlier run */
    (void)fn;
    (void)arg;
    (void)err;
    return CUZK_OK;
}

static cuzk_status count_start(journal *j, const char *job_id, unsigned by, cuzk_error *err) {
    pthread_mutex_lock(&j->lock);
    stored *s = find(j, job_id);
    if (s != NULL) s->job.starts += by;
    pthread_mutex_unlock(&j->lock);
    return missing(s, err);
}
cuzk_status journal_started(journal *j, const char *job_id, cuzk_error *err) {
    return count_start(j, job_id, 1, err);
}
cuzk_status journal_paused(journal *j, const char *job_id, cuzk_error *err) {
    return count_start(j, job_id, (unsigned)-1, err);
}

cuzk_status journal_partition(journal *j, const char *job_id, unsigned partition,
                              const uint8_t proof[192], const char *device, cuzk_error *err) {
    if (partition >= MAX_PARTITIONS)
        return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "journal: partition %u", partition);
    pthread_mutex_lock(&j->lock);
    stored *s = find(j, job_id);
    if (s != NULL) {
        s->partitions[partition].done = true;
        memcpy(s->partitions[partition].proof, proof, 192);
        snprintf(s->partitions[partition].device, sizeof s->partitions[partition].device, "%s",
                 device);
    }
    pthread_mutex_unlock(&j->lock);
    return missing(s, err);
}

cuzk_status journal_partitions(journal *j, const char *job_id,
                               void (*fn)(void *arg, unsigned partition, const uint8_t proof[192],
                                          const char *device),
                               void *arg, cuzk_error *err) {
    pthread_mutex_lock(&j->lock);
    const stored *s = find(j, job_id);
    for (unsigned k = 0; s != NULL && k < MAX_PARTITIONS; k++)
        if (s->partitions[k].done) fn(arg, k, s->partitions[k].proof, s->partitions[k].device);
    pthread_mutex_unlock(&j->lock);
    return missing(s, err);
}

cuzk_status journal_ended(journal *j, const journal_job *job, const uint8_t *proof,
                          size_t proof_bytes, cuzk_error *err) {
    uint8_t *copy = NULL;
    if (proof != NULL && (copy = malloc(proof_bytes)) == NULL)
        return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "journal: no memory");
    if (copy != NULL) memcpy(copy, proof, proof_bytes);
    pthread_mutex_lock(&j->lock);
    stored *s = find(j, job->job_id);
    if (s != NULL) {
        s->job = *job;
        s->proof = copy;
        s->proof_bytes = proof_bytes;
        drop_body(j, job->job_id);
    }
    pthread_mutex_unlock(&j->lock);
    if (s == NULL) free(copy);
    return missing(s, err);
}

cuzk_status journal_proof(journal *j, const char *job_id, uint8_t **proof, size_t *bytes,
                          cuzk_error *err) {
    pthread_mutex_lock(&j->lock);
    const stored *s = find(j, job_id);
    *proof = s != NULL && s->proof != NULL ? malloc(s->proof_bytes) : NULL;
    if (*proof != NULL) {
        *bytes = s->proof_bytes;
        memcpy(*proof, s->proof, s->proof_bytes);
    }
    pthread_mutex_unlock(&j->lock);
    return *proof != NULL ? CUZK_OK : cuzk_fail(err, CUZK_ERR_NOT_FOUND, "journal: no proof");
}

cuzk_status journal_remove(journal *j, const char *job_id, cuzk_error *err) {
    pthread_mutex_lock(&j->lock);
    stored **link = &j->jobs, *s = NULL;
    while (*link != NULL && strcmp((*link)->job.job_id, job_id) != 0)
        link = &(*link)->next;
    if ((s = *link) != NULL) {
        *link = s->next;
        drop_body(j, job_id);
    }
    pthread_mutex_unlock(&j->lock);
    const cuzk_status status = missing(s, err);
    if (s != NULL) free(s->proof);
    free(s);
    return status;
}
