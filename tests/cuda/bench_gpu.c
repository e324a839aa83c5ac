/* Times of the kernels on device-resident data, each result checked.
 *
 *   bench_gpu [what] [max log2 size] [min log2 size]
 *
 * what: all, msm, tables (of multiples of the points), ntt, subset; min: of MSM and transforms
 * (10).
 *
 * Points are 1 G, 2 G, 3 G, ..., made on the device as sums of two table entries. A line is one
 * measurement: minimum, median and maximum of 7 runs after a warm-up. MSM times are wall times from
 * launch to the point on the host. */
#include <pthread.h>
#include <unistd.h>

#include "gpu.h"
#include "host/host_std.h"
#include "poly/ntt.h"

#define RUNS 7
#define SCRATCH_LIMIT ((size_t)48 << 30)

static void report(const char *what, unsigned log2_n, double *ms, bool right) {
    for (int i = 1; i < RUNS; i++)
        for (int j = i; j > 0 && ms[j] < ms[j - 1]; j--) {
            const double t = ms[j];
            ms[j] = ms[j - 1];
            ms[j - 1] = t;
        }
    printf("| %-24s | 2^%-2u | %9.3f | %9.3f | %9.3f | %s |\n", what, log2_n, ms[0], ms[RUNS / 2],
           ms[RUNS - 1], right ? "right" : "WRONG");
    fflush(stdout);
    if (!right) check_failures++;
}

/* ---- host work on all cores ---- */

typedef struct range {
    void (*work)(size_t first, size_t end, void *arg, fr_t *sum);
    size_t first, end;
    void *arg;
    fr_t sum;
} range;

static void *run_range(void *arg) {
    range *r = arg;
    r->sum = fr_zero();
    r->work(r->first, r->end, r->arg, &r->sum);
    return NULL;
}

static fr_t on_all_cores(size_t n, void (*work)(size_t, size_t, void *, fr_t *), void *arg) {
    enum { MAX = 64 };
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const size_t threads = online < 1 ? 1 : online > MAX ? MAX : (size_t)online;
    pthread_t ids[MAX];
    range ranges[MAX];
    fr_t sum = fr_zero();
    for (size_t t = 0; t < threads; t++) {
        ranges[t] = (range){work, n * t / threads, n * (t + 1) / threads, arg, fr_zero()};
        REQUIRE(pthread_create(&ids[t], NULL, run_range, &ranges[t]) == 0);
    }
    for (size_t t = 0; t < threads; t++) {
        pthread_join(ids[t], NULL);
        fr_add(&sum, &sum, &ranges[t].sum);
    }
    return sum;
}

static uint64_t mix(uint64_t z) {
    z = (z + 1) * 0x9e3779b97f4a7c15ULL;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}
/* Canonical Montgomery values below 2^254. */
static void fill_scalars(size_t first, size_t end, void *arg, fr_t *sum) {
    fr_t *s = arg;
    (void)sum;
    for (size_t i = first; i < end; i++)
        for (size_t j = 0; j < FR_LIMBS; j++)
            s[i].l[j] = mix(4 * i + j) >> (j == FR_LIMBS - 1 ? 2 : 0);
}
/* sum of s_i (i + 1) */
static void dot_logs(size_t first, size_t end, void *arg, fr_t *sum) {
    const fr_t *s = arg, one = fr_one();
    fr_t log, t;
    fr_from_u64(&log, first);
    for (size_t i = first; i < end; i++) {
        fr_add(&log, &log, &one);
        fr_mul(&t, &s[i], &log);
        fr_add(sum, sum, &t);
    }
}

/* ---- points ---- */

