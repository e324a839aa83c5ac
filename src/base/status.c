#include "base/status.h"

#include <stdio.h>
#include <string.h>

const char *cuzk_status_name(cuzk_status status) {
    static const char *const names[CUZK_STATUS_COUNT] = {
        "ok",          "argument",  "format",      "not_canonical", "not_on_curve",  "not_in_group",
        "infinity",    "mismatch",  "unsatisfied", "invalid_proof", "not_found",     "exists",
        "io",          "no_space",  "no_memory",   "exhausted",     "device_memory", "device",
        "device_lost", "cancelled", "timeout",     "unsupported",   "internal",
    };
    if ((unsigned)status >= CUZK_STATUS_COUNT) return "unknown";
    return names[status];
}

cuzk_status cuzk_fail(cuzk_error *err, cuzk_status status, const char *format, ...) {
    if (err != NULL) {
        va_list args;
        va_start(args, format);
        err->status = status;
        (void)vsnprintf(err->text, sizeof err->text, format, args);
        va_end(args);
    }
    return status;
}

cuzk_status cuzk_error_context(cuzk_error *err, cuzk_status status, const char *format, ...) {
    if (err != NULL) {
        char prefix[sizeof err->text];
        char text[sizeof err->text];
        va_list args;
        va_start(args, format);
        (void)vsnprintf(prefix, sizeof prefix, format, args);
        va_end(args);
        memcpy(text, err->text, sizeof text);
        text[sizeof text - 1] = 0;
        /* A long prefix may cut the text: the place matters more than the tail of the cause. */
        const size_t used = strlen(prefix);
        (void)snprintf(err->text, sizeof err->text, "%.*s: ", (int)(used < 300 ? used : 300),
                       prefix);
        const size_t at = strlen(err->text);
        (void)snprintf(err->text + at, sizeof err->text - at, "%.*s",
                       (int)(sizeof err->text - at - 1), text);
    }
    return status;
}
