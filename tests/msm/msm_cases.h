/* Template: the MSM tests of one group, included by test_msm_g1.c and test_msm_g2.c. Bases have
 * known discrete logarithms, so the expected sums come from scalar arithmetic and one
 * multiplication of the generator. */
#include <stdatomic.h>

#include "check.h"
#include "host/host_std.h"
#include "msm/msm_names.h"

#define ENCODED (MSM_DEGREE * G1_UNCOMPRESSED_BYTES)
#define MOST 10000 /* bases at hand */

static affine *bases; /* base i is logs[i] times the generator */
static fr_t *logs;
static uint8_t *encoded; /* of the bases, at an odd address */
static fr_t *scalars;
static const cuzk_host *host;

static fr_t small_scalar(int64_t v) {
    fr_t z;
    fr_from_u64(&z, (uint64_t)(v < 0 ? -v : v));
    if (v < 0) fr_neg(&z, &z);
    return z;
}

static fr_t random_scalar(void) {
    uint8_t bytes[64];
    fr_t z;
    check_random_bytes(bytes, sizeof bytes);
    fr_from_wide(&z, bytes);
    return z;
}

/* 0, +-1, small, powers of two, halves of r, runs of bits. */
static fr_t edge_scalar(void) {
    uint64_t limbs[4] = {0};
    fr_t z = fr_one(), half;
    const unsigned kind = (unsigned)(check_random() % 9);
    if (kind == 0) return fr_zero();
    if (kind <= 2) return small_scalar(kind == 1 ? 1 : -1);
    if (kind <= 4) return small_scalar((int64_t)(check_random() % 5000) - 2500);
    if (kind == 5) {
        for (unsigned i = (unsigned)(check_random() % 255); i > 0; i--)
            fr_double(&z, &z);
        return z;
    }
    if (kind == 6) {
        const fr_t two = small_scalar(2);
        fr_inv(&half, &two); /* (r + 1) / 2 */
        if (check_random() & 1) fr_sub(&half, &half, &z);
        return half;
    }
    for (int i = 0; i < 4; i++)
        limbs[i] = check_random_runs();
    limbs[3] &= (uint64_t)-1 >> 2;
    fr_from_limbs(&z, limbs);
    return z;
}

static void set_up(void) {
    bases = calloc(MOST, sizeof *bases);
    logs = calloc(MOST, sizeof *logs);
    scalars = calloc(MOST, sizeof *scalars);
    encoded = (uint8_t *)malloc(MOST * ENCODED + 1) + 1;
    point *points = calloc(MOST, sizeof *points), p;
    element *scratch = calloc(MOST, sizeof *scratch);
    REQUIRE(bases && logs && scalars && points && scratch);
    check_random_state = 42;
    const fr_t step = random_scalar();
    fr_t log = random_scalar();
    G_(from_affine)(&p, &G_(generator));
    point difference = p;
    G_(mul_var)(&p, &p, &log);
    G_(mul_var)(&difference, &difference, &step);
    for (size_t i = 0; i < MOST; i++) {
        points[i] = p;
        logs[i] = log;
        G_(add)(&p, &p, &difference);
        fr_add(&log, &log, &step);
    }
    G_(batch_to_affine)(bases, points, MOST, scratch);
    for (size_t i = 0; i < MOST; i++)
        G_(write_uncompressed)(encoded + i * ENCODED, &bases[i]);
    free(points);
    free(scratch);
}

static void times_generator(point *z, const fr_t *k) {
    G_(from_affine)(z, &G_(generator));
    G_(mul_var)(z, z, k);
}

/* Is p = (sum of k[i] l[i]) generator? */
static bool is_sum(const point *p, const fr_t *k, const fr_t *l, size_t n) {
    fr_t sum = fr_zero(), term;
    point expected;
    for (size_t i = 0; i < n; i++) {
        fr_mul(&term, &k[i], &l[i]);
        fr_add(&sum, &sum, &term);
    }
    times_generator(&expected, &sum);
    return G_(eq)(p, &expected);
}

