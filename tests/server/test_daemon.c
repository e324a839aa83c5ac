/* What a client may rely on: every call, its status codes, rights, restarts. */
#include "check.h"
#include "daemon_child.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static cuzk_error err;

/* The job ends COMPLETED with the proof of id. */
static void check_proof(rpc_client *c, const char *job_id, uint64_t id, uint32_t partitions) {
    Cuzk__V1__AwaitProofResponse *r;
    CHECK_OK(child_await(c, job_id, 0, &r, &err));
    if (err.text[0] != 0) return;
    CHECK_U64(r->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED);
    CHECK(sim_proof_is(r->proof.data, r->proof.len, id, partitions));
    CHECK(strcmp(r->job_id, job_id) == 0);
    CHECK(strstr(r->devices, "Simulated GPU #") != NULL);
    cuzk__v1__await_proof_response__free_unpacked(r, NULL);
}

static cuzk_status cancel(rpc_client *c, const char *job_id, bool *was_running) {
    Cuzk__V1__CancelProofRequest request = CUZK__V1__CANCEL_PROOF_REQUEST__INIT;
    Cuzk__V1__CancelProofResponse *reply;
    request.job_id = (char *)(uintptr_t)job_id;
    const cuzk_status status =
        rpc_client_call(c, "CancelProof", &request.base, 5000,
                        &cuzk__v1__cancel_proof_response__descriptor, &reply, &err);
    if (status != CUZK_OK) return status;
    *was_running = reply->was_running;
    cuzk__v1__cancel_proof_response__free_unpacked(reply, NULL);
    return CUZK_OK;
}

TEST(jobs) {
    daemon_child d;
    Cuzk__V1__AwaitProofResponse *r;
    char id[256];
    child_init(&d, NULL);
    child_start(&d);
    struct stat st;
    CHECK(stat(d.socket + 7, &st) == 0 && (st.st_mode & 0777) == 0600);
    rpc_client *c = child_client(&d, NULL);
    CHECK_OK(child_submit(c, "wdpost-1000-0-[12 34]", 1, 1, 0, id, &err));
    CHECK(strcmp(id, "wdpost-1000-0-[12 34]") == 0);
    check_proof(c, id, 1, 10);
    /* The same again joins; another body under the key does not. */
    CHECK_OK(child_submit(c, id, 1, 1, 0, NULL, &err));
    CHECK_STATUS(child_submit(c, id, 2, 1, 0, NULL, &err), CUZK_ERR_EXISTS);
    CHECK_OK(child_submit(c, "", 3, 4, 0, id, &err));
    CHECK_U64(strlen(id), 36);
    check_proof(c, id, 3, 1);
    CHECK_STATUS(child_await(c, "nobody", 0, &r, &err), CUZK_ERR_NOT_FOUND);
    CHECK(strstr(err.text, "job not found: nobody") != NULL);
    CHECK_STATUS(child_await(c, "", 0, &r, &err), CUZK_ERR_ARGUMENT);
    CHECK_STATUS(child_submit(c, "k", 1, 0, 0, NULL, &err), CUZK_ERR_ARGUMENT);
    CHECK_STATUS(child_submit(c, "k", 1, 5, 0, NULL, &err), CUZK_ERR_ARGUMENT);
    CHECK_STATUS(child_submit(c, "\xff\xfe", 1, 1, 0, NULL, &err), CUZK_ERR_ARGUMENT);
    char long_id[400];
    memset(long_id, 'x', sizeof long_id - 1);
    long_id[sizeof long_id - 1] = 0;
    CHECK_STATUS(child_submit(c, long_id, 1, 1, 0, NULL, &err), CUZK_ERR_ARGUMENT);
    /* A failed proof is a reply, not an error of the call. */
    CHECK_OK(child_submit(c, "bad", 4, 4, SIM_BAD_WITNESS, NULL, &err));
    CHECK_OK(child_await(c, "bad", 0, &r, &err));
    CHECK_U64(r->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED);
    CHECK(strstr(r->error_message, "simulated bad witness") != NULL);
    CHECK_U64(r->proof.len, 0);
    cuzk__v1__await_proof_response__free_unpacked(r, NULL);
    rpc_client_close(c);
    child_free(&d);
}

