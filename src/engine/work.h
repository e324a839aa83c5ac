/* What the engine must know of a job, and no more. work_prover.c implements this over src/prover;
 * the tests over simulated jobs. */
#ifndef CUZK_ENGINE_WORK_H
#define CUZK_ENGINE_WORK_H

#include "groth16/executor.h"

typedef struct engine_job_data engine_job_data; /* decoded body */
typedef struct engine_key_data engine_key_data; /* circuit and parameters */

typedef struct engine_work_ops {
    /* Decode a body: bad input is an error here (the job fails with its text). */
    cuzk_status (*open)(void *self, const cuzk_host *host, const uint8_t *body, size_t bytes,
                        engine_job_data **out, cuzk_error *err);
    void (*close)(void *self, const cuzk_host *host, engine_job_data *job);
    /* Circuit id and number of partitions; bytes of the decoded job and of one witness. */
    void (*describe)(void *self, const engine_job_data *job, char circuit[32], unsigned *partitions,
                     uint64_t *job_bytes, uint64_t *witness_bytes);
    /* Host bytes that key_load will hold (mapped parameters not counted). */
    cuzk_status (*key_size)(void *self, const char *circuit, uint64_t *host_bytes, cuzk_error *err);
    cuzk_status (*key_load)(void *self, const cuzk_host *host, const char *circuit,
                            engine_key_data **out, cuzk_error *err);
    void (*key_free)(void *self, const cuzk_host *host, engine_key_data *key);
    executor_key (*key_for_executor)(void *self, const engine_key_data *key);
    /* Witness of one partition: w is made here and freed by witness_drop. */
    cuzk_status (*witness)(void *self, const cuzk_host *host, const engine_key_data *key,
                           const engine_job_data *job, unsigned partition, witness *w,
                           cuzk_error *err);
    void (*witness_drop)(void *self, const cuzk_host *host, witness *w);
    /* Blind, assemble, verify against the job's public data; INVALID_PROOF when the sums are wrong.
     */
    cuzk_status (*finish)(void *self, const cuzk_host *host, const engine_key_data *key,
                          const engine_job_data *job, unsigned partition, const groth16_sums *sums,
                          uint8_t proof[GROTH16_PROOF_BYTES], cuzk_error *err);
    /* The whole proof, once more, before the job is called done. */
    cuzk_status (*verify_all)(void *self, const cuzk_host *host, const engine_key_data *key,
                              const engine_job_data *job, const uint8_t *proof, size_t bytes,
                              cuzk_error *err);
} engine_work_ops;

#endif
