/* The life of a job: submitted once, joined, cancelled, timed out, expired, drained, taken up
 * again. */
#include "check.h"
#include "sim.h"

static sim_world world;
static engine_config config;
static cuzk_error err;

#define SMALL 0 /* one partition, instant */
#define SLOW 1  /* four partitions of 30 ms on the device */
#define SLOW_US 30000
#define LONG 2 /* four partitions of 300 ms */
#define LONG_US 300000

static void begin(void) {
    sim_init(&world);
    world.shapes[SMALL] = (sim_shape){.circuit = "small-1",
                                      .partitions = 1,
                                      .job_bytes = 1000,
                                      .witness_bytes = 1000,
                                      .key_bytes = 10000,
                                      .host_bytes = 1000};
    world.shapes[SLOW] = (sim_shape){.circuit = "slow-4",
                                     .partitions = 4,
                                     .job_bytes = 1000,
                                     .witness_bytes = 1000,
                                     .key_bytes = 10000,
                                     .host_bytes = 1000,
                                     .compute_us = SLOW_US};
    world.shapes[LONG] = world.shapes[SLOW];
    world.shapes[LONG].circuit = "long-4";
    world.shapes[LONG].compute_us = LONG_US;
    sim_config(&world, 64 * SIM_MIB, &config);
    sim_add(&world, &config, &(sim_device){.slots = 1});
}

static engine *start(void) {
    engine *e;
    CHECK_OK(engine_open(&config, &e, &err));
    REQUIRE(e != NULL);
    return e;
}

static void end(engine *e) {
    engine_close(e);
    sim_destroy(&world);
}

/* A new engine over the same state folder. */
static engine *reopen(engine *e) {
    engine_close(e);
    config.n_devices = 0;
    sim_add(&world, &config, &(sim_device){.slots = 1});
    return start();
}

static engine_job_state state_of(engine *e, const char *job_id, char error[1024]) {
    engine_result r;
    CHECK_OK(engine_await(e, job_id, 20000, NULL, &r, &err));
    if (error != NULL) memcpy(error, r.error, 1024);
    const engine_job_state state = r.state;
    engine_result_free(&r);
    return state;
}

