/* What becomes of the engine's events: log lines, metrics, the Rust engine's TIMELINE lines. */
#ifndef CUZK_SERVER_EVENTS_H
#define CUZK_SERVER_EVENTS_H

#include "engine/engine.h"
#include "server/metrics.h"

typedef struct event_sink {
    metrics *metrics;
    bool timeline;
} event_sink;

/* engine_config.on_event; self is an event_sink. */
void event_sink_take(void *self, const engine_event *event);

#endif
