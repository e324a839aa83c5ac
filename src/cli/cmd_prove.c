/* cuzk prove porep|winning|window|snap: files in, verified proof out. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/device.h"
#include "cli/inputs.h"
#include "host/json_out.h"
#include "prover/prove.h"
#ifdef CUZK_HAVE_SERVER
#include "cli/daemon_client.h"
#endif

typedef struct prove_args {
    job_files files;
    const char *params, *out, *fixed_rs, *device, *vram_limit, *daemon;
    uint64_t threads;
    bool json;
} prove_args;

/* Everything that lives as long as the command. */
typedef struct prove_run {
    proof_job *job;
    proving_key *key;
    executor *ex;
    groth16_blinding *fixed_rs;
    uint8_t *proof;
    partition_timing *timings;
    double load_s, prove_s;
} prove_run;

static cuzk_status load(const cuzk_host *host, const prove_args *args, prove_run *run,
                        cuzk_error *err) {
    char device[DEVICE_NAME_BYTES];
    void *memory;
    CUZK_TRY(job_files_open(host, &args->files, &run->job, err));
    const size_t n = run->job->partitions;
    CUZK_TRY(cuzk_host_alloc(host, &memory, n, GROTH16_PROOF_BYTES, "proof", err));
    run->proof = memory;
    CUZK_TRY(cuzk_host_alloc(host, &memory, n, sizeof *run->timings, "timings", err));
    run->timings = memory;
    if (args->fixed_rs != NULL) {
        CUZK_TRY(cuzk_host_alloc(host, &memory, n, sizeof *run->fixed_rs, "fixed r, s", err));
        run->fixed_rs = memory;
        CUZK_TRY(fixed_rs_read(args->fixed_rs, run->fixed_rs, n, err));
    }
    CUZK_TRY(device_limited(args->device, args->vram_limit, device, err));
    CUZK_TRY(proving_key_load(host, &run->job->circuit, args->params, &run->key, err));
    CUZK_TRY(device_open(host, device, &run->ex, err));
    executor_key key = proving_key_for_executor(run->key);
    key.effort = n > 3 ? EXECUTOR_NORMAL : EXECUTOR_BRIEF;
    return run->ex->ops->load(run->ex, &key, err);
}

static cuzk_status prove(const cuzk_host *host, const prove_args *args, prove_run *run,
                         cuzk_error *err) {
    const double start = cli_now();
    CUZK_TRY(load(host, args, run, err));
    run->load_s = cli_now() - start;
    CUZK_TRY(
        prove_job(host, run->ex, run->key, run->job, run->fixed_rs, run->proof, run->timings, err));
    const size_t bytes = (size_t)run->job->partitions * GROTH16_PROOF_BYTES;
    /* The last word: all partitions in one batch, from bytes, as any verifier does it. */
    CUZK_TRY(verify_job(host, run->key->params->vk, run->job, run->proof, bytes, err));
    run->prove_s = cli_now() - start - run->load_s;
    return args->out == NULL ? CUZK_OK : file_write_all(args->out, run->proof, bytes, err);
}

static void print_json(const prove_args *args, const prove_run *run) {
    executor_info info;
    run->ex->ops->info(run->ex, &info);
    json_out j = {.file = stdout};
    json_out_object(&j, NULL);
    json_out_string(&j, "circuit", run->key->name);
    json_out_string(&j, "device", info.name);
    json_out_u64(&j, "partitions", run->job->partitions);
    json_out_hex(&j, "proof", run->proof, (size_t)run->job->partitions * GROTH16_PROOF_BYTES);
    json_out_bool(&j, "verified", true);
    json_out_bool(&j, "fixed_rs", args->fixed_rs != NULL);
    json_out_double(&j, "load_s", run->load_s);
    json_out_double(&j, "prove_s", run->prove_s);
    json_out_double(&j, "cpu_s", cli_cpu_seconds());
    json_out_u64(&j, "peak_rss_bytes", cli_peak_rss());
    json_out_array(&j, "timings_ms");
    for (uint32_t k = 0; k < run->job->partitions; k++) {
        const partition_timing *t = &run->timings[k];
        json_out_object(&j, NULL);
        json_out_double(&j, "witness", t->witness_ms);
        json_out_double(&j, "upload", t->device.upload_ms);
        json_out_double(&j, "eval", t->device.eval_ms);
        json_out_double(&j, "ntt", t->device.ntt_ms);
        json_out_double(&j, "msm", t->device.msm_ms);
        json_out_double(&j, "device_total", t->device.total_ms);
        json_out_double(&j, "verify", t->verify_ms);
        json_out_end_object(&j);
    }
    json_out_end_array(&j);
    json_out_end_object(&j);
}

