#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/version.h"

static const cli_command *const commands[] = {
    &cmd_setup,          &cmd_prove_porep,
    &cmd_prove_winning,  &cmd_prove_window,
    &cmd_prove_snap,     &cmd_verify_porep,
    &cmd_verify_winning, &cmd_verify_window,
    &cmd_verify_snap,    &cmd_inspect,
    &cmd_circuit,        &cmd_synth_porep,
    &cmd_synth_winning,  &cmd_synth_window,
    &cmd_synth_snap,     &cmd_bench_daemon, /* before bench: the longer name first */
    &cmd_bench,          &cmd_selftest,
    &cmd_doctor,         &cmd_serve,
    &cmd_config_check,   &cmd_config_show,
    &cmd_submit_porep,   &cmd_submit_winning,
    &cmd_submit_window,  &cmd_submit_snap,
    &cmd_await,          &cmd_cancel,
    &cmd_status,         &cmd_top,
    &cmd_preload,        &cmd_evict,
};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static void usage(FILE *out) {
    fprintf(out,
            "cuzk %s: Groth16 proofs for Filecoin on CPUs and GPUs\n\n"
            "usage: cuzk COMMAND [options]      (cuzk COMMAND --help for each)\n\n",
            CUZK_VERSION);
    for (int i = 0; i < N_COMMANDS; i++)
        fprintf(out, "  %-16s %s\n", commands[i]->name, commands[i]->summary);
}

/* Number of argv words that the command's name takes up, 0 when it does not match. */
static int match(const cli_command *c, int argc, char **argv) {
    const char *space = strchr(c->name, ' ');
    if (space == NULL) return strcmp(c->name, argv[1]) == 0 ? 1 : 0;
    const size_t first = (size_t)(space - c->name);
    if (strncmp(c->name, argv[1], first) != 0 || argv[1][first] != 0) return 0;
    return argc > 2 && strcmp(space + 1, argv[2]) == 0 ? 2 : 0;
}

/* "cuzk prove" without a kind, or with an unknown one: list what there is. */
static int usage_of_group(const char *word) {
    bool found = false;
    const size_t n = strlen(word);
    for (int i = 0; i < N_COMMANDS; i++) {
        if (strncmp(commands[i]->name, word, n) != 0 || commands[i]->name[n] != ' ') continue;
        if (!found) fprintf(stderr, "cuzk %s: which kind?\n", word);
        found = true;
        fprintf(stderr, "  cuzk %-16s %s\n", commands[i]->name, commands[i]->summary);
    }
    if (!found) fprintf(stderr, "cuzk: unknown command '%s' (see cuzk --help)\n", word);
    return EXIT_BAD_INPUT;
}

static int dispatch(int argc, char **argv) {
    if (argc < 2) {
        usage(stderr);
        return EXIT_BAD_INPUT;
    }
    if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
        printf("cuzk %s\n", CUZK_VERSION);
        return EXIT_OK;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
        strcmp(argv[1], "help") == 0) {
        usage(stdout);
        return EXIT_OK;
    }
    /* As the Rust daemon is started: cuzk --config FILE. */
    if (strncmp(argv[1], "--", 2) == 0) return cmd_serve.run(argc, argv, &cmd_serve);
    for (int i = 0; i < N_COMMANDS; i++) {
        const int words = match(commands[i], argc, argv);
        if (words > 0) return commands[i]->run(argc - words, argv + words, commands[i]);
    }
    return usage_of_group(argv[1]);
}

int main(int argc, char **argv) {
    const int code = dispatch(argc, argv);
    /* A result that did not reach its reader is no result. */
    if (fflush(stdout) == 0 && ferror(stdout) == 0) return code;
    fprintf(stderr, "cuzk: standard output: %s\n", strerror(errno));
    return code == EXIT_OK ? EXIT_BAD_INPUT : code;
}
