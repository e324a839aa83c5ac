/* The engine's state and the rules that keep it consistent.
 *
 * One mutex (`lock`) guards everything below; no thread holds it while it decodes, computes,
 * touches a device, or writes the journal. What a thread works on outside the lock is claimed by a
 * state:
 *
 *   job        opening / ending      claimed by a worker / the finisher
 *   key        loading               claimed by a worker
 *   partition  WITNESS, DEVICE, VERIFY  claimed by a worker, a device thread, the finisher;
 *              counted in job->in_flight, and a job is not torn down before that is 0
 *
 * Lock order: submit_lock, lock, the journal's own (which nothing is taken under).
 *
 * Memory: every reservation is made before the allocation it stands for. A running job holds a
 * bundle (its decoded data, a reference to its key, and one witness), so it can always go on;
 * witnesses beyond the first are taken only when there is room. Where a device then finds no room
 * for its own host memory and nothing else moves, other jobs step back; a job fails for want of
 * memory only when it does not fit alone. */
#ifndef CUZK_ENGINE_ENGINE_INTERNAL_H
#define CUZK_ENGINE_ENGINE_INTERNAL_H

#include <pthread.h>

#include "engine/engine.h"
#include "engine/journal.h"

#define MAX_SLOTS 8
#define MAX_DEVICES 64 /* bits of partition.tried */
#define JOB_BUCKETS 4096

typedef struct key {
    struct key *next;
    char circuit[32];
    enum { KEY_ABSENT, KEY_LOADING, KEY_LOADED } state;
    engine_key_data *data;
    uint64_t bytes;       /* reserved while loading or loaded */
    unsigned job_refs;    /* running jobs */
    unsigned device_refs; /* devices that have it loaded */
    bool evict;           /* wanted gone: devices let go of it as soon as they are idle */
    bool wanted;          /* preload: load without a job */
    uint64_t last_used, load_ms;
    cuzk_error error; /* of the last load, status OK when it succeeded */
    unsigned loads;   /* finished attempts: preload waits for it to move */
} key;

typedef struct partition {
    engine_partition_view view;
    uint64_t tried;    /* bit d: device d failed this partition */
    uint64_t suspects; /* bit d: its sums were bad; d's fault once another device shows it */
    witness w;
    bool has_witness;
    groth16_sums sums;
    uint8_t proof[GROTH16_PROOF_BYTES];
    char device[96]; /* who did it */
} partition;

typedef struct job {
    struct job *next;        /* active: in order of submission; ended: in order of ending */
    struct job *bucket_next; /* same hash */
    journal_job record;
    uint64_t seq;
    uint64_t submitted_at, started_at, ended_at, deadline_at; /* ms since engine start */
    enum {
        JOB_WAITING, /* body on disk only */
        JOB_OPENING, /* a worker decodes it */
        JOB_OPENED,  /* decoded; waits for its bundle */
        JOB_STARTED, /* bundle held: partitions are being worked on */
        JOB_ENDING,  /* over; the finisher stores the end */
        JOB_ENDED
    } stage;
    cuzk_status end_status; /* OK, or why it ends before it is complete */
    engine_job_data *data;
    uint64_t data_bytes, witness_bytes; /* reserved for data; size of one witness */
    char circuit[32];
    key *key;
    unsigned witnesses; /* in memory now */
    unsigned reserved;  /* witnesses that the budget is charged for, >= witnesses */
    bool alone;         /* one more crash sets it aside: nothing else runs beside it */
    unsigned n_partitions, n_done, in_flight;
    partition *partitions;
    bool story_full;
    uint64_t srs_load_ms;
} job;

typedef struct device {
    engine *e;
    unsigned index;
    executor *ex;
    executor_info info;
    bool fallback;
    pthread_t thread;
    bool thread_started, thread_done;
    key *loaded;         /* ready to prove with */
    key *holds;          /* counted in its device_refs: loaded, or being loaded or unloaded */
    bool yield;          /* another device wants the memory: let go of the key when idle */
    bool may_prepare;    /* a thorough load would prepare more than this one did */
    unsigned since_load; /* partitions done since the key was loaded */
    bool reloading;      /* thoroughly, until a job above reload_priority wants a device */
    unsigned reload_priority;
    uint64_t host_bytes; /* reserved for what the executor allocates on the host */
    struct {
        job *job;
        unsigned k;
        witness w;             /* ours until finish returns */
        bool orphan;           /* the watchdog gave the partition away: drop the result */
        bool started;          /* the executor has said so: it is not asked again */
        uint64_t orphan_bytes; /* budget to give back with it */
    } slots[MAX_SLOTS];
    unsigned order[MAX_SLOTS], n_begun; /* slots in the order of begin */
    uint64_t call_since;                /* an executor call is running since; 0: none */
    uint64_t busy_since, busy_total;
    bool quarantined, hung;
    uint64_t proved, failures, failures_in_row;
} device;

/* Callers hold `id` disguised as a pointer: a handle whose watch is gone never names another. */
struct engine_watch {
    engine_watch *next;
    uintptr_t id;
    char job_id[256];
    void (*done)(void *arg);
    void *arg;
};

struct engine {
    engine_config config;
    const cuzk_host *host;
    journal *journal;
    uint64_t start_ns;

    pthread_mutex_t submit_lock; /* serialises submissions: one execution for one key */
    pthread_mutex_t lock;
    pthread_cond_t work;    /* something for workers or devices may have become possible */
    pthread_cond_t finish;  /* something for the finisher */
    pthread_cond_t changed; /* a job ended, a key was loaded or dropped */

