/* Which instruction sets the fast arithmetic may use on this machine. Probed once, before main. */
#ifndef CUZK_FIELD_CPU_H
#define CUZK_FIELD_CPU_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* BMI2 (mulx) and ADX (adcx, adox). */
#define CUZK_CPU_ADX 1u
/* AVX-512 F, DQ, VL, BW and IFMA, enabled by the operating system. */
#define CUZK_CPU_AVX512IFMA 2u
#define CUZK_CPU_ALL (~0u)

/* The features found, less those masked out by cuzk_cpu_force. Read it through the functions below.
 */
extern unsigned cuzk_cpu_features;

static inline bool cuzk_cpu_has_adx(void) {
    return (cuzk_cpu_features & CUZK_CPU_ADX) != 0;
}
static inline bool cuzk_cpu_has_avx512ifma(void) {
    return (cuzk_cpu_features & CUZK_CPU_AVX512IFMA) != 0;
}
/* For tests: use only those features of this machine that are in mask (0: portable code only;
 * CUZK_CPU_ALL: everything found). Not while another thread computes. */
void cuzk_cpu_force(unsigned mask);

#ifdef __cplusplus
}
#endif
#endif
