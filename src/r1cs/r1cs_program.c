/* Run a group of compiled rows: see r1cs_program.h for the code. */
#include "r1cs/r1cs_program.h"

/* --- bits and values --- */

/* n <= 64 bits from position at on; bits above n are whatever follows. */
static inline uint64_t load_bits(const uint64_t *bits, uint64_t at, uint32_t n) {
    const unsigned shift = at & 63;
    const uint64_t *word = bits + (at >> 6);
    uint64_t x = word[0] >> shift;
    if (shift + n > 64) x |= word[1] << (64 - shift);
    return x;
}

static inline uint64_t reverse_bits(uint64_t x) {
    x = (x >> 1 & 0x5555555555555555ULL) | (x & 0x5555555555555555ULL) << 1;
    x = (x >> 2 & 0x3333333333333333ULL) | (x & 0x3333333333333333ULL) << 2;
    x = (x >> 4 & 0x0f0f0f0f0f0f0f0fULL) | (x & 0x0f0f0f0f0f0f0f0fULL) << 4;
    return __builtin_bswap64(x);
}

/* Bits 0, 2, 4, ... of x together. */
static inline uint64_t even_bits(uint64_t x) {
    x &= 0x5555555555555555ULL;
    x = (x | x >> 1) & 0x3333333333333333ULL;
    x = (x | x >> 2) & 0x0f0f0f0f0f0f0f0fULL;
    x = (x | x >> 4) & 0x00ff00ff00ff00ffULL;
    x = (x | x >> 8) & 0x0000ffff0000ffffULL;
    return (x | x >> 16) & 0x00000000ffffffffULL;
}

static inline uint64_t bit_at(const r1cs_frame *f, uint32_t col) {
    const uint64_t index = col & R1CS_COL_INDEX_MASK;
    const uint32_t tag = col >> R1CS_COL_TAG_SHIFT;
    if (tag == R1CS_AUX_LOCAL) return f->aux_base + index;
    return tag == R1CS_AUX_IMPORT ? f->imports[index] : index;
}

/* Bit i of the result, i < n, is variable col + i * stride; bits above n are undefined. */
static inline uint64_t load_word(const r1cs_frame *f, uint32_t col, r1cs_stride stride,
                                 uint32_t n) {
    const uint64_t at = bit_at(f, col);
    if (stride == R1CS_STRIDE_1) return load_bits(f->bits, at, n);
    if (stride == R1CS_STRIDE_2) return even_bits(load_bits(f->bits, at, 2 * n - 1));
    if (stride == R1CS_STRIDE_MINUS_1)
        return reverse_bits(load_bits(f->bits, at - (n - 1), n)) >> (64 - n);
    return (uint64_t)0 - (uint64_t)bit_get(f->bits, at);
}

static inline const fr_t *load_value(const r1cs_frame *f, uint32_t value) {
    const uint32_t index = value & R1CS_COL_INDEX_MASK;
    switch ((r1cs_col_tag)(value >> R1CS_COL_TAG_SHIFT)) {
    case R1CS_AUX_LOCAL:
        return &f->local_fields[index];
    case R1CS_AUX_GLOBAL:
        return &f->fields[index];
    case R1CS_INPUT_LOCAL:
        return &f->local_inputs[index];
    default:
        return &f->inputs[index];
    }
}

/* --- sums that are reduced once --- */

typedef unsigned __int128 u128;

/* A row's value before reduction: plain + products / R, R = 2^256. A term adds less than 2^320 to
 * plain and less than 2^512 to products, so neither overflows within 2^32 terms. */
typedef struct row_sum {
    uint64_t plain[6], products[10];
    uint64_t carries[4]; /* carry i is worth 2^(64 (5 + i)) in products, where it is still to go */
} row_sum;

static inline void add_carry(uint64_t *limbs, uint64_t carry) {
    for (; carry != 0; limbs++) {
        *limbs += carry;
        carry = *limbs < carry;
    }
}

