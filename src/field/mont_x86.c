/* Montgomery multiplication, row by row (CIOS), with mulx and two independent carry chains: adcx
 * carries one limb further up, adox the product just made. t is kept in registers; after each row
 * it is reduced, which drops its lowest limb and leaves t < x + p: with x + p <= 2^(64 n), which
 * holds for x < p < 2^(64 n - 1), and in Fp for x < 2 p, no limb above a is needed (Botrel and El
 * Housni, eprint 2022/1400, algorithm 2). In the end t <= (x y + (R - 1) p) / R < 2 p if x y < R p.
 */
#if defined(__x86_64__)

#include "field/mont_x86.h"

#include <stddef.h>

/* The assembly is laid out by hand. */
/* clang-format off */

/* First limb of a row: t += low(x_0 y), a = high(x_0 y). */
#define ROW_START(offset, t, a)                                                                    \
    "movq " offset "(%[y]), %%rdx\n\t"                                                             \
    "xorl %%eax, %%eax\n\t" /* clears both carries */                                              \
    "mulxq (%[x]), %%rax, " a "\n\t"                                                               \
    "adoxq %%rax, " t "\n\t"
/* Any other: t += a + low(x_i y), a = high(x_i y). */
#define STEP(offset, t, a)                                                                         \
    "adcxq " a ", " t "\n\t"                                                                       \
    "mulxq " offset "(%[x]), %%rax, " a "\n\t"                                                     \
    "adoxq %%rax, " t "\n\t"
#define ROW_END(a)                                                                                 \
    "movl $0, %%eax\n\t"                                                                           \
    "adcxq %%rax, " a "\n\t"                                                                       \
    "adoxq %%rax, " a "\n\t"
/* In the first row there is no t to add to. */
#define FIRST_STEP(add, offset, t, a)                                                              \
    "mulxq " offset "(%[x]), %%rax, " a "\n\t"                                                     \
    add " %%rax, " t "\n\t"

/* m = t (-1/p) mod 2^64 makes t + m p_0 vanish; the new lowest limb is built in `next`. */
#define REDUCE_START(next, t)                                                                      \
    "movq %c[n0](%[P]), %%rdx\n\t"                                                                 \
    "imulq " t ", %%rdx\n\t"                                                                       \
    "xorl %%eax, %%eax\n\t"                                                                        \
    "mulxq (%[P]), %%rax, " next "\n\t"                                                            \
    "adcxq " t ", %%rax\n\t"
/* below += t + low(m p_i), t = high(m p_i). */
#define FOLD(offset, below, t)                                                                     \
    "adcxq " t ", " below "\n\t"                                                                   \
    "mulxq " offset "(%[P]), %%rax, " t "\n\t"                                                     \
    "adoxq %%rax, " below "\n\t"
/* top is the limb above t, or the 0 in rax. */
#define REDUCE_END(t, top)                                                                         \
    "movl $0, %%eax\n\t"                                                                           \
    "adcxq %%rax, " t "\n\t"                                                                       \
    "adoxq " top ", " t "\n\t"

#define FIRST_ROW_6(t0, t1, t2, t3, t4, t5, a)                                                     \
    "movq (%[y]), %%rdx\n\t"                                                                       \
    "mulxq (%[x]), " t0 ", " t1 "\n\t"                                                             \
    FIRST_STEP("addq", "8", t1, t2)                                                                \
    FIRST_STEP("adcq", "16", t2, t3)                                                               \
    FIRST_STEP("adcq", "24", t3, t4)                                                               \
    FIRST_STEP("adcq", "32", t4, t5)                                                               \
    FIRST_STEP("adcq", "40", t5, a)                                                                \
    "adcq $0, " a "\n\t"
#define ROW_6(offset, t0, t1, t2, t3, t4, t5, a)                                                   \
    ROW_START(offset, t0, a)                                                                       \
    STEP("8", t1, a)                                                                               \
    STEP("16", t2, a)                                                                              \
    STEP("24", t3, a)                                                                              \
    STEP("32", t4, a)                                                                              \
    STEP("40", t5, a)                                                                              \
    ROW_END(a)
