/* Digits, the affine sum tree and decoding: the kernels' bodies run on the host. */
#include "check.h"
#include "cuda/cuda_api.h"
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

/* Sets and copies: positions are sums, widths repeat, rows and buckets follow one another. */
static void check_windows(const cuzk_msm_plan *plan, unsigned copies) {
    const cuzk_msm_windows *w = &plan->windows;
    const unsigned shift = cuzk_msm_shift(plan);
    CHECK(w->copies >= 1 && w->copies <= copies);
    CHECK_U64(w->sets, (w->count + w->copies - 1) / w->copies);
    CHECK(copies > 1 || w->sets == w->count);
    CHECK_U64(w->first_row[w->sets], w->count);
    unsigned bits = 0;
    for (unsigned i = 0; i < w->count; i++) {
        const unsigned s = i % w->sets, c = i / w->sets;
        CHECK_U64(w->at[i], bits);
        CHECK_U64(w->at[i], w->at[s] + c * shift);
        CHECK_U64(w->bits[i], w->bits[s]);
        CHECK_U64(w->bucket_base[s + 1] - w->bucket_base[s], (uint32_t)1 << (w->bits[i] - 1));
        CHECK(w->first_row[s] + c < w->first_row[s + 1]);
        CHECK(w->bits[i] <= w->bits[0] && w->bits[i] + 1 >= w->bits[0]);
        bits += w->bits[i];
    }
    CHECK(bits >= CUZK_MSM_SCALAR_BITS);
    CHECK(copies > 1 || bits == CUZK_MSM_SCALAR_BITS);
}

/* The groups cover each set's rows once, and none is larger than what the layout is for. */
static void check_groups(const cuzk_msm_plan *p) {
    const cuzk_msm_windows *w = &p->windows;
    uint32_t row = 0, first = 0;
    while (first < w->sets) {
        uint32_t parts = 1, end = first;
        for (uint32_t part = 0; part < parts; part++) {
            const cuzk_msm_group g = cuzk_msm_group_of(p, first, part, &parts);
            CHECK_U64(g.first_set, first);
            CHECK_U64(g.first_row, row);
            CHECK(g.end_row > g.first_row && g.end_set > first);
            CHECK(parts == 1 || g.end_set == first + 1);
            const uint64_t entries = (g.end_row - g.first_row) * p->n,
                           buckets = w->bucket_base[g.end_set] - w->bucket_base[first];
            CHECK(p->keys + entries * sizeof(uint16_t) <= p->payload);
            CHECK(p->payload + entries * sizeof(uint32_t) <= p->list);
            CHECK(p->starts + (buckets + 1) * sizeof(uint32_t) <= p->buckets);
            CHECK(p->tree.entries >= entries && p->tree.buckets >= buckets);
            const uint32_t windows =
                (g.end_row - g.first_row + g.end_set - first - 1) / (g.end_set - first);
            CHECK((uint64_t)1 << p->tree.levels >= windows * p->n);
            if (parts > 1) {
                CHECK((uint64_t)1 << p->join.levels >= parts);
                CHECK(p->join.entries >= parts * buckets && p->tree.entries >= p->join.entries);
                CHECK(p->list + parts * buckets * sizeof(uint32_t) <= p->starts);
                CHECK(p->buckets + (w->bucket_base[w->sets] + (parts - 1) * buckets) *
                                       CUZK_GPU_AFFINE_BYTES(p->curve) <=
                      p->line_points);
            }
            row = g.end_row;
            end = g.end_set;
        }
        CHECK_U64(row, w->first_row[end]);
        first = end;
    }
    CHECK_U64(row, w->count);
    if (p->lines.entries == 0) return;
    const uint64_t lines = p->vectors.base[p->vectors.count];
    CHECK(p->tree.entries >= p->lines.entries && p->tree.buckets >= lines);
    CHECK(p->list + p->lines.entries * sizeof(uint32_t) <= p->starts);
    CHECK(p->starts + (lines + 1) * sizeof(uint32_t) <= p->buckets);
    CHECK(p->line_points + lines * CUZK_GPU_AFFINE_BYTES(p->curve) <= p->block_points);
}

