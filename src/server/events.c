#include "server/events.h"

#include <stdio.h>

#include "server/log.h"

static void log_stage(const engine_event *e) {
    static const char *const words[] = {
        [ENGINE_PARTITION_PENDING] = "waits again", [ENGINE_PARTITION_WITNESS] = "witness begun",
        [ENGINE_PARTITION_READY] = "witness made",  [ENGINE_PARTITION_DEVICE] = "on a device",
        [ENGINE_PARTITION_VERIFY] = "computed",     [ENGINE_PARTITION_DONE] = "verified",
        [ENGINE_PARTITION_FAILED] = "failed",
    };
    const log_level level = e->stage == ENGINE_PARTITION_DONE ? LOG_INFO : LOG_DEBUG;
    if (e->device >= 0)
        log_line(level, e->job_id, "partition %d %s, device %d (%llu ms)", e->partition,
                 words[e->stage], e->device, (unsigned long long)e->stage_ms);
    else
        log_line(level, e->job_id, "partition %d %s (%llu ms)", e->partition, words[e->stage],
                 (unsigned long long)e->stage_ms);
}

static void log_end(const engine_event *e) {
    const unsigned long long ms = e->stage_ms;
    if (e->state == ENGINE_JOB_COMPLETED)
        log_line(LOG_INFO, e->job_id, "%s completed in %llu ms", e->kind, ms);
    else if (e->state == ENGINE_JOB_CANCELLED)
        log_line(LOG_INFO, e->job_id, "%s cancelled after %llu ms: %s", e->kind, ms, e->text);
    else
        log_line(LOG_ERROR, e->job_id, "%s failed after %llu ms: %s", e->kind, ms, e->text);
}

static void log_event(const engine_event *e) {
    switch (e->type) {
    case ENGINE_EVENT_SUBMITTED:
        log_line(LOG_INFO, e->job_id, "%s submitted", e->kind);
        break;
    case ENGINE_EVENT_STARTED:
        log_line(LOG_INFO, e->job_id, "%s started (%s)", e->kind, e->circuit);
        break;
    case ENGINE_EVENT_STAGE:
        log_stage(e);
        break;
    case ENGINE_EVENT_RETRY:
        log_line(LOG_WARN, e->job_id, "redone: %s", e->text);
        break;
    case ENGINE_EVENT_DEVICE:
        log_line(LOG_WARN, e->job_id, "device %d: %s", e->device, e->text);
        break;
    case ENGINE_EVENT_KEY:
        log_line(LOG_INFO, NULL, "%s: %s", e->circuit, e->text);
        break;
    case ENGINE_EVENT_ENDED:
        log_end(e);
        break;
    }
}

static void timeline(const engine_event *e, const char *name, const char *detail) {
    fprintf(stderr, "TIMELINE,%llu,%s,%s,%s\n", (unsigned long long)e->at_ms, name, e->job_id,
            detail);
}

static void timeline_event(const engine_event *e) {
    const unsigned long long ms = e->stage_ms;
    char detail[96];
    if (e->type != ENGINE_EVENT_STAGE) return;
    switch (e->stage) {
    case ENGINE_PARTITION_WITNESS:
        snprintf(detail, sizeof detail, "partition=%d", e->partition);
        timeline(e, "SYNTH_START", detail);
        break;
    case ENGINE_PARTITION_READY:
        snprintf(detail, sizeof detail, "partition=%d,synth_ms=%llu", e->partition, ms);
        timeline(e, "SYNTH_END", detail);
        snprintf(detail, sizeof detail, "partition=%d", e->partition);
        timeline(e, "GPU_QUEUE", detail);
        break;
    case ENGINE_PARTITION_DEVICE:
        snprintf(detail, sizeof detail, "worker=%d,partition=%d", e->device, e->partition);
        timeline(e, "GPU_PICKUP", detail);
        timeline(e, "GPU_START", detail);
        break;
    case ENGINE_PARTITION_VERIFY:
        snprintf(detail, sizeof detail, "worker=%d,partition=%d,gpu_ms=%llu", e->device,
                 e->partition, ms);
        timeline(e, "GPU_END", detail);
        break;
    default:
        break;
    }
}

void event_sink_take(void *self, const engine_event *event) {
    const event_sink *sink = self;
    metrics_event(sink->metrics, event);
    log_event(event);
    if (sink->timeline) timeline_event(event);
}
