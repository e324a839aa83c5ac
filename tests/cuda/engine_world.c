#include "engine_world.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cuda/cuda_library.h"
#include "engine/work_prover.h"
#include "filecoin/synth.h"
#include "host/host_std.h"
#include "prover/key.h"
#include "prover/prove.h"

static host_std *std;
static const cuzk_host *host;
static bool on_cpu;
static work_prover prover;
static engine_work_ops work;
static cuzk_error error;

void world_need(cuzk_status status, const cuzk_error *err, const char *what) {
    if (status == CUZK_OK) return;
    fflush(stdout);
    fprintf(stderr, "%s: %s (%s)\n", what, err->text, cuzk_status_name(status));
    exit(1);
}

double world_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

unsigned world_devices(char name[96], uint64_t *memory_bytes) {
    cuda_device_info info[WORLD_MAX_DEVICES];
    unsigned n = 0, usable = 0;
    *memory_bytes = 0;
    snprintf(name, 96, "CPU");
    if (on_cpu) return 1;
    world_need(cuzk_cuda_library_entry()->devices(info, WORLD_MAX_DEVICES, &n, &error), &error,
               "devices");
    while (usable < n && usable < WORLD_MAX_DEVICES && info[usable].unusable[0] == 0)
        usable++;
    if (usable == 0) return 0;
    snprintf(name, 96, "%s", info[0].name);
    *memory_bytes = info[0].memory_bytes;
    return usable;
}

/* ---- keys: loaded once for all engines ---- */

static struct {
    char circuit[32];
    engine_key_data *data;
} keys[8];
static pthread_mutex_t keys_lock = PTHREAD_MUTEX_INITIALIZER;

static cuzk_status key_load(void *self, const cuzk_host *h, const char *circuit,
                            engine_key_data **out, cuzk_error *err) {
    const size_t max = sizeof keys / sizeof keys[0];
    cuzk_status status = CUZK_OK;
    pthread_mutex_lock(&keys_lock);
    size_t i = 0;
    while (i < max && keys[i].data != NULL && strcmp(keys[i].circuit, circuit) != 0)
        i++;
    if (i == max) {
        status = cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "more than %zu circuits", max);
    } else if (keys[i].data == NULL) {
        status = work_prover_ops.key_load(self, h, circuit, &keys[i].data, err);
        snprintf(keys[i].circuit, sizeof keys[i].circuit, "%s", circuit);
    }
    if (status == CUZK_OK) *out = keys[i].data;
    pthread_mutex_unlock(&keys_lock);
    return status;
}

static void key_keep(void *self, const cuzk_host *h, engine_key_data *data) {
    (void)self;
    (void)h;
    (void)data;
}

/* ---- parameters ---- */

static void make_parameters(const circuit_id *id, const char *name) {
    char params[1024], vk[1024];
    r1cs *circuit = NULL;
    groth16_encoder *encoder = NULL;
    groth16_secrets secrets;
    const cuda_library *library = cuzk_cuda_library_entry();
    world_need(params_path(prover.params_dir, id, ".params", params, sizeof params, &error), &error,
               "path");
    world_need(params_path(prover.params_dir, id, ".vk", vk, sizeof vk, &error), &error, "path");
    if (access(params, R_OK) == 0) return;
    const double start = world_seconds();
    world_need(circuit_record(host, id, true, &circuit, &error), &error, "record");
    if (!on_cpu)
        world_need(library->encoder_open(host, &(cuda_options){NULL, 0}, &encoder, &error), &error,
                   "encoder");
    world_need(groth16_secrets_random(host, &secrets, &error), &error, "secrets");
    world_need(groth16_setup_with(host, circuit, &secrets, encoder, params, vk, &error), &error,
               "set-up");
    if (encoder != NULL) library->encoder_close(encoder);
    r1cs_free(host, circuit);
    printf("made the parameters of %s in %.1f s\n", name, world_seconds() - start);
    fflush(stdout);
}

/* ---- requests ---- */

