/* The daemon's configuration as the commands `serve` and `config` read it. */
#ifndef CUZK_CLI_DAEMON_CONFIG_H
#define CUZK_CLI_DAEMON_CONFIG_H

#include "cli/cli.h"
#include "server/config.h"

typedef struct config_flags {
    const char *config; /* --config; NULL: /etc/cuzk/cuzk.toml or /data/zk/cuzk.toml if there */
    const char *listen, *http, *state_dir, *params, *log_level, *log_format, *vram_limit;
    cli_list devices;
} config_flags;

/* File, environment, flags; deprecated keys are warned about on standard error when `warn`. */
cuzk_status daemon_config_load(const config_flags *flags, bool warn, daemon_config *out,
                               cuzk_error *err);
/* The options that fill config_flags, for a command's table: CONFIG_OPTIONS(flags). */
#define CONFIG_OPTIONS(f)                                                                          \
    {CLI_TEXT, "config", "FILE", "configuration (TOML)", .target = &(f).config},                   \
        {CLI_TEXT, "listen", "ADDR", "gRPC address: unix:///path or host:port",                    \
         .target = &(f).listen},                                                                   \
        {CLI_TEXT, "http", "ADDR", "status page and metrics: host:port, or off",                   \
         .target = &(f).http},                                                                     \
        {CLI_TEXT, "state-dir", "DIR", "journal and request bodies", .target = &(f).state_dir},    \
        {CLI_TEXT, "params", "DIR", "folder of the parameter files", .target = &(f).params},       \
        {CLI_LIST, "device", "NAME", "device to use (cpu, cuda:N); may be repeated",               \
         .target = &(f).devices},                                                                  \
        {CLI_TEXT, "vram-limit", "SIZE", "memory of each GPU to use at most: 16GiB, 512MiB",       \
         .target = &(f).vram_limit},                                                               \
        {CLI_TEXT, "log-level", "LEVEL", "error, warn, info, debug, trace",                        \
         .target = &(f).log_level},                                                                \
    {                                                                                              \
        CLI_TEXT, "log-format", "FORMAT", "human or json", .target = &(f).log_format               \
    }

#endif
