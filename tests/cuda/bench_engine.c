/* The engine on a real device: what must hold when several jobs share one GPU.
 *
 *   bench_engine CIRCUIT PARAMS_DIR SCENARIO... [KEY=VALUE...]
 *
 * - locks: for each limit of device memory one job with one worker, then several jobs at once with
 *   three workers: time a partition, memory of the host
 * - overtake: for each limit WinningPoSt requests (CRITICAL) at random moments between partitions
 * of CIRCUIT; the bound that each must keep
 * - small: a hundred small proofs in a row, a cancelled job and bad requests among them
 * - devices: several jobs over one GPU, two, ..., all
 *
 * limits=0,24,16,10 (GiB; 0: all; overtake: 0,16)  jobs=3  partitions=4 (of each job; 0: all)
 * arrivals=8 winning=winning-32g  small=100  seed=1  device=cuda|cpu
 *
 * Every proof is verified by the engine and once more against the public data. Exit 1 when anything
 * that must hold does not, 77 without a GPU. Missing parameters are made. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "engine_world.h"

#define MAX_ROWS 16
#define MAX_ARRIVALS 64
#define GIB ((uint64_t)1 << 30)

static struct {
    const char *circuit, *dir, *winning;
    uint64_t limits[MAX_ROWS];
    unsigned n_limits, jobs, partitions, arrivals, small;
    uint64_t random;
    bool cpu, limits_given;
} opt = {.winning = "winning-32g",
         .limits = {0, 24, 16, 10},
         .n_limits = 4,
         .jobs = 3,
         .partitions = 4,
         .arrivals = 8,
         .small = 100,
         .random = 1};
static unsigned failures;

static void must(bool holds, const char *what) {
    if (holds) return;
    failures++;
    printf("FAILED: %s\n", what);
}

/* In [0, 1). */
static double random_part(void) {
    opt.random = opt.random * 6364136223846793005u + 1442695040888963407u;
    return (double)(opt.random >> 40) / (double)(1u << 24);
}

static void pause_ms(double ms) {
    const uint64_t ns = (uint64_t)(ms * 1e6);
    const struct timespec t = {.tv_sec = (time_t)(ns / 1000000000u),
                               .tv_nsec = (long)(ns % 1000000000u)};
    nanosleep(&t, NULL);
}

static const char *limit_text(uint64_t gib) {
    static char text[32];
    snprintf(text, sizeof text, "%llu GiB", (unsigned long long)gib);
    return gib == 0 ? "all" : text;
}

/* ---- several jobs, one device ---- */

typedef struct load {
    double per_partition,
        wall; /* s: between first start and last end on the device; with loading */
    uint64_t calls;
    unsigned verified;
    world_memory memory;
} load;

/* Seconds a partition between the first upload and the last result, of moves from `from` on. */
static double device_seconds(size_t from, unsigned partitions) {
    const world_move *moves;
    uint64_t first = UINT64_MAX, last = 0;
    const size_t n = world_moves(&moves);
    for (size_t i = from; i < n; i++) {
        if (moves[i].stage == ENGINE_PARTITION_DEVICE && moves[i].at_ms < first)
            first = moves[i].at_ms;
        if (moves[i].stage == ENGINE_PARTITION_VERIFY) last = moves[i].at_ms;
    }
    return 1e-3 * (double)(last - first) / partitions;
}

/* `jobs` jobs at once on a fresh engine. */
static load run_load(const world_input *in, uint64_t limit, unsigned workers, unsigned jobs) {
    world_engine w;
    load l = {0};
    world_engine_open(&w, 1, limit * GIB, workers);
    world_preload(&w, in);
    world_memory_base();
    const double start = world_seconds();
    char id[32];
    for (unsigned i = 0; i < jobs; i++) {
        snprintf(id, sizeof id, "job-%u", i);
        world_submit(&w, in, id);
    }
    for (unsigned i = 0; i < jobs; i++) {
        engine_result r;
        snprintf(id, sizeof id, "job-%u", i);
        if (world_await(&w, in, id, &r))
            l.verified += in->partitions;
        else
            printf("%s with %s: %s\n", id, limit_text(limit), r.error);
        must(r.error[0] == 0, "a job ran without any failed attempt");
    }
    l.wall = world_seconds() - start;
    l.per_partition = device_seconds(0, jobs * in->partitions);
    world_memory_seen(&l.memory);
    l.calls = world_engine_close(&w);
    return l;
}

