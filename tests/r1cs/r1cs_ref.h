/* The plain reference for the r1cs layer: synthetic circuits given as data, expanded in full with
 * nothing shared, and a cs_circuit that synthesises the same. */
#ifndef CUZK_TESTS_R1CS_REF_H
#define CUZK_TESTS_R1CS_REF_H

#include "check.h"
#include "host/host_std.h"
#include "r1cs/r1cs.h"

static inline fr_t small(int64_t v) {
    fr_t z;
    fr_from_u64(&z, (uint64_t)(v < 0 ? -v : v));
    if (v < 0) fr_neg(&z, &z);
    return z;
}
static inline fr_t random_fr(void) {
    uint8_t bytes[64];
    fr_t z;
    check_random_bytes(bytes, sizeof bytes);
    fr_from_wide(&z, bytes);
    return z;
}

/* --- a block as data: a script of steps, run for every instance --- */

typedef enum ref_kind { REF_FIELD, REF_BIT, REF_BITS, REF_INPUT, REF_ROW } ref_kind;

/* A term of a row: a variable by kind and number, counted within the block (local), among the
 * instance's imports, or absolutely. */
typedef struct ref_term {
    bool input, local, import;
    uint32_t index;
    fr_t coef;
} ref_term;

#define REF_MAX_TERMS 400
typedef struct ref_step {
    ref_kind kind;
    unsigned n; /* REF_BITS: how many */
    ref_term *terms[3];
    unsigned n_terms[3];
} ref_step;

typedef struct ref_block {
    ref_step *steps;
    unsigned n_steps, count;
    uint64_t rows, aux, inputs; /* of one instance */
    unsigned n_imports;
    cs_var *imports; /* count * n_imports */
    uint64_t aux_base, input_base, row_base;
} ref_block;

typedef struct ref_circuit {
    ref_block blocks[CS_MAX_BLOCKS];
    unsigned n_blocks;
    uint64_t rows, aux, inputs;
    fr_t *aux_values;   /* expected witness */
    fr_t *input_values; /* [0] = 1 */
    unsigned block;     /* of the run in progress: see ref_synth */
} ref_circuit;

static inline fr_t ref_value(const ref_circuit *c, bool input, uint64_t index) {
    return input ? c->input_values[index] : c->aux_values[index];
}

/* The absolute variable of a term in one instance. */
static inline cs_var ref_var(const ref_block *b, uint64_t instance, const ref_term *t) {
    if (t->import) return b->imports[instance * b->n_imports + t->index];
    const uint64_t base =
        t->input ? b->input_base + instance * b->inputs : b->aux_base + instance * b->aux;
    const uint64_t index = t->index + (t->local ? base : 0);
    return (cs_var)index | (t->input ? CS_INPUT_FLAG : 0);
}

/* What an allocation returns, unless it failed. */
static inline void expect_var(const cs *c, cs_var got, uint64_t want) {
    if (cs_status(c, NULL) == CUZK_OK) CHECK_U64(got, want);
}

static inline void ref_synth(cs *c, const ref_circuit *circuit, const ref_block *b,
                             uint64_t instance) {
    uint64_t aux = b->aux_base + instance * b->aux, input = b->input_base + instance * b->inputs;
    for (unsigned i = 0; i < b->n_steps; i++) {
        const ref_step *s = &b->steps[i];
        uint64_t word = 0;
        cs_lc *lc[3] = {NULL, NULL, NULL};
        switch (s->kind) {
        case REF_FIELD:
            expect_var(c, cs_alloc(c, cs_recording(c) ? NULL : &circuit->aux_values[aux]), aux);
            aux++;
            break;
        case REF_BIT:
            expect_var(c, cs_alloc_bit(c, !fr_is_zero(&circuit->aux_values[aux])), aux);
            aux++;
            break;
        case REF_BITS:
            for (unsigned k = 0; k < s->n; k++)
                word |= (uint64_t)!fr_is_zero(&circuit->aux_values[aux + k]) << k;
            /* Bits above n must be ignored. */
            if (s->n < 64) word |= check_random_state << s->n;
            expect_var(c, cs_alloc_bits(c, word, s->n), aux);
            aux += s->n;
            break;
        case REF_INPUT:
            expect_var(c, cs_alloc_input(c, &circuit->input_values[input]), input | CS_INPUT_FLAG);
            input++;
            break;
        case REF_ROW:
            if (!cs_recording(c)) break;
            for (unsigned m = 0; m < 3; m++) {
                if (s->n_terms[m] == 0 && (i & 1) != 0) continue; /* NULL is the empty LC */
                lc[m] = cs_scratch(c, m);
                for (unsigned k = 0; k < s->n_terms[m]; k++)
                    cs_lc_add(c, lc[m], ref_var(b, instance, &s->terms[m][k]),
                              &s->terms[m][k].coef);
            }
            cs_enforce(c, lc[0], lc[1], lc[2]);
            break;
        }
    }
}

