#include "device_eval.h"

#include "cuda/eval_row.cuh"

using namespace cuzk;

void device_eval(const cuzk_eval_image *image, const void *memory, int matrix, const uint64_t *bits,
                 const fr_t *values, fr_t *out) {
    for (unsigned i = 0; i < image->n_blocks; i++) {
        const cuzk_eval_block &b = image->blocks[i];
        const uint32_t *const long_rows =
            (const uint32_t *)((const char *)memory + b.m[matrix].long_rows);
        for (uint64_t instance = 0; instance < b.count; instance++) {
            const eval_frame f =
                eval_frame_of(b, matrix, image->dict, (const char *)memory, (const uint32_t *)bits,
                              (const fr *)values, (uint32_t)instance);
            uint64_t next_long = 0;
            for (uint64_t row = 0; row < b.rows; row++) {
                const uint32_t first = f.row_start[row], end = f.row_start[row + 1];
                const bool is_long = end - first > CUZK_EVAL_LONG_ROW;
                fr sum = fr::zero();
                if (is_long && (next_long >= b.m[matrix].n_long || long_rows[next_long++] != row))
                    continue; /* a wrong list: the row keeps what was there */
                const uint32_t lanes = is_long ? CUZK_EVAL_LANES : 1;
                for (uint32_t lane = 0; lane < lanes; lane++) {
                    fr part = fr::zero();
                    eval_terms(f, first + lane, end, lanes, &part);
                    sum = sum + part;
                }
                ((fr *)out)[b.row_base + instance * b.rows + row] = sum.canon();
            }
        }
    }
}

uint32_t device_bits_extract(uint32_t w, uint32_t mask) {
    return bits_extract(w, mask);
}
