/* Bodies of the functions that prime_field.h declares: a template, included in one .c file per
 * field with the same FIELD, FIELD_LIMBS and FIELD_PRIME, which it undefines. */
#include "field/mont_inv.h"
#include "field/template.h"

#define F_(name) TEMPLATE_NAME(FIELD, name)
#define F_T F_(t)

void F_(from_limbs)(F_T *z, const uint64_t plain[FIELD_LIMBS]) {
    mont_mul(z->l, plain, FIELD_PRIME.r2, &FIELD_PRIME, FIELD_LIMBS);
}

void F_(to_limbs)(uint64_t plain[FIELD_LIMBS], const F_T *x) {
    const uint64_t one[FIELD_LIMBS] = {1};
    mont_mul(plain, x->l, one, &FIELD_PRIME, FIELD_LIMBS);
}

void F_(from_u64)(F_T *z, uint64_t v) {
    uint64_t plain[FIELD_LIMBS] = {v};
    if (FIELD_LIMBS == 1) plain[0] %= FIELD_PRIME.p[0];
    F_(from_limbs)(z, plain);
}

void F_(inv)(F_T *z, const F_T *x) {
    mont_inv(z->l, x->l, &FIELD_PRIME, FIELD_LIMBS);
}

#include "field/batch_inv_impl.h"

/* Sliding windows of at most 4 bits that start and end with a 1, most significant first. */
void F_(pow_var)(F_T *z, const F_T *x, const uint64_t *e, size_t e_limbs) {
    F_T odd[8], square, acc = F_(one)(); /* x, x^3, ... x^15 */
    bool started = false;
    odd[0] = *x;
    F_(sqr)(&square, x);
    for (int i = 1; i < 8; i++)
        F_(mul)(&odd[i], &odd[i - 1], &square);
    for (size_t left = 64 * e_limbs; left > 0;) {
        const size_t top = left - 1;
        size_t bits = 1;
        unsigned window = (unsigned)(e[top / 64] >> (top % 64)) & 1;
        for (size_t i = 1, w = window; window != 0 && i < 4 && i <= top; i++) {
            w = w << 1 | ((e[(top - i) / 64] >> ((top - i) % 64)) & 1);
            if ((w & 1) == 0) continue;
            bits = i + 1;
            window = (unsigned)w;
        }
        for (size_t i = 0; started && i < bits; i++)
            F_(sqr)(&acc, &acc);
        if (window != 0) {
            F_(mul)(&acc, &acc, &odd[window / 2]);
            started = true;
        }
        left -= bits;
    }
    *z = acc;
}

/* Tonelli and Shanks. p - 1 = 2^s t with t odd; with w = x^((t-1)/2), x w is a root up to an
 * element of the group of order 2^s, which is found bit by bit with the prime's generator of it.
 * For s = 1 (p = 3 mod 4) the loop never runs. */
bool F_(sqrt)(F_T *z, const F_T *x) {
    const unsigned s = FIELD_PRIME.two_adicity;
    if (F_(is_zero)(x)) {
        *z = *x;
        return true;
    }
    /* (t - 1) / 2 = p >> (s + 1), as p = 2^s t + 1 and t is odd */
    uint64_t e[FIELD_LIMBS];
    for (unsigned i = 0; i < FIELD_LIMBS; i++) {
        const unsigned limb = i + (s + 1) / 64, shift = (s + 1) % 64;
        const uint64_t low = limb < FIELD_LIMBS ? FIELD_PRIME.p[limb] : 0;
        const uint64_t high = limb + 1 < FIELD_LIMBS ? FIELD_PRIME.p[limb + 1] : 0;
        e[i] = shift == 0 ? low : low >> shift | high << (64 - shift);
    }
    F_T w, root, b, g;
    const F_T one = F_(one)();
    F_(pow_var)(&w, x, e, FIELD_LIMBS);
    F_(mul)(&root, x, &w);
    F_(mul)(&b, &root, &w); /* x^t, of order 2^k, k < s if x is a square */
    for (int i = 0; i < FIELD_LIMBS; i++)
        g.l[i] = FIELD_PRIME.root[i];
    unsigned order = s; /* g has order 2^order */
    while (!F_(eq)(&b, &one)) {
        F_T c = b;
        unsigned k = 0;
        for (; k < order && !F_(eq)(&c, &one); k++)
            F_(sqr)(&c, &c);
        if (k >= order) return false;
        for (; order > k + 1; order--)
            F_(sqr)(&g, &g);
        F_(mul)(&root, &root, &g);
        F_(sqr)(&g, &g);
        order = k;
        F_(mul)(&b, &b, &g);
    }
    *z = root;
    return true;
}

#undef F_
#undef F_T
#undef FIELD
#undef FIELD_LIMBS
#undef FIELD_PRIME
