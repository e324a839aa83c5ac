/* Devices that lie, fail, run out of memory, hang or die: never a wrong proof, the story told. */
#include "check.h"
#include "sim.h"

static sim_world world;
static engine_config config;
static cuzk_error err;
static engine *e;

static void begin(void) {
    sim_init(&world);
    world.shapes[0] = (sim_shape){.circuit = "porep",
                                  .partitions = 6,
                                  .job_bytes = 1000,
                                  .witness_bytes = 1000,
                                  .key_bytes = 10000,
                                  .host_bytes = 1000,
                                  .vram_min = 4 * SIM_GIB,
                                  .vram_full = 12 * SIM_GIB,
                                  .compute_us = 3000};
    world.shapes[1] = world.shapes[0];
    world.shapes[1].circuit = "huge";
    world.shapes[1].vram_min = 40 * SIM_GIB;
    world.shapes[1].vram_full = 60 * SIM_GIB;
    sim_config(&world, 64 * SIM_MIB, &config);
}

static void device(sim_device d) {
    sim_add(&world, &config, &d);
}

static void start(void) {
    CHECK_OK(engine_open(&config, &e, &err));
    REQUIRE(e != NULL);
}

static void end(void) {
    engine_close(e);
    sim_destroy(&world);
}

static engine_job_state run(uint64_t id, uint32_t shape, uint32_t flags, char devices[1024]) {
    CHECK_STATUS(sim_submit(e, id, shape, flags, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    return sim_await(e, id, world.shapes[shape].partitions, devices);
}

static void story(uint64_t id, char error[1024]) {
    char job_id[32];
    engine_result r;
    sprintf(job_id, "job-%d", (int)id);
    CHECK_OK(engine_await(e, job_id, 20000, NULL, &r, &err));
    memcpy(error, r.error, 1024);
    engine_result_free(&r);
}

static engine_device_view view(unsigned i) {
    engine_snapshot *s;
    CHECK_OK(engine_snapshot_take(e, &s, &err));
    const engine_device_view v = s->devices[i];
    engine_snapshot_free(s);
    return v;
}

TEST(a_lying_device_is_caught_and_quarantined) {
    begin();
    device((sim_device){.wrong_from = 1, .wrong_to = 1000000});
    device((sim_device){.name = "GOOD"});
    start();
    char devices[1024];
    uint64_t jobs = 0;
    while (jobs < 3 || (!view(0).quarantined && jobs < 50)) {
        CHECK(run(++jobs, 0, 0, devices) == ENGINE_JOB_COMPLETED);
        CHECK(strcmp(devices, "GOOD #1") == 0);
    }
    const engine_device_view liar = view(0), good = view(1);
    CHECK(liar.quarantined && liar.failures >= 3 && liar.proved == 0);
    CHECK(!good.quarantined && good.failures == 0 && good.proved == 6 * jobs);
    end();
}

TEST(one_wrong_answer_costs_one_partition) {
    begin();
    device((sim_device){.wrong_from = 3, .wrong_to = 3});
    start();
    CHECK(run(1, 0, 0, NULL) == ENGINE_JOB_COMPLETED);
    CHECK_U64(world.finishes, 7);
    const engine_device_view v = view(0);
    CHECK(!v.quarantined && v.failures == 1 && v.failures_in_row == 0);
    end();
}

TEST(a_failed_call_is_redone_elsewhere) {
    begin();
    device((sim_device){.slots = 1, .fail_from = 2, .fail_to = 2, .begin_oom_at = 1});
    device((sim_device){.name = "OTHER"});
    start();
    char devices[1024];
    CHECK(run(1, 0, 0, devices) == ENGINE_JOB_COMPLETED);
    CHECK(strstr(devices, "SIM #0") != NULL && strstr(devices, "OTHER #1") != NULL);
    CHECK_U64(world.finishes, 6);
    const engine_device_view v = view(0);
    CHECK_U64(v.failures, 2);
    CHECK(!v.quarantined);
    end();
}

TEST(policy_cpu_names_the_cpu) {
    begin();
    device((sim_device){.fail_from = 1, .fail_to = 1000000});
    device((sim_device){.name = "CPU", .kind = "cpu", .fallback = true, .slots = 1});
    start();
    char devices[1024], error[1024];
    CHECK(run(1, 0, 0, devices) == ENGINE_JOB_COMPLETED);
    CHECK(strcmp(devices, "CPU #1") == 0);
    story(1, error);
    CHECK(strstr(error, "SIM #0") != NULL); /* what was tried before stays in the story */
    CHECK(view(0).quarantined);
    end();
}

TEST(policy_cpu_leaves_a_good_device_its_work) {
    begin();
    device((sim_device){0});
    device((sim_device){.name = "CPU", .kind = "cpu", .fallback = true});
    start();
    char devices[1024];
    CHECK(run(1, 0, 0, devices) == ENGINE_JOB_COMPLETED);
    CHECK(strcmp(devices, "SIM #0") == 0);
    CHECK_U64(view(1).proved, 0);
    end();
}

TEST(policy_fail_never_uses_the_cpu) {
    begin();
    config.on_failure = ENGINE_ON_FAILURE_FAIL;
    device((sim_device){.slots = 1, .fail_from = 1, .fail_to = 1000000});
    device((sim_device){.name = "CPU", .kind = "cpu", .fallback = true});
    start();
    char error[1024];
    CHECK(run(1, 0, 0, NULL) == ENGINE_JOB_FAILED);
    story(1, error);
    CHECK(strstr(error, "SIM #0: device: simulated: call 1 fails") != NULL);
    CHECK(strstr(error, "no device is left to try") != NULL ||
          strstr(error, "every device is quarantined") != NULL);
    CHECK_U64(view(1).proved, 0);
    /* Quarantined: the next job fails at once instead of waiting for ever. */
    while (!view(0).quarantined)
        (void)run(100 + view(0).failures, 0, 0, NULL);
    CHECK(run(2, 0, 0, NULL) == ENGINE_JOB_FAILED);
    story(2, error);
    CHECK(strcmp(error, "every device is quarantined") == 0);
    end();
}

TEST(a_cpu_alone_is_no_fallback) {
    begin();
    config.on_failure = ENGINE_ON_FAILURE_FAIL;
    device((sim_device){.name = "CPU", .kind = "cpu", .fallback = true});
    start();
    CHECK(run(1, 0, 0, NULL) == ENGINE_JOB_COMPLETED);
    end();
}

/* A request that no device can prove says nothing against the devices. */
TEST(unprovable_jobs_quarantine_nobody) {
    begin();
    device((sim_device){0});
    device((sim_device){0});
    start();
    for (uint64_t id = 1; id <= 8; id++)
        CHECK(run(id, 0, SIM_UNPROVABLE, NULL) == ENGINE_JOB_FAILED);
    CHECK(!view(0).quarantined && !view(1).quarantined);
    CHECK(run(9, 0, 0, NULL) == ENGINE_JOB_COMPLETED);
    end();
}

TEST(a_device_that_dies_in_mid_job) {
    begin();
    device((sim_device){.die_from = 3});
    device((sim_device){.name = "OTHER"});
    start();
    for (uint64_t id = 1; id <= 3; id++)
        CHECK(run(id, 0, 0, NULL) == ENGINE_JOB_COMPLETED);
    CHECK(view(0).quarantined);
    CHECK(view(0).failures <= 2); /* what was on it, and nothing after that */
    end();
}

TEST(a_circuit_too_large_for_one_device) {
    begin();
    device((sim_device){.vram = 16 * SIM_GIB});
    device((sim_device){.name = "BIG", .vram = 80 * SIM_GIB});
    start();
    char devices[1024];
    for (uint64_t id = 1; id <= 5; id++) {
        CHECK(run(id, 1, 0, devices) == ENGINE_JOB_COMPLETED);
        CHECK(strcmp(devices, "BIG #1") == 0);
    }
    CHECK(!view(0).quarantined && view(0).failures == 0);
    CHECK(run(6, 0, 0, NULL) == ENGINE_JOB_COMPLETED);
    end();
}

TEST(a_circuit_too_large_for_all_names_the_bytes) {
    begin();
    device((sim_device){.vram = 16 * SIM_GIB});
    start();
    char error[1024];
    CHECK(run(1, 1, 0, NULL) == ENGINE_JOB_FAILED);
    story(1, error);
    CHECK(strstr(error, "huge needs 42949672960 bytes of VRAM") != NULL);
    CHECK(!view(0).quarantined);
    end();
}

TEST(a_load_that_fails) {
    begin();
    device((sim_device){.fail_load = true});
    device((sim_device){.name = "OTHER"});
    start();
    for (uint64_t id = 1; id <= 4; id++)
        CHECK(run(id, 0, 0, NULL) == ENGINE_JOB_COMPLETED);
    CHECK(view(0).failures >= 1);
    end();
}

/* The device hangs, its partition moves; the late answer is dropped, its witness stays alive until
 * then. */
static void hang_test(sim_device hanging, bool release) {
    begin();
    config.watchdog_ms = 400;
    device(hanging);
    device((sim_device){.name = "OTHER"});
    start();
    for (uint64_t id = 1; id <= 3; id++)
        CHECK_STATUS(sim_submit(e, id, 0, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    for (uint64_t id = 1; id <= 3; id++)
        CHECK(sim_await(e, id, 6, NULL) == ENGINE_JOB_COMPLETED);
    CHECK(run(4, 0, 0, NULL) == ENGINE_JOB_COMPLETED);
    for (int i = 0; i < 5000 && !view(0).quarantined; i++)
        sim_sleep_us(1000);
    const engine_device_view v = view(0);
    CHECK(v.quarantined && v.failures == 1);
    CHECK_U64(view(1).failures, 0);
    if (release) {
        sim_release_hung(&world);
        for (int i = 0; i < 2000 && view(0).busy; i++)
            sim_sleep_us(1000);
        CHECK(!view(0).busy);
        bool was;
        uint64_t freed;
        engine_snapshot *s;
        CHECK_OK(engine_evict(e, "porep", &was, &freed, &err));
        CHECK_OK(engine_snapshot_take(e, &s, &err));
        CHECK_U64(s->memory_used, 0); /* the late witness was given back, too */
        engine_snapshot_free(s);
        end();
        return;
    }
    /* Closing does not wait for it for ever; what it holds is left to the process. */
    const double from = check_seconds();
    engine_close(e);
    CHECK(check_seconds() - from < 8);
    sim_release_hung(&world);
    sim_sleep_us(200000);
    CHECK_U64(world.over_budget, 0);
}

TEST(a_hung_device_is_left_behind) {
    hang_test((sim_device){.hang_at = 2}, true);
}
TEST(a_device_that_hangs_while_loading) {
    hang_test((sim_device){.hang_load = true}, true);
}

TEST(a_hung_device_alone_fails_the_job) {
    begin();
    config.watchdog_ms = 400;
    device((sim_device){.hang_at = 1});
    start();
    char error[1024];
    CHECK(run(1, 0, 0, NULL) == ENGINE_JOB_FAILED);
    story(1, error);
    CHECK(strstr(error, "no progress for") != NULL);
    sim_release_hung(&world);
    end();
}

TEST(closing_with_a_hung_device) {
    hang_test((sim_device){.hang_at = 2, .slots = 2}, false);
}

TEST_MAIN(RUN(a_lying_device_is_caught_and_quarantined), RUN(one_wrong_answer_costs_one_partition),
          RUN(a_failed_call_is_redone_elsewhere), RUN(policy_cpu_names_the_cpu),
          RUN(policy_cpu_leaves_a_good_device_its_work), RUN(policy_fail_never_uses_the_cpu),
          RUN(a_cpu_alone_is_no_fallback), RUN(unprovable_jobs_quarantine_nobody),
          RUN(a_device_that_dies_in_mid_job), RUN(a_circuit_too_large_for_one_device),
          RUN(a_circuit_too_large_for_all_names_the_bytes), RUN(a_load_that_fails),
          RUN(a_hung_device_is_left_behind), RUN(a_device_that_hangs_while_loading),
          RUN(a_hung_device_alone_fails_the_job), RUN(closing_with_a_hung_device))
