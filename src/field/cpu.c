#include "field/cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdint.h>

/* Which register states the operating system saves (XCR0). Call only when OSXSAVE is set. */
static uint64_t read_xcr0(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (uint64_t)high << 32 | low;
}

/* Bits of CPUID leaf 7, EBX (Intel SDM vol. 2A, CPUID). */
#define LEAF7_BMI2 (1u << 8)
#define LEAF7_ADX (1u << 19)
#define LEAF7_AVX512 (1u << 16 | 1u << 17 | 1u << 21 | 1u << 30 | 1u << 31) /* F DQ IFMA BW VL */
#define LEAF1_OSXSAVE (1u << 27)
#define XCR0_AVX512 0xe6u /* SSE, AVX, opmask, upper ZMM halves, ZMM16-31 */

static unsigned probe(void) {
    unsigned a, b, c, d, features = 0;
    if (!__get_cpuid(1, &a, &b, &c, &d)) return 0;
    const bool wide_state = (c & LEAF1_OSXSAVE) != 0 && (read_xcr0() & XCR0_AVX512) == XCR0_AVX512;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
    if ((b & LEAF7_BMI2) != 0 && (b & LEAF7_ADX) != 0) features |= CUZK_CPU_ADX;
    if (wide_state && (b & LEAF7_AVX512) == LEAF7_AVX512) features |= CUZK_CPU_AVX512IFMA;
    return features;
}
#else
static unsigned probe(void) {
    return 0;
}
#endif

unsigned cuzk_cpu_features;

__attribute__((constructor)) static void probe_at_start(void) {
    cuzk_cpu_features = probe();
}

void cuzk_cpu_force(unsigned mask) {
    cuzk_cpu_features = probe() & mask;
}