    job *jobs, **jobs_tail;   /* waiting or running */
    job *ended, **ended_tail; /* results, oldest first */
    job *buckets[JOB_BUCKETS];
    uint64_t next_seq;
    unsigned n_active; /* waiting or running */
    unsigned n_ended;
    uint64_t completed, failed, cancelled;
    key *keys;
    engine_watch *watches;
    uintptr_t last_watch;
    unsigned n_callers; /* inside a public call that waits */

    uint64_t used, peak, used_keys, used_witnesses, used_bodies, used_jobs, used_devices;

    device devices[MAX_DEVICES];
    unsigned n_devices;
    pthread_t *workers;
    unsigned n_workers;
    pthread_t finisher, housekeeper;
    bool finisher_started, housekeeper_started;
    bool draining, stopping; /* no new partitions; workers and devices end */
    bool finishing;          /* then the finisher and the housekeeper end */
};

uint64_t engine_now(const engine *e); /* ms since start, >= 1, monotonic */

/* ---- memory.c: all with the lock held ---- */
typedef enum memory_use {
    MEMORY_KEY,
    MEMORY_WITNESS,
    MEMORY_BODY,
    MEMORY_JOB,
    MEMORY_DEVICE
} memory_use;
bool memory_reserve(engine *e, memory_use use, uint64_t bytes); /* evicts idle keys if it must */
void memory_release(engine *e, memory_use use, uint64_t bytes);
/* Does anything go on that may give memory back by itself? */
bool memory_may_come(const engine *e);
/* Jobs less urgent than j (every other job if `all`) give back what they can: witnesses made ahead,
 * and their whole bundle when nothing of them is in flight. j itself keeps one witness. With `all`
 * idle devices are asked for what they hold, too. */
void memory_make_room(engine *e, job *j, bool all);
/* Will devices that hold keys let go of some soon? */
bool memory_eviction_pending(const engine *e);
void key_drop(engine *e, key *k); /* loaded, no references: free it */
key *key_find(engine *e, const char *circuit);
key *key_get(engine *e, const char *circuit); /* makes an absent one; NULL: no memory */

/* ---- schedule.c: pure choices, with the lock held ---- */
typedef struct task {
    enum { TASK_NONE, TASK_OPEN, TASK_LOAD_KEY, TASK_WITNESS } type;
    job *job;
    key *key;
    unsigned k;
} task;
unsigned job_effective_priority(const engine *e, const job *j, uint64_t now);
/* Does a come before b? circuit (may be NULL) is preferred among equal priorities. */
bool job_before(const engine *e, const job *a, const job *b, const char *circuit, uint64_t now);
/* What a worker should do next; reservations that the task needs have been made. */
task schedule_worker(engine *e);
/* The READY partition that device d should take, or NULL. */
job *schedule_device(engine *e, const device *d, unsigned *k);
bool device_usable(const device *d);
/* Has d proved so much with its key that preparing it thoroughly pays, and is this the time? Then
 * *priority is the one above which a job ends the attempt. */
bool schedule_reload(engine *e, const device *d, unsigned *priority);
/* Does a job want a device whose own priority (ageing does not count) is above this one? */
bool schedule_waits_above(const engine *e, unsigned priority);
/* Is there a device that may try partition p of a live job? */
bool device_left(const engine *e, const partition *p);
/* May d try partition k of j? */
bool device_may_try(const engine *e, const device *d, const partition *p);
unsigned queue_position(const engine *e, const job *j);

/* ---- jobs.c ---- */
job *job_find(engine *e, const char *job_id);
job *job_new(const journal_job *record, uint64_t now);
void job_insert(engine *e, job *j);
void job_retire(engine *e, job *j); /* active to ended; the caller has set the stage */
void job_unlink(engine *e, job *j); /* and free */
/* A running job of which nothing is in flight gives its bundle back and waits opened. */
void job_step_back(engine *e, job *j);
/* End the job with a status and text once nothing of it is in flight (lock held). */
void job_stop(engine *e, job *j, cuzk_status status, const char *text);
/* Called whenever in_flight of a stopped job may have reached 0, or its last partition is done. */
void job_settle(engine *e, job *j);
void job_tell(job *j, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Give the bundle back: witnesses that wait, decoded data, key (lock held; in_flight is 0). */
void job_release(engine *e, job *j);
void job_event(engine *e, const job *j, int k, int type, uint64_t stage_ms, const char *text);
void partition_enter(engine *e, job *j, unsigned k, engine_partition_state state);
/* Back from a device on which it had not started: it waits again, with its witness. */
void partition_withdrawn(engine *e, job *j, unsigned k);
void partition_drop_witness(engine *e, job *j, unsigned k);
/* One witness less of j: its charge goes back, except the bundle's. */
void witness_gone(engine *e, job *j);
/* Device d failed partition k: try elsewhere, or end the job when nothing is left. */
void partition_failed(engine *e, job *j, unsigned k, device *d, cuzk_status status,
                      const char *text);

/* ---- threads ---- */
void *worker_main(void *engine_pointer);      /* workers.c: open, load, witness */
void *device_main(void *device_pointer);      /* devices.c */
void *finisher_main(void *engine_pointer);    /* finisher.c: assemble, verify, journal */
void *housekeeper_main(void *engine_pointer); /* housekeeper.c: time */
/* Counts a failure; enough in a row, or a lost device, end its use (lock held). */
void device_failed(engine *e, device *d, cuzk_status status, const char *text);
/* The watchdog's verdict: the device hangs; its partitions go elsewhere (lock held). */
void device_hangs(engine *e, device *d, uint64_t silent_ms);

#endif
