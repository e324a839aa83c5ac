/* Recording: run every block of a circuit once and write down its rows. */
#include <stdio.h>
#include <string.h>

#include "r1cs/cs_internal.h"
#include "r1cs/r1cs_dict.h"
#include "r1cs/r1cs_internal.h"
#include "r1cs/r1cs_list.h"

/* One matrix of the block being recorded; r1cs_matrix as growing lists. */
typedef struct matrix_lists {
    r1cs_list row_start, col, coef;
} matrix_lists;

typedef struct cs_recorder {
    r1cs_dict dict;
    matrix_lists m[3];
    r1cs_list classes;                     /* words of field_class that are complete */
    uint64_t class_word;                   /* the word being filled */
    uint64_t aux_base, input_base, fields; /* of the block */
    const uint32_t *imports;               /* of every instance, r's; instance 0 is recorded */
    uint64_t n_imports, globals_end;       /* aux variables from globals_end on are imports */
    uint64_t *keys, *spare;                /* sorting: key << 32 | place in the LC */
    size_t keys_cap;
} cs_recorder;

/* --- variables --- */

static bool vars_left(cs *c, uint64_t used, uint64_t n) {
    if (used + n <= CS_MAX_VARS) return true;
    cs_fail(c, CUZK_ERR_EXHAUSTED, "more than 2^29 variables of one kind");
    return false;
}

static void no_memory(cs *c) {
    cs_fail(c, CUZK_ERR_NO_MEMORY, "recording a circuit: no memory for more rows");
}

cs_var cs_record_aux(cs *c, uint64_t n, bool field) {
    cs_recorder *rec = c->recorder;
    const cs_var first = (cs_var)c->aux;
    if (c->status != CUZK_OK || !vars_left(c, c->aux, n)) return 0;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t local = c->aux - rec->aux_base;
        if (field) rec->class_word |= (uint64_t)1 << (local & 63);
        if ((local & 63) == 63) {
            if (!r1cs_list_push(c->host, &rec->classes, &rec->class_word)) no_memory(c);
            rec->class_word = 0;
        }
        c->aux++;
    }
    if (field) rec->fields += n;
    return first;
}

cs_var cs_record_input(cs *c) {
    if (c->status != CUZK_OK || !vars_left(c, c->inputs, 1)) return CS_ONE;
    return (cs_var)c->inputs++ | CS_INPUT_FLAG;
}

/* --- rows --- */

static bool reserve_keys(cs *c, size_t n) {
    cs_recorder *rec = c->recorder;
    if (n <= rec->keys_cap) return true;
    size_t cap = rec->keys_cap == 0 ? 256 : rec->keys_cap;
    while (cap < n)
        cap *= 2;
    void *memory = NULL;
    cuzk_error err;
    const cuzk_status status = cuzk_host_alloc(c->host, &memory, cap, 2 * sizeof(uint64_t),
                                               "sorting a linear combination", &err);
    if (status != CUZK_OK) {
        cs_fail(c, status, err.text);
        return false;
    }
    cuzk_host_free(c->host, rec->keys, rec->keys_cap, 2 * sizeof(uint64_t));
    rec->keys = memory;
    rec->spare = rec->keys + cap;
    rec->keys_cap = cap;
    return true;
}

static void insertion_sort(uint64_t *keys, size_t n) {
    for (size_t i = 1; i < n; i++) {
        const uint64_t key = keys[i];
        size_t at = i;
        for (; at > 0 && keys[at - 1] > key; at--)
            keys[at] = keys[at - 1];
        keys[at] = key;
    }
}

/* Least-significant-digit radix sort by the upper 32 bits, skipping digits that are all equal. */
static uint64_t *radix_sort(uint64_t *keys, uint64_t *spare, size_t n) {
    for (unsigned shift = 32; shift < 64; shift += 8) {
        size_t at[256] = {0}, sum = 0;
        for (size_t i = 0; i < n; i++)
            at[(keys[i] >> shift) & 255]++;
        if (at[(keys[0] >> shift) & 255] == n) continue;
        for (unsigned d = 0; d < 256; d++) {
            const size_t count = at[d];
            at[d] = sum;
            sum += count;
        }
        for (size_t i = 0; i < n; i++)
            spare[at[(keys[i] >> shift) & 255]++] = keys[i];
        uint64_t *swap = keys;
        keys = spare;
        spare = swap;
    }
    return keys;
}

