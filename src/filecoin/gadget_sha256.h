/* SHA-256 in a circuit (bellpepper gadgets/sha256.rs; REFERENCE 8.3). */
#ifndef CUZK_FILECOIN_GADGET_SHA256_H
#define CUZK_FILECOIN_GADGET_SHA256_H

#include "filecoin/gadget_bits.h"

/* Hash of n big-endian words; the padding is added. Words may be repeated in the list. */
void gadget_sha256(cs *c, gadget_word out[8], const gadget_word *const *words, size_t n);

#endif
