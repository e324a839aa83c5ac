/* Compile a block's matrices into programs: see r1cs_program.h. */
#include <string.h>

#include "r1cs/r1cs_dict.h"
#include "r1cs/r1cs_list.h"
#include "r1cs/r1cs_program.h"

#define MAX_PATTERNS 4096u
#define PATTERN_SLOTS (4 * MAX_PATTERNS)
/* A sum's packed words stay below 2^64 together: at most 2^6 words below 2^58. */
#define SUM_BITS 58u
#define SUM_WORDS 64u
#define WORD_MIN 4u /* shorter packed words are single bits */
#define RUN_MIN 4u  /* fewer rows are no run */

/* --- chains of coefficients c, 2c, 4c, ... in the dictionary --- */

typedef struct doubles {
    uint32_t *twice;    /* number of 2 * dict[i], or NONE */
    uint32_t *root;     /* first of the chain that i is in */
    uint32_t *exponent; /* dict[i] = 2^exponent * dict[root] */
} doubles;              /* zero, its own double, is in no chain: such terms are left out before */
#define NONE UINT32_MAX

static void doubles_free(const cuzk_host *host, const r1cs *r, doubles *d) {
    cuzk_host_free(host, d->twice, r->dict_size, 3 * sizeof(uint32_t));
}

static void find_chains(const r1cs *r, const doubles *d) {
    for (uint32_t i = 0; i < r->dict_size; i++)
        d->root[i] = NONE;
    for (uint32_t i = 0; i < r->dict_size; i++) {
        if (d->twice[i] != NONE) d->root[d->twice[i]] = 0; /* has a half: no chain starts there */
    }
    for (uint32_t i = 0; i < r->dict_size; i++) {
        if (d->root[i] != NONE) continue;
        uint32_t exponent = 0;
        for (uint32_t at = i; at != NONE; at = d->twice[at]) {
            d->root[at] = i;
            d->exponent[at] = exponent++;
        }
    }
}

static cuzk_status doubles_new(const cuzk_host *host, const r1cs *r, doubles *d, cuzk_error *err) {
    r1cs_dict index;
    void *memory = NULL;
    CUZK_TRY(cuzk_host_alloc(host, &memory, r->dict_size, 3 * sizeof(uint32_t), "compiling", err));
    d->twice = memory;
    d->root = d->twice + r->dict_size;
    d->exponent = d->root + r->dict_size;
    memset(memory, 0, r->dict_size * 3 * sizeof(uint32_t));
    cuzk_status status = r1cs_dict_init(host, &index, err);
    uint16_t number = 0;
    for (uint32_t i = 0; i < r->dict_size && status == CUZK_OK; i++)
        status = r1cs_dict_number(host, &index, &r->dict[i], &number, err);
    for (uint32_t i = 0; i < r->dict_size && status == CUZK_OK; i++) {
        fr_t twice;
        fr_double(&twice, &r->dict[i]);
        d->twice[i] = r1cs_dict_find(&index, &twice);
    }
    r1cs_dict_free(host, &index);
    if (status == CUZK_OK)
        find_chains(r, d);
    else
        doubles_free(host, r, d);
    return status;
}

/* --- the compiler's state --- */

/* A short row: at most R1CS_SHORT_BITS bits and a constant. */
typedef struct pattern {
    uint32_t constant; /* coefficient + 1, 0: none */
    uint32_t k;
    uint32_t coef[R1CS_SHORT_BITS];
} pattern;

typedef struct short_row {
    bool is_short;
    pattern p;
    uint32_t col[R1CS_SHORT_BITS];
} short_row;

/* A packed word of a long row: coefficient * sum 2^i bit(col + i * stride). */
typedef struct packed {
    uint32_t coef, col, n;
    r1cs_stride stride;
} packed;

