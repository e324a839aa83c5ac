#include "server/metrics.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server/request.h"

enum { STAGE_WITNESS, STAGE_QUEUE, STAGE_DEVICE, STAGE_VERIFY, N_STAGES };
static const char *const stage_names[N_STAGES] = {"witness", "queue", "device", "verify"};

static const double bounds[] = {0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1,    2.5,
                                5,     10,   30,    60,   120, 300,  600, 1800, 3600};
enum { N_BOUNDS = sizeof bounds / sizeof bounds[0], N_KINDS = REQUEST_KINDS + 1 };

typedef struct histogram {
    uint64_t buckets[N_BOUNDS + 1]; /* not cumulative; the last is above all bounds */
    uint64_t count, sum_ms;
} histogram;

struct metrics {
    pthread_mutex_t lock;
    metrics_counts counts;
    uint64_t minute; /* that counts.completed_in_hour[0] stands for */
    uint64_t submitted[N_KINDS], retries;
    histogram jobs[N_KINDS], stages[N_KINDS][N_STAGES];
};

metrics *metrics_new(void) {
    metrics *m = calloc(1, sizeof *m);
    if (m != NULL) pthread_mutex_init(&m->lock, NULL);
    return m;
}

void metrics_free(metrics *m) {
    if (m == NULL) return;
    pthread_mutex_destroy(&m->lock);
    free(m);
}

static unsigned kind_index(const char *name) {
    for (unsigned kind = 1; kind <= REQUEST_KINDS; kind++)
        if (strcmp(request_kind_name(kind), name) == 0) return kind;
    return 0;
}

static void observe(histogram *h, uint64_t ms) {
    unsigned i = 0;
    while (i < N_BOUNDS && (double)ms > 1000 * bounds[i])
        i++;
    h->buckets[i]++;
    h->count++;
    h->sum_ms += ms;
}

/* Make completed_in_hour[0] the minute of now. */
static void roll(metrics *m, uint64_t now_ms) {
    uint64_t *hour = m->counts.completed_in_hour;
    uint64_t steps = now_ms / 60000 - m->minute;
    m->minute += steps;
    if (steps > 60) steps = 60;
    if (steps == 0) return;
    memmove(hour + steps, hour, (60 - steps) * sizeof *hour);
    memset(hour, 0, steps * sizeof *hour);
}

static void count_stage(metrics *m, unsigned kind, const engine_event *event) {
    switch (event->stage) {
    case ENGINE_PARTITION_READY:
        observe(&m->stages[kind][STAGE_WITNESS], event->stage_ms);
        break;
    case ENGINE_PARTITION_DEVICE:
        observe(&m->stages[kind][STAGE_QUEUE], event->stage_ms);
        break;
    case ENGINE_PARTITION_VERIFY:
        observe(&m->stages[kind][STAGE_DEVICE], event->stage_ms);
        break;
    case ENGINE_PARTITION_DONE:
        observe(&m->stages[kind][STAGE_VERIFY], event->stage_ms);
        break;
    default:
        break;
    }
}

static void count_end(metrics *m, unsigned kind, const engine_event *event) {
    if (event->state == ENGINE_JOB_FAILED) m->counts.failed[kind]++;
    if (event->state == ENGINE_JOB_CANCELLED) m->counts.cancelled[kind]++;
    if (event->state != ENGINE_JOB_COMPLETED) return;
    m->counts.completed[kind]++;
    roll(m, event->at_ms);
    m->counts.completed_in_hour[0]++;
    observe(&m->jobs[kind], event->stage_ms);
}

void metrics_event(metrics *m, const engine_event *event) {
    const unsigned kind = event->kind == NULL ? 0 : kind_index(event->kind);
    pthread_mutex_lock(&m->lock);
    if (event->type == ENGINE_EVENT_SUBMITTED) m->submitted[kind]++;
    if (event->type == ENGINE_EVENT_RETRY) m->retries++;
    if (event->type == ENGINE_EVENT_STAGE) count_stage(m, kind, event);
    if (event->type == ENGINE_EVENT_ENDED) count_end(m, kind, event);
    pthread_mutex_unlock(&m->lock);
}

void metrics_counts_take(metrics *m, uint64_t now_ms, metrics_counts *out) {
    pthread_mutex_lock(&m->lock);
    roll(m, now_ms);
    *out = m->counts;
    pthread_mutex_unlock(&m->lock);
}

