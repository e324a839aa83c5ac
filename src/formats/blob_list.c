#include "formats/blob_list.h"

#include <string.h>

#include "base/file.h"
#include "formats/base64.h"
#include "formats/json_stream.h"

/* One block: pointers, sizes, then the bytes. */
static cuzk_status blob_list_new(const cuzk_host *host, size_t n, size_t total, blob_list *out,
                                 cuzk_error *err) {
    const size_t each = sizeof(uint8_t *) + sizeof(size_t);
    size_t bytes;
    void *memory;
    *out = (blob_list){0};
    if (!cuzk_mul_size(n, each, &bytes) || __builtin_add_overflow(bytes, total, &bytes))
        return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "%zu blobs of %zu bytes: too large", n, total);
    CUZK_TRY(cuzk_host_alloc(host, &memory, bytes + 1, 1, "vanilla proofs", err));
    *out = (blob_list){.n = n, .data = memory, .memory = memory, .memory_bytes = bytes + 1};
    out->bytes = (size_t *)(void *)(out->data + n);
    return CUZK_OK;
}

void blob_list_free(const cuzk_host *host, blob_list *list) {
    cuzk_host_free(host, list->memory, list->memory_bytes, 1);
    *list = (blob_list){0};
}

/* ---- reading JSON ---- */

/* Two passes over the same text: the first counts (to == NULL), the second fills. */
typedef struct reader {
    cuzk_error *err;
    cuzk_status status;
    unsigned depth;
    size_t n, total;
    blob_list *list;
    uint8_t *to;
} reader;

static int refuse(reader *r, const char *what) {
    r->status = cuzk_fail(r->err, CUZK_ERR_FORMAT,
                          "[%zu]: %s; an array of base64 strings is expected", r->n, what);
    return 0;
}

static int on_string(void *context, const unsigned char *text, size_t n) {
    reader *r = context;
    if (r->depth != 1) return refuse(r, "a string alone");
    if (r->to == NULL) {
        r->total += base64_decoded_max(n);
    } else {
        size_t bad_at;
        const size_t bytes = base64_decode((const char *)text, n, true, r->to, &bad_at);
        if (bytes == SIZE_MAX) {
            r->status = cuzk_fail(r->err, CUZK_ERR_FORMAT, "[%zu]: not base64 at character %zu",
                                  r->n, bad_at);
            return 0;
        }
        r->list->data[r->n] = r->to;
        r->list->bytes[r->n] = bytes;
        r->to += bytes;
    }
    r->n++;
    return 1;
}
static int on_number(void *context, const char *text, size_t n) {
    (void)text;
    (void)n;
    return refuse(context, "a number");
}
static int on_null(void *context) {
    return refuse(context, "null");
}
static int on_boolean(void *context, int value) {
    (void)value;
    return refuse(context, "a boolean");
}
static int on_start_map(void *context) {
    return refuse(context, "an object");
}
static int on_start_array(void *context) {
    reader *r = context;
    if (r->depth != 0) return refuse(r, "an array");
    r->depth = 1;
    return 1;
}
static int on_end_array(void *context) {
    reader *r = context;
    r->depth = 0;
    return 1;
}
static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end_array,
};

static cuzk_status parse(reader *r, const uint8_t *json, size_t bytes) {
    json_stream s;
    CUZK_TRY(json_stream_open(&s, &callbacks, r, &r->status, r->err));
    cuzk_status st = json_stream_feed(&s, json, bytes);
    if (st == CUZK_OK) st = json_stream_finish(&s);
    json_stream_close(&s);
    return st;
}

cuzk_status blob_list_read_json(const cuzk_host *host, const uint8_t *json, size_t bytes,
                                blob_list *out, cuzk_error *err) {
    reader count = {.err = err};
    *out = (blob_list){0};
    CUZK_TRY(parse(&count, json, bytes));
    CUZK_TRY(blob_list_new(host, count.n, count.total, out, err));
    reader fill = {.err = err, .list = out, .to = (uint8_t *)(out->bytes + out->n)};
    const cuzk_status st = parse(&fill, json, bytes);
    if (st != CUZK_OK) blob_list_free(host, out);
    return st;
}

/* ---- files ---- */

static bool is_json(const file_map *map) {
    size_t i = 0;
    while (i < map->bytes && strchr(" \t\r\n", map->data[i]) != NULL && map->data[i] != 0)
        i++;
    return i < map->bytes && map->data[i] == '[';
}

static cuzk_status read_raw(const cuzk_host *host, const char *const *paths, size_t n,
                            blob_list *out, cuzk_error *err) {
    size_t total = 0;
    for (size_t i = 0; i < n; i++) {
        file_map map;
        CUZK_TRY(file_map_open(paths[i], &map, err));
        total += map.bytes;
        file_map_close(&map);
    }
    CUZK_TRY(blob_list_new(host, n, total, out, err));
    uint8_t *to = (uint8_t *)(out->bytes + n);
    for (size_t i = 0; i < n; i++) {
        file_map map;
        cuzk_status st = file_map_open(paths[i], &map, err);
        if (st == CUZK_OK && map.bytes > total) {
            file_map_close(&map);
            st = cuzk_fail(err, CUZK_ERR_IO, "%s: grew while it was read", paths[i]);
        }
        if (st != CUZK_OK) {
            blob_list_free(host, out);
            return st;
        }
        if (map.bytes > 0) memcpy(to, map.data, map.bytes);
        out->data[i] = to;
        out->bytes[i] = map.bytes;
        to += map.bytes;
        total -= map.bytes;
        file_map_close(&map);
    }
    return CUZK_OK;
}

cuzk_status blob_list_read_files(const cuzk_host *host, const char *const *paths, size_t n,
                                 blob_list *out, cuzk_error *err) {
    *out = (blob_list){0};
    if (n == 1) {
        file_map map;
        CUZK_TRY(file_map_open(paths[0], &map, err));
        const bool json = is_json(&map);
        const cuzk_status st =
            json ? blob_list_read_json(host, map.data, map.bytes, out, err) : CUZK_OK;
        file_map_close(&map);
        if (json) return st == CUZK_OK ? CUZK_OK : cuzk_error_context(err, st, "%s", paths[0]);
    }
    return read_raw(host, paths, n, out, err);
}

/* ---- writing ---- */

static cuzk_status write_blob(file_writer *w, const uint8_t *data, size_t bytes, cuzk_error *err) {
    char text[4 * 4096];
    const size_t piece = sizeof text / 4 * 3;
    for (size_t at = 0; at < bytes; at += piece) {
        const size_t n = bytes - at < piece ? bytes - at : piece;
        base64_encode(data + at, n, text);
        CUZK_TRY(file_writer_write(w, text, base64_encoded_bytes(n), err));
    }
    return CUZK_OK;
}

cuzk_status blob_list_write_json_file(const uint8_t *const *data, const size_t *bytes, size_t n,
                                      const char *path, cuzk_error *err) {
    file_writer *w;
    CUZK_TRY(file_writer_open(path, &w, err));
    cuzk_status st = file_writer_write(w, "[", 1, err);
    for (size_t i = 0; i < n && st == CUZK_OK; i++) {
        st = file_writer_write(w, i > 0 ? ",\"" : "\"", i > 0 ? 2 : 1, err);
        if (st == CUZK_OK) st = write_blob(w, data[i], bytes[i], err);
        if (st == CUZK_OK) st = file_writer_write(w, "\"", 1, err);
    }
    if (st == CUZK_OK) st = file_writer_write(w, "]", 1, err);
    if (st != CUZK_OK) {
        file_writer_abort(w);
        return st;
    }
    return file_writer_commit(w, err);
}
