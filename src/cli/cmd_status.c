/* cuzk status and top: what a daemon does, once or live. */
#include "cli/cli.h"

#ifdef CUZK_HAVE_SERVER

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/daemon_client.h"
#include "host/json_out.h"

static cuzk_status fetch(rpc_client *client, Cuzk__V1__GetStatusResponse **out, cuzk_error *err) {
    const Cuzk__V1__GetStatusRequest request = CUZK__V1__GET_STATUS_REQUEST__INIT;
    return rpc_client_call(client, "GetStatus", &request.base, 5000,
                           &cuzk__v1__get_status_response__descriptor, out, err);
}

static double gib(uint64_t bytes) {
    return (double)bytes / (double)(1 << 30);
}

static const char *tier_name(Cuzk__V1__SRSStatus__Tier tier) {
    static const char *const names[] = {"device", "host", "loading"};
    return (unsigned)tier < 3 ? names[tier] : "?";
}

static void print_bar(double part) {
    const int n = part < 0 ? 0 : part > 1 ? 30 : (int)(part * 30 + 0.5);
    putchar('[');
    for (int i = 0; i < 30; i++)
        putchar(i < n ? '#' : '.');
    putchar(']');
}

static void print_text(const Cuzk__V1__GetStatusResponse *s) {
    const double limit = (double)s->pinned_memory_limit_bytes;
    printf("up %llu s   completed %llu   failed %llu\n\nmemory  ",
           (unsigned long long)s->uptime_seconds, (unsigned long long)s->total_proofs_completed,
           (unsigned long long)s->total_proofs_failed);
    print_bar(limit > 0 ? (double)s->pinned_memory_bytes / limit : 0);
    printf(" %.1f of %.1f GiB\n\n%-14s %8s %8s\n", gib(s->pinned_memory_bytes),
           gib(s->pinned_memory_limit_bytes), "kind", "queued", "running");
    for (size_t i = 0; i < s->n_queues; i++)
        printf("%-14s %8u %8u\n", s->queues[i]->proof_kind, s->queues[i]->pending,
               s->queues[i]->in_progress);
    printf("\n%-3s %-28s %-16s %s\n", "dev", "name", "memory", "job");
    for (size_t i = 0; i < s->n_gpus; i++) {
        const Cuzk__V1__GPUStatus *g = s->gpus[i];
        char memory[48] = "-";
        if (g->vram_total_bytes > 0)
            snprintf(memory, sizeof memory, "%.1f/%.1f GiB",
                     gib(g->vram_total_bytes - g->vram_free_bytes), gib(g->vram_total_bytes));
        printf("%-3u %-28.28s %-16s %s %s\n", g->ordinal, g->name, memory,
               g->current_job_id[0] != 0 ? g->current_proof_kind : "idle", g->current_job_id);
    }
    if (s->n_loaded_srs > 0)
        printf("\n%-20s %-8s %10s %5s\n", "parameters", "where", "MiB", "jobs");
    for (size_t i = 0; i < s->n_loaded_srs; i++) {
        const Cuzk__V1__SRSStatus *k = s->loaded_srs[i];
        printf("%-20s %-8s %10.1f %5u\n", k->circuit_id, tier_name(k->tier),
               (double)k->size_bytes / (1 << 20), k->ref_count);
    }
}

static void print_status_json(const Cuzk__V1__GetStatusResponse *s) {
    json_out j = {.file = stdout};
    json_out_object(&j, NULL);
    json_out_u64(&j, "uptime_seconds", s->uptime_seconds);
    json_out_u64(&j, "total_proofs_completed", s->total_proofs_completed);
    json_out_u64(&j, "total_proofs_failed", s->total_proofs_failed);
    json_out_u64(&j, "memory_bytes", s->pinned_memory_bytes);
    json_out_u64(&j, "memory_limit_bytes", s->pinned_memory_limit_bytes);
    json_out_array(&j, "gpus");
    for (size_t i = 0; i < s->n_gpus; i++) {
        const Cuzk__V1__GPUStatus *g = s->gpus[i];
        json_out_object(&j, NULL);
        json_out_u64(&j, "ordinal", g->ordinal);
        json_out_string(&j, "name", g->name);
        json_out_u64(&j, "vram_total_bytes", g->vram_total_bytes);
        json_out_u64(&j, "vram_free_bytes", g->vram_free_bytes);
        json_out_string(&j, "current_job_id", g->current_job_id);
        json_out_string(&j, "current_proof_kind", g->current_proof_kind);
        json_out_end_object(&j);
    }
    json_out_end_array(&j);
    json_out_array(&j, "loaded_srs");
    for (size_t i = 0; i < s->n_loaded_srs; i++) {
        const Cuzk__V1__SRSStatus *k = s->loaded_srs[i];
        json_out_object(&j, NULL);
        json_out_string(&j, "circuit_id", k->circuit_id);
        json_out_string(&j, "tier", tier_name(k->tier));
        json_out_u64(&j, "size_bytes", k->size_bytes);
        json_out_u64(&j, "ref_count", k->ref_count);
        json_out_end_object(&j);
    }
    json_out_end_array(&j);
    json_out_array(&j, "queues");
    for (size_t i = 0; i < s->n_queues; i++) {
        json_out_object(&j, NULL);
        json_out_string(&j, "proof_kind", s->queues[i]->proof_kind);
        json_out_u64(&j, "pending", s->queues[i]->pending);
        json_out_u64(&j, "in_progress", s->queues[i]->in_progress);
        json_out_end_object(&j);
    }
    json_out_end_array(&j);
    json_out_end_object(&j);
}

