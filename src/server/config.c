#include "server/config.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "engine/engine.h"
#include "server/address.h"
#include "server/log.h"
#include "server/toml_flat.h"

/* ---- the keys ---- */

typedef enum key_type {
    KEY_TEXT,
    KEY_BOOL,
    KEY_COUNT,
    KEY_BYTES,
    KEY_DURATION,
    KEY_CHOICE,  /* an index into names */
    KEY_DEVICES, /* an array of names or numbers */
    KEY_BUDGET,  /* bytes, or "auto" */
    KEY_IGNORED, /* of the Rust engine; nothing here corresponds to it */
    KEY_DEPRECATED
} key_type;

typedef struct config_key {
    const char *path;
    key_type type;
    size_t at, room; /* in daemon_config */
    uint64_t min, max;
    const char *const *names;
    const char *help;
} config_key;

static const char *const level_names[] = {"error", "warn", "info", "debug", "trace", NULL};
static const char *const format_names[] = {"human", "json", NULL};
static const char *const failure_names[] = {"cpu", "fail", NULL};

#define AT(member) .at = offsetof(daemon_config, member), .room = sizeof((daemon_config *)0)->member
#define TEXT(key, member, words)                                                                   \
    { .path = key, .type = KEY_TEXT, AT(member), .help = words }
#define BOOL(key, member, words)                                                                   \
    { .path = key, .type = KEY_BOOL, AT(member), .help = words }
#define COUNT(key, member, least, most, words)                                                     \
    { .path = key, .type = KEY_COUNT, AT(member), .min = least, .max = most, .help = words }
#define BYTES(key, member, least, words)                                                           \
    { .path = key, .type = KEY_BYTES, AT(member), .min = least, .max = UINT64_MAX, .help = words }
#define DURATION(key, member, least, words)                                                        \
    {                                                                                              \
        .path = key, .type = KEY_DURATION, AT(member), .min = least, .max = UINT64_MAX,            \
        .help = words                                                                              \
    }
#define CHOICE(key, member, list, words)                                                           \
    { .path = key, .type = KEY_CHOICE, AT(member), .names = list, .help = words }
#define IGNORED(key, words)                                                                        \
    { .path = key, .type = KEY_IGNORED, .help = words }
#define DEPRECATED(key, words)                                                                     \
    { .path = key, .type = KEY_DEPRECATED, .help = words }