typedef struct compiler {
    const cuzk_host *host;
    const r1cs *r;
    const r1cs_block *b;
    const r1cs_matrix *m;
    const doubles *d;
    /* Patterns seen: their tables, and a hash table of number + 1. */
    pattern *patterns;
    uint32_t *table_of; /* place of a pattern's table */
    uint32_t *slots;
    uint32_t n_patterns;
    short_row *rows; /* of the group */
    packed *words;   /* of one long row: room for its terms, as for the next two */
    uint32_t *bits, *products;
    size_t max_terms;
    r1cs_list code, tables, group_start;
    bool failed; /* out of memory */
} compiler;

static void emit(compiler *c, uint32_t word) {
    if (!r1cs_list_push(c->host, &c->code, &word)) c->failed = true;
}

static bool is_one_input(uint32_t col) {
    return col == (uint32_t)R1CS_INPUT_GLOBAL << R1CS_COL_TAG_SHIFT;
}

static bool is_import(uint32_t col) {
    return col >> R1CS_COL_TAG_SHIFT == R1CS_AUX_IMPORT;
}

static bool is_field(const compiler *c, uint32_t col) {
    const uint32_t index = col & R1CS_COL_INDEX_MASK;
    switch ((r1cs_col_tag)(col >> R1CS_COL_TAG_SHIFT)) {
    case R1CS_AUX_LOCAL:
        return bit_get(c->b->field_class, index);
    case R1CS_AUX_IMPORT:
        return false;
    case R1CS_AUX_GLOBAL:
        return bit_get(c->r->field_map, index);
    default:
        return true; /* an input */
    }
}

/* A column as a program's value. */
static uint32_t value_of(const compiler *c, uint32_t col) {
    const uint32_t tag = col & ~R1CS_COL_INDEX_MASK, index = col & R1CS_COL_INDEX_MASK;
    if (!col_is_aux(col)) return col;
    if (tag == (uint32_t)R1CS_AUX_GLOBAL << R1CS_COL_TAG_SHIFT)
        return tag | (uint32_t)r1cs_field_number(c->r, index);
    return tag | r1cs_local_field(c->b, index);
}

/* --- short rows --- */

static short_row read_short(const compiler *c, uint64_t row) {
    short_row s = {0};
    for (uint32_t k = c->m->row_start[row]; k < c->m->row_start[row + 1]; k++) {
        const uint32_t col = c->m->col[k], coef = c->m->coef[k];
        if (fr_is_zero(&c->r->dict[coef])) continue;
        if (is_one_input(col)) {
            s.p.constant = coef + 1;
            continue;
        }
        if (s.p.k == R1CS_SHORT_BITS || is_field(c, col)) return s;
        s.p.coef[s.p.k] = coef;
        s.col[s.p.k++] = col;
    }
    s.is_short = true;
    return s;
}

