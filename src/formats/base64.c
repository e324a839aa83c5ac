#include "formats/base64.h"

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Value of a character; 64: not in the alphabet. */
static const uint8_t values[256] = {
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 62, 64, 64, 64, 63,
    52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 64, 64, 64, 64, 64, 64, 64, 0,  1,  2,  3,  4,  5,  6,
    7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 64, 64, 64, 64, 64,
    64, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48,
    49, 50, 51, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
    64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64, 64,
};

/* Bytes of a group with one or two padding characters, or 0 when it is not well formed. */
static size_t decode_padded(const char *text, uint8_t *out) {
    const uint32_t a = values[(uint8_t)text[0]], b = values[(uint8_t)text[1]];
    const uint32_t c = values[(uint8_t)text[2]];
    if (text[3] != '=' || ((a | b) & 64) != 0) return 0;
    out[0] = (uint8_t)(a << 2 | b >> 4);
    if (text[2] == '=') return (b & 15) == 0 ? 1 : 0;
    if (c == 64 || (c & 3) != 0) return 0;
    out[1] = (uint8_t)(b << 4 | c >> 2);
    return 2;
}

size_t base64_decode(const char *text, size_t n, bool last, uint8_t *out, size_t *bad_at) {
    uint8_t *to = out;
    *bad_at = n / 4 * 4;
    if (n % 4 != 0) return SIZE_MAX;
    for (size_t i = 0; i < n; i += 4) {
        const uint32_t a = values[(uint8_t)text[i]], b = values[(uint8_t)text[i + 1]];
        const uint32_t c = values[(uint8_t)text[i + 2]], d = values[(uint8_t)text[i + 3]];
        if (((a | b | c | d) & 64) != 0) {
            const size_t bytes = last && i + 4 == n ? decode_padded(text + i, to) : 0;
            *bad_at = i;
            return bytes == 0 ? SIZE_MAX : (size_t)(to - out) + bytes;
        }
        const uint32_t group = a << 18 | b << 12 | c << 6 | d;
        *to++ = (uint8_t)(group >> 16);
        *to++ = (uint8_t)(group >> 8);
        *to++ = (uint8_t)group;
    }
    return (size_t)(to - out);
}

void base64_encode(const uint8_t *data, size_t n, char *out) {
    for (; n >= 3; n -= 3, data += 3) {
        const uint32_t group = (uint32_t)data[0] << 16 | (uint32_t)data[1] << 8 | data[2];
        *out++ = alphabet[group >> 18];
        *out++ = alphabet[group >> 12 & 63];
        *out++ = alphabet[group >> 6 & 63];
        *out++ = alphabet[group & 63];
    }
    if (n == 0) return;
    const uint32_t group = (uint32_t)data[0] << 16 | (n == 2 ? (uint32_t)data[1] << 8 : 0);
    *out++ = alphabet[group >> 18];
    *out++ = alphabet[group >> 12 & 63];
    *out++ = n == 2 ? alphabet[group >> 6 & 63] : '=';
    *out = '=';
}
