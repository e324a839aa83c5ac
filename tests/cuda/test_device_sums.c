/* Digits, the affine sum tree and decoding: the kernels' bodies run on the host. */
#include "check.h"
#include "device_math.h"

static fr_t random_scalar(int kind) {
    fr_t z;
    uint64_t plain[FR_LIMBS];
    switch (kind) {
    case 0:
        return fr_zero();
    case 1:
        return fr_one();
    case 2: /* r - 1 */
        z = fr_one();
        fr_neg(&z, &z);
        return z;
    case 3: /* (r - 1) / 2 and its successor, where the sign turns */
    case 4:
        for (int i = 0; i < FR_LIMBS; i++)
            plain[i] =
                cuzk_fr_prime.p[i] >> 1 | (i < FR_LIMBS - 1 ? cuzk_fr_prime.p[i + 1] << 63 : 0);
        plain[0] += kind == 4;
        fr_from_limbs(&z, plain);
        return z;
    default:
        do {
            for (int i = 0; i < FR_LIMBS; i++)
                plain[i] = check_random_runs();
            plain[FR_LIMBS - 1] &= UINT64_MAX >> 1;
        } while (!mont_is_canonical(plain, &cuzk_fr_prime, FR_LIMBS));
        fr_from_limbs(&z, plain);
        return z;
    }
}

TEST(digits_recompose) {
    cuzk_error err;
    for (int shape = 4; shape < 31; shape++) {
        cuzk_msm_plan plan;
        CHECK_OK(cuzk_msm_plan_make(&plan, CUZK_GPU_G1, (uint64_t)1 << shape, 132,
                                    cuzk_gpu_tuning_for(90), 0, &err));
        const cuzk_msm_windows *w = &plan.windows;
        for (int i = 0; i < 200; i++) {
            const fr_t k = random_scalar(i);
            uint32_t digits[CUZK_MSM_MAX_WINDOWS];
            fr_t sum = fr_zero();
            device_scalar_digits(digits, w, &k, 1);
            for (unsigned j = w->count; j-- > 0;) {
                const uint32_t size = digits[j] & 0x7fffffffu;
                CHECK(size <= w->bucket_base[j + 1] - w->bucket_base[j]);
                fr_t d;
                fr_from_u64(&d, size);
                if (digits[j] >> 31) fr_neg(&d, &d);
                const int width = j + 1 < w->count ? w->at[j + 1] - w->at[j] : 0;
                for (int b = 0; b < width; b++)
                    fr_double(&sum, &sum);
                fr_add(&sum, &sum, &d);
            }
            CHECK(w->at[0] == 0 && fr_eq(&sum, &k));
        }
    }
}

/* Buckets of many sizes, with equal and opposite neighbours and infinity, against plain sums. */
#define POINTS 64
#define BUCKETS 40
#define TREE_TEST(G)                                                                               \
    TEST(tree_##G) {                                                                               \
        G##_affine_t points[POINTS], sums[BUCKETS];                                                \
        G##_t p;                                                                                   \
        G##_from_affine(&p, &G##_generator);                                                       \
        for (int i = 0; i < POINTS; i++) {                                                         \
            G##_to_affine(&points[i], &p);                                                         \
            if (i % 9 == 8) memset(&points[i], 0, sizeof points[i]);                               \
            G##_add_affine(&p, &p, &G##_generator);                                                \
        }                                                                                          \
        for (int round = 0; round < 6; round++) {                                                  \
            static uint32_t list[BUCKETS * 700];                                                   \
            uint32_t in_at[BUCKETS + 1] = {0};                                                     \
            for (uint32_t b = 0; b < BUCKETS; b++) {                                               \
                uint32_t n = (uint32_t)(check_random() % 7);                                       \
                if (b % 13 == 5) n = (uint32_t)(check_random() % 700);                             \
                if (round == 4) n = b == 17 ? 600 : 0; /* all in one bucket */                     \
                if (round == 5) n = 0;                                                             \
                for (uint32_t i = 0; i < n; i++) {                                                 \
                    uint32_t entry = (uint32_t)(check_random() % (round == 1 ? 2 : POINTS));       \
                    if (round == 2) entry = 3; /* all equal: doublings */                          \
                    entry |= check_random() & 1 && round != 3 ? 0x80000000u : 0u;                  \
                    list[in_at[b] + i] = entry;                                                    \
                }                                                                                  \
                in_at[b + 1] = in_at[b] + n;                                                       \
            }                                                                                      \
            memset(sums, 0xee, sizeof sums);                                                       \
            device_tree_##G(sums, points, list, in_at, BUCKETS,                                    \
                            round == 0   ? 1u                                                      \
                            : round == 1 ? 17u                                                     \
                                         : 256u);                                                  \
            for (uint32_t b = 0; b < BUCKETS; b++) {                                               \
                if (in_at[b + 1] == in_at[b]) continue;                                            \
                G##_t expected = G##_infinity();                                                   \
                for (uint32_t i = in_at[b]; i < in_at[b + 1]; i++) {                               \
                    const G##_affine_t *q = &points[list[i] & 0x7fffffffu];                        \
                    if (list[i] >> 31)                                                             \
                        G##_sub_affine(&expected, &expected, q);                                   \
                    else                                                                           \
                        G##_add_affine(&expected, &expected, q);                                   \
                }                                                                                  \
                G##_affine_t affine;                                                               \
                G##_to_affine(&affine, &expected);                                                 \
                CHECK_MEM(&sums[b], &affine, sizeof affine);                                       \
            }                                                                                      \
        }                                                                                          \
    }
