/* When a device prepares a key thoroughly: after so many partitions, never in front of urgent work,
 * and no longer than until urgent work comes. */
#include "check.h"
#include "sim.h"

static sim_world world;
static engine_config config;
static cuzk_error err;
static engine *e;

#define POREP 0
#define WINNING 1
#define PER_JOB 10
#define AFTER 160
#define JOBS (AFTER / PER_JOB) /* so many make it pay */

static void begin(unsigned thorough_us) {
    sim_init(&world);
    const sim_shape shape = {.job_bytes = 1000,
                             .witness_bytes = SIM_MIB,
                             .key_bytes = 10 * SIM_MIB,
                             .host_bytes = SIM_MIB,
                             .vram_full = SIM_GIB,
                             .vram_thorough = SIM_GIB,
                             .compute_us = 300,
                             .thorough_us = thorough_us};
    world.shapes[POREP] = world.shapes[WINNING] = shape;
    world.shapes[POREP].circuit = "porep";
    world.shapes[POREP].partitions = PER_JOB;
    world.shapes[WINNING].circuit = "winning";
    world.shapes[WINNING].partitions = 1;
    sim_config(&world, SIM_GIB, &config);
    config.thorough_after = AFTER;
}

static void start(void) {
    CHECK_OK(engine_open(&config, &e, &err));
    REQUIRE(e != NULL);
}

static void end(void) {
    engine_close(e);
    sim_destroy(&world);
}

static void submit(uint64_t id, uint32_t shape, engine_priority priority) {
    CHECK_STATUS(sim_submit(e, id, shape, 0, priority), CUZK_OK);
}

static void finish(uint64_t id, uint32_t shape) {
    CHECK(sim_await(e, id, world.shapes[shape].partitions, NULL) == ENGINE_JOB_COMPLETED);
}

/* PoRep jobs first .. first + n. */
static void submit_poreps(uint64_t first, unsigned n) {
    for (uint64_t id = first; id < first + n; id++)
        submit(id, POREP, ENGINE_PRIORITY_NORMAL);
}
static void finish_poreps(uint64_t first, unsigned n) {
    for (uint64_t id = first; id < first + n; id++)
        finish(id, POREP);
}

static unsigned read_counter(const unsigned *counter) {
    pthread_mutex_lock(&world.lock);
    const unsigned n = *counter;
    pthread_mutex_unlock(&world.lock);
    return n;
}

/* Until the counter is n; false after 10 s. */
static bool comes_to(const unsigned *counter, unsigned n) {
    for (unsigned i = 0; i < 10000 && read_counter(counter) < n; i++)
        sim_sleep_us(1000);
    return read_counter(counter) == n;
}

static uint64_t failures(void) {
    engine_snapshot *s;
    CHECK_OK(engine_snapshot_take(e, &s, &err));
    const uint64_t n = s->devices[0].failures;
    engine_snapshot_free(s);
    return n;
}

TEST(thorough_after_so_many_partitions) {
    begin(1000);
    sim_add(&world, &config, &(sim_device){0});
    start();
    submit_poreps(1, 2 * JOBS + 1);
    finish_poreps(1, 2 * JOBS + 1);
    CHECK_U64(read_counter(&world.thorough_loads), 1); /* once: the second time nothing is left */
    CHECK_U64(world.device_loads, 2);
    CHECK(world.thorough_at >= AFTER && world.thorough_at <= AFTER + 1);
    end();
}

TEST(never_unless_asked_for) {
    begin(1000);
    config.thorough_after = 0;
    sim_add(&world, &config, &(sim_device){0});
    start();
    submit_poreps(1, 2 * JOBS);
    finish_poreps(1, 2 * JOBS);
    sim_sleep_us(20000);
    CHECK_U64(read_counter(&world.thorough_begun), 0);
    CHECK_U64(world.device_loads, 1);
    end();
}

TEST(not_before_and_then_also_when_idle) {
    begin(1000);
    sim_add(&world, &config, &(sim_device){0});
    start();
    submit_poreps(1, JOBS - 1);
    finish_poreps(1, JOBS - 1);
    sim_sleep_us(20000);
    CHECK_U64(read_counter(&world.thorough_begun), 0);
    submit_poreps(100, 1);
    finish_poreps(100, 1);
    CHECK(comes_to(&world.thorough_loads, 1)); /* no job waits */
    CHECK_U64(world.thorough_at, AFTER);
    end();
}

TEST(another_circuit_starts_the_count_anew) {
    begin(1000);
    sim_add(&world, &config, &(sim_device){0});
    start();
    for (uint64_t round = 0; round < 3; round++) {
        submit_poreps(1 + 100 * round, JOBS - 1);
        finish_poreps(1 + 100 * round, JOBS - 1);
        submit(99 + 100 * round, WINNING, ENGINE_PRIORITY_CRITICAL);
        finish(99 + 100 * round, WINNING);
    }
    CHECK_U64(read_counter(&world.thorough_begun), 0);
    CHECK_U64(world.device_loads, 6);
    end();
}

