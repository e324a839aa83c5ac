/* One pass of a number-theoretic transform: what a block does, phase by phase.
 *
 * A pass of b index bits treats 2^b elements at a distance of 2^below, a "line"; a block of 256
 * threads owns 2^(11-b) neighbouring lines, 2048 elements, and a thread 8 elements at a time, which
 * it transforms in registers by radix 8. Between the (at most three) radix-8 steps elements change
 * threads through shared memory, kept in 8 planes of 32-bit limbs, padded so that the lanes of a
 * warp meet in no bank. Decimation in frequency takes natural order to reversed order inside the
 * line; the mirror image, decimation in time, goes back.
 *
 * Between passes element r of a line is multiplied by the twist factors of the higher digits of its
 * index. Limit: the integer multiplier (3.6 multiplications an element in a pass of 9 bits, 1 for
 * each higher pass's twist); registers: 64 for elements, 128 in all, 2 blocks a multiprocessor.
 *
 * Phases hold no state but shared memory, so the CPU tests run them thread by thread. */
#ifndef CUZK_CUDA_NTT_BLOCK_CUH
#define CUZK_CUDA_NTT_BLOCK_CUH

#include "digits.cuh"
#include "ntt_plan.h"
#include "sum_tree.cuh"

namespace cuzk {

constexpr uint32_t NTT_THREADS = 256, NTT_TILE = 2048, NTT_PLANE = NTT_TILE + NTT_TILE / 8;
constexpr uint32_t NTT_SHARED_BYTES = NTT_PLANE * 8 * 4;

struct ntt_pass {
    const fr *in, *factor; /* factor: multiply the input by it element by element, or 0 */
    fr *out;               /* the tile that is read: in place is fine */
    const fr *minus;       /* subtract from the output, or 0 */
    const fr *roots;       /* powers of the root of order 512 */
    const fr *scale;       /* 2^bits factors by position in the line on the reversed side, or 0 */
    uint32_t log2_n, below;
    uint32_t bits; /* b, of this pass */
    /* Twist factors: digit a of the index selects the row. */
    uint32_t twists;
    const fr *twist[CUZK_NTT_MAX_PASSES - 1];
    uint8_t digit_at[CUZK_NTT_MAX_PASSES - 1], digit_bits[CUZK_NTT_MAX_PASSES - 1];
};

/* reversed: the input is in reversed order; last: below = 0, lines are contiguous and every phase
 * walks along them. */
template <bool reversed, bool last> struct ntt_block {
    const ntt_pass &pass;
    uint32_t *const shared;
    const uint32_t tile, thread;

    /* log2 of the lines in a tile and of the groups of 8 rows in a line */
    CUZK_HD uint32_t log2_lines() const { return 11 - pass.bits; }
    CUZK_HD uint32_t log2_groups() const { return pass.bits - 3; }
    /* log2 of the distance in the first radix-8 step; in the middle one, if there is one, 3 less */
    CUZK_HD uint32_t top() const { return pass.bits - 3; }
    CUZK_HD bool has_middle() const { return pass.bits > 6; }
    /* levels of the last step, at distance 1 */
    CUZK_HD uint32_t final_levels() const { return (pass.bits - 1) % 3 + 1; }

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
        return last ? i + (i >> 3) : i + 4 * (i >> 5);
    }
    CUZK_HD fr get(uint32_t line, uint32_t row) const {
        fr x;
        const uint32_t s = slot(line, row);
        CUZK_UNROLL
        for (uint32_t i = 0; i < 8; i++)
            x.l[i] = shared[i * NTT_PLANE + s];
        return x;
    }
    CUZK_HD void put(uint32_t line, uint32_t row, const fr &x) const {
        const uint32_t s = slot(line, row);
        CUZK_UNROLL
        for (uint32_t i = 0; i < 8; i++)
            shared[i * NTT_PLANE + s] = x.l[i];
    }
    /* This thread's line, and its group of 8 rows. */
    CUZK_HD uint32_t line() const {
        return last ? thread >> log2_groups() : thread & ((1u << log2_lines()) - 1);
    }
    CUZK_HD uint32_t group() const {
        return last ? thread & ((1u << log2_groups()) - 1) : thread >> log2_lines();
    }
    /* Row m of group g in a step at distance 2^t. */
    static CUZK_HD uint32_t row(uint32_t g, uint32_t t, uint32_t m) {
        const uint32_t low = g & ((1u << t) - 1);
        return (g >> t) << (t + 3) | m << t | low;
    }

    /* ---- arithmetic ---- */

