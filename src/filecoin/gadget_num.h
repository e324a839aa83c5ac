/* Field elements of a circuit: allocation, decomposition into bits, packing, selection
 * (bellpepper-core gadgets/num.rs, bellpepper gadgets/multipack.rs, storage-proofs-core
 * gadgets/insertion.rs; REFERENCE 8.4-8.6). */
#ifndef CUZK_FILECOIN_GADGET_NUM_H
#define CUZK_FILECOIN_GADGET_NUM_H

#include "filecoin/gadget_bits.h"

typedef struct gadget_num {
    fr_t value; /* meaningful while witnessing */
    cs_var var;
} gadget_num;

/* No constraint. value may be NULL while recording. */
gadget_num num_alloc(cs *c, const fr_t *value);
/* From 32 little-endian bytes; NULL while recording. A value >= r is reported through cs_fail. */
gadget_num num_alloc_bytes(cs *c, const uint8_t *bytes);
/* A public input equal to n: in * ONE = n. */
void num_inputize(cs *c, const gadget_num *n);
void num_enforce_equal(cs *c, const gadget_num *a, const gadget_num *b); /* a * ONE = b */
gadget_num num_add(cs *c, const gadget_num *a, const gadget_num *b);     /* (a + b) * ONE = s */
gadget_num num_mul(cs *c, const gadget_num *a, const gadget_num *b);     /* a * b = p */

/* 255 boolean bits, least significant first, bit 255 constant false; the value written is the
 * canonical one. PoRep's form closes with 0 * 0 = sum - n, SnapDeals' with sum * ONE = n (trap
 * T13). */
typedef enum num_bits_form { NUM_BITS_DIFFERENCE, NUM_BITS_PACKED } num_bits_form;
void num_to_words(cs *c, const gadget_num *n, num_bits_form form, gadget_word out[8]);

#define NUM_CAPACITY 254 /* bits that always fit below r */
/* The first NUM_CAPACITY bits of eight words as a number: sum * ONE = x. */
gadget_num words_pack(cs *c, const gadget_word words[8]);
/* n <= NUM_CAPACITY bits as a number: sum * ONE = x. */
gadget_num bits_pack(cs *c, const gadget_bit *bits, size_t n);
/* One public input for every NUM_CAPACITY bits: sum * ONE = in. */
void bits_pack_into_inputs(cs *c, const gadget_bit *bits, size_t n);

/* cond ? a : b, by (b - a) cond = b - x */
gadget_num num_pick(cs *c, gadget_bit cond, const gadget_num *a, const gadget_num *b);
/* out[0..arity): e at position bits (log2 arity of them), the siblings ascending around it; arity
 * 2, 4 or 8. */
#define NUM_MAX_ARITY 8
void num_insert(cs *c, unsigned arity, const gadget_num *e, const gadget_bit *bits,
                const gadget_num *siblings, gadget_num *out);
/* values[bits], of 2^n_bits values, which are overwritten. */
gadget_num num_select(cs *c, gadget_num *values, const gadget_bit *bits, unsigned n_bits);

#endif
