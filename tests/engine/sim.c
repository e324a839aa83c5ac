#define _GNU_SOURCE /* nftw */
#include "sim.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "host/host_std.h"

struct engine_job_data {
    sim_body body;
    uint64_t bytes;
};
struct engine_key_data {
    uint32_t shape;
    uint64_t bytes;
    void *real;
};

/* The failures of this file are not those of the test program: they end it. */
static void stop_if_failed(void) {
    if (check_failures > 0) exit(1);
}

/* ---- time and memory ---- */

void sim_sleep_us(uint64_t us) {
    const struct timespec t = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    if (us > 0) nanosleep(&t, NULL);
}

uint64_t sim_now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000u + (uint64_t)t.tv_nsec / 1000u;
}

void sim_take(sim_world *w, uint64_t bytes) {
    pthread_mutex_lock(&w->lock);
    w->used += bytes;
    if (w->used > w->budget) w->over_budget++;
    if (w->used > w->peak) w->peak = w->used;
    pthread_mutex_unlock(&w->lock);
}

void sim_give(sim_world *w, uint64_t bytes) {
    pthread_mutex_lock(&w->lock);
    w->used -= bytes;
    pthread_mutex_unlock(&w->lock);
}

static void *real_memory(uint64_t bytes) {
    void *p = malloc(bytes + 1);
    REQUIRE(p != NULL);
    memset(p, 1, bytes + 1);
    return p;
}

static void count(sim_world *w, unsigned *counter, int *alive, int by) {
    pthread_mutex_lock(&w->lock);
    if (counter != NULL) ++*counter;
    if (alive != NULL) *alive += by;
    pthread_mutex_unlock(&w->lock);
}

void sim_release_hung(sim_world *w) {
    pthread_mutex_lock(&w->lock);
    w->release = true;
    pthread_cond_broadcast(&w->released);
    pthread_mutex_unlock(&w->lock);
}

/* ---- work ---- */

static cuzk_status work_open(void *self, const cuzk_host *host, const uint8_t *body, size_t bytes,
                             engine_job_data **out, cuzk_error *err) {
    sim_world *w = self;
    (void)host;
    engine_job_data *job = calloc(1, sizeof *job);
    REQUIRE(job != NULL && bytes >= sizeof job->body);
    memcpy(&job->body, body, sizeof job->body);
    count(w, &w->opens, NULL, 0);
    if ((job->body.flags & SIM_BAD_BODY) != 0) {
        free(job);
        return cuzk_fail(err, CUZK_ERR_FORMAT, "simulated bad body");
    }
    job->bytes = w->shapes[job->body.shape].job_bytes;
    sim_take(w, job->bytes);
    count(w, NULL, &w->jobs_alive, 1);
    *out = job;
    return CUZK_OK;
}

static void work_close(void *self, const cuzk_host *host, engine_job_data *job) {
    sim_world *w = self;
    (void)host;
    sim_give(w, job->bytes);
    count(w, NULL, &w->jobs_alive, -1);
    free(job);
}

static void work_describe(void *self, const engine_job_data *job, char circuit[32],
                          unsigned *partitions, uint64_t *job_bytes, uint64_t *bytes_of_witness) {
    const sim_world *w = self;
    const sim_shape *s = &w->shapes[job->body.shape];
    snprintf(circuit, 32, "%s", s->circuit);
    *partitions = s->partitions;
    *job_bytes = s->job_bytes;
    *bytes_of_witness = s->witness_bytes;
}

static const sim_shape *shape_of(const sim_world *w, const char *circuit, uint32_t *index) {
    for (uint32_t i = 0; i < 8; i++) {
        if (w->shapes[i].circuit == NULL || strcmp(w->shapes[i].circuit, circuit) != 0) continue;
        if (index != NULL) *index = i;
        return &w->shapes[i];
    }
    return NULL;
}

static cuzk_status work_key_size(void *self, const char *circuit, uint64_t *host_bytes,
                                 cuzk_error *err) {
    const sim_shape *s = shape_of(self, circuit, NULL);
    if (s == NULL) return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "no circuit %s", circuit);
    *host_bytes = s->key_bytes;
    return CUZK_OK;
}

static cuzk_status work_key_load(void *self, const cuzk_host *host, const char *circuit,
                                 engine_key_data **out, cuzk_error *err) {
    sim_world *w = self;
    uint32_t index = 0;
    (void)host;
    (void)err;
    const sim_shape *s = shape_of(w, circuit, &index);
    engine_key_data *key = calloc(1, sizeof *key);
    REQUIRE(key != NULL && s != NULL);
    key->shape = index;
    key->bytes = s->key_bytes;
    key->real = real_memory(s->real_key);
    sim_take(w, key->bytes);
    sim_sleep_us(s->load_us);
    count(w, &w->key_loads, &w->keys_alive, 1);
    *out = key;
    return CUZK_OK;
}

static void work_key_free(void *self, const cuzk_host *host, engine_key_data *key) {
    sim_world *w = self;
    (void)host;
    sim_give(w, key->bytes);
    count(w, &w->key_frees, &w->keys_alive, -1);
    free(key->real);
    free(key);
}