/* A device whose memory allows nothing more, as a CPU. */
TEST(never_where_nothing_more_would_be_prepared) {
    begin(1000);
    sim_add(&world, &config, &(sim_device){.vram = SIM_GIB});
    start();
    submit_poreps(1, 2 * JOBS);
    finish_poreps(1, 2 * JOBS);
    sim_sleep_us(20000);
    CHECK_U64(read_counter(&world.thorough_begun), 0);
    CHECK_U64(world.device_loads, 1);
    end();
}

/* Its witness takes so long that the device comes to the limit meanwhile. */
TEST(not_while_urgent_work_waits) {
    begin(1000);
    world.shapes[WINNING].witness_us = 1500000;
    sim_add(&world, &config, &(sim_device){0});
    start();
    submit_poreps(1, JOBS - 1);
    finish_poreps(1, JOBS - 1);
    submit(1000, WINNING, ENGINE_PRIORITY_CRITICAL);
    REQUIRE(sim_reached(e, 1000, 1, ENGINE_PARTITION_WITNESS));
    submit_poreps(100, 2);
    finish_poreps(100, 2);
    CHECK(sim_first(&world, 1000) < 0); /* the device was free for more than a boundary */
    CHECK_U64(read_counter(&world.thorough_begun), 0);
    finish(1000, WINNING);
    CHECK_U64(read_counter(&world.thorough_begun), 0);
    end();
}

TEST(urgent_work_ends_it) {
    begin(20000000);
    sim_add(&world, &config, &(sim_device){0});
    start();
    bool already;
    uint64_t ms;
    CHECK_OK(engine_preload(e, "winning", &already, &ms, &err));
    submit_poreps(1, JOBS + 2);
    CHECK(comes_to(&world.thorough_begun, 1));
    const uint64_t from = sim_now_us();
    submit(1000, WINNING, ENGINE_PRIORITY_CRITICAL);
    finish(1000, WINNING);
    CHECK(sim_now_us() - from < 5000000);
    finish_poreps(1, JOBS + 2);
    CHECK_U64(read_counter(&world.thorough_given_up), 1);
    CHECK_U64(read_counter(&world.thorough_loads), 0);
    CHECK_U64(failures(), 0);
    end();
}

TEST(equals_do_not_end_it) {
    begin(200000);
    sim_add(&world, &config, &(sim_device){0});
    start();
    submit_poreps(1, JOBS + 2);
    CHECK(comes_to(&world.thorough_begun, 1));
    submit(1000, WINNING, ENGINE_PRIORITY_NORMAL);
    finish(1000, WINNING);
    finish_poreps(1, JOBS + 2);
    CHECK_U64(read_counter(&world.thorough_loads), 1);
    CHECK_U64(read_counter(&world.thorough_given_up), 0);
    end();
}

TEST(one_device_at_a_time) {
    begin(50000);
    for (int i = 0; i < 3; i++)
        sim_add(&world, &config, &(sim_device){0});
    start();
    submit_poreps(1, 5 * JOBS);
    finish_poreps(1, 5 * JOBS);
    CHECK(read_counter(&world.thorough_loads) >= 2);
    CHECK_U64(world.thorough_most, 1);
    end();
}

TEST(a_failure_counts_against_the_device_and_loses_nothing) {
    begin(1000);
    sim_add(&world, &config, &(sim_device){.fail_thorough_load = true});
    start();
    submit_poreps(1, JOBS + 2);
    finish_poreps(1, JOBS + 2);
    CHECK_U64(failures(), 1);
    CHECK_U64(world.device_loads, 2); /* as it was, twice */
    end();
}

/* The turn of one that hangs in the attempt passes on; which device has it first is chance. */
static void prepare_beside_hung_ones(void) {
    begin(1000);
    world.shapes[POREP].compute_us = 3000;
    config.watchdog_ms = 200;
    config.thorough_after = 5;
    sim_add(&world, &config, &(sim_device){.hang_thorough_load = true});
    sim_add(&world, &config, &(sim_device){.hang_thorough_load = true});
    sim_add(&world, &config, &(sim_device){0});
    start();
    for (uint64_t id = 1; id < 200 && read_counter(&world.thorough_loads) == 0; id++) {
        submit_poreps(id, 1);
        finish_poreps(id, 1);
    }
    CHECK_U64(read_counter(&world.thorough_loads), 1);
    sim_release_hung(&world);
    end();
}
TEST(a_hung_device_does_not_keep_its_turn) {
    for (int i = 0; i < 6; i++)
        prepare_beside_hung_ones();
}

TEST(closing_ends_it) {
    begin(20000000);
    sim_add(&world, &config, &(sim_device){0});
    start();
    submit_poreps(1, JOBS);
    CHECK(comes_to(&world.thorough_begun, 1));
    const uint64_t from = sim_now_us();
    end();
    CHECK(sim_now_us() - from < 5000000);
}

TEST_MAIN(RUN(thorough_after_so_many_partitions), RUN(never_unless_asked_for),
          RUN(not_before_and_then_also_when_idle), RUN(another_circuit_starts_the_count_anew),
          RUN(never_where_nothing_more_would_be_prepared), RUN(not_while_urgent_work_waits),
          RUN(urgent_work_ends_it), RUN(equals_do_not_end_it), RUN(one_device_at_a_time),
          RUN(a_failure_counts_against_the_device_and_loses_nothing),
          RUN(a_hung_device_does_not_keep_its_turn), RUN(closing_ends_it))