static const config_key keys[] = {
    TEXT("daemon.listen", listen, "gRPC: unix:///path or host:port, several with commas"),
    TEXT("daemon.status_listen", status_listen, "HTTP status and metrics; empty: off"),
    TEXT("daemon.state_dir", state_dir, "journal and request bodies"),
    BOOL("daemon.insecure", insecure, "allow a routable address without TLS and tokens"),
    TEXT("daemon.token_file", token_file, "bearer tokens and their rights"),
    TEXT("daemon.tls_cert", tls_cert, "certificate chain (PEM): TCP listens with mutual TLS"),
    TEXT("daemon.tls_key", tls_key, "its private key"),
    TEXT("daemon.tls_client_ca", tls_client_ca, "authority of the clients' certificates"),
    BOOL("daemon.reflection", reflection, "answer gRPC server reflection"),
    DURATION("daemon.drain_timeout", drain_timeout_ms, 0, "SIGTERM waits so long for partitions"),
    COUNT("daemon.max_connections", max_connections, 1, 100000, "gRPC connections"),
    COUNT("daemon.max_streams", max_streams, 1, 100000, "calls at once on a connection"),
    BYTES("daemon.max_message", max_message, 4096, "the longest message, at most 256MiB"),
    DURATION("daemon.body_timeout", body_timeout_ms, 1, "for a message to arrive"),
    DURATION("daemon.body_grace", body_grace_ms, 1, "the same while others wait for room"),
    DURATION("daemon.idle_timeout", idle_timeout_ms, 1000, "of a connection without calls"),
    COUNT("daemon.queue_limit", queue_limit, 1, 1000000, "jobs waiting or running"),
    COUNT("daemon.result_limit", result_limit, 1, 10000000, "finished jobs kept"),
    DURATION("daemon.result_age", result_age_ms, 1000, "finished jobs are kept so long"),
    COUNT("daemon.job_attempts", job_attempts, 1, 100, "crashes before a job is set aside"),
    {.path = "memory.total_budget",
     .type = KEY_BUDGET,
     AT(total_budget),
     .help = "host memory, or auto: what the machine or cgroup has, less the margin"},
    BYTES("memory.safety_margin", safety_margin, 0, "left to others by auto"),
    DURATION("memory.eviction_min_idle", eviction_min_idle_ms, 0, "idle keys are kept so long"),
    DEPRECATED("memory.pinned_budget", "total_budget covers it"),
    DEPRECATED("memory.working_memory_budget", "total_budget covers it"),
    {.path = "gpus.devices",
     .type = KEY_DEVICES,
     AT(devices),
     .help = "ordinals, \"cuda:N\" or \"cpu\"; empty: all"},
    BYTES("gpus.vram_limit", vram_limit, 0, "memory of each GPU to use at most; 0: all"),
    CHOICE("gpus.on_gpu_failure", on_gpu_failure, failure_names, "cpu: redo there; fail: do not"),
    DURATION("gpus.watchdog", watchdog_ms, 100, "a device without progress for so long has failed"),
    COUNT("gpus.device_failures", device_failures, 1, 1000, "failures in a row that end its use"),
    COUNT("gpus.copies_after", copies_after, 0, 1000000, "partitions; then copies of h; 0: never"),
    IGNORED("gpus.gpu_threads", "there is no such pool"),
    IGNORED("gpus.gpu_workers_per_device", "one thread owns a device and keeps it busy"),
    IGNORED("scheduler.max_batch_size", "partitions are scheduled one by one"),
    IGNORED("scheduler.max_batch_wait_ms", "partitions are scheduled one by one"),
    IGNORED("scheduler.sort_by_type", "jobs are grouped by circuit within a priority"),
    DURATION("scheduler.ageing", ageing_ms, 1, "a waiting job rises one priority for each"),
    COUNT("synthesis.threads", threads, 0, 4096, "worker threads; 0: one for each CPU"),
    DEPRECATED("synthesis.partition_workers", "pipeline.synthesis_concurrency"),
    IGNORED("pipeline.enabled", "it always is"),
    IGNORED("pipeline.synthesis_lookahead", "the memory budget decides"),
    COUNT("pipeline.synthesis_concurrency", witness_threads, 1, 256, "witnesses made at once"),
    IGNORED("pipeline.max_parallel_synthesis", "the memory budget decides"),
    IGNORED("pipeline.slot_size", "the memory budget decides"),
    IGNORED("pipeline.max_gpu_queue_depth", "the memory budget decides"),
    TEXT("srs.param_cache", param_cache, "folder of the parameter files"),
    DEPRECATED("srs.preload", "cuzk preload"),
    CHOICE("logging.level", log_level, level_names, "error, warn, info, debug or trace"),
    CHOICE("logging.format", log_format, format_names, "human or json"),
    BOOL("logging.timeline", timeline, "TIMELINE lines of the Rust engine on standard error"),
};
#define N_KEYS (sizeof keys / sizeof keys[0])
_Static_assert(N_KEYS <= CONFIG_MAX_KEYS, "daemon_config.source is too short");

static const config_key *key_by_path(const char *path) {
    for (size_t i = 0; i < N_KEYS; i++)
        if (strcmp(keys[i].path, path) == 0) return &keys[i];
    return NULL;
}

static void *place(daemon_config *c, const config_key *key) {
    return (char *)c + key->at;
}
static const void *place_const(const daemon_config *c, const config_key *key) {
    return (const char *)c + key->at;
}

/* ---- defaults ---- */