static void print_memory(const load *rows) {
    printf("\n| device memory | RssAnon peak, MB | of it each partition in flight, MB | by the "
           "account, MB | most in flight | VmHWM (with mapped files), GB |\n"
           "| ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (unsigned i = 0; i < opt.n_limits; i++) {
        const world_memory *m = &rows[i].memory;
        printf("| %s | %.0f | %.0f | %.0f | %u | %.1f |\n", limit_text(opt.limits[i]),
               1e-6 * (double)m->peak_anonymous, 1e-6 * (double)m->each_anonymous,
               1e-6 * (double)m->each_held, m->in_flight, 1e-9 * (double)m->peak_resident);
    }
}

static void scenario_locks(void) {
    world_input in;
    load one[MAX_ROWS], many[MAX_ROWS];
    world_input_make(&in, opt.circuit, opt.partitions);
    const unsigned total = opt.jobs * in.partitions;
    for (unsigned i = 0; i < opt.n_limits; i++) {
        const uint64_t limit = opt.limits[i];
        one[i] = run_load(&in, limit, 1, 1);
        many[i] = run_load(&in, limit, 3, opt.jobs);
        printf("%s: done\n", limit_text(limit));
        fflush(stdout);
        must(one[i].verified == in.partitions && many[i].verified == total, "every proof verified");
        must(one[i].calls + many[i].calls == 0, "no device-wide call");
        must(many[i].per_partition <= 1.03 * one[i].per_partition,
             "three workers are at least as fast as one (3 % for noise)");
        must(limit != 0 || many[i].memory.peak_anonymous < 16 * GIB, "RSS below 16 GiB");
        /* in small arenas the executor's own buffer is beside the partitions */
        must(limit != 0 || many[i].memory.each_anonymous < 300u << 20,
             "a partition in flight takes less than 300 MiB");
    }
    printf("\n%s, jobs of %u partitions; s a partition from the first upload to the last result, s "
           "from the request to the last proof (circuit recorded before, points loaded within)\n\n",
           in.circuit, in.partitions);
    printf("| device memory | 1 worker, 1 job, s a partition | all, s | 3 workers, %u jobs, s a "
           "partition | all, s | ratio | verified | device-wide calls |\n"
           "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
           opt.jobs);
    for (unsigned i = 0; i < opt.n_limits; i++)
        printf("| %s | %.3f | %.2f | %.3f | %.2f | %.3f | %u of %u | %llu |\n",
               limit_text(opt.limits[i]), one[i].per_partition, one[i].wall, many[i].per_partition,
               many[i].wall, one[i].per_partition / many[i].per_partition,
               one[i].verified + many[i].verified, in.partitions + total,
               (unsigned long long)(one[i].calls + many[i].calls));
    print_memory(many);
    world_input_free(&in);
}

/* ---- overtaking ---- */

typedef struct arrival {
    uint64_t submitted, ready, device, result, ended; /* ms */
    unsigned boundaries; /* partitions of others that ended in between */
    uint64_t pause;      /* ms in which the others' partitions stood still, besides computing */
} arrival;

