/* Montgomery arithmetic for x86-64: additions in plain x86-64 code, multiplications with BMI2 and
 * ADX (call these only when cuzk_cpu_has_adx()). Same contracts and results as mont_plain.h. */
#ifndef CUZK_FIELD_MONT_X86_H
#define CUZK_FIELD_MONT_X86_H

#include "field/mont_plain.h"

void mont_x86_mul_4(uint64_t *z, const uint64_t *x, const uint64_t *y, const mont_prime *P);
void mont_x86_mul_6(uint64_t *z, const uint64_t *x, const uint64_t *y, const mont_prime *P);
void mont_x86_wide_mul_6(uint64_t *z, const uint64_t *x, const uint64_t *y);
void mont_x86_wide_reduce_6(uint64_t *z, const uint64_t *w, const mont_prime *P);

/* z = t - p if t >= p, else t; t < 2 p. */
MONT_INLINE void mont_x86_reduce_4(uint64_t *z, const uint64_t *t, const mont_prime *P) {
    uint64_t u0 = t[0], u1 = t[1], u2 = t[2], u3 = t[3];
    __asm__("subq %4, %0\n\tsbbq %5, %1\n\tsbbq %6, %2\n\tsbbq %7, %3\n\t"
            "cmovcq %8, %0\n\tcmovcq %9, %1\n\tcmovcq %10, %2\n\tcmovcq %11, %3"
            : "+&r"(u0), "+&r"(u1), "+&r"(u2), "+&r"(u3)
            : "m"(P->p[0]), "m"(P->p[1]), "m"(P->p[2]), "m"(P->p[3]), "rm"(t[0]), "rm"(t[1]),
              "rm"(t[2]), "rm"(t[3])
            : "cc");
    z[0] = u0, z[1] = u1, z[2] = u2, z[3] = u3;
}

MONT_INLINE void mont_x86_add_4(uint64_t *z, const uint64_t *x, const uint64_t *y,
                                const mont_prime *P) {
    uint64_t t[4] = {x[0], x[1], x[2], x[3]};
    __asm__("addq %4, %0\n\tadcq %5, %1\n\tadcq %6, %2\n\tadcq %7, %3"
            : "+&r"(t[0]), "+&r"(t[1]), "+&r"(t[2]), "+&r"(t[3])
            : "rm"(y[0]), "rm"(y[1]), "rm"(y[2]), "rm"(y[3])
            : "cc");
    mont_x86_reduce_4(z, t, P);
}

/* The borrow selects p or 0 to add back. */
MONT_INLINE void mont_x86_sub_4(uint64_t *z, const uint64_t *x, const uint64_t *y,
                                const mont_prime *P) {
    uint64_t t0 = x[0], t1 = x[1], t2 = x[2], t3 = x[3], mask;
    __asm__("subq %5, %0\n\tsbbq %6, %1\n\tsbbq %7, %2\n\tsbbq %8, %3\n\tsbbq %4, %4"
            : "+&r"(t0), "+&r"(t1), "+&r"(t2), "+&r"(t3), "=&r"(mask)
            : "rm"(y[0]), "rm"(y[1]), "rm"(y[2]), "rm"(y[3])
            : "cc");
    const uint64_t p0 = P->p[0] & mask, p1 = P->p[1] & mask, p2 = P->p[2] & mask,
                   p3 = P->p[3] & mask;
    __asm__("addq %4, %0\n\tadcq %5, %1\n\tadcq %6, %2\n\tadcq %7, %3"
            : "+&r"(t0), "+&r"(t1), "+&r"(t2), "+&r"(t3)
            : "rm"(p0), "rm"(p1), "rm"(p2), "rm"(p3)
            : "cc");
    z[0] = t0, z[1] = t1, z[2] = t2, z[3] = t3;
}

