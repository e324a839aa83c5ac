/* Building one row a * b = c on the cs's scratch LCs 0, 1 and 2. Recording only. */
#ifndef CUZK_FILECOIN_GADGET_ROWS_H
#define CUZK_FILECOIN_GADGET_ROWS_H

#include "r1cs/cs.h"

typedef struct gadget_row {
    cs_lc *a, *b, *c;
} gadget_row;

static inline gadget_row row_begin(cs *c) {
    return (gadget_row){cs_scratch(c, 0), cs_scratch(c, 1), cs_scratch(c, 2)};
}
static inline void row_end(cs *c, const gadget_row *row) {
    cs_enforce(c, row->a, row->b, row->c);
}

static inline fr_t fr_minus_one(void) {
    const fr_t one = fr_one();
    fr_t z;
    fr_neg(&z, &one);
    return z;
}
static inline fr_t fr_two(void) {
    fr_t z = fr_one();
    fr_double(&z, &z);
    return z;
}
static inline void lc_add_one(cs *c, cs_lc *lc, cs_var var) {
    const fr_t one = fr_one();
    cs_lc_add(c, lc, var, &one);
}
static inline void lc_subtract_one(cs *c, cs_lc *lc, cs_var var) {
    const fr_t minus = fr_minus_one();
    cs_lc_add(c, lc, var, &minus);
}

/* (ONE - v) v = 0 */
static inline void row_boolean(cs *c, cs_var v) {
    gadget_row row = row_begin(c);
    lc_add_one(c, row.a, CS_ONE);
    lc_subtract_one(c, row.a, v);
    lc_add_one(c, row.b, v);
    row_end(c, &row);
}
/* row->a * ONE = v: finishes a row of which only a is filled. */
static inline void row_end_equals(cs *c, const gadget_row *row, cs_var v) {
    lc_add_one(c, row->b, CS_ONE);
    lc_add_one(c, row->c, v);
    row_end(c, row);
}

#endif