/* The simulated executor finds the shape where a real one finds the circuit. */
static executor_key work_key_for_executor(void *self, const engine_key_data *key) {
    const sim_world *w = self;
    return (executor_key){.circuit_id = w->shapes[key->shape].circuit,
                          .circuit = (const r1cs *)&w->shapes[key->shape]};
}

static cuzk_status work_witness(void *self, const cuzk_host *host, const engine_key_data *key,
                                const engine_job_data *job, unsigned partition, witness *out,
                                cuzk_error *err) {
    sim_world *w = self;
    const sim_shape *s = &w->shapes[key->shape];
    (void)host;
    REQUIRE(key->shape == job->body.shape);
    if ((job->body.flags & SIM_KILLER) != 0) _exit(42);
    if ((job->body.flags & SIM_BAD_WITNESS) != 0)
        return cuzk_fail(err, CUZK_ERR_UNSATISFIED, "simulated bad witness");
    sim_take(w, s->witness_bytes);
    sim_sleep_us(s->witness_us);
    *out = (witness){.bits = real_memory(3 * sizeof(uint64_t) + s->real_witness),
                     .n_aux = s->witness_bytes};
    out->bits[0] = job->body.id;
    out->bits[1] = partition;
    out->bits[2] = key->shape;
    count(w, &w->witnesses, &w->witnesses_alive, 1);
    return CUZK_OK;
}

static void work_witness_drop(void *self, const cuzk_host *host, witness *out) {
    sim_world *w = self;
    (void)host;
    sim_give(w, out->n_aux);
    count(w, NULL, &w->witnesses_alive, -1);
    free(out->bits);
    out->bits = NULL;
}

static void make_proof(uint8_t proof[GROTH16_PROOF_BYTES], uint64_t id, uint64_t partition) {
    memset(proof, 0x5a, GROTH16_PROOF_BYTES);
    memcpy(proof, &id, sizeof id);
    memcpy(proof + sizeof id, &partition, sizeof partition);
}

bool sim_proof_is(const uint8_t *proof, size_t bytes, uint64_t id, uint32_t partitions) {
    uint8_t expected[GROTH16_PROOF_BYTES];
    if (bytes != (size_t)partitions * GROTH16_PROOF_BYTES) return false;
    for (uint32_t k = 0; k < partitions; k++) {
        make_proof(expected, id, k);
        if (memcmp(proof + (size_t)k * GROTH16_PROOF_BYTES, expected, sizeof expected) != 0)
            return false;
    }
    return true;
}

static cuzk_status work_finish(void *self, const cuzk_host *host, const engine_key_data *key,
                               const engine_job_data *job, unsigned partition,
                               const groth16_sums *sums, uint8_t proof[GROTH16_PROOF_BYTES],
                               cuzk_error *err) {
    sim_world *w = self;
    uint64_t v[3];
    (void)host;
    memcpy(v, sums, sizeof v);
    sim_sleep_us(w->shapes[key->shape].verify_us);
    count(w, &w->finishes, NULL, 0);
    if (v[0] != job->body.id || v[1] != partition || v[2] != 0 ||
        (job->body.flags & SIM_UNPROVABLE) != 0)
        return cuzk_fail(err, CUZK_ERR_INVALID_PROOF, "simulated: does not verify");
    make_proof(proof, v[0], v[1]);
    return CUZK_OK;
}

static cuzk_status work_verify_all(void *self, const cuzk_host *host, const engine_key_data *key,
                                   const engine_job_data *job, const uint8_t *proof, size_t bytes,
                                   cuzk_error *err) {
    const sim_world *w = self;
    (void)host;
    if (sim_proof_is(proof, bytes, job->body.id, w->shapes[key->shape].partitions)) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_INVALID_PROOF, "simulated: the whole does not verify");
}

const engine_work_ops sim_work = {
    .open = work_open,
    .close = work_close,
    .describe = work_describe,
    .key_size = work_key_size,
    .key_load = work_key_load,
    .key_free = work_key_free,
    .key_for_executor = work_key_for_executor,
    .witness = work_witness,
    .witness_drop = work_witness_drop,
    .finish = work_finish,
    .verify_all = work_verify_all,
};

/* ---- the world ---- */