/* cs_block's functions have no argument that names the block: one of each kind for each. */
#define REF_SYNTH(n)                                                                               \
    static inline void ref_synth_##n(cs *c, void *state, uint64_t instance) {                      \
        const ref_circuit *circuit = state;                                                        \
        ref_synth(c, circuit, &circuit->blocks[n], instance);                                      \
    }                                                                                              \
    static inline void ref_imports_##n(const void *state, uint64_t instance, cs_var *out) {        \
        const ref_block *b = &((const ref_circuit *)state)->blocks[n];                             \
        memcpy(out, b->imports + instance * b->n_imports, b->n_imports * sizeof *out);             \
    }
REF_SYNTH(0)
REF_SYNTH(1)
REF_SYNTH(2)
REF_SYNTH(3)

static inline cs_circuit ref_to_cs(ref_circuit *c) {
    static void (*const synth[4])(cs *, void *, uint64_t) = {ref_synth_0, ref_synth_1, ref_synth_2,
                                                             ref_synth_3};
    static void (*const imports[4])(const void *, uint64_t, cs_var *) = {
        ref_imports_0, ref_imports_1, ref_imports_2, ref_imports_3};
    cs_circuit out = {.name = "synthetic", .n_blocks = c->n_blocks, .state = c};
    for (unsigned i = 0; i < c->n_blocks; i++) {
        const ref_block *b = &c->blocks[i];
        out.blocks[i] = (cs_block){.name = "part", .count = b->count, .synth = synth[i]};
        out.blocks[i].n_imports = b->n_imports;
        if (b->n_imports > 0) out.blocks[i].imports = imports[i];
    }
    return out;
}

static inline void ref_free(ref_circuit *c) {
    for (unsigned i = 0; i < c->n_blocks; i++) {
        for (unsigned k = 0; k < c->blocks[i].n_steps; k++) {
            for (unsigned m = 0; m < 3; m++)
                free(c->blocks[i].steps[k].terms[m]);
        }
        free(c->blocks[i].steps);
        free(c->blocks[i].imports);
    }
    free(c->aux_values);
    free(c->input_values);
}

/* --- expansion in full --- */

/* The merged, sorted terms of one row: inputs then aux, ascending. Zero coefficients stay. */
typedef struct ref_row {
    unsigned n;
    cs_var var[REF_MAX_TERMS + 1];
    fr_t coef[REF_MAX_TERMS + 1];
} ref_row;

static inline const ref_step *ref_find_row(const ref_circuit *c, uint64_t row, const ref_block **b,
                                           uint64_t *instance) {
    for (unsigned i = 0; i < c->n_blocks; i++) {
        *b = &c->blocks[i];
        const uint64_t in_block = (*b)->rows * (*b)->count;
        if (row >= in_block) {
            row -= in_block;
            continue;
        }
        *instance = row / (*b)->rows;
        uint64_t left = row % (*b)->rows;
        for (unsigned k = 0; k < (*b)->n_steps; k++) {
            if ((*b)->steps[k].kind == REF_ROW && left-- == 0) return &(*b)->steps[k];
        }
    }
    return NULL;
}