TEST(error_texts_hold_no_paths) {
    daemon_child d;
    Cuzk__V1__SubmitProofRequest request = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
    Cuzk__V1__ProveRequest prove = CUZK__V1__PROVE_REQUEST__INIT;
    Cuzk__V1__ProveResponse *reply;
    child_init(&d, NULL);
    child_start(&d);
    rpc_client *c = child_client(&d, NULL);
    request.proof_kind = CUZK__V1__PROOF_KIND__WINNING_POST;
    prove.submit = &request;
    CHECK_OK(rpc_client_call(c, "Prove", &prove.base, 5000, &cuzk__v1__prove_response__descriptor,
                             &reply, &err));
    CHECK_U64(reply->result->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED);
    CHECK(strstr(reply->result->error_message, "file.bin") != NULL);
    CHECK(strstr(reply->result->error_message, "/") == NULL);
    cuzk__v1__prove_response__free_unpacked(reply, NULL);
    prove.submit = NULL;
    CHECK_STATUS(rpc_client_call(c, "Prove", &prove.base, 5000,
                                 &cuzk__v1__prove_response__descriptor, &reply, &err),
                 CUZK_ERR_ARGUMENT);
    CHECK(strstr(err.text, "missing submit field") != NULL);
    CHECK_STATUS(rpc_client_call(c, "Shutdown", &prove.base, 5000,
                                 &cuzk__v1__prove_response__descriptor, &reply, &err),
                 CUZK_ERR_UNSUPPORTED);
    rpc_client_close(c);
    child_free(&d);
}

TEST(waiting_and_cancelling) {
    daemon_child d;
    Cuzk__V1__AwaitProofResponse *r;
    bool was_running;
    child_init(&d, "compute_us=30000", "daemon.queue_limit=3", NULL);
    child_start(&d);
    rpc_client *c = child_client(&d, NULL);
    CHECK_OK(child_submit(c, "slow", 1, 1, 0, NULL, &err));
    CHECK_OK(child_submit(c, "second", 2, 1, 0, NULL, &err));
    CHECK_OK(child_submit(c, "third", 3, 1, 0, NULL, &err));
    CHECK_STATUS(child_submit(c, "fourth", 4, 1, 0, NULL, &err), CUZK_ERR_EXHAUSTED);
    /* A wait that is over does not end the job. */
    const uint64_t start = sim_now_us();
    CHECK_OK(child_await(c, "slow", 60, &r, &err));
    const uint64_t took = sim_now_us() - start;
    CHECK(took >= 59000 && took < 2000000);
    CHECK_U64(r->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__TIMEOUT);
    cuzk__v1__await_proof_response__free_unpacked(r, NULL);
    CHECK_OK(cancel(c, "third", &was_running));
    CHECK_OK(child_await(c, "third", 0, &r, &err));
    CHECK_U64(r->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__CANCELLED);
    cuzk__v1__await_proof_response__free_unpacked(r, NULL);
    CHECK_STATUS(cancel(c, "nobody", &was_running), CUZK_ERR_NOT_FOUND);
    CHECK_OK(child_await(c, "slow", UINT64_MAX, &r, &err));
    CHECK_U64(r->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED);
    cuzk__v1__await_proof_response__free_unpacked(r, NULL);
    check_proof(c, "second", 2, 10);
    rpc_client_close(c);
    child_free(&d);
}

/* A client that goes away: a job that nobody can ask for ends, one with a key goes on. */
TEST(clients_that_leave) {
    daemon_child d;
    sim_body body = {.id = 7, .shape = 0};
    Cuzk__V1__SubmitProofRequest request = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
    Cuzk__V1__ProveRequest prove = CUZK__V1__PROVE_REQUEST__INIT;
    Cuzk__V1__ProveResponse *reply;
    Cuzk__V1__GetMetricsRequest ask = CUZK__V1__GET_METRICS_REQUEST__INIT;
    Cuzk__V1__GetMetricsResponse *metrics;
    child_init(&d, "compute_us=100000", NULL);
    child_start(&d);
    rpc_client *c = child_client(&d, NULL);
    request.proof_kind = CUZK__V1__PROOF_KIND__POREP_SEAL_COMMIT;
    request.randomness = (ProtobufCBinaryData){sizeof body, (uint8_t *)&body};
    prove.submit = &request;
    request.request_id = (char *)(uintptr_t) "kept";
    CHECK_STATUS(rpc_client_call(c, "Prove", &prove.base, 400,
                                 &cuzk__v1__prove_response__descriptor, &reply, &err),
                 CUZK_ERR_TIMEOUT);
    check_proof(c, "kept", 7, 10);
    request.request_id = (char *)(uintptr_t) "";
    CHECK_STATUS(rpc_client_call(c, "Prove", &prove.base, 400,
                                 &cuzk__v1__prove_response__descriptor, &reply, &err),
                 CUZK_ERR_TIMEOUT);
    bool cancelled = false;
    for (int i = 0; i < 200 && !cancelled; i++) {
        CHECK_OK(rpc_client_call(c, "GetMetrics", &ask.base, 5000,
                                 &cuzk__v1__get_metrics_response__descriptor, &metrics, &err));
        cancelled = strstr(metrics->prometheus_text, "cuzk_proofs_cancelled_total 1") != NULL;
        cuzk__v1__get_metrics_response__free_unpacked(metrics, NULL);
        usleep(10000);
    }
    CHECK(cancelled);
    rpc_client_close(c);
    child_free(&d);
}

