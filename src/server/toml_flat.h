/* A TOML text as a flat list of values, each with its path and line. */
#ifndef CUZK_SERVER_TOML_FLAT_H
#define CUZK_SERVER_TOML_FLAT_H

#include <stddef.h>

#include "base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum toml_type {
    TOML_STRING,
    TOML_INTEGER,
    TOML_BOOL,
    TOML_OTHER, /* a float, date or nested array: no key of ours takes one */
    TOML_TABLE, /* the beginning of a table */
    TOML_ARRAY  /* the beginning of an array, whose elements follow under the same path */
} toml_type;

typedef struct toml_value {
    const char *path; /* "memory.total_budget" */
    toml_type type;
    const char *text; /* as written, strings without quotes; "" for tables and arrays */
    unsigned line;
} toml_value;

/* Calls fn for each value in the order of the file; a status other than CUZK_OK stops. A syntax
 * error is CUZK_ERR_FORMAT whose text begins with "line N: ". text need not end with a zero. */
cuzk_status toml_flat_parse(const char *text, size_t bytes,
                            cuzk_status (*fn)(void *arg, const toml_value *value, cuzk_error *err),
                            void *arg, cuzk_error *err);

#ifdef __cplusplus
}
#endif
#endif
