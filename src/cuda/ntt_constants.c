#include "cuda/ntt_constants.h"

#include "poly/ntt.h"

static void powers_of(fr_t power[32], fr_t x) {
    for (int i = 0; i < 32; i++) {
        power[i] = x;
        fr_sqr(&x, &x);
    }
}

void cuzk_ntt_make_constants(unsigned log2_n, cuzk_ntt_constants *out) {
    fr_t omega[2], omega512[2], seven[2], m, m_inverse, s;
    const fr_t one = fr_one();
    ntt_root_of_unity(log2_n, &omega[0]);
    ntt_root_of_unity(9, &omega512[0]);
    fr_from_u64(&seven[0], 7);
    fr_inv(&omega[1], &omega[0]);
    fr_inv(&omega512[1], &omega512[0]);
    fr_inv(&seven[1], &seven[0]);
    for (int d = 0; d < 2; d++) {
        powers_of(out->root[d], omega[d]);
        powers_of(out->root512[d], omega512[d]);
        powers_of(out->coset[d], seven[d]);
    }
    fr_from_u64(&m, (uint64_t)1 << log2_n);
    fr_inv(&m_inverse, &m);
    s = seven[0]; /* s = 1 / (m (7^m - 1)) */
    for (unsigned i = 0; i < log2_n; i++)
        fr_sqr(&s, &s);
    fr_sub(&s, &s, &one);
    fr_inv(&s, &s);
    fr_mul(&s, &s, &m_inverse);
    out->factor[CUZK_NTT_SCALE_INVERSE] = m_inverse;
    out->factor[CUZK_NTT_SCALE_COSET] = one;
    out->factor[CUZK_NTT_SCALE_COSET_INVERSE] = m_inverse;
    out->factor[CUZK_NTT_SCALE_QUOTIENT_COSET] = m_inverse;
    out->factor[CUZK_NTT_SCALE_QUOTIENT_INVERSE] = s;
    out->factor[CUZK_NTT_SCALE_QUOTIENT_C] = s;
}
