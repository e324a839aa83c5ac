/* One pass of a number-theoretic transform: what a block does, phase by phase.
 *
 * A pass of b index bits treats 2^b elements at a distance of 2^below, a "line"; a block of 128
 * threads owns 2^(10-b) neighbouring lines, 1024 elements, which stay in shared memory from load to
 * store. Between them come ceil(b / 3) steps of radix 8: a thread transforms 8 elements in
 * registers. Shared memory holds 8 planes of 32-bit limbs, padded so that the lanes of a warp meet
 * in no bank. Decimation in frequency takes natural order to reversed order inside the line; the
 * mirror image, decimation in time, goes back. Between passes element r of a line is multiplied by
 * the twist factors of the higher digits of its index.
 *
 * Everything but the 5 multiplications inside a transform of 8 runs in loops that are not unrolled,
 * one or two elements at a time through shared memory: unrolled, a pass is 13,000 instructions, and
 * the warps wait for the instruction cache. Limit: the integer multiplier (3.6 multiplications an
 * element in a pass of 9 bits, 1 for each higher pass's twist). 36 KiB of shared memory and
 * 128 registers (96 for decimation in time): 4 or 5 blocks a multiprocessor, so that some compute
 * while others load.
 *
 * Phases hold no state but shared memory, so the CPU tests run them thread by thread. */
#ifndef CUZK_CUDA_NTT_BLOCK_CUH
#define CUZK_CUDA_NTT_BLOCK_CUH

#include "digits.cuh"
#include "ntt_factor.cuh"
#include "ntt_plan.h"
#include "vectors.cuh"

