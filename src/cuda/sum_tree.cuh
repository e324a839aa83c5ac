/* Sums of many lists of points at once, by affine additions with shared inversions.
 *
 * The points of each list ("bucket") lie one after another. A level adds neighbours two by two in
 * every bucket of at least two points and hands on ceil(n / 2) points; a bucket that comes down to
 * one point is finished and leaves. An addition costs 5 multiplications and a squaring
 * (Montgomery's trick), against 8 and 2 for XYZZ, and every level's work is spread evenly over the
 * threads however the points are distributed: one bucket with all points costs what uniform buckets
 * cost.
 *
 * A level's additions are numbered through all buckets. A first kernel writes down what each one
 * reads and where its sum goes, so that the one that calculates knows every address one addition
 * ahead and waits for memory once an addition. There a warp owns 32 K consecutive additions, a lane
 * every 32nd. On the way up a thread multiplies the differences x2 - x1 and stores the running
 * products; the block shares one inversion among its 128 K additions; on the way down the threads
 * add. For G1 the way up is bound by memory, the way down by the integer multiplier, so the blocks
 * of a multiprocessor are kept out of step. Per addition 500 bytes move for G1 (x of both points
 * twice and y once, a running product and a description each way, the sum). Threads meet only in
 * the inversion, so each way is an ordinary function that the CPU tests run. */
#ifndef CUZK_CUDA_SUM_TREE_CUH
#define CUZK_CUDA_SUM_TREE_CUH

#include "msm_plan.h"
#include "point.cuh"
#include "vectors.cuh"

namespace cuzk {

constexpr uint32_t TREE_BLOCK = CUZK_TREE_BLOCK; /* threads */
constexpr uint32_t LIST_NEGATIVE = 0x80000000u;  /* list entry: the point is subtracted */
constexpr uint32_t TREE_FINISHED = 0x80000000u;  /* destination: a bucket's only sum */

/* An addition: its two points as list entries or positions, and the place of the sum. */
struct tree_item {
    uint32_t entry[2], to;
};

template <class F> struct tree_level {
    const affine<F> *points; /* of the whole input (list != 0) or of this level */
    const uint32_t *list;    /* level 0: indices into points with LIST_NEGATIVE; else 0 */
    const uint32_t *in_at;   /* buckets + 1: where a bucket's points begin */
    const uint32_t *out_at;  /* buckets + 1: where its sums begin */
    const uint32_t *pair_at; /* buckets + 1: the number of its first addition */
    uint32_t buckets;
    uint32_t threads;    /* that the device holds at once */
    affine<F> *out;      /* indexed by out_at */
    affine<F> *finished; /* by bucket */
    uint32_t *items;     /* three planes of item_plane words: the parts of each tree_item */
    uint64_t item_plane; /* a multiple of 4 */
    uint4 *prefix;       /* running products, by block, in planes of 16 bytes */

    CUZK_HD tree_item item(uint64_t o) const {
        return {{items[o], items[item_plane + o]}, items[2 * item_plane + o]};
    }
    CUZK_HD affine<F> *place(uint32_t to) const {
        return (to & TREE_FINISHED ? finished : out) + (to & ~TREE_FINISHED);
    }
};

/* Of n points in a bucket: the sums and the additions of a level. A single point is finished; at
 * the first level it has yet to be copied. */
CUZK_HD uint32_t tree_sums(uint32_t n) {
    return n > 1 ? (n + 1) / 2 : 0;
}
CUZK_HD uint32_t tree_pairs(uint32_t n) {
    return n / 2;
}

/* The additions of a block: `batch` a thread from `first` on. */
struct tree_share {
    uint64_t first;
    uint32_t batch;
};

/* How often the additions fill the device, at most TREE_BATCH_MAX a thread each time. */
constexpr uint32_t TREE_BATCH_MAX = CUZK_TREE_BATCH_MAX;
CUZK_HD uint32_t tree_rounds(uint64_t additions, uint32_t threads) {
    return (uint32_t)((additions + (uint64_t)threads * TREE_BATCH_MAX - 1) /
                      ((uint64_t)threads * TREE_BATCH_MAX));
}
/* Batches of a wave's blocks by quarters, one to four quarters of the whole, or what is left. */
struct tree_stagger {
    uint32_t quarter, batch; /* blocks, additions */
    bool rest;
    CUZK_HD uint32_t of_quarter(uint32_t k) const {
        const uint32_t part = batch * (k + 1) / 4;
        return rest ? batch - part : part;
    }
    CUZK_HD uint32_t of(uint32_t block) const { return of_quarter(block / quarter); }
    CUZK_HD uint64_t before(uint32_t block) const {
        uint64_t sum = 0;
        for (uint32_t k = 0; k < block / quarter; k++)
            sum += (uint64_t)quarter * of_quarter(k);
        return block % quarter == 0 ? sum : sum + (uint64_t)(block % quarter) * of(block);
    }
};
/* As few a thread as keep all threads busy, at most TREE_BATCH_MAX, in equal shares when the device
 * is filled several times. Then, staggered, the quarters of the first wave of blocks get one to
 * four quarters of a share, which puts the blocks out of step, and those of a last wave the rest.
 */
CUZK_HD tree_share tree_share_of(uint32_t additions, uint32_t threads, bool staggered,
                                 uint32_t block) {
    const uint32_t rounds = tree_rounds(additions, threads), wave = threads / TREE_BLOCK;
    if (rounds == 0) return {0, 0};
    const uint32_t each = (additions - 1) / threads + 1, batch = (each + rounds - 1) / rounds;
    if (rounds == 1 || !staggered) return {(uint64_t)block * batch * TREE_BLOCK, batch};
    const tree_stagger early = {(wave + 3) / 4, batch, false}, late = {early.quarter, batch, true};
    const uint32_t last = rounds * wave; /* its first block */
    if (block < wave) return {early.before(block) * TREE_BLOCK, early.of(block)};
    const uint32_t whole = (block < last ? block : last) - wave;
    const uint64_t before = early.before(wave) + (uint64_t)whole * batch;
    if (block < last) return {before * TREE_BLOCK, batch};
    if (block >= last + wave) return {additions, 0}; /* the host counted on more additions */
    return {(before + late.before(block - last)) * TREE_BLOCK, late.of(block - last)};
}
/* Blocks for at most so many additions. */
CUZK_HD uint32_t tree_blocks(uint64_t additions, uint32_t threads, bool staggered) {
    const uint32_t rounds = tree_rounds(additions, threads), wave = threads / TREE_BLOCK;
    return rounds > 1 ? (rounds + staggered) * wave : wave;
}

/* The bucket of an addition. */
struct tree_cursor {
    uint32_t b, pair_first, pair_end, in_first, in_count, out_first;

