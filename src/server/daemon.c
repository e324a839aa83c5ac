#include "server/daemon.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifdef CUZK_HAVE_SYSTEMD
#include <systemd/sd-daemon.h>
#endif

#include "base/file.h"
#include "engine/work_prover.h"
#include "host/host_std.h"
#include "server/address.h"
#include "server/events.h"
#include "server/http.h"
#include "server/log.h"
#include "server/request.h"
#include "server/service.h"

typedef struct daemon {
    const daemon_setup *setup;
    const daemon_config *config;
    host_std *host;
    uint64_t budget;
    work_prover prover;
    event_sink events;
    engine_config engine;
    service service;
    token_list *tokens;
    rpc_server *rpc;
    http_server *http;
    int passed_grpc, passed_http; /* sockets from systemd, -1: none */
} daemon;

/* ---- systemd ---- */

static void notify(const char *state) {
#ifdef CUZK_HAVE_SYSTEMD
    (void)sd_notify(0, state);
#else
    (void)state;
#endif
}

/* Milliseconds between two signs of life, 0: none wanted. */
static uint64_t watchdog_interval(void) {
#ifdef CUZK_HAVE_SYSTEMD
    uint64_t us = 0;
    if (sd_watchdog_enabled(0, &us) > 0) return us / 3000 + 1;
#endif
    return 0;
}

static void take_passed_sockets(daemon *d) {
    d->passed_grpc = d->passed_http = -1;
#ifdef CUZK_HAVE_SYSTEMD
    char **names = NULL;
    const int n = sd_listen_fds_with_names(1, &names);
    for (int i = 0; i < n; i++) {
        const int fd = SD_LISTEN_FDS_START + i;
        if (names != NULL && strcmp(names[i], "http") == 0)
            d->passed_http = fd;
        else
            d->passed_grpc = fd;
        if (names != NULL) free(names[i]);
    }
    free(names);
#endif
}

/* ---- devices ---- */

/* "device 0: NVIDIA H200 #0, GPU-5b1f..., 16.0 of 139.8 GiB": which device has which number. */
static void log_device(const daemon *d, const executor_info *info, bool fallback) {
    char memory[64] = "";
    const double gib = 1024.0 * 1024 * 1024;
    if (info->memory_total != 0)
        snprintf(memory, sizeof memory, ", %.1f of %.1f GiB", (double)info->memory_planned / gib,
                 (double)info->memory_total / gib);
    log_line(LOG_INFO, NULL, "device %u: %s%s%s%s%s", d->engine.n_devices, info->name,
             info->uuid[0] != 0 ? ", " : "", info->uuid, memory,
             fallback ? ", only when no other is left" : "");
}

static cuzk_status add_device(daemon *d, const char *given, bool fallback, cuzk_error *err) {
    engine_device_config *slot = &d->engine.devices[d->engine.n_devices];
    executor_info info;
    char name[CONFIG_DEVICE_NAME];
    CUZK_TRY(config_device_name(d->config, given, name, err));
    if (d->engine.n_devices == sizeof d->engine.devices / sizeof d->engine.devices[0])
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "too many devices");
    CUZK_TRY(d->setup->open_device(host_std_host(d->host), name, &slot->ex, err));
    slot->is_cpu_fallback = fallback;
    slot->ex->ops->info(slot->ex, &info);
    log_device(d, &info, fallback);
    d->engine.n_devices++;
    return CUZK_OK;
}

/* Every device that is asked for by name, or every GPU that can be used, else the CPU. One that
 * does not open is an error, never left out. */