/* The terms of lc in row order as key << 32 | place; NULL when there is no memory. */
static const uint64_t *sorted_keys(cs *c, const cs_lc *lc) {
    if (!reserve_keys(c, lc->n)) return NULL;
    uint64_t *keys = c->recorder->keys;
    bool sorted = true;
    for (size_t i = 0; i < lc->n; i++) {
        keys[i] = (uint64_t)cs_var_key(lc->terms[i].var) << 32 | i;
        sorted = sorted && (i == 0 || keys[i - 1] < keys[i]);
    }
    if (sorted) return keys;
    if (lc->n > 32) return radix_sort(keys, c->recorder->spare, lc->n);
    insertion_sort(keys, lc->n);
    return keys;
}

static uint32_t column(r1cs_col_tag tag, uint64_t index) {
    return (uint32_t)tag << R1CS_COL_TAG_SHIFT | (uint32_t)index;
}

/* Why a variable has no column in the block being recorded; NULL when *col is set. */
static const char *column_of(const cs *c, cs_var var, uint32_t *col) {
    const cs_recorder *rec = c->recorder;
    const bool input = (var & CS_INPUT_FLAG) != 0;
    const uint32_t index = var & ~CS_INPUT_FLAG;
    const uint64_t base = input ? rec->input_base : rec->aux_base;
    if (index >= (input ? c->inputs : c->aux)) return "is not allocated";
    if (index >= base) {
        *col = column(input ? R1CS_INPUT_LOCAL : R1CS_AUX_LOCAL, index - base);
        return NULL;
    }
    if (input || index < rec->globals_end) {
        *col = column(input ? R1CS_INPUT_GLOBAL : R1CS_AUX_GLOBAL, index);
        return NULL;
    }
    for (uint64_t i = 0; i < rec->n_imports; i++) {
        *col = column(R1CS_AUX_IMPORT, i);
        if (rec->imports[i] == index) return NULL;
    }
    return "is neither an import nor before all imports";
}

static void push_term(cs *c, matrix_lists *m, cs_var var, const fr_t *coef) {
    uint32_t col = 0;
    uint16_t number = 0;
    cuzk_error err;
    const char *why = column_of(c, var, &col);
    if (why != NULL) {
        char text[96];
        (void)snprintf(text, sizeof text, "a row uses %s %u, which %s",
                       var & CS_INPUT_FLAG ? "input" : "aux", var & ~CS_INPUT_FLAG, why);
        cs_fail(c, CUZK_ERR_ARGUMENT, text);
        return;
    }
    const cuzk_status status = r1cs_dict_number(c->host, &c->recorder->dict, coef, &number, &err);
    if (status != CUZK_OK)
        cs_fail(c, status, err.text);
    else if (!r1cs_list_push(c->host, &m->col, &col) || !r1cs_list_push(c->host, &m->coef, &number))
        no_memory(c);
}

static void push_row(cs *c, matrix_lists *m, const cs_lc *lc) {
    if (lc != NULL && lc->n > 0) {
        const uint64_t *keys = sorted_keys(c, lc);
        if (keys == NULL) return;
        for (size_t i = 0; i < lc->n && c->status == CUZK_OK;) {
            const cs_term *t = &lc->terms[(uint32_t)keys[i]];
            fr_t coef = t->coef;
            for (i++; i < lc->n && keys[i] >> 32 == cs_var_key(t->var); i++)
                fr_add(&coef, &coef, &lc->terms[(uint32_t)keys[i]].coef);
            push_term(c, m, t->var, &coef);
        }
    }
    const uint32_t end = (uint32_t)m->col.n;
    if (m->col.n > UINT32_MAX)
        cs_fail(c, CUZK_ERR_EXHAUSTED, "more than 2^32 - 1 terms in one block");
    else if (!r1cs_list_push(c->host, &m->row_start, &end))
        no_memory(c);
}

