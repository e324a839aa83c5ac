/* Real jobs for the engine: engine_work_ops over src/prover. How a request body is decoded is the
 * caller's business (the server knows the wire format, the engine does not). */
#ifndef CUZK_ENGINE_WORK_PROVER_H
#define CUZK_ENGINE_WORK_PROVER_H

#include "engine/work.h"
#include "prover/job.h"

typedef struct work_prover {
    char params_dir[512];
    /* A spooled body to a checked job; the caller of open owns the result. */
    cuzk_status (*decode)(const cuzk_host *host, const uint8_t *body, size_t bytes, proof_job **out,
                          cuzk_error *err);
} work_prover;

/* Pass a work_prover as engine_config.work_self beside these. */
extern const engine_work_ops work_prover_ops;

#endif