/* A body: kind, partitions to prove (0: all), the PoSt's number, its number of sectors; then a C1
 * in binary form, or the randomness and the sectors' proofs. */
enum { BODY_KIND, BODY_PARTITIONS, BODY_POST, BODY_SECTORS, BODY_HEAD };
#define SYNTH_SEED                                                                                 \
    { 1, 2, 3 }

static void *checked_malloc(size_t bytes) {
    void *p = malloc(bytes);
    if (p == NULL) {
        fprintf(stderr, "no memory for %zu bytes\n", bytes);
        exit(1);
    }
    return p;
}

static void body_new(world_input *in, size_t bytes) {
    in->body_bytes = BODY_HEAD + bytes;
    in->body = checked_malloc(in->body_bytes);
    memset(in->body, 0, in->body_bytes);
}

static void make_porep(world_input *in, const circuit_id *id, uint32_t partitions) {
    const node32 seed = SYNTH_SEED;
    registered_seal seal;
    porep_c1 *c1 = NULL;
    char name[64];
    snprintf(name, sizeof name, "StackedDrg%sV1_1", id->sector->name);
    world_need(registered_seal_by_name(name, &seal, &error), &error, name);
    world_need(porep_synth(host, &seal, 1000, 42, seed, &c1, &error), &error, "synthetic sector");
    if (partitions == 0 || partitions > c1->partitions) partitions = c1->partitions;
    const size_t bytes = porep_c1_binary_bytes(c1);
    body_new(in, bytes);
    in->body[BODY_PARTITIONS] = (uint8_t)partitions;
    in->partitions = partitions;
    world_need(porep_c1_write_binary(c1, in->body + BODY_HEAD, bytes, &error), &error, "C1");
    porep_c1_free(host, c1);
}

static void make_post(world_input *in, const circuit_id *id) {
    const node32 seed = SYNTH_SEED;
    const bool window = id->kind == PROOF_WINDOW;
    registered_post post;
    post_vanilla *v = NULL;
    char name[64];
    node32 randomness;
    snprintf(name, sizeof name, window ? "StackedDrgWindow%sV1_2" : "StackedDrgWinning%sV1",
             id->sector->name);
    world_need(registered_post_by_name(name, &post, &error), &error, name);
    const size_t n = window ? id->sector->window_sectors : 1;
    world_need(post_synth(host, &post, 42, n, seed, randomness, &v, &error), &error, "sectors");
    const size_t blob = post_sector_bincode_bytes(v->sector, v->sectors[0].n_paths);
    body_new(in, sizeof randomness + n * blob);
    in->body[BODY_POST] = (uint8_t)post.number;
    in->body[BODY_SECTORS] = (uint8_t)n;
    in->partitions = post_partitions(&post, n);
    memcpy(in->body + BODY_HEAD, randomness, sizeof randomness);
    for (uint32_t i = 0; i < n; i++)
        post_sector_write_bincode(v, i, in->body + BODY_HEAD + sizeof randomness + i * blob);
    post_vanilla_free(host, v);
}

void world_input_make(world_input *in, const char *circuit, uint32_t partitions) {
    circuit_id id;
    *in = (world_input){.priority = ENGINE_PRIORITY_NORMAL};
    world_need(circuit_id_parse(circuit, &id, &error), &error, "circuit");
    circuit_id_format(&id, in->circuit);
    make_parameters(&id, in->circuit);
    switch (id.kind) {
    case PROOF_POREP:
        snprintf(in->kind, sizeof in->kind, "porep-c2");
        make_porep(in, &id, partitions);
        break;
    case PROOF_WINDOW:
    case PROOF_WINNING:
        in->priority = id.kind == PROOF_WINNING ? ENGINE_PRIORITY_CRITICAL : ENGINE_PRIORITY_HIGH;
        snprintf(in->kind, sizeof in->kind, "%s-post",
                 id.kind == PROOF_WINNING ? "winning" : "window");
        make_post(in, &id);
        break;
    default:
        fprintf(stderr, "%s: only PoRep and PoSt\n", circuit);
        exit(2);
    }
    in->body[BODY_KIND] = (uint8_t)id.kind;
}