void cs_enforce(cs *c, const cs_lc *a, const cs_lc *b, const cs_lc *k) {
    if (c->recorder == NULL || c->status != CUZK_OK) return;
    push_row(c, &c->recorder->m[R1CS_A], a);
    push_row(c, &c->recorder->m[R1CS_B], b);
    push_row(c, &c->recorder->m[R1CS_C], k);
}

/* --- blocks --- */

static void lists_init(cs_recorder *rec) {
    for (int m = 0; m < 3; m++) {
        rec->m[m].row_start.item = sizeof(uint32_t);
        rec->m[m].col.item = sizeof(uint32_t);
        rec->m[m].coef.item = sizeof(uint16_t);
    }
    rec->classes.item = sizeof(uint64_t);
}

static void lists_free(const cuzk_host *host, cs_recorder *rec) {
    for (int m = 0; m < 3; m++) {
        r1cs_list_free(host, &rec->m[m].row_start);
        r1cs_list_free(host, &rec->m[m].col);
        r1cs_list_free(host, &rec->m[m].coef);
    }
    r1cs_list_free(host, &rec->classes);
}

/* Ask for the imports of every instance of block `to`, the next of r. */
static cuzk_status take_imports(cs *c, const cs_circuit *circuit, const cs_block *from, r1cs *r,
                                r1cs_block *to, cuzk_error *err) {
    uint32_t *imports = r1cs_own(c->host, r, (size_t)from->count * from->n_imports, sizeof *imports,
                                 "imports", err);
    if (imports == NULL) return CUZK_ERR_NO_MEMORY;
    for (uint64_t i = 0; i < from->count && from->n_imports > 0; i++)
        from->imports(circuit->state, i, imports + i * from->n_imports);
    to->count = from->count;
    to->aux_base = c->aux;
    to->n_imports = from->n_imports;
    to->imports = imports;
    const uint64_t bad = r1cs_bad_import(r, to);
    if (bad < to->count)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                         "the imports of instance %llu are not ascending bits of earlier blocks",
                         (unsigned long long)bad);
    c->recorder->imports = imports;
    c->recorder->n_imports = to->n_imports;
    c->recorder->globals_end = r1cs_globals_end(to);
    return CUZK_OK;
}

static cuzk_status begin_block(cs *c, cuzk_error *err) {
    cs_recorder *rec = c->recorder;
    const uint32_t zero = 0;
    rec->aux_base = c->aux;
    rec->input_base = c->inputs;
    rec->fields = 0;
    rec->class_word = 0;
    for (int m = 0; m < 3; m++) {
        if (!r1cs_list_push(c->host, &rec->m[m].row_start, &zero)) no_memory(c);
    }
    return cs_status(c, err);
}

static cuzk_status end_block(cs *c, const cs_block *from, r1cs *r, cuzk_error *err) {
    cs_recorder *rec = c->recorder;
    r1cs_block *to = &r->blocks[r->n_blocks++];
    (void)snprintf(to->name, sizeof to->name, "%s", from->name);
    to->rows = rec->m[R1CS_A].row_start.n - 1;
    to->aux = c->aux - rec->aux_base;
    to->inputs = c->inputs - rec->input_base;
    to->fields = rec->fields;
    if ((to->aux & 63) != 0 && !r1cs_list_push(c->host, &rec->classes, &rec->class_word)) {
        no_memory(c);
        return cs_status(c, err);
    }
    to->field_class = r1cs_list_own(c->host, r, &rec->classes, "variable classes", err);
    if (to->field_class == NULL) return CUZK_ERR_NO_MEMORY;
    for (int m = 0; m < 3; m++) {
        matrix_lists *lists = &rec->m[m];
        to->m[m].nnz = lists->col.n;
        to->m[m].row_start = r1cs_list_own(c->host, r, &lists->row_start, "row offsets", err);
        if (to->m[m].row_start == NULL) return CUZK_ERR_NO_MEMORY;
        to->m[m].col = r1cs_list_own(c->host, r, &lists->col, "columns", err);
        if (to->m[m].col == NULL) return CUZK_ERR_NO_MEMORY;
        to->m[m].coef = r1cs_list_own(c->host, r, &lists->coef, "coefficient numbers", err);
        if (to->m[m].coef == NULL) return CUZK_ERR_NO_MEMORY;
    }
    CUZK_TRY(r1cs_layout(r, err));
    c->aux = r->aux; /* behind the last instance */
    c->inputs = r->inputs;
    return CUZK_OK;
}

