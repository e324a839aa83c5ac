#include "filecoin/gadget_poseidon.h"

#include "filecoin/gadget_rows.h"

/* The state of one hash while recording: linear combinations, of which a *lazy* one becomes a
 * variable when an S-box needs it, the others are one already. */
typedef struct sponge {
    cs *c;
    const poseidon_constants *k;
    const fr_t *key; /* next compressed constant */
    bool lazy[POSEIDON_MAX_WIDTH];
    cs_var var[POSEIDON_MAX_WIDTH]; /* unless lazy */
    cs_lc lc[POSEIDON_MAX_WIDTH], next[POSEIDON_MAX_WIDTH];
} sponge;

static void set_variable(sponge *s, uint32_t i, cs_var var) {
    s->lazy[i] = false;
    s->var[i] = var;
    cs_lc_clear(&s->lc[i]);
    lc_add_one(s->c, &s->lc[i], var);
}

static void ensure(sponge *s, uint32_t i) {
    if (!s->lazy[i]) return;
    const cs_var var = cs_alloc(s->c, NULL);
    gadget_row row = row_begin(s->c);
    const fr_t one = fr_one();
    cs_lc_add_scaled(s->c, row.a, &s->lc[i], &one);
    row_end_equals(s->c, &row, var);
    set_variable(s, i, var);
}

/* Rows of base^5 + post = x5, base = element i + pre. */
static void record_sbox(sponge *s, uint32_t i, const fr_t *pre, const fr_t *post,
                        const cs_var power[3]) {
    cs *c = s->c;
    const fr_t one = fr_one();
    cs_lc *base = cs_scratch(c, 5);
    cs_lc_add_scaled(c, base, &s->lc[i], &one);
    if (pre != NULL) cs_lc_add(c, base, CS_ONE, pre);

    cs_lc *product = cs_scratch(c, 0);
    lc_add_one(c, product, power[0]);
    cs_enforce(c, base, base, product);

    gadget_row row = row_begin(c);
    lc_add_one(c, row.a, power[0]);
    lc_add_one(c, row.b, power[0]);
    lc_add_one(c, row.c, power[1]);
    row_end(c, &row);

    row = row_begin(c);
    lc_add_one(c, row.b, power[1]);
    lc_add_one(c, row.c, power[2]);
    if (post != NULL) {
        fr_t minus;
        fr_neg(&minus, post);
        cs_lc_add(c, row.c, CS_ONE, &minus);
    }
    cs_enforce(c, base, row.b, row.c);
}

/* Element i = (element i + pre)^5 + post as a new variable; pre and post may be absent. */
static void sbox(sponge *s, uint32_t i, const fr_t *pre, const fr_t *post) {
    ensure(s, i);
    cs_var power[3]; /* square, fourth power, result */
    for (int n = 0; n < 3; n++)
        power[n] = cs_alloc(s->c, NULL);
    record_sbox(s, i, pre, post, power);
    set_variable(s, i, power[2]);
}

/* Element 0 of round 0 is the constant tag: no variable, no row (trap T2). */
static void sbox_of_tag(sponge *s) {
    fr_t x;
    poseidon_tag_sbox(s->k, &x);
    s->lazy[0] = true;
    cs_lc_clear(&s->lc[0]);
    cs_lc_add(s->c, &s->lc[0], CS_ONE, &x);
}

/* lc[0] = what . lc, then lc[j] += v[j - 1] lc[0] of before */
static void record_sparse(sponge *s, uint32_t pair) {
    const poseidon_constants *k = s->k;
    cs_lc *first = &s->next[0];
    cs_lc_clear(first);
    for (uint32_t i = 0; i < k->width; i++)
        cs_lc_add_scaled(s->c, first, &s->lc[i], &k->sparse_what[pair][i]);
    for (uint32_t j = 1; j < k->width; j++)
        cs_lc_add_scaled(s->c, &s->lc[j], &s->lc[0], &k->sparse_v[pair][j - 1]);
    const cs_lc swap = s->lc[0];
    s->lc[0] = *first;
    *first = swap;
    cs_lc_normalise(&s->lc[0]);
}

static void record_dense(sponge *s, uint32_t round) {
    const poseidon_constants *k = s->k;
    for (uint32_t j = 0; j < k->width; j++) {
        cs_lc_clear(&s->next[j]);
        for (uint32_t i = 0; i < k->width; i++)
            cs_lc_add_scaled(s->c, &s->next[j], &s->lc[i], &poseidon_dense(k, round)[i][j]);
    }
    for (uint32_t j = 0; j < k->width; j++) {
        const cs_lc swap = s->lc[j];
        s->lc[j] = s->next[j];
        s->next[j] = swap;
    }
}

static void linear(sponge *s, uint32_t round) {
    for (uint32_t i = 0; i < s->k->width; i++)
        s->lazy[i] = true;
    if (poseidon_is_partial(s->k, round))
        record_sparse(s, round - POSEIDON_FULL_ROUNDS / 2);
    else
        record_dense(s, round);
}

static void first_round(sponge *s) {
    const fr_t *pre = s->k->compressed, *post = pre + s->k->width;
    sbox_of_tag(s);
    for (uint32_t i = 1; i < s->k->width; i++)
        sbox(s, i, &pre[i], &post[i]);
    s->key = post + s->k->width;
    linear(s, 0);
}

static gadget_num record(cs *c, const poseidon_constants *k, const gadget_num *in) {
    sponge s = {.c = c, .k = k};
    const uint32_t last = poseidon_rounds(k) - 1;
    for (uint32_t i = 1; i < k->width; i++)
        set_variable(&s, i, in[i - 1].var);
    first_round(&s);
    for (uint32_t round = 1; round <= last; round++) {
        const uint32_t boxes = poseidon_is_partial(k, round) ? 1 : k->width;
        for (uint32_t i = 0; i < boxes; i++)
            sbox(&s, i, NULL, round < last ? s.key++ : NULL);
        linear(&s, round);
    }
    ensure(&s, 1);
    for (uint32_t i = 0; i < k->width; i++) {
        cs_lc_free(c, &s.lc[i]);
        cs_lc_free(c, &s.next[i]);
    }
    return (gadget_num){.var = s.var[1]};
}

/* ---- witnessing ---- */

gadget_num gadget_poseidon_traced(cs *c, poseidon_kind kind, const fr_t *trace) {
    const uint32_t n = poseidon_trace_length(poseidon_get(kind));
    cs_var var = 0;
    for (uint32_t i = 0; i < n; i++)
        var = cs_alloc(c, &trace[i]);
    return (gadget_num){.value = trace[n - 1], .var = var};
}

gadget_num gadget_poseidon(cs *c, poseidon_kind kind, const gadget_num *in) {
    const poseidon_constants *k = poseidon_get(kind);
    if (cs_recording(c)) return record(c, k, in);
    fr_t values[POSEIDON_MAX_WIDTH], trace[POSEIDON_MAX_TRACE];
    for (uint32_t i = 0; i < k->arity; i++)
        values[i] = in[i].value;
    poseidon_trace(k, values, trace);
    return gadget_poseidon_traced(c, kind, trace);
}
