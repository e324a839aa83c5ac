/* A proving key: a recorded circuit and the parameter file that belongs to it. */
#ifndef CUZK_PROVER_KEY_H
#define CUZK_PROVER_KEY_H

#include "filecoin/shape.h"
#include "groth16/executor.h"

typedef struct proving_key {
    circuit_id id;
    char name[32]; /* canonical circuit id */
    r1cs *circuit; /* A and B; C only when asked for */
    groth16_params *params;
} proving_key;

/* "<dir>/v28-....params" or ".vk". */
cuzk_status params_path(const char *dir, const circuit_id *id, const char *extension, char *out,
                        size_t out_bytes, cuzk_error *err);

/* Record the circuit, map the parameters from dir, check that they fit. A missing file is
 * CUZK_ERR_NOT_FOUND naming file and directory; nothing is ever generated here. */
cuzk_status proving_key_load(const cuzk_host *host, const circuit_id *id, const char *dir,
                             proving_key **out, cuzk_error *err);
void proving_key_free(const cuzk_host *host, proving_key *key);
executor_key proving_key_for_executor(const proving_key *key);

/* Record a circuit by id; keep_c: with the C matrix (set-up, digests, checks). */
cuzk_status circuit_record(const cuzk_host *host, const circuit_id *id, bool keep_c, r1cs **out,
                           cuzk_error *err);
/* Only the verifying key: from the .vk file, or from the head of the .params file where there is
 * no .vk. */
cuzk_status verifying_key_load(const cuzk_host *host, const circuit_id *id, const char *dir,
                               groth16_vk **out, cuzk_error *err);

#endif
