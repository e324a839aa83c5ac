/* The arena's plan for every circuit and every size of memory, without a GPU. */
#include "check.h"
#include "cuda/gpu_plan.h"
#include "filecoin/circuits.h"
#include "host/host_std.h"

#define GIB ((uint64_t)1 << 30)
#define MIB ((uint64_t)1 << 20)

static const cuzk_host *host;
static host_std *host_memory;
static cuzk_error err;

static void open_host(void) {
    REQUIRE(host_std_new(0, 0, &host_memory, &err) == CUZK_OK);
    host = host_std_host(host_memory);
}
static void close_host(void) {
    CHECK_U64(host_std_used(host_memory), 0);
    host_std_free(host_memory);
}
static const char *const circuits[] = {"porep-2k",   "porep-512m",  "porep-32g", "porep-64g",
                                       "winning-2k", "winning-32g", "window-2k", "window-32g",
                                       "window-64g", "snap-2k",     "snap-32g"};

static gpu_limits limits_of(executor_effort effort) {
    return (gpu_limits){132, cuzk_gpu_tuning_for(90), effort};
}

static void shape_of(const char *name, gpu_shape *shape) {
    circuit_id id;
    filecoin_circuit *circuit = NULL;
    r1cs *r = NULL;
    cuzk_eval_image image;
    CHECK_OK(circuit_id_parse(name, &id, &err));
    CHECK_OK(filecoin_circuit_new(host, &id, &circuit, &err));
    CHECK_OK(r1cs_record(host, filecoin_circuit_cs(circuit), &r, &err));
    REQUIRE(r != NULL);
    CHECK_OK(cuzk_eval_image_layout(&image, r, &err));
    gpu_shape_of(shape, r, &image);
    snprintf(shape->name, sizeof shape->name, "%s", name);
    r1cs_free(host, r);
    filecoin_circuit_free(host, circuit);
}

/* Regions lie one behind the other inside the arena. */
static void check_regions(const gpu_plan *p) {
    gpu_region r[64];
    int n = 0;
    r[n++] = p->image;
    r[n++] = p->ntt_tables;
    r[n++] = p->bad;
    for (int d = 0; d < GPU_DENSITIES; d++) {
        r[n++] = p->maps[d];
        r[n++] = p->ranks[d];
        r[n++] = p->index[d];
        r[n++] = p->from[d];
    }
    for (int s = 0; s < CUZK_GPU_SLOTS; s++) {
        r[n++] = p->bits[s];
        r[n++] = p->values[s];
        r[n++] = p->results[s];
        r[n++] = p->tile[s];
    }
    for (int q = 0; q < GPU_QUERIES; q++) {
        if (p->query[q].resident) r[n++] = p->query[q].points;
        r[n++] = p->query[q].fields;
    }
    r[n++] = p->work;
    if (p->overlapped) r[n++] = p->sums;
    CHECK(p->overlapped || (p->sums.at == p->work.at && p->sums.bytes == p->work.bytes));
    for (int i = 0; i < n; i++) {
        CHECK(r[i].at + r[i].bytes <= p->arena_bytes);
        CHECK(r[i].at % 256 == 0);
        for (int k = 0; k < i; k++)
            CHECK(r[i].bytes == 0 || r[k].bytes == 0 || r[i].at + r[i].bytes <= r[k].at ||
                  r[k].at + r[k].bytes <= r[i].at);
    }
    CHECK(p->used_bytes <= p->arena_bytes);
    const uint64_t vector = (uint64_t)sizeof(fr_t) << p->ntt.log2_n;
    CHECK(p->work.bytes >= (p->spill_bytes != 0 ? 2 : 3) * vector);
    CHECK(p->spill_bytes == 0 || p->spill_bytes == vector);
}

static bool has_fields(const gpu_plan *p) {
    for (gpu_query q = GPU_QUERY_L; q < GPU_QUERIES; q++)
        if (p->query[q].fields.bytes != 0) return true;
    return false;
}

