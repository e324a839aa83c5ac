#include "server/wire.h"

/* Bits above the 64th are dropped, as every implementation does. */
static bool take_varint(wire_reader *r, uint64_t *out) {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (r->at == r->end) return false;
        const uint8_t b = *r->at++;
        v |= (uint64_t)(b & 0x7f) << shift;
        if (b < 0x80) {
            *out = v;
            return true;
        }
    }
    return false;
}

static bool skip(wire_reader *r, size_t bytes) {
    if ((size_t)(r->end - r->at) < bytes) return false;
    r->at += bytes;
    return true;
}

wire_step wire_next(wire_reader *r, wire_field *out) {
    uint64_t tag, n;
    *out = (wire_field){0};
    if (r->at == r->end) return WIRE_END;
    if (!take_varint(r, &tag) || tag >> 3 == 0 || tag >> 3 > 0x1fffffff) return WIRE_MALFORMED;
    out->number = (uint32_t)(tag >> 3);
    out->type = (wire_type)(tag & 7);
    switch (tag & 7) {
    case WIRE_VARINT:
        return take_varint(r, &out->value) ? WIRE_FIELD : WIRE_MALFORMED;
    case WIRE_BYTES:
        if (!take_varint(r, &n) || n > (uint64_t)(r->end - r->at)) return WIRE_MALFORMED;
        out->data = r->at;
        out->bytes = (size_t)n;
        r->at += out->bytes;
        return WIRE_FIELD;
    case WIRE_FIXED64:
        return skip(r, 8) ? WIRE_FIELD : WIRE_MALFORMED;
    case WIRE_FIXED32:
        return skip(r, 4) ? WIRE_FIELD : WIRE_MALFORMED;
    default:
        return WIRE_MALFORMED;
    }
}

bool wire_is_utf8(const uint8_t *s, size_t n) {
    for (size_t i = 0; i < n;) {
        const uint8_t b = s[i];
        const size_t more = b < 0x80 ? 0 : (b & 0xe0) == 0xc0 ? 1 : (b & 0xf0) == 0xe0 ? 2 : 3;
        if (more == 3 && (b & 0xf8) != 0xf0) return false;
        if (n - i <= more) return false;
        uint32_t c = more == 0 ? b : b & (0x3fu >> more);
        for (size_t k = 1; k <= more; k++) {
            if ((s[i + k] & 0xc0) != 0x80) return false;
            c = c << 6 | (s[i + k] & 0x3f);
        }
        static const uint32_t least[4] = {0, 0x80, 0x800, 0x10000};
        if (c < least[more] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff)) return false;
        i += more + 1;
    }
    return true;
}