/* Is there a line with this text in the daemon's log? */
static bool logged(const daemon_child *d, const char *text) {
    char line[1024];
    bool found = false;
    FILE *f = fopen(d->log, "r");
    REQUIRE(f != NULL);
    while (!found && fgets(line, sizeof line, f) != NULL)
        found = strstr(line, text) != NULL;
    fclose(f);
    return found;
}

TEST(limits_of_device_memory) {
    daemon_child d;
    const Cuzk__V1__GetStatusRequest ask = CUZK__V1__GET_STATUS_REQUEST__INIT;
    Cuzk__V1__GetStatusResponse *s;
    child_init(&d, "devices=3", "gpus.devices=2,0,cuda:1@6GiB", "gpus.vram_limit=8GiB",
               "logging.level=info", NULL);
    child_start(&d);
    rpc_client *c = child_client(&d, NULL);
    CHECK_OK(rpc_client_call(c, "GetStatus", &ask.base, 5000,
                             &cuzk__v1__get_status_response__descriptor, &s, &err));
    CHECK_U64(s->n_gpus, 3);
    for (size_t i = 0; i < s->n_gpus; i++)
        CHECK_U64(s->gpus[i]->vram_total_bytes, (i == 2 ? 6 : 8) * SIM_GIB);
    cuzk__v1__get_status_response__free_unpacked(s, NULL);
    CHECK(logged(&d, "device 0: Simulated GPU #0") && logged(&d, "of 8.0 GiB"));
    CHECK(logged(&d, "device 2: Simulated GPU #2") && logged(&d, "of 6.0 GiB"));
    rpc_client_close(c);
    child_free(&d);
}

TEST(status_is_true) {
    daemon_child d;
    const Cuzk__V1__GetStatusRequest ask = CUZK__V1__GET_STATUS_REQUEST__INIT;
    Cuzk__V1__PreloadSRSRequest load = CUZK__V1__PRELOAD_SRSREQUEST__INIT;
    Cuzk__V1__PreloadSRSResponse *loaded;
    Cuzk__V1__EvictSRSRequest drop = CUZK__V1__EVICT_SRSREQUEST__INIT;
    Cuzk__V1__EvictSRSResponse *dropped;
    Cuzk__V1__GetStatusResponse *s;
    child_init(&d, "compute_us=100000", "load_us=5000", "devices=2", NULL);
    child_start(&d);
    rpc_client *c = child_client(&d, NULL);
    load.circuit_id = (char *)(uintptr_t) "porep-32g";
    CHECK_OK(rpc_client_call(c, "PreloadSRS", &load.base, 5000,
                             &cuzk__v1__preload_srsresponse__descriptor, &loaded, &err));
    CHECK(!loaded->already_loaded && loaded->load_time_ms >= 5);
    cuzk__v1__preload_srsresponse__free_unpacked(loaded, NULL);
    load.circuit_id = (char *)(uintptr_t) "porep-33g";
    CHECK_STATUS(rpc_client_call(c, "PreloadSRS", &load.base, 5000,
                                 &cuzk__v1__preload_srsresponse__descriptor, &loaded, &err),
                 CUZK_ERR_ARGUMENT);
    CHECK(strstr(err.text, "unknown circuit ID: porep-33g") != NULL);
    for (uint64_t i = 0; i < 3; i++)
        CHECK_OK(child_submit(c, "", i, 1, 0, NULL, &err));
    usleep(150000);
    CHECK_OK(rpc_client_call(c, "GetStatus", &ask.base, 5000,
                             &cuzk__v1__get_status_response__descriptor, &s, &err));
    CHECK_U64(s->n_gpus, 2);
    unsigned busy = 0, jobs = 0;
    for (size_t i = 0; i < s->n_gpus; i++) {
        CHECK_U64(s->gpus[i]->vram_total_bytes, 16 * SIM_GIB);
        CHECK(s->gpus[i]->vram_free_bytes <= 16 * SIM_GIB);
        CHECK_U64(s->gpus[i]->ordinal, i);
        busy += s->gpus[i]->current_job_id[0] != 0 &&
                strcmp(s->gpus[i]->current_proof_kind, "porep-c2") == 0;
    }
    CHECK(busy >= 1);
    for (size_t i = 0; i < s->n_queues; i++)
        jobs += s->queues[i]->pending + s->queues[i]->in_progress;
    CHECK_U64(jobs, 3);
    CHECK_U64(s->n_loaded_srs, 1);
    CHECK(strcmp(s->loaded_srs[0]->circuit_id, "porep-32g") == 0);
    CHECK_U64(s->loaded_srs[0]->tier, CUZK__V1__SRSSTATUS__TIER__HOT);
    CHECK(s->loaded_srs[0]->size_bytes >= 3 * SIM_GIB && s->loaded_srs[0]->ref_count >= 1);
    CHECK_U64(s->pinned_memory_limit_bytes, 64 * SIM_GIB);
    CHECK(s->pinned_memory_bytes > 3 * SIM_GIB && s->pinned_memory_bytes < 64 * SIM_GIB);
    cuzk__v1__get_status_response__free_unpacked(s, NULL);
    drop.circuit_id = (char *)(uintptr_t) "porep-32g"; /* in use */
    CHECK_STATUS(rpc_client_call(c, "EvictSRS", &drop.base, 5000,
                                 &cuzk__v1__evict_srsresponse__descriptor, &dropped, &err),
                 CUZK_ERR_EXHAUSTED);
    rpc_client_close(c);
    child_free(&d);
}