MONT_INLINE void mont_x86_reduce_6(uint64_t *z, const uint64_t *t, const mont_prime *P) {
    uint64_t u0 = t[0], u1 = t[1], u2 = t[2], u3 = t[3], u4 = t[4], u5 = t[5];
    __asm__("subq %6, %0\n\tsbbq %7, %1\n\tsbbq %8, %2\n\tsbbq %9, %3\n\tsbbq %10, %4\n\t"
            "sbbq %11, %5\n\tcmovcq %12, %0\n\tcmovcq %13, %1\n\tcmovcq %14, %2\n\t"
            "cmovcq %15, %3\n\tcmovcq %16, %4\n\tcmovcq %17, %5"
            : "+&r"(u0), "+&r"(u1), "+&r"(u2), "+&r"(u3), "+&r"(u4), "+&r"(u5)
            : "m"(P->p[0]), "m"(P->p[1]), "m"(P->p[2]), "m"(P->p[3]), "m"(P->p[4]), "m"(P->p[5]),
              "rm"(t[0]), "rm"(t[1]), "rm"(t[2]), "rm"(t[3]), "rm"(t[4]), "rm"(t[5])
            : "cc");
    z[0] = u0, z[1] = u1, z[2] = u2, z[3] = u3, z[4] = u4, z[5] = u5;
}

MONT_INLINE void mont_x86_add_unreduced_6(uint64_t *z, const uint64_t *x, const uint64_t *y) {
    uint64_t t0 = x[0], t1 = x[1], t2 = x[2], t3 = x[3], t4 = x[4], t5 = x[5];
    __asm__("addq %6, %0\n\tadcq %7, %1\n\tadcq %8, %2\n\tadcq %9, %3\n\tadcq %10, %4\n\t"
            "adcq %11, %5"
            : "+&r"(t0), "+&r"(t1), "+&r"(t2), "+&r"(t3), "+&r"(t4), "+&r"(t5)
            : "rm"(y[0]), "rm"(y[1]), "rm"(y[2]), "rm"(y[3]), "rm"(y[4]), "rm"(y[5])
            : "cc");
    z[0] = t0, z[1] = t1, z[2] = t2, z[3] = t3, z[4] = t4, z[5] = t5;
}

MONT_INLINE void mont_x86_add_6(uint64_t *z, const uint64_t *x, const uint64_t *y,
                                const mont_prime *P) {
    uint64_t t[6];
    mont_x86_add_unreduced_6(t, x, y);
    mont_x86_reduce_6(z, t, P);
}

/* z = x - y mod 2^384; returns all ones if it borrowed, else 0. */
MONT_INLINE uint64_t mont_x86_borrow_6(uint64_t *z, const uint64_t *x, const uint64_t *y) {
    uint64_t t0 = x[0], t1 = x[1], t2 = x[2], t3 = x[3], t4 = x[4], t5 = x[5], mask;
    __asm__("subq %7, %0\n\tsbbq %8, %1\n\tsbbq %9, %2\n\tsbbq %10, %3\n\tsbbq %11, %4\n\t"
            "sbbq %12, %5\n\tsbbq %6, %6"
            : "+&r"(t0), "+&r"(t1), "+&r"(t2), "+&r"(t3), "+&r"(t4), "+&r"(t5), "=&r"(mask)
            : "rm"(y[0]), "rm"(y[1]), "rm"(y[2]), "rm"(y[3]), "rm"(y[4]), "rm"(y[5])
            : "cc");
    z[0] = t0, z[1] = t1, z[2] = t2, z[3] = t3, z[4] = t4, z[5] = t5;
    return mask;
}

/* The next 6 limbs of a longer subtraction: `mask` is what the 6 before returned. */
MONT_INLINE uint64_t mont_x86_borrow_on_6(uint64_t *z, const uint64_t *x, const uint64_t *y,
                                          uint64_t mask) {
    uint64_t t0 = x[0], t1 = x[1], t2 = x[2], t3 = x[3], t4 = x[4], t5 = x[5];
    __asm__("addq %6, %6\n\tsbbq %7, %0\n\tsbbq %8, %1\n\tsbbq %9, %2\n\tsbbq %10, %3\n\t"
            "sbbq %11, %4\n\tsbbq %12, %5\n\tsbbq %6, %6"
            : "+&r"(t0), "+&r"(t1), "+&r"(t2), "+&r"(t3), "+&r"(t4), "+&r"(t5), "+&r"(mask)
            : "rm"(y[0]), "rm"(y[1]), "rm"(y[2]), "rm"(y[3]), "rm"(y[4]), "rm"(y[5])
            : "cc");
    z[0] = t0, z[1] = t1, z[2] = t2, z[3] = t3, z[4] = t4, z[5] = t5;
    return mask;
}

