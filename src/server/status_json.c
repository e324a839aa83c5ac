#include "server/status_json.h"

#include <string.h>

#include "host/json_out.h"
#include "server/request.h"
#include "server/safe_text.h"

/* Ended jobs stay in `pipelines` for this long, as the Rust engine has it; `recent` has them all.
 */
#define PIPELINE_AGE_MS 30000

static double seconds(uint64_t ms) {
    return (double)ms / 1000;
}

static const char *partition_word(engine_partition_state state) {
    switch (state) {
    case ENGINE_PARTITION_PENDING:
        return "pending";
    case ENGINE_PARTITION_WITNESS:
        return "synthesizing";
    case ENGINE_PARTITION_READY:
        return "synth_done";
    case ENGINE_PARTITION_DEVICE:
        return "gpu";
    case ENGINE_PARTITION_VERIFY:
        return "verify";
    case ENGINE_PARTITION_DONE:
        return "done";
    case ENGINE_PARTITION_FAILED:
        break;
    }
    return "failed";
}

static const char *job_word(engine_job_state state) {
    static const char *const words[] = {"queued", "running", "completed", "failed", "cancelled"};
    return words[state];
}

/* null unless there is a value. */
static void u64_or_null(json_out *j, const char *key, bool there, uint64_t value) {
    if (there)
        json_out_u64(j, key, value);
    else
        json_out_null(j, key);
}

static void write_partition(json_out *j, const engine_partition_view *p, unsigned index) {
    json_out_object(j, NULL);
    json_out_u64(j, "index", index);
    json_out_string(j, "state", partition_word(p->state));
    u64_or_null(j, "synth_ms", p->ready_at != 0, p->witness_ms);
    u64_or_null(j, "gpu_ms", p->verify_at != 0, p->device_ms);
    u64_or_null(j, "verify_ms", p->done_at != 0, p->verify_ms);
    u64_or_null(j, "device", p->device >= 0, (uint64_t)p->device);
    json_out_u64(j, "attempts", p->attempts);
    json_out_u64(j, "witness_at", p->witness_at);
    json_out_u64(j, "ready_at", p->ready_at);
    json_out_u64(j, "device_at", p->device_at);
    json_out_u64(j, "verify_at", p->verify_at);
    json_out_u64(j, "done_at", p->done_at);
    json_out_double(j, "upload_ms", p->timing.upload_ms);
    json_out_double(j, "eval_ms", p->timing.eval_ms);
    json_out_double(j, "ntt_ms", p->timing.ntt_ms);
    json_out_double(j, "msm_ms", p->timing.msm_ms);
    json_out_end_object(j);
}

static void write_job(json_out *j, const engine_snapshot *s, const engine_job_view *job) {
    char text[256];
    const uint64_t since = job->started_at != 0 ? job->started_at : job->submitted_at;
    json_out_object(j, NULL);
    json_out_string(j, "job_id", job->job_id);
    json_out_string(j, "proof_kind", job->kind);
    json_out_double(j, "started_secs_ago", seconds(s->uptime_ms - since));
    json_out_u64(j, "total_partitions", job->n_partitions);
    json_out_u64(j, "partitions_done", job->n_done);
    json_out_array(j, "partitions");
    for (unsigned k = 0; k < job->n_partitions; k++)
        write_partition(j, &job->partitions[k], k);
    json_out_end_array(j);
    json_out_string(j, "state", job_word(job->state));
    json_out_string(j, "circuit", job->circuit);
    json_out_u64(j, "priority", (uint64_t)job->priority);
    json_out_u64(j, "submitted_at", job->submitted_at);
    json_out_u64(j, "started_at", job->started_at);
    json_out_u64(j, "ended_at", job->ended_at);
    safe_text(text, sizeof text, job->error);
    json_out_string(j, "error", text);
    json_out_end_object(j);
}

static bool is_over(const engine_job_view *job) {
    return job->state != ENGINE_JOB_QUEUED && job->state != ENGINE_JOB_RUNNING;
}