void config_defaults(daemon_config *c) {
    const char *home = getenv("HOME"), *run = getenv("XDG_RUNTIME_DIR");
    const bool user = geteuid() != 0 && home != NULL;
    *c = (daemon_config){
        .status_listen = "127.0.0.1:9821",
        .drain_timeout_ms = 300000,
        .max_connections = 1000,
        .max_streams = 256,
        .max_message = (uint64_t)256 << 20,
        .body_timeout_ms = 120000,
        .body_grace_ms = 5000,
        .idle_timeout_ms = 600000,
        .queue_limit = 1000,
        .result_limit = 10000,
        .result_age_ms = (uint64_t)7 * 24 * 3600 * 1000,
        .job_attempts = 3,
        .safety_margin = (uint64_t)5 << 30,
        .eviction_min_idle_ms = 300000,
        .on_gpu_failure = ENGINE_ON_FAILURE_FAIL,
        .watchdog_ms = 300000,
        .device_failures = 3,
        .ageing_ms = 600000,
        .witness_threads = 2,
        .param_cache = "/data/zk/params",
        .log_level = LOG_INFO,
        .log_format = LOG_HUMAN,
    };
    snprintf(c->listen, sizeof c->listen, "unix:///run/curio/cuzk.sock");
    snprintf(c->state_dir, sizeof c->state_dir, "/var/lib/cuzk");
    if (user && run != NULL) snprintf(c->listen, sizeof c->listen, "unix://%s/cuzk.sock", run);
    if (user) snprintf(c->state_dir, sizeof c->state_dir, "%s/.local/state/cuzk", home);
}

/* ---- values ---- */

static bool parse_number(const char *text, uint64_t *out, const char **rest) {
    char *end;
    if (!isdigit((unsigned char)text[0])) return false;
    errno = 0;
    const unsigned long long v = strtoull(text, &end, 10);
    if (errno != 0) return false;
    while (*end == ' ')
        end++;
    *out = v;
    *rest = end;
    return true;
}

typedef struct unit {
    const char *name;
    uint64_t factor;
} unit;

static bool parse_with_unit(const char *text, const unit *units, size_t n, uint64_t *out) {
    const char *rest;
    uint64_t v;
    if (!parse_number(text, &v, &rest)) return false;
    for (size_t i = 0; i < n; i++)
        if (strcmp(units[i].name, rest) == 0)
            return !__builtin_mul_overflow(v, units[i].factor, out);
    return false;
}

bool config_parse_bytes(const char *text, uint64_t *out) {
    static const unit units[] = {
        {"", 1},
        {"B", 1},
        {"KiB", 1 << 10},
        {"MiB", 1 << 20},
        {"GiB", 1 << 30},
        {"TiB", (uint64_t)1 << 40},
        {"kB", 1000},
        {"KB", 1000},
        {"MB", 1000000},
        {"GB", 1000000000},
        {"TB", (uint64_t)1000000000000},
    };
    return parse_with_unit(text, units, sizeof units / sizeof units[0], out);
}

bool config_parse_duration(const char *text, uint64_t *out_ms) {
    static const unit units[] = {{"ms", 1},    {"", 1000},     {"s", 1000},
                                 {"m", 60000}, {"h", 3600000}, {"d", 86400000}};
    return parse_with_unit(text, units, sizeof units / sizeof units[0], out_ms);
}

static bool set_choice(daemon_config *c, const config_key *key, const char *text) {
    for (uint64_t i = 0; key->names[i] != NULL; i++) {
        if (strcasecmp(key->names[i], text) != 0) continue;
        *(uint64_t *)place(c, key) = i;
        return true;
    }
    return false;
}

static bool add_device(daemon_config *c, const char *text) {
    if (c->n_devices == CONFIG_MAX_DEVICES || text[0] == 0 || strlen(text) >= sizeof c->devices[0])
        return false;
    snprintf(c->devices[c->n_devices++], sizeof c->devices[0], "%s", text);
    return true;
}

static bool set_devices(daemon_config *c, const char *text) {
    char copy[1024], *save = NULL;
    snprintf(copy, sizeof copy, "%s", text);
    c->n_devices = 0;
    for (char *d = strtok_r(copy, ", ", &save); d != NULL; d = strtok_r(NULL, ", ", &save))
        if (!add_device(c, d)) return false;
    return true;
}

/* From text; false: not a value of this key. */
static bool set_value(daemon_config *c, const config_key *key, const char *text) {
    const char *rest;
    uint64_t v = 0;
    bool ok = true;
    switch (key->type) {
    case KEY_TEXT:
        if (strlen(text) >= key->room) return false;
        snprintf(place(c, key), key->room, "%s", text);
        return true;
    case KEY_BOOL:
        if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0) return false;
        *(bool *)place(c, key) = text[0] == 't';
        return true;
    case KEY_CHOICE:
        return set_choice(c, key, text);
    case KEY_DEVICES:
        return set_devices(c, text);
    case KEY_COUNT:
        ok = parse_number(text, &v, &rest) && *rest == 0;
        break;
    case KEY_BUDGET:
        ok = strcmp(text, "auto") == 0 || (config_parse_bytes(text, &v) && v > 0);
        if (ok) *(uint64_t *)place(c, key) = v;
        return ok;
    case KEY_BYTES:
        ok = config_parse_bytes(text, &v);
        break;
    case KEY_DURATION:
        ok = config_parse_duration(text, &v);
        break;
    case KEY_IGNORED:
    case KEY_DEPRECATED:
        return true;
    }
    if (!ok || v < key->min || v > key->max) return false;
    *(uint64_t *)place(c, key) = v;
    return true;
}

