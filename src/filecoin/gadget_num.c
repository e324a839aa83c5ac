#include "filecoin/gadget_num.h"

#include "filecoin/gadget_rows.h"

gadget_num num_alloc(cs *c, const fr_t *value) {
    gadget_num n = {.value = value != NULL ? *value : fr_zero()};
    n.var = cs_alloc(c, &n.value);
    return n;
}

gadget_num num_alloc_bytes(cs *c, const uint8_t *bytes) {
    fr_t value = fr_zero();
    if (bytes != NULL && fr_from_bytes(&value, bytes) != CUZK_OK)
        cs_fail(c, CUZK_ERR_NOT_CANONICAL, "a hash value of the vanilla proof is not below r");
    return num_alloc(c, &value);
}

void num_inputize(cs *c, const gadget_num *n) {
    const cs_var in = cs_alloc_input(c, &n->value);
    if (!cs_recording(c)) return;
    gadget_row row = row_begin(c);
    lc_add_one(c, row.a, in);
    row_end_equals(c, &row, n->var);
}

void num_enforce_equal(cs *c, const gadget_num *a, const gadget_num *b) {
    if (!cs_recording(c)) return;
    gadget_row row = row_begin(c);
    lc_add_one(c, row.a, a->var);
    row_end_equals(c, &row, b->var);
}

gadget_num num_add(cs *c, const gadget_num *a, const gadget_num *b) {
    fr_t value;
    fr_add(&value, &a->value, &b->value);
    const gadget_num sum = num_alloc(c, &value);
    if (cs_recording(c)) {
        gadget_row row = row_begin(c);
        lc_add_one(c, row.a, a->var);
        lc_add_one(c, row.a, b->var);
        row_end_equals(c, &row, sum.var);
    }
    return sum;
}

gadget_num num_mul(cs *c, const gadget_num *a, const gadget_num *b) {
    fr_t value;
    fr_mul(&value, &a->value, &b->value);
    const gadget_num product = num_alloc(c, &value);
    if (cs_recording(c)) {
        gadget_row row = row_begin(c);
        lc_add_one(c, row.a, a->var);
        lc_add_one(c, row.b, b->var);
        lc_add_one(c, row.c, product.var);
        row_end(c, &row);
    }
    return product;
}

/* ---- bits ---- */

/* lc += the first n bits of the words, weighted by powers of two. */
static void lc_add_words(cs *c, cs_lc *lc, const gadget_word words[8], unsigned n) {
    fr_t power = fr_one();
    for (unsigned i = 0; i < n; i++) {
        lc_add_bit(c, lc, word_bit(c, &words[i / 32], i % 32), &power);
        fr_double(&power, &power);
    }
}

void num_to_words(cs *c, const gadget_num *n, num_bits_form form, gadget_word out[8]) {
    uint64_t limbs[FR_LIMBS];
    fr_to_limbs(limbs, &n->value);
    for (unsigned i = 0; i < 8; i++)
        word_alloc(c, &out[i], (uint32_t)(limbs[i / 2] >> (32 * (i % 2))), i < 7 ? 32 : 31);
    if (!cs_recording(c)) return;
    gadget_row row = row_begin(c);
    if (form == NUM_BITS_DIFFERENCE) {
        lc_add_words(c, row.c, out, 255);
        lc_subtract_one(c, row.c, n->var);
        row_end(c, &row);
    } else {
        lc_add_words(c, row.a, out, 255);
        row_end_equals(c, &row, n->var);
    }
}

gadget_num words_pack(cs *c, const gadget_word words[8]) {
    uint64_t limbs[FR_LIMBS];
    for (unsigned i = 0; i < FR_LIMBS; i++)
        limbs[i] = words[2 * i].value | (uint64_t)words[2 * i + 1].value << 32;
    limbs[FR_LIMBS - 1] &= UINT64_MAX >> (64 * FR_LIMBS - NUM_CAPACITY);
    fr_t value;
    fr_from_limbs(&value, limbs);
    const gadget_num packed = num_alloc(c, &value);
    if (cs_recording(c)) {
        gadget_row row = row_begin(c);
        lc_add_words(c, row.a, words, NUM_CAPACITY);
        row_end_equals(c, &row, packed.var);
    }
    return packed;
}

/* n <= NUM_CAPACITY */
static fr_t bits_value(const gadget_bit *bits, size_t n) {
    uint64_t limbs[FR_LIMBS] = {0};
    for (size_t i = 0; i < n; i++)
        limbs[i / 64] |= (uint64_t)bits[i].value << (i % 64);
    fr_t value;
    fr_from_limbs(&value, limbs);
    return value;
}

