/* The CPU executor's plan against what it takes from its host. */
#include "toy_circuit.h"

/* Bytes at most while one proof is made, beyond those held before load. */
static uint64_t measured(const toy_bench *b, unsigned threads, uint64_t *planned) {
    cuzk_error err;
    host_std *std = NULL;
    executor *ex = NULL;
    witness w;
    groth16_sums sums;
    toy t;
    uint64_t device = 1;
    toy_init(&t, 5, b->t.rounds);
    CHECK_OK(witness_new(b->host, b->circuit, &w, &err));
    CHECK_OK(r1cs_witness(b->host, b->circuit, &t.circuit, &w, &err));
    CHECK_OK(host_std_new(threads, 0, &std, &err));
    CHECK_OK(executor_cpu_open(host_std_host(std), &ex, &err));
    CHECK_OK(ex->ops->plan(ex, &b->key, &device, planned, &err));
    CHECK_U64(device, 0);
    const uint64_t before = host_std_used(std);
    CHECK_OK(ex->ops->load(ex, &b->key, &err));
    CHECK_OK(ex->ops->begin(ex, 0, &w, &err));
    CHECK_OK(ex->ops->finish(ex, 0, &sums, NULL, &err));
    const uint64_t peak = host_std_peak(std) - before;
    ex->ops->close(ex);
    CHECK_U64(host_std_used(std), 0);
    host_std_free(std);
    witness_free(b->host, &w);
    return peak;
}

static void check_plan(uint64_t rounds) {
    toy_bench b;
    toy_bench_open(&b, rounds);
    for (unsigned threads = 1; threads <= 4; threads *= 2) {
        uint64_t planned = 0;
        const uint64_t peak = measured(&b, threads, &planned);
        printf("  2^%u, %u threads: %.2f MB planned, %.2f MB taken\n", b.circuit->log2_domain,
               threads, 1e-6 * (double)planned, 1e-6 * (double)peak);
        CHECK(peak <= planned);
        CHECK(planned <= peak + peak / 20 + 4096);
    }
    toy_bench_close(&b);
}

TEST(small) {
    check_plan(6);
}
TEST(medium) {
    check_plan(300);
}
TEST(large) {
    check_plan(1500);
}

TEST_MAIN(RUN(small), RUN(medium), RUN(large))
