/* Sums of many lists of points at once, by affine additions with shared inversions.
 *
 * The points of each list ("bucket") lie one after another. A level adds neighbours two by two in
 * every bucket of at least two points and hands on ceil(n / 2) points; a bucket that comes down to
 * one point is finished and leaves. An addition costs 5 multiplications and a squaring
 * (Montgomery's trick), against 8 and 2 for XYZZ, and every level's work is spread evenly over the
 * threads however the points are distributed: one bucket with all points costs what uniform buckets
 * cost.
 *
 * A warp owns 32 K consecutive outputs, lane l the outputs l, l + 32, ...: on the way up a thread
 * multiplies the differences x2 - x1 and stores the running products, inverts once, and adds on the
 * way down. Per addition 480 bytes move for G1 (twice x of both points and once y, a running
 * product each way, the sum). Limit: the integer multiplier; at level 0, whose points are gathered
 * from random places, also the memory. Nothing here synchronises, so a thread's whole work is an
 * ordinary function that the CPU tests run. */
#ifndef CUZK_CUDA_SUM_TREE_CUH
#define CUZK_CUDA_SUM_TREE_CUH

#include "point.cuh"

namespace cuzk {

constexpr uint32_t LIST_NEGATIVE = 0x80000000u; /* list entry: the point is subtracted */

template <class F> struct tree_level {
    const affine<F> *points; /* of the whole input (list != 0) or of this level */
    const uint32_t *list;    /* level 0: indices into points with LIST_NEGATIVE; else 0 */
    const uint32_t *in_at;   /* buckets + 1: where a bucket's points begin */
    const uint32_t *out_at;  /* buckets + 1: where its sums begin */
    uint32_t buckets;
    uint32_t batch_min;
    affine<F> *out;      /* indexed by out_at */
    affine<F> *finished; /* by bucket */
    uint4 *prefix;       /* thread's running products, in planes of 16 bytes */
};

/* How many sums bucket b has at a level. */
CUZK_HD uint32_t tree_halves(uint32_t n, bool first_level) {
    return n > (first_level ? 0u : 1u) ? (n + 1) / 2 : 0;
}

template <class T> CUZK_HD T read_vectors(const T *p) {
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
template <class T> CUZK_HD void write_vectors(T *p, const T &value) {
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

/* A place in a level: output `o` in bucket b. */
struct tree_cursor {
    uint32_t b, out_first, out_end, in_first, in_count;

    /* Largest b in [low, high) with out_at[b] <= o < out_at[b + 1]. */
    CUZK_HD void search(const uint32_t *in_at, const uint32_t *out_at, uint32_t low, uint32_t high,
                        uint32_t o) {
        while (high - low > 1) {
            const uint32_t middle = low + (high - low) / 2;
            if (out_at[middle] <= o)
                low = middle;
            else
                high = middle;
        }
        enter(in_at, out_at, low);
    }
    CUZK_HD void enter(const uint32_t *in_at, const uint32_t *out_at, uint32_t bucket) {
        b = bucket;
        out_first = out_at[b];
        out_end = out_at[b + 1];
        in_first = in_at[b];
        in_count = in_at[b + 1] - in_first;
    }
    /* To output o, usually near by: a few steps, then a search. */
    CUZK_HD void seek(const uint32_t *in_at, const uint32_t *out_at, uint32_t buckets, uint32_t o) {
        if (o >= out_end) {
            uint32_t next = b + 1;
            for (int step = 0; step < 6; step++, next++)
                if (o < out_at[next + 1]) return enter(in_at, out_at, next);
            search(in_at, out_at, next, buckets, o);
        } else if (o < out_first) {
            uint32_t next = b - 1;
            for (int step = 0; step < 6; step++, next--)
                if (o >= out_at[next]) return enter(in_at, out_at, next);
            search(in_at, out_at, 0, next + 1, o);
        }
    }
};

/* One of the two points of an addition. */
template <class F> struct tree_point {
    const affine<F> *p;
    bool negative;
    CUZK_HD F x() const { return read_vectors(&p->x); }
    CUZK_HD F y() const {
        const F v = read_vectors(&p->y);
        return negative ? F::zero() - v : v;
    }
};

template <class F> CUZK_HD tree_point<F> tree_input(const tree_level<F> &level, uint32_t position) {
    if (level.list == nullptr) return {level.points + position, false};
    const uint32_t entry = level.list[position];
    return {level.points + (entry & ~LIST_NEGATIVE), (entry & LIST_NEGATIVE) != 0};
}

/* What an addition is; only the first two take part in the shared inversion. */
enum tree_case { TREE_ADD, TREE_DOUBLE, TREE_FIRST, TREE_SECOND, TREE_INFINITY };

/* x1 and x2 are canonical, so that equality of limbs decides. The y are read in special cases only.
 */
template <class F>
CUZK_HD tree_case tree_classify(const tree_point<F> &p, const tree_point<F> &q, const F &x1,
                                const F &x2) {
    const bool zero1 = x1.limbs_zero(), zero2 = x2.limbs_zero();
    if (!zero1 && !zero2 && !limbs_equal(x1, x2)) return TREE_ADD;
    const F y1 = p.y(), y2 = q.y();
    if (zero2 && y2.is_zero()) return TREE_FIRST;
    if (zero1 && y1.is_zero()) return TREE_SECOND;
    if (!limbs_equal(x1, x2)) return TREE_ADD;
    return (y1 - y2).is_zero() && !y1.is_zero() ? TREE_DOUBLE : TREE_INFINITY;
}

template <class F>
CUZK_HD uint4 *tree_prefix(const tree_level<F> &level, uint32_t j, uint32_t plane, uint32_t thread,
                           uint32_t threads) {
    return level.prefix + ((uint64_t)j * (sizeof(F) / 16) + plane) * threads + thread;
}

template <class F>
CUZK_HD void tree_store(const tree_level<F> &level, const tree_cursor &c, uint32_t o,
                        const affine<F> &sum) {
    affine<F> *const to = c.out_end - c.out_first == 1 ? level.finished + c.b : level.out + o;
    write_vectors(to, {sum.x.canon(), sum.y.canon()});
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
    sum.x = slope.sqr() - (x1 + x2);
    sum.y = slope * (x1 - sum.x) - y1;
    return sum;
}

template <class F>
CUZK_HD void tree_thread(const tree_level<F> &level, uint32_t thread, uint32_t threads) {
    const uint32_t outputs = level.out_at[level.buckets];
    uint32_t batch = (outputs + threads - 1) / threads;
    if (batch < level.batch_min) batch = level.batch_min;
    const uint64_t first = (uint64_t)(thread / 32) * 32 * batch + thread % 32;
    if (first >= outputs) return;
    uint32_t count = (outputs - (uint32_t)first + 31) / 32;
    if (count > batch) count = batch;

    tree_cursor c;
    c.search(level.in_at, level.out_at, 0, level.buckets, (uint32_t)first);
    F product = F::one();
    for (uint32_t j = 0; j < count; j++) {
        const uint32_t o = (uint32_t)first + 32 * j;
        c.seek(level.in_at, level.out_at, level.buckets, o);
        const uint32_t k = 2 * (o - c.out_first);
        if (k + 1 >= c.in_count) continue;
        const tree_point<F> p = tree_input(level, c.in_first + k),
                            q = tree_input(level, c.in_first + k + 1);
        const F x1 = p.x(), x2 = q.x();
        const tree_case kind = tree_classify(p, q, x1, x2);
        if (kind > TREE_DOUBLE) continue;
        const F y1 = kind == TREE_DOUBLE ? p.y() : F::zero();
        const F d = kind == TREE_DOUBLE ? y1 + y1 : x2 - x1;
        CUZK_UNROLL
        for (uint32_t plane = 0; plane < sizeof(F) / 16; plane++)
            *tree_prefix(level, j, plane, thread, threads) = ((const uint4 *)&product)[plane];
        product = product * d;
    }
    F inverse = product.inverse();
    for (uint32_t j = count; j-- > 0;) {
        const uint32_t o = (uint32_t)first + 32 * j;
        c.seek(level.in_at, level.out_at, level.buckets, o);
        const uint32_t k = 2 * (o - c.out_first);
        const tree_point<F> p = tree_input(level, c.in_first + k);
        if (k + 1 >= c.in_count) {
            tree_store(level, c, o, {p.x(), p.y()});
            continue;
        }
        const tree_point<F> q = tree_input(level, c.in_first + k + 1);
        const F x1 = p.x(), x2 = q.x();
        const tree_case kind = tree_classify(p, q, x1, x2);
        F d_inverse = F::zero();
        if (kind <= TREE_DOUBLE) {
            const F y1 = kind == TREE_DOUBLE ? p.y() : F::zero();
            const F d = kind == TREE_DOUBLE ? y1 + y1 : x2 - x1;
            F before;
            CUZK_UNROLL
            for (uint32_t plane = 0; plane < sizeof(F) / 16; plane++)
                ((uint4 *)&before)[plane] = *tree_prefix(level, j, plane, thread, threads);
            d_inverse = inverse * before;
            inverse = inverse * d;
        }
        tree_store(level, c, o, tree_pair(kind, p, q, x1, x2, d_inverse));
    }
}

} // namespace cuzk
#endif