static inline void ref_expand(const ref_circuit *c, int m, uint64_t row, ref_row *out) {
    const ref_block *b = NULL;
    uint64_t instance = 0;
    out->n = 0;
    if (row >= c->rows) {
        if (m == R1CS_A && row < c->rows + c->inputs) {
            out->n = 1;
            out->var[0] = (cs_var)(row - c->rows) | CS_INPUT_FLAG;
            out->coef[0] = fr_one();
        }
        return;
    }
    const ref_step *s = ref_find_row(c, row, &b, &instance);
    for (unsigned k = 0; k < s->n_terms[m]; k++) {
        const cs_var var = ref_var(b, instance, &s->terms[m][k]);
        unsigned at = 0;
        while (at < out->n && (out->var[at] ^ CS_INPUT_FLAG) < (var ^ CS_INPUT_FLAG))
            at++;
        if (at < out->n && out->var[at] == var) {
            fr_add(&out->coef[at], &out->coef[at], &s->terms[m][k].coef);
            continue;
        }
        for (unsigned j = out->n; j > at; j--) {
            out->var[j] = out->var[j - 1];
            out->coef[j] = out->coef[j - 1];
        }
        out->var[at] = var;
        out->coef[at] = s->terms[m][k].coef;
        out->n++;
    }
}

static inline fr_t ref_eval(const ref_circuit *c, int m, uint64_t row) {
    static ref_row expanded;
    fr_t sum = fr_zero();
    ref_expand(c, m, row, &expanded);
    for (unsigned k = 0; k < expanded.n; k++) {
        const cs_var v = expanded.var[k];
        const fr_t value = ref_value(c, (v & CS_INPUT_FLAG) != 0, v & ~CS_INPUT_FLAG);
        fr_t t;
        fr_mul(&t, &value, &expanded.coef[k]);
        fr_add(&sum, &sum, &t);
    }
    return sum;
}

/* --- random circuits --- */

static inline fr_t ref_random_coef(void) {
    fr_t z = small(1);
    const unsigned kind = (unsigned)(check_random() % 8);
    if (kind < 2) return z;
    if (kind < 4) return small(-1);
    if (kind == 4) return small(2);
    if (kind == 5) { /* +-2^k */
        for (uint64_t k = check_random() % 255; k > 0; k--)
            fr_double(&z, &z);
        if (check_random() & 1) fr_neg(&z, &z);
        return z;
    }
    if (kind == 6) return small((int64_t)(check_random() % 7) - 3); /* 0 too */
    return random_fr();
}

/* Variables that exist when a row is made. */
typedef struct ref_scope {
    uint64_t aux, inputs;               /* local ones so far */
    uint64_t global_aux, global_inputs; /* of earlier blocks, absolute */
    uint64_t imports;                   /* by place */
} ref_scope;

static inline ref_term ref_random_term(const ref_scope *scope) {
    ref_term t = {.coef = ref_random_coef()};
    if (scope->imports > 0 && check_random() % 4 == 0) {
        t.import = true;
        t.index = (uint32_t)(check_random() % scope->imports);
        return t;
    }
    t.input = scope->aux + scope->global_aux == 0 || check_random() % 16 == 0;
    const uint64_t locals = t.input ? scope->inputs : scope->aux;
    const uint64_t globals = t.input ? scope->global_inputs : scope->global_aux;
    t.local = locals > 0 && (globals == 0 || check_random() % 4 != 0);
    t.index = (uint32_t)(check_random() % (t.local ? locals : globals));
    return t;
}

/* n terms c, 2c, 4c, ... on consecutive (or stride -1, 2) local variables: a packed word. Or on
 * imports, which looks like one. */
static inline unsigned ref_random_word(const ref_scope *scope, ref_term *out, unsigned cap) {
    unsigned n = 1 + (unsigned)(check_random() % 70);
    const bool import = scope->imports > 0 && check_random() % 4 == 0;
    const uint64_t vars = import ? scope->imports : scope->aux;
    if (import && n > vars) n = (unsigned)vars;
    if (n > cap) n = cap;
    static const int strides[4] = {1, 1, -1, 2};
    const int stride = strides[check_random() % 4];
    const uint64_t span = (uint64_t)(n - 1) * (uint64_t)(stride < 0 ? -stride : stride) + 1;
    if (n == 0 || vars < span) return 0;
    uint64_t at = check_random() % (vars - span + 1);
    if (stride < 0) at += span - 1;
    fr_t coef = ref_random_coef();
    for (unsigned i = 0; i < n; i++) {
        out[i] =
            (ref_term){.local = !import, .import = import, .index = (uint32_t)at, .coef = coef};
        fr_double(&coef, &coef);
        at = (uint64_t)((int64_t)at + stride);
    }
    return n;
}

