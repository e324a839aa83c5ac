/* cuzk bench daemon: load on a daemon; latencies, throughput, timeline. */
#include "cli/cli.h"

#ifdef CUZK_HAVE_SERVER

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/bench_timeline.h"
#include "cli/daemon_client.h"
#include "filecoin/synth.h"
#include "host/json_out.h"

enum { MAX_JOBS = 1000000, N_KINDS = 5 };
static const char *const kind_names[N_KINDS] = {"", "porep", "snap", "window", "winning"};

/* A request of each kind that is in the mix: one synthetic proof, sent under many ids. */
typedef struct sample {
    Cuzk__V1__SubmitProofRequest message;
    uint8_t *bytes; /* all vanilla proofs, one after another */
    ProtobufCBinaryData *list;
    uint8_t nodes[4][32];
} sample;

typedef struct outcome {
    float seconds, queue_s, device_s;
    uint8_t kind;
    bool ok;
} outcome;

typedef struct load {
    const daemon_at *at;
    sample samples[N_KINDS];
    unsigned mix[N_KINDS], mix_sum;
    uint64_t count;
    double until; /* cli_now(); 0: no limit */
    atomic_uint_fast64_t next, failed;
    atomic_bool stop;
    outcome *outcomes;
    char run[17]; /* makes the request ids of this run its own */
    pthread_mutex_t lock;
    cuzk_error first_error;
} load;

/* ---- samples ---- */

static cuzk_status sample_parts(sample *s, size_t n, size_t each, cuzk_error *err) {
    s->bytes = malloc(n * each);
    s->list = calloc(n, sizeof *s->list);
    if (s->bytes == NULL || s->list == NULL)
        return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for %zu proofs", n);
    for (size_t i = 0; i < n; i++)
        s->list[i] = (ProtobufCBinaryData){each, s->bytes + i * each};
    return CUZK_OK;
}

static cuzk_status sample_porep(const cuzk_host *host, const sector_shape *sector, sample *s,
                                cuzk_error *err) {
    registered_seal seal;
    porep_c1 *c1;
    char name[64];
    const node32 seed = {1};
    snprintf(name, sizeof name, "StackedDrg%sV1_1", sector->name);
    CUZK_TRY(registered_seal_by_name(name, &seal, err));
    CUZK_TRY(porep_synth(host, &seal, 1000, 1, seed, &c1, err));
    const size_t bytes = porep_c1_binary_bytes(c1);
    cuzk_status status = sample_parts(s, 1, bytes, err);
    if (status == CUZK_OK) status = porep_c1_write_binary(c1, s->bytes, bytes, err);
    porep_c1_free(host, c1);
    s->message.vanilla_proof = (ProtobufCBinaryData){bytes, s->bytes};
    s->message.registered_proof = seal.number;
    s->message.miner_id = 1000;
    s->message.sector_number = 1;
    return status;
}

static cuzk_status sample_post(const cuzk_host *host, const sector_shape *sector, bool window,
                               sample *s, cuzk_error *err) {
    registered_post post;
    post_vanilla *v;
    const node32 seed = {2};
    const uint32_t paths = window ? WINDOW_CHALLENGES : WINNING_SECTORS;
    for (uint64_t i = 0;; i++) {
        CUZK_TRY(registered_post_by_number(i, &post, err));
        if (post.sector == sector && post.window == window) break;
    }
    CUZK_TRY(post_synth(host, &post, 1, 1, seed, s->nodes[0], &v, err));
    const size_t each = post_sector_bincode_bytes(sector, paths);
    const cuzk_status status = sample_parts(s, 1, each, err);
    if (status == CUZK_OK) post_sector_write_bincode(v, 0, s->bytes);
    post_vanilla_free(host, v);
    s->message.n_vanilla_proofs = 1;
    s->message.vanilla_proofs = s->list;
    s->message.registered_proof = post.number;
    s->message.randomness = (ProtobufCBinaryData){32, s->nodes[0]};
    s->message.miner_id = 1000;
    return status;
}

