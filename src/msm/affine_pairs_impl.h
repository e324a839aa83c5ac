/* Template: plain affine additions with a shared inversion. See msm_names.h for the names. */

/* Pairs ahead of the current one whose points are fetched into the cache. */
#define PREFETCH_AHEAD 12

static inline void prefetch(msm_ref ref) {
    const char *p = msm_ref_point(ref);
    for (size_t at = 0; at < sizeof(affine); at += 64)
        __builtin_prefetch(p + at);
    __builtin_prefetch(p + sizeof(affine) - 1);
}

static inline affine ref_load(msm_ref ref) {
    affine p = *(const affine *)msm_ref_point(ref);
    if (msm_ref_negative(ref)) F_(neg)(&p.y, &p.y);
    return p;
}

/* Inline and by x first, which is hardly ever zero otherwise. */
static inline bool is_infinity(const affine *p) {
    return F_(is_zero)(&p->x) && F_(is_zero)(&p->y);
}

typedef enum pair_kind { PAIR_ADD, PAIR_DOUBLE, PAIR_OPPOSITE, PAIR_LEFT, PAIR_RIGHT } pair_kind;

/* The rare cases of equal x. Points with y = 0 are their own negatives (none is in the group, but
 * unchecked bases may be anything). */
static __attribute__((noinline)) pair_kind equal_x_denominator(element *d, msm_ref left,
                                                               msm_ref right) {
    const affine p = ref_load(left), q = ref_load(right);
    if (F_(eq)(&p.y, &q.y) && !F_(is_zero)(&p.y)) {
        F_(double)(d, &p.y);
        return PAIR_DOUBLE;
    }
    *d = F_(one)();
    return PAIR_OPPOSITE;
}

/* What the pair's slope is divided by, never zero. */
static inline pair_kind pair_denominator(element *d, msm_ref left, msm_ref right) {
    const affine *p = msm_ref_point(left), *q = msm_ref_point(right);
    const bool no_p = is_infinity(p);
    if (no_p || is_infinity(q)) {
        *d = F_(one)();
        return no_p ? PAIR_RIGHT : PAIR_LEFT;
    }
    F_(sub)(d, &q->x, &p->x);
    return F_(is_zero)(d) ? equal_x_denominator(d, left, right) : PAIR_ADD;
}

/* z = p + q or 2p, from the inverted denominator. */
static inline void finish_pair(affine *z, pair_kind kind, const affine *p, const affine *q,
                               const element *inverse) {
    element slope, x, y;
    if (kind == PAIR_ADD) {
        F_(sub)(&slope, &q->y, &p->y);
    } else {
        F_(sqr)(&x, &p->x);
        F_(double)(&slope, &x);
        F_(add)(&slope, &slope, &x);
    }
    F_(mul)(&slope, &slope, inverse);
    F_(sqr)(&x, &slope);
    F_(sub)(&x, &x, &p->x);
    F_(sub)(&x, &x, &q->x);
    F_(sub)(&y, &p->x, &x);
    F_(mul)(&y, &y, &slope);
    F_(sub)(&z->y, &y, &p->y);
    z->x = x;
}

/* First pass backwards: suffix[i] = d[i] ... d[n-1]. One inversion. Second pass forwards, so that
 * out may overlay the points already used: 1/d[i] = suffix[i+1] / (d[i] ... d[n-1]). */
void ADD_PAIRS_PLAIN(affine *out, const msm_ref *left, const msm_ref *right, size_t n,
                     void *scratch) {
    element *suffix = scratch;
    element product = F_(one)(), d;
    for (size_t i = n; i-- > 0;) {
        if (i >= PREFETCH_AHEAD) {
            prefetch(left[i - PREFETCH_AHEAD]);
            prefetch(right[i - PREFETCH_AHEAD]);
        }
        pair_denominator(&d, left[i], right[i]);
        F_(mul)(&product, &product, &d);
        suffix[i] = product;
    }
    element rest; /* 1 / suffix[i] */
    F_(inv)(&rest, &product);
    for (size_t i = 0; i < n; i++) {
        const pair_kind kind = pair_denominator(&d, left[i], right[i]);
        element inverse = rest;
        if (i + 1 < n) F_(mul)(&inverse, &rest, &suffix[i + 1]);
        F_(mul)(&rest, &rest, &d);
        const affine p = ref_load(left[i]), q = ref_load(right[i]);
        if (kind == PAIR_ADD || kind == PAIR_DOUBLE)
            finish_pair(&out[i], kind, &p, &q, &inverse);
        else if (kind == PAIR_OPPOSITE)
            memset(&out[i], 0, sizeof out[i]);
        else
            out[i] = kind == PAIR_LEFT ? p : q;
    }
}

#undef PREFETCH_AHEAD
