/* Base64, standard alphabet, padded (RFC 4648 section 4), strict: no line breaks, no missing
 * padding, no bits left over. */
#ifndef CUZK_FORMATS_BASE64_H
#define CUZK_FORMATS_BASE64_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static inline size_t base64_encoded_bytes(size_t n) {
    return (n + 2) / 3 * 4;
}
/* At most this many bytes come out of n characters. */
static inline size_t base64_decoded_max(size_t n) {
    return n / 4 * 3;
}

/* Decodes n characters, a multiple of 4, of which only the last four may hold padding, and only
 * when `last`. Returns the number of bytes, or SIZE_MAX with *bad_at set to the offset of the bad
 * group. */
size_t base64_decode(const char *text, size_t n, bool last, uint8_t *out, size_t *bad_at);
/* Writes base64_encoded_bytes(n) characters, without a terminating zero. Only the last piece of a
 * longer text may have n not divisible by 3. */
void base64_encode(const uint8_t *data, size_t n, char *out);

#endif