static msm_bases affine_bases(const affine *data, size_t n) {
    return (msm_bases){.data = data, .count = n, .form = MSM_AFFINE};
}
static msm_bases encoded_bases(size_t n) {
    return (msm_bases){.data = encoded, .count = n, .form = MSM_ENCODED};
}

/* One MSM in both forms of bases. */
static void check_msm(size_t n) {
    cuzk_error err;
    point sum;
    CHECK_OK(OF_GROUP(msm)(host, &sum, affine_bases(bases, n), scalars, n, &err));
    if (!is_sum(&sum, scalars, logs, n)) CHECK_FAILED_("wrong sum of %zu terms", n);
    CHECK_OK(OF_GROUP(msm)(host, &sum, encoded_bases(n), scalars, n, &err));
    if (!is_sum(&sum, scalars, logs, n)) CHECK_FAILED_("wrong sum of %zu encoded terms", n);
}

static const size_t sizes[] = {0,   1,   2,   3,    4,    5,    6,    7,    8,    9,    15,   16,
                               17,  31,  33,  63,   64,   65,   100,  127,  129,  255,  300,  511,
                               600, 777, 999, 1023, 1025, 2048, 3000, 4095, 4096, 4097, 8191, 9000};
#define N_SIZES (sizeof sizes / sizeof sizes[0])

TEST(naive) {
    for (size_t n = 0; n < 20; n++) {
        point sum;
        for (size_t i = 0; i < n; i++)
            scalars[i] = i % 2 ? random_scalar() : edge_scalar();
        OF_GROUP(msm_naive)(&sum, bases, scalars, n);
        CHECK(is_sum(&sum, scalars, logs, n));
    }
}

TEST(random_scalars) {
    for (size_t s = 0; s < N_SIZES; s++) {
        for (size_t i = 0; i < sizes[s]; i++)
            scalars[i] = random_scalar();
        check_msm(sizes[s]);
    }
}

TEST(edge_scalars) {
    for (size_t s = 0; s < N_SIZES; s++) {
        for (size_t i = 0; i < sizes[s]; i++)
            scalars[i] = edge_scalar();
        check_msm(sizes[s]);
    }
}

/* Everything in one bucket, or in one sum of units. */
TEST(equal_scalars) {
    const fr_t values[] = {small_scalar(0),  small_scalar(1),   small_scalar(-1), small_scalar(2),
                           small_scalar(-2), small_scalar(500), random_scalar()};
    for (size_t v = 0; v < sizeof values / sizeof values[0]; v++) {
        for (size_t i = 0; i < 5000; i++)
            scalars[i] = values[v];
        check_msm(7);
        check_msm(300);
        check_msm(5000);
    }
}

/* Bases drawn from a few points, their negatives and infinity: doublings and cancellations. */
TEST(repeated_bases) {
    enum { N = 5000 };
    affine *few = calloc(N, sizeof *few);
    fr_t *few_logs = calloc(N, sizeof *few_logs);
    REQUIRE(few != NULL && few_logs != NULL);
    for (size_t distinct = 1; distinct <= 4; distinct++) {
        for (size_t n = 7; n <= N; n = n * 5 + 3) {
            cuzk_error err;
            point sum;
            for (size_t i = 0; i < n; i++) {
                const size_t from = check_random() % distinct;
                few[i] = bases[from];
                few_logs[i] = logs[from];
                if (check_random() & 1) {
                    G_(affine_neg)(&few[i], &few[i]);
                    fr_neg(&few_logs[i], &few_logs[i]);
                }
                if (check_random() % 8 == 0) {
                    memset(&few[i], 0, sizeof few[i]);
                    few_logs[i] = fr_zero();
                }
                scalars[i] = edge_scalar();
            }
            CHECK_OK(OF_GROUP(msm)(host, &sum, affine_bases(few, n), scalars, n, &err));
            CHECK(is_sum(&sum, scalars, few_logs, n));
        }
    }
    for (size_t i = 0; i < N; i++) { /* n P with one scalar: nothing but doublings */
        few[i] = bases[0];
        few_logs[i] = logs[0];
        scalars[i] = scalars[0];
    }
    cuzk_error err;
    point sum;
    CHECK_OK(OF_GROUP(msm)(host, &sum, affine_bases(few, N), scalars, N, &err));
    CHECK(is_sum(&sum, scalars, few_logs, N));
    free(few);
    free(few_logs);
}

