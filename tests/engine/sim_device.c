/* The simulated executor: uploads and computing overlap as on a GPU with two upload slots. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "sim.h"

#define SIM_SLOTS 8

typedef struct sim_executor {
    executor ex;
    sim_world *w;
    sim_device cfg;
    unsigned index;
    const sim_shape *shape; /* loaded */
    uint64_t vram_used, host_used;
    unsigned calls, begins;
    uint64_t random;
    uint64_t upload_free, compute_free; /* when the copy engine and the SMs are free, us */
    struct {
        const witness *w;
        uint64_t uploaded_at, done_at; /* done_at 0: not started */
        unsigned order;
    } slots[SIM_SLOTS];
    unsigned begun;
    bool has_owner;
    pthread_t owner;
} sim_executor;

static sim_executor *sim_of(executor *ex) {
    return (sim_executor *)ex;
}

static void rule(sim_executor *s, bool kept) {
    if (kept) return;
    pthread_mutex_lock(&s->w->lock);
    s->w->broken_rules++;
    pthread_mutex_unlock(&s->w->lock);
}

/* One thread makes every call. */
static void owned(sim_executor *s) {
    if (!s->has_owner) s->owner = pthread_self();
    s->has_owner = true;
    rule(s, pthread_equal(s->owner, pthread_self()) != 0);
}

static bool dead(const sim_executor *s) {
    return s->cfg.die_from != 0 && s->calls + 1 >= s->cfg.die_from;
}

static void hang(sim_world *w) {
    pthread_mutex_lock(&w->lock);
    while (!w->release)
        pthread_cond_wait(&w->released, &w->lock);
    pthread_mutex_unlock(&w->lock);
}

static void dev_info(executor *ex, executor_info *out) {
    const sim_executor *s = sim_of(ex);
    memset(out, 0, sizeof *out);
    snprintf(out->name, sizeof out->name, "%s #%u", s->cfg.name == NULL ? "SIM" : s->cfg.name,
             s->index);
    snprintf(out->kind, sizeof out->kind, "%s", s->cfg.kind == NULL ? "sim" : s->cfg.kind);
    out->ordinal = (int)s->index;
    out->memory_total = s->cfg.vram;
    out->memory_planned = s->vram_used;
    out->slots = s->cfg.slots;
}

static uint64_t plan_bytes(const sim_executor *s, const executor_key *key) {
    const sim_shape *shape = (const sim_shape *)key->circuit;
    const uint64_t bytes =
        shape->vram_full + (key->effort == EXECUTOR_THOROUGH ? shape->vram_thorough : 0);
    return bytes < s->cfg.vram ? bytes : s->cfg.vram;
}

static cuzk_status dev_plan(executor *ex, const executor_key *key, uint64_t *device_bytes,
                            uint64_t *host_bytes, cuzk_error *err) {
    sim_executor *s = sim_of(ex);
    const sim_shape *shape = (const sim_shape *)key->circuit;
    owned(s);
    if (s->cfg.vram < shape->vram_min)
        return cuzk_fail(err, CUZK_ERR_DEVICE_MEMORY, "%s needs %" PRIu64 " bytes of VRAM",
                         shape->circuit, shape->vram_min);
    *device_bytes = plan_bytes(s, key);
    *host_bytes = shape->host_bytes;
    return CUZK_OK;
}

/* False: given up on the way. */
static bool prepare(sim_executor *s, const executor_key *key, unsigned us) {
    sim_world *w = s->w;
    bool go_on = true;
    pthread_mutex_lock(&w->lock);
    if (w->thorough_begun++ == 0) w->thorough_at = w->n_log;
    if (++w->thorough_now > w->thorough_most) w->thorough_most = w->thorough_now;
    pthread_mutex_unlock(&w->lock);
    if (s->cfg.hang_thorough_load) hang(w);
    for (const uint64_t end = sim_now_us() + us; go_on && sim_now_us() < end;) {
        sim_sleep_us(1000);
        go_on = key->give_up == NULL || !key->give_up(key->give_up_self);
    }
    pthread_mutex_lock(&w->lock);
    w->thorough_now--;
    if (go_on)
        w->thorough_loads++;
    else
        w->thorough_given_up++;
    pthread_mutex_unlock(&w->lock);
    return go_on;
}

