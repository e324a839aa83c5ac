/* The vector arithmetic against fr.h and fp.h, on edges, long runs and unreduced operands. */
#include "check.h"

#include "field/cpu.h"
#include "field/ifma.h"
#include "field/template.h"

#if defined(__x86_64__)

#define CASE_FIELD fr
#define CASE_LIMBS FR_LIMBS
#define CASE_N IFMA_FR_LIMBS
#define CASE_MAX 32
#include "ifma_cases.h"

#define CASE_FIELD fp
#define CASE_LIMBS FP_LIMBS
#define CASE_N IFMA_FP_LIMBS
#define CASE_MAX 1024
#include "ifma_cases.h"

TEST(constants) {
    ifma_fr_check_constants();
    ifma_fp_check_constants();
}

TEST(fr) {
    if (!cuzk_cpu_has_avx512ifma()) SKIP("this CPU has no AVX-512 IFMA");
    for (int i = 0; i < 4000; i++)
        ifma_fr_check_round();
}

TEST(fp) {
    if (!cuzk_cpu_has_avx512ifma()) SKIP("this CPU has no AVX-512 IFMA");
    for (int i = 0; i < 2000; i++)
        ifma_fp_check_round();
}

/* Stores of fewer than eight lanes leave the other places alone. */
IFMA_TARGET static void check_partial_stores(void) {
    for (unsigned lanes = 1; lanes <= 8; lanes++) {
        fr_t r[8], r_out[8];
        fp_t p[8], p_out[8];
        ifma_fr vr;
        ifma_fp vp;
        for (int i = 0; i < 8; i++) {
            r[i] = fr_sample();
            p[i] = fp_sample();
        }
        fr_t *r_to[8];
        fp_t *p_to[8];
        for (int i = 0; i < 8; i++) {
            r_to[i] = &r_out[i];
            p_to[i] = &p_out[i];
        }
        memset(r_out, 0xee, sizeof r_out);
        memset(p_out, 0xee, sizeof p_out);
        ifma_fr_get(&vr, r), ifma_fp_get(&vp, p);
        ifma_fr_store(r_to, lanes, &vr), ifma_fp_store(p_to, lanes, &vp);
        CHECK_MEM(r_out, r, lanes * sizeof r[0]);
        CHECK_MEM(p_out, p, lanes * sizeof p[0]);
        const uint8_t *rest = (const uint8_t *)&r_out[lanes];
        for (size_t i = 0; i < (8 - lanes) * sizeof r[0]; i++)
            CHECK(rest[i] == 0xee);
        rest = (const uint8_t *)&p_out[lanes];
        for (size_t i = 0; i < (8 - lanes) * sizeof p[0]; i++)
            CHECK(rest[i] == 0xee);
    }
}

TEST(partial_stores) {
    if (!cuzk_cpu_has_avx512ifma()) SKIP("this CPU has no AVX-512 IFMA");
    check_partial_stores();
}

TEST_MAIN(RUN(constants), RUN(fr), RUN(fp), RUN(partial_stores))

#else

int main(void) {
    printf("skipped: not x86-64\n");
    return 77;
}

#endif
