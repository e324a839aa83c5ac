/* One pass of a number-theoretic transform: what a block does, phase by phase.
 *
 * A pass of b index bits treats 2^b elements at a distance of 2^below, a "line"; a block of 128
 * threads owns 2^(10-b) neighbouring lines, 1024 elements, which stay in shared memory from load to
 * store. Between them come ceil(b / 3) steps of radix 8: a thread transforms 8 elements in
 * registers. Shared memory holds two planes of 16-byte words, padded so that the lanes of a warp
 * meet in no bank. Decimation in frequency takes natural order to reversed order inside the line;
 * the mirror image, decimation in time, goes back. Between passes an element is multiplied by the
 * twist factors of the higher digits of its index.
 *
 * Everything but the 5 products inside a transform of 8 runs in loops that are not unrolled, one or
 * two elements at a time through shared memory: unrolled, a pass is 13,000 instructions, and the
 * warps wait for the instruction cache. Limit: the integer multiplier. A pass of 9 bits has 3.6
 * products an element, all with roots known beforehand (ntt_factor.cuh: 372 of the multiplier's
 * cycles for a warp, 244 for the 1.1 by the root of order 4), and a twist for each higher pass, or
 * a single one from a wide table (448 cycles). 36 KiB of shared memory and 96 registers: 5 blocks a
 * multiprocessor, so that some compute while others load.
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

/* Where the factor of element i is found: two fields of i make the place in a table. */
struct ntt_factors {
    const fr *table;
    uint32_t high_mask, low_mask;
    uint8_t high_at, high_to, low_at;

    CUZK_HD fr of(uint32_t i) const {
        return load16(table + ((i >> high_at & high_mask) << high_to | (i >> low_at & low_mask)));
    }
};

/* A block asks the L2 cache for the elements of a tile that starts about half a wave later. */
constexpr uint32_t NTT_AHEAD = 256;

struct ntt_pass {
    ntt_factor eighth[2]; /* w, w^3, w of order 8: from the kernel's parameters to operands */
    const fr *in;
    fr *out;                 /* the tile that is read: in place is fine */
    const fr *minus;         /* subtract from the output, or 0 */
    const ntt_factor *roots; /* powers of the root of order 512 */
    uint32_t below, bits;    /* b, of this pass */
    uint32_t lines;          /* in a tile; fewer than fill it for a small transform */
    uint32_t tiles, ahead;   /* elements between a tile and the one NTT_AHEAD later */
    bool canonical;          /* last pass of the transform: outputs < r, else < 2r */
    uint8_t befores, afters; /* factors of what is loaded and of what is stored */
    ntt_factors before[CUZK_NTT_MAX_PASSES - 1], after[CUZK_NTT_MAX_PASSES - 1];
};

/* reversed: the input is in reversed order; last: below = 0, lines are contiguous and every phase
 * walks along them; inverse: the roots are. */
