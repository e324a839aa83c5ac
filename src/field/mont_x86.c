/* Montgomery multiplication, row by row (CIOS), with mulx and two independent carry chains: adcx
 * carries one limb further up, adox the product just made. t is kept in registers; after each row
 * it is reduced, which drops its lowest limb. With x, y < p < 2^(64 n - 1), t stays below 2 p, and
 * a + its carries below 2^64, so no limb above a is needed (Acar's CIOS without the top word:
 * Botrel, El Housni, eprint 2022/1400). */
#if defined(__x86_64__)

#include "field/mont_x86.h"

#include <stddef.h>

/* One limb of a row: ti += a + low(x_i y), a = high(x_i y). */
#define STEP(offset, t)                                                                            \
    "adcxq %[a], " t "\n\t"                                                                        \
    "mulxq " offset "(%[x]), %%rax, %[a]\n\t"                                                      \
    "adoxq %%rax, " t "\n\t"
/* Limb i - 1 of the reduction: t_(i-1) += t_i + low(m p_i), t_i = high(m p_i). */
#define FOLD(offset, below, t)                                                                     \
    "adcxq " t ", " below "\n\t"                                                                   \
    "mulxq " offset "(%[P]), %%rax, " t "\n\t"                                                     \
    "adoxq %%rax, " below "\n\t"
#define ROW_START(offset, t)                                                                       \
    "movq " offset "(%[y]), %%rdx\n\t"                                                             \
    "xorl %%eax, %%eax\n\t" /* clears both carries */                                              \
    "mulxq (%[x]), %%rax, %[a]\n\t"                                                                \
    "adoxq %%rax, " t "\n\t"
#define ROW_END                                                                                    \
    "movl $0, %%eax\n\t"                                                                           \
    "adcxq %%rax, %[a]\n\t"                                                                        \
    "adoxq %%rax, %[a]\n\t"
/* m = t0 (-1/p) mod 2^64; the new lowest limb is built in `next`. */
#define REDUCE_START(next, t)                                                                      \
    "movq %c[n0](%[P]), %%rdx\n\t"                                                                 \
    "imulq " t ", %%rdx\n\t"                                                                       \
    "xorl %%eax, %%eax\n\t"                                                                        \
    "mulxq (%[P]), %%rax, " next "\n\t"                                                            \
    "adcxq " t ", %%rax\n\t"
#define REDUCE_END(t)                                                                              \
    "movl $0, %%eax\n\t"                                                                           \
    "adcxq %%rax, " t "\n\t"                                                                       \
    "adoxq %[a], " t "\n\t"

#define FIRST_STEP(add, offset, t, next)                                                           \
    "mulxq " offset "(%[x]), %%rax, " next "\n\t" add " %%rax, " t "\n\t"

#define FIRST_ROW_6                                                                                \
    "movq (%[y]), %%rdx\n\t"                                                                       \
    "mulxq (%[x]), %[t0], %[t1]\n\t" FIRST_STEP("addq", "8", "%[t1]", "%[t2]")                     \
        FIRST_STEP("adcq", "16", "%[t2]", "%[t3]") FIRST_STEP("adcq", "24", "%[t3]", "%[t4]")      \
            FIRST_STEP("adcq", "32", "%[t4]", "%[t5]")                                             \
                FIRST_STEP("adcq", "40", "%[t5]", "%[a]") "adcq $0, %[a]\n\t"
#define ROW_6(offset, t)                                                                           \
    ROW_START(offset, t)                                                                           \
    STEP("8", "%[t1]")                                                                             \
    STEP("16", "%[t2]") STEP("24", "%[t3]") STEP("32", "%[t4]") STEP("40", "%[t5]") ROW_END
#define REDUCE_6(next, t)                                                                          \
    REDUCE_START(next, t)                                                                          \
    FOLD("8", next, "%[t1]")                                                                       \
    FOLD("16", "%[t1]", "%[t2]") FOLD("24", "%[t2]", "%[t3]") FOLD("32", "%[t3]", "%[t4]")         \
        FOLD("40", "%[t4]", "%[t5]") REDUCE_END("%[t5]")

#define FIRST_ROW_4                                                                                \
    "movq (%[y]), %%rdx\n\t"                                                                       \
    "mulxq (%[x]), %[t0], %[t1]\n\t" FIRST_STEP("addq", "8", "%[t1]", "%[t2]")                     \
        FIRST_STEP("adcq", "16", "%[t2]", "%[t3]")                                                 \
            FIRST_STEP("adcq", "24", "%[t3]", "%[a]") "adcq $0, %[a]\n\t"
#define ROW_4(offset, t)                                                                           \
    ROW_START(offset, t) STEP("8", "%[t1]") STEP("16", "%[t2]") STEP("24", "%[t3]") ROW_END
