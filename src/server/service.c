#include "server/service.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuzk/v1/proving.pb-c.h"
#include "server/request.h"
#include "server/safe_text.h"
#include "server/wire.h"

bool service_admit(void *context, uint64_t bytes) {
    const service *s = context;
    return engine_admit_body(s->engine, bytes, NULL) == CUZK_OK;
}
void service_release(void *context, uint64_t bytes) {
    const service *s = context;
    engine_release_body(s->engine, bytes);
}

static service *service_of(const rpc_call *call) {
    return rpc_context(call);
}

/* What fails because the daemon stops is worth another try elsewhere or later. */
static void fail(rpc_call *call, const cuzk_error *err) {
    if (err->status == CUZK_ERR_CANCELLED && atomic_load(&service_of(call)->draining))
        rpc_fail(call, GRPC_STATUS_UNAVAILABLE, "%s", err->text);
    else
        rpc_fail_error(call, err);
}

/* A request unpacked with its strings checked; NULL: the call has been answered. */
static void *unpack(rpc_call *call, const ProtobufCMessageDescriptor *type, const uint8_t *message,
                    size_t bytes) {
    void *request = protobuf_c_message_unpack(type, NULL, bytes, message);
    if (request == NULL)
        rpc_fail(call, GRPC_STATUS_INVALID_ARGUMENT, "malformed %s", type->short_name);
    return request;
}

static bool check_text(rpc_call *call, const char *what, const char *text) {
    if (text[0] == 0)
        rpc_fail(call, GRPC_STATUS_INVALID_ARGUMENT, "%s is missing", what);
    else if (strlen(text) > 255 || !wire_is_utf8((const uint8_t *)text, strlen(text)))
        rpc_fail(call, GRPC_STATUS_INVALID_ARGUMENT, "%s is longer than 255 bytes or not UTF-8",
                 what);
    else
        return true;
    return false;
}

/* ---- submitting ---- */

/* False: the call has been answered. */
static bool submit(rpc_call *call, const uint8_t *message, size_t bytes, bool *anonymous,
                   engine_submitted *out) {
    service *s = service_of(call);
    engine_request request;
    cuzk_error err;
    if (atomic_load(&s->draining)) {
        rpc_fail(call, GRPC_STATUS_UNAVAILABLE, "the daemon is draining; try again later");
        return false;
    }
    if (request_for_engine(message, bytes, &request, &err) != CUZK_OK ||
        engine_submit(s->engine, &request, out, &err) != CUZK_OK) {
        fail(call, &err);
        return false;
    }
    *anonymous = request.request_id[0] == 0;
    return true;
}

static void submit_proof(rpc_call *call, const uint8_t *message, size_t bytes) {
    Cuzk__V1__SubmitProofResponse reply = CUZK__V1__SUBMIT_PROOF_RESPONSE__INIT;
    engine_submitted submitted;
    bool anonymous;
    if (!submit(call, message, bytes, &anonymous, &submitted)) return;
    reply.job_id = submitted.job_id;
    reply.queue_position = submitted.queue_position;
    rpc_reply(call, &reply.base);
}

/* ---- waiting for a job ---- */

typedef struct waiter {
    rpc_call *call;
    service *service;
    char job_id[256];
    bool prove;     /* reply with a ProveResponse */
    bool anonymous; /* nobody else knows the job: without this call it is cancelled */
    pthread_mutex_t lock;
    engine_watch *watch; /* NULL once job_ended has been called */
    bool ended;
    unsigned refs; /* the wait's, and the watch's until it is over */
} waiter;

static void waiter_unref(waiter *w, unsigned n) {
    pthread_mutex_lock(&w->lock);
    w->refs -= n;
    const bool last = w->refs == 0;
    pthread_mutex_unlock(&w->lock);
    if (!last) return;
    pthread_mutex_destroy(&w->lock);
    free(w);
}