#define REDUCE_6(next, t, top)                                                                     \
    REDUCE_START(next, t)                                                                          \
    FOLD("8", next, "%[t1]")                                                                       \
    FOLD("16", "%[t1]", "%[t2]")                                                                   \
    FOLD("24", "%[t2]", "%[t3]")                                                                   \
    FOLD("32", "%[t3]", "%[t4]")                                                                   \
    FOLD("40", "%[t4]", "%[t5]")                                                                   \
    REDUCE_END("%[t5]", top)

#define FIRST_ROW_4(t0, t1, t2, t3, a)                                                             \
    "movq (%[y]), %%rdx\n\t"                                                                       \
    "mulxq (%[x]), " t0 ", " t1 "\n\t"                                                             \
    FIRST_STEP("addq", "8", t1, t2)                                                                \
    FIRST_STEP("adcq", "16", t2, t3)                                                               \
    FIRST_STEP("adcq", "24", t3, a)                                                                \
    "adcq $0, " a "\n\t"
#define ROW_4(offset, t0, t1, t2, t3, a)                                                           \
    ROW_START(offset, t0, a)                                                                       \
    STEP("8", t1, a)                                                                               \
    STEP("16", t2, a)                                                                              \
    STEP("24", t3, a)                                                                              \
    ROW_END(a)
#define REDUCE_4(next, t, top)                                                                     \
    REDUCE_START(next, t)                                                                          \
    FOLD("8", next, "%[t1]")                                                                       \
    FOLD("16", "%[t1]", "%[t2]")                                                                   \
    FOLD("24", "%[t2]", "%[t3]")                                                                   \
    REDUCE_END("%[t3]", top)

/* A row into t with `low` as its lowest limb, reduced with `next` as the new one: the two registers
 * t0 and s take turns. */
#define MUL_FIRST_6(low, next)                                                                     \
    FIRST_ROW_6(low, "%[t1]", "%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[a]")                          \
    REDUCE_6(next, low, "%[a]")
#define MUL_ROW_6(offset, low, next)                                                               \
    ROW_6(offset, low, "%[t1]", "%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[a]")                        \
    REDUCE_6(next, low, "%[a]")
#define MUL_FIRST_4(low, next)                                                                     \
    FIRST_ROW_4(low, "%[t1]", "%[t2]", "%[t3]", "%[a]")                                            \
    REDUCE_4(next, low, "%[a]")
#define MUL_ROW_4(offset, low, next)                                                               \
    ROW_4(offset, low, "%[t1]", "%[t2]", "%[t3]", "%[a]")                                          \
    REDUCE_4(next, low, "%[a]")

void mont_x86_mul_6(uint64_t *z, const uint64_t *x, const uint64_t *y, const mont_prime *P) {
    uint64_t t[6], a, s;
    __asm__ volatile(
        MUL_FIRST_6("%[t0]", "%[s]")
        MUL_ROW_6("8", "%[s]", "%[t0]")
        MUL_ROW_6("16", "%[t0]", "%[s]")
        MUL_ROW_6("24", "%[s]", "%[t0]")
        MUL_ROW_6("32", "%[t0]", "%[s]")
        MUL_ROW_6("40", "%[s]", "%[t0]")
        : [t0] "=&r"(t[0]), [t1] "=&r"(t[1]), [t2] "=&r"(t[2]), [t3] "=&r"(t[3]),
          [t4] "=&r"(t[4]), [t5] "=&r"(t[5]), [a] "=&r"(a), [s] "=&r"(s)
        : [P] "r"(P), [x] "r"(x), [y] "r"(y), [n0] "i"(offsetof(mont_prime, n0))
        : "rax", "rdx", "cc", "memory");
    mont_x86_reduce_6(z, t, P);
}