TREE_TEST(g1)
TREE_TEST(g2)

TEST(decode) {
    g1_t p;
    g1_from_affine(&p, &g1_generator);
    for (int i = 0; i < 50; i++) {
        g1_affine_t affine, got;
        uint8_t bytes[G1_UNCOMPRESSED_BYTES];
        g1_to_affine(&affine, &p);
        g1_write_uncompressed(bytes, &affine);
        CHECK(device_decode_g1(&got, bytes));
        CHECK_MEM(&got, &affine, sizeof got);
        bytes[i % 2 * 48] |= (uint8_t)(0x20 << i % 3);
        CHECK(!device_decode_g1(&got, bytes));
        g1_double(&p, &p);
    }
    uint8_t modulus[G1_UNCOMPRESSED_BYTES] = {0};
    for (int i = 0; i < 48; i++)
        modulus[47 - i] = (uint8_t)(cuzk_fp_prime.p[i / 8] >> i % 8 * 8);
    g1_affine_t got;
    CHECK(!device_decode_g1(&got, modulus));
    modulus[47]--;
    CHECK(device_decode_g1(&got, modulus));
}

/* Plans are pure functions of sizes: their parts lie one after another, a limit is kept or refused.
 */
TEST(plans) {
    cuzk_error err;
    cuzk_msm_plan p;
    cuzk_subset_plan s;
    for (int arch = 75; arch <= 120; arch += 15)
        for (uint64_t n = 1; n < (uint64_t)1 << 31; n = 3 * n + 1)
            for (int curve = 0; curve < 2; curve++) {
                const cuzk_gpu_tuning *tuning = cuzk_gpu_tuning_for(arch);
                const cuzk_gpu_group group = curve == 0 ? CUZK_GPU_G1 : CUZK_GPU_G2;
                CHECK_OK(cuzk_msm_plan_make(&p, group, n, 132, tuning, 0, &err));
                const size_t at[] = {
                    p.digits,         p.bins,         p.bin_tiles,       p.keys,
                    p.payload,        p.list,         p.starts,          p.buckets,
                    p.segment_points, p.block_points, p.tree.points[0],  p.tree.points[1],
                    p.tree.prefix,    p.tree.pairs,   p.tree.offsets[0], p.tree.offsets[1],
                    p.tree.sums,      p.scratch_bytes};
                for (size_t i = 0; i + 1 < sizeof at / sizeof at[0]; i++)
                    CHECK(at[i] < at[i + 1] && at[i] % 256 == 0);
                CHECK(p.windows.bits[0] <= tuning->max_window_bits);
                CHECK(p.reduce_blocks <= CUZK_MSM_REDUCE_THREADS);
                const size_t free_bytes = p.scratch_bytes;
                const cuzk_status limited = cuzk_msm_plan_make(&p, group, n, 132, tuning,
                                                               free_bytes - free_bytes / 4, &err);
                CHECK(limited == CUZK_OK ? p.scratch_bytes <= free_bytes - free_bytes / 4
                                         : limited == CUZK_ERR_DEVICE_MEMORY);
                CHECK_STATUS(cuzk_msm_plan_make(&p, group, n, 132, tuning, 1000, &err),
                             CUZK_ERR_DEVICE_MEMORY);
                CHECK_OK(cuzk_subset_plan_make(&s, group, n, n / 2, 132, tuning, &err));
                CHECK(s.tree.sums < s.scratch_bytes);
            }
    const cuzk_gpu_tuning *tuning = cuzk_gpu_tuning_for(90);
    CHECK_STATUS(cuzk_msm_plan_make(&p, CUZK_GPU_G1, 0, 132, tuning, 0, &err), CUZK_ERR_ARGUMENT);
    CHECK_STATUS(cuzk_msm_plan_make(&p, CUZK_GPU_G1, (uint64_t)1 << 31, 132, tuning, 0, &err),
                 CUZK_ERR_ARGUMENT);
    CHECK_STATUS(cuzk_subset_plan_make(&s, CUZK_GPU_G1, 10, 11, 132, tuning, &err),
                 CUZK_ERR_ARGUMENT);
}

TEST_MAIN(RUN(plans), RUN(digits_recompose), RUN(tree_g1), RUN(tree_g2), RUN(decode))
