#include "cli/progress.h"

#include <string.h>

#include "cli/cli.h"

void progress_open(progress_display *p, FILE *out, bool terminal) {
    *p = (progress_display){.out = out, .terminal = terminal};
}

void progress_close(progress_display *p) {
    if (p->shown && p->terminal) fputc('\n', p->out);
    p->shown = false;
}

/* The place of a stage among those that run, or a new one inside the innermost. */
static progress_stage *place(progress_display *p, const char *name, double now) {
    for (unsigned i = 0; i < p->depth; i++) {
        if (strncmp(p->stages[i].name, name, sizeof p->stages[i].name - 1) != 0) continue;
        p->depth = i + 1; /* what ran inside is over */
        return &p->stages[i];
    }
    if (p->depth == PROGRESS_DEPTH) return NULL;
    progress_stage *s = &p->stages[p->depth++];
    *s = (progress_stage){.started = now};
    (void)snprintf(s->name, sizeof s->name, "%s", name);
    if (s == p->stages) {
        p->last = now;
        p->percent = 0;
    }
    return s;
}

/* Of the outermost stage, between 0 and 1. */
static double fraction(const progress_display *p) {
    double inner = 0;
    for (unsigned i = p->depth; i-- > 0;) {
        const progress_stage *s = &p->stages[i];
        const double all = s->total == 0 ? 1 : ((double)s->done + inner) / (double)s->total;
        inner = all > 1 ? 1 : all;
    }
    return inner;
}

static void draw_bar(const progress_display *p, const char *stage, double seconds) {
    char bar[41];
    for (int i = 0; i < 40; i++)
        bar[i] = i < p->percent * 40 / 100 ? '#' : '.';
    bar[40] = 0;
    fprintf(p->out, "\r%-24s [%s] %3d%% %6.1f s", stage, bar, p->percent, seconds);
    fflush(p->out);
}

static void show(progress_display *p, double now, bool finished) {
    const progress_stage *outer = &p->stages[0];
    const double seconds = now - outer->started;
    const int percent = (int)(100.0 * fraction(p));
    if (seconds < 1.0) return;
    if (p->terminal) {
        if (now - p->last < 0.1 && p->shown && !finished) return;
        p->percent = percent > p->percent ? percent : p->percent;
        draw_bar(p, outer->name, seconds);
        if (finished) fputc('\n', p->out);
        p->shown = !finished;
    } else {
        const bool new_tenth = percent >= p->percent + 10 || (finished && p->percent < 100);
        if (!new_tenth && now - p->last < 10.0) return;
        p->percent = percent > p->percent ? percent : p->percent;
        fprintf(p->out, "%s: %d%% (%.1f s)\n", outer->name, p->percent, seconds);
    }
    p->last = now;
}

void progress_report(void *arg, const char *stage, uint64_t done, uint64_t total) {
    progress_display *p = arg;
    const double now = cli_now();
    progress_stage *s = place(p, stage, now);
    if (s == NULL) return;
    s->done = done;
    s->total = total;
    const bool complete = done >= total;
    show(p, now, complete && p->depth == 1);
    if (complete) p->depth--;
}