TEST(rights) {
    static const char tokens[] = "# who may do what\n"
                                 "submit-token-000001 submit\n"
                                 "observe-token-00001 observe\n"
                                 "all-token-000000001 submit,observe,admin\n";
    daemon_child d;
    char listen_at[128], token_file[128], token_arg[160], text[4096];
    const unsigned port = free_port(), http = free_port();
    char http_arg[64];
    const Cuzk__V1__GetStatusRequest ask = CUZK__V1__GET_STATUS_REQUEST__INIT;
    Cuzk__V1__GetStatusResponse *s;
    Cuzk__V1__EvictSRSRequest drop = CUZK__V1__EVICT_SRSREQUEST__INIT;
    Cuzk__V1__EvictSRSResponse *dropped;
    drop.circuit_id = (char *)(uintptr_t) "porep-32g";
    child_init(&d, listen_at, token_arg, http_arg, NULL);
    snprintf(listen_at, sizeof listen_at, "daemon.listen=%s,127.0.0.1:%u", d.socket, port);
    snprintf(http_arg, sizeof http_arg, "daemon.status_listen=0.0.0.0:%u", http);
    snprintf(token_file, sizeof token_file, "%s/tokens", d.dir);
    snprintf(token_arg, sizeof token_arg, "daemon.token_file=%s", token_file);
    FILE *f = fopen(token_file, "w");
    REQUIRE(f != NULL && fputs(tokens, f) >= 0 && fclose(f) == 0 && chmod(token_file, 0600) == 0);
    child_start(&d);
    snprintf(d.socket, sizeof d.socket, "127.0.0.1:%u", port); /* clients: over TCP from here on */
    static const struct {
        const char *token;
        cuzk_status submit, observe, admin;
    } cases[] = {{NULL, CUZK_ERR_ARGUMENT, CUZK_ERR_ARGUMENT, CUZK_ERR_ARGUMENT},
                 {"wrong-token-0000001", CUZK_ERR_ARGUMENT, CUZK_ERR_ARGUMENT, CUZK_ERR_ARGUMENT},
                 {"submit-token-00000", CUZK_ERR_ARGUMENT, CUZK_ERR_ARGUMENT, CUZK_ERR_ARGUMENT},
                 {"submit-token-000001", CUZK_OK, CUZK_ERR_ARGUMENT, CUZK_ERR_ARGUMENT},
                 {"observe-token-00001", CUZK_ERR_ARGUMENT, CUZK_OK, CUZK_ERR_ARGUMENT},
                 {"all-token-000000001", CUZK_OK, CUZK_OK, CUZK_OK}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        rpc_client *c = child_client(&d, cases[i].token);
        CHECK_STATUS(child_submit(c, "", 1, 4, 0, NULL, &err), cases[i].submit);
        CHECK_STATUS(rpc_client_call(c, "GetStatus", &ask.base, 5000,
                                     &cuzk__v1__get_status_response__descriptor, &s, &err),
                     cases[i].observe);
        if (cases[i].observe == CUZK_OK) cuzk__v1__get_status_response__free_unpacked(s, NULL);
        const cuzk_status status =
            rpc_client_call(c, "EvictSRS", &drop.base, 5000,
                            &cuzk__v1__evict_srsresponse__descriptor, &dropped, &err);
        CHECK_STATUS(status, cases[i].admin);
        if (status == CUZK_OK) cuzk__v1__evict_srsresponse__free_unpacked(dropped, NULL);
        rpc_client_close(c);
    }
    /* The status page can be reached from elsewhere: it asks too, except for health. */
    static const struct {
        const char *path, *header;
        int code;
    } pages[] = {
        {"/healthz", "", 200},
        {"/readyz", "", 200},
        {"/status", "", 401},
        {"/metrics", "", 401},
        {"/", "", 401},
        {"/nothing", "", 401},
        {"/status", "Authorization: Bearer wrong-token-0000001\r\n", 401},
        {"/status", "Authorization: Bearer submit-token-000001\r\n", 401},
        {"/status", "Authorization: Bearer observe-token-00001\r\n", 200},
        {"/metrics", "Authorization: Basic bWU6b2JzZXJ2ZS10b2tlbi0wMDAwMQ==\r\n", 200},
        {"/metrics", "Authorization: Basic bWU6d3Jvbmc=\r\n", 401},
    };
    for (size_t i = 0; i < sizeof pages / sizeof pages[0]; i++)
        CHECK_U64(http_get(http, pages[i].path, pages[i].header, text, sizeof text), pages[i].code);
    child_free(&d);
}