static inline void ref_random_lc(const ref_scope *scope, ref_step *s, unsigned m) {
    static ref_term terms[REF_MAX_TERMS];
    const unsigned kind = (unsigned)(check_random() % 8);
    unsigned n = 0;
    if (kind < 4)
        n = (unsigned)(check_random() % 4);
    else if (kind < 6)
        n = (unsigned)(check_random() % 24);
    for (unsigned i = 0; i < n; i++)
        terms[i] = ref_random_term(scope);
    if (kind >= 6) {
        for (unsigned words = 1 + (unsigned)(check_random() % 5); words > 0; words--)
            n += ref_random_word(scope, terms + n, REF_MAX_TERMS - n);
        if (n < REF_MAX_TERMS) terms[n++] = ref_random_term(scope);
    }
    s->n_terms[m] = n;
    s->terms[m] = malloc((n + 1) * sizeof *terms);
    memcpy(s->terms[m], terms, n * sizeof *terms);
}

/* Rows like those of a word gadget: the same small pattern over consecutive variables. */
static inline void ref_word_rows(const ref_scope *scope, ref_step *steps, unsigned n) {
    ref_step first = {.kind = REF_ROW};
    for (unsigned m = 0; m < 3; m++) {
        first.n_terms[m] = (unsigned)(check_random() % 4);
        first.terms[m] = malloc(4 * sizeof(ref_term));
        for (unsigned k = 0; k < first.n_terms[m]; k++)
            first.terms[m][k] = ref_random_term(scope);
    }
    const unsigned stride = 1 + (unsigned)(check_random() % 2);
    for (unsigned i = 0; i < n; i++) {
        steps[i] = first;
        for (unsigned m = 0; m < 3; m++) {
            steps[i].terms[m] = malloc(4 * sizeof(ref_term));
            memcpy(steps[i].terms[m], first.terms[m], 4 * sizeof(ref_term));
            for (unsigned k = 0; k < first.n_terms[m]; k++) {
                ref_term *t = &steps[i].terms[m][k];
                if (t->local && !t->input)
                    t->index = (uint32_t)((t->index + i * stride) % scope->aux);
                if (t->import && m != 0) t->index = (uint32_t)((t->index + i) % scope->imports);
            }
        }
    }
    for (unsigned m = 0; m < 3; m++)
        free(first.terms[m]);
}

static inline void ref_random_block(ref_block *b, ref_scope scope, unsigned steps) {
    b->steps = calloc(steps, sizeof *b->steps);
    b->n_steps = steps;
    for (unsigned i = 0; i < steps; i++) {
        ref_step *s = &b->steps[i];
        const unsigned kind = (unsigned)(check_random() % 16);
        if (kind < 2) {
            s->kind = REF_FIELD;
            scope.aux++;
        } else if (kind < 4) {
            s->kind = REF_BIT;
            scope.aux++;
        } else if (kind < 8) {
            s->kind = REF_BITS;
            s->n = (unsigned)(check_random() % 65);
            scope.aux += s->n;
        } else if (kind == 8) {
            s->kind = REF_INPUT;
            scope.inputs++;
        } else if (kind == 9 && steps - i > 40) {
            ref_word_rows(&scope, s, 40);
            b->rows += 40;
            i += 39;
        } else {
            s->kind = REF_ROW;
            for (unsigned m = 0; m < 3; m++)
                ref_random_lc(&scope, s, m);
            b->rows++;
        }
    }
    b->aux = scope.aux;
    b->inputs = scope.inputs;
}

/* Values for all variables, by the classes that the steps give them. */
static inline void ref_random_values(ref_circuit *c) {
    c->input_values[0] = fr_one();
    for (uint64_t i = 1; i < c->inputs; i++)
        c->input_values[i] = random_fr();
    for (unsigned b = 0; b < c->n_blocks; b++) {
        const ref_block *block = &c->blocks[b];
        uint64_t at = block->aux_base;
        for (unsigned instance = 0; instance < block->count; instance++) {
            for (unsigned i = 0; i < block->n_steps; i++) {
                const ref_step *s = &block->steps[i];
                if (s->kind == REF_FIELD) c->aux_values[at++] = random_fr();
                const unsigned n = s->kind == REF_BIT ? 1 : s->kind == REF_BITS ? s->n : 0;
                for (unsigned k = 0; k < n; k++)
                    c->aux_values[at++] = small((int64_t)(check_random() & 1));
            }
        }
    }
}