static void job_ended(void *arg) {
    waiter *w = arg;
    rpc_call *call = w->call;
    pthread_mutex_lock(&w->lock);
    w->ended = true;
    w->watch = NULL;
    pthread_mutex_unlock(&w->lock);
    rpc_wake(call);
    waiter_unref(w, 1);
    rpc_unref(call);
}

/* Stop watching. The lock keeps job_ended from returning, and so the watch alive, meanwhile. */
static void stop_watching(waiter *w) {
    pthread_mutex_lock(&w->lock);
    const bool mine = w->watch != NULL && engine_unwatch(w->service->engine, w->watch);
    w->watch = NULL;
    pthread_mutex_unlock(&w->lock);
    if (!mine) return;
    waiter_unref(w, 1);
    rpc_unref(w->call);
}

static void reply_result(rpc_call *call, bool prove, const char *job_id,
                         Cuzk__V1__AwaitProofResponse__Status status, const engine_result *r) {
    Cuzk__V1__AwaitProofResponse result = CUZK__V1__AWAIT_PROOF_RESPONSE__INIT;
    Cuzk__V1__ProveResponse reply = CUZK__V1__PROVE_RESPONSE__INIT;
    char text[1024] = "", devices[1024] = "";
    result.job_id = (char *)(uintptr_t)job_id;
    result.status = status;
    result.error_message = text;
    if (r != NULL) {
        if (r->state != ENGINE_JOB_COMPLETED) safe_text(text, sizeof text, r->error);
        safe_text(devices, sizeof devices, r->devices);
        result.proof = (ProtobufCBinaryData){r->proof_bytes, r->proof};
        result.devices = devices;
        result.queue_wait_ms = r->queue_wait_ms;
        result.srs_load_ms = r->srs_load_ms;
        result.synthesis_ms = r->synthesis_ms;
        result.gpu_compute_ms = r->gpu_compute_ms;
        result.total_ms = r->total_ms;
    }
    reply.result = &result;
    rpc_reply(call, prove ? &reply.base : &result.base);
}

static void wait_ready(rpc_call *call, void *arg) {
    waiter *w = arg;
    engine_result r;
    cuzk_error err;
    if (engine_await(w->service->engine, w->job_id, 1, NULL, &r, &err) != CUZK_OK) {
        fail(call, &err); /* dropped between its end and now: result limits */
    } else {
        reply_result(
            call, w->prove, w->job_id,
            r.state == ENGINE_JOB_COMPLETED   ? CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED
            : r.state == ENGINE_JOB_CANCELLED ? CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__CANCELLED
                                              : CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED,
            &r);
        engine_result_free(&r);
    }
    waiter_unref(w, 1);
}

static void wait_timeout(rpc_call *call, void *arg) {
    waiter *w = arg;
    stop_watching(w);
    reply_result(call, w->prove, w->job_id, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__TIMEOUT, NULL);
    waiter_unref(w, 1);
}

static void wait_gone(rpc_call *call, void *arg) {
    waiter *w = arg;
    bool was_running;
    (void)call;
    stop_watching(w);
    if (w->anonymous && !atomic_load(&w->service->draining))
        (void)engine_cancel(w->service->engine, w->job_id, &was_running, NULL);
    waiter_unref(w, 1);
}

static void wait_for_job(rpc_call *call, const char *job_id, uint64_t timeout_ms, bool prove,
                         bool anonymous) {
    service *s = service_of(call);
    cuzk_error err;
    engine_watch *watch = NULL;
    waiter *w = calloc(1, sizeof *w);
    if (w == NULL) {
        rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "no memory to wait for a job");
        return;
    }
    *w = (waiter){.call = call, .service = s, .prove = prove, .anonymous = anonymous, .refs = 2};
    snprintf(w->job_id, sizeof w->job_id, "%s", job_id);
    pthread_mutex_init(&w->lock, NULL);
    rpc_ref(call);
    if (engine_watch_job(s->engine, job_id, job_ended, w, &watch, &err) != CUZK_OK) {
        fail(call, &err);
        rpc_unref(call);
        waiter_unref(w, 2);
        return;
    }
    pthread_mutex_lock(&w->lock);
    if (!w->ended) w->watch = watch;
    pthread_mutex_unlock(&w->lock);
    const rpc_wait wait = {wait_ready, wait_timeout, wait_gone, w};
    rpc_wait_begin(call, &wait, timeout_ms);
}

