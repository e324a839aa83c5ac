/* cuzk verify porep|winning|window|snap: public data and proof bytes in, a verdict out. */
#include <stdio.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/inputs.h"
#include "host/json_out.h"
#include "prover/prove.h"

typedef struct verify_args {
    job_files files;
    const char *params, *proof;
    bool json;
} verify_args;

static cuzk_status verify(const cuzk_host *host, const verify_args *args, uint32_t *partitions,
                          cuzk_error *err) {
    proof_job *job;
    groth16_vk *vk;
    file_map proof;
    CUZK_TRY(job_files_open_public(host, &args->files, &job, err));
    cuzk_status status = verifying_key_load(host, &job->circuit, args->params, &vk, err);
    if (status == CUZK_OK) {
        status = file_map_open(args->proof, &proof, err);
        if (status == CUZK_OK) {
            status = verify_job(host, vk, job, proof.data, proof.bytes, err);
            if (status != CUZK_OK) status = cuzk_error_context(err, status, "%s", args->proof);
            file_map_close(&proof);
        }
        groth16_vk_free(host, vk);
    }
    *partitions = job->partitions;
    proof_job_free(host, job);
    return status;
}

static int run(int argc, char **argv, const cli_command *self) {
    static verify_args args;
    const bool porep = self == &cmd_verify_porep;
    args = (verify_args){.files.kind = porep                         ? PROOF_POREP
                                       : self == &cmd_verify_winning ? PROOF_WINNING
                                       : self == &cmd_verify_window  ? PROOF_WINDOW
                                                                     : PROOF_SNAP};
    const cli_option options[] = {
        {CLI_TEXT, "proof", "FILE", "192 bytes for each partition", &args.proof, 0, 0, true},
        {CLI_TEXT, "params", "DIR", "folder of the .vk (or .params) file", &args.params, 0, 0,
         true},
        {CLI_TEXT, "meta", "FILE", "public data (JSON)", &args.files.meta, 0, 0, !porep},
        {CLI_FLAG, "json", NULL, "verdict as JSON on standard output", &args.json, 0, 0, false},
        /* one more, by kind */
        {CLI_TEXT, "c1", "FILE", "C1 output to take the public data from", &args.files.c1, 0, 0,
         false},
        {CLI_FLAG, "poseidon", NULL, "the all-Poseidon variant of the circuit",
         &args.files.poseidon, 0, 0, false},
    };
    cli_option used[5];
    size_t n = 4;
    for (size_t i = 0; i < n; i++)
        used[i] = options[i];
    if (porep) used[n++] = options[4];
    if (args.files.kind == PROOF_SNAP) used[n++] = options[5];
    int code;
    if (!cli_parse(argc, argv, self, used, n, NULL, 0, &code)) return code;
    if (porep && (args.files.c1 == NULL) == (args.files.meta == NULL))
        return cli_usage(self, "either --c1 or --meta is needed");

    cli_session s;
    cuzk_error err = {0};
    uint32_t partitions = 0;
    if (cli_session_open(&s, 0, true, &err) != CUZK_OK) return cli_report(self, &err);
    const cuzk_status status = verify(s.host, &args, &partitions, &err);
    cli_session_close(&s);
    if (status != CUZK_OK && status != CUZK_ERR_INVALID_PROOF) return cli_report(self, &err);
    if (args.json) {
        json_out j = {.file = stdout};
        json_out_object(&j, NULL);
        json_out_bool(&j, "valid", status == CUZK_OK);
        json_out_u64(&j, "partitions", partitions);
        if (status != CUZK_OK) json_out_string(&j, "error", err.text);
        json_out_end_object(&j);
    } else if (status == CUZK_OK) {
        printf("valid: %u partition%s\n", partitions, partitions == 1 ? "" : "s");
    }
    if (status == CUZK_OK) return EXIT_OK;
    return args.json ? EXIT_FAILED : cli_report(self, &err);
}

#define VERIFY_COMMAND(id, kind, what)                                                             \
    const cli_command cmd_verify_##id = {                                                          \
        .name = "verify " kind,                                                                    \
        .summary = "verify " what,                                                                 \
        .about = "Verifies all partitions in one batch. Exit code 0: valid; 1: well formed but\n"  \
                 "not valid; 2: bad input.",                                                       \
        .run = run,                                                                                \
    }
VERIFY_COMMAND(porep, "porep", "a PoRep proof");
VERIFY_COMMAND(winning, "winning", "a WinningPoSt proof");
VERIFY_COMMAND(window, "window", "a WindowPoSt proof");
VERIFY_COMMAND(snap, "snap", "a SnapDeals update proof");
