/* cuzk serve: the proving daemon. */
#include "cli/cli.h"

#ifdef CUZK_HAVE_SERVER

#include <stdio.h>

#include "cli/daemon_config.h"
#include "cli/device.h"
#include "cli/version.h"
#include "server/daemon.h"
#include "server/log.h"

static cuzk_status list_gpus(char (*names)[64], unsigned max, unsigned *n, cuzk_error *err) {
    cuda_device_info infos[64];
    unsigned found = 0;
    cuzk_error missing;
    *n = 0;
    const cuda_library *cuda = device_cuda_library(&missing);
    if (cuda == NULL && missing.status == CUZK_ERR_UNSUPPORTED) {
        log_line(LOG_INFO, NULL, "no GPU: %s", missing.text);
        return CUZK_OK;
    }
    if (cuda == NULL) return cuzk_fail(err, missing.status, "%s", missing.text);
    CUZK_TRY(cuda->devices(infos, 64, &found, err));
    const int built = cuda->runtime_version, driver = cuda->driver_version();
    if (found == 0)
        log_line(driver != 0 ? LOG_WARN : LOG_INFO, NULL,
                 "no GPU: %s (this build is of CUDA %d.%d, the driver for %d.%d)",
                 driver == 0                    ? "no NVIDIA driver"
                 : driver / 1000 < built / 1000 ? "the driver is too old"
                                                : "none is visible",
                 built / 1000, built % 1000 / 10, driver / 1000, driver % 1000 / 10);
    for (unsigned i = 0; i < found && i < 64 && *n < max; i++) {
        if (infos[i].unusable[0] == 0)
            snprintf(names[(*n)++], 64, "cuda:%d", infos[i].ordinal);
        else
            log_line(LOG_WARN, NULL, "GPU %d is not used: %s", infos[i].ordinal, infos[i].unusable);
    }
    return CUZK_OK;
}

static cuzk_status reload(void *self, daemon_config *out, cuzk_error *err) {
    return daemon_config_load(self, true, out, err);
}

static int run(int argc, char **argv, const cli_command *self) {
    static config_flags flags; /* large */
    static daemon_config config;
    cuzk_error err = {0};
    int code;
    const cli_option options[] = {CONFIG_OPTIONS(flags)};
    if (!cli_parse(argc, argv, self, options, sizeof options / sizeof options[0], NULL, 0, &code))
        return code;
    daemon_block_signals();
    if (daemon_config_load(&flags, true, &config, &err) != CUZK_OK) return cli_report(self, &err);
    const daemon_setup setup = {.config = &config,
                                .reload = reload,
                                .self = &flags,
                                .list_devices = list_gpus,
                                .open_device = device_open,
                                .version = CUZK_VERSION};
    return daemon_run(&setup, &err) == CUZK_OK ? EXIT_OK : cli_report(self, &err);
}

#else
#define run cli_no_server
#endif

const cli_command cmd_serve = {
    "serve", "run the proving daemon (gRPC, status page)",
    "Serves cuzk.v1.ProvingEngine over gRPC, with a durable queue, until SIGTERM. Settings come "
    "from a TOML file, CUZK_SECTION_KEY variables and these options, the later over the earlier "
    "(cuzk config show prints them). docs/daemon.md has the whole story.",
    run};