static const char *expected(const config_key *key) {
    switch (key->type) {
    case KEY_TEXT:
        return "a string";
    case KEY_BOOL:
        return "true or false";
    case KEY_COUNT:
        return "a whole number in range";
    case KEY_BYTES:
        return "bytes in range, such as \"16GiB\" (whole numbers; B, KiB, MiB, GiB, TiB, kB, MB, "
               "GB, TB)";
    case KEY_BUDGET:
        return "\"auto\", or bytes such as \"16GiB\" (whole numbers)";
    case KEY_DURATION:
        return "a time in range, such as \"90s\" (ms, s, m, h, d; a number alone: seconds)";
    case KEY_DEVICES:
        return "an array of ordinals or names such as \"cuda:0\"";
    default:
        return key->help;
    }
}

/* ---- file ---- */

typedef struct file_reader {
    daemon_config *c;
    const char *path;
    config_warn warn;
    void *arg;
} file_reader;

static bool type_fits(const config_key *key, toml_type type) {
    switch (key->type) {
    case KEY_TEXT:
    case KEY_CHOICE:
        return type == TOML_STRING;
    case KEY_BOOL:
        return type == TOML_BOOL;
    case KEY_COUNT:
        return type == TOML_INTEGER;
    case KEY_BYTES:
    case KEY_BUDGET:
    case KEY_DURATION:
        return type == TOML_STRING || type == TOML_INTEGER;
    case KEY_DEVICES:
        return type == TOML_STRING || type == TOML_INTEGER || type == TOML_ARRAY;
    default:
        return true;
    }
}

static bool known_section(const char *path) {
    const size_t n = strlen(path);
    for (size_t i = 0; i < N_KEYS; i++)
        if (strncmp(keys[i].path, path, n) == 0 && keys[i].path[n] == '.') return true;
    return false;
}

static void warn_of(const config_key *key, const char *where, config_warn warn, void *arg) {
    char text[1024];
    if (warn == NULL || (key->type != KEY_IGNORED && key->type != KEY_DEPRECATED)) return;
    snprintf(text, sizeof text, "%s%s %s: %s", where, key->path,
             key->type == KEY_DEPRECATED ? "is deprecated and has no effect" : "has no effect",
             key->help);
    warn(arg, text);
}

static cuzk_status take_value(void *arg, const toml_value *v, cuzk_error *err) {
    file_reader *r = arg;
    char where[600];
    if (v->type == TOML_TABLE && known_section(v->path)) return CUZK_OK;
    const config_key *key = key_by_path(v->path);
    if (key == NULL)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%s:%u: unknown %s \"%.100s\"", r->path, v->line,
                         v->type == TOML_TABLE ? "section" : "key", v->path);
    bool ok = type_fits(key, v->type);
    if (ok && key->type == KEY_DEVICES) {
        if (v->type == TOML_ARRAY)
            r->c->n_devices = 0;
        else
            ok = add_device(r->c, v->text);
    } else if (ok) {
        ok = set_value(r->c, key, v->text);
    }
    if (!ok)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%s:%u: %s = \"%.100s\": expected %s", r->path,
                         v->line, v->path, v->text, expected(key));
    snprintf(where, sizeof where, "%s:%u: ", r->path, v->line);
    if (r->c->source[key - keys] != CONFIG_FROM_FILE) /* once, not for each element of an array */
        warn_of(key, where, r->warn, r->arg);
    r->c->source[key - keys] = CONFIG_FROM_FILE;
    return CUZK_OK;
}