static void enforce_packed(cs *c, const gadget_bit *bits, size_t n, cs_var packed) {
    if (!cs_recording(c)) return;
    const fr_t one = fr_one();
    gadget_row row = row_begin(c);
    lc_add_bits(c, row.a, bits, n, &one);
    row_end_equals(c, &row, packed);
}

gadget_num bits_pack(cs *c, const gadget_bit *bits, size_t n) {
    const fr_t value = bits_value(bits, n);
    const gadget_num packed = num_alloc(c, &value);
    enforce_packed(c, bits, n, packed.var);
    return packed;
}

void bits_pack_into_inputs(cs *c, const gadget_bit *bits, size_t n) {
    while (n > 0) {
        const size_t chunk = n < NUM_CAPACITY ? n : NUM_CAPACITY;
        const fr_t value = bits_value(bits, chunk);
        enforce_packed(c, bits, chunk, cs_alloc_input(c, &value));
        bits += chunk;
        n -= chunk;
    }
}

/* ---- selection ---- */

gadget_num num_pick(cs *c, gadget_bit cond, const gadget_num *a, const gadget_num *b) {
    const gadget_num picked = num_alloc(c, cond.value ? &a->value : &b->value);
    if (cs_recording(c)) {
        const fr_t one = fr_one();
        gadget_row row = row_begin(c);
        lc_add_one(c, row.a, b->var);
        lc_subtract_one(c, row.a, a->var);
        lc_add_bit(c, row.b, cond, &one);
        lc_add_one(c, row.c, b->var);
        lc_subtract_one(c, row.c, picked.var);
        row_end(c, &row);
    }
    return picked;
}

static void insert2(cs *c, const gadget_num *e, const gadget_bit *bits, const gadget_num *s,
                    gadget_num *out) {
    out[0] = num_pick(c, bits[0], s, e);
    out[1] = num_pick(c, bits[0], e, s);
}

static void insert4(cs *c, const gadget_num *a, const gadget_bit *bits, const gadget_num *siblings,
                    gadget_num *out) {
    const gadget_num *b = &siblings[0], *k = &siblings[1], *d = &siblings[2];
    gadget_num x = num_pick(c, bits[0], b, a);
    out[0] = num_pick(c, bits[1], b, &x);
    x = num_pick(c, bits[0], a, b);
    out[1] = num_pick(c, bits[1], k, &x);
    x = num_pick(c, bits[0], d, a);
    out[2] = num_pick(c, bits[1], &x, k);
    x = num_pick(c, bits[0], a, d);
    out[3] = num_pick(c, bits[1], &x, d);
}

static void insert8(cs *c, const gadget_num *a, const gadget_bit *bits, const gadget_num *siblings,
                    gadget_num *out) {
    const gadget_bit b0 = bits[0], b1 = bits[1], b2 = bits[2];
    const gadget_bit nor = bit_and(c, bit_not(b0), bit_not(b1));
    const gadget_bit both = bit_and(c, b0, b1);
    const gadget_num *b = &siblings[0], *k = &siblings[1], *d = &siblings[2], *e = &siblings[3],
                     *f = &siblings[4], *g = &siblings[5], *h = &siblings[6];
    gadget_num x, y;

    x = num_pick(c, nor, a, b);
    out[0] = num_pick(c, b2, b, &x);

    x = num_pick(c, b0, a, b);
    y = num_pick(c, b1, k, &x);
    out[1] = num_pick(c, b2, k, &y);

    x = num_pick(c, b0, d, a);
    y = num_pick(c, b1, &x, k);
    out[2] = num_pick(c, b2, d, &y);

    x = num_pick(c, both, a, d);
    out[3] = num_pick(c, b2, e, &x);

    x = num_pick(c, nor, a, f);
    out[4] = num_pick(c, b2, &x, e);

    x = num_pick(c, b0, a, f);
    y = num_pick(c, b1, g, &x);
    out[5] = num_pick(c, b2, &y, f);

    x = num_pick(c, b0, h, a);
    y = num_pick(c, b1, &x, g);
    out[6] = num_pick(c, b2, &y, g);

    x = num_pick(c, both, a, h);
    out[7] = num_pick(c, b2, &x, h);
}

void num_insert(cs *c, unsigned arity, const gadget_num *e, const gadget_bit *bits,
                const gadget_num *siblings, gadget_num *out) {
    if (arity == 2)
        insert2(c, e, bits, siblings, out);
    else if (arity == 4)
        insert4(c, e, bits, siblings, out);
    else
        insert8(c, e, bits, siblings, out);
}

gadget_num num_select(cs *c, gadget_num *values, const gadget_bit *bits, unsigned n_bits) {
    while (n_bits-- > 0) {
        const size_t half = (size_t)1 << n_bits;
        for (size_t j = 0; j < half; j++)
            values[j] = num_pick(c, bits[n_bits], &values[half + j], &values[j]);
    }
    return values[0];
}