/* Copies save additions, all of them are used, and no scratch is missing. */
static void check_copies(const gpu_plan *p, gpu_query q, uint64_t scalars) {
    const gpu_limits limits = limits_of(EXECUTOR_THOROUGH);
    const gpu_query_plan *query = &p->query[q];
    cuzk_msm_plan msm, plain;
    CHECK(query->resident && query->tiles == 1);
    CHECK_OK(cuzk_msm_plan_make(&msm, query->curve, scalars, query->copies, limits.sms,
                                limits.tuning, 0, &err));
    CHECK_OK(
        cuzk_msm_plan_make(&plain, query->curve, scalars, 1, limits.sms, limits.tuning, 0, &err));
    CHECK(msm.scratch_bytes <= gpu_scratch_bytes(p, q));
    CHECK_U64(msm.windows.copies, query->copies);
    CHECK(msm.cost < plain.cost);
}

/* What memory beyond the least is used for. */
static void check_extras(const gpu_plan *p, executor_effort effort) {
    const gpu_query_plan *h = &p->query[GPU_QUERY_H];
    const uint64_t rows = (uint64_t)1 << p->ntt.log2_n;
    CHECK(p->ntt_tables.bytes == p->ntt.table_bytes);
    CHECK((p->ntt.wide_kinds & ~(unsigned)CUZK_NTT_WIDE_QUOTIENT) == 0);
    const bool pairs = p->query[GPU_QUERY_L].pairs, fields = has_fields(p);
    CHECK((p->saved != 0) ==
          (p->overlapped || p->ntt.wide_kinds != 0 || h->copies > 1 || pairs || fields));
    CHECK(effort == EXECUTOR_THOROUGH || h->copies == 1);
    CHECK(effort != EXECUTOR_BRIEF || (!pairs && !fields));
    CHECK(!h->pairs && h->fields.bytes == 0);
    for (gpu_query q = GPU_QUERY_L; q < GPU_QUERIES; q++) {
        const gpu_query_plan *query = &p->query[q];
        const uint64_t point = CUZK_GPU_AFFINE_BYTES(query->curve);
        CHECK(query->pairs == pairs && (!pairs || (query->resident && query->tiles == 1)));
        if (query->resident)
            CHECK_U64(query->points.bytes,
                      (query->inputs + query->aux + (pairs ? (query->aux + 1) / 2 : 0)) * point);
        CHECK_U64(query->fields.bytes,
                  query->copies > 1 ? query->copies * query->scalars * point : 0);
        if (query->copies > 1) check_copies(p, q, query->scalars);
    }
    if (h->copies == 1) return;
    CHECK(p->h_reversed);
    CHECK_U64(h->points.bytes, h->copies * rows * CUZK_GPU_AFFINE_BYTES(CUZK_GPU_G1));
    check_copies(p, GPU_QUERY_H, rows);
}

/* The steps of a query cover its bases once; each step's sums fit into the scratch. */
static void check_steps(const gpu_plan *p, gpu_query q) {
    const gpu_limits limits = limits_of(EXECUTOR_THOROUGH);
    const gpu_query_plan *query = &p->query[q];
    uint64_t base = 0, first = 0;
    for (uint64_t k = 0; k < query->tiles; k++) {
        const gpu_step s = gpu_step_of(query, k);
        cuzk_subset_plan subset;
        CHECK_U64(s.base, base);
        CHECK_U64(s.first, first);
        CHECK_U64(s.first % 64, 0);
        CHECK_U64(s.bases, s.aux + (k == 0 ? query->inputs : 0));
        if (!query->resident)
            CHECK(s.bases * CUZK_GPU_AFFINE_BYTES(query->curve) <= p->tile[0].bytes);
        if (q != GPU_QUERY_H) {
            CHECK_OK(cuzk_subset_plan_make(&subset, query->curve, s.aux, s.aux, query->pairs,
                                           limits.sms, limits.tuning, &err));
            CHECK(subset.scratch_bytes <= gpu_scratch_bytes(p, q));
        }
        base += s.bases;
        first += s.aux;
    }
    CHECK_U64(base, query->inputs + query->aux);
    for (unsigned s = 0; q != GPU_QUERY_H && s < p->selections; s++) {
        const gpu_selection at = gpu_selection_at(p, q, s);
        const uint64_t end =
            s + 1 < p->selections ? gpu_selection_at(p, q, s + 1).bits : gpu_scratch_at(p, q);
        CHECK(at.bits >= p->sums.at && at.bits + (query->aux + 7) / 8 <= at.scalars);
        CHECK(at.scalars + query->scalars * sizeof(fr_t) <= end);
    }
    cuzk_msm_plan msm;
    uint64_t scalars = query->scalars;
    if (query->tiles > 1 && scalars > query->tile + query->inputs)
        scalars = query->tile + query->inputs;
    if (scalars != 0)
        CHECK_OK(cuzk_msm_plan_make(&msm, query->curve, scalars, query->copies, limits.sms,
                                    limits.tuning, (size_t)gpu_scratch_bytes(p, q), &err));
}