/* ---- text ---- */

static void head(FILE *f, const char *name, const char *type, const char *help) {
    fprintf(f, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}
static void single(FILE *f, const char *name, const char *type, const char *help, double value) {
    head(f, name, type, help);
    fprintf(f, "%s %.15g\n", name, value);
}

/* A label value: quotes, backslashes and line ends escaped. */
static void label(FILE *f, const char *text) {
    for (; *text != 0; text++) {
        if (*text == '\\' || *text == '"') fputc('\\', f);
        if (*text == '\n')
            fputs("\\n", f);
        else
            fputc(*text, f);
    }
}

static void by_kind(FILE *f, const char *name, const char *help, const uint64_t *values) {
    head(f, name, "counter", help);
    for (unsigned kind = 1; kind <= REQUEST_KINDS; kind++)
        fprintf(f, "%s{proof_kind=\"%s\"} %llu\n", name, request_kind_label(kind),
                (unsigned long long)values[kind]);
}

static void histogram_lines(FILE *f, const char *name, const char *labels, const histogram *h) {
    uint64_t sum = 0;
    for (unsigned i = 0; i <= N_BOUNDS; i++) {
        char le[32] = "+Inf";
        if (i < N_BOUNDS) snprintf(le, sizeof le, "%g", bounds[i]);
        sum += h->buckets[i];
        fprintf(f, "%s_bucket{%s,le=\"%s\"} %llu\n", name, labels, le, (unsigned long long)sum);
    }
    fprintf(f, "%s_sum{%s} %.3f\n%s_count{%s} %llu\n", name, labels, (double)h->sum_ms / 1000, name,
            labels, (unsigned long long)h->count);
}

static void write_counters(FILE *f, metrics *m, const engine_snapshot *s) {
    single(f, "cuzk_proofs_completed_total", "counter", "Proofs completed since start.",
           (double)s->completed);
    single(f, "cuzk_proofs_failed_total", "counter", "Proofs failed since start.",
           (double)s->failed);
    single(f, "cuzk_proofs_cancelled_total", "counter", "Proofs cancelled since start.",
           (double)s->cancelled);
    single(f, "cuzk_partition_retries_total", "counter", "Partitions redone on another device.",
           (double)m->retries);
    by_kind(f, "cuzk_proofs_submitted", "Jobs taken, by kind.", m->submitted);
    by_kind(f, "cuzk_proofs_completed", "Proofs completed, by kind.", m->counts.completed);
    by_kind(f, "cuzk_proofs_failed", "Proofs failed, by kind.", m->counts.failed);
}

static void write_times(FILE *f, const metrics *m) {
    char labels[96];
    head(f, "cuzk_proof_duration_seconds", "histogram", "From submission to the proof.");
    for (unsigned kind = 1; kind <= REQUEST_KINDS; kind++) {
        snprintf(labels, sizeof labels, "proof_kind=\"%s\"", request_kind_label(kind));
        histogram_lines(f, "cuzk_proof_duration_seconds", labels, &m->jobs[kind]);
    }
    head(f, "cuzk_stage_seconds", "histogram", "Time of a partition in a stage.");
    for (unsigned kind = 1; kind <= REQUEST_KINDS; kind++)
        for (unsigned stage = 0; stage < N_STAGES; stage++) {
            snprintf(labels, sizeof labels, "proof_kind=\"%s\",stage=\"%s\"",
                     request_kind_label(kind), stage_names[stage]);
            histogram_lines(f, "cuzk_stage_seconds", labels, &m->stages[kind][stage]);
        }
}

static void write_queue(FILE *f, const engine_snapshot *s) {
    unsigned queued = 0, running = 0, oldest_s = 0;
    for (size_t i = 0; i < s->n_jobs; i++) {
        const engine_job_view *j = &s->jobs[i];
        queued += j->state == ENGINE_JOB_QUEUED;
        running += j->state == ENGINE_JOB_RUNNING;
        const unsigned age = (unsigned)((s->uptime_ms - j->submitted_at) / 1000);
        if (j->state == ENGINE_JOB_QUEUED && age > oldest_s) oldest_s = age;
    }
    single(f, "cuzk_uptime_seconds", "gauge", "Time since start.", (double)s->uptime_ms / 1000);
    single(f, "cuzk_queue_depth", "gauge", "Jobs that wait.", queued);
    single(f, "cuzk_queue_oldest_seconds", "gauge", "Age of the job that waits longest.", oldest_s);
    single(f, "cuzk_running_jobs", "gauge", "Jobs being worked on.", running);
    single(f, "cuzk_draining", "gauge", "1 while no jobs are taken.", s->draining);
}

typedef double (*device_value)(const engine_device_view *d);
static double value_proved(const engine_device_view *d) {
    return (double)d->proved;
}
static double value_failures(const engine_device_view *d) {
    return (double)d->failures;
}
static double value_quarantined(const engine_device_view *d) {
    return d->quarantined;
}
static double value_busy(const engine_device_view *d) {
    return d->busy;
}
static double value_busy_seconds(const engine_device_view *d) {
    return (double)d->busy_total_ms / 1000;
}
static double value_memory(const engine_device_view *d) {
    return (double)d->info.memory_total;
}
static double value_planned(const engine_device_view *d) {
    return (double)d->info.memory_planned;
}

static void write_devices(FILE *f, const engine_snapshot *s) {
    static const struct {
        const char *name, *type, *help;
        device_value value;
    } rows[] = {
        {"cuzk_device_partitions_total", "counter", "Verified partitions.", value_proved},
        {"cuzk_device_failures_total", "counter", "Failed or wrong partitions.", value_failures},
        {"cuzk_device_quarantined", "gauge", "1: out of use after failures.", value_quarantined},
        {"cuzk_device_busy", "gauge", "1: works on a partition.", value_busy},
        {"cuzk_device_busy_seconds_total", "counter", "Time spent working.", value_busy_seconds},
        {"cuzk_device_memory_bytes", "gauge", "Memory of the device.", value_memory},
        {"cuzk_device_memory_planned_bytes", "gauge", "Memory in its plan.", value_planned},
    };
    single(f, "cuzk_gpu_workers", "gauge", "Devices.", (double)s->n_devices);
    for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
        head(f, rows[r].name, rows[r].type, rows[r].help);
        for (size_t i = 0; i < s->n_devices; i++) {
            fprintf(f, "%s{device=\"%zu\",name=\"", rows[r].name, i);
            label(f, s->devices[i].info.name);
            fprintf(f, "\"} %.15g\n", rows[r].value(&s->devices[i]));
        }
    }
}