void sim_init(sim_world *w) {
    cuzk_error err;
    memset(w, 0, sizeof *w);
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->released, NULL);
    const char *base = getenv("TMPDIR");
    const int length =
        snprintf(w->dir, sizeof w->dir, "%s/cuzk-engine-XXXXXX", base == NULL ? "/tmp" : base);
    REQUIRE(length > 0 && (size_t)length < sizeof w->dir);
    REQUIRE(mkdtemp(w->dir) != NULL);
    REQUIRE(host_std_new(1, 0, &w->host, &err) == CUZK_OK);
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *at) {
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

void sim_destroy(sim_world *w) {
    CHECK_U64(w->over_budget, 0);
    CHECK_U64(w->broken_rules, 0);
    CHECK_U64(w->used, 0);
    CHECK(w->jobs_alive == 0 && w->witnesses_alive == 0 && w->keys_alive == 0);
    stop_if_failed();
    nftw(w->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    host_std_free(w->host);
    pthread_cond_destroy(&w->released);
    pthread_mutex_destroy(&w->lock);
}

void sim_config(sim_world *w, uint64_t budget, engine_config *c) {
    w->budget = budget;
    memset(c, 0, sizeof *c);
    snprintf(c->state_dir, sizeof c->state_dir, "%s", w->dir);
    c->memory_budget = budget;
    c->witness_threads = 2;
    c->queue_limit = 10000;
    c->result_limit = 10000;
    c->result_age_ms = 0;
    c->job_attempts = 3;
    c->device_failures = 3;
    c->on_failure = ENGINE_ON_FAILURE_CPU;
    c->work = &sim_work;
    c->work_self = w;
    c->host = host_std_host(w->host);
}

/* ---- a client ---- */

cuzk_status sim_submit(engine *e, uint64_t id, uint32_t shape, uint32_t flags,
                       engine_priority priority) {
    const sim_body body = {.id = id, .shape = shape, .flags = flags};
    engine_request request = {.priority = priority,
                              .body = (const uint8_t *)&body,
                              .body_bytes = sizeof body,
                              .kind = "sim"};
    engine_submitted submitted;
    cuzk_error err;
    snprintf(request.request_id, sizeof request.request_id, "job-%" PRIu64, id);
    return engine_submit(e, &request, &submitted, &err);
}

/* For the person who looks at a job that never ends. */
static void print_state(engine *e) {
    engine_snapshot *s;
    cuzk_error err;
    if (engine_snapshot_take(e, &s, &err) != CUZK_OK) return;
    fprintf(stderr, "memory: %" PRIu64 " of %" PRIu64 ", bodies %" PRIu64 "\n", s->memory_used,
            s->memory_budget, s->memory_bodies);
    for (size_t i = 0; i < s->n_jobs; i++) {
        const engine_job_view *j = &s->jobs[i];
        if (j->ended_at != 0) continue;
        fprintf(stderr, "%s %s priority %d state %d:", j->job_id, j->circuit, (int)j->priority,
                (int)j->state);
        for (unsigned k = 0; k < j->n_partitions; k++)
            fprintf(stderr, " %d", (int)j->partitions[k].state);
        fprintf(stderr, " %s\n", j->error);
    }
    for (size_t i = 0; i < s->n_devices; i++)
        fprintf(stderr, "%s: busy %d quarantined %d failures %" PRIu64 " holds %" PRIu64 "\n",
                s->devices[i].info.name, s->devices[i].busy, s->devices[i].quarantined,
                s->devices[i].failures, s->devices[i].info.memory_planned);
    for (size_t i = 0; i < s->n_keys; i++)
        fprintf(stderr, "key %s: tier %d, %" PRIu64 " bytes, %u jobs, loading %d\n",
                s->keys[i].circuit, (int)s->keys[i].tier, s->keys[i].bytes, s->keys[i].references,
                s->keys[i].loading);
    engine_snapshot_free(s);
}

engine_job_state sim_await(engine *e, uint64_t id, uint32_t partitions, char devices[1024]) {
    char job_id[64];
    engine_result result;
    cuzk_error err;
    snprintf(job_id, sizeof job_id, "job-%" PRIu64, id);
    CHECK_OK(engine_await(e, job_id, 60000, NULL, &result, &err));
    if (check_failures > 0) print_state(e);
    stop_if_failed();
    const engine_job_state state = result.state;
    if (state == ENGINE_JOB_COMPLETED)
        CHECK(sim_proof_is(result.proof, result.proof_bytes, id, partitions));
    else
        CHECK(result.proof == NULL && result.error[0] != 0);
    if (devices != NULL) memcpy(devices, result.devices, 1024);
    engine_result_free(&result);
    stop_if_failed();
    return state;
}

bool sim_reached(engine *e, uint64_t id, unsigned n, engine_partition_state state) {
    char job_id[64];
    snprintf(job_id, sizeof job_id, "job-%" PRIu64, id);
    for (unsigned tries = 0; tries < 10000; tries++) {
        engine_snapshot *s;
        cuzk_error err;
        unsigned got = 0;
        REQUIRE(engine_snapshot_take(e, &s, &err) == CUZK_OK);
        for (size_t i = 0; i < s->n_jobs; i++) {
            if (strcmp(s->jobs[i].job_id, job_id) != 0) continue;
            for (unsigned k = 0; k < s->jobs[i].n_partitions; k++)
                got += s->jobs[i].partitions[k].state >= state;
        }
        engine_snapshot_free(s);
        if (got >= n) return true;
        sim_sleep_us(1000);
    }
    return false;
}

static int in_log(sim_world *w, uint64_t id, bool last) {
    int at = -1;
    pthread_mutex_lock(&w->lock);
    for (unsigned i = 0; i < w->n_log && (last || at < 0); i++)
        if (w->log[i].id == id) at = (int)i;
    pthread_mutex_unlock(&w->lock);
    return at;
}

int sim_first(sim_world *w, uint64_t id) {
    return in_log(w, id, false);
}

int sim_last(sim_world *w, uint64_t id) {
    return in_log(w, id, true);
}