static cuzk_status open_devices(daemon *d, cuzk_error *err) {
    const daemon_config *c = d->config;
    char found[CONFIG_MAX_DEVICES][64];
    unsigned n = 0;
    if (c->n_devices == 0) CUZK_TRY(d->setup->list_devices(found, CONFIG_MAX_DEVICES, &n, err));
    for (unsigned i = 0; i < n; i++)
        CUZK_TRY(add_device(d, found[i], false, err));
    for (uint64_t i = 0; i < c->n_devices; i++)
        CUZK_TRY(add_device(d, c->devices[i], false, err));
    if (d->engine.n_devices == 0) return add_device(d, "cpu", false, err);
    if (c->on_gpu_failure != ENGINE_ON_FAILURE_CPU) return CUZK_OK;
    return add_device(d, "cpu", true, err);
}

/* ---- parts ---- */

static cuzk_status open_engine(daemon *d, cuzk_error *err) {
    const daemon_config *c = d->config;
    engine_config *e = &d->engine;
    CUZK_TRY(config_memory_budget(c, &d->budget, err));
    CUZK_TRY(host_std_new((unsigned)c->threads, 0, &d->host, err));
    e->host = host_std_host(d->host);
    snprintf(e->state_dir, sizeof e->state_dir, "%s", c->state_dir);
    e->memory_budget = d->budget;
    e->witness_threads = (unsigned)c->witness_threads;
    e->queue_limit = (unsigned)c->queue_limit;
    e->result_limit = (unsigned)c->result_limit;
    e->result_age_ms = c->result_age_ms;
    e->job_attempts = (unsigned)c->job_attempts;
    e->device_failures = (unsigned)c->device_failures;
    e->thorough_after = (unsigned)c->copies_after;
    e->watchdog_ms = c->watchdog_ms;
    e->ageing_ms = c->ageing_ms;
    e->eviction_min_idle_ms = c->eviction_min_idle_ms;
    e->on_failure = (engine_failure_policy)c->on_gpu_failure;
    snprintf(d->prover.params_dir, sizeof d->prover.params_dir, "%s", c->param_cache);
    d->prover.decode = request_decode;
    e->work = d->setup->work != NULL ? d->setup->work : &work_prover_ops;
    e->work_self = d->setup->work != NULL ? d->setup->work_self : &d->prover;
    d->events.metrics = d->service.metrics = metrics_new();
    d->events.timeline = c->timeline;
    if (d->service.metrics == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory");
    e->on_event = event_sink_take;
    e->event_self = &d->events;
    CUZK_TRY(open_devices(d, err));
    return engine_open(e, &d->service.engine, err);
}

static cuzk_status read_tokens(const daemon_config *c, token_list **out, cuzk_error *err) {
    *out = NULL;
    return c->token_file[0] == 0 ? CUZK_OK : token_list_read(c->token_file, out, err);
}

static cuzk_status read_pem(const char *path, char **out, cuzk_error *err) {
    file_map map;
    CUZK_TRY(file_map_open(path, &map, err));
    *out = strndup((const char *)map.data, map.bytes);
    file_map_close(&map);
    return *out != NULL ? CUZK_OK : cuzk_fail(err, CUZK_ERR_NO_MEMORY, "%s: no memory", path);
}

static cuzk_status listen_tls(daemon *d, const address *a, cuzk_error *err) {
    const daemon_config *c = d->config;
    char *key = NULL, *cert = NULL, *ca = NULL;
    cuzk_status status = read_pem(c->tls_key, &key, err);
    if (status == CUZK_OK) status = read_pem(c->tls_cert, &cert, err);
    if (status == CUZK_OK) status = read_pem(c->tls_client_ca, &ca, err);
    if (status == CUZK_OK) status = rpc_server_listen_tls(d->rpc, a->text, key, cert, ca, err);
    if (key != NULL) explicit_bzero(key, strlen(key));
    free(key);
    free(cert);
    free(ca);
    return status;
}

static cuzk_status listen_at(daemon *d, const char *text, cuzk_error *err) {
    address a;
    int fd;
    CUZK_TRY(address_parse(text, &a, err));
    if (!a.is_unix && d->config->tls_cert[0] != 0) {
        CUZK_TRY(listen_tls(d, &a, err));
    } else {
        CUZK_TRY(address_listen(&a, &fd, err));
        CUZK_TRY(rpc_server_listen(d->rpc, fd, false, err));
    }
    log_line(LOG_INFO, NULL, "gRPC at %s", text);
    return CUZK_OK;
}

static cuzk_status listen_everywhere(daemon *d, cuzk_error *err) {
    char copy[sizeof d->config->listen], *save = NULL;
    if (d->passed_grpc >= 0) {
        log_line(LOG_INFO, NULL, "gRPC on the socket that systemd passed");
        return rpc_server_listen(d->rpc, d->passed_grpc, false, err);
    }
    snprintf(copy, sizeof copy, "%s", d->config->listen);
    for (char *a = strtok_r(copy, ", ", &save); a != NULL; a = strtok_r(NULL, ", ", &save))
        CUZK_TRY(listen_at(d, a, err));
    return CUZK_OK;
}

/* How many large messages are received at once: as many of the usual size as fit into a share of
 * the memory. gRPC gets room for them and for one of the largest. */
static void plan_receiving(const daemon *d, rpc_config *rpc) {
    const uint64_t usual_most = (uint64_t)64 << 20, share_most = (uint64_t)4 << 30;
    const uint64_t max = d->config->max_message, share = d->budget / 8;
    const uint64_t usual = max < usual_most ? max : usual_most;
    const uint64_t n = (share < share_most ? share : share_most) / usual;
    rpc->max_receivers = n < 1 ? 1 : (unsigned)n;
    rpc->receive_memory = rpc->max_receivers * usual + max;
    rpc->body_charge = d->budget / 32 < usual ? d->budget / 32 : usual;
}

static cuzk_status open_rpc(daemon *d, cuzk_error *err) {
    const daemon_config *c = d->config;
    CUZK_TRY(read_tokens(c, &d->tokens, err));
    rpc_config rpc = {.methods = service_methods,
                      .n_methods = service_n_methods + (c->reflection ? service_n_reflection : 0),
                      .context = &d->service,
                      .tokens = d->tokens,
                      .threads = 4,
                      .max_connections = (unsigned)c->max_connections,
                      .max_streams = (unsigned)c->max_streams,
                      .max_message = (uint32_t)c->max_message,
                      .body_timeout_ms = c->body_timeout_ms,
                      .body_grace_ms = c->body_grace_ms,
                      .idle_timeout_ms = c->idle_timeout_ms,
                      .admit = service_admit,
                      .release = service_release};
    plan_receiving(d, &rpc);
    CUZK_TRY(rpc_server_new(&rpc, &d->rpc, err));
    CUZK_TRY(listen_everywhere(d, err));
    return rpc_server_start(d->rpc, err);
}

static cuzk_status open_http(daemon *d, cuzk_error *err) {
    address a;
    int fd = d->passed_http;
    if (fd < 0 && d->config->status_listen[0] == 0) return CUZK_OK;
    if (fd < 0) {
        CUZK_TRY(address_parse(d->config->status_listen, &a, err));
        CUZK_TRY(address_listen(&a, &fd, err));
        log_line(LOG_INFO, NULL, "status page at http://%s/", d->config->status_listen);
    }
    const http_config http = {.service = &d->service, .version = d->setup->version};
    return http_server_start(&http, fd, d->tokens, &d->http, err);
}

/* ---- running ---- */

void daemon_block_signals(void) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
}