/* More terms than a tile holds, nearly all of them zero. */
TEST(several_tiles) {
    const size_t n = 2 * ((size_t)1 << 18) + 77;
    uint32_t *index = calloc(n, sizeof *index);
    fr_t *many = calloc(n, sizeof *many);
    REQUIRE(index != NULL && many != NULL);
    cuzk_error err;
    point sum;
    fr_t total = fr_zero();
    for (size_t i = 0; i < n; i++) {
        fr_t term;
        index[i] = (uint32_t)(i % MOST);
        if (check_random() % 64 == 0) many[i] = edge_scalar();
        fr_mul(&term, &many[i], &logs[index[i]]);
        fr_add(&total, &total, &term);
    }
    CHECK_OK(OF_GROUP(msm_gather)(host, &sum, affine_bases(bases, MOST), index, many, n, &err));
    const fr_t one = fr_one();
    CHECK(is_sum(&sum, &total, &one, 1));
    free(index);
    free(many);
}

TEST(gather) {
    static uint32_t index[MOST];
    static fr_t gathered[MOST];
    for (size_t n = 1; n < 3000; n = n * 3 + 1) {
        cuzk_error err;
        point sum;
        for (size_t j = 0, at = 0; j < n; j++) {
            at += 1 + check_random() % 3;
            index[j] = (uint32_t)at;
            gathered[j] = logs[at];
            scalars[j] = edge_scalar();
        }
        CHECK_OK(OF_GROUP(msm_gather)(host, &sum, encoded_bases(MOST), index, scalars, n, &err));
        CHECK(is_sum(&sum, scalars, gathered, n));
        scalars[n - 1] = random_scalar();
        CHECK_STATUS(
            OF_GROUP(msm_gather)(host, &sum, encoded_bases(index[n - 1]), index, scalars, n, &err),
            CUZK_ERR_ARGUMENT);
    }
}

TEST(too_few_bases) {
    cuzk_error err;
    point sum;
    const uint64_t word = 0;
    CHECK_STATUS(OF_GROUP(msm)(host, &sum, affine_bases(bases, 9), scalars, 10, &err),
                 CUZK_ERR_ARGUMENT);
    CHECK_STATUS(OF_GROUP(msm_subset)(host, &sum, affine_bases(bases, 9), &word, 10, &err),
                 CUZK_ERR_ARGUMENT);
}

/* Bitmap sums, as MSMs with scalars 0 and 1. */
static void check_subset(const uint64_t *bitmap, size_t n) {
    cuzk_error err;
    point sum;
    for (size_t i = 0; i < n; i++)
        scalars[i] = (bitmap[i / 64] >> (i % 64) & 1) ? fr_one() : fr_zero();
    CHECK_OK(OF_GROUP(msm_subset)(host, &sum, affine_bases(bases, n), bitmap, n, &err));
    if (!is_sum(&sum, scalars, logs, n)) CHECK_FAILED_("wrong subset sum, n = %zu", n);
    CHECK_OK(OF_GROUP(msm_subset)(host, &sum, encoded_bases(n), bitmap, n, &err));
    if (!is_sum(&sum, scalars, logs, n)) CHECK_FAILED_("wrong encoded subset sum, n = %zu", n);
}

TEST(subset) {
    uint64_t bitmap[MOST / 64 + 1];
    for (size_t s = 0; s < N_SIZES; s++) {
        for (size_t word = 0; word < MOST / 64 + 1; word++)
            bitmap[word] = check_random();
        check_subset(bitmap, sizes[s]);
        for (size_t word = 0; word < MOST / 64 + 1; word++)
            bitmap[word] &= check_random() & check_random() & check_random();
        check_subset(bitmap, sizes[s]);
    }
    memset(bitmap, 0, sizeof bitmap);
    check_subset(bitmap, MOST);
    memset(bitmap, 0xff, sizeof bitmap);
    check_subset(bitmap, MOST);
}