void world_input_free(world_input *in) {
    free(in->body);
    *in = (world_input){0};
}

static cuzk_status decode_porep(const cuzk_host *h, const uint8_t *body, size_t bytes,
                                proof_job **out, cuzk_error *err) {
    porep_c1 *c1 = NULL;
    CUZK_TRY(porep_c1_read_binary(h, body + BODY_HEAD, bytes - BODY_HEAD, &c1, err));
    const cuzk_status status = proof_job_porep(h, c1, out, err);
    if (status != CUZK_OK) porep_c1_free(h, c1);
    /* Each partition is a proof by itself: fewer are as real as all. */
    if (status == CUZK_OK && body[BODY_PARTITIONS] < (*out)->partitions)
        (*out)->partitions = body[BODY_PARTITIONS];
    return status;
}

static cuzk_status decode_post(const cuzk_host *h, const uint8_t *body, size_t bytes,
                               proof_job **out, cuzk_error *err) {
    const uint8_t *blobs[256];
    size_t sizes[256];
    node32 randomness;
    registered_post post;
    post_vanilla *v = NULL;
    const size_t n = body[BODY_SECTORS], head = BODY_HEAD + sizeof randomness;
    if (bytes < head || n == 0 || (bytes - head) % n != 0)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "a body of %zu bytes for %zu sectors", bytes, n);
    for (size_t i = 0; i < n; i++) {
        sizes[i] = (bytes - head) / n;
        blobs[i] = body + head + i * sizes[i];
    }
    memcpy(randomness, body + BODY_HEAD, sizeof randomness);
    CUZK_TRY(registered_post_by_number(body[BODY_POST], &post, err));
    CUZK_TRY(post_vanilla_read(h, &post, blobs, sizes, n, &v, err));
    const cuzk_status status = proof_job_post(h, &post, randomness, v, out, err);
    if (status != CUZK_OK) post_vanilla_free(h, v);
    return status;
}

static cuzk_status decode(const cuzk_host *h, const uint8_t *body, size_t bytes, proof_job **out,
                          cuzk_error *err) {
    if (bytes < BODY_HEAD) return cuzk_fail(err, CUZK_ERR_FORMAT, "a body of %zu bytes", bytes);
    return body[BODY_KIND] == PROOF_POREP ? decode_porep(h, body, bytes, out, err)
                                          : decode_post(h, body, bytes, out, err);
}

/* ---- what is seen ---- */

#define MAX_MOVES 65536
static world_move moves[MAX_MOVES];
static atomic_size_t n_moves;
static atomic_int flying; /* partitions from witness to verified */

/* Called under the engine's lock. */
static void take_event(void *self, const engine_event *event) {
    (void)self;
    if (event->type == ENGINE_EVENT_DEVICE)
        printf("event: device %d: %s\n", event->device, event->text);
    if (event->type == ENGINE_EVENT_RETRY) printf("event: retry: %s\n", event->text);
    if (event->type != ENGINE_EVENT_STAGE) return;
    const size_t n = atomic_load(&n_moves);
    if (n < MAX_MOVES) {
        moves[n] = (world_move){
            .at_ms = event->at_ms, .partition = (unsigned)event->partition, .stage = event->stage};
        snprintf(moves[n].kind, sizeof moves[n].kind, "%s", event->kind);
        atomic_store(&n_moves, n + 1);
    }
    if (event->stage == ENGINE_PARTITION_WITNESS) atomic_fetch_add(&flying, 1);
    if (event->stage == ENGINE_PARTITION_DONE || event->stage == ENGINE_PARTITION_FAILED ||
        event->stage == ENGINE_PARTITION_PENDING)
        atomic_fetch_sub(&flying, 1);
}

size_t world_moves(const world_move **out) {
    *out = moves;
    return atomic_load(&n_moves);
}

static pthread_t sampler;
static atomic_bool sampling;
static pthread_mutex_t memory_lock = PTHREAD_MUTEX_INITIALIZER;
static world_memory memory;
static uint64_t base_anonymous, base_held;