namespace cuzk {

constexpr uint32_t NTT_THREADS = 128, NTT_LOG2_TILE = 10, NTT_TILE = 1 << NTT_LOG2_TILE,
                   NTT_PLANE = NTT_TILE + NTT_TILE / 8;
constexpr uint32_t NTT_SHARED_BYTES = NTT_PLANE * sizeof(fr);

struct ntt_pass {
    ntt_factor eighth[3];  /* powers of the root of order 8: in the kernel's parameters, operands */
    const fr *in, *factor; /* factor: multiply the input by it element by element, or 0 */
    fr *out;               /* the tile that is read: in place is fine */
    const fr *minus;       /* subtract from the output, or 0 */
    const ntt_factor *roots; /* powers of the root of order 512 */
    const fr *scale;         /* 2^bits factors by position in the line on the reversed side, or 0 */
    uint32_t log2_n, below;
    uint32_t bits;  /* b, of this pass */
    bool canonical; /* last pass of the transform: outputs < r, else < 2r */
    /* Twist factors: digit a of the index selects the row. */
    uint32_t twists;
    const fr *twist[CUZK_NTT_MAX_PASSES - 1];
    uint8_t digit_at[CUZK_NTT_MAX_PASSES - 1], digit_bits[CUZK_NTT_MAX_PASSES - 1];
};

/* reversed: the input is in reversed order; last: below = 0, lines are contiguous and every phase
 * walks along them. */
template <bool reversed, bool last> struct ntt_block {
    const ntt_pass &pass;
    uint4 *const shared;
    const uint32_t tile, thread;

    /* log2 of the lines in a tile */
    CUZK_HD uint32_t log2_lines() const { return NTT_LOG2_TILE - pass.bits; }

    /* ---- places ---- */

    CUZK_HD uint64_t address(uint32_t line, uint32_t row) const {
        const uint64_t l = ((uint64_t)tile << log2_lines()) + line;
        return (l >> pass.below) << (pass.below + pass.bits) | (uint64_t)row << pass.below |
               (l & (((uint64_t)1 << pass.below) - 1));
    }
    /* Small transforms do not fill a tile. */
    CUZK_HD bool inside(uint32_t line) const {
        return (((uint64_t)tile << log2_lines()) + line) >> (pass.log2_n - pass.bits) == 0;
    }
    CUZK_HD uint32_t slot(uint32_t line, uint32_t row) const {
        const uint32_t i = last ? line << pass.bits | row : row << log2_lines() | line;
        return i + (i >> 3);
    }
    CUZK_HD fr get(uint32_t line, uint32_t row) const {
        const uint32_t s = slot(line, row);
        fr x;
        ((uint4 *)&x)[0] = shared[s];
        ((uint4 *)&x)[1] = shared[NTT_PLANE + s];
        return x;
    }
    CUZK_HD void put(uint32_t line, uint32_t row, const fr &x) const {
        const uint32_t s = slot(line, row);
        shared[s] = ((const uint4 *)&x)[0];
        shared[NTT_PLANE + s] = ((const uint4 *)&x)[1];
    }
    /* Element i * 128 + thread of the tile, neighbours by neighbours in memory. */
    CUZK_HD void place(uint32_t i, uint32_t *line, uint32_t *row) const {
        const uint32_t e = i * NTT_THREADS + thread;
        *line = last ? e >> pass.bits : e & ((1u << log2_lines()) - 1);
        *row = last ? e & ((1u << pass.bits) - 1) : e >> log2_lines();
    }
    /* Row m of group g in a step at distance 2^t. */
    static CUZK_HD uint32_t row(uint32_t g, uint32_t t, uint32_t m) {
        const uint32_t low = g & ((1u << t) - 1);
        return (g >> t) << (t + 3) | m << t | low;
    }

    /* ---- arithmetic ---- */

    CUZK_HD ntt_factor root(uint32_t power) const { return load16(pass.roots + power); }

    /* The last `levels` levels of a transform of 8: natural to reversed order. */
    CUZK_HD void forward8(fr *x, uint32_t levels) const {
        CUZK_UNROLL
        for (int half = 4; half > 0; half /= 2) {
            if (half >> levels != 0) continue;
            CUZK_UNROLL
            for (int i = 0; i < 8; i++) {
                if (i & half) continue;
                const int j = i & (half - 1);
                const fr u = x[i], v = x[i + half];
                x[i] = u + v;
                x[i + half] = u - v;
                if (j != 0) x[i + half] = x[i + half] * pass.eighth[4 / half * j - 1];
            }
        }
    }
    /* The first `levels` levels of its mirror image: reversed to natural order. */
    CUZK_HD void backward8(fr *x, uint32_t levels) const {
        CUZK_UNROLL
        for (int half = 1; half < 8; half *= 2) {
            if (half >> levels != 0) continue;
            CUZK_UNROLL
            for (int i = 0; i < 8; i++) {
                if (i & half) continue;
                const int j = i & (half - 1);
                const fr u = x[i];
                const fr v = j == 0 ? x[i + half] : x[i + half] * pass.eighth[4 / half * j - 1];
                x[i] = u + v;
                x[i + half] = u - v;
            }
        }
    }
    /* Elements i and i + 1 of this thread: two at a time are two independent products. */
    struct two {
        uint32_t line[2], row[2];
        uint64_t at[2];
        bool live[2];
        fr x[2];
    };
    CUZK_HD two get_two(uint32_t i) const {
        two e;
        CUZK_UNROLL
        for (uint32_t k = 0; k < 2; k++) {
            place(i + k, &e.line[k], &e.row[k]);
            e.live[k] = inside(e.line[k]);
            e.at[k] = address(e.line[k], e.row[k]);
            e.x[k] = e.live[k] ? get(e.line[k], e.row[k]) : fr::zero();
        }
        return e;
    }
    CUZK_HD void twist(two &e) const {
        CUZK_NO_UNROLL
        for (uint32_t a = 0; a < pass.twists; a++) {
            fr w[2];
            CUZK_UNROLL
            for (uint32_t k = 0; k < 2; k++) {
                const uint32_t digit =
                    (uint32_t)(e.at[k] >> pass.digit_at[a]) & ((1u << pass.digit_bits[a]) - 1);
                w[k] = load16(pass.twist[a] + ((uint64_t)digit << pass.bits | e.row[k]));
            }
            CUZK_UNROLL
            for (uint32_t k = 0; k < 2; k++)
                e.x[k] = e.x[k] * w[k];
        }
    }
    CUZK_HD void scale(two &e) const {
        if (pass.scale == nullptr) return;
        CUZK_UNROLL
        for (uint32_t k = 0; k < 2; k++)
            e.x[k] = e.x[k] * load16(pass.scale + e.row[k]);
    }

    /* ---- phases; a barrier stands between two of them ---- */

    CUZK_HD void load() const {
        CUZK_UNROLL
        for (uint32_t i = 0; i < 8; i++) {
            uint32_t l, r;
            place(i, &l, &r);
            if (inside(l)) put(l, r, load16(pass.in + address(l, r)));
        }
        if (pass.factor == nullptr && (reversed ? pass.scale == nullptr : pass.twists == 0)) return;
        CUZK_NO_UNROLL
        for (uint32_t i = 0; i < 8; i += 2) {
            two e = get_two(i);
            CUZK_UNROLL
            for (uint32_t k = 0; k < 2; k++)
                if (pass.factor != nullptr && e.live[k])
                    e.x[k] = e.x[k] * load16(pass.factor + e.at[k]);
            if (reversed)
                scale(e);
            else
                twist(e);
            CUZK_UNROLL
            for (uint32_t k = 0; k < 2; k++)
                if (e.live[k]) put(e.line[k], e.row[k], e.x[k]);
        }
    }
    CUZK_HD void store() const {
        CUZK_NO_UNROLL
        for (uint32_t i = 0; i < 8; i += 2) {
            two e = get_two(i);
            if (reversed)
                twist(e);
            else
                scale(e);
            CUZK_UNROLL
            for (uint32_t k = 0; k < 2; k++) {
                if (!e.live[k]) continue;
                if (pass.minus != nullptr) e.x[k] = e.x[k] - load16(pass.minus + e.at[k]);
                if (pass.canonical) e.x[k] = e.x[k].canon();
                store16(pass.out + e.at[k], e.x[k]);
            }
        }
    }

    CUZK_HD uint32_t steps() const { return (pass.bits + 2) / 3; }
    /* Step i from the natural side: rows at distance 2^t. The last one may be of fewer levels. */
    CUZK_HD void step(uint32_t i) const {
        const bool innermost = i + 1 == steps();
        const uint32_t t = innermost ? 0 : pass.bits - 3 * (i + 1);
        const uint32_t groups = pass.bits - 3; /* log2, in a line */
        const uint32_t l = last ? thread >> groups : thread & ((1u << log2_lines()) - 1),
                       g = last ? thread & ((1u << groups) - 1) : thread >> log2_lines();
        if (!inside(l)) return;
        if (reversed && !innermost) twiddle(l, g, t);
        fr x[8];
        CUZK_UNROLL
        for (uint32_t m = 0; m < 8; m++)
            x[m] = get(l, row(g, t, m));
        const uint32_t levels = innermost ? (pass.bits - 1) % 3 + 1 : 3;
        if (reversed)
            backward8(x, levels);
        else
            forward8(x, levels);
        CUZK_UNROLL
        for (uint32_t m = 0; m < 8; m++)
            put(l, row(g, t, m), x[m]);
        if (!reversed && !innermost) twiddle(l, g, t);
    }
    /* Row m (in reversed order) of a step at distance 2^t: times w^(low reverse(m)), w of order
     * 2^(t+3). */
    CUZK_HD void twiddle(uint32_t l, uint32_t g, uint32_t t) const {
        const uint32_t low = g & ((1u << t) - 1);
        put(l, row(g, t, 1), get(l, row(g, t, 1)) * root(low * 4 << (6 - t)));
        CUZK_NO_UNROLL
        for (uint32_t m = 2; m < 8; m += 2) {
            const uint32_t r0 = row(g, t, m), r1 = row(g, t, m + 1);
            const ntt_factor w0 = root(low * bit_reverse(m, 3) << (6 - t)),
                             w1 = root(low * bit_reverse(m + 1, 3) << (6 - t));
            const fr x0 = get(l, r0) * w0, x1 = get(l, r1) * w1;
            put(l, r0, x0);
            put(l, r1, x1);
        }
    }
};

} // namespace cuzk
#endif
