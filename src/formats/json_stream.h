/* The one place that drives yajl: events from a text that comes in pieces. */
#ifndef CUZK_FORMATS_JSON_STREAM_H
#define CUZK_FORMATS_JSON_STREAM_H

#include <stddef.h>
#include <stdint.h>
#include <yajl/yajl_parse.h>

#include "base/status.h"

typedef struct json_stream {
    yajl_handle handle;
    /* A callback that stops the parse (returns 0) leaves its status here. */
    const cuzk_status *stopped;
    uint64_t fed; /* bytes of earlier pieces */
    cuzk_error *err;
} json_stream;

/* context: of the callbacks. *stopped must outlive the stream. */
cuzk_status json_stream_open(json_stream *s, const yajl_callbacks *callbacks, void *context,
                             const cuzk_status *stopped, cuzk_error *err);
/* Malformed JSON is CUZK_ERR_FORMAT with its offset; a stop by a callback is its own status. */
cuzk_status json_stream_feed(json_stream *s, const uint8_t *data, size_t bytes);
/* The end of the text: an incomplete value is an error. */
cuzk_status json_stream_finish(json_stream *s);
void json_stream_close(json_stream *s);

#endif