static void await_proof(rpc_call *call, const uint8_t *message, size_t bytes) {
    Cuzk__V1__AwaitProofRequest *request =
        unpack(call, &cuzk__v1__await_proof_request__descriptor, message, bytes);
    if (request == NULL) return;
    if (check_text(call, "job_id", request->job_id))
        wait_for_job(call, request->job_id, request->timeout_ms, false, false);
    cuzk__v1__await_proof_request__free_unpacked(request, NULL);
}

static void prove(rpc_call *call, const uint8_t *message, size_t bytes) {
    request_bytes inner;
    engine_submitted submitted;
    bool anonymous;
    cuzk_error err;
    if (request_of_prove(message, bytes, &inner, &err) != CUZK_OK)
        fail(call, &err);
    else if (submit(call, inner.data, inner.bytes, &anonymous, &submitted))
        wait_for_job(call, submitted.job_id, 0, true, anonymous);
}

static void cancel_proof(rpc_call *call, const uint8_t *message, size_t bytes) {
    Cuzk__V1__CancelProofRequest *request =
        unpack(call, &cuzk__v1__cancel_proof_request__descriptor, message, bytes);
    Cuzk__V1__CancelProofResponse reply = CUZK__V1__CANCEL_PROOF_RESPONSE__INIT;
    cuzk_error err;
    bool was_running;
    if (request == NULL) return;
    if (check_text(call, "job_id", request->job_id)) {
        if (engine_cancel(service_of(call)->engine, request->job_id, &was_running, &err) !=
            CUZK_OK) {
            fail(call, &err);
        } else {
            reply.was_running = was_running;
            rpc_reply(call, &reply.base);
        }
    }
    cuzk__v1__cancel_proof_request__free_unpacked(request, NULL);
}

/* ---- status ---- */

typedef struct status_room {
    Cuzk__V1__GPUStatus *gpus, **gpu_list;
    Cuzk__V1__SRSStatus *keys, **key_list;
    Cuzk__V1__QueueStatus queues[REQUEST_KINDS], *queue_list[REQUEST_KINDS];
} status_room;

static bool status_alloc(status_room *room, const engine_snapshot *s) {
    room->gpus = calloc(s->n_devices + 1, sizeof *room->gpus);
    room->gpu_list = calloc(s->n_devices + 1, sizeof *room->gpu_list);
    room->keys = calloc(s->n_keys + 1, sizeof *room->keys);
    room->key_list = calloc(s->n_keys + 1, sizeof *room->key_list);
    return room->gpus != NULL && room->gpu_list != NULL && room->keys != NULL &&
           room->key_list != NULL;
}

static void status_free(status_room *room) {
    free(room->gpus);
    free(room->gpu_list);
    free(room->keys);
    free(room->key_list);
}

static void fill_devices(Cuzk__V1__GetStatusResponse *reply, status_room *room,
                         engine_snapshot *s) {
    for (size_t i = 0; i < s->n_devices; i++) {
        engine_device_view *d = &s->devices[i];
        Cuzk__V1__GPUStatus *g = room->gpu_list[i] = &room->gpus[i];
        cuzk__v1__gpustatus__init(g);
        g->ordinal = d->info.ordinal >= 0 ? (uint32_t)d->info.ordinal : (uint32_t)i;
        g->name = d->info.name;
        g->vram_total_bytes = d->info.memory_total;
        g->vram_free_bytes = d->info.memory_total > d->info.memory_planned
                                 ? d->info.memory_total - d->info.memory_planned
                                 : 0;
        g->current_job_id = d->job_id;
        g->current_proof_kind = d->kind;
    }
    reply->n_gpus = s->n_devices;
    reply->gpus = room->gpu_list;
}