    CUZK_HD fr root(uint32_t power) const { return read_vectors(pass.roots + power); }

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
                if (j != 0) x[i + half] = x[i + half] * root((uint32_t)(256 / half * j));
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
                const fr v = j == 0 ? x[i + half] : x[i + half] * root((uint32_t)(256 / half * j));
                x[i] = u + v;
                x[i + half] = u - v;
            }
        }
    }
    /* Twiddle of row m (in reversed order) in a step at distance 2^t: w^(low reverse(m)), w of
     * order 2^(t+3). */
    CUZK_HD void twiddle8(fr *x, uint32_t g, uint32_t t) const {
        const uint32_t low = g & ((1u << t) - 1);
        const uint32_t reverse[8] = {0, 4, 2, 6, 1, 5, 3, 7};
        CUZK_UNROLL
        for (int m = 1; m < 8; m++)
            x[m] = x[m] * root(low * reverse[m] << (6 - t));
    }
    CUZK_HD fr twisted(fr x, uint64_t address, uint32_t row) const {
        for (uint32_t a = 0; a < pass.twists; a++) {
            const uint32_t digit =
                (uint32_t)(address >> pass.digit_at[a]) & ((1u << pass.digit_bits[a]) - 1);
            x = x * read_vectors(pass.twist[a] + ((uint64_t)digit << pass.bits | row));
        }
        return x;
    }
    CUZK_HD fr input(uint64_t at) const {
        fr x = read_vectors(pass.in + at);
        if (pass.factor != nullptr) x = x * read_vectors(pass.factor + at);
        return x;
    }
    CUZK_HD void output(uint64_t at, fr x) const {
        if (pass.minus != nullptr) x = x - read_vectors(pass.minus + at);
        write_vectors(pass.out + at, x);
    }

    /* ---- phases; a barrier stands between two of them ---- */

    /* Contiguous lines: whole tile between memory and shared memory, neighbours by neighbours. */
    CUZK_HD void load_lines() const {
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t e = i * NTT_THREADS + thread, l = e >> pass.bits,
                           r = e & ((1u << pass.bits) - 1);
            if (!inside(l)) continue;
            fr x = input(address(l, r));
            if (pass.scale != nullptr) x = x * read_vectors(pass.scale + r);
            put(l, r, x);
        }
    }
    CUZK_HD void store_lines() const {
        for (uint32_t i = 0; i < 8; i++) {
            const uint32_t e = i * NTT_THREADS + thread, l = e >> pass.bits,
                           r = e & ((1u << pass.bits) - 1);
            if (!inside(l)) continue;
            fr x = get(l, r);
            if (pass.scale != nullptr) x = x * read_vectors(pass.scale + r);
            output(address(l, r), x);
        }
    }
    /* The step at the largest distance: the outer side of the line, in natural order. */
    CUZK_HD void outer_step() const {
        const uint32_t l = line(), g = group();
        if (!inside(l)) return;
        fr x[8];
        CUZK_UNROLL
        for (uint32_t m = 0; m < 8; m++) {
            const uint32_t r = row(g, top(), m);
            if (reversed) {
                x[m] = get(l, r);
            } else {
                const uint64_t at = address(l, r);
                x[m] = twisted(input(at), at, r);
            }
        }
        if (reversed) {
            twiddle8(x, g, top());
            backward8(x, 3);
        } else {
            forward8(x, 3);
            twiddle8(x, g, top());
        }
        CUZK_UNROLL
        for (uint32_t m = 0; m < 8; m++) {
            const uint32_t r = row(g, top(), m);
            if (reversed) {
                const uint64_t at = address(l, r);
                output(at, twisted(x[m], at, r));
            } else {
                put(l, r, x[m]);
            }
        }
    }
    CUZK_HD void middle_step() const {
        const uint32_t t = top() - 3;
        const uint32_t l = line(), g = group();
        if (!inside(l)) return;
        fr x[8];
        CUZK_UNROLL
        for (uint32_t m = 0; m < 8; m++)
            x[m] = get(l, row(g, t, m));
        if (reversed) {
            twiddle8(x, g, t);
            backward8(x, 3);
        } else {
            forward8(x, 3);
            twiddle8(x, g, t);
        }
        CUZK_UNROLL
        for (uint32_t m = 0; m < 8; m++)
            put(l, row(g, t, m), x[m]);
    }
    /* The step at distance 1: the inner side, in reversed order. Lines apart are read or written
     * here, contiguous ones stay in shared memory. */
    CUZK_HD void inner_step() const {
        const uint32_t l = line(), g = group();
        if (!inside(l)) return;
        fr x[8];
        CUZK_UNROLL
        for (uint32_t m = 0; m < 8; m++)
            x[m] = reversed && !last ? input(address(l, 8 * g + m)) : get(l, 8 * g + m);
        if (reversed)
            backward8(x, final_levels());
        else
            forward8(x, final_levels());
        CUZK_UNROLL
        for (uint32_t m = 0; m < 8; m++)
            if (reversed || last)
                put(l, 8 * g + m, x[m]);
            else
                output(address(l, 8 * g + m), x[m]);
    }
};

} // namespace cuzk
#endif