static cuzk_status dev_load(executor *ex, const executor_key *key, cuzk_error *err) {
    sim_executor *s = sim_of(ex);
    const sim_shape *shape = (const sim_shape *)key->circuit;
    owned(s);
    rule(s, s->shape == NULL && s->begun == 0);
    if (s->cfg.hang_load) hang(s->w);
    const bool thorough = key->effort == EXECUTOR_THOROUGH;
    if (s->cfg.fail_load || (thorough && s->cfg.fail_thorough_load) || dead(s))
        return cuzk_fail(err, CUZK_ERR_DEVICE, "simulated load");
    if (thorough && !prepare(s, key, shape->thorough_us))
        return cuzk_fail(err, CUZK_ERR_CANCELLED, "simulated load given up");
    sim_take(s->w, shape->host_bytes);
    s->host_used = shape->host_bytes;
    s->shape = shape;
    s->vram_used = plan_bytes(s, key);
    rule(s, s->vram_used <= s->cfg.vram && s->vram_used >= shape->vram_min);
    sim_sleep_us(shape->load_us);
    pthread_mutex_lock(&s->w->lock);
    s->w->device_loads++;
    pthread_mutex_unlock(&s->w->lock);
    return CUZK_OK;
}

static void dev_unload(executor *ex) {
    sim_executor *s = sim_of(ex);
    owned(s);
    rule(s, s->shape != NULL && s->begun == 0);
    s->shape = NULL;
    s->vram_used = 0;
    sim_give(s->w, s->host_used);
    s->host_used = 0;
}

static void start(sim_executor *s, unsigned slot) {
    const uint64_t from =
        s->compute_free > s->slots[slot].uploaded_at ? s->compute_free : s->slots[slot].uploaded_at;
    s->compute_free = from + s->shape->compute_us;
    s->slots[slot].done_at = s->compute_free;
}

/* Start what has waited longest, unless another partition is being computed. */
static void start_next(sim_executor *s) {
    unsigned next = SIM_SLOTS;
    for (unsigned i = 0; i < SIM_SLOTS; i++) {
        if (s->slots[i].w == NULL) continue;
        if (s->slots[i].done_at != 0) return;
        if (next == SIM_SLOTS || s->slots[i].order < s->slots[next].order) next = i;
    }
    if (next == SIM_SLOTS) return;
    if (s->compute_free < sim_now_us()) s->compute_free = sim_now_us();
    start(s, next);
}

static cuzk_status dev_begin(executor *ex, unsigned slot, const witness *w, cuzk_error *err) {
    sim_executor *s = sim_of(ex);
    owned(s);
    s->begins++;
    rule(s, s->shape != NULL && slot < s->cfg.slots && s->slots[slot].w == NULL);
    if (dead(s)) return cuzk_fail(err, CUZK_ERR_DEVICE_LOST, "simulated: fell off the bus");
    if (s->cfg.keeps_back) start_next(s);
    if (s->begins == s->cfg.begin_oom_at)
        return cuzk_fail(err, CUZK_ERR_DEVICE_MEMORY, "simulated: out of device memory");
    const uint64_t now = sim_now_us();
    const uint64_t upload_from = s->upload_free > now ? s->upload_free : now;
    s->upload_free = upload_from + s->shape->upload_us;
    s->slots[slot].w = w;
    s->slots[slot].uploaded_at = s->upload_free;
    s->slots[slot].done_at = 0;
    s->slots[slot].order = s->begins;
    if (s->cfg.keeps_back)
        start_next(s);
    else
        start(s, slot);
    s->begun++;
    rule(s, s->begun <= s->cfg.slots);
    return CUZK_OK;
}

