#include "formats/json_flat.h"

#include <stdio.h>
#include <string.h>

#include "formats/json_stream.h"

#define MAX_DEPTH 16
#define MAX_PATH 256

typedef struct level {
    size_t path_bytes; /* of the path without this level's part */
    bool array;
    size_t count;
} level;

typedef struct flat {
    json_scalar_fn fn;
    void *context;
    cuzk_error *err;
    cuzk_status status;
    unsigned depth;
    level levels[MAX_DEPTH];
    size_t path_bytes;
    char path[MAX_PATH];
} flat;

static int refuse(flat *f, const char *what) {
    f->status = cuzk_fail(f->err, CUZK_ERR_FORMAT, "%.100s: %s", f->path, what);
    return 0;
}

static int append(flat *f, const char *part, size_t n) {
    if (f->path_bytes + n >= MAX_PATH) return refuse(f, "the path is too long");
    memcpy(f->path + f->path_bytes, part, n);
    f->path_bytes += n;
    f->path[f->path_bytes] = 0;
    return 1;
}

/* Before every value: an array's element gets its index into the path. */
static int begin_value(flat *f) {
    if (f->depth == 0) return 1;
    level *l = &f->levels[f->depth - 1];
    char index[32];
    if (!l->array) return 1;
    f->path_bytes = l->path_bytes;
    return append(f, index, (size_t)snprintf(index, sizeof index, "[%zu]", l->count++));
}

static int scalar(flat *f, json_kind kind, const char *text, size_t n) {
    if (!begin_value(f)) return 0;
    const json_scalar s = {f->path, kind, text, n};
    f->status = f->fn(f->context, &s, f->err);
    return f->status == CUZK_OK;
}

static int on_null(void *context) {
    return scalar(context, JSON_OTHER, "", 0);
}
static int on_boolean(void *context, int value) {
    (void)value;
    return scalar(context, JSON_OTHER, "", 0);
}
static int on_number(void *context, const char *text, size_t n) {
    return scalar(context, JSON_INTEGER, text, n);
}
static int on_string(void *context, const unsigned char *text, size_t n) {
    return scalar(context, JSON_TEXT, (const char *)text, n);
}

static int begin(flat *f, bool array) {
    if (!begin_value(f)) return 0;
    if (f->depth == MAX_DEPTH) return refuse(f, "nested too deep");
    f->levels[f->depth++] = (level){f->path_bytes, array, 0};
    return 1;
}

static int on_start_map(void *context) {
    return begin(context, false);
}
static int on_start_array(void *context) {
    return begin(context, true);
}

static int on_key(void *context, const unsigned char *key, size_t n) {
    flat *f = context;
    f->path_bytes = f->levels[f->depth - 1].path_bytes;
    if (f->path_bytes > 0 && !append(f, ".", 1)) return 0;
    return append(f, (const char *)key, n);
}

static int on_end(void *context) {
    flat *f = context;
    f->depth--;
    f->path_bytes = f->levels[f->depth].path_bytes;
    f->path[f->path_bytes] = 0;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end,
};

cuzk_status json_flat_parse(const char *text, size_t bytes, size_t max_bytes, json_scalar_fn fn,
                            void *context, cuzk_error *err) {
    flat f = {.fn = fn, .context = context, .err = err, .status = CUZK_OK};
    json_stream s;
    if (bytes > max_bytes)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%zu bytes: more than %zu are refused", bytes,
                         max_bytes);
    CUZK_TRY(json_stream_open(&s, &callbacks, &f, &f.status, err));
    cuzk_status st = json_stream_feed(&s, (const uint8_t *)text, bytes);
    if (st == CUZK_OK) st = json_stream_finish(&s);
    json_stream_close(&s);
    return st;
}

bool json_path_is(const char *path, const char *pattern, size_t *index) {
    bool first = true;
    while (*pattern != 0) {
        if (*pattern != *path) return false;
        if (pattern[0] != '[' || pattern[1] != ']') {
            pattern++;
            path++;
            continue;
        }
        size_t v = 0;
        for (path++; *path >= '0' && *path <= '9'; path++)
            v = v * 10 + (size_t)(*path - '0');
        if (*path++ != ']') return false;
        if (first && index != NULL) *index = v;
        first = false;
        pattern += 2;
    }
    return *path == 0;
}

static cuzk_status once(const json_scalar *s, bool *seen, cuzk_error *err) {
    if (*seen) return cuzk_fail(err, CUZK_ERR_FORMAT, "%.100s: duplicate key", s->path);
    *seen = true;
    return CUZK_OK;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

cuzk_status json_take_hex32(const json_scalar *s, uint8_t out[32], bool *seen, cuzk_error *err) {
    CUZK_TRY(once(s, seen, err));
    if (s->kind != JSON_TEXT || s->n != 64)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%.100s: 64 hex digits expected", s->path);
    for (size_t i = 0; i < 32; i++) {
        const int high = hex_digit(s->text[2 * i]), low = hex_digit(s->text[2 * i + 1]);
        if (high < 0 || low < 0)
            return cuzk_fail(err, CUZK_ERR_FORMAT, "%.100s: bad hex digit at %zu", s->path, 2 * i);
        out[i] = (uint8_t)(high << 4 | low);
    }
    return CUZK_OK;
}

cuzk_status json_take_u64(const json_scalar *s, uint64_t *out, bool *seen, cuzk_error *err) {
    CUZK_TRY(once(s, seen, err));
    uint64_t v = 0;
    bool good = s->kind == JSON_INTEGER && s->n > 0;
    for (size_t i = 0; i < s->n && good; i++) {
        const unsigned digit = (unsigned)(s->text[i] - '0');
        good = digit <= 9 && !__builtin_mul_overflow(v, 10, &v) &&
               !__builtin_add_overflow(v, digit, &v);
    }
    if (!good)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%.100s: an unsigned integer of 64 bits is expected",
                         s->path);
    *out = v;
    return CUZK_OK;
}