TEST(unsafe_addresses_are_refused) {
    daemon_child d;
    int status;
    child_init(&d, "daemon.listen=0.0.0.0:1", NULL);
    const pid_t pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
        freopen("/dev/null", "w", stderr);
        execl(SIM_DAEMON, SIM_DAEMON, d.dir, d.args[0], (char *)NULL);
        _exit(127);
    }
    waitpid(pid, &status, 0);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    child_free(&d);
}

TEST(restart) {
    daemon_child d;
    char ids[6][256];
    child_init(&d, "compute_us=20000", NULL);
    child_start(&d);
    rpc_client *c = child_client(&d, NULL);
    for (uint64_t i = 0; i < 6; i++)
        CHECK_OK(child_submit(c, "", i, 1, 0, ids[i], &err));
    check_proof(c, ids[0], 0, 10);
    rpc_client_close(c);
    child_stop(&d, SIGKILL);
    child_start(&d); /* a socket file of the dead one is in the way, and replaced */
    c = child_client(&d, NULL);
    check_proof(c, ids[0], 0, 10);
    check_proof(c, ids[1], 1, 10);
    /* SIGTERM: what runs is finished to the partition, the rest is done after the next start. */
    const uint64_t start = sim_now_us();
    const int status = child_stop(&d, SIGTERM);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(sim_now_us() - start < 5000000);
    rpc_client_close(c);
    child_start(&d);
    c = child_client(&d, NULL);
    for (uint64_t i = 0; i < 6; i++)
        check_proof(c, ids[i], i, 10);
    rpc_client_close(c);
    child_free(&d);
}

