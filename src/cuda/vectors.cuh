/* Loads and stores of structures in 16-byte words. */
#ifndef CUZK_CUDA_VECTORS_CUH
#define CUZK_CUDA_VECTORS_CUH

#include "limbs.cuh"

namespace cuzk {

template <class T> CUZK_HD T load16(const T *p) {
    static_assert(sizeof(T) % 16 == 0, "whole words");
#ifdef __CUDA_ARCH__
    union {
        T value;
        uint4 v[sizeof(T) / 16];
    } u;
    CUZK_UNROLL
    for (unsigned i = 0; i < sizeof(T) / 16; i++)
        u.v[i] = ((const uint4 *)p)[i];
    return u.value;
#else
    return *p;
#endif
}

template <class T> CUZK_HD void store16(T *p, const T &value) {
    static_assert(sizeof(T) % 16 == 0, "whole words");
#ifdef __CUDA_ARCH__
    union {
        T value;
        uint4 v[sizeof(T) / 16];
    } u;
    u.value = value;
    CUZK_UNROLL
    for (unsigned i = 0; i < sizeof(T) / 16; i++)
        ((uint4 *)p)[i] = u.v[i];
#else
    *p = value;
#endif
}

} // namespace cuzk
#endif
