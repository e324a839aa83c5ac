/* cuzk await, cancel, preload, evict: one call to a daemon each. */
#include "cli/cli.h"

#ifdef CUZK_HAVE_SERVER

#include <stdio.h>

#include "cli/daemon_client.h"

/* Parse the daemon's options, more of the command's own, and one argument; then connect. */
static bool begin(int argc, char **argv, const cli_command *self, const cli_option *own, size_t n,
                  const char **word, rpc_client **client, int *code) {
    static cli_list rest; /* large */
    static daemon_at at;
    cuzk_error err = {0};
    at = (daemon_at){0};
    rest.n = 0;
    const cli_option shared[] = {DAEMON_OPTIONS(at)};
    enum { N_SHARED = sizeof shared / sizeof shared[0] };
    cli_option options[N_SHARED + 4];
    for (size_t i = 0; i < n; i++)
        options[i] = own[i];
    for (size_t i = 0; i < N_SHARED; i++)
        options[n + i] = shared[i];
    if (!cli_parse(argc, argv, self, options, n + N_SHARED, &rest, 1, code)) return false;
    if (rest.n != 1) {
        *code = cli_usage(self, "one argument is needed");
        return false;
    }
    *word = rest.items[0];
    if (daemon_connect(&at, client, &err) == CUZK_OK) return true;
    *code = cli_report(self, &err);
    return false;
}

static char *text_of(const char *word) {
    return (char *)(uintptr_t)word;
}

static int run_await(int argc, char **argv, const cli_command *self) {
    Cuzk__V1__AwaitProofRequest request = CUZK__V1__AWAIT_PROOF_REQUEST__INIT;
    Cuzk__V1__AwaitProofResponse *reply;
    rpc_client *client;
    const char *id, *out = NULL;
    uint64_t timeout = 0;
    bool json = false;
    cuzk_error err = {0};
    int code;
    const cli_option options[] = {
        {CLI_TEXT, "out", "FILE", "where the proof goes (default: hex on standard output)", &out, 0,
         0, false},
        {CLI_COUNT, "timeout", "SECONDS", "give up waiting (default: never)", &timeout, 1, 31536000,
         false},
        {CLI_FLAG, "json", NULL, "result as JSON", &json, 0, 0, false},
    };
    if (!begin(argc, argv, self, options, 3, &id, &client, &code)) return code;
    request.job_id = text_of(id);
    request.timeout_ms = timeout * 1000;
    const cuzk_status status =
        rpc_client_call(client, "AwaitProof", &request.base, 0,
                        &cuzk__v1__await_proof_response__descriptor, &reply, &err);
    rpc_client_close(client);
    if (status != CUZK_OK) return cli_report(self, &err);
    code = print_result(self, reply, out, json);
    cuzk__v1__await_proof_response__free_unpacked(reply, NULL);
    return code;
}

static int run_cancel(int argc, char **argv, const cli_command *self) {
    Cuzk__V1__CancelProofRequest request = CUZK__V1__CANCEL_PROOF_REQUEST__INIT;
    Cuzk__V1__CancelProofResponse *reply;
    rpc_client *client;
    const char *id;
    cuzk_error err = {0};
    int code;
    if (!begin(argc, argv, self, NULL, 0, &id, &client, &code)) return code;
    request.job_id = text_of(id);
    const cuzk_status status =
        rpc_client_call(client, "CancelProof", &request.base, 30000,
                        &cuzk__v1__cancel_proof_response__descriptor, &reply, &err);
    rpc_client_close(client);
    if (status != CUZK_OK) return cli_report(self, &err);
    printf("%s\n", reply->was_running ? "was running: ends at the next partition boundary"
                                      : "was not running");
    cuzk__v1__cancel_proof_response__free_unpacked(reply, NULL);
    return EXIT_OK;
}

static int run_preload(int argc, char **argv, const cli_command *self) {
    Cuzk__V1__PreloadSRSRequest request = CUZK__V1__PRELOAD_SRSREQUEST__INIT;
    Cuzk__V1__PreloadSRSResponse *reply;
    rpc_client *client;
    const char *circuit;
    cuzk_error err = {0};
    int code;
    if (!begin(argc, argv, self, NULL, 0, &circuit, &client, &code)) return code;
    request.circuit_id = text_of(circuit);
    const cuzk_status status =
        rpc_client_call(client, "PreloadSRS", &request.base, 0,
                        &cuzk__v1__preload_srsresponse__descriptor, &reply, &err);
    rpc_client_close(client);
    if (status != CUZK_OK) return cli_report(self, &err);
    if (reply->already_loaded)
        puts("was loaded already");
    else
        printf("loaded in %.2f s\n", (double)reply->load_time_ms / 1000);
    cuzk__v1__preload_srsresponse__free_unpacked(reply, NULL);
    return EXIT_OK;
}

static int run_evict(int argc, char **argv, const cli_command *self) {
    Cuzk__V1__EvictSRSRequest request = CUZK__V1__EVICT_SRSREQUEST__INIT;
    Cuzk__V1__EvictSRSResponse *reply;
    rpc_client *client;
    const char *circuit;
    cuzk_error err = {0};
    int code;
    if (!begin(argc, argv, self, NULL, 0, &circuit, &client, &code)) return code;
    request.circuit_id = text_of(circuit);
    const cuzk_status status =
        rpc_client_call(client, "EvictSRS", &request.base, 60000,
                        &cuzk__v1__evict_srsresponse__descriptor, &reply, &err);
    rpc_client_close(client);
    if (status != CUZK_OK) return cli_report(self, &err);
    if (reply->was_loaded)
        printf("%llu bytes given back\n", (unsigned long long)reply->freed_bytes);
    else
        puts("was not loaded");
    cuzk__v1__evict_srsresponse__free_unpacked(reply, NULL);
    return EXIT_OK;
}

#else
#define run_await cli_no_server
#define run_cancel cli_no_server
#define run_preload cli_no_server
#define run_evict cli_no_server
#endif

const cli_command cmd_await = {
    "await", "wait for a daemon's job and fetch its proof",
    "cuzk await JOB: exit code 0 and the proof when it is completed; 1 when it failed, was\n"
    "cancelled, or the timeout is over (the job goes on).",
    run_await};
const cli_command cmd_cancel = {
    "cancel", "cancel a daemon's job",
    "cuzk cancel JOB: a queued job at once, a running one at the next partition boundary.",
    run_cancel};
const cli_command cmd_preload = {
    "preload", "make a daemon load a circuit's parameters",
    "cuzk preload CIRCUIT (porep-32g, window-32g, ...): returns when they are loaded.",
    run_preload};
const cli_command cmd_evict = {"evict", "make a daemon let go of a circuit's parameters",
                               "cuzk evict CIRCUIT: refused while jobs use them.", run_evict};
