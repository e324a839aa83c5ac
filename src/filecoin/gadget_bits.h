/* Bits and 32-bit words of a circuit (bellpepper gadgets/{boolean,uint32,multieq}.rs; REFERENCE
 * 8.1, 8.2).
 *
 * The bit operations define the gadgets. The word operations are 32 bit operations each, in order
 * from bit 0; while witnessing they work on whole words where no bit is constant, so that SHA-256
 * costs a few instructions a word. */
#ifndef CUZK_FILECOIN_GADGET_BITS_H
#define CUZK_FILECOIN_GADGET_BITS_H

#include "r1cs/cs.h"

/* A constant, a variable, or one minus a variable. */
typedef struct gadget_bit {
    cs_var var;             /* unless constant; only meaningful while recording */
    bool constant, negated; /* a constant is never negated */
    bool value;             /* of the bit, not of its variable; of variables only if witnessing */
} gadget_bit;

/* 32 bits, bit 0 the least significant; the masks say per bit what gadget_bit says. */
typedef struct gadget_word {
    uint32_t value, constant, negated;
    cs_var var[32]; /* filled while recording only, and only for variables */
} gadget_word;

/* --- bits --- */

static inline gadget_bit bit_constant(bool value) {
    return (gadget_bit){.var = CS_ONE, .constant = true, .value = value};
}
static inline gadget_bit bit_not(gadget_bit a) {
    a.value = !a.value;
    a.negated = !a.constant && !a.negated;
    return a;
}
/* A new variable with its boolean constraint. */
gadget_bit bit_alloc(cs *c, bool value);
/* n <= 64 of them; bit i of values is out[i]. */
void bits_alloc(cs *c, uint64_t values, unsigned n, gadget_bit *out);
gadget_bit bit_xor(cs *c, gadget_bit a, gadget_bit b);
gadget_bit bit_and(cs *c, gadget_bit a, gadget_bit b);
gadget_bit bit_ch(cs *c, gadget_bit a, gadget_bit b, gadget_bit k);  /* a ? b : k */
gadget_bit bit_maj(cs *c, gadget_bit a, gadget_bit b, gadget_bit k); /* majority */
/* lc += coef * bit. Recording only. */
void lc_add_bit(cs *c, cs_lc *lc, gadget_bit bit, const fr_t *coef);
/* lc += sum 2^i bits[i] * coef. Recording only. */
void lc_add_bits(cs *c, cs_lc *lc, const gadget_bit *bits, size_t n, const fr_t *coef);

/* --- words; outputs may not alias inputs unless said --- */

void word_constant(gadget_word *out, uint32_t value);
/* n <= 32 new variables with their boolean constraints as the low bits, constant false above. */
void word_alloc(cs *c, gadget_word *out, uint32_t value, unsigned n);
void word_copy(const cs *c, gadget_word *out, const gadget_word *a);
gadget_bit word_bit(const cs *c, const gadget_word *a, unsigned i);
void word_set_bit(const cs *c, gadget_word *a, unsigned i, gadget_bit bit);
void word_rotr(const cs *c, gadget_word *out, const gadget_word *a, unsigned n); /* 0 < n < 32 */
void word_shr(const cs *c, gadget_word *out, const gadget_word *a, unsigned n);
/* Reverse the order of the four bytes. */
void word_bswap(const cs *c, gadget_word *out, const gadget_word *a);
void word_xor(cs *c, gadget_word *out, const gadget_word *a, const gadget_word *b);
void word_ch(cs *c, gadget_word *out, const gadget_word *a, const gadget_word *b,
             const gadget_word *k);
void word_maj(cs *c, gadget_word *out, const gadget_word *a, const gadget_word *b,
              const gadget_word *k);

/* Packs equations between sums of bits into rows of at most 253 bits (MultiEq). It holds the
 * scratch LCs 3 and 4 from begin to end; only one lives at a time. */
typedef struct gadget_multieq {
    cs_lc *lhs, *rhs;
    fr_t scale; /* 2^used */
    unsigned used;
} gadget_multieq;
void multieq_begin(cs *c, gadget_multieq *m);
void multieq_end(cs *c, gadget_multieq *m);

/* out = the low 32 bits of the sum of 2 <= n <= 10 operands. */
#define WORD_MAX_OPERANDS 10
void word_add_many(cs *c, gadget_multieq *m, gadget_word *out, const gadget_word *const *operands,
                   unsigned n);

#endif
