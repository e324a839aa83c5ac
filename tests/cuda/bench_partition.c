/* Full-size partitions of any circuit on a device: parameters made on it, a synthetic input, all
 * partitions in a pipeline of witnesses, device and verification, then one with its phases.
 *
 * bench_partition CIRCUIT DIR [VRAM_LIMIT_MIB] [REPEATS]: the parameter file is made in DIR when it
 * is missing. Window PoSt 32 GiB is the largest: a file of 60.8 GB, which a DIR in tmpfs keeps in
 * memory, beside 17 GB of set-up and, later, 4.1 GB of witness. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "cuda/cuda_library.h"
#include "filecoin/synth.h"
#include "host/host_std.h"
#include "prover/prove.h"

#define MAX_PARTITIONS 16

static cuzk_error err;

static void need(cuzk_status status, const char *what) {
    if (status == CUZK_OK) return;
    fprintf(stderr, "%s: %s (%s)\n", what, err.text, cuzk_status_name(status));
    exit(1);
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double cpu_seconds(void) {
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* Anonymous memory of the process: files in tmpfs are not in it. */
static double rss_gb(void) {
    long pages = 0, resident = 0, shared = 0;
    FILE *f = fopen("/proc/self/statm", "r");
    if (f == NULL || fscanf(f, "%ld %ld %ld", &pages, &resident, &shared) != 3) return 0;
    fclose(f);
    return 1e-9 * (double)(resident - shared) * (double)sysconf(_SC_PAGESIZE);
}

/* ---- parameters ---- */

typedef struct setup_watch {
    double start, first_points; /* seconds; 0: none yet */
    double peak_gb;
} setup_watch;

/* The first points are written when the scalars are known. */
static void watch_setup(void *arg, const char *stage, uint64_t done, uint64_t total) {
    setup_watch *w = arg;
    if (strcmp(stage, "parameters") != 0 || done > total) return;
    if (w->first_points == 0) w->first_points = now() - w->start;
    const double gb = rss_gb();
    if (gb > w->peak_gb) w->peak_gb = gb;
}

static void make_parameters(const circuit_id *id, const char *dir) {
    const cuda_library *library = cuzk_cuda_library_entry();
    const cuda_options options = {NULL, 0};
    host_std *std = NULL;
    char params[1024], vk[1024];
    r1cs *circuit = NULL;
    groth16_encoder *encoder = NULL;
    groth16_secrets secrets;
    need(params_path(dir, id, ".params", params, sizeof params, &err), "path");
    need(params_path(dir, id, ".vk", vk, sizeof vk, &err), "path");
    if (access(params, R_OK) == 0) return;
    need(host_std_new(0, 0, &std, &err), "host");
    const cuzk_host *host = host_std_host(std);
    double start = now();
    need(circuit_record(host, id, true, &circuit, &err), "record");
    printf("record with C             %8.2f s\n", now() - start);
    start = now();
    need(library->encoder_open(host, &options, &encoder, &err), "encoder");
    printf("open device, self-test    %8.2f s\n", now() - start);
    need(groth16_secrets_random(host, &secrets, &err), "secrets");
    setup_watch watch = {.start = now()};
    host_std_set_progress(std, watch_setup, &watch);
    need(groth16_setup_with(host, circuit, &secrets, encoder, params, vk, &err), "set-up");
    printf("set-up                    %8.2f s, first points after %.2f; host memory taken: %.2f GB "
           "at most, %.2f GB resident while points were made\n",
           now() - watch.start, watch.first_points, 1e-9 * (double)host_std_peak(std),
           watch.peak_gb);
    library->encoder_close(encoder);
    r1cs_free(host, circuit);
    host_std_free(std);
    fflush(stdout);
}

/* ---- the pipeline ---- */

typedef struct pipeline {
    const cuzk_host *host; /* of the witness maker alone */
    const proof_job *job;
    const proving_key *key;
    witness w[MAX_PARTITIONS];
    double witness_s[MAX_PARTITIONS];
    uint32_t ready;
    pthread_mutex_t mutex;
    pthread_cond_t changed;
} pipeline;

static void *make_witnesses(void *arg) {
    pipeline *p = arg;
    for (uint32_t k = 0; k < p->job->partitions; k++) {
        cuzk_error e;
        const double start = now();
        if (proof_job_witness(p->host, p->job, p->key->circuit, k, &p->w[k], &e) != CUZK_OK) {
            fprintf(stderr, "witness %u: %s\n", k, e.text);
            exit(1);
        }
        p->witness_s[k] = now() - start;
        pthread_mutex_lock(&p->mutex);
        p->ready = k + 1;
        pthread_cond_signal(&p->changed);
        pthread_mutex_unlock(&p->mutex);
    }
    return NULL;
}

static void await_witness(pipeline *p, uint32_t k) {
    pthread_mutex_lock(&p->mutex);
    while (p->ready <= k)
        pthread_cond_wait(&p->changed, &p->mutex);
    pthread_mutex_unlock(&p->mutex);
}