static cuzk_status sample_snap(const cuzk_host *host, const sector_shape *sector, sample *s,
                               cuzk_error *err) {
    snap_vanilla *v;
    const sector_shape *shape = NULL;
    const node32 seed = {3};
    for (uint64_t i = 0; shape != sector; i++) {
        CUZK_TRY(registered_update_by_number(i, &shape, err));
        s->message.registered_proof = i;
    }
    CUZK_TRY(snap_synth(host, sector, seed, s->nodes[1], s->nodes[2], s->nodes[3], &v, err));
    const size_t each = snap_partition_bincode_bytes(sector);
    const cuzk_status status = sample_parts(s, v->n_partitions, each, err);
    for (uint32_t k = 0; status == CUZK_OK && k < v->n_partitions; k++)
        snap_partition_write_bincode(v, k, s->bytes + k * each);
    s->message.n_vanilla_proofs = v->n_partitions;
    s->message.vanilla_proofs = s->list;
    s->message.comm_r_old = (ProtobufCBinaryData){32, s->nodes[1]};
    s->message.comm_r_new = (ProtobufCBinaryData){32, s->nodes[2]};
    s->message.comm_d_new = (ProtobufCBinaryData){32, s->nodes[3]};
    snap_vanilla_free(host, v);
    return status;
}

static cuzk_status make_samples(const cuzk_host *host, const sector_shape *sector, load *l,
                                cuzk_error *err) {
    for (unsigned kind = 1; kind < N_KINDS; kind++) {
        sample *s = &l->samples[kind];
        cuzk__v1__submit_proof_request__init(&s->message);
        s->message.proof_kind = (Cuzk__V1__ProofKind)kind;
        s->message.sector_size = sector->bytes;
        if (l->mix[kind] == 0) continue;
        if (kind == PROOF_POREP)
            CUZK_TRY(sample_porep(host, sector, s, err));
        else if (kind == PROOF_SNAP)
            CUZK_TRY(sample_snap(host, sector, s, err));
        else
            CUZK_TRY(sample_post(host, sector, kind == PROOF_WINDOW, s, err));
    }
    return CUZK_OK;
}

/* "porep=3,winning=1" */
static bool parse_mix(const char *text, load *l) {
    char copy[128], *save = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    for (char *word = strtok_r(copy, ",", &save); word != NULL; word = strtok_r(NULL, ",", &save)) {
        char *equal = strchr(word, '=');
        uint64_t weight = 1;
        unsigned kind = 1;
        if (equal != NULL) {
            *equal = 0;
            if (!cli_parse_unsigned(equal + 1, 0, 1000, &weight)) return false;
        }
        while (kind < N_KINDS && strcmp(kind_names[kind], word) != 0)
            kind++;
        if (kind == N_KINDS) return false;
        l->mix[kind] += (unsigned)weight;
        l->mix_sum += (unsigned)weight;
    }
    return l->mix_sum > 0;
}

/* Job i of the run, spread evenly. */
static unsigned kind_of(const load *l, uint64_t i) {
    unsigned at = (unsigned)(i % l->mix_sum), kind = 1;
    while (at >= l->mix[kind])
        at -= l->mix[kind++];
    return kind;
}

/* ---- load ---- */

static void one_job(load *l, rpc_client *client, uint64_t i) {
    char id[64];
    const unsigned kind = kind_of(l, i);
    Cuzk__V1__SubmitProofRequest message = l->samples[kind].message;
    Cuzk__V1__ProveRequest request = CUZK__V1__PROVE_REQUEST__INIT;
    Cuzk__V1__ProveResponse *reply;
    cuzk_error err = {0};
    snprintf(id, sizeof id, "bench-%s-%llu", l->run, (unsigned long long)i);
    message.request_id = id;
    request.submit = &message;
    const double start = cli_now();
    outcome *o = &l->outcomes[i];
    o->kind = (uint8_t)kind;
    if (rpc_client_call(client, "Prove", &request.base, 0, &cuzk__v1__prove_response__descriptor,
                        &reply, &err) == CUZK_OK) {
        const Cuzk__V1__AwaitProofResponse *r = reply->result;
        o->ok = r->status == CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED;
        o->queue_s = (float)r->queue_wait_ms / 1000;
        o->device_s = (float)r->gpu_compute_ms / 1000;
        if (!o->ok) (void)cuzk_fail(&err, CUZK_ERR_INTERNAL, "%.400s", r->error_message);
        cuzk__v1__prove_response__free_unpacked(reply, NULL);
    }
    o->seconds = (float)(cli_now() - start);
    if (o->ok) return;
    pthread_mutex_lock(&l->lock);
    if (l->first_error.status == CUZK_OK) l->first_error = err;
    pthread_mutex_unlock(&l->lock);
    atomic_fetch_add(&l->failed, 1);
}