TEST(digits_recompose) {
    cuzk_error err;
    for (int shape = 4; shape < 31; shape++)
        for (unsigned copies = 1; copies <= CUZK_MSM_MAX_COPIES; copies++) {
            cuzk_msm_plan plan;
            const uint64_t n = (uint64_t)1 << shape;
            if (n * copies >> 31 != 0) {
                CHECK_STATUS(cuzk_msm_plan_make(&plan, CUZK_GPU_G1, n, copies, 132,
                                                cuzk_gpu_tuning_for(90), 0, &err),
                             CUZK_ERR_ARGUMENT);
                continue;
            }
            CHECK_OK(cuzk_msm_plan_make(&plan, CUZK_GPU_G1, n, copies, 132, cuzk_gpu_tuning_for(90),
                                        0, &err));
            const cuzk_msm_windows *w = &plan.windows;
            check_windows(&plan, copies);
            for (int i = 0; i < 200; i++) {
                const fr_t k = random_scalar(i);
                uint32_t digits[CUZK_MSM_MAX_WINDOWS];
                fr_t sum = fr_zero();
                device_scalar_digits(digits, w, &k, 1);
                for (unsigned j = w->count; j-- > 0;) {
                    const unsigned set = j % w->sets;
                    const uint32_t digit = digits[w->first_row[set] + j / w->sets],
                                   size = digit & 0x7fffffffu;
                    CHECK(size <= w->bucket_base[set + 1] - w->bucket_base[set]);
                    fr_t d;
                    fr_from_u64(&d, size);
                    if (digit >> 31) fr_neg(&d, &d);
                    const int width = j + 1 < w->count ? w->at[j + 1] - w->at[j] : 0;
                    for (int b = 0; b < width; b++)
                        fr_double(&sum, &sum);
                    fr_add(&sum, &sum, &d);
                }
                CHECK(w->at[0] == 0 && fr_eq(&sum, &k));
            }
        }
}

/* The doublings of the device against the plain ones; infinity, and a point of order two, which is
 * on no curve of ours. */
#define MULTIPLES_TEST(G, F)                                                                       \
    TEST(multiples_##G) {                                                                          \
        G##_t p;                                                                                   \
        G##_affine_t from, expected, got;                                                          \
        G##_from_affine(&p, &G##_generator);                                                       \
        const unsigned times[] = {0, 1, 2, 23, 70, 139};                                           \
        for (int i = 0; i < 6; i++) {                                                              \
            G##_to_affine(&from, &p);                                                              \
            device_multiple_##G(&got, &from, times[i]);                                            \
            for (unsigned k = 0; k < times[i]; k++)                                                \
                G##_double(&p, &p);                                                                \
            G##_to_affine(&expected, &p);                                                          \
            CHECK_MEM(&got, &expected, sizeof got);                                                \
            G##_add_affine(&p, &p, &G##_generator);                                                \
        }                                                                                          \
        memset(&expected, 0, sizeof expected);                                                     \
        for (unsigned k = 0; k < 3; k++) {                                                         \
            device_multiple_##G(&got, &expected, k);                                               \
            CHECK_MEM(&got, &expected, sizeof got);                                                \
        }                                                                                          \
        from.y = F##_zero();                                                                       \
        device_multiple_##G(&got, &from, 5);                                                       \
        CHECK_MEM(&got, &expected, sizeof got);                                                    \
    }
MULTIPLES_TEST(g1, fp)
MULTIPLES_TEST(g2, fp2)

