#include "server/safe_text.h"

#include <stdbool.h>
#include <string.h>

#include "server/wire.h"

static bool ends_path(char c) {
    return c == 0 || strchr(" \t\n\"'();,<>|", c) != NULL;
}

/* Where the shown part of a path beginning at text begins; *end is where the path ends. */
static const char *last_part(const char *text, const char **end) {
    const char *part = text, *at = text;
    for (; !ends_path(*at) && !(*at == ':' && (at[1] == ' ' || at[1] == 0)); at++)
        if (*at == '/' && !ends_path(at[1])) part = at + 1;
    *end = at;
    return part;
}

void safe_text(char *out, size_t out_bytes, const char *text) {
    size_t n = 0;
    bool boundary = true;
    while (*text != 0 && n + 1 < out_bytes) {
        if (boundary && *text == '/' && !ends_path(text[1])) {
            const char *end, *part = last_part(text, &end);
            while (part < end && n + 1 < out_bytes)
                out[n++] = *part++;
            text = end;
            boundary = false;
            continue;
        }
        const unsigned char c = (unsigned char)*text++;
        out[n++] = c < 0x20 || c == 0x7f ? '?' : (char)c;
        boundary = strchr(" \t\"'(<=:", c) != NULL;
    }
    out[n] = 0;
    /* Strings of protocol buffers are UTF-8, and the text may have been cut in mid-character. */
    if (wire_is_utf8((const uint8_t *)out, n)) return;
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)out[i] >= 0x80) out[i] = '?';
}