static void fill_keys(Cuzk__V1__GetStatusResponse *reply, status_room *room, engine_snapshot *s) {
    for (size_t i = 0; i < s->n_keys; i++) {
        engine_key_view *k = &s->keys[i];
        if (k->tier == ENGINE_TIER_ABSENT && !k->loading) continue;
        Cuzk__V1__SRSStatus *g = room->key_list[reply->n_loaded_srs++] = &room->keys[i];
        cuzk__v1__srsstatus__init(g);
        g->circuit_id = k->circuit;
        g->tier = k->tier == ENGINE_TIER_DEVICE   ? CUZK__V1__SRSSTATUS__TIER__HOT
                  : k->tier == ENGINE_TIER_ABSENT ? CUZK__V1__SRSSTATUS__TIER__COLD
                                                  : CUZK__V1__SRSSTATUS__TIER__WARM;
        g->size_bytes = k->bytes;
        g->ref_count = k->references;
    }
    reply->loaded_srs = room->key_list;
}

static void fill_queues(Cuzk__V1__GetStatusResponse *reply, status_room *room,
                        const engine_snapshot *s) {
    for (unsigned kind = 1; kind <= REQUEST_KINDS; kind++) {
        const char *name = request_kind_name(kind);
        Cuzk__V1__QueueStatus *q = room->queue_list[kind - 1] = &room->queues[kind - 1];
        cuzk__v1__queue_status__init(q);
        q->proof_kind = (char *)(uintptr_t)name;
        for (size_t i = 0; i < s->n_jobs; i++) {
            if (strcmp(s->jobs[i].kind, name) != 0) continue;
            if (s->jobs[i].state == ENGINE_JOB_QUEUED) q->pending++;
            if (s->jobs[i].state == ENGINE_JOB_RUNNING) q->in_progress++;
        }
    }
    reply->n_queues = REQUEST_KINDS;
    reply->queues = room->queue_list;
}

static void get_status(rpc_call *call, const uint8_t *message, size_t bytes) {
    Cuzk__V1__GetStatusResponse reply = CUZK__V1__GET_STATUS_RESPONSE__INIT;
    status_room room = {0};
    engine_snapshot *s;
    cuzk_error err;
    (void)message;
    (void)bytes;
    if (engine_snapshot_take(service_of(call)->engine, &s, &err) != CUZK_OK) {
        fail(call, &err);
        return;
    }
    if (status_alloc(&room, s)) {
        fill_devices(&reply, &room, s);
        fill_keys(&reply, &room, s);
        fill_queues(&reply, &room, s);
        reply.total_proofs_completed = s->completed;
        reply.total_proofs_failed = s->failed;
        reply.uptime_seconds = s->uptime_ms / 1000;
        reply.pinned_memory_bytes = s->memory_used;
        reply.pinned_memory_limit_bytes = s->memory_budget;
        rpc_reply(call, &reply.base);
    } else {
        rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "no memory for a status");
    }
    status_free(&room);
    engine_snapshot_free(s);
}

static void get_metrics(rpc_call *call, const uint8_t *message, size_t bytes) {
    Cuzk__V1__GetMetricsResponse reply = CUZK__V1__GET_METRICS_RESPONSE__INIT;
    service *s = service_of(call);
    cuzk_error err;
    (void)message;
    (void)bytes;
    if (metrics_text(s->metrics, s->engine, &reply.prometheus_text, &err) != CUZK_OK) {
        fail(call, &err);
        return;
    }
    rpc_reply(call, &reply.base);
    free(reply.prometheus_text);
}

/* ---- keys ---- */

static void preload_apart(rpc_call *call, void *arg) {
    Cuzk__V1__PreloadSRSRequest *request = arg;
    Cuzk__V1__PreloadSRSResponse reply = CUZK__V1__PRELOAD_SRSRESPONSE__INIT;
    cuzk_error err;
    bool already;
    uint64_t ms;
    if (engine_preload(service_of(call)->engine, request->circuit_id, &already, &ms, &err) !=
        CUZK_OK) {
        fail(call, &err);
    } else {
        reply.already_loaded = already;
        reply.load_time_ms = already ? 0 : ms;
        rpc_reply(call, &reply.base);
    }
    cuzk__v1__preload_srsrequest__free_unpacked(request, NULL);
}