static bool same_pattern(const pattern *a, const pattern *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

static bool push_table(compiler *c, const pattern *p) {
    const fr_t *dict = c->r->dict;
    for (uint32_t bits = 0; bits < 1u << p->k; bits++) {
        fr_t sum = p->constant == 0 ? fr_zero() : dict[p->constant - 1];
        for (uint32_t j = 0; j < p->k; j++) {
            if (bits >> j & 1) fr_add(&sum, &sum, &dict[p->coef[j]]);
        }
        if (!r1cs_list_push(c->host, &c->tables, &sum)) return false;
    }
    return true;
}

/* The place of a pattern's table; false when there are too many patterns (the row is then compiled
 * as a long one). */
static bool table_place(compiler *c, const pattern *p, uint32_t *place) {
    uint32_t at = p->constant * 0x9e3779b1u ^ p->k;
    for (uint32_t j = 0; j < p->k; j++)
        at = (at ^ p->coef[j]) * 0x85ebca6bu;
    at = (at >> 8) % PATTERN_SLOTS;
    while (c->slots[at] != 0 && !same_pattern(&c->patterns[c->slots[at] - 1], p))
        at = (at + 1) % PATTERN_SLOTS;
    if (c->slots[at] == 0) {
        if (c->n_patterns == MAX_PATTERNS) return false;
        c->patterns[c->n_patterns] = *p;
        c->table_of[c->n_patterns] = (uint32_t)c->tables.n;
        if (!push_table(c, p)) c->failed = true;
        c->slots[at] = ++c->n_patterns;
    }
    *place = c->table_of[c->slots[at] - 1];
    return true;
}

/* How column b follows a; false when by no stride that a program has. */
static bool stride_between(uint32_t a, uint32_t b, r1cs_stride *stride) {
    if (is_import(a) && a != b) return false;
    switch ((int32_t)(b - a)) { /* of equal tags: an index difference */
    case 0:
        *stride = R1CS_STRIDE_0;
        return true;
    case 1:
        *stride = R1CS_STRIDE_1;
        return true;
    case 2:
        *stride = R1CS_STRIDE_2;
        return true;
    case -1:
        *stride = R1CS_STRIDE_MINUS_1;
        return true;
    default:
        return false;
    }
}

/* Number of rows from `first`, `step` apart, that follow one pattern with constant strides. */
static uint32_t run_length(const compiler *c, uint32_t first, uint32_t step, uint32_t rows,
                           r1cs_stride strides[R1CS_SHORT_BITS]) {
    const short_row *a = &c->rows[first];
    uint32_t n = 1, limit = 64;
    for (uint32_t j = 0; j < R1CS_SHORT_BITS; j++)
        strides[j] = R1CS_STRIDE_0;
    for (uint32_t at = first + step; at < rows && n < limit; at += step, n++) {
        const short_row *b = &c->rows[at];
        if (!b->is_short || !same_pattern(&a->p, &b->p)) break;
        bool follows = true;
        for (uint32_t j = 0; j < a->p.k && follows; j++) {
            r1cs_stride stride;
            follows = (a->col[j] & ~R1CS_COL_INDEX_MASK) == (b->col[j] & ~R1CS_COL_INDEX_MASK) &&
                      stride_between(c->rows[at - step].col[j], b->col[j], &stride) &&
                      (n == 1 || stride == strides[j]);
            if (follows && n == 1) strides[j] = stride;
            if (follows && stride == R1CS_STRIDE_2) limit = 32;
        }
        if (!follows) break;
    }
    return n;
}

static void emit_short(compiler *c, uint32_t first, uint32_t step, uint32_t n,
                       const r1cs_stride strides[R1CS_SHORT_BITS], uint32_t place) {
    const short_row *s = &c->rows[first];
    uint32_t op = R1CS_OP_SHORT | first << 2 | s->p.k << 12 | (n - 1) << 14 | (step - 1) << 20;
    for (uint32_t j = 0; j < s->p.k; j++)
        op |= (uint32_t)strides[j] << (21 + 2 * j);
    emit(c, op);
    emit(c, place);
    for (uint32_t j = 0; j < s->p.k; j++)
        emit(c, s->col[j]);
}

/* --- long rows --- */

/* The longest packed word that starts at term k of a row that ends at `end`; its terms. */
static uint32_t find_word(const compiler *c, uint32_t k, uint32_t end, packed *out) {
    const uint32_t *col = c->m->col;
    const uint16_t *coef = c->m->coef;
    uint32_t n = 1, limit = 64, gap = 0;
    bool up = true;
    for (; k + n < end && n < limit; n++) {
        const uint32_t at = k + n;
        if (is_field(c, col[at]) || is_import(col[at])) break;
        if (n == 1) {
            gap = col[at] - col[k];
            up = c->d->twice[coef[k]] == coef[at];
            if (gap == 0 || gap > (up ? 2 : 1)) break;
            if (gap == 2) limit = 32;
        }
        /* Tags descend along a row, so a step between two of them is never a small gap. */
        if (col[at] - col[at - 1] != gap) break;
        if (up ? c->d->twice[coef[at - 1]] != coef[at] : c->d->twice[coef[at]] != coef[at - 1])
            break;
    }
    *out = (packed){.coef = coef[k], .col = col[k], .n = n, .stride = R1CS_STRIDE_1};
    if (n > 1 && gap == 2) out->stride = R1CS_STRIDE_2;
    if (n > 1 && !up) {
        out->stride = R1CS_STRIDE_MINUS_1;
        out->coef = coef[k + n - 1];
        out->col = col[k + n - 1];
    }
    return n;
}

/* In chains, so that words of one sum are neighbours. */
static bool word_before(const doubles *d, const packed *a, const packed *b) {
    const uint32_t ra = d->root[a->coef], rb = d->root[b->coef];
    return ra != rb ? ra < rb : d->exponent[a->coef] < d->exponent[b->coef];
}

static void sort_words(const doubles *d, packed *w, uint32_t n) {
    /* Shell sort: rows have some tens of words, at most a thousand. */
    for (uint32_t gap = n / 2; gap > 0; gap = gap == 2 ? 1 : gap * 5 / 11) {
        for (uint32_t i = gap; i < n; i++) {
            const packed moved = w[i];
            uint32_t at = i;
            for (; at >= gap && word_before(d, &moved, &w[at - gap]); at -= gap)
                w[at] = w[at - gap];
            w[at] = moved;
        }
    }
}

/* The number of words from w[0] on that fit one sum. */
static uint32_t sum_length(const doubles *d, const packed *w, uint32_t n) {
    uint32_t count = 1;
    if (w[0].n > SUM_BITS) return 1;
    for (; count < n && count < SUM_WORDS; count++) {
        const packed *x = &w[count];
        if (d->root[x->coef] != d->root[w[0].coef]) break;
        if (d->exponent[x->coef] - d->exponent[w[0].coef] + x->n > SUM_BITS) break;
    }
    return count;
}

static uint32_t count_sums(const doubles *d, const packed *w, uint32_t n) {
    uint32_t sums = 0;
    for (uint32_t i = 0; i < n; sums++)
        i += sum_length(d, w + i, n - i);
    return sums;
}

static void emit_sums(compiler *c, const packed *w, uint32_t n) {
    for (uint32_t i = 0; i < n;) {
        const uint32_t count = sum_length(c->d, w + i, n - i);
        const packed *base = &w[i];
        emit(c, base->coef | count << 16);
        for (const uint32_t end = i + count; i < end; i++) {
            const uint32_t shift = c->d->exponent[w[i].coef] - c->d->exponent[base->coef];
            emit(c, (uint32_t)w[i].stride | (w[i].n - 1) << 2 | shift << 8);
            emit(c, w[i].col);
        }
    }
}

/* A long row's terms by kind. */
typedef struct long_row {
    uint32_t constant, words, bits, products;
} long_row;

static long_row sort_out(compiler *c, uint64_t row) {
    const uint32_t end = c->m->row_start[row + 1];
    long_row l = {0};
    for (uint32_t k = c->m->row_start[row]; k < end;) {
        const uint32_t col = c->m->col[k];
        if (fr_is_zero(&c->r->dict[c->m->coef[k]])) {
            k++;
        } else if (is_one_input(col)) {
            l.constant = c->m->coef[k++] + 1u;
        } else if (is_field(c, col)) {
            c->products[l.products++] = k++;
        } else {
            const uint32_t n = find_word(c, k, end, &c->words[l.words]);
            l.words += n >= WORD_MIN;
            for (uint32_t i = 0; i < n && n < WORD_MIN; i++)
                c->bits[l.bits++] = k + i;
            k += n;
        }
    }
    return l;
}

static void emit_long(compiler *c, uint64_t row, uint32_t in_group) {
    const long_row l = sort_out(c, row);
    const r1cs_matrix *m = c->m;
    if (l.constant + l.words + l.bits == 0 && l.products == 1 && m->coef[c->products[0]] == 0) {
        emit(c, R1CS_OP_COPY | in_group << 2);
        emit(c, value_of(c, m->col[c->products[0]]));
        return;
    }
    sort_words(c->d, c->words, l.words);
    emit(c, R1CS_OP_LONG | in_group << 2);
    emit(c, l.constant);
    emit(c, count_sums(c->d, c->words, l.words));
    emit(c, l.bits);
    emit(c, l.products);
    emit_sums(c, c->words, l.words);
    for (uint32_t i = 0; i < l.bits; i++) {
        emit(c, m->coef[c->bits[i]]);
        emit(c, m->col[c->bits[i]]);
    }
    for (uint32_t i = 0; i < l.products; i++) {
        emit(c, m->coef[c->products[i]]);
        emit(c, value_of(c, m->col[c->products[i]]));
    }
}

/* --- groups --- */

/* Rows first, first + step, ... as one instruction when their pattern has a table, else each as a
 * long row. */
static void emit_run(compiler *c, uint64_t base, uint32_t first, uint32_t step, uint32_t n,
                     const r1cs_stride strides[R1CS_SHORT_BITS]) {
    uint32_t place = 0;
    if (table_place(c, &c->rows[first].p, &place)) {
        emit_short(c, first, step, n, strides, place);
        return;
    }
    for (uint32_t i = 0; i < n; i++)
        emit_long(c, base + first + i * step, first + i * step);
}

/* Instructions for the short rows that start at `first`; how many rows that was. */
static uint32_t compile_short(compiler *c, uint64_t base, uint32_t first, uint32_t rows) {
    r1cs_stride strides[R1CS_SHORT_BITS], odd_strides[R1CS_SHORT_BITS];
    const uint32_t n = run_length(c, first, 1, rows, strides);
    if (n >= RUN_MIN || first + 1 == rows || !c->rows[first + 1].is_short) {
        emit_run(c, base, first, 1, n, strides);
        return n;
    }
    /* Two kinds of rows that take turns, as in majority: each kind is a run of every other row. */
    r1cs_stride even_strides[R1CS_SHORT_BITS];
    const uint32_t even = run_length(c, first, 2, rows, even_strides);
    const uint32_t odd = run_length(c, first + 1, 2, rows, odd_strides);
    const uint32_t pairs = even < odd ? even : odd;
    if (pairs < RUN_MIN) {
        emit_run(c, base, first, 1, n, strides);
        return n;
    }
    emit_run(c, base, first, 2, pairs, even_strides);
    emit_run(c, base, first + 1, 2, pairs, odd_strides);
    return 2 * pairs;
}

static void compile_group(compiler *c, uint64_t base, uint32_t rows) {
    for (uint32_t i = 0; i < rows; i++)
        c->rows[i] = read_short(c, base + i);
    for (uint32_t i = 0; i < rows;) {
        if (c->rows[i].is_short)
            i += compile_short(c, base, i, rows);
        else {
            emit_long(c, base + i, i);
            i++;
        }
    }
}

static void compile_rows(compiler *c) {
    for (uint64_t base = 0; base < c->b->rows && !c->failed; base += R1CS_GROUP_ROWS) {
        const uint32_t start = (uint32_t)c->code.n;
        const uint64_t left = c->b->rows - base;
        if (c->code.n > UINT32_MAX || !r1cs_list_push(c->host, &c->group_start, &start))
            c->failed = true;
        compile_group(c, base, left < R1CS_GROUP_ROWS ? (uint32_t)left : R1CS_GROUP_ROWS);
    }
    const uint32_t end = (uint32_t)c->code.n;
    if (c->code.n > UINT32_MAX || !r1cs_list_push(c->host, &c->group_start, &end)) c->failed = true;
}

/* --- memory --- */

#define SCRATCH_ARRAYS 7
typedef struct scratch {
    void **to;
    size_t count, size;
} scratch;

static void compiler_arrays(compiler *c, scratch out[SCRATCH_ARRAYS]) {
    const scratch arrays[SCRATCH_ARRAYS] = {
        {(void **)&c->patterns, MAX_PATTERNS, sizeof *c->patterns},
        {(void **)&c->table_of, MAX_PATTERNS, sizeof *c->table_of},
        {(void **)&c->slots, PATTERN_SLOTS, sizeof *c->slots},
        {(void **)&c->rows, R1CS_GROUP_ROWS, sizeof *c->rows},
        {(void **)&c->words, c->max_terms, sizeof *c->words},
        {(void **)&c->bits, c->max_terms, sizeof *c->bits},
        {(void **)&c->products, c->max_terms, sizeof *c->products},
    };
    memcpy(out, arrays, sizeof arrays);
}

static void compiler_close(compiler *c) {
    scratch arrays[SCRATCH_ARRAYS];
    compiler_arrays(c, arrays);
    for (int i = 0; i < SCRATCH_ARRAYS; i++)
        cuzk_host_free(c->host, *arrays[i].to, arrays[i].count, arrays[i].size);
    r1cs_list_free(c->host, &c->code);
    r1cs_list_free(c->host, &c->tables);
    r1cs_list_free(c->host, &c->group_start);
}

static cuzk_status compiler_open(compiler *c, cuzk_error *err) {
    scratch arrays[SCRATCH_ARRAYS];
    compiler_arrays(c, arrays);
    for (int i = 0; i < SCRATCH_ARRAYS; i++)
        CUZK_TRY(cuzk_host_alloc(c->host, arrays[i].to, arrays[i].count, arrays[i].size,
                                 "compiling a circuit", err));
    memset(c->slots, 0, PATTERN_SLOTS * sizeof *c->slots);
    c->code.item = c->group_start.item = sizeof(uint32_t);
    c->tables.item = sizeof(fr_t);
    return CUZK_OK;
}

static cuzk_status take_program(compiler *c, r1cs *r, r1cs_program *out, cuzk_error *err) {
    if (c->failed)
        return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "compiling a circuit: no memory for code");
    out->code = r1cs_list_own(c->host, r, &c->code, "code", err);
    if (out->code == NULL) return CUZK_ERR_NO_MEMORY;
    out->group_start = r1cs_list_own(c->host, r, &c->group_start, "code", err);
    if (out->group_start == NULL) return CUZK_ERR_NO_MEMORY;
    out->tables = r1cs_list_own(c->host, r, &c->tables, "row tables", err);
    return out->tables == NULL ? CUZK_ERR_NO_MEMORY : CUZK_OK;
}

