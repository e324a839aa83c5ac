/* From the files a person names to a job. */
#ifndef CUZK_CLI_INPUTS_H
#define CUZK_CLI_INPUTS_H

#include "cli/cli.h"
#include "groth16/groth16.h"
#include "prover/job.h"

typedef struct job_files {
    proof_kind kind;
    const char *c1;   /* PoRep: JSON, lotus-bench wrapper, or our binary form */
    const char *meta; /* public data as JSON */
    cli_list vanilla; /* PoSt, snap: one JSON array of base64, or one .bin file for each proof */
    bool poseidon;    /* snap: the all-Poseidon variant of the circuit */
} job_files;

/* A job with its vanilla proof, checked against the public data (roots, paths, labels), so that a
 * corrupt input is an error that names the place. */
cuzk_status job_files_open(const cuzk_host *host, const job_files *files, proof_job **out,
                           cuzk_error *err);
/* A job for verification: from the metadata, or for PoRep from the C1 output. */
cuzk_status job_files_open_public(const cuzk_host *host, const job_files *files, proof_job **out,
                                  cuzk_error *err);

/* A C1 output in any form that this build reads; the error begins with the path. */
cuzk_status c1_file_read(const cuzk_host *host, const char *path, porep_c1 **out, cuzk_error *err);

/* Test inputs: set-up secrets, one blinding for each partition. */
cuzk_status secrets_read(const char *path, groth16_secrets *out, cuzk_error *err);
cuzk_status fixed_rs_read(const char *path, groth16_blinding *out, size_t n, cuzk_error *err);

#endif
