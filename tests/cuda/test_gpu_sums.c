/* Sums on the device against points with known logarithms: sum s_i (d_i G) = (sum s_i d_i) G. */
#include "gpu.h"

typedef enum scalar_kind {
    UNIFORM,
    RUNS, /* long runs of equal bits, and the edges of the field */
    BITS, /* 0, 1, -1 */
    ALL_EQUAL,
    ONE_BUCKET, /* small and equal: one bucket of one window */
    ZEROS,
    SCALAR_KINDS
} scalar_kind;
static const char *const kind_names[] = {"uniform", "runs", "bits", "equal", "one bucket", "zeros"};

static fr_t make_scalar(scalar_kind kind, size_t i) {
    fr_t z;
    uint8_t wide[64];
    uint64_t plain[FR_LIMBS];
    switch (kind) {
    case UNIFORM:
        check_random_bytes(wide, sizeof wide);
        fr_from_wide(&z, wide);
        break;
    case RUNS:
        for (int j = 0; j < FR_LIMBS; j++)
            plain[j] = check_random_runs();
        plain[FR_LIMBS - 1] &= UINT64_MAX >> 2;
        fr_from_limbs(&z, plain);
        if (i % 5 == 0) fr_neg(&z, &z);
        break;
    case BITS:
        fr_from_u64(&z, check_random() & 1);
        if (check_random() & 1) fr_neg(&z, &z);
        break;
    case ALL_EQUAL:
        fr_from_u64(&z, 0xfedcba9876543210u);
        fr_sqr(&z, &z);
        fr_sqr(&z, &z);
        break;
    case ONE_BUCKET:
        fr_from_u64(&z, 5);
        break;
    default:
        z = fr_zero();
        break;
    }
    return z;
}

/* Logarithms: 1, 2, 3, ..., with zeros (infinity), repeats and negatives mixed in. */
static void make_logs(fr_t *logs, size_t n, bool special) {
    for (size_t i = 0; i < n; i++) {
        fr_from_u64(&logs[i], i + 1);
        if (!special) continue;
        if (i % 7 == 3) logs[i] = fr_zero();
        if (i % 7 == 4) logs[i] = logs[i - 2];
        if (i % 7 == 5) fr_neg(&logs[i], &logs[i - 3]);
    }
}