static bool within(unsigned n, unsigned from, unsigned to) {
    return from != 0 && n >= from && n <= to;
}

static bool by_chance(sim_executor *s, unsigned permille) {
    s->random = s->random * 6364136223846793005u + 1442695040888963407u;
    return (s->random >> 33) % 1000 < permille;
}

static cuzk_status dev_finish(executor *ex, unsigned slot, groth16_sums *out,
                              executor_timing *timing, cuzk_error *err) {
    sim_executor *s = sim_of(ex);
    owned(s);
    rule(s, slot < s->cfg.slots && s->slots[slot].w != NULL);
    const witness *w = s->slots[slot].w;
    if (s->slots[slot].done_at == 0) start_next(s);
    const uint64_t now = sim_now_us(), done_at = s->slots[slot].done_at;
    const bool lost = dead(s);
    s->calls++;
    s->slots[slot].w = NULL;
    s->begun--;
    if (s->calls == s->cfg.hang_at) hang(s->w);
    if (lost) return cuzk_fail(err, CUZK_ERR_DEVICE_LOST, "simulated: fell off the bus");
    if (done_at > now) sim_sleep_us(done_at - now);
    if (within(s->calls, s->cfg.fail_from, s->cfg.fail_to) || by_chance(s, s->cfg.fail_permille))
        return cuzk_fail(err, CUZK_ERR_DEVICE, "simulated: call %u fails", s->calls);
    memset(out, 0, sizeof *out);
    uint64_t v[3] = {w->bits[0], w->bits[1], 0};
    v[2] =
        within(s->calls, s->cfg.wrong_from, s->cfg.wrong_to) || by_chance(s, s->cfg.wrong_permille);
    memcpy(out, v, sizeof v);
    timing->total_ms = (double)s->shape->compute_us / 1000;
    pthread_mutex_lock(&s->w->lock);
    if (s->w->n_log < sizeof s->w->log / sizeof s->w->log[0])
        s->w->log[s->w->n_log++] =
            (sim_proved){.id = v[0], .partition = (uint32_t)v[1], .device = s->index};
    pthread_mutex_unlock(&s->w->lock);
    return CUZK_OK;
}

static bool dev_withdraw(executor *ex, unsigned slot) {
    sim_executor *s = sim_of(ex);
    owned(s);
    rule(s, slot < s->cfg.slots && s->slots[slot].w != NULL);
    const bool started = s->slots[slot].done_at != 0;
    pthread_mutex_lock(&s->w->lock);
    s->w->withdrawals += !started;
    s->w->refusals += started;
    pthread_mutex_unlock(&s->w->lock);
    if (started) {
        sim_sleep_us(s->cfg.withdraw_us);
        return false;
    }
    s->slots[slot].w = NULL;
    s->begun--;
    return true;
}

static void dev_close(executor *ex) {
    free(ex);
}

void sim_add(sim_world *w, engine_config *config, const sim_device *device) {
    static const executor_ops ops = {.info = dev_info,
                                     .plan = dev_plan,
                                     .load = dev_load,
                                     .unload = dev_unload,
                                     .begin = dev_begin,
                                     .finish = dev_finish,
                                     .withdraw = dev_withdraw,
                                     .close = dev_close};
    sim_executor *s = calloc(1, sizeof *s);
    REQUIRE(s != NULL);
    s->ex.ops = &ops;
    s->ex.host = config->host;
    s->w = w;
    s->cfg = *device;
    if (s->cfg.vram == 0) s->cfg.vram = 16 * SIM_GIB;
    if (s->cfg.slots == 0) s->cfg.slots = 2;
    s->index = config->n_devices;
    s->random = device->seed;
    config->devices[config->n_devices++] =
        (engine_device_config){.ex = &s->ex, .is_cpu_fallback = device->fallback};
}