static int run_status(int argc, char **argv, const cli_command *self) {
    daemon_at at = {0};
    bool json = false;
    rpc_client *client;
    Cuzk__V1__GetStatusResponse *s;
    cuzk_error err = {0};
    int code;
    const cli_option options[] = {
        DAEMON_OPTIONS(at),
        {CLI_FLAG, "json", NULL, "as JSON", &json, 0, 0, false},
    };
    if (!cli_parse(argc, argv, self, options, sizeof options / sizeof options[0], NULL, 0, &code))
        return code;
    if (daemon_connect(&at, &client, &err) != CUZK_OK) return cli_report(self, &err);
    const cuzk_status status = fetch(client, &s, &err);
    rpc_client_close(client);
    if (status != CUZK_OK) return cli_report(self, &err);
    (json ? print_status_json : print_text)(s);
    cuzk__v1__get_status_response__free_unpacked(s, NULL);
    return EXIT_OK;
}

/* ---- top ---- */

static volatile sig_atomic_t stopped;
static void on_signal(int number) {
    (void)number;
    stopped = 1;
}

/* One picture; rate: proofs a minute over the last pictures, < 0: not known yet. */
static void draw(const Cuzk__V1__GetStatusResponse *s, const char *error, double rate) {
    fputs("\033[H\033[2J", stdout);
    if (s == NULL) {
        printf("cuzk top: %s\n", error);
    } else {
        print_text(s);
        if (rate >= 0) printf("\n%.1f proofs a minute\n", rate);
    }
    fputs("\n(Ctrl-C ends)\n", stdout);
    fflush(stdout);
}

static int run_top(int argc, char **argv, const cli_command *self) {
    enum { WINDOW = 60 };
    daemon_at at = {0};
    uint64_t interval = 1, pictures = 0, done[WINDOW] = {0};
    double when[WINDOW] = {0};
    rpc_client *client;
    cuzk_error err = {0};
    int code;
    const cli_option options[] = {
        DAEMON_OPTIONS(at),
        {CLI_COUNT, "interval", "SECONDS", "between pictures (default 1)", &interval, 1, 3600,
         false},
        {CLI_COUNT, "pictures", "N", "end after so many (default: never)", &pictures, 1, UINT32_MAX,
         false},
    };
    if (!cli_parse(argc, argv, self, options, sizeof options / sizeof options[0], NULL, 0, &code))
        return code;
    if (daemon_connect(&at, &client, &err) != CUZK_OK) return cli_report(self, &err);
    const struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    for (uint64_t i = 0; !stopped && (pictures == 0 || i < pictures); i++) {
        Cuzk__V1__GetStatusResponse *s = NULL;
        double rate = -1;
        if (i > 0) sleep((unsigned)interval);
        if (fetch(client, &s, &err) == CUZK_OK) {
            const uint64_t oldest = i < WINDOW ? 0 : (i + 1) % WINDOW;
            done[i % WINDOW] = s->total_proofs_completed;
            when[i % WINDOW] = cli_now();
            const double span = when[i % WINDOW] - when[oldest];
            if (i > 0 && span > 0 && s->total_proofs_completed >= done[oldest])
                rate = 60 * (double)(s->total_proofs_completed - done[oldest]) / span;
        }
        draw(s, err.text, rate);
        if (s != NULL) cuzk__v1__get_status_response__free_unpacked(s, NULL);
    }
    rpc_client_close(client);
    return EXIT_OK;
}

#else
#define run_status cli_no_server
#define run_top cli_no_server
#endif

const cli_command cmd_status = {"status", "what a daemon does: devices, queues, memory",
                                "Prints the answer of GetStatus.", run_status};
const cli_command cmd_top = {"top", "what a daemon does, live",
                             "Shows devices, queues, parameters, memory and throughput, again and "
                             "again. The web page of the daemon shows each partition.",
                             run_top};
