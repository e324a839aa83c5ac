/* A transform as a sequence of passes. */
#ifndef CUZK_CUDA_NTT_PASSES_CUH
#define CUZK_CUDA_NTT_PASSES_CUH

#include "base/status.h"
#include "ntt_block.cuh"
#include "ntt_tables.cuh"

namespace cuzk {

/* What to do: natural to reversed order or back, with optional fused neighbours. */
struct ntt_job {
    bool reversed;      /* the input is in reversed order */
    unsigned direction; /* 1: inverse roots */
    bool coset;         /* the coset's factors of the higher digits, with a matching scale */
    int scale;          /* a cuzk_ntt_scale, or -1 */
    const fr *in;       /* first pass; in == out is fine */
    const fr *factor;   /* first pass, natural input: multiply by it element by element, or 0 */
    const fr *minus;    /* last pass, reversed output: subtract it, or 0 */
    fr *out;
};

/* w and w^3 for w = 7^((r - 1) / 8) and its inverse, Montgomery. */
constexpr fr NTT_EIGHTH[2][2] = {
    {{{0x2c42eff8u, 0x6ecf4995u, 0x4d5dfa57u, 0x6ec1fa83u, 0x5656b15cu, 0x3ff5cf38u, 0x229e031bu,
       0x54b80267u}},
     {{0x3eb2a8ddu, 0x111f9842u, 0x6f38b840u, 0x1f772784u, 0x8e3ca13cu, 0xb28758a3u, 0xed9a48f0u,
       0x5974f9f7u}}},
    {{{0xc14d5724u, 0xeee067bcu, 0x90c5a3beu, 0x34467c7eu, 0x7b6536c9u, 0x80b27f64u, 0x3c033457u,
       0x1a78ad5bu}},
     {{0xd3bd1009u, 0x9130b669u, 0xb2a061a7u, 0xe4fba97fu, 0xb34b26a8u, 0xf34408cfu, 0x06ff7a2cu,
       0x1f35a4ecu}}},
};

inline bool ntt_has_wide(const cuzk_ntt_plan &p, unsigned direction, bool coset) {
    return p.wide_kinds >> (2 * coset + direction) & 1;
}

/* A factor for every element. */
inline ntt_factors ntt_every(const fr *table) {
    return {table, ~0u, 0, 0, 0, 0};
}

/* The twists of pass q. */
inline uint8_t ntt_twists(const cuzk_ntt_plan &p, const char *tables, const ntt_job &job,
                          unsigned q, bool scaled, ntt_factors *out) {
    if (q == p.passes - 1 && ntt_has_wide(p, job.direction, job.coset)) {
        out[0] = ntt_every((const fr *)(tables + p.wide[job.direction][job.coset]));
        return 1;
    }
    for (unsigned a = 0; a < q; a++) {
        const size_t offset =
            scaled && q == 1 ? p.scaled_twist : p.twist[job.direction][job.coset][a][q];
        out[a] = {(const fr *)(tables + offset), (1u << p.bits[a]) - 1, (1u << p.bits[q]) - 1,
                  (uint8_t)p.below[a],           (uint8_t)p.bits[q],    (uint8_t)p.below[q]};
    }
    return (uint8_t)q;
}

/* Pass i in the order of execution. */
inline ntt_pass ntt_make_pass(const cuzk_ntt_plan &p, const void *tables, const ntt_job &job,
                              unsigned i) {
    const char *const base = (const char *)tables;
    const unsigned last = p.passes - 1, q = job.reversed ? last - i : i;
    ntt_pass pass = {};
    pass.in = i == 0 ? job.in : job.out;
    pass.out = job.out;
    pass.minus = i == last ? job.minus : nullptr;
    for (int j = 0; j < 2; j++)
        pass.eighth[j] = ntt_make_factor(NTT_EIGHTH[job.direction][j]);
    pass.roots = (const ntt_factor *)(base + p.roots[job.direction]);
    pass.canonical = i == last;
    pass.below = p.below[q];
    pass.bits = p.bits[q];
    const unsigned in_all = p.log2_n - p.bits[q], in_tile = NTT_LOG2_TILE - p.bits[q];
    pass.lines = 1u << (in_all < in_tile ? in_all : in_tile);
    pass.tiles = p.log2_n > NTT_LOG2_TILE ? 1u << (p.log2_n - NTT_LOG2_TILE) : 1;
    const uint32_t lines_ahead = NTT_AHEAD << in_tile;
    pass.ahead = (lines_ahead >> p.below[q]) << (p.below[q] + p.bits[q]) |
                 (lines_ahead & ((1u << p.below[q]) - 1));

    /* Twists belong to the natural side, a scale to the reversed one. */
    const bool in_twist = job.scale == CUZK_NTT_SCALE_QUOTIENT_C && p.passes > 1;
    ntt_factors *const natural = job.reversed ? pass.after : pass.before, *const other =
                                                                              job.reversed
                                                                                  ? pass.before
                                                                                  : pass.after;
    const uint8_t twists = ntt_twists(p, base, job, q, in_twist, natural);
    const uint8_t scales = q == last && job.scale >= 0 && !in_twist;
    if (scales != 0)
        other[0] = {(const fr *)(base + p.scales[job.scale]), 0, (1u << p.bits[q]) - 1, 0, 0, 0};
    pass.befores = job.reversed ? scales : twists;
    pass.afters = job.reversed ? twists : scales;
    if (i == 0 && job.factor != nullptr) pass.before[pass.befores++] = ntt_every(job.factor);
    return pass;
}

/* cuzk_ntt_constants with the device's types. */
struct ntt_constants {
    fr_powers root[2], root512[2], coset[2]; /* forward, inverse */
    fr factor[CUZK_NTT_SCALES];
};

/* Whose powers a scale has: 0 those of 7, 1 of 1/7, -1 none. */
inline int ntt_scale_base(cuzk_ntt_scale s) {
    switch (s) {
    case CUZK_NTT_SCALE_COSET:
    case CUZK_NTT_SCALE_QUOTIENT_COSET:
        return 0;
    case CUZK_NTT_SCALE_COSET_INVERSE:
    case CUZK_NTT_SCALE_QUOTIENT_INVERSE:
        return 1;
    default:
        return -1;
    }
}

/* visit(table, entries, offset) for each table of the plan, until one does not return CUZK_OK. */
template <class V>
cuzk_status ntt_for_each_table(const cuzk_ntt_plan &p, const ntt_constants &k, V visit) {
    const unsigned last = p.passes - 1;
    fr_powers ones;
    for (auto &x : ones.power)
        x = fr::one();
    for (unsigned direction = 0; direction < 2; direction++) {
        CUZK_TRY(visit(ntt_power_table{k.root512[direction]}, CUZK_NTT_ROOTS, p.roots[direction]));
        for (unsigned coset = 0; coset < 2; coset++)
            for (unsigned q = 1; q < p.passes; q++)
                for (unsigned a = 0; a < q; a++) {
                    if (coset && q != last) continue;
                    const ntt_twist_table table = {
                        k.root[direction], coset ? k.coset[direction] : ones,
                        fr::one(),         p.log2_n - p.below[a] - p.bits[a],
                        p.bits[a],         p.bits[q],
                        p.below[q]};
                    CUZK_TRY(visit(table, 1u << (p.bits[a] + p.bits[q]),
                                   p.twist[direction][coset][a][q]));
                }
    }
    if (last > 0) {
        const ntt_twist_table table = {k.root[1], ones,      k.factor[CUZK_NTT_SCALE_QUOTIENT_C],
                                       0,         p.bits[0], p.bits[1],
                                       p.below[1]};
        CUZK_TRY(visit(table, 1u << (p.bits[0] + p.bits[1]), p.scaled_twist));
    }
    for (unsigned s = 0; s < CUZK_NTT_SCALES; s++) {
        const int base = ntt_scale_base((cuzk_ntt_scale)s);
        const ntt_scale_table table = {base < 0 ? ones : k.coset[base], k.factor[s],
                                       p.log2_n - p.bits[last], p.bits[last]};
        CUZK_TRY(visit(table, 1u << p.bits[last], p.scales[s]));
    }
    return CUZK_OK;
}

/* Likewise for the wide tables, whose entries are made from the others'. */
template <class V>
cuzk_status ntt_for_each_wide_table(const cuzk_ntt_plan &p, const void *tables, V visit) {
    for (unsigned direction = 0; direction < 2; direction++)
        for (unsigned coset = 0; coset < 2; coset++) {
            if (!ntt_has_wide(p, direction, coset)) continue;
            const unsigned last = p.passes - 1;
            ntt_wide_table table = {};
            table.twists = last;
            table.column_bits = p.bits[last];
            for (unsigned a = 0; a < last; a++) {
                table.twist[a] =
                    (const fr *)((const char *)tables + p.twist[direction][coset][a][last]);
                table.row_at[a] = p.below[a];
                table.row_bits[a] = p.bits[a];
            }
            CUZK_TRY(visit(table, 1u << p.log2_n, p.wide[direction][coset]));
        }
    return CUZK_OK;
}

} // namespace cuzk
#endif
