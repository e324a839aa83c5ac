/* A small JSON reader for golden files in tests (the product parses JSON in src/formats). Stops the
 * program on malformed text: a broken fixture is a broken test. */
#ifndef CUZK_TESTS_JSON_H
#define CUZK_TESTS_JSON_H

#include "check.h"

typedef struct json {
    enum { JSON_NULL, JSON_BOOL, JSON_NUMBER, JSON_STRING, JSON_ARRAY, JSON_OBJECT } type;
    char *text;    /* strings; numbers as written; "true"/"false" */
    size_t n, cap; /* items of an array or object */
    struct json *items;
    char **keys; /* objects */
} json;

static inline void json_die(const char *what, const char *at) {
    fprintf(stderr, "json: %s at \"%.30s\"\n", what, at);
    exit(1);
}
static inline const char *json_space(const char *p) {
    while (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')
        p++;
    return p;
}
static inline const char *json_string(const char *p, char **out) {
    const char *start = ++p;
    while (*p != '"') {
        if (*p == 0) json_die("unterminated string", start);
        p += *p == '\\' && p[1] != 0 ? 2 : 1;
    }
    char *s = malloc((size_t)(p - start) + 1), *d = s;
    for (const char *q = start; q < p; q++) {
        if (*q == '\\') {
            q++;
            *d++ = *q == 'n' ? '\n' : *q == 't' ? '\t' : *q;
        } else {
            *d++ = *q;
        }
    }
    *d = 0;
    *out = s;
    return p + 1;
}
static inline const char *json_value(const char *p, json *v) {
    memset(v, 0, sizeof *v);
    p = json_space(p);
    if (*p == '{' || *p == '[') {
        const bool object = *p == '{';
        const char close = object ? '}' : ']';
        v->type = object ? JSON_OBJECT : JSON_ARRAY;
        p = json_space(p + 1);
        while (*p != close) {
            if (v->n == v->cap) {
                v->cap = v->cap ? 2 * v->cap : 8;
                v->items = realloc(v->items, v->cap * sizeof *v->items);
                v->keys = realloc(v->keys, v->cap * sizeof *v->keys);
            }
            v->keys[v->n] = NULL;
            if (object) {
                if (*p != '"') json_die("key expected", p);
                p = json_space(json_string(p, &v->keys[v->n]));
                if (*p++ != ':') json_die("':' expected", p);
            }
            p = json_space(json_value(p, &v->items[v->n++]));
            if (*p == ',')
                p = json_space(p + 1);
            else if (*p != close)
                json_die("',' expected", p);
        }
        return p + 1;
    }
    if (*p == '"') {
        v->type = JSON_STRING;
        return json_string(p, &v->text);
    }
    const char *start = p;
    while (*p != 0 && strchr(",]} \n\r\t", *p) == NULL)
        p++;
    if (p == start) json_die("value expected", p);
    v->text = strndup(start, (size_t)(p - start));
    v->type = *start == 't' || *start == 'f' ? JSON_BOOL : *start == 'n' ? JSON_NULL : JSON_NUMBER;
    return p;
}
static inline json json_parse(const char *text) {
    json v;
    json_value(text, &v);
    return v;
}
static inline void json_free(json *v) {
    for (size_t i = 0; i < v->n; i++) {
        json_free(&v->items[i]);
        free(v->keys[i]);
    }
    free(v->items);
    free(v->keys);
    free(v->text);
    memset(v, 0, sizeof *v);
}
/* A whole file, NUL-terminated; stops the program when it cannot be read. */
static inline char *read_file_or_die(const char *path, size_t *bytes) {
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        perror(path);
        exit(1);
    }
    fseek(f, 0, SEEK_END);
    const size_t n = (size_t)ftell(f);
    rewind(f);
    char *text = malloc(n + 1);
    if (fread(text, 1, n, f) != n) exit(1);
    fclose(f);
    text[n] = 0;
    if (bytes != NULL) *bytes = n;
    return text;
}
/* tests/data/NAME */
static inline json json_load(const char *name) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", CUZK_TEST_DATA, name);
    char *text = read_file_or_die(path, NULL);
    json v = json_parse(text);
    free(text);
    return v;
}
/* Member of an object; NULL when absent. */
static inline const json *json_find(const json *v, const char *key) {
    for (size_t i = 0; i < v->n; i++)
        if (v->keys[i] != NULL && strcmp(v->keys[i], key) == 0) return &v->items[i];
    return NULL;
}
/* Member that must exist. */
static inline const json *json_get(const json *v, const char *key) {
    const json *m = json_find(v, key);
    if (m == NULL) json_die("missing key", key);
    return m;
}
static inline const char *json_str(const json *v, const char *key) {
    return json_get(v, key)->text;
}
static inline uint64_t json_u64(const json *v, const char *key) {
    return strtoull(json_get(v, key)->text, NULL, 10);
}

#endif
