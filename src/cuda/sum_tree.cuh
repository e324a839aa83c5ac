/* Sums of many lists of points at once, by affine additions with shared inversions.
 *
 * The points of each list ("bucket") lie one after another. A level adds neighbours two by two in
 * every bucket of at least two points and hands on ceil(n / 2) points; a bucket that comes down to
 * one point is finished and leaves. An addition costs 5 multiplications and a squaring
 * (Montgomery's trick), against 8 and 2 for XYZZ, and every level's work is spread evenly over the
 * threads however the points are distributed: one bucket with all points costs what uniform buckets
 * cost.
 *
 * A level's additions are numbered through all buckets. A warp owns 32 K consecutive ones, in runs
 * of 32 C; a lane takes C neighbours in each run. On the way up a thread multiplies the differences
 * x2 - x1 and stores the running products; the block shares one inversion among its 128 K
 * additions; on the way down the threads add. Per addition 480 bytes move for G1 (twice x of both
 * points and once y, a running product each way, the sum). Limit: the integer multiplier; at level
 * 0, whose points are gathered from random places, also the memory. Between the two ways threads
 * meet only in the inversion, so each way is an ordinary function that the CPU tests run. */
#ifndef CUZK_CUDA_SUM_TREE_CUH
#define CUZK_CUDA_SUM_TREE_CUH

#include "msm_plan.h"
#include "point.cuh"
#include "vectors.cuh"

namespace cuzk {

constexpr uint32_t TREE_BLOCK = CUZK_TREE_BLOCK; /* threads */
constexpr uint32_t LIST_NEGATIVE = 0x80000000u;  /* list entry: the point is subtracted */

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
    uint4 *prefix;       /* running products, by block, in planes of 16 bytes */
};

/* Of n points in a bucket: the sums and the additions of a level. A single point is finished; at
 * the first level it has yet to be copied. */
CUZK_HD uint32_t tree_sums(uint32_t n) {
    return n > 1 ? (n + 1) / 2 : 0;
}
CUZK_HD uint32_t tree_pairs(uint32_t n) {
    return n / 2;
}

/* K, the additions of a thread: as few as keep all threads busy, at most about TREE_BATCH_MAX, in
 * equal shares when the device is filled several times. */
constexpr uint32_t TREE_BATCH_MAX = CUZK_TREE_BATCH_MAX, TREE_RUN = 8;
CUZK_HD uint32_t tree_batch(uint32_t additions, uint32_t threads) {
    const uint32_t each = (additions - 1) / threads + 1;
    const uint32_t rounds = (each + TREE_BATCH_MAX - 1) / TREE_BATCH_MAX;
    const uint32_t batch = (each + rounds - 1) / rounds;
    return batch < TREE_RUN ? batch : (batch + TREE_RUN - 1) / TREE_RUN * TREE_RUN;
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
    /* To addition o, usually near by: in growing strides, then a search. */
    template <class L> CUZK_HD void seek(const L &level, uint32_t o) {
        if (o >= pair_end) {
            uint32_t low = b + 1, high = b + 2, stride = 1;
            while (high < level.buckets && level.pair_at[high] <= o) {
                low = high;
                high += stride;
                stride *= 2;
            }
            search(level, low, high < level.buckets ? high : level.buckets, o);
        } else if (o < pair_first) {
            uint32_t high = b, low = b - 1, stride = 1;
            while (level.pair_at[low] > o) {
                high = low;
                low = low > stride ? low - stride : 0;
                stride *= 2;
            }
            search(level, low, high, o);
        }
    }
};

/* One of the two points of an addition. */
template <class F> struct tree_point {
    const affine<F> *p;
    bool negative;
    CUZK_HD F x() const { return load16(&p->x); }
    /* < 2p */
    CUZK_HD F y() const {
        F v = load16(&p->y);
        if (negative) v = negate_canonical(v);
        return v;
    }
};

template <class F> CUZK_HD tree_point<F> tree_input(const tree_level<F> &level, uint32_t position) {
    const uint32_t entry = level.list == nullptr ? position : level.list[position];
    return {level.points + (entry & ~LIST_NEGATIVE), (entry & LIST_NEGATIVE) != 0};
}

/* What an addition is; only the first two take part in the shared inversion. */
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

/* The sum of one pair; d_inverse is the inverse of the case's denominator. */
template <class F>
CUZK_HD affine<F> tree_pair(tree_case kind, const tree_point<F> &p, const tree_point<F> &q,
                            const F &x1, const F &x2, const F &d_inverse) {
    if (kind > TREE_DOUBLE) {
        if (kind == TREE_INFINITY) return affine<F>::infinity();
        return kind == TREE_FIRST ? affine<F>{x1, p.y()} : affine<F>{x2, q.y()};
    }
    const F y1 = p.y();
    F numerator;
    if (kind == TREE_ADD) {
        numerator = q.y() - y1;
    } else {
        const F xx = x1.sqr();
        numerator = xx + xx + xx;
    }
    const F slope = numerator * d_inverse;
    affine<F> sum;
    sum.x = slope.sqr() - add_canonical(x1, x2);
    sum.y = slope * subtract_loose(x1, sum.x) - y1;
    return sum;
}