static void write_memory(FILE *f, const engine_snapshot *s) {
    static const char *const tiers[] = {"device", "pinned", "mapped", "absent"};
    single(f, "cuzk_memory_budget_bytes", "gauge", "Host memory that may be used.",
           (double)s->memory_budget);
    single(f, "cuzk_memory_peak_bytes", "gauge", "Most that was reserved.", (double)s->memory_peak);
    head(f, "cuzk_memory_reserved_bytes", "gauge", "Host memory reserved, by use.");
    fprintf(f, "cuzk_memory_reserved_bytes{use=\"keys\"} %llu\n",
            (unsigned long long)s->memory_keys);
    fprintf(f, "cuzk_memory_reserved_bytes{use=\"work\"} %llu\n",
            (unsigned long long)s->memory_witnesses);
    fprintf(f, "cuzk_memory_reserved_bytes{use=\"requests\"} %llu\n",
            (unsigned long long)s->memory_bodies);
    head(f, "cuzk_srs_bytes", "gauge", "Memory held for a circuit and its parameters.");
    for (size_t i = 0; i < s->n_keys; i++)
        fprintf(f, "cuzk_srs_bytes{circuit=\"%s\",tier=\"%s\"} %llu\n", s->keys[i].circuit,
                tiers[s->keys[i].tier], (unsigned long long)s->keys[i].bytes);
}

cuzk_status metrics_text(metrics *m, engine *e, char **text, cuzk_error *err) {
    engine_snapshot *s;
    size_t bytes;
    *text = NULL;
    CUZK_TRY(engine_snapshot_take(e, &s, err));
    FILE *f = open_memstream(text, &bytes);
    if (f != NULL) {
        pthread_mutex_lock(&m->lock);
        write_counters(f, m, s);
        write_times(f, m);
        pthread_mutex_unlock(&m->lock);
        write_queue(f, s);
        write_devices(f, s);
        write_memory(f, s);
    }
    engine_snapshot_free(s);
    if (f == NULL || fclose(f) != 0)
        return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for the metrics");
    return CUZK_OK;
}
