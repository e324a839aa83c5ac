/* Small JSON texts as a flat list of scalars, each with its path ("sectors[2].comm_r"): enough for
 * files whose keys are known, with no tree to build. */
#ifndef CUZK_FORMATS_JSON_FLAT_H
#define CUZK_FORMATS_JSON_FLAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

typedef enum json_kind { JSON_TEXT, JSON_INTEGER, JSON_OTHER } json_kind;

typedef struct json_scalar {
    const char *path;
    json_kind kind;
    const char *text; /* of strings and numbers, not terminated */
    size_t n;
} json_scalar;

/* Called for every scalar; a status other than CUZK_OK stops the parse. */
typedef cuzk_status (*json_scalar_fn)(void *context, const json_scalar *scalar, cuzk_error *err);

/* Refuses texts over max_bytes, nesting over 16 and paths over 256 characters. */
cuzk_status json_flat_parse(const char *text, size_t bytes, size_t max_bytes, json_scalar_fn fn,
                            void *context, cuzk_error *err);

/* Does path match pattern, where "[]" in the pattern stands for any index? The first index goes to
 * *index (may be NULL). */
bool json_path_is(const char *path, const char *pattern, size_t *index);

/* The value as 32 bytes of hex, or as an unsigned integer; *seen must be false and becomes true. */
cuzk_status json_take_hex32(const json_scalar *scalar, uint8_t out[32], bool *seen,
                            cuzk_error *err);
cuzk_status json_take_u64(const json_scalar *scalar, uint64_t *out, bool *seen, cuzk_error *err);

#endif
