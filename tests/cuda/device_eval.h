/* The device's evaluation of rows and packing of bits compiled for the host. */
#ifndef CUZK_TESTS_DEVICE_EVAL_H
#define CUZK_TESTS_DEVICE_EVAL_H

#include "cuda/eval_image.h"

#ifdef __cplusplus
extern "C" {
#endif

/* All rows of a matrix as the kernels compute them: a thread a short row, some lanes a long one. */
void device_eval(const cuzk_eval_image *image, const void *memory, int matrix, const uint64_t *bits,
                 const fr_t *values, fr_t *out);
uint32_t device_bits_extract(uint32_t w, uint32_t mask);

#ifdef __cplusplus
}
#endif
#endif