static void print_text(const prove_args *args, const prove_run *run) {
    executor_info info;
    partition_timing sum = {0};
    run->ex->ops->info(run->ex, &info);
    for (uint32_t k = 0; k < run->job->partitions; k++) {
        sum.witness_ms += run->timings[k].witness_ms;
        sum.device.eval_ms += run->timings[k].device.eval_ms;
        sum.device.ntt_ms += run->timings[k].device.ntt_ms;
        sum.device.msm_ms += run->timings[k].device.msm_ms;
        sum.verify_ms += run->timings[k].verify_ms;
    }
    fprintf(stderr,
            "%s: %u partition%s proven and verified on %s in %.2f s (loading %.2f s)\n"
            "  witness %.0f ms, A w and B w %.0f ms, NTT %.0f ms, MSM %.0f ms, verify %.0f ms\n",
            run->key->name, run->job->partitions, run->job->partitions == 1 ? "" : "s", info.name,
            run->prove_s, run->load_s, sum.witness_ms, sum.device.eval_ms, sum.device.ntt_ms,
            sum.device.msm_ms, sum.verify_ms);
    if (args->fixed_rs != NULL)
        fprintf(stderr, "  FIXED r and s: this proof is for tests, it does not hide the witness\n");
    if (args->out != NULL) {
        fprintf(stderr, "  written to %s\n", args->out);
        return;
    }
    for (size_t i = 0; i < (size_t)run->job->partitions * GROTH16_PROOF_BYTES; i++)
        printf("%02x", run->proof[i]);
    putchar('\n');
}

static void release(const cuzk_host *host, prove_run *run) {
    const size_t n = run->job != NULL ? run->job->partitions : 0;
    if (run->ex != NULL) {
        run->ex->ops->unload(run->ex);
        run->ex->ops->close(run->ex);
    }
    proving_key_free(host, run->key);
    cuzk_host_free(host, run->fixed_rs, n, sizeof *run->fixed_rs);
    cuzk_host_free(host, run->timings, n, sizeof *run->timings);
    cuzk_host_free(host, run->proof, n, GROTH16_PROOF_BYTES);
    proof_job_free(host, run->job);
}

static int prove_remote(const cli_command *self, const prove_args *args) {
    if (args->params != NULL || args->fixed_rs != NULL || args->device != NULL ||
        args->vram_limit != NULL || args->files.poseidon)
        return cli_usage(self, "--params, --device, --vram-limit, --fixed-rs and --poseidon are "
                               "not for --daemon");
#ifdef CUZK_HAVE_SERVER
    return prove_at_daemon(self, &args->files, args->daemon, args->out, args->json);
#else
    return cli_no_server(0, NULL, self);
#endif
}

static int prove_main(const cli_command *self, const prove_args *args) {
    cli_session s;
    prove_run run = {0};
    cuzk_error err = {0};
    if (args->daemon != NULL) return prove_remote(self, args);
    if (args->params == NULL) return cli_usage(self, "--params or --daemon is needed");
    if (cli_session_open(&s, (unsigned)args->threads, false, &err) != CUZK_OK)
        return cli_report(self, &err);
    const cuzk_status status = prove(s.host, args, &run, &err);
    if (status == CUZK_OK) (args->json ? print_json : print_text)(args, &run);
    release(s.host, &run);
    cli_session_close(&s);
    return status == CUZK_OK ? EXIT_OK : cli_report(self, &err);
}