static void evict_apart(rpc_call *call, void *arg) {
    Cuzk__V1__EvictSRSRequest *request = arg;
    Cuzk__V1__EvictSRSResponse reply = CUZK__V1__EVICT_SRSRESPONSE__INIT;
    cuzk_error err;
    bool was_loaded;
    if (engine_evict(service_of(call)->engine, request->circuit_id, &was_loaded, &reply.freed_bytes,
                     &err) != CUZK_OK) {
        fail(call, &err);
    } else {
        reply.was_loaded = was_loaded;
        rpc_reply(call, &reply.base);
    }
    cuzk__v1__evict_srsrequest__free_unpacked(request, NULL);
}

/* The canonical name of a circuit ("window-32g" for "wpost-32g") in place of *name, which was
 * malloc'ed; false: the call has been answered. */
static bool take_circuit(rpc_call *call, char **name) {
    circuit_id id;
    cuzk_error err;
    if (!check_text(call, "circuit_id", *name)) return false;
    char *canonical = malloc(32);
    if (canonical != NULL && circuit_id_parse(*name, &id, &err) == CUZK_OK) {
        circuit_id_format(&id, canonical);
        free(*name);
        *name = canonical;
        return true;
    }
    free(canonical);
    rpc_fail(call, GRPC_STATUS_INVALID_ARGUMENT, "unknown circuit ID: %s", *name);
    return false;
}

static void preload_srs(rpc_call *call, const uint8_t *message, size_t bytes) {
    Cuzk__V1__PreloadSRSRequest *request =
        unpack(call, &cuzk__v1__preload_srsrequest__descriptor, message, bytes);
    if (request == NULL) return;
    if (take_circuit(call, &request->circuit_id) && rpc_run_apart(call, preload_apart, request))
        return;
    cuzk__v1__preload_srsrequest__free_unpacked(request, NULL);
}

static void evict_srs(rpc_call *call, const uint8_t *message, size_t bytes) {
    Cuzk__V1__EvictSRSRequest *request =
        unpack(call, &cuzk__v1__evict_srsrequest__descriptor, message, bytes);
    if (request == NULL) return;
    if (take_circuit(call, &request->circuit_id) && rpc_run_apart(call, evict_apart, request))
        return;
    cuzk__v1__evict_srsrequest__free_unpacked(request, NULL);
}

#define ENGINE_PATH "/cuzk.v1.ProvingEngine/"
const rpc_method service_methods[] = {
    {ENGINE_PATH "SubmitProof", RIGHT_SUBMIT, true, submit_proof, false},
    {ENGINE_PATH "AwaitProof", RIGHT_SUBMIT, false, await_proof, false},
    {ENGINE_PATH "Prove", RIGHT_SUBMIT, true, prove, false},
    {ENGINE_PATH "CancelProof", RIGHT_SUBMIT, false, cancel_proof, false},
    {ENGINE_PATH "GetStatus", RIGHT_OBSERVE, false, get_status, false},
    {ENGINE_PATH "GetMetrics", RIGHT_OBSERVE, false, get_metrics, false},
    {ENGINE_PATH "PreloadSRS", RIGHT_ADMIN, false, preload_srs, false},
    {ENGINE_PATH "EvictSRS", RIGHT_ADMIN, false, evict_srs, false},
    {"/grpc.health.v1.Health/Check", 0, false, health_check, false},
    {"/grpc.health.v1.Health/Watch", 0, false, health_watch, false},
    {"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo", RIGHT_OBSERVE, false,
     reflection_info, true},
    {"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo", RIGHT_OBSERVE, false,
     reflection_info, true},
};
const size_t service_n_reflection = 2;
const size_t service_n_methods = sizeof service_methods / sizeof service_methods[0] - 2;