static void *worker(void *arg) {
    load *l = arg;
    rpc_client *client;
    cuzk_error err;
    if (daemon_connect(l->at, &client, &err) != CUZK_OK) {
        pthread_mutex_lock(&l->lock);
        l->first_error = err;
        pthread_mutex_unlock(&l->lock);
        return NULL;
    }
    while (l->until == 0 || cli_now() < l->until) {
        const uint64_t i = atomic_fetch_add(&l->next, 1);
        if (i >= l->count) break;
        one_job(l, client, i);
    }
    rpc_client_close(client);
    return NULL;
}

static void *poller(void *arg) {
    timeline *t = ((void **)arg)[0];
    load *l = ((void **)arg)[1];
    while (!atomic_load(&l->stop)) {
        (void)timeline_poll(t, NULL);
        const struct timespec pause = {.tv_nsec = 500000000};
        nanosleep(&pause, NULL);
    }
    return NULL;
}

static cuzk_status run_load(load *l, uint64_t concurrency, timeline *t, double *seconds,
                            cuzk_error *err) {
    pthread_t *threads = calloc(concurrency, sizeof *threads), watch;
    uint64_t n = 0;
    void *args[2] = {t, l};
    if (threads == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for threads");
    const bool watching = t != NULL && pthread_create(&watch, NULL, poller, args) == 0;
    const double start = cli_now();
    while (n < concurrency && pthread_create(&threads[n], NULL, worker, l) == 0)
        n++;
    for (uint64_t i = 0; i < n; i++)
        pthread_join(threads[i], NULL);
    *seconds = cli_now() - start;
    atomic_store(&l->stop, true);
    if (watching) pthread_join(watch, NULL);
    free(threads);
    return t == NULL ? CUZK_OK : timeline_poll(t, err);
}

/* ---- report ---- */

static int by_value(const void *a, const void *b) {
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static void report_kind(json_out *j, const load *l, unsigned kind, uint64_t n_jobs,
                        double seconds) {
    static const double points[] = {0.5, 0.9, 0.99, 1};
    static const char *const names[] = {"p50_s", "p90_s", "p99_s", "max_s"};
    float *values = malloc((n_jobs + 1) * sizeof *values);
    size_t n = 0;
    double queue = 0, device = 0;
    for (uint64_t i = 0; values != NULL && i < n_jobs; i++) {
        const outcome *o = &l->outcomes[i];
        if (!o->ok || (kind != 0 && o->kind != kind)) continue;
        values[n++] = o->seconds;
        queue += (double)o->queue_s;
        device += (double)o->device_s;
    }
    if (n > 0) {
        qsort(values, n, sizeof *values, by_value);
        json_out_object(j, kind == 0 ? "all" : kind_names[kind]);
        json_out_u64(j, "completed", n);
        json_out_double(j, "per_second", (double)n / seconds);
        for (size_t i = 0; i < 4; i++) {
            const size_t at = (size_t)(points[i] * (double)n);
            json_out_double(j, names[i], (double)values[at < n ? at : n - 1]);
        }
        json_out_double(j, "mean_queue_s", queue / (double)n);
        json_out_double(j, "mean_device_s", device / (double)n);
        json_out_end_object(j);
    }
    free(values);
}

static void report(const load *l, uint64_t concurrency, double seconds) {
    json_out j = {.file = stdout};
    const uint64_t taken = atomic_load(&l->next), n = taken < l->count ? taken : l->count;
    json_out_object(&j, NULL);
    json_out_u64(&j, "jobs", n);
    json_out_u64(&j, "failed", atomic_load(&l->failed));
    json_out_u64(&j, "concurrency", concurrency);
    json_out_double(&j, "seconds", seconds);
    for (unsigned kind = 0; kind < N_KINDS; kind++)
        if (kind == 0 || l->mix[kind] > 0) report_kind(&j, l, kind, n, seconds);
    json_out_end_object(&j);
}

static int run(int argc, char **argv, const cli_command *self) {
    static daemon_at at;
    static load l;
    const char *mix = "winning=1", *size = "2KiB", *http = NULL, *json = NULL, *svg = NULL;
    uint64_t count = 0, concurrency = 4, duration = 0;
    double seconds = 0;
    timeline *t = NULL;
    cli_session s;
    cuzk_error err = {0};
    int code;
    const cli_option options[] = {
        {CLI_COUNT, "count", "N", "jobs (default 100, or as many as --duration allows)", &count, 1,
         MAX_JOBS, false},
        {CLI_COUNT, "concurrency", "J", "clients at once (default 4)", &concurrency, 1, 1000,
         false},
        {CLI_TEXT, "mix", "MIX", "weights: porep=3,winning=1 (also window, snap)", &mix, 0, 0,
         false},
        {CLI_COUNT, "duration", "SECONDS", "no new jobs after this", &duration, 1, 86400, false},
        {CLI_TEXT, "size", "SIZE", "sector size of the synthetic proofs (default 2KiB)", &size, 0,
         0, false},
        {CLI_TEXT, "http", "ADDR", "the daemon's status address, for the timeline", &http, 0, 0,
         false},
        {CLI_TEXT, "timeline", "FILE", "timeline as JSON (needs --http)", &json, 0, 0, false},
        {CLI_TEXT, "svg", "FILE", "timeline as a picture (needs --http)", &svg, 0, 0, false},
        DAEMON_OPTIONS(at),
    };
    if (!cli_parse(argc, argv, self, options, sizeof options / sizeof options[0], NULL, 0, &code))
        return code;
    const sector_shape *sector = sector_shape_by_name(size);
    if (sector == NULL) return cli_usage(self, "--size: no such sector size");
    if (!parse_mix(mix, &l)) return cli_usage(self, "--mix: porep=3,winning=1");
    if ((json != NULL || svg != NULL) && http == NULL)
        return cli_usage(self, "--timeline and --svg need --http");
    l.at = &at;
    l.count = count != 0 ? count : duration != 0 ? MAX_JOBS : 100;
    pthread_mutex_init(&l.lock, NULL);
    l.outcomes = calloc(l.count, sizeof *l.outcomes);
    if (cli_session_open(&s, 0, true, &err) != CUZK_OK) return cli_report(self, &err);
    uint8_t run_id[8];
    cuzk_status status = l.outcomes == NULL ? cuzk_fail(&err, CUZK_ERR_NO_MEMORY, "no memory")
                                            : s.host->random(s.host->self, run_id, sizeof run_id);
    cli_hex(l.run, run_id, sizeof run_id);
    if (status == CUZK_OK) status = make_samples(s.host, sector, &l, &err);
    cli_session_close(&s);
    if (status == CUZK_OK && http != NULL) status = timeline_new(http, &t, &err);
    if (status == CUZK_OK) {
        if (duration != 0) l.until = cli_now() + (double)duration;
        status = run_load(&l, concurrency, t, &seconds, &err);
        report(&l, concurrency, seconds);
    }
    if (status == CUZK_OK && json != NULL) status = timeline_write_json(t, json, &err);
    if (status == CUZK_OK && svg != NULL) status = timeline_write_svg(t, svg, &err);
    if (status == CUZK_OK && l.first_error.status != CUZK_OK) {
        err = l.first_error;
        status = err.status;
    }
    timeline_free(t);
    for (unsigned kind = 1; kind < N_KINDS; kind++) {
        free(l.samples[kind].bytes);
        free(l.samples[kind].list);
    }
    free(l.outcomes);
    return status == CUZK_OK ? EXIT_OK : cli_report(self, &err);
}

#else
#define run cli_no_server
#endif

const cli_command cmd_bench_daemon = {
    "bench daemon", "measure a daemon: latencies, throughput, idle gaps",
    "Sends synthetic proofs of the given kinds from several clients at once (the daemon needs the\n"
    "parameters) and prints latencies and throughput as JSON; with --http also where each device\n"
    "and worker was busy.",
    run};
