/* What bench_engine's scenarios share: the real engine over one real device, synthetic requests,
 * parameters made where they are missing, and what is seen meanwhile (events, memory).
 *
 * Mistakes and failures end the program; only what a scenario measures is judged by it. */
#ifndef CUZK_TESTS_ENGINE_WORLD_H
#define CUZK_TESTS_ENGINE_WORLD_H

#include "engine/engine.h"
#include "prover/job.h"

#define WORLD_BUDGET ((uint64_t)16 << 30) /* of host memory, for the engine */

/* cpu: the CPU executor instead of a GPU, to try the program out. dir: of the parameter files. */
void world_open(const char *dir, bool cpu);
void world_close(void);
#define WORLD_MAX_DEVICES 16
/* The number of usable GPUs (1 for the CPU), and the first one's name and memory. */
unsigned world_devices(char name[96], uint64_t *memory_bytes);
double world_seconds(void);
/* End the program unless status is CUZK_OK. */
void world_need(cuzk_status status, const cuzk_error *err, const char *what);

/* ---- requests ---- */

typedef struct world_input {
    char circuit[32], kind[32];
    engine_priority priority;
    uint8_t *body;
    size_t body_bytes;
    uint32_t partitions;
} world_input;

/* A synthetic request for a circuit, its parameters made when they are missing. partitions: the
 * first so many of a PoRep only; 0: all. */
void world_input_make(world_input *in, const char *circuit, uint32_t partitions);
void world_input_free(world_input *in);

/* ---- the engine ---- */

typedef struct world_engine {
    engine *e;
    uint64_t device_calls; /* device-wide calls when it was opened */
} world_engine;

/* On a fresh state folder, over the first `devices` GPUs. vram_limit 0: all. */
void world_engine_open(world_engine *w, unsigned devices, uint64_t vram_limit, unsigned workers);
/* Device-wide calls since it was opened. */
uint64_t world_engine_close(world_engine *w);
void world_preload(const world_engine *w, const world_input *in);
void world_submit(const world_engine *w, const world_input *in, const char *id);
/* Waits; true: completed, and the proof verifies against the request's public data with the key of
 * the .vk file. Else *result (may be NULL) says why; it has no proof in any case. */
bool world_await(const world_engine *w, const world_input *in, const char *id,
                 engine_result *result);
bool world_prove(const world_engine *w, const world_input *in, const char *id,
                 engine_result *result);
/* The job's own view, without its partitions; partition: view of its partition 0. */
void world_job_view(const world_engine *w, const char *id, engine_job_view *view,
                    engine_partition_view *partition);

/* ---- what was seen ---- */

/* A partition that moved to a stage, ms since the engine was opened. */
typedef struct world_move {
    uint64_t at_ms;
    char kind[32];
    unsigned partition;
    engine_partition_state stage;
} world_move;
/* Moves since the engine was opened, in order; valid until it is opened again. */
size_t world_moves(const world_move **moves);

typedef struct world_memory {
    uint64_t anonymous;      /* RssAnon now */
    uint64_t peak_anonymous; /* sampled every 10 ms */
    uint64_t peak_resident;  /* VmHWM: with mapped files */
    uint64_t held;           /* bytes allocated by the engine's host, now */
    /* Peaks of (anonymous - base) and (held - base) for each partition in flight, base: at the last
     * world_memory_base; only samples with at least three in flight. */
    uint64_t each_anonymous, each_held;
    unsigned in_flight; /* partitions at most at once, from witness to verified */
} world_memory;
void world_memory_base(void); /* peaks start anew, too */
void world_memory_seen(world_memory *out);

#endif
