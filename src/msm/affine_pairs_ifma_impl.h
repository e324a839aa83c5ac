/* Template: eight affine additions at a time, each lane a chain of its own for Montgomery's trick.
 * See msm_names.h for the names.
 *
 * Montgomery forms. A coordinate in memory is the number x R64, which counts as s x in vector
 * arithmetic, s = R64 / R = 2^-32. Differences of coordinates carry s, their quotients do not. The
 * new x needs s slope^2: the inverses are made to carry 2^-16, so that m = 2^-16 slope, and then
 *
 *   s x3 = m^2 - s x1 - s x2,   s y3 = m 2^16 (s x1 - s x3) - s y1
 *
 * hold as they stand, for a shift in place of a multiplication. */

#define V_T TEMPLATE_NAME(ifma, MSM_FIELD)
#define PREFETCH_AHEAD (2 * IFMA_LANES) /* pairs */
#define V_(name) TEMPLATE_NAME(V_T, name)

typedef struct lanes_point {
    V_T x, y;
} lanes_point;

/* Masks of the lanes that are not plain additions. */
typedef struct lanes_kind {
    __mmask8 doubles, opposites, only_left, only_right;
} lanes_kind;

/* Eight operands. */
typedef struct lanes_refs {
    const affine *points[IFMA_LANES];
    __mmask8 negative;
} lanes_refs;

IFMA_INLINE void lanes_refs_load(lanes_refs *z, const msm_ref refs[IFMA_LANES]) {
    const __m512i all = _mm512_loadu_si512(refs), one = ifma_splat(1);
    _mm512_storeu_si512(z->points, _mm512_andnot_si512(one, all));
    z->negative = _mm512_test_epi64_mask(all, one);
}

IFMA_INLINE void lanes_load_x(V_T *z, const lanes_refs *refs) {
    const element *x[IFMA_LANES];
    IFMA_UNROLL for (int i = 0; i < IFMA_LANES; i++) x[i] = &refs->points[i]->x;
    V_(load)(z, x);
}

/* Raw, <= p: infinity or not, y and -y are right mod p. */
IFMA_INLINE void lanes_load_y(V_T *z, const lanes_refs *refs) {
    const element *y[IFMA_LANES];
    IFMA_UNROLL for (int i = 0; i < IFMA_LANES; i++) y[i] = &refs->points[i]->y;
    V_(load)(z, y);
    V_(negate_lanes_raw)(z, refs->negative, z);
}

IFMA_INLINE void lanes_load_y_canonical(V_T *z, const lanes_refs *refs) {
    lanes_load_y(z, refs);
    V_(tidy)(z, z);
    V_(canonical)(z, z);
}

/* The lanes with equal or zero x. A doubling divides by 2 y, the others by 1. */
static __attribute__((noinline)) IFMA_TARGET lanes_kind lanes_special(V_T *d, const V_T *x1,
                                                                      const V_T *x2,
                                                                      const lanes_refs *left,
                                                                      const lanes_refs *right) {
    V_T y1, y2, twice, one;
    lanes_load_y_canonical(&y1, left);
    lanes_load_y_canonical(&y2, right);
    const __mmask8 zero_y1 = V_(zero_lanes)(&y1);
    const __mmask8 no_left = V_(zero_lanes)(x1) & zero_y1;
    const __mmask8 no_right = V_(zero_lanes)(x2) & V_(zero_lanes)(&y2);
    const __mmask8 same_x = V_(equal_lanes)(x1, x2) & (__mmask8) ~(no_left | no_right);
    const __mmask8 doubles = same_x & V_(equal_lanes)(&y1, &y2) & (__mmask8)~zero_y1;
    const lanes_kind kind = {
        .doubles = doubles,
        .opposites = (same_x & (__mmask8)~doubles) | (no_left & no_right),
        .only_left = no_right & (__mmask8)~no_left,
        .only_right = no_left & (__mmask8)~no_right,
    };
    V_(add)(&twice, &y1, &y1);
    V_(one)(&one);
    V_(select)(d, doubles, d, &twice);
    V_(select)(d, kind.opposites | kind.only_left | kind.only_right, d, &one);
    return kind;
}

