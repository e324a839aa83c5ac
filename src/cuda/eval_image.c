#include "cuda/eval_image.h"

#include <string.h>

#include "r1cs/r1cs_internal.h"

/* Reserve bytes at the end of the image. */
static uint64_t reserve(cuzk_eval_image *image, uint64_t bytes) {
    const uint64_t at = image->bytes;
    image->bytes += (bytes + 63) / 64 * 64;
    return at;
}

static uint64_t count_long_rows(const r1cs_matrix *m, uint64_t rows) {
    uint64_t n = 0;
    for (uint64_t r = 0; r < rows; r++)
        n += m->row_start[r + 1] - m->row_start[r] > CUZK_EVAL_LONG_ROW;
    return n;
}

cuzk_status cuzk_eval_image_layout(cuzk_eval_image *image, const r1cs *c, cuzk_error *err) {
    if (c->aux > CUZK_EVAL_INDEX_MASK || c->inputs + c->fields > CUZK_EVAL_INDEX_MASK)
        return cuzk_fail(err, CUZK_ERR_UNSUPPORTED,
                         "circuit %s has %llu aux variables: a device column counts to %u", c->name,
                         (unsigned long long)c->aux, CUZK_EVAL_INDEX_MASK);
    *image = (cuzk_eval_image){.rows = c->rows, .inputs = c->inputs, .n_blocks = c->n_blocks};
    image->dict = reserve(image, c->dict_size * sizeof(fr_t));
    for (unsigned i = 0; i < c->n_blocks; i++) {
        const r1cs_block *b = &c->blocks[i];
        cuzk_eval_block *to = &image->blocks[i];
        *to = (cuzk_eval_block){.rows = b->rows,
                                .count = b->count,
                                .row_base = b->row_base,
                                .aux_base = b->aux_base,
                                .aux = b->aux,
                                .field_base = c->inputs + b->field_base,
                                .fields = b->fields,
                                .input_base = b->input_base,
                                .inputs = b->inputs,
                                .n_imports = b->n_imports};
        to->imports = reserve(image, b->count * b->n_imports * sizeof(uint32_t));
        for (int m = 0; m < 2; m++) {
            cuzk_eval_matrix *matrix = &to->m[m];
            matrix->n_long = count_long_rows(&b->m[m], b->rows);
            matrix->row_start = reserve(image, (b->rows + 1) * sizeof(uint32_t));
            matrix->col = reserve(image, b->m[m].nnz * sizeof(uint32_t));
            matrix->coef = reserve(image, b->m[m].nnz * sizeof(uint16_t));
            matrix->long_rows = reserve(image, matrix->n_long * sizeof(uint32_t));
        }
    }
    return CUZK_OK;
}

static uint32_t column(cuzk_eval_kind kind, uint64_t index) {
    return (uint32_t)kind << CUZK_EVAL_KIND_SHIFT | (uint32_t)index;
}

static bool is_field(const uint64_t *map, uint64_t i) {
    return (map[i / 64] >> (i % 64) & 1) != 0;
}

/* An aux variable by its absolute number. */
static uint32_t absolute_aux(const r1cs *c, uint64_t aux) {
    return is_field(c->field_map, aux)
               ? column(CUZK_EVAL_VALUE, c->inputs + r1cs_field_number(c, aux))
               : column(CUZK_EVAL_BIT, aux);
}

static uint32_t device_column(const r1cs *c, const r1cs_block *b, uint32_t col) {
    const uint32_t index = col & R1CS_COL_INDEX_MASK;
    switch ((r1cs_col_tag)(col >> R1CS_COL_TAG_SHIFT)) {
    case R1CS_AUX_LOCAL:
        return is_field(b->field_class, index)
                   ? column(CUZK_EVAL_FIELD_LOCAL, r1cs_local_field(b, index))
                   : column(CUZK_EVAL_BIT_LOCAL, index);
    case R1CS_AUX_IMPORT:
        return column(CUZK_EVAL_IMPORT, index);
    case R1CS_AUX_GLOBAL:
        return absolute_aux(c, index);
    case R1CS_INPUT_LOCAL:
        return column(CUZK_EVAL_INPUT_LOCAL, index);
    default:
        return column(CUZK_EVAL_VALUE, index);
    }
}

static void fill_matrix(const cuzk_eval_matrix *to, const r1cs *c, const r1cs_block *b,
                        const r1cs_matrix *m, uint8_t *memory) {
    uint32_t *col = (uint32_t *)(void *)(memory + to->col),
             *long_rows = (uint32_t *)(void *)(memory + to->long_rows);
    memcpy(memory + to->row_start, m->row_start, (b->rows + 1) * sizeof(uint32_t));
    memcpy(memory + to->coef, m->coef, m->nnz * sizeof(uint16_t));
    for (uint64_t k = 0; k < m->nnz; k++)
        col[k] = device_column(c, b, m->col[k]);
    for (uint64_t r = 0; r < b->rows; r++)
        if (m->row_start[r + 1] - m->row_start[r] > CUZK_EVAL_LONG_ROW) *long_rows++ = (uint32_t)r;
}

void cuzk_eval_image_fill(const cuzk_eval_image *image, const r1cs *c, uint8_t *memory) {
    memcpy(memory + image->dict, c->dict, c->dict_size * sizeof(fr_t));
    for (unsigned i = 0; i < c->n_blocks; i++) {
        const r1cs_block *b = &c->blocks[i];
        if (b->n_imports != 0)
            memcpy(memory + image->blocks[i].imports, b->imports,
                   b->count * b->n_imports * sizeof(uint32_t));
        for (int m = 0; m < 2; m++)
            fill_matrix(&image->blocks[i].m[m], c, b, &b->m[m], memory);
    }
}
