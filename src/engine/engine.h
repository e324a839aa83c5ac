/* The proving engine: a durable queue of proof jobs, worked off partition by partition on a set of
 * devices under one budget of host memory. It knows nothing of gRPC, JSON or files of vanilla
 * proofs: those come through `engine_work` (what a job is) and `executor` (what a device is), so
 * the same scheduler runs in tests over simulated jobs and devices.
 *
 * All functions are thread-safe unless said otherwise. Strings returned in snapshots are copies. */
#ifndef CUZK_ENGINE_ENGINE_H
#define CUZK_ENGINE_ENGINE_H

#include "engine/work.h"
#include "groth16/executor.h"

typedef struct engine engine;
typedef struct engine_event engine_event;

/* cuzk.v1.Priority. */
typedef enum engine_priority {
    ENGINE_PRIORITY_LOW = 1,
    ENGINE_PRIORITY_NORMAL = 2,
    ENGINE_PRIORITY_HIGH = 3,
    ENGINE_PRIORITY_CRITICAL = 4
} engine_priority;

typedef enum engine_job_state {
    ENGINE_JOB_QUEUED,
    ENGINE_JOB_RUNNING,
    ENGINE_JOB_COMPLETED,
    ENGINE_JOB_FAILED,
    ENGINE_JOB_CANCELLED
} engine_job_state;

typedef enum engine_partition_state {
    ENGINE_PARTITION_PENDING,
    ENGINE_PARTITION_WITNESS, /* "synthesizing" on the wire */
    ENGINE_PARTITION_READY,   /* "synth_done" */
    ENGINE_PARTITION_DEVICE,  /* "gpu" */
    ENGINE_PARTITION_VERIFY,
    ENGINE_PARTITION_DONE,
    ENGINE_PARTITION_FAILED
} engine_partition_state;

typedef enum engine_failure_policy {
    ENGINE_ON_FAILURE_CPU, /* redo a partition on the CPU when no other device is left */
    ENGINE_ON_FAILURE_FAIL
} engine_failure_policy;

typedef struct engine_device_config {
    executor *ex;         /* owned by the engine from engine_open on */
    bool is_cpu_fallback; /* used only by ENGINE_ON_FAILURE_CPU, or when there is no other */
} engine_device_config;

typedef struct engine_config {
    char state_dir[512];      /* journal (SQLite, WAL) and spooled bodies; created 0700 */
    uint64_t memory_budget;   /* bytes of host memory for everything the engine holds */
    unsigned witness_threads; /* concurrent witness generations, >= 1 */
    unsigned queue_limit;     /* jobs waiting or running; beyond it EXHAUSTED */
    unsigned result_limit;    /* finished jobs kept */
    uint64_t result_age_ms;   /* finished jobs older than this are dropped */
    unsigned job_attempts;    /* a job that was running at so many crashes is set aside; 0: never */
    unsigned device_failures; /* failures in a row that quarantine a device */
    uint64_t watchdog_ms;     /* an executor call that takes so long: hung (0: never; not CPUs) */
    uint64_t ageing_ms;       /* a waiting job rises one priority for each of these */
    uint64_t eviction_min_idle_ms;
    /* Partitions in a row that a device proves with a key before it loads it again with
     * EXECUTOR_THOROUGH; 0: never. docs/engine.md says when that pays. */
    unsigned thorough_after;
    engine_failure_policy on_failure;
    const engine_work_ops *work;
    void *work_self;
    const cuzk_host *host;
    /* Events for logs, metrics and the timeline; called from any thread under the engine's lock: be
     * quick, and call nothing of the engine. */
    void (*on_event)(void *self, const engine_event *event);
    void *event_self;
    engine_device_config devices[64];
    unsigned n_devices;
} engine_config;

/* Opens or creates the journal, takes up unfinished jobs, starts the threads. On failure the
 * executors are closed too. */
cuzk_status engine_open(const engine_config *config, engine **out, cuzk_error *err);
/* Stop accepting jobs; running partitions are finished, the rest stays in the journal. */
void engine_drain(engine *e, uint64_t timeout_ms);
/* Running partitions are finished and stored; unfinished jobs stay in the journal. Calls that wait
 * return CANCELLED first; no other call may be made from now on. Watches are dropped silently. A
 * device that hangs is given 5 s and then left to the end of the process with what it holds. */
void engine_close(engine *e);

/* ---- jobs ---- */

typedef struct engine_request {
    char request_id[256]; /* idempotency key; empty: a new UUID is made. Opaque UTF-8 */
    engine_priority priority;
    uint64_t deadline_ms; /* from now; 0: none. A job past it is cancelled with TIMEOUT */
    const uint8_t *body;  /* what engine_work_ops.open gets, spooled byte for byte */
    size_t body_bytes;
    char kind[32]; /* "porep-c2", ...: for grouping, counters and labels */
} engine_request;

typedef struct engine_submitted {
    char job_id[256];
    uint32_t queue_position; /* jobs that will be taken first */
    bool joined;             /* an earlier job with the same key and body */
} engine_submitted;

/* On CUZK_OK the job is in the journal, fsynced: it survives kill -9. EXISTS: same key, other body.
 * EXHAUSTED: queue limit or budget; nothing was stored. */
