/* Small inputs fill the emulated device several times. */
#define CUZK_TREE_BATCH_MAX 5
#include "device_math.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "cuda/digits.cuh"
#include "cuda/multiples.cuh"
#include "cuda/ntt_constants.h"
#include "cuda/ntt_factor.cuh"
#include "cuda/ntt_passes.cuh"
#include "cuda/points_decode.cuh"
#include "cuda/sum_tree.cuh"

namespace {
template <class D, class H> D load(const H *h) {
    static_assert(sizeof(D) == sizeof(H), "same value in memory");
    D d;
    std::memcpy(&d, h, sizeof d);
    return d;
}
template <class H, class D> void store(H *h, const D &d) {
    std::memcpy(h, &d, sizeof *h);
}
using cuzk::fp;
using cuzk::fp2;
using cuzk::fr;
template <class F, class H, class Q> void add(H *z, const H *p, const Q &q) {
    auto sum = load<cuzk::xyzz<F>>(p);
    sum.add(q);
    store(z, sum.canon());
}

template <class F, class A> void multiple(A *z, const A *p, unsigned times) {
    auto q = cuzk::jacobian<F>::from_affine(load<cuzk::affine<F>>(p));
    q.double_times(times);
    store(z, q.to_affine(q.denominator().inverse()));
}

template <class F, class A>
void tree(A *sums, const A *points, const uint32_t *list, const uint32_t *in_at, uint32_t buckets,
          uint32_t threads) {
    using P = cuzk::affine<F>;
    std::vector<uint32_t> at(in_at, in_at + buckets + 1), next(buckets + 1), pairs(buckets + 1);
    std::vector<P> current, out;
    for (bool first = true; at[buckets] != 0; first = false) {
        uint32_t total = 0, additions = 0;
        for (uint32_t b = 0; b <= buckets; b++) {
            next[b] = total;
            pairs[b] = additions;
            if (b == buckets) break;
            total += cuzk::tree_sums(at[b + 1] - at[b]);
            additions += cuzk::tree_pairs(at[b + 1] - at[b]);
        }
        std::vector<cuzk::uint4> prefix(
            (additions + cuzk::TREE_BLOCK * (cuzk::TREE_BATCH_MAX + 8)) * sizeof(F) / 16);
        out.assign(total + 1, P::infinity());
        cuzk::tree_level<F> level = {};
        level.points = first ? (const P *)points : current.data();
        level.list = first ? list : nullptr;
        level.in_at = at.data();
        level.out_at = next.data();
        level.pair_at = pairs.data();
        level.buckets = buckets;
        level.threads = threads;
        level.out = out.data();
        level.finished = (P *)sums;
        level.item_plane = (additions + 3) / 4 * 4;
        std::vector<cuzk::uint4> items(level.item_plane * 3 / 4);
        level.items = (uint32_t *)items.data();
        level.prefix = prefix.data();
        for (uint32_t i = 0; i < additions / cuzk::TREE_RUN + 1; i++)
            cuzk::tree_describe(level, i);
        for (uint32_t i = 0; i < buckets * cuzk::tree_parts<F>; i++)
            cuzk::tree_leftover(level, i / cuzk::tree_parts<F>, i % cuzk::tree_parts<F>);
        constexpr bool staggered = cuzk::tree_worker<F>::STAGGERED;
        for (uint32_t block = 0; block < cuzk::tree_blocks(additions, threads, staggered);
             block++) {
            const cuzk::tree_share share =
                cuzk::tree_share_of(additions, threads, staggered, block);
            if (share.batch == 0 || share.first >= additions) continue;
            std::vector<cuzk::tree_worker<F>> workers;
            std::vector<F> products;
            for (uint32_t t = 0; t < cuzk::TREE_BLOCK; t++) {
                workers.emplace_back(level, share, t);
                products.push_back(workers[t].up());
            }
            for (uint32_t t = 0; t < cuzk::TREE_BLOCK; t++) {
                workers[t].put(0, products[t].inverse());
                workers[t].down();
            }
        }
        current.swap(out);
        at.swap(next);
    }
}

template <bool reversed, bool last, bool inverse> void run_blocks(const cuzk::ntt_pass &pass) {
    std::vector<cuzk::uint4> shared(cuzk::NTT_SHARED_BYTES / 16);
    using block = cuzk::ntt_block<reversed, last, inverse>;
    for (uint32_t tile = 0; tile < pass.tiles; tile++) {
        const auto each = [&](auto phase) {
            for (uint32_t t = 0; t < cuzk::NTT_THREADS; t++)
                phase(block{pass, shared.data(), tile, t});
        };
        const uint32_t steps = block{pass, shared.data(), tile, 0}.steps();
        each([](const block &b) { b.load(); });
        for (uint32_t i = 0; i < steps; i++)
            each([&](const block &b) { b.step(reversed ? steps - 1 - i : i); });
        each([](const block &b) { b.store(); });
    }
}
template <bool reversed, bool inverse> void run_pass(const cuzk::ntt_pass &pass) {
    pass.below == 0 ? run_blocks<reversed, true, inverse>(pass)
                    : run_blocks<reversed, false, inverse>(pass);
}
void run_pass(const cuzk::ntt_pass &pass, bool reversed, bool inverse) {
    if (reversed)
        inverse ? run_pass<true, true>(pass) : run_pass<true, false>(pass);
    else
        inverse ? run_pass<false, true>(pass) : run_pass<false, false>(pass);
}
} // namespace