cuzk_status config_read_file(daemon_config *c, const char *path, config_warn warn, void *arg,
                             cuzk_error *err) {
    file_map map;
    file_reader r = {c, path, warn, arg};
    CUZK_TRY(file_map_open(path, &map, err));
    cuzk_status status = map.bytes > (1 << 20)
                             ? cuzk_fail(err, CUZK_ERR_FORMAT, "longer than 1 MiB")
                             : toml_flat_parse(map.data == NULL ? "" : (const char *)map.data,
                                               map.bytes, take_value, &r, err);
    file_map_close(&map);
    /* Errors of values begin with the path already. */
    if (status == CUZK_ERR_FORMAT) status = cuzk_error_context(err, status, "%s", path);
    return status;
}

/* ---- environment and flags ---- */

cuzk_status config_set(daemon_config *c, const char *path, const char *text, cuzk_error *err) {
    const config_key *key = key_by_path(path);
    if (key == NULL) return cuzk_fail(err, CUZK_ERR_ARGUMENT, "unknown key \"%s\"", path);
    if (!set_value(c, key, text))
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%s = \"%.100s\": expected %s", path, text,
                         expected(key));
    c->source[key - keys] = CONFIG_FROM_FLAG;
    return CUZK_OK;
}

cuzk_status config_read_environment(daemon_config *c, config_warn warn, void *arg,
                                    cuzk_error *err) {
    const char *rust_log = getenv("RUST_LOG");
    const config_key *level = key_by_path("logging.level");
    if (rust_log != NULL && set_value(c, level, rust_log)) /* its filters are not understood */
        c->source[level - keys] = CONFIG_FROM_ENVIRONMENT;
    for (size_t i = 0; i < N_KEYS; i++) {
        char name[64];
        const int n = snprintf(name, sizeof name, "CUZK_%s", keys[i].path);
        for (int k = 0; k < n; k++)
            name[k] = name[k] == '.' ? '_' : (char)toupper((unsigned char)name[k]);
        const char *text = getenv(name);
        if (text == NULL) continue;
        if (!set_value(c, &keys[i], text))
            return cuzk_fail(err, CUZK_ERR_ARGUMENT, "environment: %s=\"%.100s\": expected %s",
                             name, text, expected(&keys[i]));
        warn_of(&keys[i], "environment: ", warn, arg);
        c->source[i] = CONFIG_FROM_ENVIRONMENT;
    }
    return CUZK_OK;
}

/* ---- devices ---- */

#define LEAST_VRAM ((uint64_t)64 << 20) /* below it nothing could be opened */

cuzk_status config_device_name(const daemon_config *c, const char *given,
                               char out[CONFIG_DEVICE_NAME], cuzk_error *err) {
    const char *at = strchr(given, '@');
    const int length = at != NULL ? (int)(at - given) : (int)strlen(given);
    const bool cpu = strcmp(given, "cpu") == 0, bare = !cpu && strncmp(given, "cuda", 4) != 0;
    uint64_t limit = cpu ? 0 : c->vram_limit;
    if (at != NULL && (!config_parse_bytes(at + 1, &limit) || limit < LEAST_VRAM))
        return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                         "gpus.devices: \"%s\": expected a size of at least 64MiB behind the @, "
                         "such as 16GiB",
                         given);
    const int n = snprintf(out, CONFIG_DEVICE_NAME, "%s%.*s", bare ? "cuda:" : "", length, given);
    if (n < CONFIG_DEVICE_NAME && limit != 0)
        snprintf(out + n, (size_t)(CONFIG_DEVICE_NAME - n), "@%llu", (unsigned long long)limit);
    return CUZK_OK;
}

static cuzk_status check_devices(const daemon_config *c, cuzk_error *err) {
    char name[CONFIG_DEVICE_NAME];
    if (c->vram_limit != 0 && c->vram_limit < LEAST_VRAM)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                         "gpus.vram_limit = %llu: expected at least 64MiB, or 0 for all",
                         (unsigned long long)c->vram_limit);
    for (uint64_t i = 0; i < c->n_devices; i++)
        CUZK_TRY(config_device_name(c, c->devices[i], name, err));
    return CUZK_OK;
}

/* ---- checks across keys ---- */