/* Enough words for several tasks, on repeated bases. */
TEST(subset_tasks) {
    const size_t n = 150000;
    affine *many = calloc(n, sizeof *many);
    uint64_t *bitmap = calloc(n / 64 + 1, sizeof *bitmap);
    REQUIRE(many != NULL && bitmap != NULL);
    fr_t total = fr_zero();
    for (size_t i = 0; i < n; i++) {
        many[i] = bases[i % MOST];
        if (check_random() % 4) continue;
        bitmap[i / 64] |= (uint64_t)1 << (i % 64);
        fr_add(&total, &total, &logs[i % MOST]);
    }
    cuzk_error err;
    point sum;
    const fr_t one = fr_one();
    CHECK_OK(OF_GROUP(msm_subset)(host, &sum, affine_bases(many, n), bitmap, n, &err));
    CHECK(is_sum(&sum, &total, &one, 1));
    free(many);
    free(bitmap);
}

static bool names_base(const cuzk_error *err, size_t index) {
    char text[64];
    snprintf(text, sizeof text, "base %zu:", index);
    return strstr(err->text, text) != NULL;
}

/* Every MSM over encoded bases must refuse the one at `bad`, and name it. */
static void check_refused(size_t n, size_t bad, cuzk_status expected) {
    static uint64_t bitmap[MOST / 64 + 1];
    cuzk_error err;
    point sum;
    memset(bitmap, 0xff, sizeof bitmap);
    for (size_t i = 0; i < n; i++)
        scalars[i] = i % 3 ? random_scalar() : fr_one();
    CHECK_STATUS(OF_GROUP(msm)(host, &sum, encoded_bases(n), scalars, n, &err), expected);
    CHECK(names_base(&err, bad));
    CHECK_STATUS(OF_GROUP(msm_subset)(host, &sum, encoded_bases(n), bitmap, n, &err), expected);
    CHECK(names_base(&err, bad));
}

static void bad_encodings(void) {
    static const struct {
        size_t n, at;
    } places[] = {{1, 0}, {6, 5}, {7, 3}, {5000, 0}, {5000, 4500}, {5000, 4999}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        uint8_t *bytes = encoded + places[i].at * ENCODED, saved[ENCODED];
        memcpy(saved, bytes, ENCODED);
        for (unsigned flag = 0x20; flag <= 0x80; flag *= 2) {
            bytes[0] = saved[0] | (uint8_t)flag;
            check_refused(places[i].n, places[i].at, CUZK_ERR_FORMAT);
            memcpy(bytes, saved, ENCODED);
        }
        memset(bytes, 0, ENCODED);
        bytes[0] = 0x40; /* infinity, properly encoded */
        check_refused(places[i].n, places[i].at, CUZK_ERR_FORMAT);
        for (size_t coordinate = 0; coordinate < 2 * MSM_DEGREE; coordinate++) {
            memcpy(bytes, saved, ENCODED);
            for (int l = 0; l < 6; l++) /* p itself */
                store_be64(bytes + coordinate * 48 + 40 - 8 * l, cuzk_fp_prime.p[l]);
            check_refused(places[i].n, places[i].at, CUZK_ERR_NOT_CANONICAL);
        }
        memcpy(bytes, saved, ENCODED);
    }
    /* Of several bad ones, the first. */
    encoded[77 * ENCODED] |= 0x80;
    encoded[4800 * ENCODED] |= 0x80;
    check_refused(5000, 77, CUZK_ERR_FORMAT);
    encoded[77 * ENCODED] ^= 0x80;
    encoded[4800 * ENCODED] ^= 0x80;
}

TEST(bad_encodings) {
    bad_encodings();
    cuzk_cpu_force(CUZK_CPU_ADX);
    bad_encodings();
    cuzk_cpu_force(CUZK_CPU_ALL);
}

