/* The device's form of a circuit against the term-by-term definition; packing of bits; how a query
 * finds its part of a witness. All on the CPU. */
#include "check.h"
#include "cuda/gpu_lists.h"
#include "device_eval.h"
#include "filecoin/circuits.h"
#include "host/host_std.h"

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

static r1cs *record(const char *name) {
    circuit_id id;
    filecoin_circuit *circuit = NULL;
    r1cs *r = NULL;
    CHECK_OK(circuit_id_parse(name, &id, &err));
    CHECK_OK(filecoin_circuit_new(host, &id, &circuit, &err));
    CHECK_OK(r1cs_record(host, filecoin_circuit_cs(circuit), &r, &err));
    REQUIRE(r != NULL);
    filecoin_circuit_free(host, circuit);
    return r;
}

/* Any values: evaluation does not need a satisfied circuit. */
static void random_witness(const r1cs *r, witness *w) {
    CHECK_OK(witness_new(host, r, w, &err));
    for (uint64_t i = 0; i < (r->aux + 63) / 64; i++) {
        const uint64_t last = r->aux % 64;
        w->bits[i] = check_random_runs() & ~r->field_map[i];
        if (i == r->aux / 64 && last != 0) w->bits[i] &= ((uint64_t)1 << last) - 1;
    }
    for (uint64_t i = 0; i < r->fields + r->inputs; i++) {
        uint8_t wide[64];
        check_random_bytes(wide, sizeof wide);
        fr_from_wide(i < r->fields ? &w->fields[i] : &w->inputs[i - r->fields], wide);
    }
    w->inputs[0] = fr_one();
}

static fr_t *device_values(const r1cs *r, const witness *w) {
    fr_t *values = malloc((r->inputs + r->fields) * sizeof(fr_t));
    memcpy(values, w->inputs, r->inputs * sizeof(fr_t));
    memcpy(values + r->inputs, w->fields, r->fields * sizeof(fr_t));
    return values;
}

static void check_circuit(const char *name) {
    witness w;
    cuzk_eval_image image;
    r1cs *r = record(name);
    random_witness(r, &w);
    fr_t *values = device_values(r, &w);
    CHECK_OK(cuzk_eval_image_layout(&image, r, &err));
    void *memory = aligned_alloc(64, image.bytes);
    cuzk_eval_image_fill(&image, r, memory);
    fr_t *want = malloc(r->rows * sizeof(fr_t)), *got = malloc(r->rows * sizeof(fr_t));
    uint64_t long_rows = 0;
    for (int m = 0; m < 2; m++) {
        memset(got, 0xff, r->rows * sizeof(fr_t));
        CHECK_OK(r1cs_eval(host, r, m, &w, 0, r->rows, want, &err));
        device_eval(&image, memory, m, w.bits, values, got);
        CHECK_MEM(got, want, r->rows * sizeof(fr_t));
        for (unsigned i = 0; i < image.n_blocks; i++)
            long_rows += image.blocks[i].m[m].n_long * image.blocks[i].count;
    }
    printf("  %s: %llu rows, %llu long ones, image %.1f MB\n", name, (unsigned long long)r->rows,
           (unsigned long long)long_rows, 1e-6 * (double)image.bytes);
    free(want);
    free(got);
    free(memory);
    free(values);
    witness_free(host, &w);
    r1cs_free(host, r);
}

TEST(rows) {
    open_host();
    check_circuit("winning-2k");
    check_circuit("window-2k");
    check_circuit("porep-2k");
    check_circuit("snap-2k");
    close_host();
}

TEST(extract) {
    CHECK_U64(device_bits_extract(UINT32_MAX, UINT32_MAX), UINT32_MAX);
    CHECK_U64(device_bits_extract(UINT32_MAX, 0x80000001u), 3);
    CHECK_U64(device_bits_extract(0x80000000u, 0x80000001u), 2);
    for (int i = 0; i < 1000; i++) {
        const uint32_t w = (uint32_t)check_random_runs(), mask = (uint32_t)check_random_runs();
        uint32_t want = 0, n = 0;
        for (unsigned k = 0; k < 32; k++)
            if ((mask >> k & 1) != 0) want |= (w >> k & 1) << n++;
        CHECK_U64(device_bits_extract(w, mask), want);
    }
}

static bool map_bit(const uint64_t *map, uint64_t i) {
    return map == NULL || (map[i / 64] >> (i % 64) & 1) != 0;
}

/* Bases are counted one by one: the definition. */
static void check_lists(const r1cs *r, const gpu_plan *plan, gpu_density d) {
    const uint64_t *const maps[] = {NULL, r->a_aux_map, r->b_aux_map};
    gpu_lists l;
    CHECK_OK(gpu_lists_new(host, r, plan, d, &l, &err));
    uint64_t n = 0, base = 0, value = r->inputs;
    for (uint64_t i = 0; d != GPU_DENSITY_L && i < r->inputs; i++) {
        if (d == GPU_DENSITY_B && !map_bit(r->b_input_map, i)) continue;
        CHECK_U64(l.index[n], base++);
        CHECK_U64(l.from[n++], i);
    }
    const uint64_t inputs = base;
    for (uint64_t i = 0; i < r->aux; i++) {
        const bool dense = map_bit(maps[d], i), field = map_bit(r->field_map, i);
        if (i % 32 == 0 && maps[d] != NULL) CHECK_U64(l.rank[i / 32], base - inputs);
        if (dense && field) {
            CHECK_U64(l.index[n], base);
            CHECK_U64(l.from[n++], value);
        }
        base += dense;
        value += field;
    }
    CHECK_U64(l.n, n);
    const gpu_range all = gpu_lists_range(&l, 0, base), none = gpu_lists_range(&l, base, 5);
    CHECK_U64(all.first, 0);
    CHECK_U64(all.n, n);
    CHECK_U64(none.n, 0);
    uint64_t next = 0;
    for (uint64_t at = 0; at < base; at += 4097) {
        const gpu_range part = gpu_lists_range(&l, at, 4097);
        CHECK_U64(part.first, next);
        next += part.n;
    }
    CHECK_U64(next, n);
    gpu_lists_free(host, &l);
}

TEST(lists) {
    open_host();
    r1cs *r = record("winning-2k");
    cuzk_eval_image image;
    gpu_shape shape;
    gpu_plan plan;
    const gpu_limits limits = {132, cuzk_gpu_tuning_for(90), EXECUTOR_BRIEF};
    CHECK_OK(cuzk_eval_image_layout(&image, r, &err));
    gpu_shape_of(&shape, r, &image);
    CHECK_OK(gpu_plan_make(&plan, &shape, (uint64_t)8 << 30, &limits, &err));
    for (gpu_density d = 0; d < GPU_DENSITIES; d++)
        check_lists(r, &plan, d);
    r1cs_free(host, r);
    close_host();
}

TEST_MAIN(RUN(rows), RUN(extract), RUN(lists))