/* The same arena where loading is to be quicker. */
static void check_quicker(const gpu_shape *shape, uint64_t bytes, uint64_t saved) {
    for (int effort = EXECUTOR_NORMAL; effort >= EXECUTOR_BRIEF; effort--) {
        const gpu_limits limits = limits_of((executor_effort)effort);
        gpu_plan p;
        CHECK_OK(gpu_plan_make(&p, shape, bytes, &limits, &err));
        check_regions(&p);
        check_extras(&p, (executor_effort)effort);
        for (gpu_query q = 0; q < GPU_QUERIES; q++)
            check_steps(&p, q);
        CHECK(p.saved <= saved);
        saved = p.saved;
    }
}

TEST(every_circuit) {
    open_host();
    const gpu_limits limits = limits_of(EXECUTOR_THOROUGH);
    for (size_t c = 0; c < sizeof circuits / sizeof circuits[0]; c++) {
        gpu_shape shape;
        shape_of(circuits[c], &shape);
        uint64_t smallest = 0, three = 0, resident = 0, overlapped = 0, wide = 0, saved = 0,
                 fields = 0;
        char copies[256] = "";
        unsigned most_copies = 1;
        bool fitted = false;
        for (uint64_t gib = 6; gib <= 192; gib += gib < 16 ? 1 : gib < 64 ? 4 : 16) {
            gpu_plan p;
            const cuzk_status status = gpu_plan_make(&p, &shape, gib * GIB, &limits, &err);
            if (status != CUZK_OK) {
                unsigned long long needed = 0, available = 0;
                CHECK(!fitted); /* more memory never hurts */
                CHECK_U64(status, CUZK_ERR_DEVICE_MEMORY);
                CHECK(strstr(err.text, circuits[c]) != NULL);
                const char *numbers = strstr(err.text, " needs ");
                REQUIRE(numbers != NULL);
                CHECK_U64(sscanf(numbers,
                                 " needs %llu bytes of device memory at least, %llu are available",
                                 &needed, &available),
                          2);
                CHECK_U64(available, gib * GIB);
                CHECK(needed > available && needed < 64 * GIB);
                CHECK_OK(gpu_plan_make(&p, &shape, needed, &limits, &err));
                check_regions(&p);
                CHECK_STATUS(gpu_plan_make(&p, &shape, needed - 2 * MIB, &limits, &err),
                             CUZK_ERR_DEVICE_MEMORY);
                continue;
            }
            if (!fitted) smallest = gib;
            fitted = true;
            bool all = true;
            for (gpu_query q = 0; q < GPU_QUERIES; q++) {
                check_steps(&p, q);
                all = all && p.query[q].resident;
            }
            check_regions(&p);
            check_extras(&p, EXECUTOR_THOROUGH);
            if (all && resident == 0) resident = gib;
            if (p.spill_bytes == 0 && three == 0) three = gib;
            if (p.overlapped && overlapped == 0) overlapped = gib;
            if (p.ntt.wide_kinds != 0 && wide == 0) wide = gib;
            CHECK(all || (!p.overlapped && p.saved == 0));
            CHECK(all || resident == 0);
            CHECK(p.saved >= saved);
            saved = p.saved;
            if (p.query[GPU_QUERY_H].copies != most_copies) {
                most_copies = p.query[GPU_QUERY_H].copies;
                const size_t used = strlen(copies);
                snprintf(copies + used, sizeof copies - used, " %u from %llu", most_copies,
                         (unsigned long long)gib);
            }
            if (has_fields(&p) && fields == 0) fields = gib;
            check_quicker(&shape, gib * GIB, saved);
        }
        CHECK(fitted);
        printf(
            "  %-12s 2^%u: from %llu GiB, without spilling from %llu, all points resident from "
            "%llu, wide tables from %llu, overlapped from %llu, copies of FIELD bases from %llu; "
            "copies of h:%s\n",
            circuits[c], shape.log2_domain, (unsigned long long)smallest, (unsigned long long)three,
            (unsigned long long)resident, (unsigned long long)wide, (unsigned long long)overlapped,
            (unsigned long long)fields, copies);
    }
    close_host();
}