/* What each lane's slope is divided by; never zero. < 2 p. */
IFMA_INLINE lanes_kind lanes_denominators(V_T *d, const V_T *x1, const V_T *x2,
                                          const lanes_refs *left, const lanes_refs *right) {
    V_(sub)(d, x2, x1, 0);
    if (V_(suspect_lanes)(x1, x2) == 0) return (lanes_kind){0};
    return lanes_special(d, x1, x2, left, right);
}

/* Numerators of the slopes: y2 - y1, or 3 x^2 with a factor s of its own taken back. */
IFMA_INLINE void lanes_numerators(V_T *z, __mmask8 doubles, const lanes_point *p,
                                  const lanes_point *q) {
    V_(sub)(z, &q->y, &p->y, 0);
    if (doubles == 0) return;
    V_T square, triple;
    V_(sqr)(&square, &p->x);
    V_(add)(&triple, &square, &square);
    V_(add)(&triple, &triple, &square);
    V_(enter)(&triple, &triple);
    V_(select)(z, doubles, z, &triple);
}

/* The sums of eight pairs, canonical, from the inverted denominators (with 2^-16). */
IFMA_INLINE void lanes_add(lanes_point *z, lanes_kind kind, const lanes_point *p,
                           const lanes_point *q, const V_T *inverse) {
    V_T slope, x, y;
    lanes_numerators(&slope, kind.doubles, p, q);
    V_(mul)(&slope, &slope, inverse);
    V_(sqr_raw)(&x, &slope);
    V_(sub_raw)(&x, &x, &p->x, 0);
    V_(sub)(&x, &x, &q->x, 0);
    V_(canonical_quick)(&z->x, &x);
    V_(sub)(&y, &p->x, &z->x, 0);
    V_(shift16)(&y, &y);
    V_(mul_raw)(&y, &y, &slope);
    V_(sub)(&y, &y, &p->y, 0);
    V_(canonical_quick)(&z->y, &y);
}

/* Overwrite the sums of lanes that are not additions or doublings. */
static __attribute__((noinline)) IFMA_TARGET void
lanes_fix(lanes_point *z, lanes_kind kind, const lanes_refs *left, const lanes_refs *right) {
    const lanes_point infinity = {0};
    lanes_point p, q;
    lanes_load_x(&p.x, left);
    lanes_load_x(&q.x, right);
    lanes_load_y_canonical(&p.y, left);
    lanes_load_y_canonical(&q.y, right);
    V_(select)(&z->x, kind.only_left, &z->x, &p.x);
    V_(select)(&z->y, kind.only_left, &z->y, &p.y);
    V_(select)(&z->x, kind.only_right, &z->x, &q.x);
    V_(select)(&z->y, kind.only_right, &z->y, &q.y);
    V_(select)(&z->x, kind.opposites, &z->x, &infinity.x);
    V_(select)(&z->y, kind.opposites, &z->y, &infinity.y);
}

IFMA_INLINE void lanes_store(affine out[IFMA_LANES], const lanes_point *p) {
    element *x[IFMA_LANES], *y[IFMA_LANES];
    IFMA_UNROLL for (unsigned i = 0; i < IFMA_LANES; i++) {
        x[i] = &out[i].x;
        y[i] = &out[i].y;
    }
    V_(store)(x, IFMA_LANES, &p->x);
    V_(store)(y, IFMA_LANES, &p->y);
}

/* 2^-16 / product in each lane, through one scalar inversion. As numbers, the scalar inverse is
 * R64^2 / v and the vector one R^2 / v = 2^64 R64^2 / v: enter gives 2^32 and the shift 2^16. */
static IFMA_TARGET void lanes_invert(V_T *z, const V_T *product) {
    element values[IFMA_LANES], scratch[IFMA_LANES];
    element *to[IFMA_LANES];
    const element *from[IFMA_LANES];
    for (int i = 0; i < IFMA_LANES; i++)
        from[i] = to[i] = &values[i];
    V_(canonical)(z, product);
    V_(store)(to, IFMA_LANES, z);
    F_(batch_inv)(values, IFMA_LANES, scratch);
    V_(load)(z, from);
    V_(enter)(z, z);
    V_(shift16)(z, z);
}

