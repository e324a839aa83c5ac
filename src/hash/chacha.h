/* ChaCha keystream blocks (RFC 8439 quarter rounds) with 8 or 20 rounds. */
#ifndef CUZK_HASH_CHACHA_H
#define CUZK_HASH_CHACHA_H
#include <stdint.h>
/* One 64-byte block: 32-byte key, words 12..15 given (counter and nonce as the variant lays out).
 */
void chacha_block(uint8_t out[64], const uint8_t key[32], const uint32_t tail[4], int rounds);
#endif
