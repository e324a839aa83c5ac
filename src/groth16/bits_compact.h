/* Bitmaps compacted by a mask: what a density does to a witness. */
#ifndef CUZK_GROTH16_BITS_COMPACT_H
#define CUZK_GROTH16_BITS_COMPACT_H

#include <stddef.h>
#include <stdint.h>

/* out's bit k is the bit of `bits` at the k-th set bit of `mask`; both have `words` words. Returns
 * the number of set mask bits n; out has ceil(n / 64) words, zero beyond bit n. BMI2's pext where
 * the CPU has it. */
size_t bits_compact(uint64_t *out, const uint64_t *bits, const uint64_t *mask, size_t words);
/* The same without special instructions; defines the above. */
size_t bits_compact_plain(uint64_t *out, const uint64_t *bits, const uint64_t *mask, size_t words);

#endif