static inline void lanes_prefetch(const msm_ref *refs) {
    for (int i = 0; i < IFMA_LANES; i++) {
        const char *p = msm_ref_point(refs[i]);
        for (size_t at = 0; at < sizeof(affine); at += 64)
            __builtin_prefetch(p + at);
        __builtin_prefetch(p + sizeof(affine) - 1);
    }
}

/* suffix = product of the blocks after this one, product: with this one. */
static __attribute__((noinline)) IFMA_TARGET void
lanes_first_pass(V_T *suffix, V_T *product, const msm_ref left[IFMA_LANES],
                 const msm_ref right[IFMA_LANES]) {
    lanes_refs p, q;
    V_T x1, x2, d;
    lanes_refs_load(&p, left);
    lanes_refs_load(&q, right);
    lanes_load_x(&x1, &p);
    lanes_load_x(&x2, &q);
    lanes_denominators(&d, &x1, &x2, &p, &q);
    *suffix = *product;
    V_(mul)(product, product, &d);
}

/* rest: 2^-16 / product of this block and those after it, and without this one at last. */
static __attribute__((noinline)) IFMA_TARGET void
lanes_second_pass(affine out[IFMA_LANES], V_T *rest, const V_T *suffix,
                  const msm_ref left[IFMA_LANES], const msm_ref right[IFMA_LANES]) {
    lanes_refs left_refs, right_refs;
    lanes_point p, q, sum;
    V_T inverse, d;
    lanes_refs_load(&left_refs, left);
    lanes_refs_load(&right_refs, right);
    lanes_load_x(&p.x, &left_refs);
    lanes_load_x(&q.x, &right_refs);
    const lanes_kind kind = lanes_denominators(&d, &p.x, &q.x, &left_refs, &right_refs);
    V_(mul)(&inverse, rest, suffix);
    V_(mul)(rest, rest, &d);
    lanes_load_y(&p.y, &left_refs);
    lanes_load_y(&q.y, &right_refs);
    lanes_add(&sum, kind, &p, &q, &inverse);
    if ((kind.opposites | kind.only_left | kind.only_right) != 0)
        lanes_fix(&sum, kind, &left_refs, &right_refs);
    lanes_store(out, &sum);
}

/* As the plain twin: suffix products backwards, one inversion, sums forwards. A last block with
 * fewer pairs repeats its last one in the lanes left over. */
IFMA_TARGET void OF_GROUP(msm_add_pairs_ifma)(affine *out, const msm_ref *left,
                                              const msm_ref *right, size_t n, void *scratch) {
    const size_t full = n / IFMA_LANES * IFMA_LANES;
    V_T *suffix = scratch;
    V_T product, rest;
    msm_ref last_left[IFMA_LANES], last_right[IFMA_LANES];
    affine last_out[IFMA_LANES];
    for (size_t i = 0; i < IFMA_LANES && full < n; i++) {
        last_left[i] = left[full + i < n ? full + i : n - 1];
        last_right[i] = right[full + i < n ? full + i : n - 1];
    }
    V_(one)(&product);
    if (full < n) lanes_first_pass(&suffix[full / IFMA_LANES], &product, last_left, last_right);
    for (size_t at = full; at > 0;) {
        at -= IFMA_LANES;
        if (at >= PREFETCH_AHEAD) {
            lanes_prefetch(left + at - PREFETCH_AHEAD);
            lanes_prefetch(right + at - PREFETCH_AHEAD);
        }
        lanes_first_pass(&suffix[at / IFMA_LANES], &product, left + at, right + at);
    }
    lanes_invert(&rest, &product);
    for (size_t at = 0; at < full; at += IFMA_LANES)
        lanes_second_pass(out + at, &rest, &suffix[at / IFMA_LANES], left + at, right + at);
    if (full == n) return;
    lanes_second_pass(last_out, &rest, &suffix[full / IFMA_LANES], last_left, last_right);
    memcpy(out + full, last_out, (n - full) * sizeof *out);
}

#undef V_
#undef V_T
#undef PREFETCH_AHEAD
