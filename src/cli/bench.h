/* Timing for the bench commands: repeat until enough time has passed, several times over, and show
 * the best and the median: these figures are read on shared machines. */
#ifndef CUZK_CLI_BENCH_H
#define CUZK_CLI_BENCH_H

#include "cli/cli.h"
#include "host/json_out.h"

typedef struct bench_table {
    json_out j;
    bool json;
    uint64_t runs;      /* samples per row */
    const char *filter; /* only rows whose name contains this; NULL: all */
} bench_table;

void bench_open(bench_table *t, const char *title);
void bench_close(bench_table *t);
bool bench_wants(const bench_table *t, const char *name);
/* Time fn(arg, n): n repetitions of a small operation; shows nanoseconds each. */
void bench_small(bench_table *t, const char *name, void (*fn)(void *arg, size_t n), void *arg);
/* Time fn(arg) as a whole `runs` times; shows milliseconds, and nanoseconds an item if items > 0.
 */
void bench_large(bench_table *t, const char *name, uint64_t items, cuzk_status (*fn)(void *arg),
                 void *arg);

cuzk_status bench_primitives(const cuzk_host *host, bench_table *t, uint64_t max_log2,
                             cuzk_error *err);
cuzk_status bench_witness(const cuzk_host *host, bench_table *t, const char *circuit,
                          cuzk_error *err);
cuzk_status bench_prove(const cuzk_host *host, bench_table *t, const char *c1, const char *params,
                        const char *device, cuzk_error *err);

#endif
