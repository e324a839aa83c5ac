/* Linear combinations, and the parts of `cs` that recording and witnessing share. */
#include <stdio.h>
#include <string.h>

#include "r1cs/cs_internal.h"

bool cs_recording(const cs *c) {
    return c->recorder != NULL;
}

cuzk_status cs_status(const cs *c, cuzk_error *err) {
    return c->status == CUZK_OK ? CUZK_OK : cuzk_fail(err, c->status, "%s", c->text);
}

void cs_fail(cs *c, cuzk_status status, const char *text) {
    if (c->status != CUZK_OK) return;
    c->status = status;
    (void)snprintf(c->text, sizeof c->text, "%.*s", (int)sizeof c->text - 1, text);
}

cs_lc *cs_scratch(cs *c, unsigned slot) {
    cs_lc *lc = &c->scratch[slot % CS_SCRATCH_LCS];
    lc->n = 0;
    return lc;
}

void cs_release(cs *c) {
    for (unsigned i = 0; i < CS_SCRATCH_LCS; i++)
        cs_lc_free(c, &c->scratch[i]);
    if (c->memory == NULL) return;
    explicit_bzero(c->memory, c->memory_bytes);
    cuzk_host_free(c->host, c->memory, c->memory_bytes, 1);
    c->memory = NULL;
}

void cs_lc_clear(cs_lc *lc) {
    lc->n = 0;
}

void cs_lc_free(cs *c, cs_lc *lc) {
    cuzk_host_free(c->host, lc->terms, lc->cap, sizeof *lc->terms);
    *lc = (cs_lc){0};
}

/* Room for `extra` more terms; false when there is no memory, which the cs remembers. */
static bool lc_reserve(cs *c, cs_lc *lc, size_t extra) {
    if (extra <= lc->cap - lc->n) return true;
    size_t cap = lc->cap < 8 ? 16 : 2 * lc->cap;
    while (cap - lc->n < extra)
        cap *= 2;
    void *terms = NULL;
    cuzk_error err;
    const cuzk_status status =
        cuzk_host_alloc(c->host, &terms, cap, sizeof *lc->terms, "linear combination", &err);
    if (status != CUZK_OK) {
        cs_fail(c, status, err.text);
        return false;
    }
    if (lc->n > 0) memcpy(terms, lc->terms, lc->n * sizeof *lc->terms);
    cuzk_host_free(c->host, lc->terms, lc->cap, sizeof *lc->terms);
    lc->terms = terms;
    lc->cap = cap;
    return true;
}

void cs_lc_add(cs *c, cs_lc *lc, cs_var var, const fr_t *coef) {
    if (!lc_reserve(c, lc, 1)) return;
    lc->terms[lc->n++] = (cs_term){var, *coef};
}

void cs_lc_add_scaled(cs *c, cs_lc *lc, const cs_lc *other, const fr_t *factor) {
    const size_t n = other->n; /* other may be lc itself */
    if (!lc_reserve(c, lc, n)) return;
    for (size_t i = 0; i < n; i++) {
        cs_term *t = &lc->terms[lc->n + i];
        t->var = other->terms[i].var;
        fr_mul(&t->coef, &other->terms[i].coef, factor);
    }
    lc->n += n;
}

static bool term_less(const cs_term *a, const cs_term *b) {
    return cs_var_key(a->var) < cs_var_key(b->var);
}

static void sift_down(cs_term *t, size_t root, size_t n) {
    const cs_term moved = t[root];
    for (size_t child; (child = 2 * root + 1) < n; root = child) {
        if (child + 1 < n && term_less(&t[child], &t[child + 1])) child++;
        if (!term_less(&moved, &t[child])) break;
        t[root] = t[child];
    }
    t[root] = moved;
}

/* Heapsort: in place and without memory, which is all this function is given. */
static void sort_terms(cs_term *t, size_t n) {
    for (size_t i = n / 2; i-- > 0;)
        sift_down(t, i, n);
    for (size_t end = n; end-- > 1;) {
        const cs_term top = t[0];
        t[0] = t[end];
        t[end] = top;
        sift_down(t, 0, end);
    }
}

void cs_lc_normalise(cs_lc *lc) {
    bool sorted = true;
    for (size_t i = 1; i < lc->n && sorted; i++)
        sorted = term_less(&lc->terms[i - 1], &lc->terms[i]);
    if (sorted) return;
    sort_terms(lc->terms, lc->n);
    size_t out = 0;
    for (size_t i = 1; i < lc->n; i++) {
        cs_term *last = &lc->terms[out];
        if (lc->terms[i].var == last->var)
            fr_add(&last->coef, &last->coef, &lc->terms[i].coef);
        else
            lc->terms[++out] = lc->terms[i];
    }
    lc->n = out + 1;
}
