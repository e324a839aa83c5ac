/* The wire format of protocol buffers, as far as a large message needs it: its fields one by one,
 * as views of the bytes. Submissions are up to 256 MiB; unpacking them into structs would copy
 * them. Source: protobuf.dev, Encoding. */
#ifndef CUZK_SERVER_WIRE_H
#define CUZK_SERVER_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct wire_reader {
    const uint8_t *at, *end;
} wire_reader;

typedef enum wire_type {
    WIRE_VARINT = 0,
    WIRE_FIXED64 = 1,
    WIRE_BYTES = 2,
    WIRE_FIXED32 = 5
} wire_type;

typedef struct wire_field {
    uint32_t number;
    wire_type type;
    uint64_t value;      /* varints */
    const uint8_t *data; /* WIRE_BYTES */
    size_t bytes;
} wire_field;

typedef enum wire_step { WIRE_FIELD, WIRE_END, WIRE_MALFORMED } wire_step;

/* The next field. Groups (deprecated, in no message of ours) count as malformed. */
wire_step wire_next(wire_reader *r, wire_field *out);

bool wire_is_utf8(const uint8_t *text, size_t bytes);

#endif