/* "RssAnon: 123 kB" of /proc/self/status, in bytes. */
static uint64_t status_bytes(const char *field) {
    char line[256];
    unsigned long long kib = 0;
    FILE *f = fopen("/proc/self/status", "r");
    if (f == NULL) return 0;
    while (fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, field, strlen(field)) == 0 &&
            sscanf(line + strlen(field), ": %llu", &kib) == 1)
            break;
    fclose(f);
    return (uint64_t)kib * 1024;
}

static uint64_t larger(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

static void sample(void) {
    const int n = atomic_load(&flying);
    const uint64_t anonymous = status_bytes("RssAnon"), held = host_std_used(std);
    pthread_mutex_lock(&memory_lock);
    memory.anonymous = anonymous;
    memory.held = held;
    memory.peak_anonymous = larger(memory.peak_anonymous, anonymous);
    if (n > (int)memory.in_flight) memory.in_flight = (unsigned)n;
    if (n >= 3 && anonymous > base_anonymous)
        memory.each_anonymous =
            larger(memory.each_anonymous, (anonymous - base_anonymous) / (unsigned)n);
    if (n >= 3 && held > base_held)
        memory.each_held = larger(memory.each_held, (held - base_held) / (unsigned)n);
    pthread_mutex_unlock(&memory_lock);
}

static void *sample_memory(void *arg) {
    (void)arg;
    while (atomic_load(&sampling)) {
        sample();
        const struct timespec pause = {.tv_nsec = 10 * 1000 * 1000};
        nanosleep(&pause, NULL);
    }
    return NULL;
}

void world_memory_base(void) {
    pthread_mutex_lock(&memory_lock);
    base_anonymous = status_bytes("RssAnon");
    base_held = host_std_used(std);
    memory = (world_memory){0};
    pthread_mutex_unlock(&memory_lock);
}

void world_memory_seen(world_memory *out) {
    sample();
    pthread_mutex_lock(&memory_lock);
    *out = memory;
    pthread_mutex_unlock(&memory_lock);
    out->peak_resident = status_bytes("VmHWM");
}

/* ---- the engine ---- */

static char state_root[64];
static unsigned n_states;

void world_open(const char *dir, bool cpu) {
    on_cpu = cpu;
    /* As the daemon does: freed memory goes back. */
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
    world_need(host_std_new(0, 0, &std, &error), &error, "host");
    host = host_std_host(std);
    snprintf(prover.params_dir, sizeof prover.params_dir, "%s", dir);
    prover.decode = decode;
    work = work_prover_ops;
    work.key_load = key_load;
    work.key_free = key_keep;
    strcpy(state_root, "/tmp/cuzk-bench-XXXXXX");
    if (mkdtemp(state_root) == NULL) {
        perror(state_root);
        exit(1);
    }
    atomic_store(&sampling, true);
    if (pthread_create(&sampler, NULL, sample_memory, NULL) != 0) exit(1);
}

void world_close(void) {
    char command[128];
    atomic_store(&sampling, false);
    pthread_join(sampler, NULL);
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i].data != NULL) work_prover_ops.key_free(&prover, host, keys[i].data);
    if (host_std_used(std) != 0) {
        fprintf(stderr, "%llu bytes were not given back\n", (unsigned long long)host_std_used(std));
        exit(1);
    }
    host_std_free(std);
    snprintf(command, sizeof command, "rm -rf %s", state_root);
    if (system(command) != 0) exit(1);
}

static uint64_t device_calls(void) {
    return on_cpu ? 0 : cuzk_cuda_library_entry()->device_wide_calls();
}

static executor *open_device(unsigned ordinal, uint64_t vram_limit) {
    executor *ex = NULL;
    char name[32];
    snprintf(name, sizeof name, "%u", ordinal);
    const cuda_options options = {name, vram_limit};
    world_need(on_cpu ? executor_cpu_open(host, &ex, &error)
                      : cuzk_cuda_library_entry()->open(host, &options, &ex, &error),
               &error, "device");
    return ex;
}

