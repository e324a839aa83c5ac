/* Set-up: digits of scalars, and points into the parameter file's encoding. */
#include "launch.cuh"
#include "partition.h"
#include "point.cuh"

namespace cuzk {

__global__ void fixed_digits(const fr *scalars, uint64_t n, uint32_t *list, uint32_t *starts) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i > n) return;
    starts[i] = (uint32_t)i * CUZK_FIXED_WINDOWS;
    if (i == n) return;
    const fr k = load16(scalars + i).from_mont();
    for (uint32_t w = 0; w < CUZK_FIXED_WINDOWS; w++) {
        const uint32_t at = w * CUZK_FIXED_BITS, limb = at / 32;
        const uint64_t pair = k.l[limb] | (uint64_t)(limb + 1 < fr::N ? k.l[limb + 1] : 0) << 32;
        const uint32_t digit = (uint32_t)(pair >> (at % 32)) & ((1u << CUZK_FIXED_BITS) - 1);
        list[i * CUZK_FIXED_WINDOWS + w] = (w << CUZK_FIXED_BITS) + digit;
    }
}

/* A thread a coordinate: big-endian, in vectors; infinity has bit 6 of its first byte set. */
__global__ void encode_points(const fp *in, uint64_t count, unsigned coordinates, uint4 *out) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= count) return;
    const fp unit = {{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
    const fp x = (load16(in + (coordinates == 4 ? i ^ 1 : i)) * unit).canon();
    uint32_t w[12];
    for (int k = 0; k < 12; k++)
        w[k] = __byte_perm(x.l[11 - k], 0, 0x0123);
    if (i % coordinates == 0) {
        bool zero = true;
        for (unsigned c = 0; c < coordinates; c++)
            zero = zero && load16(in + i + c).limbs_zero();
        if (zero) w[0] |= 0x40;
    }
    for (int k = 0; k < 3; k++)
        out[3 * i + k] = make_uint4(w[4 * k], w[4 * k + 1], w[4 * k + 2], w[4 * k + 3]);
}

} // namespace cuzk

using namespace cuzk;

cuzk_status cuzk_gpu_fixed_digits(const void *scalars, uint64_t n, uint32_t *list, uint32_t *starts,
                                  cuzk_gpu_stream stream, cuzk_error *err) {
    fixed_digits<<<blocks_for(n + 1, 256), 256, 0, stream>>>((const fr *)scalars, n, list, starts);
    return launched("fixed_digits", err);
}

cuzk_status cuzk_gpu_encode(cuzk_gpu_group curve, void *out, const void *points, uint64_t n,
                            cuzk_gpu_stream stream, cuzk_error *err) {
    if (n == 0) return CUZK_OK;
    const unsigned coordinates = curve == CUZK_GPU_G1 ? 2 : 4;
    encode_points<<<blocks_for(n * coordinates, 256), 256, 0, stream>>>(
        (const fp *)points, n * coordinates, coordinates, (uint4 *)out);
    return launched("encode_points", err);
}
