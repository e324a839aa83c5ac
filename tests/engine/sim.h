/* A simulated world for the engine: jobs whose work is sleeping, devices that may lie, fail, hang
 * or die, and an account of every byte that the engine was supposed to have reserved. */
#ifndef CUZK_TESTS_ENGINE_SIM_H
#define CUZK_TESTS_ENGINE_SIM_H

#include <pthread.h>

#include "engine/engine.h"

#define SIM_MIB ((uint64_t)1 << 20)
#define SIM_GIB ((uint64_t)1 << 30)

/* What one circuit takes; times in microseconds of real sleep, 0: none. */
typedef struct sim_shape {
    const char *circuit;
    uint32_t partitions;
    uint64_t job_bytes, witness_bytes, key_bytes; /* host, budgeted */
    uint64_t host_bytes;                          /* host, budgeted: the executor's own */
    uint64_t vram_min, vram_full;                 /* a plan takes min(VRAM, full), at least min */
    uint64_t vram_thorough;                       /* more, after a thorough load */
    uint64_t real_witness, real_key; /* of these, how many are really allocated and written */
    unsigned witness_us, upload_us, compute_us, load_us, verify_us;
    unsigned thorough_us; /* more, of a thorough load */
} sim_shape;

typedef enum sim_flags {
    SIM_BAD_BODY = 1,    /* does not decode */
    SIM_BAD_WITNESS = 2, /* witness generation fails */
    SIM_UNPROVABLE = 4,  /* never verifies, whoever computes it */
    SIM_KILLER = 8       /* generating its witness kills the process */
} sim_flags;

/* A request body. */
typedef struct sim_body {
    uint64_t id;
    uint32_t shape, flags;
} sim_body;

typedef struct sim_proved {
    uint64_t id;
    uint32_t partition;
    unsigned device;
} sim_proved;

typedef struct sim_world {
    pthread_mutex_t lock;
    pthread_cond_t released;
    bool release; /* hung devices go on */
    sim_shape shapes[8];
    uint64_t budget, used, peak; /* simulated host bytes in existence */
    unsigned over_budget;        /* allocations that broke the budget */
    unsigned broken_rules;       /* calls that an executor must never see */
    unsigned opens, witnesses, finishes, key_loads, key_frees, device_loads;
    unsigned withdrawals, refusals; /* of what executors were asked to give back */
    unsigned thorough_begun, thorough_loads, thorough_given_up; /* thorough loads */
    unsigned thorough_now, thorough_most;                       /* at the same time */
    unsigned thorough_at; /* partitions done when the first was begun */
    int jobs_alive, witnesses_alive, keys_alive;
    sim_proved log[16384]; /* partitions in the order in which devices finished them */
    unsigned n_log;
    char dir[256]; /* state folder, made by sim_init under TMPDIR or /tmp */
    struct host_std *host;
} sim_world;

void sim_init(sim_world *w);
void sim_destroy(sim_world *w); /* removes the state folder; checks that nothing is alive */
/* A config over this world with a fresh state folder and no device; budget from the world. */
void sim_config(sim_world *w, uint64_t budget, engine_config *config);
extern const engine_work_ops sim_work;
void sim_take(sim_world *w, uint64_t bytes);
void sim_give(sim_world *w, uint64_t bytes);
void sim_release_hung(sim_world *w);
void sim_sleep_us(uint64_t us);
uint64_t sim_now_us(void);

/* Faults by the number of the finish call (from 1); 0: never. */
typedef struct sim_device {
    const char *name, *kind;       /* NULL: "SIM", "sim" */
    uint64_t vram;                 /* 0: 16 GiB */
    unsigned slots;                /* 0: 2 */
    bool keeps_back;               /* a partition starts at a call, when no other is computed */
    unsigned withdraw_us;          /* what a refusal to withdraw takes */
    bool fallback;                 /* is_cpu_fallback */
    unsigned wrong_from, wrong_to; /* wrong sums */
    unsigned fail_from, fail_to;   /* CUZK_ERR_DEVICE */
    unsigned begin_oom_at;         /* begin: CUZK_ERR_DEVICE_MEMORY */
    unsigned die_from;             /* every call: CUZK_ERR_DEVICE_LOST */
    unsigned hang_at;              /* blocks until sim_release_hung */
    bool hang_load, fail_load, hang_thorough_load, fail_thorough_load;
    unsigned wrong_permille, fail_permille; /* at random, from seed */
    uint64_t seed;
} sim_device;
/* Adds the device to config. */
void sim_add(sim_world *w, engine_config *config, const sim_device *device);

/* Submits id as "job-<id>"; the status is the engine's. */
cuzk_status sim_submit(engine *e, uint64_t id, uint32_t shape, uint32_t flags,
                       engine_priority priority);
/* Waits, checks that a completed job has exactly the proof of `id`, and returns its state. devices
 * (may be NULL) gets the devices' names. */
engine_job_state sim_await(engine *e, uint64_t id, uint32_t partitions, char devices[1024]);
bool sim_proof_is(const uint8_t *proof, size_t bytes, uint64_t id, uint32_t partitions);
/* Waits until job-<id> has n partitions in state or later; false after 10 s. */
bool sim_reached(engine *e, uint64_t id, unsigned n, engine_partition_state state);
/* Position in the log of the first and the last partition of id, or -1. */
int sim_first(sim_world *w, uint64_t id);
int sim_last(sim_world *w, uint64_t id);

#endif