/* Bases of a query's inputs and FIELD variables by the million; window PoSt has too many. */
TEST(fields) {
    open_host();
    static const struct {
        const char *circuit;
        uint64_t bytes;
        executor_effort effort;
        unsigned h;
        bool fields, pairs;
    } cases[] = {
        {"porep-32g", 150110000000u, EXECUTOR_THOROUGH, 3, true, true},
        {"porep-32g", 150110000000u, EXECUTOR_NORMAL, 1, true, true},
        {"porep-32g", 150110000000u, EXECUTOR_BRIEF, 1, false, false},
        {"porep-32g", 85000000000u, EXECUTOR_NORMAL, 1, true, false},
        {"window-32g", 150110000000u, EXECUTOR_NORMAL, 1, false, false},
        {"snap-32g", 150110000000u, EXECUTOR_THOROUGH, 4, true, true},
    };
    gpu_shape shape;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const gpu_limits limits = limits_of(cases[i].effort);
        gpu_plan p;
        if (i == 0 || strcmp(cases[i].circuit, cases[i - 1].circuit) != 0)
            shape_of(cases[i].circuit, &shape);
        CHECK_OK(gpu_plan_make(&p, &shape, cases[i].bytes, &limits, &err));
        check_regions(&p);
        check_extras(&p, cases[i].effort);
        printf("  %s, %.2f GB, effort %d: used %.2f GB; copies of h %u, of FIELD bases %u, %u, %u, "
               "%u, pairs %d, overlapped %d, wide %u, saves %.1f M\n",
               cases[i].circuit, 1e-9 * (double)cases[i].bytes, (int)cases[i].effort,
               1e-9 * (double)p.used_bytes, p.query[GPU_QUERY_H].copies,
               p.query[GPU_QUERY_L].copies, p.query[GPU_QUERY_A].copies,
               p.query[GPU_QUERY_B_G1].copies, p.query[GPU_QUERY_B_G2].copies,
               (int)p.query[GPU_QUERY_L].pairs, (int)p.overlapped, p.ntt.wide_kinds,
               1e-6 * (double)p.saved);
        CHECK_U64(p.query[GPU_QUERY_H].copies, cases[i].h);
        CHECK_U64(has_fields(&p), cases[i].fields);
        CHECK_U64(p.query[GPU_QUERY_L].pairs, cases[i].pairs);
    }
    close_host();
}

/* Tiny arenas: an error with numbers, and a plan exactly from those on. */
TEST(least_memory) {
    open_host();
    const gpu_limits limits = limits_of(EXECUTOR_THOROUGH);
    gpu_shape shape;
    gpu_plan p;
    shape_of("winning-2k", &shape);
    unsigned long long needed = 0, available = 0;
    CHECK_U64(gpu_plan_make(&p, &shape, 1 << 20, &limits, &err), CUZK_ERR_DEVICE_MEMORY);
    const char *numbers = strstr(err.text, " needs ");
    REQUIRE(numbers != NULL);
    CHECK_U64(
        sscanf(numbers, " needs %llu bytes of device memory at least, %llu", &needed, &available),
        2);
    CHECK_U64(available, 1 << 20);
    printf("  %s: %llu bytes\n", shape.name, needed);
    CHECK_OK(gpu_plan_make(&p, &shape, needed, &limits, &err));
    check_regions(&p);
    for (gpu_query q = 0; q < GPU_QUERIES; q++)
        check_steps(&p, q);
    close_host();
}

TEST_MAIN(RUN(every_circuit), RUN(fields), RUN(least_memory))