void world_engine_open(world_engine *w, unsigned devices, uint64_t vram_limit, unsigned workers) {
    static engine_config c; /* large */
    c = (engine_config){.memory_budget = WORLD_BUDGET,
                        .witness_threads = workers,
                        .queue_limit = 1000,
                        .result_limit = 1000,
                        .job_attempts = 3,
                        .device_failures = 3,
                        .watchdog_ms = 60000,
                        .ageing_ms = 600000,
                        .on_failure = ENGINE_ON_FAILURE_FAIL,
                        .work = &work,
                        .work_self = &prover,
                        .host = host,
                        .on_event = take_event};
    snprintf(c.state_dir, sizeof c.state_dir, "%s/%u", state_root, n_states++);
    while (c.n_devices < devices) {
        executor *const ex = open_device(c.n_devices, vram_limit);
        c.devices[c.n_devices++] = (engine_device_config){.ex = ex};
    }
    atomic_store(&n_moves, 0);
    atomic_store(&flying, 0);
    w->device_calls = device_calls();
    world_need(engine_open(&c, &w->e, &error), &error, "engine");
}

uint64_t world_engine_close(world_engine *w) {
    engine_drain(w->e, 60000);
    const uint64_t calls = device_calls() - w->device_calls;
    engine_close(w->e);
    w->e = NULL;
    return calls;
}

void world_preload(const world_engine *w, const world_input *in) {
    bool already;
    uint64_t ms;
    world_need(engine_preload(w->e, in->circuit, &already, &ms, &error), &error, in->circuit);
}

void world_submit(const world_engine *w, const world_input *in, const char *id) {
    engine_submitted submitted;
    engine_request request = {
        .priority = in->priority, .body = in->body, .body_bytes = in->body_bytes};
    snprintf(request.request_id, sizeof request.request_id, "%s", id);
    snprintf(request.kind, sizeof request.kind, "%s", in->kind);
    world_need(engine_submit(w->e, &request, &submitted, &error), &error, id);
}

static bool proof_holds(const world_input *in, const engine_result *r) {
    circuit_id id;
    groth16_vk *vk = NULL;
    proof_job *job = NULL;
    world_need(circuit_id_parse(in->circuit, &id, &error), &error, in->circuit);
    world_need(verifying_key_load(host, &id, prover.params_dir, &vk, &error), &error, in->circuit);
    world_need(decode(host, in->body, in->body_bytes, &job, &error), &error, in->circuit);
    const bool holds = verify_job(host, vk, job, r->proof, r->proof_bytes, &error) == CUZK_OK;
    proof_job_free(host, job);
    groth16_vk_free(host, vk);
    return holds;
}

bool world_await(const world_engine *w, const world_input *in, const char *id,
                 engine_result *result) {
    engine_result r;
    world_need(engine_await(w->e, id, 600000, NULL, &r, &error), &error, id);
    const bool ok = r.state == ENGINE_JOB_COMPLETED && proof_holds(in, &r);
    engine_result_free(&(engine_result){.proof = r.proof});
    r.proof = NULL;
    if (result != NULL) *result = r;
    return ok;
}

bool world_prove(const world_engine *w, const world_input *in, const char *id,
                 engine_result *result) {
    world_submit(w, in, id);
    return world_await(w, in, id, result);
}

void world_job_view(const world_engine *w, const char *id, engine_job_view *view,
                    engine_partition_view *partition) {
    engine_snapshot *s;
    *view = (engine_job_view){0};
    *partition = (engine_partition_view){0};
    world_need(engine_snapshot_take(w->e, &s, &error), &error, "snapshot");
    for (size_t i = 0; i < s->n_jobs; i++) {
        if (strcmp(s->jobs[i].job_id, id) != 0) continue;
        *view = s->jobs[i];
        if (view->n_partitions > 0) *partition = view->partitions[0];
        view->partitions = NULL;
    }
    engine_snapshot_free(s);
}
