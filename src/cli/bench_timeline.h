/* Where a daemon's devices and workers were busy, read from its /status and drawn: one row for each
 * device and each witness worker, so that idle gaps are seen. */
#ifndef CUZK_CLI_BENCH_TIMELINE_H
#define CUZK_CLI_BENCH_TIMELINE_H

#include <stdint.h>

#include "base/status.h"

typedef struct timeline timeline;

/* http: "host:port" of the daemon's status page. */
cuzk_status timeline_new(const char *http, timeline **out, cuzk_error *err);
void timeline_free(timeline *t);
/* Read /status and add the partitions that ended since; at least once for every 200 jobs. */
cuzk_status timeline_poll(timeline *t, cuzk_error *err);
/* [{"job": .., "partition": .., "row": "device 0", "stage": "device", "from_ms": .., "to_ms": ..}];
 * milliseconds since the daemon's start. Only what ended after the timeline was made. */
cuzk_status timeline_write_json(const timeline *t, const char *path, cuzk_error *err);
cuzk_status timeline_write_svg(const timeline *t, const char *path, cuzk_error *err);

#endif
