/* Loads and stores of fixed endianness from unaligned bytes. */
#ifndef CUZK_BASE_BYTES_H
#define CUZK_BASE_BYTES_H

#include <stdint.h>
#include <string.h>

static inline uint32_t load_le32(const void *p) {
    uint32_t v;
    memcpy(&v, p, sizeof v);
    return v; /* every supported target (x86-64, aarch64) is little-endian */
}
static inline uint64_t load_le64(const void *p) {
    uint64_t v;
    memcpy(&v, p, sizeof v);
    return v;
}
static inline uint32_t load_be32(const void *p) {
    return __builtin_bswap32(load_le32(p));
}
static inline uint64_t load_be64(const void *p) {
    return __builtin_bswap64(load_le64(p));
}
static inline void store_le32(void *p, uint32_t v) {
    memcpy(p, &v, sizeof v);
}
static inline void store_le64(void *p, uint64_t v) {
    memcpy(p, &v, sizeof v);
}
static inline void store_be32(void *p, uint32_t v) {
    store_le32(p, __builtin_bswap32(v));
}
static inline void store_be64(void *p, uint64_t v) {
    store_le64(p, __builtin_bswap64(v));
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "cuzk supports little-endian targets only"
#endif
#endif
