/* grpc.health.v1.Health: SERVING until the daemon drains. */
#include <stdlib.h>
#include <string.h>

#include "grpc/health/v1/health.pb-c.h"
#include "server/service.h"

typedef Grpc__Health__V1__HealthCheckResponse health_response;

/* SERVICE_UNKNOWN for a service that is not ours. False: malformed, the call has been answered. */
static bool health_of(rpc_call *call, const uint8_t *message, size_t bytes, health_response *out) {
    const service *s = rpc_context(call);
    Grpc__Health__V1__HealthCheckRequest *request =
        grpc__health__v1__health_check_request__unpack(NULL, bytes, message);
    grpc__health__v1__health_check_response__init(out);
    if (request == NULL) {
        rpc_fail(call, GRPC_STATUS_INVALID_ARGUMENT, "malformed HealthCheckRequest");
        return false;
    }
    if (request->service[0] != 0 && strcmp(request->service, "cuzk.v1.ProvingEngine") != 0)
        out->status = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVICE_UNKNOWN;
    else if (atomic_load(&s->draining))
        out->status = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__NOT_SERVING;
    else
        out->status = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING;
    grpc__health__v1__health_check_request__free_unpacked(request, NULL);
    return true;
}

void health_check(rpc_call *call, const uint8_t *message, size_t bytes) {
    health_response reply;
    if (!health_of(call, message, bytes, &reply)) return;
    if (reply.status == GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVICE_UNKNOWN)
        rpc_fail(call, GRPC_STATUS_NOT_FOUND, "unknown service");
    else
        rpc_reply(call, &reply.base);
}

/* ---- Watch: one message for every change ---- */

enum { POLL_MS = 500 };

typedef struct health_watcher {
    health_response last;
    bool serving;
} health_watcher;

static void nothing(rpc_call *call, void *arg) {
    (void)call;
    free(arg);
}

static void look_again(rpc_call *call, void *arg) {
    const service *s = rpc_context(call);
    health_watcher *w = arg;
    if (w->serving && atomic_load(&s->draining)) {
        w->serving = false;
        w->last.status = GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__NOT_SERVING;
        rpc_send(call, &w->last.base);
    }
    const rpc_wait wait = {nothing, look_again, nothing, w};
    rpc_wait_begin(call, &wait, POLL_MS);
}

void health_watch(rpc_call *call, const uint8_t *message, size_t bytes) {
    health_watcher *w = calloc(1, sizeof *w);
    if (w == NULL) {
        rpc_fail(call, GRPC_STATUS_RESOURCE_EXHAUSTED, "no memory to watch");
        return;
    }
    if (!health_of(call, message, bytes, &w->last)) {
        free(w);
        return;
    }
    w->serving = w->last.status == GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING;
    rpc_send(call, &w->last.base);
    const rpc_wait wait = {nothing, look_again, nothing, w};
    rpc_wait_begin(call, &wait, POLL_MS);
}