#define DEFINE_BENCH(G, curve)                                                                     \
    static void *make_points_##G(unsigned log2_n) {                                                \
        const unsigned low_bits = log2_n < 13 ? log2_n : 13;                                       \
        const size_t n = (size_t)1 << log2_n, low = (size_t)1 << low_bits, high = n >> low_bits;   \
        const size_t slice = n < (size_t)1 << 22 ? n : (size_t)1 << 22,                            \
                     entry = sizeof(G##_affine_t);                                                 \
        G##_affine_t *table = host_new((low + high) * entry);                                      \
        gpu_points_##G(table, low, 1, 1);                                                          \
        memset(&table[low], 0, entry);                                                             \
        if (high > 1) gpu_points_##G(table + low + 1, high - 1, low, low);                         \
        cuzk_tree_plan plan;                                                                       \
        const size_t bytes =                                                                       \
            cuzk_tree_plan_make(&plan, curve, 2 * slice, slice, 2, gpu_sms, gpu_tuning);           \
        uint32_t *list = host_new(2 * slice * 4), *at = host_new((slice + 1) * 4);                 \
        void *d_table = gpu_copy(table, (low + high) * entry), *d_list = gpu_new(2 * slice * 4),   \
             *scratch = gpu_new(bytes), *points = gpu_new(n * entry);                              \
        for (size_t i = 0; i <= slice; i++)                                                        \
            at[i] = (uint32_t)(2 * i);                                                             \
        void *d_at = gpu_copy(at, (slice + 1) * 4);                                                \
        for (size_t first = 0; first < n; first += slice) {                                        \
            for (size_t i = 0; i < slice; i++) {                                                   \
                list[2 * i] = (uint32_t)((first + i) & (low - 1));                                 \
                list[2 * i + 1] = (uint32_t)(low + ((first + i) >> low_bits));                     \
            }                                                                                      \
            GPU(cudaMemcpy(d_list, list, 2 * slice * 4, cudaMemcpyHostToDevice));                  \
            CHECK_OK(cuzk_gpu_list_sums(curve, &plan, d_table, d_list, d_at, (uint32_t)slice,      \
                                        (char *)points + first * entry, scratch, NULL, &err));     \
            GPU(cudaStreamSynchronize(NULL));                                                      \
        }                                                                                          \
        void *const done[] = {d_table, d_list, scratch, d_at};                                     \
        for (int i = 0; i < 4; i++)                                                                \
            GPU(cudaFree(done[i]));                                                                \
        free(table);                                                                               \
        free(list);                                                                                \
        free(at);                                                                                  \
        return points;                                                                             \
    }                                                                                              \
    static bool is_multiple_##G(const G##_t *got, const fr_t *log) {                               \
        G##_t expected;                                                                            \
        G##_from_affine(&expected, &G##_generator);                                                \
        G##_mul_var(&expected, &expected, log);                                                    \
        return G##_eq(got, &expected);                                                             \
    }                                                                                              \
    static void time_msm_##G(const char *name, unsigned log2_n, const cuzk_msm_plan *plan,         \
                             const void *points, const void *scalars, const fr_t *log) {           \
        void *scratch = gpu_new(plan->scratch_bytes), *d_result = gpu_new(plan->result_bytes),     \
             *result = host_new(plan->result_bytes);                                               \
        const cuzk_gpu_scalars s = {scalars, NULL, 0};                                             \
        double ms[RUNS];                                                                           \
        G##_t got = G##_infinity();                                                                \
        for (int i = -1; i < RUNS; i++) {                                                          \
            const double start = check_seconds();                                                  \
            CHECK_OK(cuzk_gpu_msm(plan, points, &s, scratch, d_result, NULL, &err));               \
            gpu_get(result, d_result, plan->result_bytes);                                         \
            cuzk_msm_finish_##G(plan, result, &got);                                               \
            if (i >= 0) ms[i] = 1e3 * (check_seconds() - start);                                   \
        }                                                                                          \
        report(name, log2_n, ms, is_multiple_##G(&got, log));                                      \
        GPU(cudaFree(scratch));                                                                    \
        GPU(cudaFree(d_result));                                                                   \
        free(result);                                                                              \
    }                                                                                              \
    static void bench_msm_##G(const char *name, unsigned log2_n, const void *points,               \
                              const void *scalars, const fr_t *log) {                              \
        cuzk_msm_plan plan;                                                                        \
        CHECK_OK(cuzk_msm_plan_make(&plan, curve, (uint64_t)1 << log2_n, 1, gpu_sms, gpu_tuning,   \
                                    SCRATCH_LIMIT, &err));                                         \
        time_msm_##G(name, log2_n, &plan, points, scalars, log);                                   \
    }                                                                                              \
    static void bench_subset_##G(const char *name, unsigned log2_n, const void *points,            \
                                 unsigned kind, bool pairs) {                                      \
        const size_t n = (size_t)1 << log2_n, words = n / 64;                                      \
        uint64_t *bits = host_new(words * 8), set = 0;                                             \
        uint64_t log = 0; /* sums stay below 2^64 up to 2^31 points */                             \
        for (size_t w = 0; w < words; w++) {                                                       \
            bits[w] = mix(w);                                                                      \
            if (kind == 1) bits[w] = UINT64_MAX;                                                   \
            if (kind == 2) bits[w] &= mix(w + words) & mix(w + 2 * words);                         \
            for (uint64_t v = bits[w]; v != 0; v &= v - 1, set++)                                  \
                log += 64 * w + (unsigned)__builtin_ctzll(v) + 1;                                  \
        }                                                                                          \
        cuzk_subset_plan plan;                                                                     \
        CHECK_OK(cuzk_subset_plan_make(&plan, curve, n, set, pairs, gpu_sms, gpu_tuning, &err));   \
        void *d_bits = gpu_copy(bits, words * 8), *scratch = gpu_new(plan.scratch_bytes),          \
             *result = gpu_new(plan.result_bytes);                                                 \
        double ms[RUNS];                                                                           \
        G##_t got;                                                                                 \
        fr_t k;                                                                                    \
        for (int i = -1; i < RUNS; i++) {                                                          \
            const double start = check_seconds();                                                  \
            CHECK_OK(cuzk_gpu_subset(&plan, points, d_bits, scratch, result, NULL, &err));         \
            gpu_get(&got, result, sizeof got);                                                     \
            if (i >= 0) ms[i] = 1e3 * (check_seconds() - start);                                   \
        }                                                                                          \
        fr_from_u64(&k, log);                                                                      \
        report(name, log2_n, ms, is_multiple_##G(&got, &k));                                       \
        GPU(cudaFree(d_bits));                                                                     \
        GPU(cudaFree(scratch));                                                                    \
        GPU(cudaFree(result));                                                                     \
        free(bits);                                                                                \
    }
DEFINE_BENCH(g1, CUZK_GPU_G1)
DEFINE_BENCH(g2, CUZK_GPU_G2)

static void bench_msm(unsigned min, unsigned max) {
    const size_t n = (size_t)1 << max;
    fr_t *s = host_new(n * sizeof *s);
    on_all_cores(n, fill_scalars, s);
    void *d_s = gpu_copy(s, n * sizeof *s), *points = make_points_g1(max);
    for (unsigned k = min; k <= max; k++) {
        if (k > 20 && k % 2 != 0 && k != max) continue;
        const fr_t log = on_all_cores((size_t)1 << k, dot_logs, s);
        bench_msm_g1("MSM G1 uniform", k, points, d_s, &log);
    }
    const unsigned skew = max < 22 ? max : 22;
    for (size_t i = 0; i < (size_t)1 << skew; i++)
        s[i] = s[0];
    GPU(cudaMemcpy(d_s, s, sizeof *s << skew, cudaMemcpyHostToDevice));
    fr_t log = on_all_cores((size_t)1 << skew, dot_logs, s);
    bench_msm_g1("MSM G1 all equal", skew, points, d_s, &log);
    fr_t minus_one = fr_one();
    fr_neg(&minus_one, &minus_one);
    for (size_t i = 0; i < (size_t)1 << skew; i++)
        s[i] = i % 3 == 0 ? fr_zero() : i % 3 == 1 ? fr_one() : minus_one;
    GPU(cudaMemcpy(d_s, s, sizeof *s << skew, cudaMemcpyHostToDevice));
    log = on_all_cores((size_t)1 << skew, dot_logs, s);
    bench_msm_g1("MSM G1 0, 1, -1", skew, points, d_s, &log);
    GPU(cudaFree(points));
    const unsigned max_g2 = max < 22 ? max : 22;
    on_all_cores((size_t)1 << max_g2, fill_scalars, s);
    GPU(cudaMemcpy(d_s, s, sizeof *s << max_g2, cudaMemcpyHostToDevice));
    points = make_points_g2(max_g2);
    for (unsigned k = 10; k <= max_g2; k += 4) {
        log = on_all_cores((size_t)1 << k, dot_logs, s);
        bench_msm_g2("MSM G2 uniform", k, points, d_s, &log);
    }
    GPU(cudaFree(points));
    GPU(cudaFree(d_s));
    free(s);
}

/* With copies of the points; making them is timed once. */
static void bench_tables_of(unsigned copies, unsigned log2_n, const void *points,
                            const void *scalars, const fr_t *log) {
    const size_t bytes = sizeof(g1_affine_t) << log2_n;
    char name[64];
    cuzk_msm_plan plan;
    double ms[RUNS];
    CHECK_OK(cuzk_msm_plan_make(&plan, CUZK_GPU_G1, (uint64_t)1 << log2_n, copies, gpu_sms,
                                gpu_tuning, SCRATCH_LIMIT, &err));
    if (plan.windows.copies != copies) return; /* more than are of use */
    char *tables = gpu_new(copies * bytes);
    GPU(cudaMemcpy(tables, points, bytes, cudaMemcpyDeviceToDevice));
    GPU(cudaStreamSynchronize(NULL));
    const double start = check_seconds();
    CHECK_OK(cuzk_gpu_multiples(&plan, tables, 0, plan.n, NULL, &err));
    GPU(cudaStreamSynchronize(NULL));
    for (int i = 0; i < RUNS; i++)
        ms[i] = 1e3 * (check_seconds() - start);
    snprintf(name, sizeof name, "making tables of %u", copies);
    report(name, log2_n, ms, true);
    snprintf(name, sizeof name, "MSM G1, tables of %u", copies);
    time_msm_g1(name, log2_n, &plan, tables, scalars, log);
    GPU(cudaFree(tables));
}

static void bench_tables(unsigned min, unsigned max) {
    const size_t n = (size_t)1 << max;
    fr_t *s = host_new(n * sizeof *s);
    on_all_cores(n, fill_scalars, s);
    void *d_s = gpu_copy(s, n * sizeof *s), *points = make_points_g1(max);
    for (unsigned k = min; k <= max; k++) {
        if (k < 20 || (k % 2 != 0 && k != max)) continue;
        const fr_t log = on_all_cores((size_t)1 << k, dot_logs, s);
        bench_msm_g1("MSM G1 uniform", k, points, d_s, &log);
        for (unsigned copies = 2; copies <= (k > 24 ? 4 : CUZK_MSM_MAX_COPIES); copies++)
            bench_tables_of(copies, k, points, d_s, &log);
    }
    GPU(cudaFree(points));
    GPU(cudaFree(d_s));
    free(s);
}

/* points and behind them the sums of neighbours; points are given back. */
static void *with_pairs(cuzk_gpu_group group, void *points, size_t n) {
    const size_t size = CUZK_GPU_AFFINE_BYTES(group);
    uint8_t *all = gpu_new((n + n / 2) * size);
    GPU(cudaMemcpy(all, points, n * size, cudaMemcpyDeviceToDevice));
    GPU(cudaFree(points));
    const double start = check_seconds();
    CHECK_OK(cuzk_gpu_pairs(group, all, n, all + n * size, NULL, &err));
    GPU(cudaDeviceSynchronize());
    printf("| sums of neighbours, G%d   | %zu points: %.1f ms\n", group == CUZK_GPU_G1 ? 1 : 2, n,
           1e3 * (check_seconds() - start));
    return all;
}

static void bench_subset(unsigned max) {
    void *points = make_points_g1(max);
    bench_subset_g1("subset G1, half set", max, points, 0, false);
    bench_subset_g1("subset G1, all set", max, points, 1, false);
    bench_subset_g1("subset G1, 1/8 set", max, points, 2, false);
    points = with_pairs(CUZK_GPU_G1, points, (size_t)1 << max);
    bench_subset_g1("pairs G1, half set", max, points, 0, true);
    bench_subset_g1("pairs G1, all set", max, points, 1, true);
    GPU(cudaFree(points));
    const unsigned max_g2 = max < 25 ? max : 25;
    points = make_points_g2(max_g2);
    bench_subset_g2("subset G2, half set", max_g2, points, 0, false);
    bench_subset_g2("subset G2, all set", max_g2, points, 1, false);
    points = with_pairs(CUZK_GPU_G2, points, (size_t)1 << max_g2);
    bench_subset_g2("pairs G2, half set", max_g2, points, 0, true);
    GPU(cudaFree(points));
}

/* ---- transforms ---- */

typedef struct evaluation {
    const fr_t *coefficients;
    fr_t at;
} evaluation;
static void evaluate(size_t first, size_t end, void *arg, fr_t *sum) {
    const evaluation *e = arg;
    const uint64_t exponent = first;
    fr_t power, t;
    fr_pow_var(&power, &e->at, &exponent, 1);
    for (size_t i = first; i < end; i++) {
        fr_mul(&t, &e->coefficients[i], &power);
        fr_add(sum, sum, &t);
        fr_mul(&power, &power, &e->at);
    }
}

/* Is out (reversed order) the transform of in, at two places? */
static bool check_values(const fr_t *in, const fr_t *out, unsigned log2_n) {
    const size_t n = (size_t)1 << log2_n;
    bool right = true;
    for (uint64_t i = 3; i < n; i += n / 2 + 1) {
        evaluation e = {in, fr_zero()};
        uint64_t turned = 0;
        for (unsigned b = 0; b < log2_n; b++)
            turned |= (i >> b & 1) << (log2_n - 1 - b);
        ntt_root_of_unity(log2_n, &e.at);
        fr_pow_var(&e.at, &e.at, &turned, 1);
        const fr_t value = on_all_cores(n, evaluate, &e);
        right = right && fr_eq(&value, &out[i]);
    }
    return right;
}

typedef struct ntt_bench {
    const cuzk_host *host;
    const fr_t *in; /* of the largest size */
    fr_t *out;
    void *v[3];
    cudaEvent_t start, stop;
} ntt_bench;

enum { NTT_FORWARD, NTT_INVERSE, NTT_FROM_REVERSED, NTT_QUOTIENT, NTT_KINDS };

static bool check_quotient(const ntt_bench *b, unsigned log2_n) {
    const size_t bytes = sizeof *b->in << log2_n;
    ntt_domain *domain;
    CHECK_OK(cuzk_gpu_bit_reverse(log2_n, b->v[2], b->v[0], NULL, &err));
    gpu_get(b->out, b->v[2], bytes);
    CHECK_OK(ntt_domain_new(b->host, log2_n, &domain, &err));
    fr_t *x = host_new(bytes), *y = host_new(bytes), *z = host_new(bytes);
    memcpy(x, b->in, bytes);
    memcpy(y, b->in, bytes);
    ntt_quotient(b->host, domain, x, y, z);
    const bool right = memcmp(x, b->out, bytes) == 0;
    free(x);
    free(y);
    free(z);
    ntt_domain_free(b->host, domain);
    return right;
}

/* One kind of transform. *print: a sum over the result, the same with wide tables and without. */
static void bench_transform(const ntt_bench *b, const cuzk_ntt_plan *plan, const void *tables,
                            int kind, fr_t *print) {
    static const char *const names[2][NTT_KINDS] = {
        {"NTT forward", "NTT inverse", "NTT from reversed", "quotient"},
        {"wide NTT forward", "wide NTT inverse", "wide NTT from reversed", "wide quotient"}};
    const unsigned k = plan->log2_n;
    const bool wide = plan->wide_kinds != 0;
    const size_t n = (size_t)1 << k, bytes = n * sizeof(fr_t);
    double ms[RUNS];
    bool right = true;
    for (int j = 0; j < 2; j++)
        GPU(cudaMemcpy(b->v[j], b->in, bytes, cudaMemcpyHostToDevice));
    for (int i = -1; i < RUNS; i++) {
        float t;
        GPU(cudaEventRecord(b->start, NULL));
        if (kind == NTT_QUOTIENT)
            CHECK_OK(cuzk_gpu_quotient(plan, tables, b->v[0], b->v[1], b->v[2], NULL, &err));
        else
            CHECK_OK(cuzk_gpu_ntt(plan, tables,
                                  kind == NTT_INVERSE ? CUZK_NTT_INVERSE : CUZK_NTT_FORWARD,
                                  kind == NTT_FROM_REVERSED, b->v[0], NULL, &err));
        GPU(cudaEventRecord(b->stop, NULL));
        GPU(cudaEventSynchronize(b->stop));
        GPU(cudaEventElapsedTime(&t, b->start, b->stop));
        if (i >= 0) {
            ms[i] = t;
            continue;
        }
        gpu_get(b->out, b->v[0], bytes);
        const fr_t sum = on_all_cores(n, dot_logs, b->out);
        if (wide)
            right = fr_eq(&sum, print);
        else
            *print = sum;
        if (kind == NTT_FORWARD) right = right && check_values(b->in, b->out, k);
        if (kind == NTT_QUOTIENT && k <= 20) right = right && check_quotient(b, k);
    }
    report(names[wide][kind], k, ms, right);
}

static void bench_ntt(unsigned min, unsigned max, const cuzk_host *host) {
    const size_t n = (size_t)1 << max;
    fr_t *const in = host_new(n * sizeof *in);
    ntt_bench b = {.host = host, .in = in, .out = host_new(n * sizeof *in)};
    on_all_cores(n, fill_scalars, in);
    for (int i = 0; i < 3; i++)
        b.v[i] = gpu_new(n * sizeof *in);
    GPU(cudaEventCreate(&b.start));
    GPU(cudaEventCreate(&b.stop));
    for (unsigned k = min; k <= max; k++) {
        if (k < 20 ? k % 5 != 0 : k % 2 != 0 && k != max) continue;
        fr_t prints[NTT_KINDS];
        for (int wide = 0; wide < 2; wide++) {
            cuzk_ntt_plan plan;
            CHECK_OK(
                cuzk_ntt_plan_make(&plan, k, wide ? CUZK_NTT_WIDE_ALL : CUZK_NTT_NARROW, &err));
            if (wide && plan.wide_kinds == 0) continue;
            void *tables = gpu_new(plan.table_bytes);
            double ms[RUNS];
            for (int i = -1; i < RUNS; i++) {
                float t;
                GPU(cudaEventRecord(b.start, NULL));
                CHECK_OK(cuzk_gpu_ntt_tables(&plan, tables, NULL, &err));
                GPU(cudaEventRecord(b.stop, NULL));
                GPU(cudaEventSynchronize(b.stop));
                GPU(cudaEventElapsedTime(&t, b.start, b.stop));
                if (i >= 0) ms[i] = t;
            }
            report(wide ? "wide tables, all four" : "tables", k, ms, true);
            for (int kind = 0; kind < NTT_KINDS; kind++)
                bench_transform(&b, &plan, tables, kind, &prints[kind]);
            GPU(cudaFree(tables));
        }
    }
    for (int i = 0; i < 3; i++)
        GPU(cudaFree(b.v[i]));
    GPU(cudaEventDestroy(b.start));
    GPU(cudaEventDestroy(b.stop));
    free(in);
    free(b.out);
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "all";
    const unsigned max = argc > 2 ? (unsigned)strtoul(argv[2], NULL, 10) : 27;
    const unsigned min = argc > 3 ? (unsigned)strtoul(argv[3], NULL, 10) : 10;
    host_std *owner;
    if (!gpu_open()) {
        printf("skipped: no CUDA device\n");
        return 77;
    }
    if (max < 12 || max > 27 || min < 5) {
        fprintf(stderr, "max log2 size: 12 to 27, min: 5 or more\n");
        return 1;
    }
    CHECK_OK(host_std_new(0, 0, &owner, &err));
    const bool all = strcmp(what, "all") == 0;
    printf("| what                     | size | min ms    | median ms | max ms    |       |\n");
    if (all || strcmp(what, "ntt") == 0) bench_ntt(min, max, host_std_host(owner));
    if (all || strcmp(what, "subset") == 0) bench_subset(max);
    if (all || strcmp(what, "msm") == 0) bench_msm(min, max);
    if (all || strcmp(what, "tables") == 0) bench_tables(min, max);
    host_std_free(owner);
    return check_failures > 0;
}
