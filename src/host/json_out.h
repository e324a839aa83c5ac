/* A JSON writer: values go straight to a stream, commas and indents are kept. */
#ifndef CUZK_HOST_JSON_OUT_H
#define CUZK_HOST_JSON_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

typedef struct json_out {
    FILE *file;
    unsigned depth;
    bool need_comma;
} json_out;

/* key is NULL inside arrays and for the outermost value. */
void json_out_object(json_out *j, const char *key);
void json_out_array(json_out *j, const char *key);
void json_out_end_object(json_out *j);
void json_out_end_array(json_out *j);
void json_out_string(json_out *j, const char *key, const char *value);
void json_out_hex(json_out *j, const char *key, const uint8_t *data, size_t bytes);
void json_out_u64(json_out *j, const char *key, uint64_t value);
void json_out_double(json_out *j, const char *key, double value);
void json_out_null(json_out *j, const char *key);
void json_out_bool(json_out *j, const char *key, bool value);

#endif