extern "C" {
void device_fp_mul(fp_t *z, const fp_t *a, const fp_t *b) {
    store(z, (load<fp>(a) * load<fp>(b)).canon());
}
void device_fp_mul_raw(fp_t *z, const fp_t *a, const fp_t *b) {
    store(z, load<fp>(a) * load<fp>(b));
}
void device_fp_sqr(fp_t *z, const fp_t *a) {
    store(z, load<fp>(a).sqr().canon());
}
void device_fp_add(fp_t *z, const fp_t *a, const fp_t *b) {
    store(z, (load<fp>(a) + load<fp>(b)).canon());
}
void device_fp_sub(fp_t *z, const fp_t *a, const fp_t *b) {
    store(z, (load<fp>(a) - load<fp>(b)).canon());
}
void device_fp_inverse(fp_t *z, const fp_t *a) {
    store(z, load<fp>(a).inverse().canon());
}
void device_fp_sum_of_products(fp_t *z, const fp_t *a, const fp_t *b, const fp_t *c,
                               const fp_t *d) {
    const auto t = wide_add(mul_wide(load<fp>(a), load<fp>(b)), mul_wide(load<fp>(c), load<fp>(d)));
    store(z, wide_reduce(t).canon());
}
void device_fp_difference_of_products(fp_t *z, const fp_t *a, const fp_t *b, const fp_t *c,
                                      const fp_t *d) {
    const auto t = wide_sub(mul_wide(load<fp>(a), load<fp>(b)), mul_wide(load<fp>(c), load<fp>(d)));
    store(z, wide_reduce(t).canon());
}
void device_fr_mul(fr_t *z, const fr_t *a, const fr_t *b) {
    store(z, (load<fr>(a) * load<fr>(b)).canon());
}
void device_fr_add(fr_t *z, const fr_t *a, const fr_t *b) {
    store(z, (load<fr>(a) + load<fr>(b)).canon());
}
void device_fr_sub(fr_t *z, const fr_t *a, const fr_t *b) {
    store(z, (load<fr>(a) - load<fr>(b)).canon());
}
void device_fp2_mul(fp2_t *z, const fp2_t *a, const fp2_t *b) {
    store(z, (load<fp2>(a) * load<fp2>(b)).canon());
}
void device_fp2_sqr(fp2_t *z, const fp2_t *a) {
    store(z, load<fp2>(a).sqr().canon());
}
void device_fp2_inverse(fp2_t *z, const fp2_t *a) {
    store(z, load<fp2>(a).inverse().canon());
}
void device_g1_add(g1_t *z, const g1_t *p, const g1_t *q) {
    add<fp>(z, p, load<cuzk::xyzz<fp>>(q));
}
void device_g1_add_affine(g1_t *z, const g1_t *p, const g1_affine_t *q) {
    add<fp>(z, p, load<cuzk::affine<fp>>(q));
}
void device_g2_add(g2_t *z, const g2_t *p, const g2_t *q) {
    add<fp2>(z, p, load<cuzk::xyzz<fp2>>(q));
}
void device_g2_add_affine(g2_t *z, const g2_t *p, const g2_affine_t *q) {
    add<fp2>(z, p, load<cuzk::affine<fp2>>(q));
}
bool device_decode_g1(g1_affine_t *z, const uint8_t in[G1_UNCOMPRESSED_BYTES]) {
    fp xy[2];
    bool good = true;
    for (int i = 0; i < 2; i++) {
        cuzk::uint4 v[3];
        std::memcpy(v, in + 48 * i, sizeof v);
        good = cuzk::decode_coordinate(v, &xy[i]) && good;
    }
    std::memcpy(z, xy, sizeof xy);
    return good;
}
void device_multiple_g1(g1_affine_t *z, const g1_affine_t *p, unsigned times) {
    multiple<fp>(z, p, times);
}
void device_multiple_g2(g2_affine_t *z, const g2_affine_t *p, unsigned times) {
    multiple<fp2>(z, p, times);
}
void device_scalar_digits(uint32_t *digits, const cuzk_msm_windows *windows, const fr_t *k,
                          uint64_t stride) {
    cuzk::scalar_digits(load<fr>(k), *windows, digits, stride);
}
uint64_t device_line_lists(uint32_t *list, uint32_t *starts, const cuzk_msm_windows *windows,
                           const cuzk_msm_vectors *vectors) {
    uint64_t entries = 0;
    for (uint32_t s = 0; s < windows->sets; s++) {
        const cuzk::set_lines set(*windows, s);
        for (uint32_t i = 0; i < set.entries(); i++)
            list[set.first + i] = set.entry(i);
        for (uint32_t k = 0; k < set.lines(); k++)
            starts[vectors->base[2 * s] + k] = set.first + set.start(k);
        entries += set.entries();
    }
    starts[vectors->base[vectors->count]] = (uint32_t)entries;
    return entries;
}
uint32_t device_subset_list(uint32_t *list, const uint32_t *words, uint32_t n, bool pairs) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < (n + 31) / 32; i++) {
        const uint32_t word = (i + 1) * 32 <= n ? words[i] : words[i] & ((1u << n % 32) - 1),
                       marks = cuzk::subset_marks(word, pairs);
        for (uint32_t bit = 0; bit < 32; bit++)
            if (marks >> bit & 1) list[at++] = cuzk::subset_entry(word, i, bit, n, pairs);
    }
    return at;
}
void device_tree_g1(g1_affine_t *sums, const g1_affine_t *points, const uint32_t *list,
                    const uint32_t *in_at, uint32_t buckets, uint32_t threads) {
    tree<fp>(sums, points, list, in_at, buckets, threads);
}
void device_tree_g2(g2_affine_t *sums, const g2_affine_t *points, const uint32_t *list,
                    const uint32_t *in_at, uint32_t buckets, uint32_t threads) {
    tree<fp2>(sums, points, list, in_at, buckets, threads);
}
void device_ntt_factor_mul(fr_t *z, const fr_t *x, const fr_t *w) {
    store(z, load<fr>(x) * cuzk::ntt_make_factor(load<fr>(w)));
}
void device_ntt_times_fourth(fr_t *z, const fr_t *x) {
    store(z, cuzk::ntt_times_fourth(load<fr>(x)));
}
void device_ntt(const cuzk_ntt_plan *plan, bool reversed, unsigned direction, bool coset, int scale,
                const fr_t *in, const fr_t *factor, const fr_t *minus, fr_t *out) {
    static std::vector<uint8_t> tables; /* of the last plan */
    static cuzk_ntt_plan tables_plan;
    if (std::memcmp(&tables_plan, plan, sizeof *plan) != 0) {
        cuzk::ntt_constants constants;
        cuzk_ntt_make_constants(plan->log2_n, (cuzk_ntt_constants *)&constants);
        tables.resize(plan->table_bytes);
        const auto fill = [&](const auto &table, uint32_t entries, size_t offset) {
            using entry = decltype(table.entry(0));
            for (uint32_t k = 0; k < entries; k++)
                ((entry *)(tables.data() + offset))[k] = table.entry(k);
            return CUZK_OK;
        };
        (void)cuzk::ntt_for_each_table(*plan, constants, fill);
        (void)cuzk::ntt_for_each_wide_table(*plan, tables.data(), fill);
        tables_plan = *plan;
    }
    const cuzk::ntt_job job = {
        reversed,           direction,         coset,    scale, (const fr *)in,
        (const fr *)factor, (const fr *)minus, (fr *)out};
    for (unsigned i = 0; i < plan->passes; i++)
        run_pass(cuzk::ntt_make_pass(*plan, tables.data(), job, i), reversed, direction == 1);
}
}