template <bool reversed, bool last, bool inverse> struct ntt_block {
    const ntt_pass &pass;
    uint4 *const shared;
    const uint32_t tile, thread;

    /* log2 of the lines in a tile */
    CUZK_HD uint32_t log2_lines() const { return NTT_LOG2_TILE - pass.bits; }

    /* ---- places ---- */

    CUZK_HD uint32_t address(uint32_t line, uint32_t row) const {
        const uint32_t l = (tile << log2_lines()) + line;
        return (l >> pass.below) << (pass.below + pass.bits) | row << pass.below |
               (l & ((1u << pass.below) - 1));
    }
    CUZK_HD uint32_t slot(uint32_t line, uint32_t row) const {
        const uint32_t i = last ? line << pass.bits | row : row << log2_lines() | line;
        return i + (i >> 3);
    }
    CUZK_HD fr get(uint32_t s) const {
        fr x;
        ((uint4 *)&x)[0] = shared[s];
        ((uint4 *)&x)[1] = shared[NTT_PLANE + s];
        return x;
    }
    CUZK_HD void put(uint32_t s, const fr &x) const {
        shared[s] = ((const uint4 *)&x)[0];
        shared[NTT_PLANE + s] = ((const uint4 *)&x)[1];
    }
    /* Element i * 128 + thread of the tile: neighbours are neighbours in memory and in the tile. A
     * small transform does not fill its tile: what is outside computes on element 0 and is not
     * stored. */
    struct place {
        uint32_t slot, at;
        bool inside;
    };
    CUZK_HD place find(uint32_t i) const {
        const uint32_t e = i * NTT_THREADS + thread;
        const uint32_t line = last ? e >> pass.bits : e & ((1u << log2_lines()) - 1);
        const uint32_t row = last ? e & ((1u << pass.bits) - 1) : e >> log2_lines();
        const bool inside = line < pass.lines;
        return {e + (e >> 3), inside ? address(line, row) : 0, inside};
    }
    /* A group of 8 rows in a step: row m lies m slots of `stride` behind the first. Groups begin at
     * multiples of 8 strides, so the padding between is the same for all. */
    struct group {
        uint32_t first, stride, low;
        CUZK_HD uint32_t slot(uint32_t m) const { return first + m * stride + (m * stride >> 3); }
    };
    /* Group g of a line, rows at distance 2^t. */
    CUZK_HD group find_group(uint32_t line, uint32_t g, uint32_t t) const {
        const uint32_t low = g & ((1u << t) - 1);
        return {slot(line, (g >> t) << (t + 3) | low), last ? 1u << t : 1u << (t + log2_lines()),
                low};
    }

    /* ---- arithmetic ---- */

    CUZK_HD ntt_factor root(uint32_t power) const { return load16(pass.roots + power); }

    /* x times that power of the root of order 8; for the inverse root, power 2 is the negative. */
    CUZK_HD fr times_eighth(const fr &x, int power) const {
        return power == 2 ? ntt_times_fourth(x) : x * pass.eighth[power / 2];
    }
    /* The last `levels` levels of a transform of 8: natural to reversed order. */
    CUZK_HD void forward8(fr *x, uint32_t levels) const {
        CUZK_UNROLL
        for (int half = 4; half > 0; half /= 2) {
            if (half >> levels != 0) continue;
            CUZK_UNROLL
            for (int i = 0; i < 8; i++) {
                if (i & half) continue;
                const int j = i & (half - 1);
                const int power = 4 / half * j;
                const fr u = x[i], v = x[i + half];
                x[i] = u + v;
                x[i + half] = inverse && power == 2 ? v - u : u - v;
                if (power != 0) x[i + half] = times_eighth(x[i + half], power);
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
                const int power = 4 / half * j;
                const fr u = x[i];
                const fr v = power == 0 ? x[i + half] : times_eighth(x[i + half], power);
                const bool turned = inverse && power == 2;
                x[i] = turned ? u - v : u + v;
                x[i + half] = turned ? u + v : u - v;
            }
        }
    }

    /* ---- phases; a barrier stands between two of them ---- */

    /* Multiply this thread's elements, two by two, by each table's factors. A pair's factors are
     * requested while the pair before it is multiplied. */
    struct multiplier {
        uint32_t slot[2];
        fr w[2];
    };
    CUZK_HD void request(multiplier &m, const ntt_factors &factors, uint32_t i) const {
        CUZK_UNROLL
        for (uint32_t k = 0; k < 2; k++) {
            const place e = find(i + k);
            m.slot[k] = e.slot;
            m.w[k] = factors.of(e.at);
        }
    }
    CUZK_HD void multiply(multiplier &m, const ntt_factors *factors, uint32_t tables) const {
        CUZK_NO_UNROLL
        for (uint32_t i = 2; i <= 8 * tables; i += 2) {
            const multiplier now = m;
            if (i < 8 * tables) request(m, factors[i / 8], i % 8);
            fr x[2];
            CUZK_UNROLL
            for (uint32_t k = 0; k < 2; k++)
                x[k] = get(now.slot[k]) * now.w[k];
            CUZK_UNROLL
            for (uint32_t k = 0; k < 2; k++)
                put(now.slot[k], x[k]);
        }
    }

    CUZK_HD void subtract() const {
        CUZK_NO_UNROLL
        for (uint32_t i = 0; i < 8; i += 2) {
            const place e[2] = {find(i), find(i + 1)};
            fr y[2];
            CUZK_UNROLL
            for (uint32_t k = 0; k < 2; k++)
                y[k] = load16(pass.minus + e[k].at);
            CUZK_UNROLL
            for (uint32_t k = 0; k < 2; k++)
                put(e[k].slot, get(e[k].slot) - y[k]);
        }
    }

    static CUZK_HD void prefetch_l2(const fr *p) {
#ifdef __CUDA_ARCH__
        asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#else
        (void)p;
#endif
    }

    CUZK_HD void load() const {
        fr x[8];
        CUZK_UNROLL
        for (uint32_t i = 0; i < 8; i++)
            x[i] = load16(pass.in + find(i).at);
        if (tile + NTT_AHEAD < pass.tiles) {
            CUZK_UNROLL
            for (uint32_t i = 0; i < 8; i++)
                prefetch_l2(pass.in + find(i).at + pass.ahead);
        }
        multiplier m;
        if (pass.befores != 0) request(m, pass.before[0], 0);
        CUZK_UNROLL
        for (uint32_t i = 0; i < 8; i++)
            put(find(i).slot, x[i]);
        multiply(m, pass.before, pass.befores);
    }
    CUZK_HD void store() const {
        if (pass.afters != 0) {
            multiplier m;
            request(m, pass.after[0], 0);
            multiply(m, pass.after, pass.afters);
        }
        if (pass.minus != nullptr) subtract();
        CUZK_NO_UNROLL
        for (uint32_t i = 0; i < 8; i += 2) {
            CUZK_UNROLL
            for (uint32_t k = 0; k < 2; k++) {
                const place e = find(i + k);
                fr x = get(e.slot);
                if (pass.canonical) x = x.canon();
                if (e.inside) store16(pass.out + e.at, x);
            }
        }
    }

    CUZK_HD uint32_t steps() const {
        return (pass.bits + 2) / 3;
    }
    /* Step i from the natural side: rows at distance 2^t. The last one may be of fewer levels. */
    CUZK_HD void step(uint32_t i) const {
        const bool innermost = i + 1 == steps();
        const uint32_t t = innermost ? 0 : pass.bits - 3 * (i + 1);
        const uint32_t groups = pass.bits - 3; /* log2, in a line */
        const uint32_t l = last ? thread >> groups : thread & ((1u << log2_lines()) - 1),
                       g = last ? thread & ((1u << groups) - 1) : thread >> log2_lines();
        const group rows = find_group(l, g, t);
        if (reversed && !innermost) twiddle(rows, t);
        fr x[8];
        CUZK_UNROLL
        for (uint32_t m = 0; m < 8; m++)
            x[m] = get(rows.slot(m));
        const uint32_t levels = innermost ? (pass.bits - 1) % 3 + 1 : 3;
        if (reversed)
            backward8(x, levels);
        else
            forward8(x, levels);
        CUZK_UNROLL
        for (uint32_t m = 0; m < 8; m++)
            put(rows.slot(m), x[m]);
        if (!reversed && !innermost) twiddle(rows, t);
    }
    /* Row m (in reversed order) of a step at distance 2^t: times w^(low reverse(m)), w of order
     * 2^(t+3). */
    CUZK_HD void twiddle(const group &rows, uint32_t t) const {
        put(rows.slot(1), get(rows.slot(1)) * root(rows.low * 4 << (6 - t)));
        CUZK_NO_UNROLL
        for (uint32_t m = 2; m < 8; m += 2) {
            const uint32_t s0 = rows.slot(m), s1 = rows.slot(m + 1);
            const ntt_factor w0 = root(rows.low * bit_reverse(m, 3) << (6 - t)),
                             w1 = root(rows.low * bit_reverse(m + 1, 3) << (6 - t));
            const fr x0 = get(s0) * w0, x1 = get(s1) * w1;
            put(s0, x0);
            put(s1, x1);
        }
    }
};

} // namespace cuzk
#endif