static int compare_u64(const void *a, const void *b) {
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void print_spread(const char *what, uint64_t *v, unsigned n) {
    qsort(v, n, sizeof *v, compare_u64);
    printf("| %s | %llu | %llu | %llu |\n", what, (unsigned long long)v[0],
           (unsigned long long)v[n / 2], (unsigned long long)v[n - 1]);
}

static arrival look_at(const world_engine *w, const char *id) {
    engine_job_view view;
    engine_partition_view p;
    world_job_view(w, id, &view, &p);
    return (arrival){.submitted = view.submitted_at,
                     .ready = p.ready_at,
                     .device = p.device_at,
                     .result = p.verify_at,
                     .ended = view.ended_at};
}

static bool is_other(const world_move *m) {
    return m->stage == ENGINE_PARTITION_VERIFY && strcmp(m->kind, "winning-post") != 0;
}

/* The longest and the median time between two boundaries of the others without an arrival, from
 * the move `from` on. */
static void boundaries(const arrival *a, unsigned n, size_t from, uint64_t *longest,
                       uint64_t *median) {
    const world_move *moves;
    static uint64_t gaps[4096];
    size_t n_gaps = 0;
    uint64_t last = 0;
    const size_t n_moves = world_moves(&moves);
    for (size_t i = from; i < n_moves; i++) {
        if (!is_other(&moves[i])) continue;
        bool disturbed = last == 0;
        for (unsigned k = 0; k < n; k++)
            disturbed |= a[k].result >= last && a[k].device <= moves[i].at_ms;
        if (!disturbed && n_gaps < sizeof gaps / sizeof gaps[0])
            gaps[n_gaps++] = moves[i].at_ms - last;
        last = moves[i].at_ms;
    }
    qsort(gaps, n_gaps, sizeof gaps[0], compare_u64);
    *longest = n_gaps == 0 ? 0 : gaps[n_gaps - 1];
    *median = n_gaps == 0 ? 0 : gaps[n_gaps / 2];
}

/* What happened to the others around an arrival. */
static void count_boundaries(arrival *a, uint64_t usual) {
    const world_move *moves;
    uint64_t before = 0;
    const size_t n = world_moves(&moves);
    for (size_t i = 0; i < n; i++) {
        if (!is_other(&moves[i])) continue;
        if (moves[i].at_ms > a->submitted && moves[i].at_ms <= a->device) a->boundaries++;
        if (moves[i].at_ms <= a->device) before = moves[i].at_ms;
        if (moves[i].at_ms <= a->device || before == 0) continue;
        const uint64_t gap = moves[i].at_ms - before;
        a->pause = gap > usual ? gap - usual : 0;
        return;
    }
}

/* The switch alone: the others' circuit is on the device, nothing runs. The slowest of three. */
static uint64_t idle_switch(const world_engine *w, const world_input *winning) {
    uint64_t slowest = 0, resident = UINT64_MAX;
    char id[32];
    world_input first;
    world_input_make(&first, opt.circuit, 1);
    for (unsigned i = 0; i < 3; i++) {
        snprintf(id, sizeof id, "idle-other-%u", i);
        must(world_prove(w, &first, id, NULL), id);
        for (unsigned k = 0; k < 2; k++) {
            snprintf(id, sizeof id, "idle-%u-%u", i, k);
            must(world_prove(w, winning, id, NULL), id);
            const arrival a = look_at(w, id);
            if (k == 0 && a.ended - a.submitted > slowest) slowest = a.ended - a.submitted;
            if (k == 1 && a.ended - a.submitted < resident) resident = a.ended - a.submitted;
        }
    }
    world_input_free(&first);
    printf("nothing else runs: %llu ms with its circuit on the device, %llu ms with another's\n",
           (unsigned long long)resident, (unsigned long long)slowest);
    return slowest;
}

/* Keep two jobs of the others waiting or running. */
static unsigned feed(const world_engine *w, const world_input *in, unsigned next) {
    engine_snapshot *s;
    cuzk_error err;
    char id[32];
    unsigned active = 0;
    world_need(engine_snapshot_take(w->e, &s, &err), &err, "snapshot");
    for (size_t i = 0; i < s->n_jobs; i++)
        active +=
            strncmp(s->jobs[i].job_id, "other-", 6) == 0 && s->jobs[i].state <= ENGINE_JOB_RUNNING;
    engine_snapshot_free(s);
    for (; active < 2; active++) {
        snprintf(id, sizeof id, "other-%u", next++);
        world_submit(w, in, id);
    }
    return next;
}

static void judge_arrivals(const world_input *other, uint64_t limit, arrival *a, uint64_t idle,
                           size_t from) {
    uint64_t longest, usual, v[4][MAX_ARRIVALS];
    boundaries(a, opt.arrivals, from, &longest, &usual);
    const uint64_t bound = longest + idle + idle / 4 + 20;
    printf(
        "\n| arrival | waited for the device, ms | boundaries of %s passed | switch and proof, ms "
        "| request to verified proof, ms | %s stood still, ms |\n"
        "| ---: | ---: | ---: | ---: | ---: | ---: |\n",
        other->circuit, other->circuit);
    for (unsigned i = 0; i < opt.arrivals; i++) {
        count_boundaries(&a[i], usual);
        v[0][i] = a[i].device - a[i].submitted;
        v[1][i] = a[i].ended - a[i].device;
        v[2][i] = a[i].ended - a[i].submitted;
        v[3][i] = a[i].pause;
        printf("| %u | %llu | %u | %llu | %llu | %llu |\n", i, (unsigned long long)v[0][i],
               a[i].boundaries, (unsigned long long)v[1][i], (unsigned long long)v[2][i],
               (unsigned long long)v[3][i]);
        must(v[2][i] <= bound, "an urgent request kept the bound");
    }
    printf(
        "\n%s beside %s, device memory %s: the bound is the longest time between boundaries, %llu "
        "ms (median %llu), and switching and proving with nothing else running, %llu ms (+ 25 %% + "
        "20 ms): %llu ms\n\n| ms | min | median | max |\n| --- | ---: | ---: | ---: |\n",
        opt.winning, other->circuit, limit_text(limit), (unsigned long long)longest,
        (unsigned long long)usual, (unsigned long long)idle, (unsigned long long)bound);
    print_spread("request to verified proof", v[2], opt.arrivals);
    print_spread("until the device took it (with unloading and loading)", v[0], opt.arrivals);
    print_spread("proof on the device, verified", v[1], opt.arrivals);
    print_spread("the others stood still", v[3], opt.arrivals);
}

static void overtake_with(const world_input *other, const world_input *winning, uint64_t limit) {
    world_engine w;
    arrival arrivals[MAX_ARRIVALS];
    char id[32];
    unsigned next = 0;
    world_engine_open(&w, 1, limit * GIB, 3);
    world_preload(&w, other);
    world_preload(&w, winning);
    const uint64_t idle = idle_switch(&w, winning);
    const world_move *moves;
    const size_t from = world_moves(&moves);
    next = feed(&w, other, next);
    pause_ms(3000);
    for (unsigned i = 0; i < opt.arrivals; i++) {
        next = feed(&w, other, next);
        pause_ms(2500 + 2000 * random_part()); /* the others load again and run some partitions */
        next = feed(&w, other, next);
        snprintf(id, sizeof id, "winning-%u", i);
        must(world_prove(&w, winning, id, NULL), "an urgent proof verified");
        arrivals[i] = look_at(&w, id);
    }
    pause_ms(4000); /* for the pause after the last */
    for (unsigned i = 0; i < next; i++) {
        engine_result r;
        bool running;
        snprintf(id, sizeof id, "other-%u", i);
        (void)engine_cancel(w.e, id, &running, NULL);
        const bool verified = world_await(&w, other, id, &r);
        must(verified || r.state == ENGINE_JOB_CANCELLED, "the others' jobs were proven");
    }
    judge_arrivals(other, limit, arrivals, idle, from);
    must(world_engine_close(&w) == 0, "no device-wide call");
}

static void scenario_overtake(void) {
    world_input other, winning;
    world_input_make(&other, opt.circuit, opt.partitions);
    world_input_make(&winning, opt.winning, 0);
    if (!opt.limits_given) {
        opt.limits[1] = 16;
        opt.n_limits = 2;
    }
    for (unsigned i = 0; i < opt.n_limits; i++)
        overtake_with(&other, &winning, opt.limits[i]);
    world_input_free(&other);
    world_input_free(&winning);
}

/* ---- small proofs in a row ---- */

static void cancel_one(const world_engine *w, const world_input *in) {
    engine_result r;
    bool running;
    cuzk_error err;
    world_submit(w, in, "cancelled");
    world_need(engine_cancel(w->e, "cancelled", &running, &err), &err, "cancel");
    must(!world_await(w, in, "cancelled", &r) && r.state == ENGINE_JOB_CANCELLED,
         "a cancelled job ends as cancelled");
}

/* One byte changed, or bytes missing: an error with a text, and no proof. */
static void bad_one(const world_engine *w, const world_input *in, size_t flipped, size_t missing,
                    const char *id) {
    engine_result r;
    world_input bad = *in;
    bad.body_bytes -= missing;
    bad.body[flipped] ^= 1;
    must(!world_prove(w, &bad, id, &r) && r.state == ENGINE_JOB_FAILED && r.error[0] != 0,
         "a bad request fails with a text");
    bad.body[flipped] ^= 1;
    printf("%s: %s\n", id, r.error);
}

static void scenario_small(void) {
    static const char *const circuits[] = {"window-2k", "winning-2k", "porep-2k"};
    enum { KINDS = sizeof circuits / sizeof circuits[0] };
    world_engine w;
    world_input in[KINDS];
    uint64_t ms[KINDS][1024];
    unsigned n[KINDS] = {0}, verified = 0;
    char id[32];
    for (unsigned k = 0; k < KINDS; k++)
        world_input_make(&in[k], circuits[k], 0);
    world_engine_open(&w, 1, 0, 3);
    for (unsigned i = 0; i < opt.small; i++) {
        const unsigned k = (unsigned)(random_part() * KINDS);
        if (i == opt.small / 4) cancel_one(&w, &in[2]);
        if (i == opt.small / 3) bad_one(&w, &in[0], in[0].body_bytes - 40, 0, "flipped byte");
        if (i == opt.small / 2) bad_one(&w, &in[2], 5000, 0, "flipped byte of a C1");
        if (i == opt.small * 2 / 3) bad_one(&w, &in[1], 0, 7, "missing bytes");
        snprintf(id, sizeof id, "small-%u", i);
        const bool ok = world_prove(&w, &in[k], id, NULL);
        must(ok, id);
        verified += ok;
        const arrival a = look_at(&w, id);
        ms[k][n[k]++] = a.ended - a.submitted;
    }
    engine_snapshot *s;
    cuzk_error err;
    world_need(engine_snapshot_take(w.e, &s, &err), &err, "snapshot");
    must(!s->devices[0].quarantined, "the device is in use to the end");
    printf("\n%u small proofs in a row: %u verified, device failures %llu", opt.small, verified,
           (unsigned long long)s->devices[0].failures);
    engine_snapshot_free(s);
    const uint64_t calls = world_engine_close(&w);
    must(calls == 0, "no device-wide call");
    printf(", device-wide calls %llu\n\n| request to verified proof, ms | min | median | max |\n"
           "| --- | ---: | ---: | ---: |\n",
           (unsigned long long)calls);
    for (unsigned k = 0; k < KINDS; k++) {
        if (n[k] > 0) print_spread(circuits[k], ms[k], n[k]);
        world_input_free(&in[k]);
    }
}

/* ---- several devices ---- */

/* Jobs over the first `devices` GPUs, after one that loads them all. Returns seconds a partition.
 */
static double run_devices(const world_input *in, unsigned devices, char *proved, size_t room) {
    world_engine w;
    engine_snapshot *s;
    cuzk_error err;
    const world_move *moves;
    char id[32];
    world_engine_open(&w, devices, 0, 3);
    world_preload(&w, in);
    for (unsigned i = 0; i < devices; i++) {
        snprintf(id, sizeof id, "load-%u", i);
        world_submit(&w, in, id);
    }
    for (unsigned i = 0; i < devices; i++) {
        snprintf(id, sizeof id, "load-%u", i);
        must(world_await(&w, in, id, NULL), "every proof verified");
    }
    const size_t from = world_moves(&moves);
    for (unsigned i = 0; i < opt.jobs; i++) {
        snprintf(id, sizeof id, "job-%u", i);
        world_submit(&w, in, id);
    }
    for (unsigned i = 0; i < opt.jobs; i++) {
        snprintf(id, sizeof id, "job-%u", i);
        must(world_await(&w, in, id, NULL), "every proof verified");
    }
    const double seconds = device_seconds(from, opt.jobs * in->partitions);
    world_need(engine_snapshot_take(w.e, &s, &err), &err, "snapshot");
    for (unsigned d = 0; d < devices; d++) {
        const size_t used = strlen(proved);
        snprintf(proved + used, room - used, "%s%llu", d == 0 ? "" : " + ",
                 (unsigned long long)s->devices[d].proved);
        must(s->devices[d].proved > 0 && s->devices[d].failures == 0, "every device proves");
    }
    engine_snapshot_free(s);
    must(world_engine_close(&w) == 0, "no device-wide call");
    return seconds;
}

static void scenario_devices(void) {
    world_input in;
    char name[96];
    uint64_t bytes;
    const unsigned most = world_devices(name, &bytes);
    double alone = 0;
    world_input_make(&in, opt.circuit, opt.partitions);
    printf("\n| devices | s a partition | times one device | proved by each |\n"
           "| ---: | ---: | ---: | --- |\n");
    for (unsigned n = 1; n <= most; n = n < most && 2 * n > most ? most : 2 * n) {
        char proved[WORLD_MAX_DEVICES * 24] = "";
        const double seconds = run_devices(&in, n, proved, sizeof proved);
        if (n == 1) alone = seconds;
        printf("| %u | %.3f | %.2f | %s |\n", n, seconds, alone / seconds, proved);
        must(seconds * n < 1.25 * alone, "devices add up");
    }
    world_input_free(&in);
}

/* ---- options ---- */

static bool take_limits(const char *text) {
    char *end;
    opt.limits_given = true;
    for (opt.n_limits = 0; opt.n_limits < MAX_ROWS; text = end + 1) {
        opt.limits[opt.n_limits++] = strtoull(text, &end, 10);
        if (end == text || (*end != ',' && *end != 0)) return false;
        if (*end == 0) return true;
    }
    return false;
}

static bool take_option(const char *word) {
    static char text[32];
    static const struct {
        const char *key;
        unsigned *to, max;
    } counts[] = {{"jobs=", &opt.jobs, 100},
                  {"partitions=", &opt.partitions, 16},
                  {"arrivals=", &opt.arrivals, MAX_ARRIVALS},
                  {"small=", &opt.small, 1000}};
    if (strncmp(word, "limits=", 7) == 0) return take_limits(word + 7);
    if (strncmp(word, "winning=", 8) == 0) {
        snprintf(text, sizeof text, "%s", word + 8);
        opt.winning = text;
        return true;
    }
    if (strncmp(word, "seed=", 5) == 0) {
        opt.random = strtoull(word + 5, NULL, 10);
        return true;
    }
    if (strncmp(word, "device=", 7) == 0) {
        opt.cpu = strcmp(word + 7, "cpu") == 0;
        return opt.cpu || strcmp(word + 7, "cuda") == 0;
    }
    for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++) {
        const size_t n = strlen(counts[i].key);
        if (strncmp(word, counts[i].key, n) != 0) continue;
        const unsigned long v = strtoul(word + n, NULL, 10);
        *counts[i].to = (unsigned)v;
        return v <= counts[i].max && (v > 0 || counts[i].to == &opt.partitions);
    }
    return false;
}

