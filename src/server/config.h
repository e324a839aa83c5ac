/* The daemon's configuration: a TOML file, then the environment, then flags. The keys of the Rust
 * engine are understood (docs/daemon.md lists all keys). */
#ifndef CUZK_SERVER_CONFIG_H
#define CUZK_SERVER_CONFIG_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/status.h"

enum { CONFIG_MAX_DEVICES = 64, CONFIG_MAX_KEYS = 96 };

typedef struct daemon_config {
    char listen[512], status_listen[256], state_dir[512];
    bool insecure, reflection, timeline;
    char token_file[512], tls_cert[512], tls_key[512], tls_client_ca[512];
    uint64_t drain_timeout_ms, max_connections, max_streams, max_message;
    uint64_t body_timeout_ms, body_grace_ms, idle_timeout_ms;
    uint64_t queue_limit, result_limit, result_age_ms, job_attempts;
    uint64_t total_budget; /* 0: auto */
    uint64_t safety_margin, eviction_min_idle_ms;
    char devices[CONFIG_MAX_DEVICES][64]; /* "0", "cuda:0", "cpu"; none: all */
    uint64_t n_devices;
    uint64_t vram_limit;     /* bytes of each GPU at most, unless its name says; 0: all */
    uint64_t on_gpu_failure; /* engine_failure_policy */
    uint64_t watchdog_ms, device_failures, ageing_ms;
    uint64_t copies_after; /* partitions before a key is loaded with copies of h; 0: never */
    uint64_t threads, witness_threads;
    char param_cache[512];
    uint64_t log_level, log_format;
    uint8_t source[CONFIG_MAX_KEYS]; /* CONFIG_FROM_* of each key of the table */
} daemon_config;

enum { CONFIG_FROM_DEFAULT, CONFIG_FROM_FILE, CONFIG_FROM_ENVIRONMENT, CONFIG_FROM_FLAG };

/* Told of keys without effect: deprecated, or of the Rust engine's inner workings. */
typedef void (*config_warn)(void *arg, const char *text);

void config_defaults(daemon_config *c);
/* The file at path over what is in c. Unknown keys, wrong types and values are errors with file and
 * line. */
cuzk_status config_read_file(daemon_config *c, const char *path, config_warn warn, void *arg,
                             cuzk_error *err);
/* CUZK_SECTION_KEY variables (CUZK_DAEMON_LISTEN), and RUST_LOG for the level. */
cuzk_status config_read_environment(daemon_config *c, config_warn warn, void *arg, cuzk_error *err);
/* One key by its path, as a flag gives it. */
cuzk_status config_set(daemon_config *c, const char *path, const char *text, cuzk_error *err);
/* What no single key can say: addresses, rights, files that must be there. */
cuzk_status config_check(const daemon_config *c, cuzk_error *err);
/* All values as TOML, each with its source. */
void config_write(const daemon_config *c, FILE *out);

/* "16GiB", "500 MB", "123" (bytes); "90s", "5m", "250ms", "30" (seconds). Fractions are refused. */
bool config_parse_bytes(const char *text, uint64_t *out);
bool config_parse_duration(const char *text, uint64_t *out_ms);
/* Device i of the list, as daemon_setup.open_device takes it: "cuda:" before what is only an
 * ordinal, UUID or PCI id, and the limit of its memory in bytes behind "@". ARGUMENT: the limit is
 * none. */
enum { CONFIG_DEVICE_NAME = 128 };
cuzk_status config_device_name(const daemon_config *c, const char *given,
                               char out[CONFIG_DEVICE_NAME], cuzk_error *err);
/* Host memory that may be used: total_budget, or the smaller of MemTotal and the cgroup limits,
 * less the margin. */
cuzk_status config_memory_budget(const daemon_config *c, uint64_t *out, cuzk_error *err);

#endif
