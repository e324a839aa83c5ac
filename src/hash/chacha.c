#include "hash/chacha.h"

#include <stddef.h>
#include <string.h>

#include "base/bytes.h"

static uint32_t rotl(uint32_t x, unsigned n) {
    return x << n | x >> (32 - n);
}

static inline void quarter_round(uint32_t x[16], size_t a, size_t b, size_t c, size_t d) {
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 16);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 12);
    x[a] += x[b];
    x[d] = rotl(x[d] ^ x[a], 8);
    x[c] += x[d];
    x[b] = rotl(x[b] ^ x[c], 7);
}

void chacha_block(uint8_t out[64], const uint8_t key[32], const uint32_t tail[4], int rounds) {
    /* "expand 32-byte k" */
    uint32_t in[16] = {0x61707865, 0x3320646e, 0x79622d32, 0x6b206574}, x[16];
    for (size_t i = 0; i < 8; i++)
        in[4 + i] = load_le32(key + 4 * i);
    memcpy(in + 12, tail, 4 * sizeof *tail);
    memcpy(x, in, sizeof x);
    for (int round = 0; round < rounds; round += 2) {
        for (size_t i = 0; i < 4; i++)
            quarter_round(x, i, 4 + i, 8 + i, 12 + i);
        for (size_t i = 0; i < 4; i++)
            quarter_round(x, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4);
    }
    for (size_t i = 0; i < 16; i++)
        store_le32(out + 4 * i, x[i] + in[i]);
}