static void check_fixed(const affine *base, const fr_t *base_log, size_t expected, size_t n) {
    cuzk_error err;
    OF_GROUP(msm_fixed) *table = NULL;
    affine *out = calloc(n, sizeof *out);
    REQUIRE(out != NULL || n == 0);
    CHECK_OK(TEMPLATE_NAME(OF_GROUP(msm_fixed), new)(host, base, expected, &table, &err));
    CHECK_OK(TEMPLATE_NAME(OF_GROUP(msm_fixed), apply)(host, table, scalars, n, out, &err));
    for (size_t i = 0; i < n; i++) {
        fr_t log;
        point product;
        affine product_affine;
        fr_mul(&log, &scalars[i], base_log);
        times_generator(&product, &log);
        G_(to_affine)(&product_affine, &product);
        if (memcmp(&product_affine, &out[i], sizeof out[i]) != 0)
            CHECK_FAILED_("wrong multiple %zu of %zu", i, n);
    }
    TEMPLATE_NAME(OF_GROUP(msm_fixed), free)(host, table);
    free(out);
}

TEST(fixed_base) {
    const affine infinity = {0};
    const fr_t zero = fr_zero();
    for (size_t i = 0; i < 2000; i++)
        scalars[i] = i % 2 ? random_scalar() : edge_scalar();
    for (size_t expected = 0; expected <= 100000; expected = expected * 20 + 1)
        check_fixed(&bases[5], &logs[5], expected, 200);
    check_fixed(&bases[6], &logs[6], 1000, 0);
    check_fixed(&bases[6], &logs[6], 1000, 1);
    check_fixed(&bases[6], &logs[6], 1000, 2000);
    check_fixed(&infinity, &zero, 100, 50);
}

/* Results are the same bits for any number of workers. */
TEST(workers) {
    enum { N = 9000 };
    static uint64_t bitmap[N / 64 + 1];
    point sums[3], subsets[3];
    affine *multiples = calloc(3 * N, sizeof *multiples);
    REQUIRE(multiples != NULL);
    for (size_t i = 0; i < N; i++)
        scalars[i] = i % 4 ? random_scalar() : edge_scalar();
    check_random_bytes(bitmap, sizeof bitmap);
    for (unsigned w = 0; w < 3; w++) {
        cuzk_error err;
        host_std *some = NULL;
        OF_GROUP(msm_fixed) *table = NULL;
        CHECK_OK(host_std_new(w + 1, 0, &some, &err));
        const cuzk_host *h = host_std_host(some);
        CHECK_U64(h->workers, w + 1);
        CHECK_OK(OF_GROUP(msm)(h, &sums[w], encoded_bases(N), scalars, N, &err));
        CHECK_OK(OF_GROUP(msm_subset)(h, &subsets[w], encoded_bases(N), bitmap, N, &err));
        CHECK_OK(TEMPLATE_NAME(OF_GROUP(msm_fixed), new)(h, &bases[1], N, &table, &err));
        CHECK_OK(TEMPLATE_NAME(OF_GROUP(msm_fixed), apply)(h, table, scalars, N, multiples + w * N,
                                                           &err));
        TEMPLATE_NAME(OF_GROUP(msm_fixed), free)(h, table);
        CHECK_U64(host_std_used(some), 0);
        host_std_free(some);
    }
    for (unsigned w = 1; w < 3; w++) {
        CHECK_MEM(&sums[w], &sums[0], sizeof sums[0]);
        CHECK_MEM(&subsets[w], &subsets[0], sizeof subsets[0]);
        CHECK_MEM(multiples + w * N, multiples, N * sizeof *multiples);
    }
    free(multiples);
}

/* A host whose allocation number `fails_at` fails. */
typedef struct faulty_host {
    cuzk_host host;
    size_t allocations, fails_at, held;
    bool cancelled;
} faulty_host;

static void *faulty_alloc(void *self, size_t bytes) {
    faulty_host *f = self;
    if (f->allocations++ == f->fails_at) return NULL;
    f->held += bytes;
    return aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}