TEST(one_job) {
    begin();
    engine *e = start();
    CHECK_STATUS(sim_submit(e, 7, SLOW, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    char devices[1024];
    CHECK(sim_await(e, 7, 4, devices) == ENGINE_JOB_COMPLETED);
    CHECK(strcmp(devices, "SIM #0") == 0);
    engine_result r;
    CHECK_STATUS(engine_await(e, "nobody", 10, NULL, &r, &err), CUZK_ERR_NOT_FOUND);
    end(e);
}

TEST(empty_request_id_makes_a_uuid) {
    begin();
    engine *e = start();
    const sim_body body = {.id = 1, .shape = SMALL};
    const engine_request request = {.priority = ENGINE_PRIORITY_HIGH,
                                    .body = (const uint8_t *)&body,
                                    .body_bytes = sizeof body};
    engine_submitted a, b;
    CHECK_OK(engine_submit(e, &request, &a, &err));
    CHECK_OK(engine_submit(e, &request, &b, &err));
    CHECK_U64(strlen(a.job_id), 36);
    CHECK(strcmp(a.job_id, b.job_id) != 0 && !b.joined);
    CHECK(state_of(e, a.job_id, NULL) == ENGINE_JOB_COMPLETED);
    CHECK(state_of(e, b.job_id, NULL) == ENGINE_JOB_COMPLETED);
    engine_request bad = request;
    bad.priority = 5;
    CHECK_STATUS(engine_submit(e, &bad, &b, &err), CUZK_ERR_ARGUMENT);
    end(e);
}

static void *submit_and_await(void *arg) {
    engine *e = arg;
    CHECK_STATUS(sim_submit(e, 5, SLOW, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    CHECK(sim_await(e, 5, 4, NULL) == ENGINE_JOB_COMPLETED);
    return NULL;
}

TEST(hundred_submissions_of_one_key_are_one_execution) {
    begin();
    engine *e = start();
    pthread_t threads[100];
    for (unsigned i = 0; i < 100; i++)
        REQUIRE(pthread_create(&threads[i], NULL, submit_and_await, e) == 0);
    for (unsigned i = 0; i < 100; i++)
        pthread_join(threads[i], NULL);
    CHECK_U64(world.opens, 1);
    CHECK_U64(world.finishes, 4);
    /* Joining a finished job; another body under the same key; another kind likewise. */
    const sim_body body = {.id = 5, .shape = SLOW}, other = {.id = 6, .shape = SLOW};
    engine_request request = {.request_id = "job-5",
                              .priority = ENGINE_PRIORITY_LOW,
                              .body = (const uint8_t *)&body,
                              .body_bytes = sizeof body,
                              .kind = "sim"};
    engine_submitted s;
    CHECK_OK(engine_submit(e, &request, &s, &err));
    CHECK(s.joined && strcmp(s.job_id, "job-5") == 0);
    request.body = (const uint8_t *)&other;
    CHECK_STATUS(engine_submit(e, &request, &s, &err), CUZK_ERR_EXISTS);
    request.body = (const uint8_t *)&body;
    strcpy(request.kind, "mis");
    CHECK_STATUS(engine_submit(e, &request, &s, &err), CUZK_ERR_EXISTS);
    /* And it stays so over a restart. */
    e = reopen(e);
    strcpy(request.kind, "sim");
    CHECK_OK(engine_submit(e, &request, &s, &err));
    CHECK(s.joined);
    CHECK(sim_await(e, 5, 4, NULL) == ENGINE_JOB_COMPLETED);
    CHECK_U64(world.opens, 1);
    end(e);
}

TEST(bad_requests_fail_with_their_reason) {
    begin();
    engine *e = start();
    char error[1024];
    CHECK_STATUS(sim_submit(e, 1, SMALL, SIM_BAD_BODY, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    CHECK_STATUS(sim_submit(e, 2, SMALL, SIM_BAD_WITNESS, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    CHECK_STATUS(sim_submit(e, 3, SMALL, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    CHECK(state_of(e, "job-1", error) == ENGINE_JOB_FAILED);
    CHECK(strcmp(error, "simulated bad body") == 0);
    CHECK(state_of(e, "job-2", error) == ENGINE_JOB_FAILED);
    CHECK(strcmp(error, "partition 0 synthesis failed: simulated bad witness") == 0);
    CHECK(sim_await(e, 3, 1, NULL) == ENGINE_JOB_COMPLETED);
    end(e);
}

TEST(cancel_queued_and_running) {
    begin();
    engine *e = start();
    bool running;
    CHECK_STATUS(sim_submit(e, 1, LONG, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    for (uint64_t id = 2; id <= 20; id++)
        CHECK_STATUS(sim_submit(e, id, LONG, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    REQUIRE(sim_reached(e, 1, 1, ENGINE_PARTITION_DEVICE));
    /* The last one is far from its turn. */
    const double from = check_seconds();
    CHECK_OK(engine_cancel(e, "job-20", &running, &err));
    CHECK(!running);
    CHECK(sim_await(e, 20, 4, NULL) == ENGINE_JOB_CANCELLED);
    CHECK(check_seconds() - from < 2); /* its turn would come after 22 s */
    /* The first ends at its partition boundary, not after four. */
    CHECK_OK(engine_cancel(e, "job-1", &running, &err));
    CHECK(running);
    CHECK(sim_await(e, 1, 4, NULL) == ENGINE_JOB_CANCELLED);
    CHECK(sim_last(&world, 1) < 2);
    for (uint64_t id = 2; id < 20; id++) {
        char job_id[32];
        sprintf(job_id, "job-%d", (int)id);
        CHECK_OK(engine_cancel(e, job_id, &running, &err));
    }
    for (uint64_t id = 2; id < 20; id++)
        CHECK(sim_await(e, id, 4, NULL) == ENGINE_JOB_CANCELLED);
    CHECK_STATUS(engine_cancel(e, "nobody", &running, &err), CUZK_ERR_NOT_FOUND);
    CHECK_OK(engine_cancel(e, "job-2", &running, &err));
    CHECK(!running);
    /* Memory is given back: only the key is left, and what the device holds for it. */
    CHECK(world.jobs_alive == 0 && world.witnesses_alive == 0);
    engine_snapshot *s;
    CHECK_OK(engine_snapshot_take(e, &s, &err));
    CHECK_U64(s->memory_used, 11000);
    CHECK_U64(s->memory_witnesses, 0);
    CHECK_U64(s->cancelled, 20);
    engine_snapshot_free(s);
    end(e);
}

TEST(deadline) {
    begin();
    engine *e = start();
    const sim_body body = {.id = 9, .shape = SLOW};
    engine_request request = {.request_id = "late",
                              .priority = ENGINE_PRIORITY_NORMAL,
                              .deadline_ms = 45,
                              .body = (const uint8_t *)&body,
                              .body_bytes = sizeof body};
    engine_submitted s;
    char error[1024];
    CHECK_OK(engine_submit(e, &request, &s, &err));
    CHECK(state_of(e, "late", error) == ENGINE_JOB_FAILED);
    CHECK(strstr(error, "deadline") != NULL);
    strcpy(request.request_id, "in time");
    request.deadline_ms = 20000;
    CHECK_OK(engine_submit(e, &request, &s, &err));
    CHECK(state_of(e, "in time", NULL) == ENGINE_JOB_COMPLETED);
    end(e);
}

TEST(await_times_out_and_stops) {
    begin();
    engine *e = start();
    engine_result r;
    CHECK_STATUS(sim_submit(e, 1, SLOW, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    CHECK_STATUS(engine_await(e, "job-1", 5, NULL, &r, &err), CUZK_ERR_TIMEOUT);
    const bool stop = true;
    CHECK_STATUS(engine_await(e, "job-1", 0, &stop, &r, &err), CUZK_ERR_CANCELLED);
    CHECK(sim_await(e, 1, 4, NULL) == ENGINE_JOB_COMPLETED);
    end(e);
}

static void count_call(void *arg) {
    __atomic_add_fetch((int *)arg, 1, __ATOMIC_SEQ_CST);
}

static void await_count(int *calls, int expected) {
    for (int i = 0; i < 5000 && __atomic_load_n(calls, __ATOMIC_SEQ_CST) < expected; i++)
        sim_sleep_us(1000);
    CHECK_U64(__atomic_load_n(calls, __ATOMIC_SEQ_CST), expected);
}

TEST(watches) {
    begin();
    engine *e = start();
    engine_watch *a, *b, *c;
    int calls = 0, taken_back = 0;
    CHECK_STATUS(sim_submit(e, 1, SLOW, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    CHECK_OK(engine_watch_job(e, "job-1", count_call, &calls, &a, &err));
    CHECK_OK(engine_watch_job(e, "job-1", count_call, &taken_back, &b, &err));
    CHECK(a != NULL && b != NULL);
    CHECK(engine_unwatch(e, b));
    CHECK(!engine_unwatch(e, b));
    CHECK(sim_await(e, 1, 4, NULL) == ENGINE_JOB_COMPLETED);
    await_count(&calls, 1);
    CHECK(!engine_unwatch(e, a));
    CHECK_U64(taken_back, 0);
    /* Over already: called at once. */
    CHECK_OK(engine_watch_job(e, "job-1", count_call, &calls, &c, &err));
    CHECK(c == NULL);
    CHECK_U64(calls, 2);
    CHECK_STATUS(engine_watch_job(e, "nobody", count_call, &calls, &c, &err), CUZK_ERR_NOT_FOUND);
    end(e);
}

TEST(queue_limit_and_bodies) {
    begin();
    config.queue_limit = 3;
    engine *e = start();
    for (uint64_t id = 1; id <= 3; id++)
        CHECK_STATUS(sim_submit(e, id, SLOW, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    CHECK_STATUS(sim_submit(e, 4, SLOW, 0, ENGINE_PRIORITY_CRITICAL), CUZK_ERR_EXHAUSTED);
    CHECK_STATUS(sim_submit(e, 3, SLOW, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK); /* joins */
    for (uint64_t id = 1; id <= 3; id++)
        CHECK(sim_await(e, id, 4, NULL) == ENGINE_JOB_COMPLETED);
    CHECK_STATUS(sim_submit(e, 4, SLOW, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    CHECK(sim_await(e, 4, 4, NULL) == ENGINE_JOB_COMPLETED);
    /* Bodies take at most a quarter of the budget. */
    CHECK_OK(engine_admit_body(e, 16 * SIM_MIB, &err));
    CHECK_STATUS(engine_admit_body(e, 1, &err), CUZK_ERR_EXHAUSTED);
    engine_release_body(e, 16 * SIM_MIB);
    CHECK_OK(engine_admit_body(e, 1, &err));
    engine_release_body(e, 1);
    end(e);
}

static bool gone(engine *e, const char *job_id) {
    engine_result r;
    for (int i = 0; i < 3000; i++) {
        const cuzk_status status = engine_await(e, job_id, 1, NULL, &r, &err);
        if (status == CUZK_ERR_NOT_FOUND) return true;
        engine_result_free(&r);
        sim_sleep_us(1000);
    }
    return false;
}

TEST(results_expire_by_number_and_age) {
    begin();
    config.result_limit = 2;
    engine *e = start();
    for (uint64_t id = 1; id <= 4; id++) {
        CHECK_STATUS(sim_submit(e, id, SMALL, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
        CHECK(sim_await(e, id, 1, NULL) == ENGINE_JOB_COMPLETED);
    }
    CHECK(gone(e, "job-1") && gone(e, "job-2"));
    CHECK(sim_await(e, 3, 1, NULL) == ENGINE_JOB_COMPLETED);
    CHECK(sim_await(e, 4, 1, NULL) == ENGINE_JOB_COMPLETED);
    config.result_age_ms = 150;
    e = reopen(e);
    CHECK(sim_await(e, 4, 1, NULL) == ENGINE_JOB_COMPLETED);
    CHECK(gone(e, "job-3") && gone(e, "job-4"));
    /* The key is free again, and done again. */
    const unsigned before = world.finishes;
    CHECK_STATUS(sim_submit(e, 4, SMALL, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    CHECK(sim_await(e, 4, 1, NULL) == ENGINE_JOB_COMPLETED);
    CHECK_U64(world.finishes, before + 1);
    end(e);
}

TEST(drain_and_reopen_redo_only_what_is_missing) {
    begin();
    engine *e = start();
    for (uint64_t id = 1; id <= 3; id++)
        CHECK_STATUS(sim_submit(e, id, SLOW, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    REQUIRE(sim_reached(e, 1, 2, ENGINE_PARTITION_DONE));
    engine_drain(e, 10000);
    CHECK_STATUS(sim_submit(e, 4, SLOW, 0, ENGINE_PRIORITY_NORMAL), CUZK_ERR_EXHAUSTED);
    const unsigned before = world.finishes;
    CHECK(before < 12);
    sim_sleep_us(3 * SLOW_US);
    CHECK_U64(world.finishes, before); /* nothing new is begun */
    e = reopen(e);
    for (uint64_t id = 1; id <= 3; id++)
        CHECK(sim_await(e, id, 4, NULL) == ENGINE_JOB_COMPLETED);
    CHECK_U64(world.finishes, 12);
    end(e);
}

TEST(close_without_drain_keeps_everything) {
    begin();
    engine *e = start();
    for (uint64_t id = 1; id <= 3; id++)
        CHECK_STATUS(sim_submit(e, id, SLOW, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
    for (unsigned restarts = 0; restarts < 5; restarts++) { /* more than job_attempts */
        sim_sleep_us(SLOW_US);
        e = reopen(e);
    }
    for (uint64_t id = 1; id <= 3; id++)
        CHECK(sim_await(e, id, 4, NULL) == ENGINE_JOB_COMPLETED);
    CHECK(world.finishes <= 12);
    end(e);
}

static void *await_forever(void *arg) {
    engine_result r;
    cuzk_error e;
    CHECK_STATUS(engine_await(arg, "job-1", 0, NULL, &r, &e), CUZK_ERR_CANCELLED);
    return NULL;
}

TEST(close_lets_callers_out) {
    begin();
    engine *e = start();
    pthread_t thread;
    for (uint64_t id = 1; id <= 3; id++)
        CHECK_STATUS(sim_submit(e, id, SLOW, 0, ENGINE_PRIORITY_CRITICAL), CUZK_OK);
    engine_drain(e, 1000);
    REQUIRE(pthread_create(&thread, NULL, await_forever, e) == 0);
    sim_sleep_us(20000);
    engine_close(e);
    pthread_join(thread, NULL);
    sim_destroy(&world);
}

TEST(one_engine_for_a_folder) {
    begin();
    engine *e = start(), *second;
    engine_config again = config;
    again.n_devices = 0;
    sim_add(&world, &again, &(sim_device){0});
    CHECK_STATUS(engine_open(&again, &second, &err), CUZK_ERR_EXISTS);
    CHECK(second == NULL);
    end(e);
}

TEST_MAIN(RUN(one_job), RUN(empty_request_id_makes_a_uuid),
          RUN(hundred_submissions_of_one_key_are_one_execution),
          RUN(bad_requests_fail_with_their_reason), RUN(cancel_queued_and_running), RUN(deadline),
          RUN(await_times_out_and_stops), RUN(watches), RUN(queue_limit_and_bodies),
          RUN(results_expire_by_number_and_age), RUN(drain_and_reopen_redo_only_what_is_missing),
          RUN(close_without_drain_keeps_everything), RUN(close_lets_callers_out),
          RUN(one_engine_for_a_folder))
