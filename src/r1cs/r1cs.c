/* The recorded circuit as a whole: its memory, what follows from its blocks, and single rows. */
#include <string.h>

#include "r1cs/cs_internal.h"
#include "r1cs/r1cs_internal.h"

/* --- memory --- */

typedef struct r1cs_piece {
    struct r1cs_piece *next;
    size_t bytes;    /* with this header */
    uint64_t pad[6]; /* what follows is aligned as the host aligns */
} r1cs_piece;

cuzk_status r1cs_new(const cuzk_host *host, r1cs **out, cuzk_error *err) {
    void *r = NULL, *owner = NULL;
    *out = NULL;
    CUZK_TRY(cuzk_host_alloc(host, &r, 1, sizeof(r1cs), "circuit", err));
    const cuzk_status status = cuzk_host_alloc(host, &owner, 1, sizeof(r1cs_owner), "circuit", err);
    if (status != CUZK_OK) {
        cuzk_host_free(host, r, 1, sizeof(r1cs));
        return status;
    }
    memset(owner, 0, sizeof(r1cs_owner));
    memset(r, 0, sizeof(r1cs));
    *out = r;
    (*out)->owner = owner;
    return CUZK_OK;
}

void *r1cs_own(const cuzk_host *host, r1cs *r, size_t count, size_t size, const char *what,
               cuzk_error *err) {
    r1cs_owner *owner = r->owner;
    size_t bytes = 0;
    if (!cuzk_mul_size(count, size, &bytes) || bytes > SIZE_MAX - sizeof(r1cs_piece)) {
        (void)cuzk_fail(err, CUZK_ERR_NO_MEMORY, "%s: %zu elements of %zu bytes", what, count,
                        size);
        return NULL;
    }
    bytes += sizeof(r1cs_piece);
    void *memory = NULL;
    if (cuzk_host_alloc(host, &memory, 1, bytes, what, err) != CUZK_OK) return NULL;
    memset(memory, 0, bytes);
    r1cs_piece *piece = memory;
    piece->next = owner->pieces;
    piece->bytes = bytes;
    owner->pieces = piece;
    return piece + 1;
}

void *r1cs_list_own(const cuzk_host *host, r1cs *r, r1cs_list *list, const char *what,
                    cuzk_error *err) {
    void *items = r1cs_own(host, r, (size_t)list->n, list->item, what, err);
    if (items != NULL) r1cs_list_take(host, list, items);
    return items;
}

void r1cs_disown(const cuzk_host *host, r1cs *r, const void *memory) {
    r1cs_owner *owner = r->owner;
    for (r1cs_piece **at = &owner->pieces; *at != NULL; at = &(*at)->next) {
        r1cs_piece *piece = *at;
        if ((const void *)(piece + 1) != memory) continue;
        *at = piece->next;
        cuzk_host_free(host, piece, 1, piece->bytes);
        return;
    }
}

void r1cs_free(const cuzk_host *host, r1cs *r) {
    if (r == NULL) return;
    r1cs_owner *owner = r->owner;
    for (r1cs_piece *piece = owner->pieces, *next; piece != NULL; piece = next) {
        next = piece->next;
        cuzk_host_free(host, piece, 1, piece->bytes);
    }
    file_map_close(&owner->map);
    cuzk_host_free(host, owner, 1, sizeof *owner);
    cuzk_host_free(host, r, 1, sizeof *r);
}

void r1cs_drop_c(const cuzk_host *host, r1cs *r) {
    for (unsigned i = 0; i < r->n_blocks; i++) {
        r1cs_matrix *m = &r->blocks[i].m[R1CS_C];
        r1cs_disown(host, r, m->row_start);
        r1cs_disown(host, r, m->col);
        r1cs_disown(host, r, m->coef);
        *m = (r1cs_matrix){0};
    }
    r->has_c = false;
    r->nnz[R1CS_C] = r->zero_terms[R1CS_C] = 0;
}

/* --- totals and bitmaps --- */

/* *total += count * each, at most limit. */
static bool add_total(uint64_t *total, uint64_t count, uint64_t each, uint64_t limit) {
    uint64_t product = 0;
    return !__builtin_mul_overflow(count, each, &product) &&
           !__builtin_add_overflow(*total, product, total) && *total <= limit;
}

cuzk_status r1cs_layout(r1cs *r, cuzk_error *err) {
    r->rows = r->aux = r->fields = 0;
    r->inputs = 1; /* ONE */
    for (unsigned i = 0; i < r->n_blocks; i++) {
        r1cs_block *b = &r->blocks[i];
        b->row_base = r->rows;
        b->aux_base = r->aux;
        b->input_base = r->inputs;
        b->field_base = r->fields;
        if (!add_total(&r->aux, b->count, b->aux, CS_MAX_VARS) ||
            !add_total(&r->inputs, b->count, b->inputs, CS_MAX_VARS) ||
            !add_total(&r->fields, b->count, b->fields, CS_MAX_VARS) ||
            !add_total(&r->rows, b->count, b->rows, UINT32_MAX))
            return cuzk_fail(err, CUZK_ERR_EXHAUSTED,
                             "%s: %llu instances of block %s need more than 2^29 variables of one "
                             "kind or 2^32 rows",
                             r->name, (unsigned long long)b->count, b->name);
    }
    return CUZK_OK;
}

