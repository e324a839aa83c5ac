/* cuzk.v1.ProvingEngine and grpc.health.v1.Health over an engine. */
#ifndef CUZK_SERVER_SERVICE_H
#define CUZK_SERVER_SERVICE_H

#include <stdatomic.h>

#include "engine/engine.h"
#include "server/metrics.h"
#include "server/rpc.h"

/* The context of every call. */
typedef struct service {
    engine *engine;
    metrics *metrics;
    atomic_bool draining; /* no more jobs are taken */
} service;

extern const rpc_method service_methods[];
extern const size_t service_n_methods;    /* without reflection */
extern const size_t service_n_reflection; /* more methods after them, if it is wanted */

/* rpc_config.admit and release: room in the engine's budget. context is a service. */
bool service_admit(void *context, uint64_t bytes);
void service_release(void *context, uint64_t bytes);

/* Handlers of the health service (health.c). */
void health_check(rpc_call *call, const uint8_t *message, size_t bytes);
void health_watch(rpc_call *call, const uint8_t *message, size_t bytes);

/* Server reflection (reflection.c). */
void reflection_info(rpc_call *call, const uint8_t *message, size_t bytes);

#endif