int main(int argc, char **argv) {
    static const struct {
        const char *name;
        void (*run)(void);
    } scenarios[] = {{"locks", scenario_locks},
                     {"overtake", scenario_overtake},
                     {"small", scenario_small},
                     {"devices", scenario_devices}};
    enum { SCENARIOS = sizeof scenarios / sizeof scenarios[0] };
    bool chosen[SCENARIOS] = {false}, usage = argc < 4;
    for (int i = 3; i < argc; i++) {
        bool known = take_option(argv[i]);
        for (int k = 0; k < SCENARIOS; k++)
            if (strcmp(argv[i], scenarios[k].name) == 0) chosen[k] = known = true;
        usage |= !known;
    }
    if (usage) {
        fprintf(stderr, "usage: bench_engine CIRCUIT PARAMS_DIR locks|overtake|small|devices... "
                        "[limits=GIB,...] [jobs=3] [partitions=4] [arrivals=8] "
                        "[winning=winning-32g] [small=100] [seed=1] [device=cuda|cpu]\n");
        return 2;
    }
    opt.circuit = argv[1];
    opt.dir = argv[2];
    char name[96];
    uint64_t bytes;
    world_open(opt.dir, opt.cpu);
    if (world_devices(name, &bytes) == 0) {
        printf("skipped: no GPU\n");
        return 77;
    }
    printf("%s, %.1f GiB\n", name, (double)bytes / (double)GIB);
    for (int k = 0; k < SCENARIOS; k++) {
        if (!chosen[k]) continue;
        const double start = world_seconds();
        scenarios[k].run();
        printf("\n%s: %.1f s\n\n", scenarios[k].name, world_seconds() - start);
        fflush(stdout);
    }
    world_close();
    printf("%s\n", failures == 0 ? "everything that must hold holds" : "FAILED");
    return failures == 0 ? 0 : 1;
}