/* z = t + (p & mask), for a mask from a borrow: p is added back. Scalars, not an array, keep the
 * compiler from building vectors in memory. */
MONT_INLINE void mont_x86_add_back_6(uint64_t *z, const uint64_t *t, uint64_t mask,
                                     const mont_prime *P) {
    uint64_t t0 = t[0], t1 = t[1], t2 = t[2], t3 = t[3], t4 = t[4], t5 = t[5];
    const uint64_t p0 = P->p[0] & mask, p1 = P->p[1] & mask, p2 = P->p[2] & mask,
                   p3 = P->p[3] & mask, p4 = P->p[4] & mask, p5 = P->p[5] & mask;
    __asm__("addq %6, %0\n\tadcq %7, %1\n\tadcq %8, %2\n\tadcq %9, %3\n\tadcq %10, %4\n\t"
            "adcq %11, %5"
            : "+&r"(t0), "+&r"(t1), "+&r"(t2), "+&r"(t3), "+&r"(t4), "+&r"(t5)
            : "rm"(p0), "rm"(p1), "rm"(p2), "rm"(p3), "rm"(p4), "rm"(p5)
            : "cc");
    z[0] = t0, z[1] = t1, z[2] = t2, z[3] = t3, z[4] = t4, z[5] = t5;
}

MONT_INLINE void mont_x86_sub_6(uint64_t *z, const uint64_t *x, const uint64_t *y,
                                const mont_prime *P) {
    uint64_t t[6];
    const uint64_t mask = mont_x86_borrow_6(t, x, y);
    mont_x86_add_back_6(z, t, mask, P);
}

/* z = x + y mod 2^384 p. */
MONT_INLINE void mont_x86_wide_add_6(uint64_t *z, const uint64_t *x, const uint64_t *y,
                                     const mont_prime *P) {
    uint64_t t[6] = {x[0], x[1], x[2], x[3], x[4], x[5]};
    uint64_t h[6] = {x[6], x[7], x[8], x[9], x[10], x[11]};
    unsigned char carry;
    __asm__("addq %7, %0\n\tadcq %8, %1\n\tadcq %9, %2\n\tadcq %10, %3\n\tadcq %11, %4\n\t"
            "adcq %12, %5\n\tsetc %6"
            : "+&r"(t[0]), "+&r"(t[1]), "+&r"(t[2]), "+&r"(t[3]), "+&r"(t[4]), "+&r"(t[5]),
              "=&q"(carry)
            : "m"(y[0]), "m"(y[1]), "m"(y[2]), "m"(y[3]), "m"(y[4]), "m"(y[5])
            : "cc");
    __asm__("addb $255, %6\n\tadcq %7, %0\n\tadcq %8, %1\n\tadcq %9, %2\n\tadcq %10, %3\n\t"
            "adcq %11, %4\n\tadcq %12, %5"
            : "+&r"(h[0]), "+&r"(h[1]), "+&r"(h[2]), "+&r"(h[3]), "+&r"(h[4]), "+&r"(h[5]),
              "+&q"(carry)
            : "m"(y[6]), "m"(y[7]), "m"(y[8]), "m"(y[9]), "m"(y[10]), "m"(y[11])
            : "cc");
    for (int i = 0; i < 6; i++)
        z[i] = t[i];
    mont_x86_reduce_6(z + 6, h, P);
}

/* z = x - y for x >= y. */
MONT_INLINE void mont_x86_wide_sub_plain_6(uint64_t *z, const uint64_t *x, const uint64_t *y) {
    const uint64_t mask = mont_x86_borrow_6(z, x, y);
    (void)mont_x86_borrow_on_6(z + 6, x + 6, y + 6, mask);
}

/* z = x - y mod 2^384 p. */
MONT_INLINE void mont_x86_wide_sub_6(uint64_t *z, const uint64_t *x, const uint64_t *y,
                                     const mont_prime *P) {
    uint64_t high[6];
    uint64_t mask = mont_x86_borrow_6(z, x, y);
    mask = mont_x86_borrow_on_6(high, x + 6, y + 6, mask);
    mont_x86_add_back_6(z + 6, high, mask, P);
}

#endif