cuzk_status engine_submit(engine *e, const engine_request *request, engine_submitted *out,
                          cuzk_error *err);
/* Reserve budget for a request body before it is read from the network; release returns it. */
cuzk_status engine_admit_body(engine *e, uint64_t bytes, cuzk_error *err);
void engine_release_body(engine *e, uint64_t bytes);

typedef struct engine_result {
    char job_id[256];
    engine_job_state state;
    uint8_t *proof; /* owned by the caller: free with engine_result_free */
    size_t proof_bytes;
    char error[1024];   /* the full story of a failed job, without paths or data */
    char devices[1024]; /* "0: NVIDIA H200 #0, 1: CPU ..." for each partition */
    uint64_t queue_wait_ms, srs_load_ms, synthesis_ms, gpu_compute_ms, total_ms;
} engine_result;
/* Wait for a job to end. timeout_ms 0: for ever. NOT_FOUND, TIMEOUT (job goes on), CANCELLED when
 * *stop (may be NULL, polled) becomes true. */
cuzk_status engine_await(engine *e, const char *job_id, uint64_t timeout_ms,
                         const volatile bool *stop, engine_result *out, cuzk_error *err);
/* The same without a thread waiting: done(arg) is called once from an engine thread when the job
 * ends (at once if it has, and *out is NULL). engine_unwatch takes it back. */
typedef struct engine_watch engine_watch;
cuzk_status engine_watch_job(engine *e, const char *job_id, void (*done)(void *arg), void *arg,
                             engine_watch **out, cuzk_error *err);
/* False: done has been called or is being called right now. */
bool engine_unwatch(engine *e, engine_watch *watch);
void engine_result_free(engine_result *result);
/* Queued: at once. Running: at the next partition boundary. */
cuzk_status engine_cancel(engine *e, const char *job_id, bool *was_running, cuzk_error *err);

/* ---- keys (SRS) ---- */

cuzk_status engine_preload(engine *e, const char *circuit_id, bool *already, uint64_t *load_ms,
                           cuzk_error *err);
cuzk_status engine_evict(engine *e, const char *circuit_id, bool *was_loaded, uint64_t *freed_bytes,
                         cuzk_error *err);

/* ---- what an operator sees ---- */

typedef struct engine_partition_view {
    engine_partition_state state;
    int device; /* index of the device, -1 none yet */
    unsigned attempts;
    uint64_t witness_ms, device_ms, verify_ms;
    /* stage boundaries, ms since engine start; 0 = not reached: the bar of the web page */
    uint64_t witness_at, ready_at, device_at, verify_at, done_at;
    executor_timing timing;
} engine_partition_view;
typedef struct engine_job_view {
    char job_id[256], kind[32], circuit[32];
    engine_priority priority;
    engine_job_state state;
    uint64_t submitted_at, started_at, ended_at; /* ms since engine start; 0 = not yet */
    unsigned n_partitions, n_done;
    engine_partition_view *partitions;
    char error[256];
} engine_job_view;
typedef struct engine_device_view {
    executor_info info;
    bool busy, quarantined;
    char job_id[256], kind[32];
    int partition;
    uint64_t busy_since; /* ms since start */
    uint64_t busy_total_ms;
    uint64_t proved, failures, failures_in_row;
} engine_device_view;
typedef struct engine_key_view {
    char circuit[32];
    enum { ENGINE_TIER_DEVICE, ENGINE_TIER_PINNED, ENGINE_TIER_MAPPED, ENGINE_TIER_ABSENT } tier;
    uint64_t bytes; /* charged to the budget */
    unsigned references;
    uint64_t idle_ms;
    bool loading;
} engine_key_view;
typedef struct engine_snapshot {
    uint64_t uptime_ms;
    uint64_t memory_budget, memory_used, memory_peak;
    uint64_t memory_keys, memory_witnesses, memory_bodies;
    unsigned witness_limit, witness_active;
    uint64_t completed, failed, cancelled;
    engine_job_view *jobs; /* queued, running, and recently ended, newest last */
    size_t n_jobs;
    engine_device_view *devices;
    size_t n_devices;
    engine_key_view *keys;
    size_t n_keys;
    bool draining;
} engine_snapshot;
cuzk_status engine_snapshot_take(engine *e, engine_snapshot **out, cuzk_error *err);
void engine_snapshot_free(engine_snapshot *s);

struct engine_event {
    enum {
        ENGINE_EVENT_SUBMITTED,
        ENGINE_EVENT_STARTED,
        ENGINE_EVENT_STAGE,  /* a partition moved to `stage` */
        ENGINE_EVENT_RETRY,  /* a partition is redone elsewhere; text says why */
        ENGINE_EVENT_DEVICE, /* quarantined, failed, recovered; text */
        ENGINE_EVENT_KEY,    /* loaded, evicted, prepared by a device; text */
        ENGINE_EVENT_ENDED
    } type;
    uint64_t at_ms; /* since engine start */
    const char *job_id, *kind, *circuit, *text;
    int partition, device;
    engine_partition_state stage;
    engine_job_state state;
    uint64_t stage_ms; /* duration of the stage just left */
};

#endif