static void write_jobs(json_out *j, const engine_snapshot *s) {
    json_out_array(j, "pipelines");
    for (size_t i = 0; i < s->n_jobs; i++) {
        const engine_job_view *job = &s->jobs[i];
        if (job->state == ENGINE_JOB_RUNNING ||
            (is_over(job) && s->uptime_ms - job->ended_at < PIPELINE_AGE_MS))
            write_job(j, s, job);
    }
    json_out_end_array(j);
    json_out_array(j, "queue");
    for (size_t i = 0; i < s->n_jobs; i++)
        if (s->jobs[i].state == ENGINE_JOB_QUEUED) write_job(j, s, &s->jobs[i]);
    json_out_end_array(j);
    json_out_array(j, "recent");
    for (size_t i = s->n_jobs; i > 0; i--)
        if (is_over(&s->jobs[i - 1])) write_job(j, s, &s->jobs[i - 1]);
    json_out_end_array(j);
}

static void write_device(json_out *j, const engine_snapshot *s, size_t i) {
    const engine_device_view *d = &s->devices[i];
    const bool proving = d->busy && d->job_id[0] != 0;
    json_out_object(j, NULL);
    json_out_u64(j, "worker_id", i);
    json_out_u64(j, "gpu_ordinal", d->info.ordinal >= 0 ? (uint64_t)d->info.ordinal : i);
    json_out_string(j, "state", d->busy ? "proving" : "idle");
    if (proving)
        json_out_string(j, "current_job", d->job_id);
    else
        json_out_null(j, "current_job");
    u64_or_null(j, "current_partition", proving && d->partition >= 0, (uint64_t)d->partition);
    if (d->busy && d->busy_since != 0)
        json_out_double(j, "busy_secs", seconds(s->uptime_ms - d->busy_since));
    else
        json_out_null(j, "busy_secs");
    json_out_string(j, "name", d->info.name);
    json_out_string(j, "kind", d->info.kind);
    json_out_string(j, "uuid", d->info.uuid);
    json_out_u64(j, "memory_total_bytes", d->info.memory_total);
    json_out_u64(j, "memory_planned_bytes", d->info.memory_planned);
    json_out_double(j, "busy_total_secs", seconds(d->busy_total_ms));
    json_out_double(j, "utilisation",
                    s->uptime_ms == 0 ? 0 : (double)d->busy_total_ms / (double)s->uptime_ms);
    json_out_u64(j, "proved", d->proved);
    json_out_u64(j, "failures", d->failures);
    json_out_u64(j, "failures_in_row", d->failures_in_row);
    json_out_bool(j, "quarantined", d->quarantined);
    json_out_end_object(j);
}

static void write_keys(json_out *j, const engine_snapshot *s) {
    static const char *const tiers[] = {"device", "pinned", "mapped", "absent"};
    json_out_object(j, "allocations");
    json_out_array(j, "srs");
    for (size_t i = 0; i < s->n_keys; i++) {
        const engine_key_view *k = &s->keys[i];
        if (k->tier == ENGINE_TIER_ABSENT && !k->loading) continue;
        json_out_object(j, NULL);
        json_out_string(j, "circuit_id", k->circuit);
        json_out_u64(j, "bytes", k->bytes);
        json_out_double(j, "last_used_secs_ago", seconds(k->idle_ms));
        json_out_bool(j, "evictable", k->references == 0 && !k->loading);
        json_out_string(j, "tier", k->loading ? "loading" : tiers[k->tier]);
        json_out_u64(j, "references", k->references);
        json_out_end_object(j);
    }
    json_out_end_array(j);
    json_out_array(j, "pce"); /* recorded circuits are part of a key here */
    json_out_end_array(j);
    json_out_end_object(j);
}