static void reload(daemon *d) {
    daemon_config now;
    cuzk_error err;
    token_list *tokens = NULL;
    if (d->setup->reload == NULL) return;
    notify("RELOADING=1");
    if (d->setup->reload(d->setup->self, &now, &err) != CUZK_OK ||
        read_tokens(&now, &tokens, &err) != CUZK_OK) {
        log_line(LOG_ERROR, NULL, "reload: %s; the old configuration stays", err.text);
    } else if ((tokens == NULL) != (d->tokens == NULL)) {
        log_line(LOG_ERROR, NULL, "reload: tokens are switched on or off by a restart only");
        token_list_free(tokens);
    } else {
        log_configure((log_level)now.log_level, (log_format)now.log_format);
        rpc_server_set_tokens(d->rpc, tokens);
        http_server_set_tokens(d->http, tokens);
        token_list_free(d->tokens);
        d->tokens = tokens;
        log_line(LOG_INFO, NULL, "reloaded log settings and tokens; the rest needs a restart");
    }
    notify("READY=1");
}

/* Messages are allocated by one thread and freed by another, in bursts: with an arena for each
 * thread and a threshold that grows, glibc would keep several times what is in use. */
static void bound_heap(void) {
    mallopt(M_ARENA_MAX, 2);
    mallopt(M_MMAP_THRESHOLD, 256 * 1024);
}