static void verify(const cuzk_host *host, const pipeline *p, uint32_t k, const groth16_sums *sums) {
    groth16_proof proof;
    need(prove_finish(host, p->key, p->job, k, sums, NULL, &proof, &err), "verify");
}

/* All partitions: witness k + 1 is made, and the proof of k - 1 verified, while the device works on
 * k: begin(k + 1) starts k. */
static void run_pipeline(const cuzk_host *host, executor *ex, pipeline *p) {
    pthread_t thread;
    p->ready = 0;
    const double start = now();
    if (pthread_create(&thread, NULL, make_witnesses, p) != 0) exit(1);
    const uint32_t n = p->job->partitions;
    groth16_sums sums, last;
    for (uint32_t k = 0; k < n; k++) {
        await_witness(p, k);
        need(ex->ops->begin(ex, k % 2, &p->w[k], &err), "begin");
        if (k > 1) verify(host, p, k - 2, &sums);
        if (k > 0) need(ex->ops->finish(ex, (k - 1) % 2, &sums, NULL, &err), "finish");
    }
    need(ex->ops->finish(ex, (n - 1) % 2, &last, NULL, &err), "finish");
    if (n > 1) verify(host, p, n - 2, &sums);
    verify(host, p, n - 1, &last);
    const double total = now() - start;
    pthread_join(thread, NULL);
    double witness_s = 0;
    for (uint32_t k = 0; k < n; k++)
        witness_s += p->witness_s[k];
    printf("%u partitions, verified   %8.3f s (witnesses %.3f s in all)\n", n, total, witness_s);
    fflush(stdout);
}

/* ---- one step alone ---- */

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void run_single(executor *ex, const witness *w, int repeats) {
    static const char *const names[CUDA_PHASES] = {"upload", "A w, B w", "quotient", "h",
                                                   "l",      "a",        "b_g1",     "b_g2"};
    double wall[64], ms[CUDA_PHASES][64];
    for (int i = 0; i < repeats; i++) {
        groth16_sums sums;
        cuda_phases phases;
        const double start = now();
        need(ex->ops->begin(ex, 0, w, &err), "begin");
        need(ex->ops->finish(ex, 0, &sums, NULL, &err), "finish");
        wall[i] = 1e3 * (now() - start);
        cuzk_cuda_library_entry()->phases(ex, &phases);
        for (int k = 0; k < CUDA_PHASES; k++)
            ms[k][i] = phases.ms[k];
    }
    qsort(wall, (size_t)repeats, sizeof wall[0], compare);
    printf("one partition, median of %d: %.1f ms (best %.1f)\n", repeats, wall[repeats / 2],
           wall[0]);
    for (int k = 0; k < CUDA_PHASES; k++) {
        qsort(ms[k], (size_t)repeats, sizeof ms[k][0], compare);
        printf("  %-10s %9.2f ms\n", names[k], ms[k][repeats / 2]);
    }
    fflush(stdout);
}

/* The machine to itself, unlike in the pipeline. */
static void run_witness(const cuzk_host *host, const pipeline *p, witness *w, int repeats) {
    double wall[64], cpu[64];
    for (int i = 0; i < repeats; i++) {
        const double start = now(), cpu_start = cpu_seconds();
        need(proof_job_witness(host, p->job, p->key->circuit, 0, w, &err), "witness");
        wall[i] = now() - start;
        cpu[i] = cpu_seconds() - cpu_start;
    }
    qsort(wall, (size_t)repeats, sizeof wall[0], compare);
    qsort(cpu, (size_t)repeats, sizeof cpu[0], compare);
    printf("witness alone, median of %d: %.1f ms on %u cores (%.2f CPU s)\n", repeats,
           1e3 * wall[repeats / 2], host->workers, cpu[repeats / 2]);
    fflush(stdout);
}

/* ---- inputs ---- */

static const node32 seed = {1, 2, 3};

static void porep_job(const cuzk_host *host, const circuit_id *id, proof_job **job) {
    porep_c1 *c1 = NULL;
    registered_seal seal;
    char name[64];
    snprintf(name, sizeof name, "StackedDrg%sV1_1", id->sector->name);
    need(registered_seal_by_name(name, &seal, &err), name);
    need(porep_synth(host, &seal, 1000, 42, seed, &c1, &err), "synthetic sector");
    need(proof_job_porep(host, c1, job, &err), "job");
}

/* Window: one full partition. */
static void post_job(const cuzk_host *host, const circuit_id *id, proof_job **job) {
    const bool window = id->kind == PROOF_WINDOW;
    post_vanilla *v = NULL;
    registered_post post = {0}, next;
    node32 randomness;
    for (uint64_t i = 0; registered_post_by_number(i, &next, NULL) == CUZK_OK; i++)
        if (next.sector == id->sector && next.window == window) post = next;
    if (post.sector == NULL) {
        fprintf(stderr, "no registered proof of this kind and size\n");
        exit(1);
    }
    need(post_synth(host, &post, 1, window ? id->sector->window_sectors : 1, seed, randomness, &v,
                    &err),
         "synthetic sectors");
    need(proof_job_post(host, &post, randomness, v, job, &err), "job");
}

