#include "filecoin/gadget_bits.h"

#include <string.h>

#include "filecoin/gadget_rows.h"

#define ALL_BITS UINT32_MAX

/* ---- plumbing ---- */

void word_constant(gadget_word *out, uint32_t value) {
    out->value = value;
    out->constant = ALL_BITS;
    out->negated = 0;
}

void word_copy(const cs *c, gadget_word *out, const gadget_word *a) {
    out->value = a->value;
    out->constant = a->constant;
    out->negated = a->negated;
    if (cs_recording(c)) memcpy(out->var, a->var, sizeof out->var);
}

gadget_bit word_bit(const cs *c, const gadget_word *a, unsigned i) {
    const bool constant = a->constant >> i & 1;
    return (gadget_bit){.var = !constant && cs_recording(c) ? a->var[i] : CS_ONE,
                        .constant = constant,
                        .negated = a->negated >> i & 1,
                        .value = a->value >> i & 1};
}

void word_set_bit(const cs *c, gadget_word *a, unsigned i, gadget_bit bit) {
    const uint32_t mask = 1u << i;
    a->value = (a->value & ~mask) | (uint32_t)bit.value << i;
    a->constant = (a->constant & ~mask) | (uint32_t)bit.constant << i;
    a->negated = (a->negated & ~mask) | (uint32_t)bit.negated << i;
    if (cs_recording(c)) a->var[i] = bit.var;
}

static uint32_t rotr32(uint32_t x, unsigned n) {
    return x >> n | x << (32 - n);
}

void word_rotr(const cs *c, gadget_word *out, const gadget_word *a, unsigned n) {
    out->value = rotr32(a->value, n);
    out->constant = rotr32(a->constant, n);
    out->negated = rotr32(a->negated, n);
    if (cs_recording(c))
        for (unsigned i = 0; i < 32; i++)
            out->var[i] = a->var[(i + n) % 32];
}

void word_shr(const cs *c, gadget_word *out, const gadget_word *a, unsigned n) {
    out->value = a->value >> n;
    out->constant = a->constant >> n | ~(ALL_BITS >> n);
    out->negated = a->negated >> n;
    if (cs_recording(c))
        for (unsigned i = 0; i < 32; i++)
            out->var[i] = i + n < 32 ? a->var[i + n] : CS_ONE;
}

void word_bswap(const cs *c, gadget_word *out, const gadget_word *a) {
    out->value = __builtin_bswap32(a->value);
    out->constant = __builtin_bswap32(a->constant);
    out->negated = __builtin_bswap32(a->negated);
    if (cs_recording(c))
        for (unsigned i = 0; i < 32; i++)
            out->var[i] = a->var[8 * (3 - i / 8) + i % 8];
}

void word_alloc(cs *c, gadget_word *out, uint32_t value, unsigned n) {
    const uint32_t mask = n < 32 ? (1u << n) - 1 : ALL_BITS;
    out->value = value & mask;
    out->constant = ~mask;
    out->negated = 0;
    const cs_var first = cs_alloc_bits(c, out->value, n);
    if (!cs_recording(c)) return;
    for (unsigned i = 0; i < 32; i++)
        out->var[i] = i < n ? first + i : CS_ONE;
    for (unsigned i = 0; i < n; i++)
        row_boolean(c, first + i);
}

/* ---- xor, ch, maj: bit by bit, or whole words while witnessing ---- */

/* Bits of value where mask is set, moved together at the low end. */
static uint32_t extract_bits(uint32_t value, uint32_t mask) {
    uint32_t out = 0;
    for (unsigned n = 0; mask != 0; mask &= mask - 1, n++)
        out |= (value >> __builtin_ctz(mask) & 1) << n;
    return out;
}

void word_xor(cs *c, gadget_word *out, const gadget_word *a, const gadget_word *b) {
    if (cs_recording(c)) {
        word_constant(out, 0);
        for (unsigned i = 0; i < 32; i++)
            word_set_bit(c, out, i, bit_xor(c, word_bit(c, a, i), word_bit(c, b, i)));
        return;
    }
    /* One new variable where both are variables: the inner ones' xor. Elsewhere the other operand,
     * negated by a constant one. */
    const uint32_t both = ~(a->constant | b->constant);
    const uint32_t value = a->value ^ b->value;
    const uint32_t inner = value ^ a->negated ^ b->negated;
    const uint32_t negated =
        a->negated ^ b->negated ^ (a->value & a->constant) ^ (b->value & b->constant);
    if (both == ALL_BITS)
        cs_alloc_bits(c, inner, 32);
    else if (both != 0 && (both & (both + 1)) == 0)
        cs_alloc_bits(c, inner & both, (unsigned)__builtin_popcount(both));
    else if (both != 0)
        cs_alloc_bits(c, extract_bits(inner, both), (unsigned)__builtin_popcount(both));
    out->value = value;
    out->constant = a->constant & b->constant;
    out->negated = negated & ~out->constant;
}