uint64_t r1cs_bad_import(const r1cs *r, const r1cs_block *b) {
    for (uint64_t i = 0; i < b->count && b->n_imports > 0; i++) {
        const uint32_t *imports = instance_imports(b, i);
        for (uint64_t k = 0; k < b->n_imports; k++) {
            if (imports[k] >= b->aux_base || (k > 0 && imports[k] <= imports[k - 1]) ||
                r1cs_aux_is_field(r, imports[k]))
                return i;
        }
    }
    return b->count;
}

uint64_t r1cs_globals_end(const r1cs_block *b) {
    uint64_t end = b->aux_base;
    for (uint64_t i = 0; i < b->count && b->n_imports > 0; i++) {
        const uint32_t first = instance_imports(b, i)[0];
        if (first < end) end = first;
    }
    return end;
}

/* dst[at + i] |= src[i] for i < bits. Bits of src beyond `bits` are zero. */
static void or_bits(uint64_t *dst, uint64_t at, const uint64_t *src, uint64_t bits) {
    const unsigned shift = at & 63;
    uint64_t *to = dst + (at >> 6);
    for (size_t i = 0; i < bit_words(bits); i++) {
        to[i] |= src[i] << shift;
        /* A word that holds no bit of the range may lie behind the map. */
        const uint64_t high = shift == 0 ? 0 : src[i] >> (64 - shift);
        if (high != 0) to[i + 1] |= high;
    }
}

static void or_instances(uint64_t *map, const r1cs_block *b, uint64_t base, uint64_t size,
                         const uint64_t *local) {
    if (size == 0) return;
    for (uint64_t i = 0; i < b->count; i++)
        or_bits(map, base + i * size, local, size);
}

/* One bitmap over aux or inputs that collects a matrix's columns. */
typedef struct density {
    uint64_t *map;     /* of the circuit */
    uint64_t *local;   /* of one instance of the block */
    uint64_t *imports; /* aux: of the block's imports, by place */
} density;

static void mark_columns(const r1cs *r, const r1cs_block *b, const r1cs_matrix *m, density aux,
                         density inputs, uint64_t *zero_terms) {
    for (uint64_t k = 0; k < m->nnz; k++) {
        if (fr_is_zero(&r->dict[m->coef[k]])) {
            *zero_terms += b->count;
            continue;
        }
        const uint32_t tag = m->col[k] >> R1CS_COL_TAG_SHIFT;
        const uint32_t index = m->col[k] & R1CS_COL_INDEX_MASK;
        const density *d = tag <= R1CS_AUX_GLOBAL ? &aux : &inputs;
        const bool local = tag == R1CS_AUX_LOCAL || tag == R1CS_INPUT_LOCAL;
        uint64_t *map = local ? d->local : tag == R1CS_AUX_IMPORT ? d->imports : d->map;
        if (map != NULL) bit_set(map, index);
    }
}

/* What an aux density collected by instance and by import, for all instances. */
static void spread_aux(const r1cs_block *b, const density *d) {
    or_instances(d->map, b, b->aux_base, b->aux, d->local);
    for (uint64_t k = 0; k < b->n_imports; k++) {
        for (uint64_t i = 0; i < b->count && bit_get(d->imports, k); i++)
            bit_set(d->map, instance_imports(b, i)[k]);
    }
}

static uint64_t popcount(const uint64_t *map, uint64_t bits) {
    uint64_t n = 0;
    for (size_t i = 0; i < bit_words(bits); i++)
        n += (uint64_t)__builtin_popcountll(map[i]);
    return n;
}

/* field_rank of a block, and its FIELD variables in field_map. */
static cuzk_status finish_classes(const cuzk_host *host, r1cs *r, r1cs_block *b,
                                  uint64_t *field_map, cuzk_error *err) {
    const size_t words = bit_words(b->aux);
    uint32_t *rank = r1cs_own(host, r, words, sizeof *rank, "ranks", err);
    if (rank == NULL) return CUZK_ERR_NO_MEMORY;
    uint32_t n = 0;
    for (size_t i = 0; i < words; i++) {
        rank[i] = n;
        n += (uint32_t)__builtin_popcountll(b->field_class[i]);
    }
    b->field_rank = rank;
    or_instances(field_map, b, b->aux_base, b->aux, b->field_class);
    return CUZK_OK;
}

