/* cuzk submit porep|winning|window|snap: hand a job to a daemon. */
#include "cli/cli.h"

#ifdef CUZK_HAVE_SERVER

#include <stdio.h>

#include "cli/daemon_client.h"
#include "host/json_out.h"

typedef struct submit_args {
    job_files files;
    daemon_at at;
    const char *request_id, *priority;
    uint64_t miner, sector;
    bool json;
} submit_args;

static cuzk_status submit(const submit_args *args, const cuzk_host *host,
                          Cuzk__V1__SubmitProofResponse **reply, cuzk_error *err) {
    proof_request request;
    rpc_client *client;
    CUZK_TRY(proof_request_make(host, &args->files, &request, err));
    Cuzk__V1__SubmitProofRequest *m = &request.message;
    if (args->request_id != NULL) m->request_id = (char *)(uintptr_t)args->request_id;
    m->miner_id = args->miner;
    m->sector_number = args->sector;
    (void)priority_by_name(args->priority, &m->priority);
    cuzk_status status = daemon_connect(&args->at, &client, err);
    if (status == CUZK_OK) {
        status = rpc_client_call(client, "SubmitProof", &m->base, 0,
                                 &cuzk__v1__submit_proof_response__descriptor, reply, err);
        rpc_client_close(client);
    }
    proof_request_free(host, &request);
    return status;
}

static int submit_main(const cli_command *self, const submit_args *args) {
    Cuzk__V1__SubmitProofResponse *reply;
    Cuzk__V1__Priority priority;
    cli_session s;
    cuzk_error err = {0};
    if (!priority_by_name(args->priority, &priority))
        return cli_usage(self, "--priority: low, normal, high or critical");
    if (cli_session_open(&s, 1, true, &err) != CUZK_OK) return cli_report(self, &err);
    const cuzk_status status = submit(args, s.host, &reply, &err);
    cli_session_close(&s);
    if (status != CUZK_OK) return cli_report(self, &err);
    if (args->json) {
        json_out j = {.file = stdout};
        json_out_object(&j, NULL);
        json_out_string(&j, "job_id", reply->job_id);
        json_out_u64(&j, "queue_position", reply->queue_position);
        json_out_end_object(&j);
    } else {
        printf("%s\n", reply->job_id);
    }
    cuzk__v1__submit_proof_response__free_unpacked(reply, NULL);
    return EXIT_OK;
}

static int run_submit(int argc, char **argv, const cli_command *self) {
    static submit_args args; /* large */
    args = (submit_args){.files.kind = self == &cmd_submit_porep     ? PROOF_POREP
                                       : self == &cmd_submit_winning ? PROOF_WINNING
                                       : self == &cmd_submit_window  ? PROOF_WINDOW
                                                                     : PROOF_SNAP};
    const cli_option porep[] = {
        {CLI_TEXT, "c1", "FILE", "C1 output: JSON, wrapped JSON, or binary", &args.files.c1, 0, 0,
         true},
        {CLI_COUNT, "miner", "ID", "miner: the C1 output is checked to be its sector's",
         &args.miner, 0, UINT64_MAX, false},
        {CLI_COUNT, "sector", "N", "sector number", &args.sector, 0, UINT64_MAX, false},
    };
    const cli_option vanilla[] = {
        {CLI_LIST, "vanilla", "FILE", "vanilla proof: JSON array of base64, or .bin files",
         &args.files.vanilla, 0, 0, true},
        {CLI_TEXT, "meta", "FILE", "public data (JSON)", &args.files.meta, 0, 0, true},
    };
    const cli_option common[] = {
        {CLI_TEXT, "request-id", "ID", "idempotency key (default: the daemon makes one)",
         &args.request_id, 0, 0, false},
        {CLI_TEXT, "priority", "P", "low, normal, high, critical (default: the kind's)",
         &args.priority, 0, 0, false},
        {CLI_FLAG, "json", NULL, "answer as JSON", &args.json, 0, 0, false},
        DAEMON_OPTIONS(args.at),
    };
    enum { N_COMMON = sizeof common / sizeof common[0] };
    cli_option options[3 + N_COMMON];
    const bool is_porep = args.files.kind == PROOF_POREP;
    const cli_option *first = is_porep ? porep : vanilla;
    const size_t n = is_porep ? 3 : 2;
    for (size_t i = 0; i < n; i++)
        options[i] = first[i];
    for (size_t i = 0; i < N_COMMON; i++)
        options[n + i] = common[i];
    int code;
    if (!cli_parse(argc, argv, self, options, n + N_COMMON, NULL, 0, &code)) return code;
    return submit_main(self, &args);
}

#else
#define run_submit cli_no_server
#endif

#define ABOUT                                                                                      \
    "Prints the job's id once the daemon has it on disk. cuzk await fetches the proof; the same\n" \
    "request id with the same files joins the job that is there."
const cli_command cmd_submit_porep = {"submit porep", "hand a PoRep to a daemon", ABOUT,
                                      run_submit};
const cli_command cmd_submit_winning = {"submit winning", "hand a WinningPoSt to a daemon", ABOUT,
                                        run_submit};
const cli_command cmd_submit_window = {"submit window", "hand a WindowPoSt to a daemon", ABOUT,
                                       run_submit};
const cli_command cmd_submit_snap = {"submit snap", "hand a SnapDeals update to a daemon", ABOUT,
                                     run_submit};
