#include "filecoin/vanilla_place.h"

#include <stdio.h>
#include <string.h>

cuzk_status vanilla_place(cuzk_error *err, cuzk_status status, const char *format, ...) {
    if (err == NULL) return status;
    char text[sizeof err->text];
    va_list args;
    memcpy(text, err->text, sizeof text);
    va_start(args, format);
    const int n = vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    if (n >= 0 && (size_t)n < sizeof err->text)
        (void)snprintf(err->text + n, sizeof err->text - (size_t)n, "%.*s",
                       (int)(sizeof err->text - (size_t)n - 1), text);
    return status;
}
