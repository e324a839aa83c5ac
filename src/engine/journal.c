#include "engine/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "hash/sha256.h"

struct journal {
    sqlite3 *db;
    pthread_mutex_t lock;
    int lock_fd;
    char dir[512], bodies[600];
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS jobs("
    " seq INTEGER PRIMARY KEY AUTOINCREMENT, job_id TEXT UNIQUE NOT NULL, kind TEXT NOT NULL,"
    " digest BLOB NOT NULL, priority INTEGER NOT NULL, state INTEGER NOT NULL,"
    " starts INTEGER NOT NULL DEFAULT 0, body_bytes INTEGER NOT NULL,"
    " submitted INTEGER NOT NULL, ended INTEGER NOT NULL DEFAULT 0,"
    " deadline INTEGER NOT NULL DEFAULT 0, error TEXT NOT NULL DEFAULT '',"
    " devices TEXT NOT NULL DEFAULT '', queue_wait INTEGER DEFAULT 0, srs_load INTEGER DEFAULT 0,"
    " synthesis INTEGER DEFAULT 0, gpu INTEGER DEFAULT 0, total INTEGER DEFAULT 0, proof BLOB);"
    "CREATE TABLE IF NOT EXISTS partitions("
    " job_id TEXT NOT NULL, k INTEGER NOT NULL, proof BLOB NOT NULL, device TEXT NOT NULL,"
    " PRIMARY KEY(job_id, k)) WITHOUT ROWID;";

static cuzk_status db_fail(journal *j, const char *what, cuzk_error *err) {
    const int code = sqlite3_errcode(j->db);
    return cuzk_fail(err, code == SQLITE_FULL ? CUZK_ERR_NO_SPACE : CUZK_ERR_IO, "journal: %s: %s",
                     what, sqlite3_errmsg(j->db));
}

/* ---- opening ---- */

static cuzk_status make_dir(const char *path, cuzk_error *err) {
    if (mkdir(path, 0700) == 0 || errno == EEXIST) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_IO, "state folder %s: %s", path, strerror(errno));
}

/* Make the entries of a folder durable. */
static cuzk_status sync_dir(const char *path, cuzk_error *err) {
    const int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool ok = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
    const int number = errno;
    if (fd >= 0) close(fd);
    return ok ? CUZK_OK
              : cuzk_fail(err, CUZK_ERR_IO, "state folder %s: %s", path, strerror(number));
}

/* One engine for a folder: the lock goes with the process, however it dies. */
static cuzk_status lock_dir(journal *j, cuzk_error *err) {
    char path[600];
    snprintf(path, sizeof path, "%s/lock", j->dir);
    j->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (j->lock_fd < 0) return cuzk_fail(err, CUZK_ERR_IO, "%s: %s", path, strerror(errno));
    if (flock(j->lock_fd, LOCK_EX | LOCK_NB) != 0)
        return cuzk_fail(err, CUZK_ERR_EXISTS, "%s is in use by another engine", j->dir);
    return CUZK_OK;
}

static cuzk_status open_database(journal *j, cuzk_error *err) {
    char path[600];
    snprintf(path, sizeof path, "%s/journal.db", j->dir);
    if (sqlite3_open_v2(path, &j->db,
                        SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                        NULL) != SQLITE_OK)
        return cuzk_fail(err, CUZK_ERR_IO, "%s: %s", path, sqlite3_errmsg(j->db));
    if (sqlite3_exec(j->db, "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL;", NULL, NULL,
                     NULL) != SQLITE_OK ||
        sqlite3_exec(j->db, schema, NULL, NULL, NULL) != SQLITE_OK)
        return db_fail(j, "opening", err);
    return CUZK_OK;
}

/* A body is named by the hash of its job's id, since ids are any text. */
static void body_name(const char *job_id, char out[72]) {
    uint8_t digest[32];
    sha256(digest, job_id, strlen(job_id));
    for (int i = 0; i < 32; i++)
        sprintf(out + 2 * i, "%02x", digest[i]);
    strcpy(out + 64, ".body");
}

void journal_body_path(const journal *j, const char *job_id, char *out, size_t bytes) {
    char name[72];
    body_name(job_id, name);
    snprintf(out, bytes, "%s/%s", j->bodies, name);
}

typedef struct known_bodies {
    char (*names)[72];
    size_t n, cap;
    bool failed;
} known_bodies;

static void remember_body(void *arg, const journal_job *job) {
    known_bodies *k = arg;
    if (job->state != ENGINE_JOB_QUEUED && job->state != ENGINE_JOB_RUNNING) return;
    if (k->n == k->cap) {
        const size_t cap = k->cap == 0 ? 64 : 2 * k->cap;
        void *names = realloc(k->names, cap * sizeof *k->names);
        if (names == NULL) {
            k->failed = true;
            return;
        }
        k->names = names;
        k->cap = cap;
    }
    body_name(job->job_id, k->names[k->n++]);
}

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

/* A crash between writing a body and its row, or between a row's end and the body's removal, leaves
 * a file that no unfinished job owns. */
static cuzk_status remove_leftovers(journal *j, cuzk_error *err) {
    known_bodies known = {0};
    cuzk_status status = journal_each(j, remember_body, &known, err);
    DIR *dir = status == CUZK_OK && !known.failed ? opendir(j->bodies) : NULL;
    if (known.n > 0) qsort(known.names, known.n, sizeof *known.names, by_name);
    for (struct dirent *entry; dir != NULL && (entry = readdir(dir)) != NULL;) {
        if (entry->d_name[0] == '.') continue;
        if (known.n > 0 &&
            bsearch(entry->d_name, known.names, known.n, sizeof *known.names, by_name) != NULL)
            continue;
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    }
    if (dir != NULL) closedir(dir);
    free(known.names);
    return status;
}

cuzk_status journal_open(const char *state_dir, journal **out, cuzk_error *err) {
    *out = NULL;
    journal *j = calloc(1, sizeof *j);
    if (j == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "journal: no memory");
    pthread_mutex_init(&j->lock, NULL);
    j->lock_fd = -1;
    snprintf(j->dir, sizeof j->dir, "%s", state_dir);
    snprintf(j->bodies, sizeof j->bodies, "%s/bodies", state_dir);
    cuzk_status status = make_dir(j->dir, err);
    if (status == CUZK_OK) status = make_dir(j->bodies, err);
    if (status == CUZK_OK) status = lock_dir(j, err);
    if (status == CUZK_OK) status = open_database(j, err);
    if (status == CUZK_OK) status = sync_dir(j->dir, err);
    if (status == CUZK_OK) status = remove_leftovers(j, err);
    if (status != CUZK_OK) {
        journal_close(j);
        return status;
    }
    *out = j;
    return CUZK_OK;
}

void journal_close(journal *j) {
    if (j == NULL) return;
    if (j->db != NULL) sqlite3_close(j->db);
    if (j->lock_fd >= 0) close(j->lock_fd);
    pthread_mutex_destroy(&j->lock);
    free(j);
}

/* ---- statements ---- */

/* Prepare under the lock; on failure the lock is released. */
static cuzk_status begin(journal *j, sqlite3_stmt **st, const char *sql, cuzk_error *err) {
    pthread_mutex_lock(&j->lock);
    if (sqlite3_prepare_v2(j->db, sql, -1, st, NULL) == SQLITE_OK) return CUZK_OK;
    const cuzk_status status = db_fail(j, "preparing", err);
    pthread_mutex_unlock(&j->lock);
    return status;
}

static void end(journal *j, sqlite3_stmt *st) {
    sqlite3_finalize(st);
    pthread_mutex_unlock(&j->lock);
}

/* Run a statement that returns no rows, and end it. */
static cuzk_status run(journal *j, sqlite3_stmt *st, const char *what, cuzk_error *err) {
    cuzk_status status = CUZK_OK;
    if (sqlite3_step(st) != SQLITE_DONE) status = db_fail(j, what, err);
    end(j, st);
    return status;
}

/* Two statements as one transaction; the first with its values bound, the second takes the job id.
 * Ends the first. */
static cuzk_status run_both(journal *j, sqlite3_stmt *st, const char *then, const char *job_id,
                            const char *what, cuzk_error *err) {
    sqlite3_stmt *second = NULL;
    bool ok = sqlite3_exec(j->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) == SQLITE_OK &&
              sqlite3_step(st) == SQLITE_DONE && sqlite3_reset(st) == SQLITE_OK &&
              sqlite3_prepare_v2(j->db, then, -1, &second, NULL) == SQLITE_OK &&
              sqlite3_bind_text(second, 1, job_id, -1, SQLITE_TRANSIENT) == SQLITE_OK &&
              sqlite3_step(second) == SQLITE_DONE && sqlite3_reset(second) == SQLITE_OK &&
              sqlite3_exec(j->db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
    const cuzk_status status = ok ? CUZK_OK : db_fail(j, what, err);
    sqlite3_finalize(second);
    if (!ok && sqlite3_get_autocommit(j->db) == 0)
        (void)sqlite3_exec(j->db, "ROLLBACK", NULL, NULL, NULL);
    end(j, st);
    return status;
}

static void bind_text(sqlite3_stmt *st, int at, const char *text) {
    sqlite3_bind_text(st, at, text, -1, SQLITE_TRANSIENT);
}

cuzk_status journal_add(journal *j, const journal_job *job, const uint8_t *body, cuzk_error *err) {
    char path[700];
    sqlite3_stmt *st;
    journal_body_path(j, job->job_id, path, sizeof path);
    CUZK_TRY(file_write_all(path, body, job->body_bytes, err));
    cuzk_status status =
        begin(j, &st,
              "INSERT INTO jobs(job_id, kind, digest, priority, state, body_bytes, submitted, "
              "deadline) VALUES(?,?,?,?,?,?,?,?)",
              err);
    if (status == CUZK_OK) {
        bind_text(st, 1, job->job_id);
        bind_text(st, 2, job->kind);
        sqlite3_bind_blob(st, 3, job->digest, sizeof job->digest, SQLITE_TRANSIENT);
        sqlite3_bind_int(st, 4, (int)job->priority);
        sqlite3_bind_int(st, 5, (int)ENGINE_JOB_QUEUED);
        sqlite3_bind_int64(st, 6, (sqlite3_int64)job->body_bytes);
        sqlite3_bind_int64(st, 7, job->submitted_unix_ms);
        sqlite3_bind_int64(st, 8, (sqlite3_int64)job->deadline_unix_ms);
        status = run(j, st, "adding a job", err);
    }
    if (status != CUZK_OK) (void)unlink(path);
    return status;
}

#define JOB_COLUMNS                                                                                \
    "job_id, kind, digest, priority, state, starts, body_bytes, submitted, ended, deadline, "      \
    "error, devices, queue_wait, srs_load, synthesis, gpu, total"

static void copy_text(char *out, size_t bytes, sqlite3_stmt *st, int column) {
    const unsigned char *text = sqlite3_column_text(st, column);
    snprintf(out, bytes, "%s", text == NULL ? "" : (const char *)text);
}

static void read_job(sqlite3_stmt *st, journal_job *job) {
    memset(job, 0, sizeof *job);
    copy_text(job->job_id, sizeof job->job_id, st, 0);
    copy_text(job->kind, sizeof job->kind, st, 1);
    if (sqlite3_column_bytes(st, 2) == (int)sizeof job->digest)
        memcpy(job->digest, sqlite3_column_blob(st, 2), sizeof job->digest);
    job->priority = (engine_priority)sqlite3_column_int(st, 3);
    job->state = (engine_job_state)sqlite3_column_int(st, 4);
    job->starts = (unsigned)sqlite3_column_int(st, 5);
    job->body_bytes = (uint64_t)sqlite3_column_int64(st, 6);
    job->submitted_unix_ms = sqlite3_column_int64(st, 7);
    job->ended_unix_ms = sqlite3_column_int64(st, 8);
    job->deadline_unix_ms = (uint64_t)sqlite3_column_int64(st, 9);
    copy_text(job->error, sizeof job->error, st, 10);
    copy_text(job->devices, sizeof job->devices, st, 11);
    job->queue_wait_ms = (uint64_t)sqlite3_column_int64(st, 12);
    job->srs_load_ms = (uint64_t)sqlite3_column_int64(st, 13);
    job->synthesis_ms = (uint64_t)sqlite3_column_int64(st, 14);
    job->gpu_compute_ms = (uint64_t)sqlite3_column_int64(st, 15);
    job->total_ms = (uint64_t)sqlite3_column_int64(st, 16);
}

cuzk_status journal_find(journal *j, const char *job_id, journal_job *out, cuzk_error *err) {
    sqlite3_stmt *st;
    CUZK_TRY(begin(j, &st, "SELECT " JOB_COLUMNS " FROM jobs WHERE job_id = ?", err));
    bind_text(st, 1, job_id);
    const int step = sqlite3_step(st);
    cuzk_status status = CUZK_OK;
    if (step == SQLITE_ROW)
        read_job(st, out);
    else
        status = step == SQLITE_DONE ? cuzk_fail(err, CUZK_ERR_NOT_FOUND, "job not found")
                                     : db_fail(j, "finding a job", err);
    end(j, st);
    return status;
}

cuzk_status journal_each(journal *j, void (*fn)(void *arg, const journal_job *job), void *arg,
                         cuzk_error *err) {
    sqlite3_stmt *st;
    journal_job job;
    int step;
    CUZK_TRY(begin(j, &st, "SELECT " JOB_COLUMNS " FROM jobs ORDER BY seq", err));
    while ((step = sqlite3_step(st)) == SQLITE_ROW) {
        read_job(st, &job);
        fn(arg, &job);
    }
    const cuzk_status status = step == SQLITE_DONE ? CUZK_OK : db_fail(j, "reading jobs", err);
    end(j, st);
    return status;
}

static cuzk_status update_starts(journal *j, const char *job_id, int by, engine_job_state state,
                                 cuzk_error *err) {
    sqlite3_stmt *st;
    CUZK_TRY(begin(j, &st,
                   "UPDATE jobs SET starts = max(0, starts + ?), state = ? WHERE job_id = ?", err));
    sqlite3_bind_int(st, 1, by);
    sqlite3_bind_int(st, 2, (int)state);
    bind_text(st, 3, job_id);
    return run(j, st, "marking a job", err);
}

cuzk_status journal_started(journal *j, const char *job_id, cuzk_error *err) {
    return update_starts(j, job_id, 1, ENGINE_JOB_RUNNING, err);
}
cuzk_status journal_paused(journal *j, const char *job_id, cuzk_error *err) {
    return update_starts(j, job_id, -1, ENGINE_JOB_QUEUED, err);
}

cuzk_status journal_partition(journal *j, const char *job_id, unsigned partition,
                              const uint8_t proof[192], const char *device, cuzk_error *err) {
    sqlite3_stmt *st;
    CUZK_TRY(begin(j, &st, "INSERT OR REPLACE INTO partitions VALUES(?,?,?,?)", err));
    bind_text(st, 1, job_id);
    sqlite3_bind_int64(st, 2, partition);
    sqlite3_bind_blob(st, 3, proof, 192, SQLITE_TRANSIENT);
    bind_text(st, 4, device);
    return run(j, st, "storing a partition", err);
}

cuzk_status journal_partitions(journal *j, const char *job_id,
                               void (*fn)(void *arg, unsigned partition, const uint8_t proof[192],
                                          const char *device),
                               void *arg, cuzk_error *err) {
    sqlite3_stmt *st;
    int step;
    char device[128];
    CUZK_TRY(begin(j, &st, "SELECT k, proof, device FROM partitions WHERE job_id = ?", err));
    bind_text(st, 1, job_id);
    while ((step = sqlite3_step(st)) == SQLITE_ROW) {
        if (sqlite3_column_bytes(st, 1) != 192) continue;
        copy_text(device, sizeof device, st, 2);
        fn(arg, (unsigned)sqlite3_column_int64(st, 0), sqlite3_column_blob(st, 1), device);
    }
    const cuzk_status status = step == SQLITE_DONE ? CUZK_OK : db_fail(j, "reading", err);
    end(j, st);
    return status;
}

static const char drop_partitions[] = "DELETE FROM partitions WHERE job_id = ?";

cuzk_status journal_ended(journal *j, const journal_job *job, const uint8_t *proof,
                          size_t proof_bytes, cuzk_error *err) {
    sqlite3_stmt *st;
    char path[700];
    CUZK_TRY(begin(j, &st,
                   "UPDATE jobs SET state=?, error=?, devices=?, ended=?, queue_wait=?, srs_load=?,"
                   " synthesis=?, gpu=?, total=?, proof=? WHERE job_id=?",
                   err));
    sqlite3_bind_int(st, 1, (int)job->state);
    bind_text(st, 2, job->error);
    bind_text(st, 3, job->devices);
    sqlite3_bind_int64(st, 4, job->ended_unix_ms);
    sqlite3_bind_int64(st, 5, (sqlite3_int64)job->queue_wait_ms);
    sqlite3_bind_int64(st, 6, (sqlite3_int64)job->srs_load_ms);
    sqlite3_bind_int64(st, 7, (sqlite3_int64)job->synthesis_ms);
    sqlite3_bind_int64(st, 8, (sqlite3_int64)job->gpu_compute_ms);
    sqlite3_bind_int64(st, 9, (sqlite3_int64)job->total_ms);
    if (proof != NULL)
        sqlite3_bind_blob64(st, 10, proof, proof_bytes, SQLITE_TRANSIENT);
    else
        sqlite3_bind_null(st, 10);
    bind_text(st, 11, job->job_id);
    CUZK_TRY(run_both(j, st, drop_partitions, job->job_id, "ending a job", err));
    /* A crash here leaves a body that the next start removes. */
    journal_body_path(j, job->job_id, path, sizeof path);
    (void)unlink(path);
    return CUZK_OK;
}

cuzk_status journal_proof(journal *j, const char *job_id, uint8_t **proof, size_t *bytes,
                          cuzk_error *err) {
    sqlite3_stmt *st;
    *proof = NULL;
    *bytes = 0;
    CUZK_TRY(begin(j, &st, "SELECT proof FROM jobs WHERE job_id = ?", err));
    bind_text(st, 1, job_id);
    cuzk_status status = CUZK_OK;
    const int step = sqlite3_step(st);
    if (step == SQLITE_ROW) {
        const size_t n = (size_t)sqlite3_column_bytes(st, 0);
        if (n > 0) {
            *proof = malloc(n);
            if (*proof == NULL)
                status = cuzk_fail(err, CUZK_ERR_NO_MEMORY, "journal: no memory for a proof");
            else
                memcpy(*proof, sqlite3_column_blob(st, 0), n);
            *bytes = *proof == NULL ? 0 : n;
        }
    } else {
        status = step == SQLITE_DONE ? cuzk_fail(err, CUZK_ERR_NOT_FOUND, "job not found")
                                     : db_fail(j, "reading a proof", err);
    }
    end(j, st);
    return status;
}

cuzk_status journal_remove(journal *j, const char *job_id, cuzk_error *err) {
    sqlite3_stmt *st;
    char path[700];
    CUZK_TRY(begin(j, &st, "DELETE FROM jobs WHERE job_id = ?", err));
    bind_text(st, 1, job_id);
    CUZK_TRY(run_both(j, st, drop_partitions, job_id, "removing a job", err));
    journal_body_path(j, job_id, path, sizeof path);
    (void)unlink(path);
    return CUZK_OK;
}
