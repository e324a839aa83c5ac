/* cuzk config check|show: the daemon's configuration. */
#include "cli/cli.h"

#ifdef CUZK_HAVE_SERVER

#include "cli/daemon_config.h"

static int run_config(int argc, char **argv, const cli_command *self) {
    static config_flags flags; /* large */
    static daemon_config config;
    cuzk_error err = {0};
    int code;
    const cli_option options[] = {CONFIG_OPTIONS(flags)};
    flags = (config_flags){0};
    if (!cli_parse(argc, argv, self, options, sizeof options / sizeof options[0], NULL, 0, &code))
        return code;
    if (daemon_config_load(&flags, true, &config, &err) != CUZK_OK) {
        fprintf(stderr, "cuzk %s: %s\n", self->name, err.text);
        return EXIT_BAD_INPUT;
    }
    if (self == &cmd_config_show)
        config_write(&config, stdout);
    else
        puts("ok");
    return EXIT_OK;
}

#else
#define run_config cli_no_server
#endif

const cli_command cmd_config_check = {
    "config check", "check the daemon's configuration",
    "Reads the file, the environment and these options as cuzk serve does. Exit code 0: good;\n"
    "2: not, with file and line.",
    run_config};
const cli_command cmd_config_show = {
    "config show", "print the daemon's configuration as it comes out",
    "All values as TOML, each with where it came from (default, file, environment, flag).",
    run_config};