static cuzk_status record_block(cs *c, const cs_circuit *circuit, const cs_block *b, r1cs *r,
                                cuzk_error *err) {
    CUZK_TRY(begin_block(c, err));
    cuzk_status status = take_imports(c, circuit, b, r, &r->blocks[r->n_blocks], err);
    if (status == CUZK_OK) {
        b->synth(c, circuit->state, 0);
        status = cs_status(c, err);
    }
    if (status == CUZK_OK) status = end_block(c, b, r, err);
    if (status != CUZK_OK)
        return cuzk_error_context(err, status, "circuit %s, block %s", r->name, b->name);
    return CUZK_OK;
}

static cuzk_status record_all(cs *c, const cs_circuit *circuit, r1cs *r, cuzk_error *err) {
    const cuzk_host *host = c->host;
    CUZK_TRY(r1cs_dict_init(host, &c->recorder->dict, err));
    for (unsigned i = 0; i < circuit->n_blocks; i++) {
        if (cuzk_host_cancelled(host))
            return cuzk_fail(err, CUZK_ERR_CANCELLED, "recording %s: cancelled", r->name);
        cuzk_host_progress(host, "record", i, circuit->n_blocks);
        CUZK_TRY(record_block(c, circuit, &circuit->blocks[i], r, err));
    }
    cuzk_host_progress(host, "record", circuit->n_blocks, circuit->n_blocks);
    const r1cs_dict *dict = &c->recorder->dict;
    fr_t *values = r1cs_own(host, r, dict->n, sizeof *values, "coefficients", err);
    if (values == NULL) return CUZK_ERR_NO_MEMORY;
    memcpy(values, dict->values, dict->n * sizeof *values);
    r->dict = values;
    r->dict_size = dict->n;
    r->has_c = true;
    return r1cs_finish(host, r, err);
}

static cuzk_status check_circuit(const cs_circuit *circuit, cuzk_error *err) {
    if (circuit->n_blocks == 0 || circuit->n_blocks > CS_MAX_BLOCKS)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "a circuit has 1 to %d blocks, not %u",
                         CS_MAX_BLOCKS, circuit->n_blocks);
    for (unsigned i = 0; i < circuit->n_blocks; i++) {
        const cs_block *b = &circuit->blocks[i];
        if (b->count == 0 || b->count > CS_MAX_VARS)
            return cuzk_fail(err, CUZK_ERR_ARGUMENT, "block %s has %llu instances", b->name,
                             (unsigned long long)b->count);
        if (b->n_imports > CS_MAX_VARS / b->count || (b->n_imports > 0) != (b->imports != NULL))
            return cuzk_fail(err, CUZK_ERR_ARGUMENT, "block %s has %u imports in each instance",
                             b->name, b->n_imports);
    }
    return CUZK_OK;
}

cuzk_status r1cs_record(const cuzk_host *host, const cs_circuit *circuit, r1cs **out,
                        cuzk_error *err) {
    *out = NULL;
    CUZK_TRY(check_circuit(circuit, err));
    r1cs *r = NULL;
    CUZK_TRY(r1cs_new(host, &r, err));
    (void)snprintf(r->name, sizeof r->name, "%.31s", circuit->name);
    cs_recorder rec = {0};
    cs c = {.host = host, .recorder = &rec, .inputs = 1};
    lists_init(&rec);
    const cuzk_status status = record_all(&c, circuit, r, err);
    lists_free(host, &rec);
    r1cs_dict_free(host, &rec.dict);
    cuzk_host_free(host, rec.keys, rec.keys_cap, 2 * sizeof(uint64_t));
    cs_release(&c);
    if (status == CUZK_OK)
        *out = r;
    else
        r1cs_free(host, r);
    return status;
}