static cuzk_status check_listeners(const daemon_config *c, cuzk_error *err) {
    char copy[sizeof c->listen], *save = NULL;
    const bool tls = c->tls_cert[0] != 0;
    unsigned n = 0;
    snprintf(copy, sizeof copy, "%s", c->listen);
    for (char *a = strtok_r(copy, ", ", &save); a != NULL; a = strtok_r(NULL, ", ", &save), n++) {
        address where;
        CUZK_TRY(address_parse(a, &where, err));
        if (where.is_unix || where.is_loopback || tls || c->token_file[0] != 0 || c->insecure)
            continue;
        return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                         "daemon.listen = \"%s\" can be reached from other machines: set up mutual "
                         "TLS (daemon.tls_*) or daemon.token_file, or write daemon.insecure = true",
                         a);
    }
    if (n == 0) return cuzk_fail(err, CUZK_ERR_ARGUMENT, "daemon.listen is empty");
    return CUZK_OK;
}

cuzk_status config_check(const daemon_config *c, cuzk_error *err) {
    CUZK_TRY(check_listeners(c, err));
    if (c->status_listen[0] != 0) {
        address where;
        CUZK_TRY(address_parse(c->status_listen, &where, err));
        if (where.is_unix)
            return cuzk_fail(err, CUZK_ERR_ARGUMENT, "daemon.status_listen must be host:port");
        if (!where.is_loopback && c->token_file[0] == 0 && !c->insecure)
            return cuzk_fail(
                err, CUZK_ERR_ARGUMENT,
                "daemon.status_listen = \"%s\" can be reached from other machines: set "
                "daemon.token_file, or write daemon.insecure = true",
                c->status_listen);
    }
    const int tls = (c->tls_cert[0] != 0) + (c->tls_key[0] != 0) + (c->tls_client_ca[0] != 0);
    if (tls != 0 && tls != 3)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                         "daemon.tls_cert, tls_key and tls_client_ca must be given together");
    if (c->max_message > (uint64_t)256 << 20)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "daemon.max_message is at most 256MiB");
    CUZK_TRY(check_devices(c, err));
    uint64_t budget;
    return config_memory_budget(c, &budget, err);
}

/* ---- showing ---- */

static void write_text(FILE *out, const char *text) {
    fputc('"', out);
    for (; *text != 0; text++) {
        if (*text == '"' || *text == '\\') fputc('\\', out);
        fputc(*text, out);
    }
    fputc('"', out);
}

static void write_value(const daemon_config *c, const config_key *key, FILE *out) {
    const void *at = place_const(c, key);
    switch (key->type) {
    case KEY_TEXT:
        write_text(out, at);
        break;
    case KEY_BOOL:
        fputs(*(const bool *)at ? "true" : "false", out);
        break;
    case KEY_CHOICE:
        write_text(out, key->names[*(const uint64_t *)at]);
        break;
    case KEY_DURATION:
        fprintf(out, "\"%llums\"", (unsigned long long)*(const uint64_t *)at);
        break;
    case KEY_BUDGET:
        if (*(const uint64_t *)at == 0) {
            fputs("\"auto\"", out);
            break;
        } /* fall through */
    case KEY_COUNT:
    case KEY_BYTES:
        fprintf(out, "%llu", (unsigned long long)*(const uint64_t *)at);
        break;
    case KEY_DEVICES:
        fputc('[', out);
        for (uint64_t i = 0; i < c->n_devices; i++) {
            if (i > 0) fputs(", ", out);
            write_text(out, c->devices[i]);
        }
        fputc(']', out);
        break;
    case KEY_IGNORED:
    case KEY_DEPRECATED:
        break;
    }
}

void config_write(const daemon_config *c, FILE *out) {
    static const char *const sources[] = {"default", "file", "environment", "flag"};
    char section[32] = "";
    for (size_t i = 0; i < N_KEYS; i++) {
        if (keys[i].type == KEY_IGNORED || keys[i].type == KEY_DEPRECATED) continue;
        const char *dot = strchr(keys[i].path, '.');
        const int n = (int)(dot - keys[i].path);
        if (strncmp(section, keys[i].path, (size_t)n) != 0 || section[n] != 0) {
            fprintf(out, "%s[%.*s]\n", section[0] == 0 ? "" : "\n", n, keys[i].path);
            snprintf(section, sizeof section, "%.*s", n, keys[i].path);
        }
        fprintf(out, "%s = ", dot + 1);
        write_value(c, &keys[i], out);
        fprintf(out, " # %s; %s\n", sources[c->source[i]], keys[i].help);
    }
}
