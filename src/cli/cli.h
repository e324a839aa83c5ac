/* The command line `cuzk`: one table of commands, one file each (cmd_*.c), shared helpers here. */
#ifndef CUZK_CLI_CLI_H
#define CUZK_CLI_CLI_H

#include <stdbool.h>
#include <stdint.h>

#include "host/host_std.h"

/* Exit codes: 0 done, 1 a failure (a proof that does not verify, a broken device), 2 bad input. */
enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_BAD_INPUT = 2 };

typedef struct cli_command {
    const char *name;    /* "setup", "prove porep": one or two words */
    const char *summary; /* one line for the list of commands */
    const char *about;   /* a paragraph for --help */
    int (*run)(int argc, char **argv, const struct cli_command *self);
} cli_command;

/* An option of a command: parsed into *target, and printed by --help. */
typedef struct cli_option {
    enum { CLI_FLAG, CLI_TEXT, CLI_COUNT, CLI_LIST } kind;
    const char *name;  /* without the dashes */
    const char *value; /* "FILE"; NULL for flags */
    const char *help;
    void *target;      /* bool, const char *, uint64_t, cli_list */
    uint64_t min, max; /* CLI_COUNT */
    bool required;
} cli_option;
#define CLI_LIST_MAX 4096
typedef struct cli_list {
    const char *items[CLI_LIST_MAX];
    size_t n;
} cli_list;

/* Parse everything; the rest of argv, if max_rest > 0, is left in rest. False: the command is over
 * (--help, or a mistake that has been reported) and returns *exit_code. */
bool cli_parse(int argc, char **argv, const cli_command *self, const cli_option *options, size_t n,
               cli_list *rest, size_t max_rest, int *exit_code);

extern const cli_command cmd_setup, cmd_prove_porep, cmd_prove_winning, cmd_prove_window,
    cmd_prove_snap, cmd_verify_porep, cmd_verify_winning, cmd_verify_window, cmd_verify_snap,
    cmd_inspect, cmd_circuit, cmd_synth_porep, cmd_synth_winning, cmd_synth_window, cmd_synth_snap,
    cmd_bench, cmd_selftest, cmd_doctor, cmd_serve, cmd_config_check, cmd_config_show,
    cmd_submit_porep, cmd_submit_winning, cmd_submit_window, cmd_submit_snap, cmd_await, cmd_cancel,
    cmd_status, cmd_top, cmd_preload, cmd_evict, cmd_bench_daemon;

/* Print "cuzk COMMAND: text" on standard error and return the exit code that fits the status. */
int cli_report(const cli_command *self, const cuzk_error *err);
/* The same for a mistake in the arguments: exit code 2, with a hint at --help. */
int cli_usage(const cli_command *self, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* What the daemon's commands are in a build without it. */
int cli_no_server(int argc, char **argv, const cli_command *self);
/* A host with progress bars on a terminal (plain lines elsewhere) for anything over a second;
 * SIGINT, SIGTERM and SIGHUP cancel it. threads 0 = all. quiet: no progress. */
typedef struct cli_session {
    host_std *std;
    const cuzk_host *host;
} cli_session;
cuzk_status cli_session_open(cli_session *s, unsigned threads, bool quiet, cuzk_error *err);
void cli_session_close(cli_session *s);

/* "64", within [min, max]. */
bool cli_parse_unsigned(const char *text, uint64_t min, uint64_t max, uint64_t *out);
/* Exactly `bytes` bytes of hex. */
bool cli_parse_hex(const char *text, uint8_t *out, size_t bytes);
void cli_hex(char *out, const uint8_t *data, size_t bytes);
double cli_now(void);         /* monotonic seconds */
double cli_cpu_seconds(void); /* of this process */
uint64_t cli_peak_rss(void);  /* bytes, mapped files included */

#endif
