/* The daemon: engine, gRPC and HTTP put together from a configuration, until a signal ends it. */
#ifndef CUZK_SERVER_DAEMON_H
#define CUZK_SERVER_DAEMON_H

#include "engine/engine.h"
#include "server/config.h"

typedef struct daemon_setup {
    const daemon_config *config;
    /* SIGHUP: the configuration as it is now. NULL: nothing to reload. */
    cuzk_status (*reload)(void *self, daemon_config *out, cuzk_error *err);
    void *self;
    /* The names of all GPUs that can be used, at most max; none is no error. */
    cuzk_status (*list_devices)(char (*names)[64], unsigned max, unsigned *n, cuzk_error *err);
    /* "cpu", "cuda:N", "cuda:UUID"; "cuda:N@BYTES": of its memory at most. */
    cuzk_status (*open_device)(const cuzk_host *host, const char *name, executor **out,
                               cuzk_error *err);
    /* What jobs are: NULL for the prover's (tests bring simulated ones). */
    const engine_work_ops *work;
    void *work_self;
    const char *version;
} daemon_setup;

/* Blocks SIGTERM, SIGINT, SIGHUP and SIGPIPE in this thread and those it starts. Before any thread
 * is started. */
void daemon_block_signals(void);
/* Serve until SIGTERM or SIGINT: then no more jobs are taken, running partitions are finished and
 * the rest stays in the journal; a second signal does not wait for them. */
cuzk_status daemon_run(const daemon_setup *setup, cuzk_error *err);

#endif