typedef gadget_bit (*bit_op3)(cs *c, gadget_bit a, gadget_bit b, gadget_bit k);

static void word_op3(cs *c, gadget_word *out, const gadget_word *a, const gadget_word *b,
                     const gadget_word *k, bit_op3 op) {
    word_constant(out, 0);
    for (unsigned i = 0; i < 32; i++)
        word_set_bit(c, out, i, op(c, word_bit(c, a, i), word_bit(c, b, i), word_bit(c, k, i)));
}

/* Are all 96 operand bits variables, and only values wanted? */
static bool whole_words(const cs *c, const gadget_word *a, const gadget_word *b,
                        const gadget_word *k) {
    return !cs_recording(c) && (a->constant | b->constant | k->constant) == 0;
}

static void word_of_variables(gadget_word *out, uint32_t value) {
    out->value = value;
    out->constant = 0;
    out->negated = 0;
}

void word_ch(cs *c, gadget_word *out, const gadget_word *a, const gadget_word *b,
             const gadget_word *k) {
    if (!whole_words(c, a, b, k)) {
        word_op3(c, out, a, b, k, bit_ch);
        return;
    }
    const uint32_t value = (a->value & b->value) | (~a->value & k->value);
    cs_alloc_bits(c, value, 32);
    word_of_variables(out, value);
}

/* Bit i of x becomes bit 2 i. */
static uint64_t spread_bits(uint32_t x) {
    uint64_t v = x;
    v = (v | v << 16) & 0x0000ffff0000ffffULL;
    v = (v | v << 8) & 0x00ff00ff00ff00ffULL;
    v = (v | v << 4) & 0x0f0f0f0f0f0f0f0fULL;
    v = (v | v << 2) & 0x3333333333333333ULL;
    return (v | v << 1) & 0x5555555555555555ULL;
}

void word_maj(cs *c, gadget_word *out, const gadget_word *a, const gadget_word *b,
              const gadget_word *k) {
    if (!whole_words(c, a, b, k)) {
        word_op3(c, out, a, b, k, bit_maj);
        return;
    }
    const uint32_t both = b->value & k->value;
    const uint32_t value = both | (a->value & (b->value | k->value));
    cs_alloc_bits(c, spread_bits(value) | spread_bits(both) << 1, 64);
    word_of_variables(out, value);
}

/* ---- sums ---- */

#define MULTIEQ_CAPACITY 254

void multieq_begin(cs *c, gadget_multieq *m) {
    m->used = 0;
    m->scale = fr_one();
    if (!cs_recording(c)) return;
    m->lhs = cs_scratch(c, 3);
    m->rhs = cs_scratch(c, 4);
}

/* lhs * ONE = rhs */
static void multieq_flush(cs *c, gadget_multieq *m) {
    cs_lc *one = cs_scratch(c, 0);
    lc_add_one(c, one, CS_ONE);
    cs_enforce(c, m->lhs, one, m->rhs);
    multieq_begin(c, m);
}

void multieq_end(cs *c, gadget_multieq *m) {
    if (cs_recording(c) && m->used > 0) multieq_flush(c, m);
}

static void lc_add_word(cs *c, cs_lc *lc, const gadget_word *a, const fr_t *coef) {
    gadget_bit bits[32];
    for (unsigned i = 0; i < 32; i++)
        bits[i] = word_bit(c, a, i);
    lc_add_bits(c, lc, bits, 32, coef);
}

static void record_sum(cs *c, gadget_multieq *m, const gadget_word *const *operands, unsigned n,
                       cs_var first, unsigned bits) {
    for (unsigned i = 0; i < bits; i++)
        row_boolean(c, first + i);
    if (m->used + bits >= MULTIEQ_CAPACITY) multieq_flush(c, m);
    for (unsigned i = 0; i < n; i++)
        lc_add_word(c, m->lhs, operands[i], &m->scale);
    for (unsigned i = 0; i < bits; i++) {
        cs_lc_add(c, m->rhs, first + i, &m->scale);
        fr_double(&m->scale, &m->scale);
    }
    m->used += bits;
}

void word_add_many(cs *c, gadget_multieq *m, gadget_word *out, const gadget_word *const *operands,
                   unsigned n) {
    uint64_t sum = 0;
    uint32_t constant = ALL_BITS;
    for (unsigned i = 0; i < n; i++) {
        sum += operands[i]->value;
        constant &= operands[i]->constant;
    }
    if (constant == ALL_BITS) {
        word_constant(out, (uint32_t)sum);
        return;
    }
    /* Bit length of the largest possible sum. */
    const unsigned bits = 64 - (unsigned)__builtin_clzll((uint64_t)n * UINT32_MAX);
    const cs_var first = cs_alloc_bits(c, sum, bits);
    word_of_variables(out, (uint32_t)sum);
    if (!cs_recording(c)) return;
    for (unsigned i = 0; i < 32; i++)
        out->var[i] = first + i;
    record_sum(c, m, operands, n, first, bits);
}