/* The vectors count each bucket as often as its number says: with words for points. */
static void check_vectors(const cuzk_msm_plan *p) {
    const cuzk_msm_windows *w = &p->windows;
    const cuzk_msm_vectors *v = &p->vectors;
    const uint32_t buckets = w->bucket_base[w->sets], points = v->base[v->count];
    const bool lines = p->lines.entries != 0;
    CHECK_U64(v->count, (lines ? 2 : 1) * w->sets);
    CHECK(v->count <= CUZK_MSM_MAX_WINDOWS);
    CHECK(p->reduce_blocks <= CUZK_MSM_REDUCE_THREADS);
    CHECK_U64(p->result_points, v->count * (p->reduce_blocks > 1 ? 2 : 1));
    uint64_t *const bucket = calloc(buckets, sizeof *bucket), *const sum = calloc(points, 8);
    uint32_t *const list = malloc(p->lines.entries * sizeof *list + 1), *const starts =
                                                                            malloc((points + 1) *
                                                                                   sizeof *starts);
    REQUIRE(bucket != NULL && sum != NULL && list != NULL && starts != NULL);
    for (uint32_t i = 0; i < buckets; i++)
        bucket[i] = check_random();
    if (lines) {
        CHECK_U64(device_line_lists(list, starts, w, v), p->lines.entries);
        CHECK(starts[0] == 0 && starts[points] == p->lines.entries);
        for (uint32_t k = 0; k < points; k++) {
            REQUIRE(starts[k] <= starts[k + 1] && starts[k + 1] <= p->lines.entries);
            CHECK(starts[k + 1] - starts[k] <= (uint32_t)1 << p->lines.levels);
            for (uint32_t i = starts[k]; i < starts[k + 1]; i++) {
                REQUIRE(list[i] < buckets);
                sum[k] += bucket[list[i]];
            }
        }
    } else {
        REQUIRE(points == buckets);
        memcpy(sum, bucket, buckets * sizeof *sum);
    }
    for (uint32_t s = 0, k = 0; s < w->sets; s++) {
        uint64_t expected = 0, got = 0;
        for (uint32_t i = w->bucket_base[s]; i < w->bucket_base[s + 1]; i++)
            expected += (i - w->bucket_base[s] + 1) * bucket[i];
        for (; k < v->count * (s + 1) / w->sets; k++) {
            CHECK(v->base[k + 1] - v->base[k] <= p->reduce_blocks * CUZK_MSM_REDUCE_THREADS);
            for (uint32_t i = v->base[k]; i < v->base[k + 1]; i++)
                got += (uint64_t)(i - v->base[k] + 1) * sum[i] << (uint32_t)(v->at[k] - w->at[s]);
        }
        CHECK_U64(got, expected);
    }
    free(bucket);
    free(sum);
    free(list);
    free(starts);
}
TEST(vectors) {
    cuzk_error err;
    bool lines[2] = {false, false};
    for (unsigned arch = 75; arch <= 90; arch += 15)
        for (uint64_t n = 1; n < (uint64_t)1 << 28; n = 5 * n + 1)
            for (unsigned copies = 1; copies <= 7; copies += 3) {
                cuzk_msm_plan p;
                CHECK_OK(cuzk_msm_plan_make(&p, CUZK_GPU_G1, n, copies, 132,
                                            cuzk_gpu_tuning_for((int)arch), 0, &err));
                check_vectors(&p);
                lines[p.lines.entries != 0] = true;
            }
    CHECK(lines[0] && lines[1]);
}

/* A whole sum with copies, bucket by bucket: digits, windows and the last sums on the host against
 * the definition. */
#define TERMS 12u
TEST(sums_with_copies) {
    cuzk_error err;
    g1_affine_t points[TERMS * CUZK_MSM_MAX_COPIES];
    g1_t p, expected = g1_infinity();
    fr_t k[TERMS];
    g1_from_affine(&p, &g1_generator);
    for (unsigned i = 0; i < TERMS; i++) {
        g1_t term;
        k[i] = random_scalar((int)i);
        g1_to_affine(&points[i], &p);
        if (i == 7) memset(&points[i], 0, sizeof points[i]);
        g1_from_affine(&term, &points[i]);
        g1_mul_var(&term, &term, &k[i]);
        g1_add(&expected, &expected, &term);
        g1_double(&p, &p);
    }
    for (unsigned copies = 1; copies <= CUZK_MSM_MAX_COPIES; copies++) {
        cuzk_msm_plan plan;
        CHECK_OK(cuzk_msm_plan_make(&plan, CUZK_GPU_G1, TERMS, copies, 132, cuzk_gpu_tuning_for(90),
                                    0, &err));
        const cuzk_msm_windows *w = &plan.windows;
        for (unsigned c = 1; c < w->copies; c++)
            for (unsigned i = 0; i < TERMS; i++)
                device_multiple_g1(&points[c * TERMS + i], &points[(c - 1) * TERMS + i],
                                   cuzk_msm_shift(&plan));
        uint32_t digits[CUZK_MSM_MAX_WINDOWS * TERMS];
        for (unsigned i = 0; i < TERMS; i++)
            device_scalar_digits(digits + i, w, &k[i], TERMS);
        g1_t result[2 * CUZK_MSM_MAX_WINDOWS], got;
        REQUIRE(plan.result_points <= sizeof result / sizeof result[0]);
        for (unsigned i = 0; i < plan.result_points; i++)
            result[i] = g1_infinity();
        for (unsigned s = 0; s < w->sets; s++)
            for (unsigned row = w->first_row[s]; row < w->first_row[s + 1]; row++)
                for (unsigned i = 0; i < TERMS; i++) {
                    const uint32_t digit = digits[row * TERMS + i];
                    fr_t d;
                    g1_t term;
                    fr_from_u64(&d, digit & 0x7fffffffu);
                    if (digit >> 31) fr_neg(&d, &d);
                    const unsigned copy = row - w->first_row[s];
                    g1_from_affine(&term, &points[copy * TERMS + i]);
                    g1_mul_var(&term, &term, &d);
                    g1_add(&result[s], &result[s], &term);
                }
        cuzk_msm_finish_g1(&plan, result, &got);
        CHECK(g1_eq(&got, &expected));
    }
}

