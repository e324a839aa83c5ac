#include "cli/daemon_config.h"

#ifdef CUZK_HAVE_SERVER

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_warning(void *arg, const char *text) {
    (void)arg;
    fprintf(stderr, "warning: %s\n", text);
}

static cuzk_status set_devices(daemon_config *c, const cli_list *devices, cuzk_error *err) {
    char text[1024] = "";
    size_t at = 0;
    for (size_t i = 0; i < devices->n && at < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s", i == 0 ? "" : ",",
                               devices->items[i]);
    return devices->n == 0 ? CUZK_OK : config_set(c, "gpus.devices", text, err);
}

cuzk_status daemon_config_load(const config_flags *flags, bool warn, daemon_config *out,
                               cuzk_error *err) {
    static const char *const usual[] = {"/etc/cuzk/cuzk.toml", "/data/zk/cuzk.toml"};
    const config_warn tell = warn ? print_warning : NULL;
    const char *path = flags->config;
    for (size_t i = 0; path == NULL && i < sizeof usual / sizeof usual[0]; i++)
        if (access(usual[i], F_OK) == 0) path = usual[i];
    config_defaults(out);
    if (path != NULL) CUZK_TRY(config_read_file(out, path, tell, NULL, err));
    CUZK_TRY(config_read_environment(out, tell, NULL, err));
    const struct {
        const char *path, *text;
    } set[] = {{"daemon.listen", flags->listen},
               {"daemon.status_listen",
                flags->http != NULL && strcmp(flags->http, "off") == 0 ? "" : flags->http},
               {"daemon.state_dir", flags->state_dir},
               {"srs.param_cache", flags->params},
               {"gpus.vram_limit", flags->vram_limit},
               {"logging.level", flags->log_level},
               {"logging.format", flags->log_format}};
    for (size_t i = 0; i < sizeof set / sizeof set[0]; i++)
        if (set[i].text != NULL) CUZK_TRY(config_set(out, set[i].path, set[i].text, err));
    CUZK_TRY(set_devices(out, &flags->devices, err));
    return config_check(out, err);
}

#endif
