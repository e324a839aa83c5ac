/* Memory of an r1cs and helpers that recording, loading and evaluation share. */
#ifndef CUZK_R1CS_R1CS_INTERNAL_H
#define CUZK_R1CS_R1CS_INTERNAL_H

#include "r1cs/r1cs.h"
#include "base/file.h"
#include "r1cs/r1cs_list.h"

struct r1cs_programs;

/* Everything that an r1cs points to. */
typedef struct r1cs_owner {
    struct r1cs_piece *pieces;            /* allocations of r1cs_own */
    file_map map;                         /* of a loaded one */
    const struct r1cs_programs *programs; /* A and B compiled */
} r1cs_owner;

/* An empty r1cs with an owner. */
cuzk_status r1cs_new(const cuzk_host *host, r1cs **out, cuzk_error *err);
/* Memory that lives until r1cs_free or r1cs_disown; zeroed. NULL with *err filled on failure. */
void *r1cs_own(const cuzk_host *host, r1cs *r, size_t count, size_t size, const char *what,
               cuzk_error *err);
/* Give back one piece early; nothing happens for memory that is not r's own (a mapping). */
void r1cs_disown(const cuzk_host *host, r1cs *r, const void *memory);

/* A list's items in one piece that r owns; the list is empty afterwards. NULL as r1cs_own. */
void *r1cs_list_own(const cuzk_host *host, r1cs *r, r1cs_list *list, const char *what,
                    cuzk_error *err);

/* From the blocks (sizes, counts, matrices, field_class), has_c and the dictionary: bases, ranks,
 * totals, densities, bitmaps and programs. */
cuzk_status r1cs_finish(const cuzk_host *host, r1cs *r, cuzk_error *err);
/* Set every block's *_base from counts and sizes, and the totals of rows, aux, inputs and fields.
 * CUZK_ERR_EXHAUSTED when an index space is too small for them. */
cuzk_status r1cs_layout(r1cs *r, cuzk_error *err);

static inline bool bit_get(const uint64_t *map, uint64_t i) {
    return (map[i >> 6] >> (i & 63)) & 1;
}
static inline void bit_set(uint64_t *map, uint64_t i) {
    map[i >> 6] |= (uint64_t)1 << (i & 63);
}
static inline size_t bit_words(uint64_t bits) {
    return (size_t)((bits + 63) / 64);
}

static inline bool col_is_aux(uint32_t col) {
    return (col >> R1CS_COL_TAG_SHIFT) <= R1CS_AUX_GLOBAL;
}

static inline const uint32_t *instance_imports(const r1cs_block *b, uint64_t instance) {
    return b->imports + instance * b->n_imports;
}

/* The absolute variable of a column in one instance of a block. */
static inline cs_var col_var(const r1cs_block *b, uint64_t instance, uint32_t col) {
    const uint32_t index = col & R1CS_COL_INDEX_MASK;
    switch ((r1cs_col_tag)(col >> R1CS_COL_TAG_SHIFT)) {
    case R1CS_AUX_LOCAL:
        return (cs_var)(b->aux_base + instance * b->aux + index);
    case R1CS_AUX_IMPORT:
        return instance_imports(b, instance)[index];
    case R1CS_AUX_GLOBAL:
        return index;
    case R1CS_INPUT_LOCAL:
        return (cs_var)(b->input_base + instance * b->inputs + index) | CS_INPUT_FLAG;
    default:
        return index | CS_INPUT_FLAG;
    }
}

/* The first instance whose imports are not ascending bits of earlier blocks, b->count when all are.
 * Reads the sizes and classes of earlier blocks only. */
uint64_t r1cs_bad_import(const r1cs *r, const r1cs_block *b);
/* GLOBAL aux columns of a block are below this: the lowest import, or the block's first variable.
 * The imports must be good. */
uint64_t r1cs_globals_end(const r1cs_block *b);

/* Compile A and B of every block into owner->programs. */
cuzk_status r1cs_compile(const cuzk_host *host, r1cs *r, cuzk_error *err);

/* The number of a block's FIELD-class variable among those of its instance. */
static inline uint32_t r1cs_local_field(const r1cs_block *b, uint64_t local) {
    const uint64_t below = b->field_class[local >> 6] & (((uint64_t)1 << (local & 63)) - 1);
    return b->field_rank[local >> 6] + (uint32_t)__builtin_popcountll(below);
}
/* The class of an aux variable, from its block. */
bool r1cs_aux_is_field(const r1cs *r, uint64_t aux);
/* The place of a FIELD-class aux variable among witness.fields. */
uint64_t r1cs_field_number(const r1cs *r, uint64_t aux);

/* The block that holds a row of the circuit (row < r->rows), and where in it. */
typedef struct r1cs_place {
    const r1cs_block *block;
    uint64_t instance, row;
} r1cs_place;
r1cs_place r1cs_locate(const r1cs *r, uint64_t row);

#endif