static void faulty_free(void *self, void *memory, size_t bytes) {
    if (memory != NULL) ((faulty_host *)self)->held -= bytes;
    free(memory);
}
static bool faulty_cancelled(void *self) {
    return ((faulty_host *)self)->cancelled;
}

static cuzk_status run_all(const cuzk_host *h, cuzk_error *err) {
    point sum;
    affine out[50];
    OF_GROUP(msm_fixed) *table = NULL;
    const uint64_t bitmap = 12345;
    CUZK_TRY(OF_GROUP(msm)(h, &sum, affine_bases(bases, 50), scalars, 50, err));
    CUZK_TRY(OF_GROUP(msm_subset)(h, &sum, affine_bases(bases, 50), &bitmap, 50, err));
    CUZK_TRY(TEMPLATE_NAME(OF_GROUP(msm_fixed), new)(h, bases, 50, &table, err));
    const cuzk_status status =
        TEMPLATE_NAME(OF_GROUP(msm_fixed), apply)(h, table, scalars, 50, out, err);
    TEMPLATE_NAME(OF_GROUP(msm_fixed), free)(h, table);
    return status;
}

/* The workspace is what was foretold. */
TEST(workspace) {
    static uint64_t bitmap[MOST / 64 + 1];
    for (size_t i = 0; i < MOST; i++)
        scalars[i] = random_scalar();
    for (unsigned w = 1; w <= 3; w++) {
        for (size_t n = 1; n <= MOST; n = n * 7 + 2) {
            cuzk_error err;
            point sum;
            host_std *some = NULL;
            CHECK_OK(host_std_new(w, 0, &some, &err));
            const cuzk_host *h = host_std_host(some);
            CHECK_OK(OF_GROUP(msm)(h, &sum, affine_bases(bases, n), scalars, n, &err));
            CHECK_U64(host_std_peak(some), OF_GROUP(msm_workspace_bytes)(w, n));
            host_std_free(some);
            CHECK_OK(host_std_new(w, 0, &some, &err));
            h = host_std_host(some);
            CHECK_OK(OF_GROUP(msm_subset)(h, &sum, affine_bases(bases, n), bitmap, n, &err));
            CHECK_U64(host_std_peak(some), OF_GROUP(msm_subset_workspace_bytes)(w, n));
            host_std_free(some);
        }
    }
    /* Within the budget of a prover at its largest sizes. */
    CHECK(OF_GROUP(msm_workspace_bytes)(2, (size_t)1 << 22) < (size_t)300 << 20);
    CHECK(OF_GROUP(msm_workspace_bytes)(2, (size_t)1 << 30) < (size_t)300 << 20);
}

/* With more workers than windows, tasks own parts of a window's buckets. */
TEST(many_workers) {
    const size_t n = 40000;
    uint32_t *index = calloc(n, sizeof *index);
    fr_t *many = calloc(n, sizeof *many), total = fr_zero();
    REQUIRE(index != NULL && many != NULL);
    for (size_t i = 0; i < n; i++) {
        fr_t term;
        index[i] = (uint32_t)(i * 7 % MOST);
        many[i] = random_scalar();
        fr_mul(&term, &many[i], &logs[index[i]]);
        fr_add(&total, &total, &term);
    }
    faulty_host f = {.fails_at = SIZE_MAX};
    f.host = (cuzk_host){.self = &f, .alloc = faulty_alloc, .free = faulty_free, .workers = 50};
    cuzk_error err;
    point sum;
    const fr_t one = fr_one();
    CHECK_OK(OF_GROUP(msm_gather)(&f.host, &sum, encoded_bases(MOST), index, many, n, &err));
    CHECK(is_sum(&sum, &total, &one, 1));
    CHECK_U64(f.held, 0);
    free(index);
    free(many);
}