#define REDUCE_4(next, t)                                                                          \
    REDUCE_START(next, t)                                                                          \
    FOLD("8", next, "%[t1]")                                                                       \
    FOLD("16", "%[t1]", "%[t2]") FOLD("24", "%[t2]", "%[t3]") REDUCE_END("%[t3]")

/* The lowest limb alternates between t0 and s from row to row. The end subtracts p once, in
 * registers that are free by then (x and y among them), and keeps the difference if there is no
 * borrow. z is loaded last, so it may be x or y. */
void mont_x86_mul_6(uint64_t *z, const uint64_t *x, const uint64_t *y, const mont_prime *P) {
    uint64_t t0, t1, t2, t3, t4, t5, a, s;
    __asm__ volatile(
        FIRST_ROW_6 REDUCE_6("%[s]", "%[t0]")              /**/
        ROW_6("8", "%[s]") REDUCE_6("%[t0]", "%[s]")       /**/
        ROW_6("16", "%[t0]") REDUCE_6("%[s]", "%[t0]")     /**/
        ROW_6("24", "%[s]") REDUCE_6("%[t0]", "%[s]")      /**/
        ROW_6("32", "%[t0]") REDUCE_6("%[s]", "%[t0]")     /**/
        ROW_6("40", "%[s]") REDUCE_6("%[t0]", "%[s]")      /**/
        "movq %[t0], %%rax\n\tsubq (%[P]), %%rax\n\t"      /**/
        "movq %[t1], %%rdx\n\tsbbq 8(%[P]), %%rdx\n\t"     /**/
        "movq %[t2], %[a]\n\tsbbq 16(%[P]), %[a]\n\t"      /**/
        "movq %[t3], %[s]\n\tsbbq 24(%[P]), %[s]\n\t"      /**/
        "movq %[t4], %[x]\n\tsbbq 32(%[P]), %[x]\n\t"      /**/
        "movq %[t5], %[y]\n\tsbbq 40(%[P]), %[y]\n\t"      /**/
        "cmovcq %[t0], %%rax\n\tcmovcq %[t1], %%rdx\n\t"   /**/
        "cmovcq %[t2], %[a]\n\tcmovcq %[t3], %[s]\n\t"     /**/
        "cmovcq %[t4], %[x]\n\tcmovcq %[t5], %[y]\n\t"     /**/
        "movq %[z], %[t0]\n\t"                             /**/
        "movq %%rax, (%[t0])\n\tmovq %%rdx, 8(%[t0])\n\t"  /**/
        "movq %[a], 16(%[t0])\n\tmovq %[s], 24(%[t0])\n\t" /**/
        "movq %[x], 32(%[t0])\n\tmovq %[y], 40(%[t0])"
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),
          [t5] "=&r"(t5), [a] "=&r"(a), [s] "=&r"(s), [x] "+&r"(x), [y] "+&r"(y)
        : [P] "r"(P), [z] "m"(z), [n0] "i"(offsetof(mont_prime, n0))
        : "rax", "rdx", "cc", "memory");
}

void mont_x86_mul_4(uint64_t *z, const uint64_t *x, const uint64_t *y, const mont_prime *P) {
    uint64_t t0, t1, t2, t3, a, s;
    __asm__ volatile(
        FIRST_ROW_4 REDUCE_4("%[s]", "%[t0]")            /**/
        ROW_4("8", "%[s]") REDUCE_4("%[t0]", "%[s]")     /**/
        ROW_4("16", "%[t0]") REDUCE_4("%[s]", "%[t0]")   /**/
        ROW_4("24", "%[s]") REDUCE_4("%[t0]", "%[s]")    /**/
        "movq %[t0], %%rax\n\tsubq (%[P]), %%rax\n\t"    /**/
        "movq %[t1], %%rdx\n\tsbbq 8(%[P]), %%rdx\n\t"   /**/
        "movq %[t2], %[a]\n\tsbbq 16(%[P]), %[a]\n\t"    /**/
        "movq %[t3], %[s]\n\tsbbq 24(%[P]), %[s]\n\t"    /**/
        "cmovcq %[t0], %%rax\n\tcmovcq %[t1], %%rdx\n\t" /**/
        "cmovcq %[t2], %[a]\n\tcmovcq %[t3], %[s]\n\t"   /**/
        "movq %%rax, (%[z])\n\tmovq %%rdx, 8(%[z])\n\t"  /**/
        "movq %[a], 16(%[z])\n\tmovq %[s], 24(%[z])"
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [a] "=&r"(a), [s] "=&r"(s)
        : [P] "r"(P), [z] "r"(z), [x] "r"(x), [y] "r"(y), [n0] "i"(offsetof(mont_prime, n0))
        : "rax", "rdx", "cc", "memory");
}

#else
typedef int mont_x86_is_empty_here; /* ISO C wants a declaration */
#endif
