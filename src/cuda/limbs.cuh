/* 32-bit limb primitives with a carry flag: PTX on the device; on the host the same instructions
 * emulated on a thread-local flag, so that every chain built from them runs in the CPU tests.
 *
 * Names follow PTX: _cc writes the flag, a leading c (addc, subc, madc) reads it. After sub the
 * flag is the borrow. On the device the flag survives from one asm statement to the next because
 * only .cc instructions write it and volatile statements keep their order. */
#ifndef CUZK_CUDA_LIMBS_CUH
#define CUZK_CUDA_LIMBS_CUH

#include <stdint.h>

#ifdef __CUDACC__
#define CUZK_HD __host__ __device__ __forceinline__
#define CUZK_UNROLL _Pragma("unroll")
#define CUZK_NO_UNROLL _Pragma("unroll 1")
#define CUZK_CALLED static __host__ __device__ __noinline__ __attribute__((unused))
#else
#define CUZK_HD inline
#define CUZK_UNROLL
#define CUZK_NO_UNROLL
#define CUZK_CALLED inline
#endif

namespace cuzk {

#ifndef __CUDACC__
struct alignas(16) uint4 {
    uint32_t x, y, z, w;
};
#endif

#ifndef __CUDA_ARCH__
inline thread_local uint32_t carry_flag;
inline uint32_t emulate_add(uint32_t a, uint32_t b, uint32_t in, bool write) {
    const uint64_t s = (uint64_t)a + b + in;
    if (write) carry_flag = (uint32_t)(s >> 32);
    return (uint32_t)s;
}
inline uint32_t emulate_sub(uint32_t a, uint32_t b, uint32_t in, bool write) {
    const uint64_t d = (uint64_t)a - b - in;
    if (write) carry_flag = (uint32_t)(d >> 32) & 1;
    return (uint32_t)d;
}
inline uint32_t emulate_hi(uint32_t a, uint32_t b) {
    return (uint32_t)((uint64_t)a * b >> 32);
}
#endif

/* One two-operand and one three-operand instruction each: NAME, PTX text, host expression. */
#ifdef __CUDA_ARCH__
#define CUZK_OP2(name, ptx, host)                                                                  \
    CUZK_HD uint32_t name(uint32_t a, uint32_t b) {                                                \
        uint32_t r;                                                                                \
        asm volatile(ptx " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));                               \
        return r;                                                                                  \
    }
#define CUZK_OP3(name, ptx, host)                                                                  \
    CUZK_HD uint32_t name(uint32_t a, uint32_t b, uint32_t c) {                                    \
        uint32_t r;                                                                                \
        asm volatile(ptx " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));                   \
        return r;                                                                                  \
    }
#else
#define CUZK_OP2(name, ptx, host)                                                                  \
    CUZK_HD uint32_t name(uint32_t a, uint32_t b) {                                                \
        return host;                                                                               \
    }
#define CUZK_OP3(name, ptx, host)                                                                  \
    CUZK_HD uint32_t name(uint32_t a, uint32_t b, uint32_t c) {                                    \
        return host;                                                                               \
    }
#endif

CUZK_OP2(add_cc, "add.cc.u32", emulate_add(a, b, 0, true))
CUZK_OP2(addc_cc, "addc.cc.u32", emulate_add(a, b, carry_flag, true))
CUZK_OP2(addc, "addc.u32", emulate_add(a, b, carry_flag, false))
CUZK_OP2(sub_cc, "sub.cc.u32", emulate_sub(a, b, 0, true))
CUZK_OP2(subc_cc, "subc.cc.u32", emulate_sub(a, b, carry_flag, true))
CUZK_OP2(subc, "subc.u32", emulate_sub(a, b, carry_flag, false))
CUZK_OP2(mul_lo, "mul.lo.u32", a *b)
CUZK_OP2(mul_hi, "mul.hi.u32", emulate_hi(a, b))
CUZK_OP3(mad_lo_cc, "mad.lo.cc.u32", emulate_add(a *b, c, 0, true))
CUZK_OP3(madc_lo_cc, "madc.lo.cc.u32", emulate_add(a *b, c, carry_flag, true))
CUZK_OP3(madc_hi_cc, "madc.hi.cc.u32", emulate_add(emulate_hi(a, b), c, carry_flag, true))
CUZK_OP3(madc_hi, "madc.hi.u32", emulate_add(emulate_hi(a, b), c, carry_flag, false))
#undef CUZK_OP2
#undef CUZK_OP3

/* acc[0..n) = a[0] b, a[2] b, ... as 64-bit pairs; n even. */
template <int n> CUZK_HD void pairs_mul(uint32_t *acc, const uint32_t *a, uint32_t b) {
    CUZK_UNROLL
    for (int j = 0; j < n; j += 2) {
        acc[j] = mul_lo(a[j], b);
        acc[j + 1] = mul_hi(a[j], b);
    }
}

/* acc += the pairs a[0] b, a[2] b, ...; the carry out of acc[n-1] is left in the flag. */
template <int n> CUZK_HD void pairs_mad_cc(uint32_t *acc, const uint32_t *a, uint32_t b) {
    acc[0] = mad_lo_cc(a[0], b, acc[0]);
    acc[1] = madc_hi_cc(a[0], b, acc[1]);
    CUZK_UNROLL
    for (int j = 2; j < n; j += 2) {
        acc[j] = madc_lo_cc(a[j], b, acc[j]);
        acc[j + 1] = madc_hi_cc(a[j], b, acc[j + 1]);
    }
}

/* acc = (acc >> 64) + the pairs a[0] b, a[2] b, ... + flag: the odd accumulator moves down by the
 * two limbs that the previous step consumed. No carry out. */
template <int n> CUZK_HD void pairs_mad_shift(uint32_t *acc, const uint32_t *a, uint32_t b) {
    CUZK_UNROLL
    for (int j = 0; j < n - 2; j += 2) {
        acc[j] = madc_lo_cc(a[j], b, acc[j + 2]);
        acc[j + 1] = madc_hi_cc(a[j], b, acc[j + 3]);
    }
    acc[n - 2] = madc_lo_cc(a[n - 2], b, 0);
    acc[n - 1] = madc_hi(a[n - 2], b, 0);
}

template <int n> CUZK_HD uint32_t limbs_add(uint32_t *z, const uint32_t *a, const uint32_t *b) {
    z[0] = add_cc(a[0], b[0]);
    CUZK_UNROLL
    for (int i = 1; i < n; i++)
        z[i] = addc_cc(a[i], b[i]);
    return addc(0, 0);
}

/* z = a - b; all ones when it borrowed. */
template <int n> CUZK_HD uint32_t limbs_sub(uint32_t *z, const uint32_t *a, const uint32_t *b) {
    z[0] = sub_cc(a[0], b[0]);
    CUZK_UNROLL
    for (int i = 1; i < n; i++)
        z[i] = subc_cc(a[i], b[i]);
    return subc(0, 0);
}

/* z += b & mask, no carry out. */
template <int n> CUZK_HD void limbs_add_masked(uint32_t *z, const uint32_t *b, uint32_t mask) {
    z[0] = add_cc(z[0], b[0] & mask);
    CUZK_UNROLL
    for (int i = 1; i < n - 1; i++)
        z[i] = addc_cc(z[i], b[i] & mask);
    z[n - 1] = addc(z[n - 1], b[n - 1] & mask);
}

} // namespace cuzk
#endif