TEST(no_memory) {
    cuzk_error err;
    cuzk_status status = CUZK_ERR_NO_MEMORY;
    for (size_t i = 0; i < 50; i++)
        scalars[i] = random_scalar();
    for (size_t at = 0; status != CUZK_OK; at++) {
        faulty_host f = {.fails_at = at};
        f.host = (cuzk_host){.self = &f, .alloc = faulty_alloc, .free = faulty_free, .workers = 1};
        status = run_all(&f.host, &err);
        CHECK_U64(f.held, 0);
        CHECK_U64(f.allocations, status == CUZK_OK ? at : at + 1);
        if (status != CUZK_OK) CHECK_STATUS(status, CUZK_ERR_NO_MEMORY);
        REQUIRE(at < 100);
    }
}

TEST(cancelled) {
    cuzk_error err;
    faulty_host f = {.fails_at = SIZE_MAX, .cancelled = true};
    f.host = (cuzk_host){.self = &f,
                         .alloc = faulty_alloc,
                         .free = faulty_free,
                         .workers = 1,
                         .cancelled = faulty_cancelled};
    for (size_t i = 0; i < 50; i++)
        scalars[i] = random_scalar();
    CHECK_STATUS(run_all(&f.host, &err), CUZK_ERR_CANCELLED);
    CHECK_U64(f.held, 0);
}

#define PAIRS 200
static _Alignas(64) uint8_t pair_scratch[MSM_DEGREE * MSM_PAIR_SCRATCH(PAIRS)];

/* The ways to add pairs on this machine. */
static size_t pair_adders(ADD_PAIRS_FN adders[2]) {
    adders[0] = ADD_PAIRS_PLAIN;
#if defined(__x86_64__)
    adders[1] = OF_GROUP(msm_add_pairs_ifma);
    if (cuzk_cpu_has_avx512ifma()) return 2;
#endif
    return 1;
}

/* Points that are equal, opposite or infinity often enough. */
static void random_pairs(affine in[2 * PAIRS], msm_ref *left, msm_ref *right, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const unsigned kind = (unsigned)(check_random() % 8);
        in[2 * i] = bases[check_random() % 100];
        in[2 * i + 1] = kind < 4 ? bases[check_random() % 100] : in[2 * i];
        if (kind == 4) G_(affine_neg)(&in[2 * i + 1], &in[2 * i + 1]);
        if (kind == 5 || kind == 6) memset(&in[2 * i + (kind & 1)], 0, sizeof in[0]);
        if (check_random() % 50 == 0) memset(&in[2 * i], 0, 2 * sizeof in[0]);
        left[i] = msm_ref_of(&in[2 * i], check_random() & 1);
        right[i] = msm_ref_of(&in[2 * i + 1], check_random() & 1);
    }
}

/* Additions of pairs, against the curve's own. */
TEST(pairs) {
    affine in[2 * PAIRS], out[PAIRS], expected[PAIRS];
    msm_ref left[PAIRS] = {0}, right[PAIRS] = {0};
    ADD_PAIRS_FN adders[2];
    const size_t n_adders = pair_adders(adders);
    for (size_t n = 0; n <= PAIRS; n = n < 40 ? n + 1 : n + 53) {
        random_pairs(in, left, right, n);
        for (size_t i = 0; i < n; i++) {
            point sum = G_(infinity)();
            (left[i] & 1 ? G_(sub_affine) : G_(add_affine))(&sum, &sum, &in[2 * i]);
            (right[i] & 1 ? G_(sub_affine) : G_(add_affine))(&sum, &sum, &in[2 * i + 1]);
            G_(to_affine)(&expected[i], &sum);
        }
        for (size_t a = 0; a < n_adders; a++) {
            adders[a](out, left, right, n, pair_scratch);
            CHECK_MEM(out, expected, n * sizeof *out);
            /* Each sum onto its own left operand. */
            for (size_t i = 0; i < n; i++) {
                out[i] = in[2 * i];
                left[i] = msm_ref_of(&out[i], left[i] & 1);
            }
            adders[a](out, left, right, n, pair_scratch);
            CHECK_MEM(out, expected, n * sizeof *out);
            for (size_t i = 0; i < n; i++)
                left[i] = msm_ref_of(&in[2 * i], left[i] & 1);
        }
    }
}