static void snap_job(const cuzk_host *host, const circuit_id *id, proof_job **job) {
    snap_vanilla *v = NULL;
    node32 comm_r_old, comm_r_new, comm_d_new;
    need(snap_synth(host, id->sector, seed, comm_r_old, comm_r_new, comm_d_new, &v, &err),
         "synthetic update");
    need(proof_job_snap(host, id, comm_r_old, comm_r_new, comm_d_new, v, job, &err), "job");
}

static proof_job *make_job(const cuzk_host *host, const circuit_id *id) {
    proof_job *job = NULL;
    if (id->kind == PROOF_POREP)
        porep_job(host, id, &job);
    else if (id->kind == PROOF_SNAP)
        snap_job(host, id, &job);
    else
        post_job(host, id, &job);
    return job;
}

static void load(executor *ex, const proving_key *key, executor_effort effort, const char *name) {
    executor_key ek = proving_key_for_executor(key);
    uint64_t device_bytes = 0, host_bytes = 0;
    ek.effort = effort;
    double start = now();
    need(ex->ops->plan(ex, &ek, &device_bytes, &host_bytes, &err), "plan");
    const double plan_s = now() - start;
    start = now();
    need(ex->ops->load(ex, &ek, &err), "load");
    printf("load, %-9s           %8.2f s (planned %.2f GB in %.3f s)\n", name, now() - start,
           1e-9 * (double)device_bytes, plan_s);
}

int main(int argc, char **argv) {
    host_std *std = NULL, *witness_std = NULL;
    circuit_id id;
    proving_key *key = NULL;
    executor *ex = NULL;
    if (argc < 3) {
        fprintf(stderr, "usage: bench_partition CIRCUIT DIR [VRAM_LIMIT_MIB] [REPEATS]\n");
        return 2;
    }
    const cuda_options options = {NULL, (argc > 3 ? strtoull(argv[3], NULL, 10) : 0) << 20};
    int repeats = argc > 4 ? atoi(argv[4]) : 5;
    if (repeats < 1 || repeats > 64) repeats = 5;
    cuda_device_info info;
    unsigned n = 0;
    need(cuzk_cuda_library_entry()->devices(&info, 1, &n, &err), "devices");
    if (n == 0) {
        printf("skipped: no GPU\n");
        return 77;
    }
    need(host_std_new(0, 0, &std, &err), "host");
    need(host_std_new(0, 0, &witness_std, &err), "host");
    const cuzk_host *host = host_std_host(std);
    need(circuit_id_parse(argv[1], &id, &err), "circuit");
    make_parameters(&id, argv[2]);

    double start = now();
    static pipeline p;
    p = (pipeline){.host = host_std_host(witness_std)};
    p.job = make_job(host, &id);
    printf("synthetic input           %8.2f s\n", now() - start);
    start = now();
    need(proving_key_load(host, &id, argv[2], &key, &err), "key");
    p.key = key;
    printf("record, map parameters    %8.2f s\n", now() - start);
    start = now();
    need(cuzk_cuda_library_entry()->open(host, &options, &ex, &err), "device");
    printf("open device, self-test    %8.2f s\n", now() - start);
    const uint64_t calls = cuzk_cuda_library_entry()->device_wide_calls();
    printf("arena                     %8.2f GB\n",
           1e-9 * (double)(options.vram_limit != 0 ? options.vram_limit : info.memory_bytes));
    load(ex, key, EXECUTOR_NORMAL, "normal");
    load(ex, key, EXECUTOR_THOROUGH, "thorough"); /* the steady state: what is measured below */
    if (pthread_mutex_init(&p.mutex, NULL) != 0 || pthread_cond_init(&p.changed, NULL) != 0)
        return 1;
    for (uint32_t k = 0; k < p.job->partitions; k++)
        need(witness_new(host, key->circuit, &p.w[k], &err), "witness");
    run_pipeline(host, ex, &p);
    run_single(ex, &p.w[0], repeats);
    if (options.vram_limit == 0)
        for (int i = 0; i < 2; i++)
            run_pipeline(host, ex, &p);
    run_witness(host, &p, &p.w[0], repeats);
    printf("device-wide calls after opening: %llu\nhost memory taken: %.2f GB at most; anonymous "
           "memory now %.2f GB, witnesses of %u partitions included\n",
           (unsigned long long)(cuzk_cuda_library_entry()->device_wide_calls() - calls),
           1e-9 * (double)host_std_peak(std), rss_gb(), p.job->partitions);
    ex->ops->close(ex);
    for (uint32_t k = 0; k < p.job->partitions; k++)
        witness_free(host, &p.w[k]);
    proof_job_free(host, (proof_job *)p.job);
    proving_key_free(host, key);
    host_std_free(witness_std);
    host_std_free(std);
    return 0;
}