static inline void add_plain(row_sum *s, const fr_t *x) {
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) {
        const u128 t = (u128)s->plain[i] + x->l[i] + carry;
        s->plain[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    add_carry(s->plain + 4, carry);
}

/* plain += x * factor */
static inline void add_scaled(row_sum *s, const fr_t *x, uint64_t factor) {
    uint64_t carry = 0;
    for (int i = 0; i < 4; i++) {
        const u128 t = (u128)x->l[i] * factor + s->plain[i] + carry;
        s->plain[i] = (uint64_t)t;
        carry = (uint64_t)(t >> 64);
    }
    const uint64_t top = s->plain[4] + carry;
    s->plain[5] += top < carry;
    s->plain[4] = top;
}

static inline void add_product(row_sum *s, const fr_t *x, const fr_t *y) {
    for (int i = 0; i < 4; i++) {
        uint64_t carry = 0;
        for (int j = 0; j < 4; j++) {
            const u128 t = (u128)x->l[j] * y->l[i] + s->products[i + j] + carry;
            s->products[i + j] = (uint64_t)t;
            carry = (uint64_t)(t >> 64);
        }
        s->products[i + 4] += carry;
        s->carries[i] += s->products[i + 4] < carry;
    }
}

/* t += 2^(64 at) * factor * (2^512 mod r) */
static void add_high(uint64_t t[10], unsigned at, uint64_t factor) {
    uint64_t carry = 0;
    for (unsigned i = 0; i < 4; i++) {
        const u128 s = (u128)cuzk_fr_prime.r2[i] * factor + t[at + i] + carry;
        t[at + i] = (uint64_t)s;
        carry = (uint64_t)(s >> 64);
    }
    add_carry(t + at + 4, carry);
}

/* z = t / R mod r for t < 2^512 (Montgomery reduction); t is used up. */
static void redc(fr_t *z, uint64_t t[8]) {
    uint64_t above = 0; /* 2^512 times this belongs to t */
    for (int i = 0; i < 4; i++) {
        const uint64_t m = t[i] * cuzk_fr_prime.n0;
        uint64_t carry = 0;
        for (int j = 0; j < 4; j++) {
            const u128 s = (u128)m * cuzk_fr_prime.p[j] + t[i + j] + carry;
            t[i + j] = (uint64_t)s;
            carry = (uint64_t)(s >> 64);
        }
        const u128 s = (u128)t[i + 4] + carry + above;
        t[i + 4] = (uint64_t)s;
        above = (uint64_t)(s >> 64);
    }
    /* t / R + m r / R < 2^256 + r < 4 r */
    mont_reduce_once(z->l, t + 4, above, &cuzk_fr_prime, FR_LIMBS);
    mont_reduce_once(z->l, z->l, 0, &cuzk_fr_prime, FR_LIMBS);
    mont_reduce_once(z->l, z->l, 0, &cuzk_fr_prime, FR_LIMBS);
}

static void finish_sum(fr_t *z, row_sum *s) {
    uint64_t *t = s->products, carry = 0;
    for (int i = 0; i < 4; i++)
        add_carry(t + 5 + i, s->carries[i]);
    for (int i = 0; i < 6; i++) {
        const u128 sum = (u128)t[4 + i] + s->plain[i] + carry;
        t[4 + i] = (uint64_t)sum;
        carry = (uint64_t)(sum >> 64);
    }
    /* Limbs 9 and 8, taken mod r. Each fold leaves at most 1 there, the one after it nothing. */
    for (unsigned limb = 9; limb >= 8; limb--) {
        while (t[limb] != 0) {
            const uint64_t high = t[limb];
            t[limb] = 0;
            add_high(t, limb - 8, high);
        }
    }
    redc(z, t);
}

/* --- instructions: each returns the next one --- */

static const uint32_t *run_short(const uint32_t *code, const r1cs_program *p, const r1cs_frame *f,
                                 fr_t *z) {
    const uint32_t op = code[0];
    const uint32_t k = op >> 12 & 3, n = (op >> 14 & 63) + 1, step = (op >> 20 & 1) + 1;
    const fr_t *table = p->tables + code[1];
    uint64_t w[R1CS_SHORT_BITS] = {0};
    z += op >> 2 & (R1CS_GROUP_ROWS - 1);
    code += 2;
    for (uint32_t j = 0; j < k; j++)
        w[j] = load_word(f, code[j], (r1cs_stride)(op >> (21 + 2 * j) & 3), n);
    if (k == 1) {
        for (uint32_t i = 0; i < n; i++)
            z[i * step] = table[w[0] >> i & 1];
    } else {
        const uint32_t mask = (1u << k) - 1;
        for (uint32_t i = 0; i < n; i++) {
            const uint64_t bits = (w[0] >> i & 1) | (w[1] >> i & 1) << 1 | (w[2] >> i & 1) << 2;
            z[i * step] = table[bits & mask];
        }
    }
    return code + k;
}

/* The sums of packed words of a long row. */
static const uint32_t *run_sums(const uint32_t *code, uint32_t sums, const r1cs_frame *f,
                                row_sum *s) {
    for (uint32_t i = 0; i < sums; i++) {
        const fr_t *coef = &f->dict[code[0] & 0xffff];
        const uint32_t words = code[0] >> 16;
        uint64_t sum = 0;
        code++;
        for (uint32_t j = 0; j < words; j++, code += 2) {
            const uint32_t n = (code[0] >> 2 & 63) + 1;
            const uint64_t word = load_word(f, code[1], (r1cs_stride)(code[0] & 3), n);
            sum += (word & ~(uint64_t)0 >> (64 - n)) << (code[0] >> 8);
        }
        add_scaled(s, coef, sum);
    }
    return code;
}

static const uint32_t *run_long(const uint32_t *code, const r1cs_frame *f, fr_t *z) {
    const uint32_t constant = code[1], sums = code[2], bits = code[3], products = code[4];
    row_sum s = {0};
    z += code[0] >> 2 & (R1CS_GROUP_ROWS - 1);
    if (constant != 0) add_plain(&s, &f->dict[constant - 1]);
    code = run_sums(code + 5, sums, f, &s);
    for (uint32_t i = 0; i < bits; i++, code += 2) {
        if (bit_get(f->bits, bit_at(f, code[1]))) add_plain(&s, &f->dict[code[0]]);
    }
    for (uint32_t i = 0; i < products; i++, code += 2) {
        const fr_t *value = load_value(f, code[1]);
        if (code[0] == 0)
            add_plain(&s, value);
        else
            add_product(&s, value, &f->dict[code[0]]);
    }
    finish_sum(z, &s);
    return code;
}

void r1cs_program_run(const r1cs_program *p, uint64_t group, const r1cs_frame *frame, fr_t *z) {
    const uint32_t *code = p->code + p->group_start[group];
    const uint32_t *end = p->code + p->group_start[group + 1];
    while (code < end) {
        switch ((r1cs_opcode)(code[0] & 3)) {
        case R1CS_OP_SHORT:
            code = run_short(code, p, frame, z);
            break;
        case R1CS_OP_COPY:
            z[code[0] >> 2 & (R1CS_GROUP_ROWS - 1)] = *load_value(frame, code[1]);
            code += 2;
            break;
        default:
            code = run_long(code, frame, z);
        }
    }
}