/* Unchecked bases may be no points at all: every way to add still gives the same bits. */
TEST(pairs_of_anything) {
    affine in[2 * PAIRS], out[2][PAIRS];
    msm_ref left[PAIRS], right[PAIRS];
    element values[4];
    ADD_PAIRS_FN adders[2];
    if (pair_adders(adders) < 2) SKIP("no second way to add pairs here");
    memset(values, 0, sizeof values);
    for (unsigned round = 0; round < 50; round++) {
        values[1] = F_(one)();
        values[2] = bases[round].x;
        F_(neg)(&values[3], &values[2]);
        for (size_t i = 0; i < 2 * PAIRS; i++) {
            in[i].x = values[check_random() % 4];
            in[i].y = values[check_random() % 4];
        }
        for (size_t i = 0; i < PAIRS; i++) {
            left[i] = msm_ref_of(&in[2 * i], check_random() & 1);
            right[i] = msm_ref_of(&in[2 * i + 1], check_random() & 1);
        }
        for (size_t a = 0; a < 2; a++)
            adders[a](out[a], left, right, PAIRS, pair_scratch);
        CHECK_MEM(out[0], out[1], sizeof out[0]);
    }
}

/* Whatever instructions are used, the results are the same bits. */
TEST(instruction_sets) {
    enum { N = 700 };
    static const unsigned masks[] = {CUZK_CPU_ALL, CUZK_CPU_ADX, 0};
    point sums[3], subsets[3];
    static affine multiples[3][N];
    uint64_t bitmap[N / 64 + 1];
    check_random_bytes(bitmap, sizeof bitmap);
    for (size_t i = 0; i < N; i++)
        scalars[i] = i % 2 ? random_scalar() : edge_scalar();
    for (unsigned m = 0; m < 3; m++) {
        cuzk_error err;
        OF_GROUP(msm_fixed) *table = NULL;
        cuzk_cpu_force(masks[m]);
        CHECK_OK(OF_GROUP(msm)(host, &sums[m], encoded_bases(N), scalars, N, &err));
        CHECK_OK(OF_GROUP(msm_subset)(host, &subsets[m], encoded_bases(N), bitmap, N, &err));
        CHECK_OK(TEMPLATE_NAME(OF_GROUP(msm_fixed), new)(host, &bases[1], N, &table, &err));
        CHECK_OK(
            TEMPLATE_NAME(OF_GROUP(msm_fixed), apply)(host, table, scalars, N, multiples[m], &err));
        TEMPLATE_NAME(OF_GROUP(msm_fixed), free)(host, table);
        cuzk_cpu_force(CUZK_CPU_ALL);
        CHECK_MEM(&sums[m], &sums[0], sizeof sums[0]);
        CHECK_MEM(&subsets[m], &subsets[0], sizeof subsets[0]);
        CHECK_MEM(multiples[m], multiples[0], sizeof multiples[0]);
    }
    CHECK(is_sum(&sums[0], scalars, logs, N));
}

int main(int argc, char **argv) {
    const check_case cases[] = {RUN(pairs),         RUN(pairs_of_anything), RUN(instruction_sets),
                                RUN(naive),         RUN(random_scalars),    RUN(edge_scalars),
                                RUN(equal_scalars), RUN(repeated_bases),    RUN(several_tiles),
                                RUN(gather),        RUN(too_few_bases),     RUN(subset),
                                RUN(subset_tasks),  RUN(bad_encodings),     RUN(fixed_base),
                                RUN(workers),       RUN(many_workers),      RUN(workspace),
                                RUN(no_memory),     RUN(cancelled)};
    cuzk_error err;
    host_std *two = NULL;
    if (host_std_new(2, 0, &two, &err) != CUZK_OK) return 1;
    host = host_std_host(two);
    set_up();
    const int result = check_main(argc, argv, cases, sizeof cases / sizeof cases[0]);
    host_std_free(two);
    free(bases);
    free(logs);
    free(scalars);
    free(encoded - 1);
    return result;
}