    template <class L> CUZK_HD void enter(const L &level, uint32_t bucket) {
        b = bucket;
        pair_first = level.pair_at[b];
        pair_end = level.pair_at[b + 1];
        in_first = level.in_at[b];
        in_count = level.in_at[b + 1] - in_first;
        out_first = level.out_at[b];
    }
    /* pair_at[low] <= o < pair_at[high] */
    template <class L>
    CUZK_HD void search(const L &level, uint32_t low, uint32_t high, uint32_t o) {
        while (high - low > 1) {
            const uint32_t middle = low + (high - low) / 2;
            if (level.pair_at[middle] <= o)
                low = middle;
            else
                high = middle;
        }
        enter(level, low);
    }
    /* Ahead to addition o, usually near by: in growing strides, then a search. */
    template <class L> CUZK_HD void seek(const L &level, uint32_t o) {
        if (o < pair_end) return;
        uint32_t low = b + 1, high = b + 2, stride = 1;
        while (high < level.buckets && level.pair_at[high] <= o) {
            low = high;
            high += stride;
            stride *= 2;
        }
        search(level, low, high < level.buckets ? high : level.buckets, o);
    }
    /* Addition o of this bucket. */
    template <class L> CUZK_HD tree_item item(const L &level, uint32_t o) const {
        const uint32_t k = o - pair_first, at = in_first + 2 * k;
        tree_item i = {{at, at + 1}, in_count == 2 ? b | TREE_FINISHED : out_first + k};
        if (level.list != nullptr) {
            i.entry[0] = level.list[at];
            i.entry[1] = level.list[at + 1];
        }
        return i;
    }
};

/* A thread describes TREE_RUN neighbouring additions, four at a time. */
constexpr uint32_t TREE_RUN = 8;
template <class F> CUZK_HD void tree_describe(const tree_level<F> &level, uint64_t thread) {
    const uint32_t additions = level.pair_at[level.buckets];
    const uint64_t first = thread * TREE_RUN;
    if (first >= additions) return;
    tree_cursor c;
    c.search(level, 0, level.buckets, (uint32_t)first);
    CUZK_NO_UNROLL
    for (uint32_t i = 0; i < TREE_RUN && first + i < additions; i += 4) {
        alignas(16) uint32_t word[3][4];
        CUZK_UNROLL
        for (uint32_t k = 0; k < 4; k++) {
            const uint64_t o = first + i + k;
            if (o < additions) c.seek(level, (uint32_t)o);
            const tree_item item = o < additions ? c.item(level, (uint32_t)o) : tree_item{};
            word[0][k] = item.entry[0];
            word[1][k] = item.entry[1];
            word[2][k] = item.to;
        }
        CUZK_UNROLL
        for (uint32_t plane = 0; plane < 3; plane++)
            *(uint4 *)(level.items + plane * level.item_plane + first + i) = *(uint4 *)word[plane];
    }
}

/* One of the two points of an addition. */
template <class F> struct tree_point {
    const affine<F> *p;
    bool negative;
    CUZK_HD F x() const { return load16(&p->x); }
    /* y as it is in memory, and with its sign: < 2p */
    CUZK_HD F y_stored() const { return load16(&p->y); }
    CUZK_HD F with_sign(const F &y) const { return negative ? negate_canonical(y) : y; }
    CUZK_HD F y() const { return with_sign(y_stored()); }
};

template <class F> CUZK_HD tree_point<F> tree_input(const tree_level<F> &level, uint32_t entry) {
    return {level.points + (entry & ~LIST_NEGATIVE), (entry & LIST_NEGATIVE) != 0};
}

/* What an addition is; for the last three the denominator is 1. */
enum tree_case { TREE_ADD, TREE_DOUBLE, TREE_FIRST, TREE_SECOND, TREE_INFINITY };

/* x1 and x2 are canonical, so that equality of limbs decides. Their lowest limbs are enough to see
 * that nothing is special; the rest and the y are read in special cases only. */
template <class F>
CUZK_HD tree_case tree_classify(const tree_point<F> &p, const tree_point<F> &q, const F &x1,
                                const F &x2) {
    const bool maybe_equal = x1.low_word() == x2.low_word();
    if (x1.low_word() != 0 && x2.low_word() != 0 && !maybe_equal) return TREE_ADD;
    const bool zero1 = x1.limbs_zero(), zero2 = x2.limbs_zero();
    if (!zero1 && !zero2 && !limbs_equal(x1, x2)) return TREE_ADD;
    const F y1 = p.y(), y2 = q.y();
    if (zero2 && y2.is_zero()) return TREE_FIRST;
    if (zero1 && y1.is_zero()) return TREE_SECOND;
    if (!limbs_equal(x1, x2)) return TREE_ADD;
    return (y1 - y2).is_zero() && !y1.is_zero() ? TREE_DOUBLE : TREE_INFINITY;
}

template <class F>
CUZK_HD F tree_denominator(tree_case kind, const tree_point<F> &p, const F &x1, const F &x2) {
    if (kind == TREE_ADD) return subtract_canonical(x2, x1);
    if (kind != TREE_DOUBLE) return F::one();
    const F y1 = p.y();
    return y1 + y1;
}

/* The sum of two points, y with its sign; d_inverse is the inverse of the case's denominator. */
template <class F>
CUZK_HD affine<F> tree_sum_of(tree_case kind, const F &x1, const F &y1, const F &x2, const F &y2,
                              const F &d_inverse) {
    F numerator = y2 - y1;
    if (kind == TREE_DOUBLE) {
        const F xx = x1.sqr();
        numerator = xx + xx + xx;
    }
    const F slope = numerator * d_inverse;
    affine<F> sum;
    sum.x = slope.sqr() - add_canonical(x1, x2);
    sum.y = slope * subtract_loose(x1, sum.x) - y1;
    if (kind == TREE_INFINITY) sum = affine<F>::infinity();
    if (kind == TREE_FIRST) sum = {x1, y1};
    if (kind == TREE_SECOND) sum = {x2, y2};
    return {sum.x.canon(), sum.y.canon()};
}

/* A thread of a level. */
template <class F> struct tree_worker {
    const tree_level<F> &level;
    uint32_t additions, batch;
    uint64_t first; /* addition; the next are 32 apart */
    uint4 *prefix;
    static constexpr uint32_t PLANES = sizeof(F) / 16;
    /* Is there room in the registers for y beside everything else? */
    static constexpr bool Y_EARLY = sizeof(F) == sizeof(fp);

    static constexpr bool STAGGERED = sizeof(F) == sizeof(fp);

    CUZK_HD tree_worker(const tree_level<F> &l, const tree_share &share, uint32_t thread)
        : level(l), additions(l.pair_at[l.buckets]), batch(share.batch),
          first(share.first + (uint64_t)(thread / 32) * 32 * share.batch + thread % 32),
          prefix(l.prefix + share.first * PLANES + thread) {}
    CUZK_HD uint32_t count() const {
        if (first >= additions) return 0;
        const uint64_t left = (additions - first + 31) / 32;
        return left < batch ? (uint32_t)left : batch;
    }
    CUZK_HD tree_item item(uint32_t j) const { return level.item(first + (uint64_t)j * 32); }

    /* Slot j > 0 holds the product of the denominators before j's. That of the first is 1, and its
     * slot hands the inverse of all from the way up to the way down. */
    CUZK_HD void put(uint32_t j, const F &product) const {
        CUZK_UNROLL
        for (uint32_t plane = 0; plane < PLANES; plane++)
            prefix[(uint64_t)(j * PLANES + plane) * TREE_BLOCK] = ((const uint4 *)&product)[plane];
    }
    CUZK_HD F get(uint32_t j) const {
        F product;
        CUZK_UNROLL
        for (uint32_t plane = 0; plane < PLANES; plane++)
            ((uint4 *)&product)[plane] = prefix[(uint64_t)(j * PLANES + plane) * TREE_BLOCK];
        return product;
    }

    /* The product of all denominators. */
    CUZK_HD F up() const {
        F product = F::one();
        const uint32_t n = count();
        if (n == 0) return product;
        tree_item next = item(0);
        CUZK_NO_UNROLL
        for (uint32_t j = 0; j < n; j++) {
            const tree_point<F> p = tree_input(level, next.entry[0]),
                                q = tree_input(level, next.entry[1]);
            const F x1 = p.x(), x2 = q.x();
            if (j + 1 < n) next = item(j + 1);
            if (j > 0) put(j, product);
            const tree_case kind = tree_classify(p, q, x1, x2);
            product = product * tree_denominator(kind, p, x1, x2);
        }
        return product;
    }
    /* The additions, when the inverse of up() is in slot 0. */
    CUZK_HD void down() const {
        const uint32_t n = count();
        if (n == 0) return;
        F inverse = get(0);
        tree_item next = item(n - 1);
        CUZK_NO_UNROLL
        for (uint32_t j = n; j-- > 0;) {
            const tree_point<F> p = tree_input(level, next.entry[0]),
                                q = tree_input(level, next.entry[1]);
            affine<F> *const to = level.place(next.to);
            const F x1 = p.x(), x2 = q.x();
            F y1, y2;
            if constexpr (Y_EARLY) y1 = p.y_stored(), y2 = q.y_stored();
            const F stored = get(j), before = j > 0 ? stored : F::one();
            if (j > 0) next = item(j - 1);
            const tree_case kind = tree_classify(p, q, x1, x2);
            const F d_inverse = inverse * before;
            inverse = inverse * tree_denominator(kind, p, x1, x2);
            if constexpr (!Y_EARLY) y1 = p.y_stored(), y2 = q.y_stored();
            y1 = p.with_sign(y1);
            y2 = q.with_sign(y2);
            store16(to, tree_sum_of(kind, x1, y1, x2, y2, d_inverse));
        }
    }
};

/* The point of bucket b that has no partner: at the first level a bucket of one is finished. The
 * point is copied in `parts` of 16 bytes, at the first level, where it may be negative, by part 0.
 */
template <class F>
CUZK_HD void tree_leftover(const tree_level<F> &level, uint32_t b, uint32_t part) {
    const uint32_t end = level.in_at[b + 1], n = end - level.in_at[b];
    if (n % 2 == 0) return;
    if (level.list == nullptr) {
        if (n == 1) return;
        affine<F> *const to = level.out + level.out_at[b] + n / 2;
        ((uint4 *)to)[part] = ((const uint4 *)(level.points + (end - 1)))[part];
    } else if (part == 0) {
        const tree_point<F> p = tree_input(level, level.list[end - 1]);
        affine<F> *const to = n == 1 ? level.finished + b : level.out + level.out_at[b] + n / 2;
        store16(to, affine<F>{p.x(), p.y().canon()});
    }
}
template <class F> constexpr uint32_t tree_parts = sizeof(affine<F>) / 16;

} // namespace cuzk
#endif
