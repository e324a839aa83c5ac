/* What the commands share: errors, hosts, values, measurements. */
#include "cli/cli.h"
#include "cli/progress.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

static int exit_code(cuzk_status status) {
    switch (status) {
    case CUZK_OK:
        return EXIT_OK;
    case CUZK_ERR_INVALID_PROOF:
    case CUZK_ERR_NO_MEMORY:
    case CUZK_ERR_EXHAUSTED:
    case CUZK_ERR_DEVICE_MEMORY:
    case CUZK_ERR_DEVICE:
    case CUZK_ERR_DEVICE_LOST:
    case CUZK_ERR_CANCELLED:
    case CUZK_ERR_TIMEOUT:
    case CUZK_ERR_INTERNAL:
        return EXIT_FAILED;
    default:
        return EXIT_BAD_INPUT;
    }
}

int cli_report(const cli_command *self, const cuzk_error *err) {
    fprintf(stderr, "cuzk %s: %s\n", self->name, err->text);
    return exit_code(err->status);
}

int cli_usage(const cli_command *self, const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "cuzk %s: ", self->name);
    vfprintf(stderr, format, args);
    fprintf(stderr, " (see cuzk %s --help)\n", self->name);
    va_end(args);
    return EXIT_BAD_INPUT;
}

int cli_no_server(int argc, char **argv, const cli_command *self) {
    (void)argc;
    (void)argv;
    fprintf(
        stderr,
        "cuzk %s: this build has no daemon: install its libraries (scripts/install-deps.sh) and "
        "build again\n",
        self->name);
    return EXIT_FAILED;
}

/* ---- hosts ---- */

static progress_display progress;
static host_std *interrupted_host;
static void on_interrupt(int signal_number) {
    (void)signal_number;
    if (interrupted_host != NULL) host_std_cancel(interrupted_host);
}

cuzk_status cli_session_open(cli_session *s, unsigned threads, bool quiet, cuzk_error *err) {
    CUZK_TRY(host_std_new(threads, 0, &s->std, err));
    s->host = host_std_host(s->std);
    progress_open(&progress, stderr, isatty(STDERR_FILENO) == 1);
    if (!quiet) host_std_set_progress(s->std, progress_report, &progress);
    interrupted_host = s->std;
    struct sigaction action = {.sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    return CUZK_OK;
}

void cli_session_close(cli_session *s) {
    progress_close(&progress);
    interrupted_host = NULL;
    host_std_free(s->std);
}

/* ---- values ---- */

bool cli_parse_unsigned(const char *text, uint64_t min, uint64_t max, uint64_t *out) {
    char *end;
    if (!isdigit((unsigned char)text[0])) return false;
    errno = 0;
    const unsigned long long v = strtoull(text, &end, 10);
    if (errno != 0 || *end != 0 || v < min || v > max) return false;
    *out = v;
    return true;
}

bool cli_parse_hex(const char *text, uint8_t *out, size_t bytes) {
    if (strlen(text) != 2 * bytes) return false;
    for (size_t i = 0; i < bytes; i++) {
        unsigned v;
        if (!isxdigit((unsigned char)text[2 * i]) || !isxdigit((unsigned char)text[2 * i + 1]) ||
            sscanf(text + 2 * i, "%2x", &v) != 1)
            return false;
        out[i] = (uint8_t)v;
    }
    return true;
}

void cli_hex(char *out, const uint8_t *data, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        sprintf(out + 2 * i, "%02x", data[i]);
}

/* ---- measurements ---- */

double cli_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double cli_cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

uint64_t cli_peak_rss(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss * 1024;
}
