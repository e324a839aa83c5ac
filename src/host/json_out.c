#include "host/json_out.h"

static void text(json_out *j, const char *s) {
    fputc('"', j->file);
    for (; *s != 0; s++) {
        const unsigned char c = (unsigned char)*s;
        if (c == '"' || c == '\\')
            fprintf(j->file, "\\%c", c);
        else if (c < 0x20)
            fprintf(j->file, "\\u%04x", c);
        else
            fputc(c, j->file);
    }
    fputc('"', j->file);
}

static void begin_value(json_out *j, const char *key) {
    if (j->need_comma) fputc(',', j->file);
    if (j->depth > 0) fprintf(j->file, "\n%*s", (int)(2 * j->depth), "");
    if (key != NULL) {
        text(j, key);
        fputs(": ", j->file);
    }
    j->need_comma = true;
}

static void open_group(json_out *j, const char *key, char bracket) {
    begin_value(j, key);
    fputc(bracket, j->file);
    j->depth++;
    j->need_comma = false;
}

static void close_group(json_out *j, char bracket) {
    j->depth--;
    if (j->need_comma) fprintf(j->file, "\n%*s", (int)(2 * j->depth), "");
    fputc(bracket, j->file);
    j->need_comma = true;
    if (j->depth == 0) fputc('\n', j->file);
}

void json_out_object(json_out *j, const char *key) {
    open_group(j, key, '{');
}
void json_out_array(json_out *j, const char *key) {
    open_group(j, key, '[');
}
void json_out_end_object(json_out *j) {
    close_group(j, '}');
}
void json_out_end_array(json_out *j) {
    close_group(j, ']');
}

void json_out_string(json_out *j, const char *key, const char *value) {
    begin_value(j, key);
    text(j, value);
}
void json_out_hex(json_out *j, const char *key, const uint8_t *data, size_t bytes) {
    begin_value(j, key);
    fputc('"', j->file);
    for (size_t i = 0; i < bytes; i++)
        fprintf(j->file, "%02x", data[i]);
    fputc('"', j->file);
}
void json_out_u64(json_out *j, const char *key, uint64_t value) {
    begin_value(j, key);
    fprintf(j->file, "%llu", (unsigned long long)value);
}
void json_out_double(json_out *j, const char *key, double value) {
    begin_value(j, key);
    fprintf(j->file, "%.6g", value);
}
void json_out_bool(json_out *j, const char *key, bool value) {
    begin_value(j, key);
    fputs(value ? "true" : "false", j->file);
}
void json_out_null(json_out *j, const char *key) {
    begin_value(j, key);
    fputs("null", j->file);
}
