#include "server/log.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>

static atomic_int max_level = LOG_INFO, chosen_format = LOG_HUMAN;

void log_configure(log_level level, log_format format) {
    atomic_store(&max_level, level);
    atomic_store(&chosen_format, format);
}

static void escaped(FILE *f, const char *text) {
    for (; *text != 0; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\')
            fprintf(f, "\\%c", c);
        else if (c < 0x20 || c == 0x7f)
            fprintf(f, "\\u%04x", c);
        else
            fputc(c, f);
    }
}

void log_line(log_level level, const char *job_id, const char *format, ...) {
    static const char *const names[] = {"ERROR", "WARN", "INFO", "DEBUG", "TRACE"};
    static const char *const lower[] = {"error", "warn", "info", "debug", "trace"};
    if ((int)level > atomic_load(&max_level)) return;
    char text[1536], when[40];
    struct timespec now;
    struct tm utc;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &utc);
    const size_t n = strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", &utc);
    snprintf(when + n, sizeof when - n, ".%03ldZ", now.tv_nsec / 1000000);
    const int as_json = atomic_load(&chosen_format) == LOG_JSON;
    flockfile(stderr);
    if (as_json)
        fprintf(stderr, "{\"time\":\"%s\",\"level\":\"%s\"", when, lower[level]);
    else
        fprintf(stderr, "%s %-5s ", when, names[level]);
    if (job_id != NULL && job_id[0] != 0) {
        fputs(as_json ? ",\"job\":\"" : "[", stderr);
        escaped(stderr, job_id);
        fputs(as_json ? "\"" : "] ", stderr);
    }
    if (as_json) fputs(",\"message\":\"", stderr);
    escaped(stderr, text);
    fputs(as_json ? "\"}\n" : "\n", stderr);
    fflush(stderr);
    funlockfile(stderr);
}
