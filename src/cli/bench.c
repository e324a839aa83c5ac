#include "cli/bench.h"

#include <stdlib.h>
#include <string.h>

#define MAX_RUNS 101

void bench_open(bench_table *t, const char *title) {
    t->j.file = stdout;
    if (t->json) {
        json_out_object(&t->j, NULL);
        json_out_string(&t->j, "bench", title);
        json_out_array(&t->j, "rows");
        return;
    }
    printf("%-34s %12s %12s %12s  %s\n", title, "min", "median", "max", "unit");
}

void bench_close(bench_table *t) {
    if (!t->json) return;
    json_out_end_array(&t->j);
    json_out_end_object(&t->j);
}

bool bench_wants(const bench_table *t, const char *name) {
    return t->filter == NULL || strstr(name, t->filter) != NULL;
}

static int by_value(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void row(bench_table *t, const char *name, double *samples, size_t n, const char *unit,
                uint64_t items) {
    qsort(samples, n, sizeof *samples, by_value);
    const double median = samples[n / 2];
    if (t->json) {
        json_out_object(&t->j, NULL);
        json_out_string(&t->j, "name", name);
        json_out_string(&t->j, "unit", unit);
        json_out_u64(&t->j, "runs", n);
        json_out_double(&t->j, "min", samples[0]);
        json_out_double(&t->j, "median", median);
        json_out_double(&t->j, "max", samples[n - 1]);
        if (items > 0) json_out_double(&t->j, "ns_per_item", samples[0] * 1e6 / (double)items);
        json_out_end_object(&t->j);
        return;
    }
    printf("%-34s %12.1f %12.1f %12.1f  %s", name, samples[0], median, samples[n - 1], unit);
    if (items > 0) printf(", best %.1f ns an item", samples[0] * 1e6 / (double)items);
    putchar('\n');
    fflush(stdout);
}

static size_t run_count(const bench_table *t) {
    return t->runs < 1 ? 1 : t->runs > MAX_RUNS ? MAX_RUNS : (size_t)t->runs;
}

void bench_small(bench_table *t, const char *name, void (*fn)(void *arg, size_t n), void *arg) {
    double samples[MAX_RUNS];
    const size_t runs = run_count(t);
    if (!bench_wants(t, name)) return;
    size_t n = 16;
    for (;;) { /* a sample takes at least 10 ms */
        const double start = cli_now();
        fn(arg, n);
        if (cli_now() - start > 0.01 || n > ((size_t)1 << 40)) break;
        n *= 2;
    }
    for (size_t i = 0; i < runs; i++) {
        const double start = cli_now();
        fn(arg, n);
        samples[i] = (cli_now() - start) * 1e9 / (double)n;
    }
    row(t, name, samples, runs, "ns", 0);
}

void bench_large(bench_table *t, const char *name, uint64_t items, cuzk_status (*fn)(void *arg),
                 void *arg) {
    double samples[MAX_RUNS];
    const size_t runs = run_count(t);
    if (!bench_wants(t, name)) return;
    for (size_t i = 0; i < runs; i++) {
        const double start = cli_now();
        if (fn(arg) != CUZK_OK) {
            if (!t->json) printf("%-34s failed\n", name);
            return;
        }
        samples[i] = (cli_now() - start) * 1e3;
    }
    row(t, name, samples, runs, "ms", items);
}
