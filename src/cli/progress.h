/* Progress of long stages on standard error: a bar on a terminal, a line every tenth elsewhere. */
#ifndef CUZK_CLI_PROGRESS_H
#define CUZK_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define PROGRESS_DEPTH 4

typedef struct progress_stage {
    char name[32];
    uint64_t done, total;
    double started;
} progress_stage;

typedef struct progress_display {
    FILE *out;
    bool terminal;
    bool shown; /* a bar is on the current line */
    /* A stage that starts before the last one is complete is a part of it: of its next unit. The
     * outermost is what is shown, with its parts counted in. */
    progress_stage stages[PROGRESS_DEPTH];
    unsigned depth;
    double last; /* when something was shown */
    int percent; /* what was shown; never goes back within a stage */
} progress_display;

void progress_open(progress_display *p, FILE *out, bool terminal);
/* A host's progress function (arg: the display). Stages that end within a second are not shown. */
void progress_report(void *arg, const char *stage, uint64_t done, uint64_t total);
/* Ends a line that stands half-way. */
void progress_close(progress_display *p);

#endif