/* A thread of a level. */
template <class F> struct tree_worker {
    const tree_level<F> &level;
    uint32_t additions, batch, run;
    uint64_t first; /* addition */
    uint4 *prefix;
    static constexpr uint32_t PLANES = sizeof(F) / 16;

    CUZK_HD tree_worker(const tree_level<F> &l, uint32_t block, uint32_t thread)
        : level(l), additions(l.pair_at[l.buckets]) {
        batch = additions == 0 ? 1 : tree_batch(additions, level.threads);
        run = batch < TREE_RUN ? 1 : TREE_RUN;
        first =
            ((uint64_t)block * (TREE_BLOCK / 32) + thread / 32) * 32 * batch + thread % 32 * run;
        prefix = level.prefix + (uint64_t)block * TREE_BLOCK * batch * PLANES + thread;
    }
    /* Past the end of all additions? Then for every thread of the block. */
    static CUZK_HD bool block_idle(const tree_level<F> &l, uint32_t block) {
        const uint32_t additions = l.pair_at[l.buckets];
        return additions == 0 ||
               (uint64_t)block * TREE_BLOCK * tree_batch(additions, l.threads) >= additions;
    }
    CUZK_HD uint64_t addition(uint32_t j) const {
        return first + (uint64_t)(j / run) * 32 * run + j % run;
    }
    CUZK_HD uint32_t count() const {
        uint32_t n = batch;
        while (n > 0 && addition(n - 1) >= additions)
            n--;
        return n;
    }

    /* An addition that lies ahead: its points as list entries, and where the sum goes. */
    struct ahead {
        uint32_t entry[2];
        affine<F> *to;
    };
    CUZK_HD ahead look(tree_cursor &c, uint32_t j) const {
        const uint32_t o = (uint32_t)addition(j);
        c.seek(level, o);
        const uint32_t k = o - c.pair_first, at = c.in_first + 2 * k;
        ahead a = {{at, at + 1},
                   c.in_count == 2 ? level.finished + c.b : level.out + c.out_first + k};
        if (level.list != nullptr) {
            a.entry[0] = level.list[at];
            a.entry[1] = level.list[at + 1];
        }
        return a;
    }
    CUZK_HD tree_point<F> point(uint32_t entry) const {
        return {level.points + (entry & ~LIST_NEGATIVE), (entry & LIST_NEGATIVE) != 0};
    }
    /* The product of all denominators. */
    CUZK_HD F up() const {
        F product = F::one();
        const uint32_t n = count();
        if (n == 0) return product;
        tree_cursor c;
        c.search(level, 0, level.buckets, (uint32_t)first);
        ahead next = look(c, 0);
        CUZK_NO_UNROLL
        for (uint32_t j = 0; j < n; j++) {
            const tree_point<F> p = point(next.entry[0]), q = point(next.entry[1]);
            const F x1 = p.x(), x2 = q.x();
            if (j + 1 < n) next = look(c, j + 1);
            CUZK_UNROLL
            for (uint32_t plane = 0; plane < PLANES; plane++)
                prefix[(uint64_t)(j * PLANES + plane) * TREE_BLOCK] =
                    ((const uint4 *)&product)[plane];
            const tree_case kind = tree_classify(p, q, x1, x2);
            if (kind <= TREE_DOUBLE) product = product * denominator(kind, p, x1, x2);
        }
        return product;
    }
    CUZK_HD F before(uint32_t j) const {
        F product;
        CUZK_UNROLL
        for (uint32_t plane = 0; plane < PLANES; plane++)
            ((uint4 *)&product)[plane] = prefix[(uint64_t)(j * PLANES + plane) * TREE_BLOCK];
        return product;
    }
    /* The additions; inverse is that of up(). */
    CUZK_HD void down(F inverse) const {
        const uint32_t n = count();
        if (n == 0) return;
        tree_cursor c;
        c.search(level, 0, level.buckets, (uint32_t)addition(n - 1));
        ahead next = look(c, n - 1);
        CUZK_NO_UNROLL
        for (uint32_t j = n; j-- > 0;) {
            const tree_point<F> p = point(next.entry[0]), q = point(next.entry[1]);
            affine<F> *const to = next.to;
            const F x1 = p.x(), x2 = q.x();
            if (j > 0) next = look(c, j - 1);
            const tree_case kind = tree_classify(p, q, x1, x2);
            F d_inverse = F::zero();
            if (kind <= TREE_DOUBLE) {
                d_inverse = inverse * before(j);
                inverse = inverse * denominator(kind, p, x1, x2);
            }
            const affine<F> sum = tree_pair(kind, p, q, x1, x2, d_inverse);
            store16(to, affine<F>{sum.x.canon(), sum.y.canon()});
        }
    }
    static CUZK_HD F denominator(tree_case kind, const tree_point<F> &p, const F &x1, const F &x2) {
        if (kind == TREE_ADD) return subtract_canonical(x2, x1);
        const F y1 = p.y();
        return y1 + y1;
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
        const tree_point<F> p = tree_input(level, end - 1);
        affine<F> *const to = n == 1 ? level.finished + b : level.out + level.out_at[b] + n / 2;
        store16(to, affine<F>{p.x(), p.y().canon()});
    }
}
template <class F> constexpr uint32_t tree_parts = sizeof(affine<F>) / 16;

} // namespace cuzk
#endif