static void write_by_kind(json_out *j, const char *key, const uint64_t *counts) {
    json_out_object(j, key);
    for (unsigned kind = 1; kind <= REQUEST_KINDS; kind++)
        json_out_u64(j, request_kind_name(kind), counts[kind]);
    json_out_end_object(j);
}

static void write_counters(json_out *j, const engine_snapshot *s, const metrics_counts *counts) {
    uint64_t queued = 0;
    for (size_t i = 0; i < s->n_jobs; i++)
        queued += s->jobs[i].state == ENGINE_JOB_QUEUED;
    json_out_object(j, "counters");
    json_out_u64(j, "total_completed", s->completed);
    json_out_u64(j, "total_failed", s->failed);
    json_out_u64(j, "total_cancelled", s->cancelled);
    write_by_kind(j, "completed_by_kind", counts->completed);
    write_by_kind(j, "failed_by_kind", counts->failed);
    json_out_u64(j, "queue_depth", queued);
    json_out_array(j, "completed_by_minute"); /* [0]: the last minute */
    for (unsigned i = 0; i < 60; i++)
        json_out_u64(j, NULL, counts->completed_in_hour[i]);
    json_out_end_array(j);
    json_out_end_object(j);
}

static void write_memory(json_out *j, const engine_snapshot *s) {
    json_out_object(j, "memory");
    json_out_u64(j, "total_bytes", s->memory_budget);
    json_out_u64(j, "used_bytes", s->memory_used);
    json_out_u64(j, "available_bytes", s->memory_budget - s->memory_used);
    json_out_u64(j, "peak_bytes", s->memory_peak);
    json_out_u64(j, "keys_bytes", s->memory_keys);
    json_out_u64(j, "work_bytes", s->memory_witnesses);
    json_out_u64(j, "requests_bytes", s->memory_bodies);
    json_out_end_object(j);
}

/* The Rust engine's counts of vectors in flight, as far as they have a meaning here. */
static void write_buffers(json_out *j, const engine_snapshot *s) {
    uint64_t ready = 0, proving = 0;
    for (size_t i = 0; i < s->n_jobs; i++)
        for (unsigned k = 0; k < s->jobs[i].n_partitions; k++) {
            ready += s->jobs[i].partitions[k].state == ENGINE_PARTITION_READY;
            proving += s->jobs[i].partitions[k].state == ENGINE_PARTITION_DEVICE;
        }
    json_out_object(j, "buffers");
    json_out_u64(j, "synth_in_flight", s->witness_active);
    json_out_u64(j, "provers_in_flight", proving);
    json_out_u64(j, "aux_in_flight", ready + proving);
    json_out_u64(j, "shells_in_flight", 0);
    json_out_u64(j, "pending_handles", 0);
    json_out_end_object(j);
}

cuzk_status status_json_write(service *v, const char *version, FILE *out, cuzk_error *err) {
    engine_snapshot *s;
    metrics_counts counts;
    json_out j = {.file = out};
    CUZK_TRY(engine_snapshot_take(v->engine, &s, err));
    metrics_counts_take(v->metrics, s->uptime_ms, &counts);
    json_out_object(&j, NULL);
    json_out_double(&j, "uptime_secs", seconds(s->uptime_ms));
    json_out_u64(&j, "now_ms", s->uptime_ms);
    json_out_string(&j, "version", version);
    json_out_bool(&j, "draining", s->draining || atomic_load(&v->draining));
    write_memory(&j, s);
    json_out_object(&j, "synthesis");
    json_out_u64(&j, "max_concurrent", s->witness_limit);
    json_out_u64(&j, "active", s->witness_active);
    json_out_end_object(&j);
    write_jobs(&j, s);
    json_out_array(&j, "gpu_workers");
    for (size_t i = 0; i < s->n_devices; i++)
        write_device(&j, s, i);
    json_out_end_array(&j);
    write_keys(&j, s);
    write_counters(&j, s, &counts);
    write_buffers(&j, s);
    json_out_end_object(&j);
    engine_snapshot_free(s);
    return CUZK_OK;
}