static cuzk_status compile_matrix(const cuzk_host *host, r1cs *r, unsigned block, int m,
                                  const doubles *d, r1cs_program *out, cuzk_error *err) {
    compiler c = {
        .host = host, .r = r, .b = &r->blocks[block], .m = &r->blocks[block].m[m], .d = d};
    c.max_terms = r1cs_max_row_terms(r);
    cuzk_status status = compiler_open(&c, err);
    if (status == CUZK_OK) {
        compile_rows(&c);
        status = take_program(&c, r, out, err);
    }
    compiler_close(&c);
    return status;
}

cuzk_status r1cs_compile(const cuzk_host *host, r1cs *r, cuzk_error *err) {
    r1cs_owner *owner = r->owner;
    doubles d;
    r1cs_programs *programs = r1cs_own(host, r, 1, sizeof *programs, "programs", err);
    if (programs == NULL) return CUZK_ERR_NO_MEMORY;
    CUZK_TRY(doubles_new(host, r, &d, err));
    cuzk_status status = CUZK_OK;
    for (unsigned i = 0; i < 2 * r->n_blocks && status == CUZK_OK; i++)
        status = compile_matrix(host, r, i / 2, (int)(i % 2), &d, &programs->p[i / 2][i % 2], err);
    doubles_free(host, r, &d);
    owner->programs = programs;
    return status;
}