static cuzk_status finish_block(const cuzk_host *host, r1cs *r, r1cs_block *b, density aux[2],
                                density inputs, cuzk_error *err) {
    void *locals = NULL;
    const size_t aux_words = bit_words(b->aux), input_words = bit_words(b->inputs);
    const size_t import_words = bit_words(b->n_imports);
    const size_t words = 2 * (aux_words + import_words) + input_words;
    CUZK_TRY(cuzk_host_alloc(host, &locals, words, sizeof(uint64_t), "densities", err));
    memset(locals, 0, words * sizeof(uint64_t));
    const density none = {0};
    inputs.local = locals;
    uint64_t *next = inputs.local + input_words;
    for (int m = 0; m < 2; m++) {
        aux[m].local = next;
        aux[m].imports = next + aux_words;
        next += aux_words + import_words;
    }
    mark_columns(r, b, &b->m[R1CS_A], aux[R1CS_A], none, &r->zero_terms[R1CS_A]);
    mark_columns(r, b, &b->m[R1CS_B], aux[R1CS_B], inputs, &r->zero_terms[R1CS_B]);
    mark_columns(r, b, &b->m[R1CS_C], none, none, &r->zero_terms[R1CS_C]);
    spread_aux(b, &aux[R1CS_A]);
    spread_aux(b, &aux[R1CS_B]);
    or_instances(inputs.map, b, b->input_base, b->inputs, inputs.local);
    cuzk_host_free(host, locals, words, sizeof(uint64_t));
    for (int m = 0; m < 3; m++)
        r->nnz[m] += b->count * b->m[m].nnz;
    return CUZK_OK;
}

cuzk_status r1cs_finish(const cuzk_host *host, r1cs *r, cuzk_error *err) {
    CUZK_TRY(r1cs_layout(r, err));
    uint64_t *maps[3] = {0}; /* A, B, FIELD */
    for (int i = 0; i < 3; i++) {
        maps[i] = r1cs_own(host, r, bit_words(r->aux), sizeof(uint64_t), "variable maps", err);
        if (maps[i] == NULL) return CUZK_ERR_NO_MEMORY;
    }
    uint64_t *inputs = r1cs_own(host, r, bit_words(r->inputs), sizeof *inputs, "input map", err);
    if (inputs == NULL) return CUZK_ERR_NO_MEMORY;
    for (unsigned i = 0; i < r->n_blocks; i++) {
        density aux[2] = {{.map = maps[R1CS_A]}, {.map = maps[R1CS_B]}};
        CUZK_TRY(finish_block(host, r, &r->blocks[i], aux, (density){.map = inputs}, err));
        CUZK_TRY(finish_classes(host, r, &r->blocks[i], maps[2], err));
    }
    r->a_aux_map = maps[R1CS_A];
    r->b_aux_map = maps[R1CS_B];
    r->field_map = maps[2];
    r->b_input_map = inputs;
    r->a_aux = popcount(r->a_aux_map, r->aux);
    r->b_aux = popcount(r->b_aux_map, r->aux);
    r->b_inputs = popcount(r->b_input_map, r->inputs);
    r->log2_domain = 0;
    while ((uint64_t)1 << r->log2_domain < r->rows + r->inputs)
        r->log2_domain++;
    return r1cs_compile(host, r, err);
}

/* --- rows --- */

r1cs_place r1cs_locate(const r1cs *r, uint64_t row) {
    const r1cs_block *b = r->blocks;
    while (row >= b->row_base + b->count * b->rows)
        b++;
    const uint64_t at = row - b->row_base;
    return (r1cs_place){b, at / b->rows, at % b->rows};
}

size_t r1cs_max_row_terms(const r1cs *r) {
    size_t max = 1; /* an appended row */
    for (unsigned i = 0; i < r->n_blocks; i++) {
        const r1cs_block *b = &r->blocks[i];
        for (int m = 0; m < (r->has_c ? 3 : 2); m++) {
            for (uint64_t row = 0; row < b->rows; row++) {
                const size_t n = b->m[m].row_start[row + 1] - b->m[m].row_start[row];
                if (n > max) max = n;
            }
        }
    }
    return max;
}

size_t r1cs_row(const r1cs *r, int m, uint64_t row, cs_var *vars, uint16_t *coefs) {
    if (row >= r->rows) {
        if (m != R1CS_A) return 0;
        vars[0] = (cs_var)(row - r->rows) | CS_INPUT_FLAG;
        coefs[0] = 0;
        return 1;
    }
    if (m == R1CS_C && !r->has_c) return 0;
    const r1cs_place place = r1cs_locate(r, row);
    const r1cs_matrix *matrix = &place.block->m[m];
    const uint32_t first = matrix->row_start[place.row];
    const size_t n = matrix->row_start[place.row + 1] - first;
    for (size_t i = 0; i < n; i++) {
        vars[i] = col_var(place.block, place.instance, matrix->col[first + i]);
        coefs[i] = matrix->coef[first + i];
    }
    return n;
}
