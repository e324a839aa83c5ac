/* Single bits: every case of bellpepper's Boolean, in its order. */
#include "filecoin/gadget_bits.h"

#include "filecoin/gadget_rows.h"

void lc_add_bit(cs *c, cs_lc *lc, gadget_bit bit, const fr_t *coef) {
    if (bit.constant) {
        if (bit.value) cs_lc_add(c, lc, CS_ONE, coef);
        return;
    }
    if (!bit.negated) {
        cs_lc_add(c, lc, bit.var, coef);
        return;
    }
    fr_t minus;
    fr_neg(&minus, coef);
    cs_lc_add(c, lc, CS_ONE, coef);
    cs_lc_add(c, lc, bit.var, &minus);
}

void lc_add_bits(cs *c, cs_lc *lc, const gadget_bit *bits, size_t n, const fr_t *coef) {
    fr_t power = *coef;
    for (size_t i = 0; i < n; i++) {
        lc_add_bit(c, lc, bits[i], &power);
        fr_double(&power, &power);
    }
}

static gadget_bit bit_of_var(cs_var var, bool value) {
    return (gadget_bit){.var = var, .value = value};
}

gadget_bit bit_alloc(cs *c, bool value) {
    const cs_var var = cs_alloc_bit(c, value);
    if (cs_recording(c)) row_boolean(c, var);
    return bit_of_var(var, value);
}

void bits_alloc(cs *c, uint64_t values, unsigned n, gadget_bit *out) {
    for (unsigned i = 0; i < n; i++)
        out[i] = bit_alloc(c, values >> i & 1);
}

/* Neither is constant. (a + a) b = a + b - r on the inner variables; of a mixed pair the plain one
 * is a. */
static gadget_bit xor_variables(cs *c, gadget_bit a, gadget_bit b) {
    if (a.negated && !b.negated) return xor_variables(c, b, a);
    const bool flip = a.negated != b.negated;
    const bool inner = (a.value != b.value) != flip;
    const cs_var r = cs_alloc_bit(c, inner);
    if (cs_recording(c)) {
        const fr_t one = fr_one(), minus = fr_minus_one(), two = fr_two();
        gadget_row row = row_begin(c);
        cs_lc_add(c, row.a, a.var, &two);
        cs_lc_add(c, row.b, b.var, &one);
        cs_lc_add(c, row.c, a.var, &one);
        cs_lc_add(c, row.c, b.var, &one);
        cs_lc_add(c, row.c, r, &minus);
        row_end(c, &row);
    }
    const gadget_bit out = bit_of_var(r, inner);
    return flip ? bit_not(out) : out;
}

gadget_bit bit_xor(cs *c, gadget_bit a, gadget_bit b) {
    if (a.constant) return a.value ? bit_not(b) : b;
    if (b.constant) return b.value ? bit_not(a) : a;
    return xor_variables(c, a, b);
}

/* Neither is constant. lc(a) lc(b) = r; of a mixed pair the plain one is a. */
static gadget_bit and_variables(cs *c, gadget_bit a, gadget_bit b) {
    if (a.negated && !b.negated) return and_variables(c, b, a);
    const bool value = a.value && b.value;
    const cs_var r = cs_alloc_bit(c, value);
    if (cs_recording(c)) {
        const fr_t one = fr_one();
        gadget_row row = row_begin(c);
        lc_add_bit(c, row.a, a, &one);
        lc_add_bit(c, row.b, b, &one);
        cs_lc_add(c, row.c, r, &one);
        row_end(c, &row);
    }
    return bit_of_var(r, value);
}

gadget_bit bit_and(cs *c, gadget_bit a, gadget_bit b) {
    if ((a.constant && !a.value) || (b.constant && !b.value)) return bit_constant(false);
    if (a.constant) return b;
    if (b.constant) return a;
    return and_variables(c, a, b);
}

gadget_bit bit_ch(cs *c, gadget_bit a, gadget_bit b, gadget_bit k) {
    if (a.constant && b.constant && k.constant) return a.value ? b : k;
    if (a.constant && !a.value) return k;
    if (b.constant && !b.value) return bit_and(c, bit_not(a), k);
    if (k.constant && !k.value) return bit_and(c, a, b);
    if (k.constant) return bit_not(bit_and(c, a, bit_not(b)));
    if (b.constant) return bit_not(bit_and(c, bit_not(a), bit_not(k)));
    const bool value = a.value ? b.value : k.value;
    const cs_var r = cs_alloc_bit(c, value);
    if (cs_recording(c)) { /* (b - k) a = r - k */
        const fr_t one = fr_one(), minus = fr_minus_one();
        gadget_row row = row_begin(c);
        lc_add_bit(c, row.a, b, &one);
        lc_add_bit(c, row.a, k, &minus);
        lc_add_bit(c, row.b, a, &one);
        cs_lc_add(c, row.c, r, &one);
        lc_add_bit(c, row.c, k, &minus);
        row_end(c, &row);
    }
    return bit_of_var(r, value);
}

gadget_bit bit_maj(cs *c, gadget_bit a, gadget_bit b, gadget_bit k) {
    const bool value = a.value + b.value + k.value >= 2;
    if (a.constant && b.constant && k.constant) return bit_constant(value);
    if (a.constant && !a.value) return bit_and(c, b, k);
    if (b.constant && !b.value) return bit_and(c, a, k);
    if (k.constant && !k.value) return bit_and(c, a, b);
    if (k.constant) return bit_not(bit_and(c, bit_not(a), bit_not(b)));
    if (b.constant) return bit_not(bit_and(c, bit_not(a), bit_not(k)));
    if (a.constant) return bit_not(bit_and(c, bit_not(b), bit_not(k)));
    const cs_var r = cs_alloc_bit(c, value); /* before the and (trap T7) */
    const gadget_bit both = bit_and(c, b, k);
    if (cs_recording(c)) { /* (2 both - b - k) a = both - r */
        const fr_t one = fr_one(), minus = fr_minus_one(), two = fr_two();
        gadget_row row = row_begin(c);
        lc_add_bit(c, row.a, both, &two);
        lc_add_bit(c, row.a, b, &minus);
        lc_add_bit(c, row.a, k, &minus);
        lc_add_bit(c, row.b, a, &one);
        lc_add_bit(c, row.c, both, &one);
        cs_lc_add(c, row.c, r, &minus);
        row_end(c, &row);
    }
    return bit_of_var(r, value);
}