void mont_x86_mul_4(uint64_t *z, const uint64_t *x, const uint64_t *y, const mont_prime *P) {
    uint64_t t[4], a, s;
    __asm__ volatile(
        MUL_FIRST_4("%[t0]", "%[s]")
        MUL_ROW_4("8", "%[s]", "%[t0]")
        MUL_ROW_4("16", "%[t0]", "%[s]")
        MUL_ROW_4("24", "%[s]", "%[t0]")
        : [t0] "=&r"(t[0]), [t1] "=&r"(t[1]), [t2] "=&r"(t[2]), [t3] "=&r"(t[3]),
          [a] "=&r"(a), [s] "=&r"(s)
        : [P] "r"(P), [x] "r"(x), [y] "r"(y), [n0] "i"(offsetof(mont_prime, n0))
        : "rax", "rdx", "cc", "memory");
    mont_x86_reduce_4(z, t, P);
}

#define STORE(offset, t) "movq " t ", " offset "(%[z])\n\t"

/* Seven registers turn: the lowest limb of each row is stored, and takes the next row's top. */
void mont_x86_wide_mul_6(uint64_t *z, const uint64_t *x, const uint64_t *y) {
    uint64_t t0, t1, t2, t3, t4, t5, t6;
    __asm__ volatile(
        FIRST_ROW_6("%[t0]", "%[t1]", "%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[t6]")
        STORE("0", "%[t0]")
        ROW_6("8", "%[t1]", "%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[t6]", "%[t0]")
        STORE("8", "%[t1]")
        ROW_6("16", "%[t2]", "%[t3]", "%[t4]", "%[t5]", "%[t6]", "%[t0]", "%[t1]")
        STORE("16", "%[t2]")
        ROW_6("24", "%[t3]", "%[t4]", "%[t5]", "%[t6]", "%[t0]", "%[t1]", "%[t2]")
        STORE("24", "%[t3]")
        ROW_6("32", "%[t4]", "%[t5]", "%[t6]", "%[t0]", "%[t1]", "%[t2]", "%[t3]")
        STORE("32", "%[t4]")
        ROW_6("40", "%[t5]", "%[t6]", "%[t0]", "%[t1]", "%[t2]", "%[t3]", "%[t4]")
        STORE("40", "%[t5]")
        STORE("48", "%[t6]")
        STORE("56", "%[t0]")
        STORE("64", "%[t1]")
        STORE("72", "%[t2]")
        STORE("80", "%[t3]")
        STORE("88", "%[t4]")
        : [t0] "=&r"(t0), [t1] "=&r"(t1), [t2] "=&r"(t2), [t3] "=&r"(t3), [t4] "=&r"(t4),
          [t5] "=&r"(t5), [t6] "=&r"(t6)
        : [x] "r"(x), [y] "r"(y), [z] "r"(z)
        : "rax", "rdx", "cc", "memory");
}

/* The low half shrinks to at most p; with the high half, < p, that is below 2 p. */
void mont_x86_wide_reduce_6(uint64_t *z, const uint64_t *w, const mont_prime *P) {
    uint64_t t[6] = {w[0], w[1], w[2], w[3], w[4], w[5]}, s;
    __asm__ volatile(
        REDUCE_6("%[s]", "%[t0]", "%%rax")
        REDUCE_6("%[t0]", "%[s]", "%%rax")
        REDUCE_6("%[s]", "%[t0]", "%%rax")
        REDUCE_6("%[t0]", "%[s]", "%%rax")
        REDUCE_6("%[s]", "%[t0]", "%%rax")
        REDUCE_6("%[t0]", "%[s]", "%%rax")
        : [t0] "+&r"(t[0]), [t1] "+&r"(t[1]), [t2] "+&r"(t[2]), [t3] "+&r"(t[3]),
          [t4] "+&r"(t[4]), [t5] "+&r"(t[5]), [s] "=&r"(s)
        : [P] "r"(P), [n0] "i"(offsetof(mont_prime, n0))
        : "rax", "rdx", "cc", "memory");
    mont_x86_add_6(z, t, w + 6, P);
}

/* clang-format on */
#else
typedef int mont_x86_is_empty_here; /* ISO C wants a declaration */
#endif