#define COMMON_OPTIONS                                                                             \
    {CLI_TEXT, "params", "DIR", "folder of the parameter files", &args.params, 0, 0, false},       \
        {CLI_TEXT,     "daemon", "ADDR", "let the daemon at unix:///path or host:port do it",      \
         &args.daemon, 0,        0,      false},                                                   \
        {CLI_TEXT,  "out", "FILE", "where the proof goes (default: hex on standard output)",       \
         &args.out, 0,     0,      false},                                                         \
        {CLI_TEXT,                                                                                 \
         "device",                                                                                 \
         "NAME",                                                                                   \
         "cpu, cuda, cuda:N, or auto (default: a GPU if there is "                                 \
         "one)",                                                                                   \
         &args.device,                                                                             \
         0,                                                                                        \
         0,                                                                                        \
         false},                                                                                   \
        VRAM_LIMIT_OPTION(args.vram_limit),                                                        \
        {CLI_COUNT,     "threads", "N",  "CPU threads to use (default: all)",                      \
         &args.threads, 1,         1024, false},                                                   \
        {CLI_TEXT,                                                                                 \
         "fixed-rs",                                                                               \
         "FILE",                                                                                   \
         "test use only: JSON array with one {\"r\":..,\"s\":..} a partition,\n"                   \
         "32 bytes little-endian in hex",                                                          \
         &args.fixed_rs,                                                                           \
         0,                                                                                        \
         0,                                                                                        \
         false},                                                                                   \
    {                                                                                              \
        CLI_FLAG, "json", NULL, "result and timings as JSON on standard output", &args.json, 0, 0, \
            false                                                                                  \
    }

static int run_porep(int argc, char **argv, const cli_command *self) {
    static prove_args args;
    args = (prove_args){.files.kind = PROOF_POREP};
    const cli_option options[] = {
        {CLI_TEXT, "c1", "FILE",
         "C1 output: JSON, the lotus-bench wrapper around it, or cuzk's\nbinary form",
         &args.files.c1, 0, 0, true},
        COMMON_OPTIONS,
    };
    int code;
    if (!cli_parse(argc, argv, self, options, sizeof options / sizeof options[0], NULL, 0, &code))
        return code;
    return prove_main(self, &args);
}

static int run_vanilla(int argc, char **argv, const cli_command *self) {
    static prove_args args;
    args = (prove_args){.files.kind = self == &cmd_prove_winning  ? PROOF_WINNING
                                      : self == &cmd_prove_window ? PROOF_WINDOW
                                                                  : PROOF_SNAP};
    const cli_option options[] = {
        {CLI_LIST, "vanilla", "FILE",
         "vanilla proof: a JSON array of base64, or this option repeated\nwith .bin files",
         &args.files.vanilla, 0, 0, true},
        {CLI_TEXT, "meta", "FILE",
         "public data (JSON): registered_proof and randomness, or the\n"
         "comm_r_old, comm_r_new, comm_d_new of an update",
         &args.files.meta, 0, 0, true},
        COMMON_OPTIONS,
        /* last: offered for snap alone */
        {CLI_FLAG, "poseidon", NULL, "the all-Poseidon variant of the circuit",
         &args.files.poseidon, 0, 0, false},
    };
    const size_t n = sizeof options / sizeof options[0] - (args.files.kind == PROOF_SNAP ? 0 : 1);
    int code;
    if (!cli_parse(argc, argv, self, options, n, NULL, 0, &code)) return code;
    return prove_main(self, &args);
}

const cli_command cmd_prove_porep = {
    .name = "prove porep",
    .summary = "prove a sealed sector: C1 output in, Groth16 proof out",
    .about = "Proves all partitions of a PoRep, verifies the result, and only then writes it.",
    .run = run_porep,
};
const cli_command cmd_prove_winning = {
    .name = "prove winning",
    .summary = "prove a WinningPoSt",
    .about = "Proves a WinningPoSt from one sector's vanilla proof, and verifies the result.",
    .run = run_vanilla,
};
const cli_command cmd_prove_window = {
    .name = "prove window",
    .summary = "prove a WindowPoSt, all its partitions",
    .about = "Proves a WindowPoSt from one vanilla proof a sector, and verifies the result.\n"
             "A last partition with fewer sectors is filled by repeating its last sector.",
    .run = run_vanilla,
};
const cli_command cmd_prove_snap = {
    .name = "prove snap",
    .summary = "prove a SnapDeals update, all its partitions",
    .about = "Proves an empty-sector update from one vanilla proof a partition, and verifies it.",
    .run = run_vanilla,
};
