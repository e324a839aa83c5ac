/* The daemon over simulated work and devices, for tests of everything around the proofs. A program
 * of the tests: the product has no simulated work.
 *
 *   sim_daemon FOLDER [key=value...]
 *
 * FOLDER/sock is the gRPC socket, FOLDER/state the journal. Keys with a dot are the daemon's own
 * settings; the others are in `knobs`. A job's body is a SubmitProofRequest whose randomness is a
 * sim_body. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/host_std.h"
#include "server/daemon.h"
#include "server/request.h"
#include "sim.h"

static struct {
    const char *name;
    uint64_t value;
} knobs[] = {
    {"devices", 1},     {"vram_gib", 16}, {"compute_us", 200}, {"upload_us", 50},
    {"witness_us", 50}, {"verify_us", 0}, {"partitions", 10},  {"wrong_permille", 0},
    {"load_us", 0},     {"die_from", 0}, /* the last device only */
};
static uint64_t knob(const char *name) {
    for (size_t i = 0; i < sizeof knobs / sizeof knobs[0]; i++)
        if (strcmp(knobs[i].name, name) == 0) return knobs[i].value;
    abort();
}

static sim_world world;

static cuzk_status list_devices(char (*names)[64], unsigned max, unsigned *n, cuzk_error *err) {
    (void)err;
    for (*n = 0; *n < knob("devices") && *n < max; ++*n)
        snprintf(names[*n], 64, "cuda:%u", *n);
    return CUZK_OK;
}

static cuzk_status open_device(const cuzk_host *host, const char *name, executor **out,
                               cuzk_error *err) {
    static engine_config config;
    unsigned ordinal = 0;
    unsigned long long limit = knob("vram_gib") << 30;
    (void)host;
    if (sscanf(name, "cuda:%u@%llu", &ordinal, &limit) < 1 || ordinal >= knob("devices"))
        return cuzk_fail(err, CUZK_ERR_NOT_FOUND, "no device %s", name);
    const sim_device device = {.name = "Simulated GPU",
                               .vram = limit,
                               .wrong_permille = (unsigned)knob("wrong_permille"),
                               .die_from =
                                   ordinal + 1 == knob("devices") ? (unsigned)knob("die_from") : 0,
                               .seed = ordinal + 1};
    sim_add(&world, &config, &device);
    *out = config.devices[config.n_devices - 1].ex;
    return CUZK_OK;
}

static cuzk_status open_body(void *self, const cuzk_host *host, const uint8_t *body, size_t bytes,
                             engine_job_data **out, cuzk_error *err) {
    request_view v;
    CUZK_TRY(request_view_read(body, bytes, &v, err));
    if (v.randomness.bytes != sizeof(sim_body))
        return cuzk_fail(err, CUZK_ERR_FORMAT, "not simulated: /secret/folder/file.bin");
    return sim_work.open(self, host, v.randomness.data, v.randomness.bytes, out, err);
}

static void make_shapes(void) {
    const sim_shape porep = {.circuit = "porep-32g",
                             .partitions = (uint32_t)knob("partitions"),
                             .job_bytes = 50 * SIM_MIB,
                             .witness_bytes = 70 * SIM_MIB,
                             .key_bytes = 3 * SIM_GIB,
                             .vram_min = 4 * SIM_GIB,
                             .vram_full = 14 * SIM_GIB,
                             .witness_us = (unsigned)knob("witness_us"),
                             .upload_us = (unsigned)knob("upload_us"),
                             .compute_us = (unsigned)knob("compute_us"),
                             .load_us = (unsigned)knob("load_us"),
                             .verify_us = (unsigned)knob("verify_us")};
    world.shapes[0] = world.shapes[1] = porep;
    world.shapes[1].circuit = "winning-32g";
    world.shapes[1].partitions = 1;
    world.shapes[1].key_bytes = SIM_GIB / 2;
    world.shapes[1].vram_full = SIM_GIB;
    world.shapes[1].vram_min = SIM_GIB / 4;
}

static bool take_argument(daemon_config *config, char *text, cuzk_error *err) {
    char *equal = strchr(text, '=');
    if (equal == NULL) return false;
    *equal = 0;
    if (strchr(text, '.') != NULL) return config_set(config, text, equal + 1, err) == CUZK_OK;
    for (size_t i = 0; i < sizeof knobs / sizeof knobs[0]; i++)
        if (strcmp(knobs[i].name, text) == 0) {
            knobs[i].value = strtoull(equal + 1, NULL, 10);
            return true;
        }
    return false;
}

int main(int argc, char **argv) {
    static daemon_config config;
    static engine_work_ops work;
    cuzk_error err = {0};
    if (argc < 2) return 2;
    daemon_block_signals();
    config_defaults(&config);
    snprintf(config.listen, sizeof config.listen, "unix://%s/sock", argv[1]);
    snprintf(config.state_dir, sizeof config.state_dir, "%s/state", argv[1]);
    config.status_listen[0] = 0;
    config.total_budget = 64 * SIM_GIB;
    config.log_level = 1;
    for (int i = 2; i < argc; i++)
        if (!take_argument(&config, argv[i], &err)) {
            fprintf(stderr, "sim_daemon: %s: %s\n", argv[i], err.text);
            return 2;
        }
    if (config_check(&config, &err) != CUZK_OK) {
        fprintf(stderr, "sim_daemon: %s\n", err.text);
        return 2;
    }
    pthread_mutex_init(&world.lock, NULL);
    pthread_cond_init(&world.released, NULL);
    world.budget = UINT64_MAX;
    make_shapes();
    work = sim_work;
    work.open = open_body;
    const daemon_setup setup = {.config = &config,
                                .list_devices = list_devices,
                                .open_device = open_device,
                                .work = &work,
                                .work_self = &world,
                                .version = "test"};
    if (daemon_run(&setup, &err) == CUZK_OK) return 0;
    fprintf(stderr, "sim_daemon: %s\n", err.text);
    return 1;
}
