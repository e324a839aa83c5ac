/* Options of all commands: one parser, one --help. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static void help(const cli_command *self, const cli_option *options, size_t n, size_t max_rest) {
    printf("usage: cuzk %s", self->name);
    for (size_t i = 0; i < n; i++) {
        const cli_option *o = &options[i];
        printf(" %s--%s%s%s%s", o->required ? "" : "[", o->name, o->value != NULL ? " " : "",
               o->value != NULL ? o->value : "", o->required ? "" : "]");
    }
    printf("%s\n\n%s\n\n", max_rest > 0 ? " FILE" : "", self->about);
    for (size_t i = 0; i < n; i++) {
        const cli_option *o = &options[i];
        char left[48];
        snprintf(left, sizeof left, "--%s %s", o->name, o->value != NULL ? o->value : "");
        printf("  %-24s ", left);
        /* Continuation lines of the text are indented below the first. */
        for (const char *p = o->help; *p != 0; p++)
            *p == '\n' ? printf("\n%27s", "") : putchar(*p);
        putchar('\n');
    }
    printf("  %-24s this text\n", "--help");
}

static const cli_option *find(const char *name, size_t length, const cli_option *options,
                              size_t n) {
    for (size_t i = 0; i < n; i++)
        if (strlen(options[i].name) == length && memcmp(options[i].name, name, length) == 0)
            return &options[i];
    return NULL;
}

/* Store one value; an exit code other than EXIT_OK after a reported mistake. */
static int store(const cli_command *self, const cli_option *o, const char *value) {
    switch (o->kind) {
    case CLI_FLAG:
        *(bool *)o->target = true;
        return EXIT_OK;
    case CLI_TEXT:
        *(const char **)o->target = value;
        return EXIT_OK;
    case CLI_COUNT:
        if (cli_parse_unsigned(value, o->min, o->max, o->target)) return EXIT_OK;
        return cli_usage(self, "--%s: expected a number from %llu to %llu, got '%s'", o->name,
                         (unsigned long long)o->min, (unsigned long long)o->max, value);
    case CLI_LIST: {
        cli_list *list = o->target;
        if (list->n == CLI_LIST_MAX)
            return cli_usage(self, "--%s: more than %d times", o->name, CLI_LIST_MAX);
        list->items[list->n++] = value;
        return EXIT_OK;
    }
    }
    return EXIT_FAILED;
}

static bool is_set(const cli_option *o) {
    switch (o->kind) {
    case CLI_TEXT:
        return *(const char **)o->target != NULL;
    case CLI_LIST:
        return ((cli_list *)o->target)->n > 0;
    default:
        return true;
    }
}

bool cli_parse(int argc, char **argv, const cli_command *self, const cli_option *options, size_t n,
               cli_list *rest, size_t max_rest, int *exit_code) {
    bool options_over = false;
    *exit_code = EXIT_OK;
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        if (options_over || strncmp(word, "-", 1) != 0 || word[1] == 0) {
            if (rest == NULL || rest->n >= max_rest) {
                *exit_code = cli_usage(self, "unexpected argument '%s'", word);
                return false;
            }
            rest->items[rest->n++] = word;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            options_over = true;
            continue;
        }
        if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
            help(self, options, n, max_rest);
            return false;
        }
        /* --name value or --name=value */
        const char *equals = strchr(word, '=');
        const size_t length = strncmp(word, "--", 2) != 0 ? 0
                              : equals != NULL            ? (size_t)(equals - word) - 2
                                                          : strlen(word) - 2;
        const cli_option *o = length == 0 ? NULL : find(word + 2, length, options, n);
        if (o == NULL) {
            *exit_code = cli_usage(self, "unknown option %s", word);
            return false;
        }
        const char *value = equals != NULL ? equals + 1 : NULL;
        if (o->kind == CLI_FLAG && value != NULL) {
            *exit_code = cli_usage(self, "--%s takes no value", o->name);
            return false;
        }
        if (o->kind != CLI_FLAG && value == NULL) {
            if (i + 1 == argc) {
                *exit_code = cli_usage(self, "--%s needs a value", o->name);
                return false;
            }
            value = argv[++i];
        }
        *exit_code = store(self, o, value);
        if (*exit_code != EXIT_OK) return false;
    }
    for (size_t i = 0; i < n; i++) {
        if (options[i].required && !is_set(&options[i])) {
            *exit_code = cli_usage(self, "--%s is needed", options[i].name);
            return false;
        }
    }
    return true;
}
