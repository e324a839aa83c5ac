/* Arithmetic beside blst's in one run: the figures of docs/arithmetic.md. Not part of the build;
 * with blst built by its build.sh in $BLST and this project in $BUILD:
 *
 *   cc -O3 -Isrc -Itests -I$BLST/bindings tests/curve/bench_blst.c \
 *      $BUILD/libcuzk_curve.a $BUILD/libcuzk_field.a $BUILD/libcuzk_base.a $BLST/libblst.a
 *
 * Each line is the best of several rounds, ours and theirs by turns. Both do the same to the same
 * operands, so the results must be equal: exit 1 if they are not. */
#include "check.h"

#include "curve/curve.h"
#include "curve/pairing.h"
#include "field/cpu.h"

#include <blst.h>

#define ROUNDS 40

/* Time BODY, run `n` times, in nanoseconds. */
#define TIME(n, body)                                                                              \
    ({                                                                                             \
        const double start_ = check_seconds();                                                     \
        for (int i_ = 0; i_ < (n); i_++) {                                                         \
            body;                                                                                  \
            __asm__ volatile("" ::: "memory");                                                     \
        }                                                                                          \
        (check_seconds() - start_) * 1e9 / (n);                                                    \
    })
#define SAME(ours, theirs)                                                                         \
    do {                                                                                           \
        ok =                                                                                       \
            ok && sizeof(ours) == sizeof(theirs) && memcmp(&(ours), &(theirs), sizeof(ours)) == 0; \
        if (!ok) printf("%s and %s differ\n", #ours, #theirs);                                     \
    } while (0)
#define COMPARE(name, n, ours, theirs)                                                             \
    do {                                                                                           \
        double best_[2] = {1e30, 1e30};                                                            \
        for (int r_ = 0; r_ < ROUNDS; r_++) {                                                      \
            const double a_ = TIME(n, ours), b_ = TIME(n, theirs);                                 \
            if (a_ < best_[0]) best_[0] = a_;                                                      \
            if (b_ < best_[1]) best_[1] = b_;                                                      \
        }                                                                                          \
        printf("%-34s %12.1f %12.1f %8.2f\n", name, best_[0], best_[1], best_[0] / best_[1]);      \
    } while (0)

static fp_t a, b;
static fr_t fa, fb;
static fp2_t c, d;
static blst_fp ba, bb;
static blst_fr bfa, bfb;
static blst_fp2 bc, bd;

int main(void) {
    bool ok = true;
    printf("%-34s %12s %12s %8s\n", "ns", "cuzk", "blst", "ratio");
    uint64_t plain[6];
    for (int i = 0; i < 6; i++)
        plain[i] = check_random() >> (i == 5 ? 4 : 0);
    fp_from_limbs(&a, plain);
    b = a;
    memcpy(&ba, &a, sizeof a);
    memcpy(&bb, &b, sizeof b);
    plain[3] >>= 2;
    fr_from_limbs(&fa, plain);
    fb = fa;
    memcpy(&bfa, &fa, sizeof fa);
    memcpy(&bfb, &fb, sizeof fb);
    c = d = (fp2_t){a, b};
    memcpy(&bc, &c, sizeof c);
    memcpy(&bd, &d, sizeof d);

    COMPARE("Fr mul, chained", 20000, fr_mul(&fa, &fa, &fb), blst_fr_mul(&bfa, &bfa, &bfb));
    COMPARE("Fr sqr, chained", 20000, fr_sqr(&fa, &fa), blst_fr_sqr(&bfa, &bfa));
    COMPARE("Fr add, chained", 20000, fr_add(&fa, &fa, &fb), blst_fr_add(&bfa, &bfa, &bfb));
    COMPARE("Fr inv", 1000, fr_inv(&fa, &fa), blst_fr_eucl_inverse(&bfa, &bfa));
    SAME(fa, bfa);
    COMPARE("Fp mul, chained", 20000, fp_mul(&a, &a, &b), blst_fp_mul(&ba, &ba, &bb));
    COMPARE("Fp mul, independent", 20000, fp_mul(&c.c0, &a, &b), blst_fp_mul(&bc.fp[0], &ba, &bb));
    COMPARE("Fp sqr, chained", 20000, fp_sqr(&a, &a), blst_fp_sqr(&ba, &ba));
    COMPARE("Fp add, chained", 20000, fp_add(&a, &a, &b), blst_fp_add(&ba, &ba, &bb));
    COMPARE("Fp sub, chained", 20000, fp_sub(&a, &a, &b), blst_fp_sub(&ba, &ba, &bb));
    COMPARE("Fp inv", 1000, fp_inv(&a, &a), blst_fp_eucl_inverse(&ba, &ba));
    SAME(a, ba);
    COMPARE("Fp2 mul, chained", 10000, fp2_mul(&c, &c, &d), blst_fp2_mul(&bc, &bc, &bd));
    COMPARE("Fp2 sqr, chained", 10000, fp2_sqr(&c, &c), blst_fp2_sqr(&bc, &bc));

    SAME(c, bc);

    g1_t p;
    g2_t q;
    g1_from_affine(&p, &g1_generator);
    g2_from_affine(&q, &g2_generator);
    blst_p1 bp = *blst_p1_generator();
    blst_p2 bq = *blst_p2_generator();
    const blst_p1_affine bpa = *blst_p1_affine_generator();
    const blst_p2_affine bqa = *blst_p2_affine_generator();
    g1_double(&p, &p);
    g2_double(&q, &q);
    blst_p1_double(&bp, &bp);
    blst_p2_double(&bq, &bq);
    COMPARE("G1 mixed addition", 2000, g1_add_affine(&p, &p, &g1_generator),
            blst_p1_add_or_double_affine(&bp, &bp, &bpa));
    COMPARE("G1 doubling", 2000, g1_double(&p, &p), blst_p1_double(&bp, &bp));
    COMPARE("G2 mixed addition", 1000, g2_add_affine(&q, &q, &g2_generator),
            blst_p2_add_or_double_affine(&bq, &bq, &bqa));
    COMPARE("G2 doubling", 1000, g2_double(&q, &q), blst_p2_double(&bq, &bq));

    blst_scalar k;
    for (int i = 0; i < 32; i++)
        k.b[i] = (uint8_t)check_random();
    k.b[31] &= 0x3f;
    fr_t kr;
    fr_from_bytes(&kr, k.b);
    COMPARE("G1 times scalar", 10, g1_mul_var(&p, &p, &kr), blst_p1_mult(&bp, &bp, k.b, 255));
    COMPARE("G2 times scalar", 5, g2_mul_var(&q, &q, &kr), blst_p2_mult(&bq, &bq, k.b, 255));

    uint8_t c1[48], c2[96];
    g1_affine_t ga;
    g2_affine_t gb;
    blst_p1_affine xa;
    blst_p2_affine xb;
    g1_write_compressed(c1, &g1_generator);
    g2_write_compressed(c2, &g2_generator);
    g1_to_affine(&ga, &p);
    g2_to_affine(&gb, &q);
    blst_p1_to_affine(&xa, &bp);
    blst_p2_to_affine(&xb, &bq);
    SAME(ga, xa);
    SAME(gb, xb);
    COMPARE("G1 subgroup check", 10, ok &= g1_affine_in_subgroup(&g1_generator),
            ok &= blst_p1_affine_in_g1(&bpa));
    COMPARE("G2 subgroup check", 10, ok &= g2_affine_in_subgroup(&g2_generator),
            ok &= blst_p2_affine_in_g2(&bqa));
    COMPARE("G1 decompression, on curve", 20,
            ok &= g1_read_compressed(&ga, c1, CURVE_CHECK_ON_CURVE) == CUZK_OK,
            ok &= blst_p1_uncompress(&xa, c1) == BLST_SUCCESS);
    COMPARE("G2 decompression, on curve", 20,
            ok &= g2_read_compressed(&gb, c2, CURVE_CHECK_ON_CURVE) == CUZK_OK,
            ok &= blst_p2_uncompress(&xb, c2) == BLST_SUCCESS);

    static fp12_t f;
    static blst_fp12 bf;
    COMPARE("Miller loop", 2, pairing_miller(&f, &g1_generator, &g2_generator, 1),
            blst_miller_loop(&bf, &bqa, &bpa));
    COMPARE("final exponentiation", 2, pairing_final_exponentiation(&f, &f),
            blst_final_exp(&bf, &bf));
    COMPARE("pairing", 2, pairing(&f, &g1_generator, &g2_generator),
            (blst_miller_loop(&bf, &bqa, &bpa), blst_final_exp(&bf, &bf)));
    SAME(f, bf);
    static g1_affine_t ps[4];
    static g2_affine_t qs[4];
    static blst_p1_affine bps[4];
    static blst_p2_affine bqs[4];
    const blst_p1_affine *bpp[4];
    const blst_p2_affine *bqp[4];
    for (int i = 0; i < 4; i++) {
        ps[i] = g1_generator, qs[i] = g2_generator, bps[i] = bpa, bqs[i] = bqa;
        bpp[i] = &bps[i], bqp[i] = &bqs[i];
    }
    COMPARE("Miller loop of 4 pairs", 2, pairing_miller(&f, ps, qs, 4),
            blst_miller_loop_n(&bf, bqp, bpp, 4));
    return ok ? 0 : 1;
}
