/* MSM beside blst's Pippenger in one run: the figures of docs/msm.md. Not part of the build; with
 * blst built by its build.sh in $BLST and this project in $BUILD:
 *
 *   cc -O3 -Isrc -Itests -I$BLST/bindings tests/msm/bench_msm_blst.c \
 *      $BUILD/libcuzk_{msm,curve,field,host,base}.a $BLST/libblst.a -lpthread
 *   a.out [log2 of the largest size] [rounds] [adx: without AVX-512]
 *
 * One thread, uniform scalars, distinct affine points; CPU time, best of the rounds, ours and
 * theirs by turns. The results must be equal: exit 1 if they are not. */
#include "check.h"

#include "field/cpu.h"
#include "host/host_std.h"
#include "msm/msm.h"

#include <blst.h>

static const cuzk_host *host;
static fr_t *scalars;
static uint8_t *plain; /* the scalars for blst, 32 bytes each */
static bool equal = true;

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Least of *best and the time of a statement. */
#define BEST(best, statement)                                                                      \
    do {                                                                                           \
        const double start_ = cpu_seconds();                                                       \
        statement;                                                                                 \
        const double took_ = cpu_seconds() - start_;                                               \
        if (took_ < (best)) (best) = took_;                                                        \
    } while (0)

/* The points of one group, and both MSMs over them. P is blst's name, p1 or p2. */
#define BENCH(G, P)                                                                                \
    static void bench_##G(size_t n, int rounds) {                                                  \
        double ours = 1e9, theirs = 1e9, encoded = 1e9, subset = 1e9, fixed = 1e9;                 \
        const size_t point = sizeof(G##_affine_t);                                                 \
        G##_affine_t *points = malloc(n * point);                                                  \
        uint8_t *bytes = malloc(n * point);                                                        \
        uint64_t *bitmap = calloc(n / 64 + 1, 8);                                                  \
        void *scratch = malloc(blst_##P##s_mult_pippenger_scratch_sizeof(n));                      \
        const blst_##P##_affine *const blst_points[] = {(void *)points, NULL};                     \
        const byte *const blst_scalars[] = {plain, NULL};                                          \
        msm_fixed_##G *table;                                                                      \
        cuzk_error err;                                                                            \
        for (size_t i = 0; i < n; i++)                                                             \
            bitmap[i / 64] |= (uint64_t)(i % 2) << (i % 64);                                       \
        REQUIRE(msm_fixed_##G##_new(host, &G##_generator, n, &table, &err) == CUZK_OK);            \
        for (int r = 0; r < rounds; r++) {                                                         \
            G##_t sum, part;                                                                       \
            G##_affine_t affine, blst_affine;                                                      \
            blst_##P blst_sum;                                                                     \
            const msm_bases decoded = {points, n, MSM_AFFINE}, file = {bytes, n, MSM_ENCODED};     \
            BEST(fixed, msm_fixed_##G##_apply(host, table, scalars, n, points, &err));             \
            for (size_t i = 0; i < n; i++)                                                         \
                G##_write_uncompressed(bytes + i * point, &points[i]);                             \
            BEST(ours, msm_##G(host, &sum, decoded, scalars, n, &err));                            \
            BEST(encoded, msm_##G(host, &sum, file, scalars, n, &err));                            \
            BEST(subset, msm_subset_##G(host, &part, file, bitmap, n, &err));                      \
            BEST(theirs, blst_##P##s_mult_pippenger(&blst_sum, blst_points, n, blst_scalars, 255,  \
                                                    scratch));                                     \
            G##_to_affine(&affine, &sum);                                                          \
            blst_##P##_to_affine((blst_##P##_affine *)&blst_affine, &blst_sum);                    \
            equal = equal && memcmp(&affine, &blst_affine, point) == 0;                            \
        }                                                                                          \
        printf("%s %8zu %10.2f %10.2f %10.2f %8.2f %10.0f %10.0f\n", #G, n, ours * 1e3,            \
               encoded * 1e3, theirs * 1e3, theirs / ours, subset * 2e9 / (double)n,               \
               fixed * 1e9 / (double)n);                                                           \
        fflush(stdout);                                                                            \
        msm_fixed_##G##_free(host, table);                                                         \
        free(scratch);                                                                             \
        free(bitmap);                                                                              \
        free(bytes);                                                                               \
        free(points);                                                                              \
    }
BENCH(g1, p1)
BENCH(g2, p2)

int main(int argc, char **argv) {
    const unsigned largest = argc > 1 ? (unsigned)atoi(argv[1]) : 18;
    const int rounds = argc > 2 ? atoi(argv[2]) : 5;
    if (argc > 3) cuzk_cpu_force(CUZK_CPU_ADX);
    cuzk_error err;
    host_std *one;
    REQUIRE(largest < 27 && host_std_new(1, 0, &one, &err) == CUZK_OK);
    host = host_std_host(one);
    scalars = malloc(sizeof(fr_t) << largest);
    plain = malloc((size_t)FR_BYTES << largest);
    REQUIRE(scalars != NULL && plain != NULL);
    for (size_t i = 0; i < (size_t)1 << largest; i++) {
        uint8_t wide[64];
        check_random_bytes(wide, sizeof wide);
        fr_from_wide(&scalars[i], wide);
        fr_to_bytes(plain + i * FR_BYTES, &scalars[i]);
    }
    printf("%11s %10s %10s %10s %8s %10s %10s\n", "points", "affine ms", "encoded ms", "blst ms",
           "ratio", "ns/bit", "ns/fixed");
    for (unsigned size = 10; size <= largest; size += 2) {
        bench_g1((size_t)1 << size, rounds);
        bench_g2((size_t)1 << size, rounds);
    }
    free(scalars);
    free(plain);
    host_std_free(one);
    return equal ? 0 : 1;
}