/* Bases, totals and random values from the blocks. */
static inline void ref_layout(ref_circuit *c) {
    c->rows = c->aux = 0;
    c->inputs = 1;
    for (unsigned i = 0; i < c->n_blocks; i++) {
        ref_block *b = &c->blocks[i];
        b->row_base = c->rows;
        b->aux_base = c->aux;
        b->input_base = c->inputs;
        c->rows += b->rows * b->count;
        c->aux += b->aux * b->count;
        c->inputs += b->inputs * b->count;
    }
}

/* The BIT-class aux variables of the blocks before block n, ascending; their number. */
static inline size_t ref_bits(const ref_circuit *c, unsigned n, cs_var *out) {
    size_t bits = 0;
    cs_var at = 0;
    for (unsigned i = 0; i < n; i++) {
        const ref_block *b = &c->blocks[i];
        for (unsigned k = 0; k < b->count * b->n_steps; k++) {
            const ref_step *s = &b->steps[k % b->n_steps];
            const unsigned made = s->kind == REF_BIT ? 1 : s->kind == REF_BITS ? s->n : 0;
            for (unsigned j = 0; j < made; j++)
                out[bits++] = at++;
            at += s->kind == REF_FIELD;
        }
    }
    return bits;
}

/* Imports of block n: in every instance another ascending choice of earlier bits. Returns where
 * GLOBAL variables must end. */
static inline uint64_t ref_random_imports(ref_circuit *c, unsigned n) {
    ref_block *b = &c->blocks[n];
    cs_var *bits = malloc((c->aux + 1) * sizeof *bits);
    const size_t all = ref_bits(c, n, bits), first = all > 0 ? check_random() % all : 0;
    uint64_t end = c->aux;
    b->n_imports = all == 0 ? 0 : 1 + (unsigned)(check_random() % (all - first));
    if (b->n_imports > 40) b->n_imports = 40;
    b->imports = malloc((b->count * b->n_imports + 1) * sizeof *bits);
    for (unsigned i = 0; i < b->count; i++) {
        cs_var *out = b->imports + i * b->n_imports;
        for (size_t k = 0, at = first; k < b->n_imports; k++, at++) {
            const size_t spare = all - at - (b->n_imports - k);
            at += check_random() % (spare < 5 ? spare + 1 : 5);
            out[k] = bits[at];
        }
        if (b->n_imports > 0 && out[0] < end) end = out[0];
    }
    free(bits);
    return end;
}

static inline void ref_random_circuit(ref_circuit *c, unsigned max_steps, unsigned max_count) {
    *c = (ref_circuit){.n_blocks = 1 + (unsigned)(check_random() % 4)};
    for (unsigned i = 0; i < c->n_blocks; i++) {
        ref_layout(c); /* of the blocks before i: the rest are still empty */
        ref_block *b = &c->blocks[i];
        ref_scope scope = {.global_aux = c->aux, .global_inputs = c->inputs};
        b->count = check_random() & 1 ? 1 : 1 + (unsigned)(check_random() % max_count);
        if (check_random() & 1) scope.global_aux = ref_random_imports(c, i);
        scope.imports = b->n_imports;
        ref_random_block(b, scope, (unsigned)(check_random() % max_steps));
    }
    ref_layout(c);
    c->aux_values = calloc(c->aux + 1, sizeof *c->aux_values);
    c->input_values = calloc(c->inputs, sizeof *c->input_values);
    ref_random_values(c);
}

/* A block to import from: bits 0..9, value 10, bits 11..19. */
static inline void ref_head(cs *c, void *state, uint64_t instance) {
    (void)state;
    (void)instance;
    cs_alloc_bits(c, 0, 10);
    cs_alloc(c, NULL);
    cs_alloc_bits(c, 0, 9);
}

#endif