/* The next signal; 0 when the time is over. */
static int next_signal(uint64_t ms) {
    const struct timespec wait = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGHUP);
    const int number = sigtimedwait(&set, NULL, &wait);
    return number < 0 ? 0 : number;
}

/* The engine answers: what the watchdog wants to know. */
static void sign_of_life(daemon *d) {
    engine_snapshot *s;
    if (engine_snapshot_take(d->service.engine, &s, NULL) != CUZK_OK) return;
    engine_snapshot_free(s);
    notify("WATCHDOG=1");
}

static void serve(daemon *d) {
    const uint64_t interval = watchdog_interval();
    for (;;) {
        const int number = next_signal(interval > 0 ? interval : 10000);
        if (number == SIGTERM || number == SIGINT) return;
        if (number == SIGHUP) reload(d);
        if (interval > 0) sign_of_life(d);
        (void)malloc_trim(0); /* what a burst of requests has left */
    }
}

static void drain(daemon *d) {
    const uint64_t slice = 200;
    log_line(LOG_INFO, NULL, "draining: running partitions are finished, the rest stays queued");
    notify("STOPPING=1");
    atomic_store(&d->service.draining, true);
    for (uint64_t waited = 0; waited <= d->config->drain_timeout_ms; waited += slice) {
        engine_snapshot *s;
        bool busy = false;
        engine_drain(d->service.engine, slice);
        if (engine_snapshot_take(d->service.engine, &s, NULL) != CUZK_OK) return;
        for (size_t i = 0; i < s->n_devices; i++)
            busy |= s->devices[i].busy;
        busy |= s->witness_active > 0;
        engine_snapshot_free(s);
        if (!busy || next_signal(0) != 0) return;
        if (watchdog_interval() > 0) notify("WATCHDOG=1");
    }
    log_line(LOG_WARN, NULL, "drain: the time is over, partitions are broken off");
}

static void close_all(daemon *d) {
    http_server_stop(d->http);
    rpc_server_close(d->rpc);
    engine_close(d->service.engine);
    metrics_free(d->service.metrics);
    token_list_free(d->tokens);
    if (d->host != NULL) host_std_free(d->host);
}

cuzk_status daemon_run(const daemon_setup *setup, cuzk_error *err) {
    daemon *d = calloc(1, sizeof *d);
    if (d == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory");
    d->setup = setup;
    d->config = setup->config;
    log_configure((log_level)d->config->log_level, (log_format)d->config->log_format);
    take_passed_sockets(d);
    bound_heap();
    cuzk_status status = open_engine(d, err);
    if (status == CUZK_OK) status = open_rpc(d, err);
    if (status == CUZK_OK) status = open_http(d, err);
    if (status == CUZK_OK) {
        log_line(LOG_INFO, NULL, "cuzk %s is ready: %llu MiB of memory, parameters in %s",
                 setup->version, (unsigned long long)(d->budget >> 20), d->config->param_cache);
        notify("READY=1");
        serve(d);
        drain(d);
        log_line(LOG_INFO, NULL, "stopped");
    }
    close_all(d);
    free(d);
    return status;
}
