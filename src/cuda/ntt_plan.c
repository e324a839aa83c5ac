#include "cuda/ntt_plan.h"

#include <string.h>

#define ELEMENT_BYTES 32u

static size_t reserve(size_t *total, size_t elements) {
    const size_t at = *total;
    *total += elements * ELEMENT_BYTES;
    return at;
}

cuzk_status cuzk_ntt_plan_make(cuzk_ntt_plan *p, unsigned log2_n, unsigned wide, cuzk_error *err) {
    if (log2_n < CUZK_NTT_MIN_LOG2 || log2_n > CUZK_NTT_MAX_LOG2)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                         "transform of 2^%u elements: 2^%u to 2^%u are possible", log2_n,
                         CUZK_NTT_MIN_LOG2, CUZK_NTT_MAX_LOG2);
    cuzk_ntt_plan_make_passes(p, log2_n, (log2_n + CUZK_NTT_MAX_BITS - 1) / CUZK_NTT_MAX_BITS,
                              wide);
    return CUZK_OK;
}

void cuzk_ntt_plan_make_passes(cuzk_ntt_plan *p, unsigned log2_n, unsigned passes, unsigned wide) {
    memset(p, 0, sizeof *p);
    p->log2_n = log2_n;
    p->passes = passes;
    unsigned left = log2_n;
    for (unsigned q = 0; q < p->passes; q++) {
        p->bits[q] = (left + (p->passes - q) - 1) / (p->passes - q);
        left -= p->bits[q];
        p->below[q] = left;
    }
    const unsigned last = p->passes - 1;
    size_t total = 0;
    for (unsigned direction = 0; direction < 2; direction++) {
        p->roots[direction] = reserve(&total, 2 * CUZK_NTT_ROOTS);
        for (unsigned coset = 0; coset < 2; coset++)
            for (unsigned q = 1; q < p->passes; q++)
                for (unsigned a = 0; a < q; a++)
                    p->twist[direction][coset][a][q] =
                        coset && q != last
                            ? p->twist[direction][0][a][q]
                            : reserve(&total, (size_t)1 << (p->bits[a] + p->bits[q]));
    }
    if (last > 0) p->scaled_twist = reserve(&total, (size_t)1 << (p->bits[0] + p->bits[1]));
    for (unsigned s = 0; s < CUZK_NTT_SCALES; s++)
        p->scales[s] = reserve(&total, (size_t)1 << p->bits[last]);
    if (p->passes > 2) p->wide_kinds = wide & CUZK_NTT_WIDE_ALL;
    for (unsigned kind = 0; kind < 4; kind++)
        if (p->wide_kinds >> kind & 1)
            p->wide[kind & 1][kind >> 1] = reserve(&total, (size_t)1 << log2_n);
    p->table_bytes = total;
}
