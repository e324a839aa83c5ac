#include <string.h>

#include "cli/bench.h"
#include "cli/device.h"
#include "field/cpu.h"

static int run(int argc, char **argv, const cli_command *self) {
    static cli_list rest;
    const char *filter = NULL, *circuit = "porep-32g", *c1 = NULL, *params = NULL, *device = NULL;
    const char *vram_limit = NULL;
    const char *cpu = "all";
    uint64_t threads = 0, runs = 5, max_log2 = 18;
    bool json = false;
    const cli_option options[] = {
        {CLI_COUNT, "runs", "N", "samples for each row (default 5)", &runs, 1, 101, false},
        {CLI_COUNT, "threads", "N", "CPU threads (default: all)", &threads, 1, 1024, false},
        {CLI_TEXT, "filter", "TEXT", "only rows whose name contains this", &filter, 0, 0, false},
        {CLI_COUNT, "max-log2", "K", "primitives: vectors up to 2^K (default 18)", &max_log2, 14,
         27, false},
        {CLI_TEXT, "circuit", "ID", "witness: porep circuit (default porep-32g)", &circuit, 0, 0,
         false},
        {CLI_TEXT, "c1", "FILE", "prove: C1 output", &c1, 0, 0, false},
        {CLI_TEXT, "params", "DIR", "prove: folder of the parameters", &params, 0, 0, false},
        {CLI_TEXT, "device", "NAME", "prove: cpu, cuda, cuda:N, auto", &device, 0, 0, false},
        VRAM_LIMIT_OPTION(vram_limit),
        {CLI_TEXT, "cpu", "SET", "instructions to use: plain, adx or all (default all)", &cpu, 0, 0,
         false},
        {CLI_FLAG, "json", NULL, "rows as JSON", &json, 0, 0, false},
    };
    int code;
    if (!cli_parse(argc, argv, self, options, sizeof options / sizeof options[0], &rest, 1, &code))
        return code;
    const char *what = rest.n == 1 ? rest.items[0] : "";
    const bool prove = strcmp(what, "prove") == 0;
    if (prove && (c1 == NULL || params == NULL))
        return cli_usage(self, "prove: --c1 and --params are needed");

    if (strcmp(cpu, "plain") == 0)
        cuzk_cpu_force(0);
    else if (strcmp(cpu, "adx") == 0)
        cuzk_cpu_force(CUZK_CPU_ADX);
    else if (strcmp(cpu, "all") != 0)
        return cli_usage(self, "--cpu: expected plain, adx or all, got '%s'", cpu);

    cli_session s;
    cuzk_error err = {0};
    bench_table t = {.json = json, .runs = runs, .filter = filter};
    if (cli_session_open(&s, (unsigned)threads, true, &err) != CUZK_OK)
        return cli_report(self, &err);
    char name[DEVICE_NAME_BYTES];
    cuzk_status status;
    if (strcmp(what, "primitives") == 0)
        status = bench_primitives(s.host, &t, max_log2, &err);
    else if (strcmp(what, "witness") == 0)
        status = bench_witness(s.host, &t, circuit, &err);
    else if (!prove)
        status = cuzk_fail(&err, CUZK_ERR_ARGUMENT, "which: primitives, witness or prove?");
    else if ((status = device_limited(device, vram_limit, name, &err)) == CUZK_OK)
        status = bench_prove(s.host, &t, c1, params, name, &err);
    cli_session_close(&s);
    return status == CUZK_OK ? EXIT_OK : cli_report(self, &err);
}

const cli_command cmd_bench = {
    .name = "bench",
    .summary = "measure: primitives, witness or prove",
    .about = "cuzk bench primitives: fields, curves, hashes, NTT, MSM\n"
             "cuzk bench witness: witness, A w and B w of one partition of a synthetic sector\n"
             "cuzk bench prove: one verified partition, parameters loaded",
    .run = run,
};
