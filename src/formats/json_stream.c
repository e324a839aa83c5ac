#include "formats/json_stream.h"

#include <string.h>

cuzk_status json_stream_open(json_stream *s, const yajl_callbacks *callbacks, void *context,
                             const cuzk_status *stopped, cuzk_error *err) {
    *s = (json_stream){.stopped = stopped, .err = err};
    s->handle = yajl_alloc(callbacks, NULL, context);
    if (s->handle == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "JSON parser: out of memory");
    return CUZK_OK;
}

/* yajl's one-line text without its line end. */
static cuzk_status malformed(json_stream *s, const uint8_t *data, size_t bytes) {
    unsigned char *text = yajl_get_error(s->handle, 0, data, bytes);
    const size_t n = text == NULL ? 0 : strcspn((const char *)text, "\n");
    const cuzk_status st =
        cuzk_fail(s->err, CUZK_ERR_FORMAT, "JSON, byte %llu: %.*s",
                  (unsigned long long)(s->fed + yajl_get_bytes_consumed(s->handle)), (int)n,
                  text == NULL ? "" : (const char *)text);
    if (text != NULL) yajl_free_error(s->handle, text);
    return st;
}

cuzk_status json_stream_feed(json_stream *s, const uint8_t *data, size_t bytes) {
    const yajl_status st = yajl_parse(s->handle, data, bytes);
    if (st == yajl_status_client_canceled) return *s->stopped;
    if (st != yajl_status_ok) return malformed(s, data, bytes);
    s->fed += bytes;
    return CUZK_OK;
}

cuzk_status json_stream_finish(json_stream *s) {
    const yajl_status st = yajl_complete_parse(s->handle);
    if (st == yajl_status_client_canceled) return *s->stopped;
    if (st != yajl_status_ok)
        return cuzk_fail(s->err, CUZK_ERR_FORMAT, "JSON ends too early, at byte %llu",
                         (unsigned long long)s->fed);
    return CUZK_OK;
}

void json_stream_close(json_stream *s) {
    if (s->handle != NULL) yajl_free(s->handle);
    s->handle = NULL;
}
