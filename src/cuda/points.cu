/* Decoding of points: a thread a coordinate; bound by memory. */
#include "points.cuh"

#include "launch.cuh"
#include "points_decode.cuh"

namespace cuzk {

/* A pair of threads turns a G2 coordinate's c1, c0 around, so a thread reads before its neighbour
 * writes: both are in one warp. */
__global__ void __launch_bounds__(256)
    decode_points(fp *out, const uint4 *in, uint64_t count, unsigned coordinates, uint64_t first,
                  unsigned long long *bad) {
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    uint4 v[3] = {};
    if (i < count)
        for (int k = 0; k < 3; k++)
            v[k] = in[3 * i + k];
    __syncwarp();
    if (i >= count) return;
    fp x;
    if (!decode_coordinate(v, &x)) atomicMin(bad, (unsigned long long)(first + i / coordinates));
    store16(out + (coordinates == 4 ? i ^ 1 : i), x);
}

cuzk_status points_decode(void *out, const void *in, uint64_t n, unsigned coordinates,
                          uint64_t first, uint64_t *bad, cudaStream_t stream, cuzk_error *err) {
    if (n == 0) return CUZK_OK;
    decode_points<<<blocks_for(n * coordinates, 256), 256, 0, stream>>>(
        (fp *)out, (const uint4 *)in, n * coordinates, coordinates, first,
        (unsigned long long *)bad);
    return launched("decode_points", err);
}

} // namespace cuzk