/* The last sums: every kind of partial sum has its weight. */
TEST(finish_weights) {
    cuzk_error err;
    for (uint64_t n = 100; n < (uint64_t)1 << 28; n *= 31) {
        cuzk_msm_plan plan;
        CHECK_OK(
            cuzk_msm_plan_make(&plan, CUZK_GPU_G1, n, 4, 132, cuzk_gpu_tuning_for(90), 0, &err));
        const cuzk_msm_vectors *v = &plan.vectors;
        g1_t result[2 * CUZK_MSM_MAX_WINDOWS], got, expected;
        REQUIRE(plan.result_points <= sizeof result / sizeof result[0]);
        fr_t sum = fr_zero();
        for (unsigned i = 0; i < plan.result_points; i++) {
            fr_t k, weight;
            fr_from_u64(&k, i + 1);
            g1_from_affine(&result[i], &g1_generator);
            g1_mul_var(&result[i], &result[i], &k);
            unsigned at = v->at[i % v->count] + (i < v->count ? 0u : 7u);
            fr_from_u64(&weight, 1);
            while (at-- > 0)
                fr_double(&weight, &weight);
            fr_mul(&weight, &weight, &k);
            fr_add(&sum, &sum, &weight);
        }
        cuzk_msm_finish_g1(&plan, result, &got);
        g1_from_affine(&expected, &g1_generator);
        g1_mul_var(&expected, &expected, &sum);
        CHECK(g1_eq(&got, &expected));
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
                            round == 0   ? 128u                                                    \
                            : round == 1 ? 640u                                                    \
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

/* Each set bit is in the list once, by itself or with its neighbour. */
TEST(subset_lists) {
    enum { MOST = 300 };
    for (uint32_t n = 1; n < MOST; n += 1 + n % 7)
        for (int kind = 0; kind < 3; kind++)
            for (int pairs = 0; pairs < 2; pairs++) {
                uint32_t words[MOST / 32 + 1], list[MOST];
                uint8_t seen[MOST] = {0};
                for (uint32_t i = 0; i < MOST / 32 + 1; i++)
                    words[i] = kind == 0 ? (uint32_t)check_random() : kind == 1 ? UINT32_MAX : 0;
                const uint32_t length = device_subset_list(list, words, n, pairs);
                CHECK(length <= (pairs ? (n + 1) / 2 : n));
                for (uint32_t k = 0; k < length; k++) {
                    if (list[k] < n) {
                        seen[list[k]]++;
                        continue;
                    }
                    const uint32_t first = 2 * (list[k] - n);
                    REQUIRE(pairs && first + 1 < n);
                    seen[first]++;
                    seen[first + 1]++;
                }
                for (uint32_t i = 0; i < n; i++)
                    CHECK_U64(seen[i], words[i / 32] >> i % 32 & 1);
            }
}

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

/* Parts lie one after another, a limit is kept or refused. */
static void check_plan(cuzk_gpu_group group, uint64_t n, unsigned copies,
                       const cuzk_gpu_tuning *tuning) {
    cuzk_error err;
    cuzk_msm_plan p;
    CHECK_OK(cuzk_msm_plan_make(&p, group, n, copies, 132, tuning, 0, &err));
    const size_t at[] = {p.digits,          p.bins,         p.bin_tiles,      p.keys,
                         p.payload,         p.list,         p.starts,         p.buckets,
                         p.line_points,     p.block_points, p.tree.points[0], p.tree.points[1],
                         p.tree.prefix,     p.tree.items,   p.tree.pairs,     p.tree.offsets[0],
                         p.tree.offsets[1], p.tree.sums,    p.scratch_bytes};
    for (size_t i = 0; i + 1 < sizeof at / sizeof at[0]; i++) {
        /* no room for what there is not */
        const bool empty = (at[i] == p.line_points && p.lines.entries == 0) ||
                           (at[i] == p.block_points && p.reduce_blocks == 1);
        CHECK((empty || at[i] < at[i + 1]) && at[i] <= at[i + 1] && at[i] % 256 == 0);
    }
    CHECK(p.windows.bits[0] <= tuning->max_window_bits);
    check_groups(&p);
    const size_t free_bytes = p.scratch_bytes;
    for (size_t limit = free_bytes - free_bytes / 4; limit > free_bytes / 16; limit -= limit / 4) {
        const cuzk_status limited =
            cuzk_msm_plan_make(&p, group, n, copies, 132, tuning, limit, &err);
        CHECK(limited == CUZK_OK ? p.scratch_bytes <= limit : limited == CUZK_ERR_DEVICE_MEMORY);
        if (limited == CUZK_OK) check_groups(&p);
    }
    CHECK_STATUS(cuzk_msm_plan_make(&p, group, n, copies, 132, tuning, 1000, &err),
                 CUZK_ERR_DEVICE_MEMORY);
}

/* Plans are pure functions of sizes. */
TEST(plans) {
    cuzk_error err;
    cuzk_msm_plan p;
    cuzk_subset_plan s;
    for (int arch = 75; arch <= 120; arch += 15)
        for (uint64_t n = 1; n < (uint64_t)1 << 31; n = 3 * n + 1)
            for (int curve = 0; curve < 2; curve++) {
                const cuzk_gpu_tuning *tuning = cuzk_gpu_tuning_for(arch);
                const cuzk_gpu_group group = curve == 0 ? CUZK_GPU_G1 : CUZK_GPU_G2;
                for (unsigned copies = 1; copies <= 4 && n * copies >> 31 == 0; copies++)
                    check_plan(group, n, copies, tuning);
                CHECK_OK(cuzk_subset_plan_make(&s, group, n, n / 2, false, 132, tuning, &err));
                CHECK(s.tree.sums < s.scratch_bytes);
            }
    const cuzk_gpu_tuning *tuning = cuzk_gpu_tuning_for(90);
    const struct {
        uint64_t n;
        unsigned copies;
    } bad[] = {{0, 1},  {(uint64_t)1 << 31, 1},        {(uint64_t)1 << 30, 2},
               {10, 0}, {10, CUZK_MSM_MAX_COPIES + 1}, {UINT64_MAX, 2}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_STATUS(
            cuzk_msm_plan_make(&p, CUZK_GPU_G1, bad[i].n, bad[i].copies, 132, tuning, 0, &err),
            CUZK_ERR_ARGUMENT);
    CHECK_STATUS(cuzk_subset_plan_make(&s, CUZK_GPU_G1, 10, 11, false, 132, tuning, &err),
                 CUZK_ERR_ARGUMENT);
    for (unsigned log2_n = 22; log2_n <= 27; log2_n += 5)
        for (unsigned copies = 1; copies <= CUZK_MSM_MAX_COPIES; copies++) {
            CHECK_OK(cuzk_msm_plan_make(&p, CUZK_GPU_G1, (uint64_t)1 << log2_n, copies, 132, tuning,
                                        0, &err));
            const cuzk_msm_windows *w = &p.windows;
            printf("  2^%u, %u copies (%u used): %u windows in %u sets, %u buckets, cost %.1f M, "
                   "scratch %.1f GB, %u sets together in %u parts, %u vectors of %u points\n",
                   log2_n, copies, w->copies, w->count, w->sets, w->bucket_base[w->sets],
                   (double)p.cost * 1e-6, (double)p.scratch_bytes * 1e-9, p.group_sets, p.parts,
                   p.vectors.count, p.vectors.base[1]);
        }
}

TEST_MAIN(RUN(plans), RUN(digits_recompose), RUN(multiples_g1), RUN(multiples_g2), RUN(vectors),
          RUN(sums_with_copies), RUN(finish_weights), RUN(tree_g1), RUN(tree_g2), RUN(subset_lists),
          RUN(decode))
