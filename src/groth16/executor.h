/* An executor turns compact witnesses into the sums of a proof on one device: the CPU, an NVIDIA
 * GPU, or a simulated device in tests. One thread owns an executor and makes all calls to it.
 *
 * Life of a partition: begin() takes the witness into one of `slots` upload slots and returns at
 * once where the device works by itself; finish() waits for that slot's sums. With two slots the
 * owner begins partition N+1 before it finishes N, so upload and compute overlap. N+1 need not
 * start before the owner's next call after finish(N): until then it can be withdrawn. */
#ifndef CUZK_GROTH16_EXECUTOR_H
#define CUZK_GROTH16_EXECUTOR_H

#include "groth16/groth16.h"

/* What load() may take time for. A device prepares what its memory allows: THOROUGH takes seconds
 * for what saves a few hundredths of each partition. */
typedef enum executor_effort {
    EXECUTOR_BRIEF,   /* a proof or two will follow */
    EXECUTOR_NORMAL,  /* up to tenths of a second beside the transfer */
    EXECUTOR_THOROUGH /* hundreds of partitions will follow */
} executor_effort;

/* Circuit and parameters that belong together; borrowed, and alive while the executor has them
 * loaded. */
typedef struct executor_key {
    const char *circuit_id;
    const r1cs *circuit;
    const groth16_params *params;
    executor_effort effort;
    /* Optional (NULL: never): asked by load() now and then, on the caller's thread; true ends it
     * with CUZK_ERR_CANCELLED and nothing loaded. */
    bool (*give_up)(void *self);
    void *give_up_self;
} executor_key;

typedef struct executor_info {
    char name[96];                         /* "CPU (2 threads)", "NVIDIA H200" */
    char kind[16];                         /* "cpu", "cuda", "sim" */
    int ordinal;                           /* device number, -1 for the CPU */
    char uuid[48];                         /* empty when there is none */
    uint64_t memory_total, memory_planned; /* device bytes; 0 on the CPU */
    unsigned slots;                        /* partitions that may be begun and not finished, >= 1 */
} executor_info;

/* Where a partition's time went, milliseconds. */
typedef struct executor_timing {
    double upload_ms, eval_ms, ntt_ms, msm_ms, total_ms;
} executor_timing;

typedef struct executor executor;
typedef struct executor_ops {
    void (*info)(executor *ex, executor_info *out);
    /* Bytes of device memory and of host memory (beyond mapping the parameters and the circuit)
     * that proving with this key will take: the plan's numbers, never the driver's. */
    cuzk_status (*plan)(executor *ex, const executor_key *key, uint64_t *device_bytes,
                        uint64_t *host_bytes, cuzk_error *err);
    /* Make the key current (upload or prepare), in place of another. Reports progress through the
     * host, and ends with CUZK_ERR_CANCELLED when the host or the key asks for it. */
    cuzk_status (*load)(executor *ex, const executor_key *key, cuzk_error *err);
    void (*unload)(executor *ex);
    /* w stays alive and unchanged until finish. */
    cuzk_status (*begin)(executor *ex, unsigned slot, const witness *w, cuzk_error *err);
    cuzk_status (*finish)(executor *ex, unsigned slot, groth16_sums *out, executor_timing *timing,
                          cuzk_error *err);
    void (*close)(executor *ex);
    /* Optional (NULL: never): take a begun partition back, so that another may go first. True: it
     * had not started, and the slot is free as if it had never been begun. */
    bool (*withdraw)(executor *ex, unsigned slot);
} executor_ops;
struct executor {
    const executor_ops *ops;
    const cuzk_host *host;
};

/* The CPU executor: memory from host, threads from host->parallel. */
cuzk_status executor_cpu_open(const cuzk_host *host, executor **out, cuzk_error *err);

/* One partition on one executor that has key loaded: begin in slot 0, finish, assemble, verify
 * against the public inputs in w. CUZK_ERR_INVALID_PROOF when the device computed a wrong sum or w
 * does not satisfy the circuit, CUZK_ERR_ARGUMENT when r and s are both zero. timing may be NULL.
 */
cuzk_status executor_prove(executor *ex, const executor_key *key, const witness *w,
                           const groth16_blinding *rs, groth16_proof *proof,
                           executor_timing *timing, cuzk_error *err);

#endif