#define POINTS_OF_LOGS(G)                                                                          \
    static G##_affine_t *points_of_logs_##G(size_t n, bool special) {                              \
        G##_affine_t *points = host_new(n * sizeof *points);                                       \
        gpu_points_##G(points, n, 1, 1);                                                           \
        for (size_t i = 0; special && i < n; i++) {                                                \
            if (i % 7 == 3) memset(&points[i], 0, sizeof points[i]);                               \
            if (i % 7 == 4) points[i] = points[i - 2];                                             \
            if (i % 7 == 5) G##_affine_neg(&points[i], &points[i - 3]);                            \
        }                                                                                          \
        return points;                                                                             \
    }                                                                                              \
    static void expect_##G(const G##_t *got, const fr_t *log, const char *what, size_t n) {        \
        G##_t expected;                                                                            \
        G##_from_affine(&expected, &G##_generator);                                                \
        G##_mul_var(&expected, &expected, log);                                                    \
        if (!G##_eq(got, &expected)) CHECK_FAILED_("%s, n = %zu: wrong sum", what, n);             \
    }                                                                                              \
    /* Copies on the device against plain doublings of some points. */                             \
    static void check_copies_##G(const cuzk_msm_plan *plan, const void *d_points) {                \
        const unsigned shift = cuzk_msm_shift(plan);                                               \
        const size_t n = plan->n, bytes = plan->windows.copies * n * sizeof(G##_affine_t);         \
        G##_affine_t *points = host_new(bytes), affine;                                            \
        gpu_get(points, d_points, bytes);                                                          \
        for (size_t i = 0; i < n; i += n < 300 ? 1 : n / 97) {                                     \
            G##_t p;                                                                               \
            G##_from_affine(&p, &points[i]);                                                       \
            for (unsigned c = 1; c < plan->windows.copies; c++) {                                  \
                for (unsigned k = 0; k < shift; k++)                                               \
                    G##_double(&p, &p);                                                            \
                G##_to_affine(&affine, &p);                                                        \
                CHECK_MEM(&points[c * n + i], &affine, sizeof affine);                             \
            }                                                                                      \
        }                                                                                          \
        free(points);                                                                              \
    }                                                                                              \
    /* order: 0 plain, 1 index, 2 bit reversed, 3 points gathered by the index */                  \
    static void check_plan_##G(const cuzk_msm_plan *plan, scalar_kind kind, bool special,          \
                               int order) {                                                        \
        const size_t n = plan->n;                                                                  \
        fr_t *logs = host_new(n * sizeof *logs), *s = host_new(n * sizeof *s), sum = fr_zero(), t; \
        uint32_t *index = host_new(n * sizeof *index);                                             \
        unsigned log2_n = 0;                                                                       \
        while ((size_t)1 << log2_n < n)                                                            \
            log2_n++;                                                                              \
        make_logs(logs, n, special);                                                               \
        for (size_t i = 0; i < n; i++) {                                                           \
            s[i] = make_scalar(kind, i);                                                           \
            index[i] = (uint32_t)(order % 2 == 1 ? n - 1 - i : i);                                 \
            if (order == 2)                                                                        \
                for (unsigned b = 0; b < log2_n; b++)                                              \
                    index[i] = (index[i] & ~(1u << b)) | (uint32_t)(i >> (log2_n - 1 - b) & 1)     \
                                                             << b;                                 \
            fr_mul(&t, &s[i], &logs[index[i]]);                                                    \
            fr_add(&sum, &sum, &t);                                                                \
        }                                                                                          \
        G##_affine_t *points = points_of_logs_##G(n, special);                                     \
        void *d_points = gpu_new(plan->windows.copies * n * sizeof *points),                       \
             *d_s = gpu_copy(s, n * sizeof *s), *d_index = gpu_copy(index, n * sizeof *index),     \
             *scratch = gpu_new(plan->scratch_bytes), *d_result = gpu_new(plan->result_bytes),     \
             *result = host_new(plan->result_bytes);                                               \
        const cuzk_gpu_scalars scalars = {d_s, order == 1 ? d_index : NULL,                        \
                                          order == 2 ? log2_n : 0};                                \
        GPU(cudaMemcpy(d_points, points, n * sizeof *points, cudaMemcpyHostToDevice));             \
        if (order == 3) {                                                                          \
            void *const all = gpu_copy(points, n * sizeof *points);                                \
            CHECK_OK(cuzk_gpu_gather_points(curve_##G, all, d_index, n, d_points, NULL, &err));    \
            GPU(cudaFree(all));                                                                    \
        }                                                                                          \
        /* in two slices */                                                                        \
        CHECK_OK(cuzk_gpu_multiples(plan, d_points, 0, n / 3, NULL, &err));                        \
        CHECK_OK(cuzk_gpu_multiples(plan, d_points, n / 3, n - n / 3, NULL, &err));                \
        check_copies_##G(plan, d_points);                                                          \
        GPU(cudaMemset(scratch, 0xa5, plan->scratch_bytes));                                       \
        CHECK_OK(cuzk_gpu_msm(plan, d_points, &scalars, scratch, d_result, NULL, &err));           \
        gpu_get(result, d_result, plan->result_bytes);                                             \
        G##_t got;                                                                                 \
        cuzk_msm_finish_##G(plan, result, &got);                                                   \
        expect_##G(&got, &sum, kind_names[kind], n);                                               \
        void *const device[] = {d_points, d_s, d_index, scratch, d_result};                        \
        for (int i = 0; i < 5; i++)                                                                \
            GPU(cudaFree(device[i]));                                                              \
        free(logs);                                                                                \
        free(s);                                                                                   \
        free(index);                                                                               \
        free(points);                                                                              \
        free(result);                                                                              \
    }                                                                                              \
    static void check_msm_##G(size_t n, scalar_kind kind, bool special, int order, size_t limit) { \
        cuzk_msm_plan plan;                                                                        \
        CHECK_OK(cuzk_msm_plan_make(&plan, curve_##G, n, 1, gpu_sms, gpu_tuning, limit, &err));    \
        check_plan_##G(&plan, kind, special, order);                                               \
    }                                                                                              \
    static void check_copied_##G(size_t n, scalar_kind kind, unsigned copies, int order) {         \
        cuzk_msm_plan plan;                                                                        \
        CHECK_OK(cuzk_msm_plan_make(&plan, curve_##G, n, copies, gpu_sms, gpu_tuning, 0, &err));   \
        check_plan_##G(&plan, kind, true, order);                                                  \
    }                                                                                              \
    /* A plan that sums its buckets by lines or not, and the vectors in one block each or several. \
     */                                                                                            \
    static void check_reduced_##G(size_t n, scalar_kind kind, unsigned copies, bool lines,         \
                                  bool blocks) {                                                   \
        cuzk_msm_plan plan;                                                                        \
        CHECK_OK(cuzk_msm_plan_make(&plan, curve_##G, n, copies, gpu_sms, gpu_tuning, 0, &err));   \
        CHECK((plan.lines.entries != 0) == lines && (plan.reduce_blocks > 1) == blocks);           \
        check_plan_##G(&plan, kind, true, 0);                                                      \
    }                                                                                              \
    /* Less and less scratch, to sets in as many parts as they have windows. */                    \
    static void check_parts_##G(size_t n, unsigned copies) {                                       \
        cuzk_msm_plan plan;                                                                        \
        CHECK_OK(cuzk_msm_plan_make(&plan, curve_##G, n, copies, gpu_sms, gpu_tuning, 0, &err));   \
        unsigned parts = 1;                                                                        \
        while (cuzk_msm_plan_make(&plan, curve_##G, n, copies, gpu_sms, gpu_tuning,                \
                                  plan.scratch_bytes - 1, &err) == CUZK_OK) {                      \
            if (plan.parts == 1 && plan.group_sets > 2) continue;                                  \
            check_plan_##G(&plan, plan.parts % 2 == 0 ? BITS : UNIFORM, true, 0);                  \
            parts = plan.parts;                                                                    \
        }                                                                                          \
        CHECK_U64(parts, plan.windows.copies);                                                     \
    }                                                                                              \
    /* density: of 256 */                                                                          \
    static void check_subset_of_##G(size_t n, unsigned density, bool special, bool pairs) {        \
        const size_t words = (n + 63) / 64;                                                        \
        uint64_t *bits = host_new(words * sizeof *bits), set = 0;                                  \
        fr_t *logs = host_new(n * sizeof *logs), sum = fr_zero();                                  \
        make_logs(logs, n, special);                                                               \
        for (size_t i = 0; i < 64 * words; i++) {                                                  \
            if (i % 64 == 0) bits[i / 64] = 0;                                                     \
            if (check_random() % 256 >= density) continue;                                         \
            bits[i / 64] |= (uint64_t)1 << i % 64;                                                 \
            if (i < n) fr_add(&sum, &sum, &logs[i]), set++;                                        \
        }                                                                                          \
        cuzk_subset_plan plan;                                                                     \
        CHECK_OK(                                                                                  \
            cuzk_subset_plan_make(&plan, curve_##G, n, set, pairs, gpu_sms, gpu_tuning, &err));    \
        G##_affine_t *points = points_of_logs_##G(n, special);                                     \
        G##_affine_t *d_points = gpu_new((n + (n + 1) / 2) * sizeof *d_points);                    \
        GPU(cudaMemcpy(d_points, points, n * sizeof *points, cudaMemcpyHostToDevice));             \
        if (pairs) CHECK_OK(cuzk_gpu_pairs(curve_##G, d_points, n, d_points + n, NULL, &err));     \
        void *d_bits = gpu_copy(bits, words * sizeof *bits),                                       \
             *scratch = gpu_new(plan.scratch_bytes), *d_result = gpu_new(plan.result_bytes);       \
        G##_t got;                                                                                 \
        REQUIRE(plan.result_bytes == sizeof got);                                                  \
        GPU(cudaMemset(scratch, 0xa5, plan.scratch_bytes));                                        \
        CHECK_OK(cuzk_gpu_subset(&plan, d_points, d_bits, scratch, d_result, NULL, &err));         \
        gpu_get(&got, d_result, sizeof got);                                                       \
        expect_##G(&got, &sum, "subset", n);                                                       \
        void *const device[] = {d_points, d_bits, scratch, d_result};                              \
        for (int i = 0; i < 4; i++)                                                                \
            GPU(cudaFree(device[i]));                                                              \
        free(bits);                                                                                \
        free(logs);                                                                                \
        free(points);                                                                              \
    }                                                                                              \
    static void check_subset_##G(size_t n, unsigned density, bool special) {                       \
        check_subset_of_##G(n, density, special, false);                                           \
        check_subset_of_##G(n, density, special, true);                                            \
    }                                                                                              \
    static void check_decode_##G(size_t n) {                                                       \
        const size_t bytes = sizeof(G##_affine_t);                                                 \
        G##_affine_t *points = points_of_logs_##G(n, false), *got = host_new(n * bytes);           \
        uint8_t *encoded = host_new(n * bytes);                                                    \
        uint64_t bad = UINT64_MAX;                                                                 \
        for (size_t i = 0; i < n; i++)                                                             \
            G##_write_uncompressed(encoded + i * bytes, &points[i]);                               \
        void *d = gpu_copy(encoded, n * bytes);                                                    \
        uint64_t *d_bad = gpu_copy(&bad, sizeof bad);                                              \
        CHECK_OK(cuzk_gpu_decode(curve_##G, d, d, n, 100, d_bad, NULL, &err));                     \
        gpu_get(got, d, n *bytes);                                                                 \
        gpu_get(&bad, d_bad, sizeof bad);                                                          \
        CHECK_MEM(got, points, n *bytes);                                                          \
        CHECK(bad == UINT64_MAX);                                                                  \
        encoded[(n - 2) * bytes] |= 0x40;                                                          \
        encoded[(n - 1) * bytes + bytes / 2] |= 0x80;                                              \
        GPU(cudaMemcpy(d, encoded, n *bytes, cudaMemcpyHostToDevice));                             \
        CHECK_OK(cuzk_gpu_decode(curve_##G, d, d, n, 100, d_bad, NULL, &err));                     \
        gpu_get(&bad, d_bad, sizeof bad);                                                          \
        CHECK_U64(bad, 100 + n - 2);                                                               \
        GPU(cudaFree(d));                                                                          \
        GPU(cudaFree(d_bad));                                                                      \
        free(points);                                                                              \
        free(got);                                                                                 \
        free(encoded);                                                                             \
    }
static const cuzk_gpu_group curve_g1 = CUZK_GPU_G1, curve_g2 = CUZK_GPU_G2;
POINTS_OF_LOGS(g1)
POINTS_OF_LOGS(g2)

TEST(small) {
    for (int kind = 0; kind < SCALAR_KINDS; kind++) {
        check_msm_g1(kind == UNIFORM ? 1 : 333, (scalar_kind)kind, true, 0, 0);
        check_msm_g2(kind == UNIFORM ? 1 : 111, (scalar_kind)kind, true, 0, 0);
    }
    check_msm_g1(1024, UNIFORM, false, 2, 0);
    check_msm_g2(256, UNIFORM, false, 1, 0);
    check_copied_g1(1000, UNIFORM, 4, 0);
    check_copied_g2(100, UNIFORM, 2, 3);
    check_parts_g1(3000, 3);
    check_subset_g1(5000, 128, true);
    check_subset_g2(1000, 128, true);
    check_subset_g1(77, 0, false);
    check_decode_g1(300);
    check_decode_g2(300);
}
TEST(msm_g1) {
    for (int kind = 0; kind < SCALAR_KINDS; kind++) {
        check_msm_g1(2, (scalar_kind)kind, false, 0, 0);
        check_msm_g1(4097, (scalar_kind)kind, true, 0, 0);
        check_msm_g1(20000, (scalar_kind)kind, false, 1, 0);
    }
    check_msm_g1(65536, UNIFORM, true, 2, 0);
    check_msm_g1(100000, UNIFORM, false, 0, 0);
    check_msm_g1(100000, ALL_EQUAL, false, 0, 0);
    /* fewer windows at a time under a memory limit */
    check_msm_g1(50000, UNIFORM, true, 0, (size_t)60 << 20);
}
/* Fewer sets of buckets over several copies of the points. */
TEST(copies) {
    const size_t sizes[] = {1, 2, 31, 1000, 4096};
    for (unsigned copies = 2; copies <= 4; copies++)
        for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
            for (int kind = 0; kind < SCALAR_KINDS; kind++)
                check_copied_g1(sizes[i], (scalar_kind)kind, copies, 0);
    for (unsigned copies = 2; copies <= CUZK_MSM_MAX_COPIES; copies += 2) {
        check_copied_g1(65536, UNIFORM, copies, 2);
        check_copied_g1(65536, ALL_EQUAL, copies, 1);
        check_copied_g1((size_t)1 << 18, UNIFORM, copies, 0);
        check_copied_g2(3000, UNIFORM, copies, 1);
        check_copied_g1(65536, BITS, copies, 3);
        check_copied_g2(3000, UNIFORM, copies, 3);
    }
    check_copied_g1((size_t)1 << 18, BITS, 3, 0);
    check_parts_g1(20000, 4);
    check_parts_g1(20001, 3);
    check_parts_g2(5000, 3);
}
TEST(msm_g2) {
    for (int kind = 0; kind < SCALAR_KINDS; kind++)
        check_msm_g2(3000, (scalar_kind)kind, true, 0, 0);
    check_msm_g2(16384, UNIFORM, true, 2, 0);
}
/* From buckets to points: every way, and mostly empty buckets. */
TEST(reduction) {
    const size_t lines = (size_t)1 << 17, wide = (size_t)1 << 18;
    check_reduced_g1(1000, UNIFORM, 1, false, false);
    check_reduced_g1(20000, UNIFORM, 1, false, true);
    for (int kind = 0; kind < SCALAR_KINDS; kind++)
        check_reduced_g1(lines, (scalar_kind)kind, 1, true, false);
    check_reduced_g1(wide, UNIFORM, 4, true, true);
    check_reduced_g1(wide, ONE_BUCKET, 8, true, true);
    check_reduced_g2(1000, UNIFORM, 1, false, false);
    check_reduced_g2(20000, RUNS, 1, false, true);
    check_reduced_g2(lines, UNIFORM, 1, true, false);
    check_reduced_g2(lines, UNIFORM, 8, true, true);
}
TEST(subset) {
    const unsigned densities[] = {0, 1, 128, 256};
    for (int i = 0; i < 4; i++) {
        check_subset_g1(1, densities[i], false);
        check_subset_g1(100000, densities[i], true);
        check_subset_g2(10007, densities[i], true);
    }
}

int main(int argc, char **argv) {
    if (!gpu_open()) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    const check_case cases[] = {RUN(small),  RUN(msm_g1),    RUN(copies),
                                RUN(msm_g2), RUN(reduction), RUN(subset)};
    return check_main(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