TEST(http) {
    daemon_child d;
    static char text[1 << 20];
    char arg[64];
    const unsigned port = free_port();
    snprintf(arg, sizeof arg, "daemon.status_listen=127.0.0.1:%u", port);
    child_init(&d, arg, NULL);
    child_start(&d);
    rpc_client *c = child_client(&d, NULL);
    CHECK_OK(child_submit(c, "a \"quoted\"\n<b>id</b>", 1, 1, 0, NULL, &err));
    check_proof(c, "a \"quoted\"\n<b>id</b>", 1, 10);
    CHECK_U64(http_get(port, "/healthz", "", text, sizeof text), 200);
    CHECK_U64(http_get(port, "/readyz", "", text, sizeof text), 200);
    CHECK_U64(http_get(port, "/nothing", "", text, sizeof text), 404);
    CHECK_U64(http_get(port, "/statusx", "", text, sizeof text), 404);
    CHECK_U64(http_get(port, "/../etc/passwd", "", text, sizeof text), 404);
    CHECK_U64(http_get(port, "/status", "", text, sizeof text), 200);
    static const char *const keys[] = {"\"uptime_secs\"",
                                       "\"total_bytes\"",
                                       "\"used_bytes\"",
                                       "\"available_bytes\"",
                                       "\"max_concurrent\"",
                                       "\"active\"",
                                       "\"pipelines\"",
                                       "\"job_id\"",
                                       "\"proof_kind\"",
                                       "\"started_secs_ago\"",
                                       "\"total_partitions\"",
                                       "\"partitions_done\"",
                                       "\"partitions\"",
                                       "\"index\"",
                                       "\"state\": \"done\"",
                                       "\"synth_ms\"",
                                       "\"gpu_ms\"",
                                       "\"gpu_workers\"",
                                       "\"worker_id\"",
                                       "\"gpu_ordinal\"",
                                       "\"current_job\"",
                                       "\"current_partition\"",
                                       "\"busy_secs\"",
                                       "\"srs\"",
                                       "\"pce\"",
                                       "\"circuit_id\"",
                                       "\"last_used_secs_ago\"",
                                       "\"evictable\"",
                                       "\"total_completed\": 1",
                                       "\"total_failed\": 0",
                                       "\"completed_by_kind\"",
                                       "\"failed_by_kind\"",
                                       "\"queue_depth\"",
                                       "\"synth_in_flight\"",
                                       "\"provers_in_flight\"",
                                       "\"aux_in_flight\"",
                                       "\"shells_in_flight\"",
                                       "\"pending_handles\"",
                                       "a \\\"quoted\\\"\\u000a<b>id</b>"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (strstr(text, keys[i]) == NULL) CHECK_FAILED_("/status has no %s", keys[i]);
    CHECK_U64(http_get(port, "/metrics", "", text, sizeof text), 200);
    static const char *const lines[] = {
        "cuzk_proofs_completed_total 1\n",
        "cuzk_proofs_completed{proof_kind=\"porep_c2\"} 1\n",
        "cuzk_proof_duration_seconds_count{proof_kind=\"porep_c2\"} 1\n",
        "cuzk_stage_seconds_count{proof_kind=\"porep_c2\",stage=\"device\"} 10\n",
        "cuzk_stage_seconds_bucket{proof_kind=\"porep_c2\",stage=\"witness\",le=\"+Inf\"} 10\n",
        "cuzk_device_partitions_total{device=\"0\",name=\"Simulated GPU #0\"} 10\n",
        "cuzk_memory_budget_bytes 68719476736\n"};
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        if (strstr(text, lines[i]) == NULL) CHECK_FAILED_("/metrics has no %s", lines[i]);
    CHECK_U64(http_get(port, "/", "", text, sizeof text), 200);
    CHECK(strstr(text, "<!doctype html>") != NULL);
    CHECK(strstr(text, "http://") == NULL || strstr(text, "www.w3.org") != NULL);
    rpc_client_close(c);
    child_free(&d);
}

/* Every device out of use: not ready, and jobs fail with the story. */
TEST(readiness) {
    daemon_child d;
    static char text[8192];
    char arg[64];
    Cuzk__V1__AwaitProofResponse *r;
    const unsigned port = free_port();
    snprintf(arg, sizeof arg, "daemon.status_listen=127.0.0.1:%u", port);
    child_init(&d, arg, "die_from=1", "gpus.device_failures=1", NULL);
    child_start(&d);
    rpc_client *c = child_client(&d, NULL);
    CHECK_OK(child_submit(c, "x", 1, 4, 0, NULL, &err));
    CHECK_OK(child_await(c, "x", 20000, &r, &err));
    CHECK_U64(r->status, CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__FAILED);
    CHECK(r->error_message[0] != 0);
    cuzk__v1__await_proof_response__free_unpacked(r, NULL);
    CHECK_U64(http_get(port, "/readyz", "", text, sizeof text), 503);
    CHECK_U64(http_get(port, "/healthz", "", text, sizeof text), 200);
    rpc_client_close(c);
    child_free(&d);
}

TEST_MAIN(RUN(jobs), RUN(error_texts_hold_no_paths), RUN(waiting_and_cancelling),
          RUN(clients_that_leave), RUN(limits_of_device_memory), RUN(status_is_true), RUN(rights),
          RUN(unsafe_addresses_are_refused), RUN(restart), RUN(http), RUN(readiness))
