/* Who is next: priority, ageing, grouping by circuit; and memory: eviction, preload, stepping back.
 */
#include "check.h"
#include "sim.h"

static sim_world world;
static engine_config config;
static cuzk_error err;
static engine *e;

#define POREP 0
#define WINNING 1
#define SNAP 2

static void begin(uint64_t budget) {
    sim_init(&world);
    const sim_shape shape = {.job_bytes = 1000,
                             .witness_bytes = 10 * SIM_MIB,
                             .key_bytes = 100 * SIM_MIB,
                             .host_bytes = SIM_MIB,
                             .compute_us = 20000,
                             .witness_us = 500};
    for (unsigned i = 0; i < 3; i++)
        world.shapes[i] = shape;
    world.shapes[POREP].circuit = "porep";
    world.shapes[POREP].partitions = 10;
    world.shapes[WINNING].circuit = "winning";
    world.shapes[WINNING].partitions = 1;
    world.shapes[SNAP].circuit = "snap";
    world.shapes[SNAP].partitions = 2;
    sim_config(&world, budget, &config);
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

static engine_snapshot *snapshot(void) {
    engine_snapshot *s;
    CHECK_OK(engine_snapshot_take(e, &s, &err));
    return s;
}

TEST(critical_overtakes_at_a_partition_boundary) {
    begin(SIM_GIB);
    sim_add(&world, &config, &(sim_device){.slots = 1});
    world.shapes[POREP].compute_us = 50000;
    start();
    submit(1, POREP, ENGINE_PRIORITY_NORMAL);
    submit(2, POREP, ENGINE_PRIORITY_NORMAL);
    REQUIRE(sim_reached(e, 1, 2, ENGINE_PARTITION_DONE));
    submit(3, WINNING, ENGINE_PRIORITY_CRITICAL);
    pthread_mutex_lock(&world.lock);
    const unsigned done = world.n_log;
    pthread_mutex_unlock(&world.lock);
    finish(3, WINNING);
    const int at = sim_first(&world, 3);
    CHECK(at <= (int)done + 3); /* what was on the device, and little else, came before it */
    finish(1, POREP);
    finish(2, POREP);
    CHECK(sim_last(&world, 2) > at);
    end();
}

/* Partitions that devices have begun. */
static unsigned on_devices(void) {
    engine_snapshot *s = snapshot();
    unsigned n = 0;
    for (size_t i = 0; i < s->n_jobs; i++)
        for (unsigned k = 0; k < s->jobs[i].n_partitions; k++)
            n += s->jobs[i].partitions[k].state == ENGINE_PARTITION_DEVICE;
    engine_snapshot_free(s);
    return n;
}

/* Two slots: what is uploaded behind the running partition gives way, and is not lost. */
TEST(critical_waits_for_the_running_partition_only) {
    begin(SIM_GIB);
    sim_add(&world, &config, &(sim_device){.slots = 2, .keeps_back = true});
    world.shapes[POREP].compute_us = 150000;
    start();
    submit(1, POREP, ENGINE_PRIORITY_NORMAL);
    submit(2, POREP, ENGINE_PRIORITY_NORMAL);
    submit(3, WINNING, ENGINE_PRIORITY_HIGH); /* its key is there when it matters */
    finish(3, WINNING);
    for (uint64_t id = 4; id < 8; id++) {
        const unsigned before = world.withdrawals;
        for (unsigned i = 0; i < 5000 && on_devices() < 2; i++)
            sim_sleep_us(1000);
        REQUIRE(on_devices() == 2); /* one is computed and one waits behind it */
        pthread_mutex_lock(&world.lock);
        const unsigned done = world.n_log;
        pthread_mutex_unlock(&world.lock);
        submit(id, WINNING, ENGINE_PRIORITY_CRITICAL);
        finish(id, WINNING);
        CHECK(sim_first(&world, id) <= (int)done + 1);
        CHECK(world.withdrawals == before + 1);
    }
    finish(1, POREP);
    finish(2, POREP);
    end();
}

/* No reason to withdraw: the same priority, whatever circuit. */
TEST(equals_do_not_withdraw) {
    begin(SIM_GIB);
    sim_add(&world, &config, &(sim_device){.slots = 2, .keeps_back = true});
    start();
    for (uint64_t id = 1; id <= 8; id++)
        submit(id, id % 3 == 0 ? POREP : id % 3 == 1 ? SNAP : WINNING, ENGINE_PRIORITY_NORMAL);
    for (uint64_t id = 1; id <= 8; id++)
        finish(id, id % 3 == 0 ? POREP : id % 3 == 1 ? SNAP : WINNING);
    CHECK_U64(world.withdrawals, 0);
    end();
}

/* How often partitions of id were computed. */
static unsigned computed(uint64_t id) {
    unsigned n = 0;
    pthread_mutex_lock(&world.lock);
    for (unsigned i = 0; i < world.n_log; i++)
        n += world.log[i].id == id;
    pthread_mutex_unlock(&world.lock);
    return n;
}

/* While an executor refuses to give a partition back, another device takes the urgent one: the
 * choice is made anew after every such call, and what has started is asked for once. */
TEST(choice_after_a_refused_withdrawal) {
    begin(SIM_GIB);
    sim_add(&world, &config, &(sim_device){.slots = 2, .withdraw_us = 30000});
    sim_add(&world, &config, &(sim_device){.slots = 1});
    start();
    for (uint64_t id = 100; id < 120; id++)
        submit(id, POREP, ENGINE_PRIORITY_LOW);
    finish(100, POREP);
    for (uint64_t id = 1; id <= 5; id++) {
        submit(id, POREP, ENGINE_PRIORITY_CRITICAL);
        finish(id, POREP);
        CHECK_U64(computed(id), 10);
    }
    CHECK(world.refusals > 0 && world.refusals <= 50);
    end();
}

TEST(priorities_in_order) {
    begin(SIM_GIB);
    config.witness_threads = 1;
    sim_add(&world, &config, &(sim_device){.slots = 1});
    world.shapes[POREP].compute_us = 200000; /* holds the device while the others come */
    start();
    submit(1, POREP, ENGINE_PRIORITY_CRITICAL);
    REQUIRE(sim_reached(e, 1, 1, ENGINE_PARTITION_DEVICE));
    submit(2, SNAP, ENGINE_PRIORITY_LOW);
    submit(3, SNAP, ENGINE_PRIORITY_NORMAL);
    submit(4, SNAP, ENGINE_PRIORITY_HIGH);
    engine_submitted s;
    const sim_body body = {.id = 5, .shape = SNAP};
    const engine_request request = {.request_id = "job-5",
                                    .priority = ENGINE_PRIORITY_NORMAL,
                                    .body = (const uint8_t *)&body,
                                    .body_bytes = sizeof body,
                                    .kind = "sim"};
    CHECK_OK(engine_submit(e, &request, &s, &err));
    CHECK_U64(s.queue_position, 2); /* behind 4 and 3 */
    bool running;
    CHECK_OK(engine_cancel(e, "job-1", &running, &err));
    for (uint64_t id = 2; id <= 5; id++)
        finish(id, SNAP);
    CHECK(sim_last(&world, 4) < sim_first(&world, 3));
    CHECK(sim_last(&world, 3) < sim_first(&world, 5));
    CHECK(sim_last(&world, 5) < sim_first(&world, 2));
    end();
}

/* A LOW job among NORMAL ones that have all come: last, unless it ages. */
static int place_of_low_job(uint64_t ageing_ms) {
    begin(SIM_GIB);
    config.ageing_ms = ageing_ms;
    world.shapes[WINNING].compute_us = 40000;
    sim_add(&world, &config, &(sim_device){.slots = 1});
    start();
    for (uint64_t id = 10; id < 40; id++) {
        submit(id, WINNING, ENGINE_PRIORITY_NORMAL);
        if (id == 12) submit(1, WINNING, ENGINE_PRIORITY_LOW);
    }
    for (uint64_t id = 10; id < 40; id++)
        finish(id, WINNING);
    finish(1, WINNING);
    const int at = sim_first(&world, 1);
    end();
    return at;
}

TEST(ageing_ends_starvation) {
    int at = place_of_low_job(0);
    CHECK(at >= 28 && at <= 30); /* a busy machine may open the last ones too late */
    at = place_of_low_job(200);  /* HIGH after 400 ms, as all are: the third to come */
    CHECK(at >= 2 && at < 20);
}

/* Two kinds in turn on one device: grouping needs few loads, and the order still ends. */
TEST(grouping_by_circuit) {
    begin(SIM_GIB);
    sim_add(&world, &config, &(sim_device){.slots = 1});
    start();
    for (uint64_t id = 1; id <= 40; id++)
        submit(id, id % 2 == 0 ? WINNING : SNAP, ENGINE_PRIORITY_NORMAL);
    for (uint64_t id = 1; id <= 40; id++)
        finish(id, id % 2 == 0 ? WINNING : SNAP);
    CHECK(world.device_loads <= 24); /* 40 without grouping */
    end();
}

static bool loaded(const char *circuit) {
    engine_snapshot *s = snapshot();
    bool found = false;
    for (size_t i = 0; i < s->n_keys; i++)
        if (strcmp(s->keys[i].circuit, circuit) == 0)
            found = s->keys[i].tier != ENGINE_TIER_ABSENT && !s->keys[i].loading;
    engine_snapshot_free(s);
    return found;
}

TEST(the_key_used_longest_ago_goes_first) {
    begin(230 * SIM_MIB); /* two keys of the three */
    sim_add(&world, &config, &(sim_device){0});
    start();
    bool already;
    uint64_t ms;
    CHECK_OK(engine_preload(e, "porep", &already, &ms, &err));
    CHECK(!already);
    sim_sleep_us(3000);
    CHECK_OK(engine_preload(e, "winning", &already, &ms, &err));
    CHECK_OK(engine_preload(e, "porep", &already, &ms, &err));
    CHECK(already);
    submit(1, POREP, ENGINE_PRIORITY_NORMAL); /* uses it: winning is the oldest now */
    finish(1, POREP);
    submit(2, SNAP, ENGINE_PRIORITY_NORMAL);
    finish(2, SNAP);
    CHECK(loaded("porep") && loaded("snap") && !loaded("winning"));
    submit(3, WINNING, ENGINE_PRIORITY_NORMAL);
    finish(3, WINNING);
    CHECK(!loaded("porep") && loaded("winning"));
    CHECK_STATUS(engine_preload(e, "no such", &already, &ms, &err), CUZK_ERR_UNSUPPORTED);
    end();
}

TEST(preload_and_evict) {
    begin(280 * SIM_MIB);
    sim_add(&world, &config, &(sim_device){0});
    start();
    bool was;
    uint64_t n;
    CHECK_OK(engine_evict(e, "porep", &was, &n, &err));
    CHECK(!was && n == 0);
    submit(1, POREP, ENGINE_PRIORITY_NORMAL);
    REQUIRE(sim_reached(e, 1, 1, ENGINE_PARTITION_DEVICE));
    CHECK_STATUS(engine_evict(e, "porep", &was, &n, &err), CUZK_ERR_EXHAUSTED); /* in use */
    CHECK(was);
    /* What does not fit even then evicts nothing. */
    CHECK_OK(engine_preload(e, "winning", &was, &n, &err));
    world.shapes[SNAP].key_bytes = 200 * SIM_MIB;
    CHECK_STATUS(engine_preload(e, "snap", &was, &n, &err), CUZK_ERR_EXHAUSTED);
    CHECK(loaded("winning"));
    CHECK_OK(engine_evict(e, "winning", &was, &n, &err));
    finish(1, POREP);
    CHECK_OK(engine_evict(e, "porep", &was, &n, &err)); /* from the device too */
    CHECK(was && n == 100 * SIM_MIB);
    engine_snapshot *s = snapshot();
    CHECK_U64(s->memory_used, 0);
    engine_snapshot_free(s);
    submit(2, POREP, ENGINE_PRIORITY_NORMAL);
    finish(2, POREP);
    end();
}

TEST(what_never_fits_fails_with_the_figures) {
    begin(105 * SIM_MIB); /* key, but no witness */
    sim_add(&world, &config, &(sim_device){0});
    start();
    submit(1, POREP, ENGINE_PRIORITY_NORMAL);
    engine_result r;
    CHECK_OK(engine_await(e, "job-1", 10000, NULL, &r, &err));
    CHECK(r.state == ENGINE_JOB_FAILED && strstr(r.error, "memory budget") != NULL);
    engine_result_free(&r);
    end();

    begin(120 * SIM_MIB); /* key and witness, but not what the device needs */
    world.shapes[POREP].host_bytes = 20 * SIM_MIB;
    sim_add(&world, &config, &(sim_device){0});
    start();
    submit(1, POREP, ENGINE_PRIORITY_NORMAL);
    CHECK_OK(engine_await(e, "job-1", 10000, NULL, &r, &err));
    CHECK(r.state == ENGINE_JOB_FAILED && strstr(r.error, "of host memory") != NULL);
    engine_result_free(&r);
    end();
}

/* Hold and wait: bundles of two circuits fill the budget before a device could load either. */
TEST(jobs_step_back_when_none_could_go_on) {
    begin(235 * SIM_MIB);
    world.shapes[POREP].host_bytes = world.shapes[SNAP].host_bytes = 50 * SIM_MIB;
    sim_add(&world, &config, &(sim_device){0});
    start();
    for (uint64_t id = 1; id <= 6; id++)
        submit(id, id % 2 == 0 ? POREP : SNAP, ENGINE_PRIORITY_NORMAL);
    for (uint64_t id = 1; id <= 6; id++)
        finish(id, id % 2 == 0 ? POREP : SNAP);
    end();
}

TEST(an_urgent_job_gets_memory_that_lesser_ones_hoard) {
    begin(250 * SIM_MIB); /* both keys and three or four witnesses */
    config.witness_threads = 3;
    world.shapes[POREP].compute_us = 50000;
    sim_add(&world, &config, &(sim_device){.slots = 4});
    start();
    submit(1, POREP, ENGINE_PRIORITY_LOW);
    REQUIRE(sim_reached(e, 1, 2, ENGINE_PARTITION_DEVICE));
    submit(2, WINNING, ENGINE_PRIORITY_CRITICAL);
    finish(2, WINNING);
    CHECK(sim_first(&world, 2) < 9);
    finish(1, POREP);
    end();
}

TEST_MAIN(RUN(critical_overtakes_at_a_partition_boundary),
          RUN(critical_waits_for_the_running_partition_only), RUN(equals_do_not_withdraw),
          RUN(choice_after_a_refused_withdrawal), RUN(priorities_in_order),
          RUN(ageing_ends_starvation), RUN(grouping_by_circuit),
          RUN(the_key_used_longest_ago_goes_first), RUN(preload_and_evict),
          RUN(what_never_fits_fails_with_the_figures), RUN(jobs_step_back_when_none_could_go_on),
          RUN(an_urgent_job_gets_memory_that_lesser_ones_hoard))
