/* Counters and histograms of an engine's events, and their Prometheus text. */
#ifndef CUZK_SERVER_METRICS_H
#define CUZK_SERVER_METRICS_H

#include "engine/engine.h"

typedef struct metrics metrics;

metrics *metrics_new(void); /* NULL: no memory */
void metrics_free(metrics *m);
/* Count an event. Quick, and takes only a lock of its own: engine_config.on_event may call it. */
void metrics_event(metrics *m, const engine_event *event);
/* Everything in the text format 0.0.4; *text is malloc'ed. */
cuzk_status metrics_text(metrics *m, engine *e, char **text, cuzk_error *err);

/* Finished jobs by kind, as /status shows them: kind 1 to REQUEST_KINDS. */
typedef struct metrics_counts {
    uint64_t completed[5], failed[5], cancelled[5];
    uint64_t completed_in_hour[60]; /* by minute of age, [0] the last 60 s */
} metrics_counts;
void metrics_counts_take(metrics *m, uint64_t now_ms, metrics_counts *out);

#endif
