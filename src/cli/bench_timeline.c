#include "cli/bench_timeline.h"

#ifdef CUZK_HAVE_SERVER

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/file.h"
#include "formats/json_flat.h"
#include "host/json_out.h"
#include "server/address.h"

enum { MAX_STATUS = 64 << 20, MAX_LANES = 64 };
enum { STAGE_WITNESS, STAGE_DEVICE, STAGE_VERIFY, N_STAGES };
static const char *const stage_names[N_STAGES] = {"witness", "device", "verify"};
static const char *const stage_colours[N_STAGES] = {"#4f8fd9", "#e08a3c", "#59a66b"};

typedef struct span {
    char job[64];
    unsigned partition, stage, lane;
    uint64_t from, to;
} span;

/* A partition while its scalars come in. */
typedef struct part {
    uint64_t device, witness_at, ready_at, device_at, verify_at, done_at;
    bool has_device;
} part;

struct timeline {
    address where;
    span *spans;
    size_t n, capacity;
    uint64_t newest; /* done_at of the newest partition taken: later ones are new */
    uint64_t seen;   /* the newest of this poll */
    bool started;
    char job[64];
    size_t job_index, partition_index;
    part part;
    bool in_part, no_memory;
};

cuzk_status timeline_new(const char *http, timeline **out, cuzk_error *err) {
    timeline *t = calloc(1, sizeof *t);
    *out = NULL;
    if (t == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for a timeline");
    cuzk_status status = address_parse(http, &t->where, err);
    if (status == CUZK_OK) status = timeline_poll(t, err); /* what is over already */
    if (status != CUZK_OK) {
        free(t);
        return status;
    }
    t->n = 0;
    t->started = true;
    *out = t;
    return CUZK_OK;
}

void timeline_free(timeline *t) {
    if (t != NULL) free(t->spans);
    free(t);
}

/* ---- reading ---- */

static cuzk_status http_get(const address *a, const char *path, char **body, size_t *bytes,
                            cuzk_error *err) {
    const struct timeval wait = {.tv_sec = 10};
    char request[256], *text = malloc(MAX_STATUS);
    size_t n = 0;
    ssize_t got = -1;
    const int fd = socket(a->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int length =
        snprintf(request, sizeof request,
                 "GET %s HTTP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n", path);
    if (text != NULL && fd >= 0 &&
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait) == 0 &&
        connect(fd, (const struct sockaddr *)&a->socket, a->socket_bytes) == 0 &&
        write(fd, request, (size_t)length) == length)
        while (n + 1 < MAX_STATUS && (got = read(fd, text + n, MAX_STATUS - 1 - n)) > 0)
            n += (size_t)got;
    const int code = errno;
    if (fd >= 0) close(fd);
    if (text != NULL) text[n] = 0;
    char *end =
        got == 0 && n > 12 && memcmp(text + 8, " 200", 4) == 0 ? strstr(text, "\r\n\r\n") : NULL;
    if (end == NULL) {
        free(text);
        return cuzk_fail(err, CUZK_ERR_IO, "http://%s%s: %s", a->text, path,
                         got < 0 ? strerror(code) : "no good answer");
    }
    *bytes = n - (size_t)(end + 4 - text);
    memmove(text, end + 4, *bytes);
    *body = text;
    return CUZK_OK;
}

static void add_span(timeline *t, unsigned stage, unsigned lane, uint64_t from, uint64_t to) {
    if (from == 0 || to < from) return;
    if (t->n == t->capacity) {
        const size_t more = t->capacity == 0 ? 256 : 2 * t->capacity;
        span *spans = realloc(t->spans, more * sizeof *spans);
        t->no_memory |= spans == NULL;
        if (spans == NULL) return;
        t->spans = spans;
        t->capacity = more;
    }
    span *s = &t->spans[t->n++];
    *s = (span){.partition = (unsigned)t->partition_index,
                .stage = stage,
                .lane = lane,
                .from = from,
                .to = to};
    memcpy(s->job, t->job, sizeof s->job);
}

static void end_part(timeline *t) {
    const part *p = &t->part;
    if (t->in_part && p->done_at > t->newest) {
        if (p->done_at > t->seen) t->seen = p->done_at;
        add_span(t, STAGE_WITNESS, 0, p->witness_at, p->ready_at);
        if (p->has_device)
            add_span(t, STAGE_DEVICE, (unsigned)p->device, p->device_at, p->verify_at);
        add_span(t, STAGE_VERIFY, 0, p->verify_at, p->done_at);
    }
    t->in_part = false;
}

static uint64_t number(const json_scalar *s) {
    char text[24];
    snprintf(text, sizeof text, "%.*s", (int)s->n, s->text);
    return strtoull(text, NULL, 10);
}

static cuzk_status take_scalar(void *context, const json_scalar *s, cuzk_error *err) {
    timeline *t = context;
    size_t job, partition;
    int at = 0;
    (void)err;
    if (sscanf(s->path, "recent[%zu].%n", &job, &at) != 1 || at == 0) return CUZK_OK;
    const char *rest = s->path + at;
    if (strcmp(rest, "job_id") == 0) {
        end_part(t);
        snprintf(t->job, sizeof t->job, "%.*s", (int)s->n, s->text);
    }
    if (sscanf(rest, "partitions[%zu].%n", &partition, &at) != 1) return CUZK_OK;
    rest += at;
    if (!t->in_part || t->job_index != job || t->partition_index != partition) {
        end_part(t);
        t->in_part = true;
        t->job_index = job;
        t->partition_index = partition;
        t->part = (part){0};
    }
    const struct {
        const char *name;
        uint64_t *to;
    } fields[] = {{"witness_at", &t->part.witness_at}, {"ready_at", &t->part.ready_at},
                  {"device_at", &t->part.device_at},   {"verify_at", &t->part.verify_at},
                  {"done_at", &t->part.done_at},       {"device", &t->part.device}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++)
        if (strcmp(rest, fields[i].name) == 0 && s->kind == JSON_INTEGER) {
            *fields[i].to = number(s);
            t->part.has_device |= fields[i].to == &t->part.device;
        }
    return CUZK_OK;
}

cuzk_status timeline_poll(timeline *t, cuzk_error *err) {
    char *body;
    size_t bytes;
    CUZK_TRY(http_get(&t->where, "/status", &body, &bytes, err));
    t->seen = t->newest;
    const cuzk_status status = json_flat_parse(body, bytes, MAX_STATUS, take_scalar, t, err);
    end_part(t);
    t->newest = t->seen;
    free(body);
    if (status == CUZK_OK && t->no_memory)
        return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for a timeline");
    return status;
}

/* ---- rows ---- */

static int by_time(const void *a, const void *b) {
    const span *x = a, *y = b;
    return (x->from > y->from) - (x->from < y->from);
}

/* Which worker made a witness is not told: overlapping ones go to different lanes. */
static unsigned pack_lanes(span *spans, size_t n, unsigned stage) {
    uint64_t busy_until[MAX_LANES] = {0};
    unsigned used = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned lane = 0;
        if (spans[i].stage != stage) continue;
        while (lane + 1 < MAX_LANES && busy_until[lane] > spans[i].from)
            lane++;
        spans[i].lane = lane;
        busy_until[lane] = spans[i].to;
        if (lane >= used) used = lane + 1;
    }
    return used;
}

typedef struct picture {
    span *spans;
    size_t n;
    unsigned lanes[N_STAGES];
    uint64_t from, to;
} picture;

static cuzk_status picture_make(const timeline *t, picture *p, cuzk_error *err) {
    *p = (picture){.n = t->n, .from = UINT64_MAX};
    p->spans = malloc((t->n + 1) * sizeof *p->spans);
    if (p->spans == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for a timeline");
    if (t->n > 0) memcpy(p->spans, t->spans, t->n * sizeof *p->spans);
    qsort(p->spans, p->n, sizeof *p->spans, by_time);
    p->lanes[STAGE_WITNESS] = pack_lanes(p->spans, p->n, STAGE_WITNESS);
    p->lanes[STAGE_VERIFY] = pack_lanes(p->spans, p->n, STAGE_VERIFY);
    for (size_t i = 0; i < p->n; i++) {
        const span *s = &p->spans[i];
        if (s->stage == STAGE_DEVICE && s->lane >= p->lanes[STAGE_DEVICE])
            p->lanes[STAGE_DEVICE] = s->lane + 1;
        if (s->from < p->from) p->from = s->from;
        if (s->to > p->to) p->to = s->to;
    }
    if (p->n == 0) p->from = 0;
    return CUZK_OK;
}

static void row_name(unsigned stage, unsigned lane, char out[32]) {
    snprintf(out, 32, "%s %u", stage_names[stage], lane);
}

/* ---- writing ---- */

static cuzk_status finish(FILE *f, const char *path, cuzk_error *err) {
    const bool bad = f == NULL || ferror(f) != 0;
    if ((f != NULL && fclose(f) != 0) || bad)
        return cuzk_fail(err, CUZK_ERR_IO, "%s: %s", path, strerror(errno));
    return CUZK_OK;
}

cuzk_status timeline_write_json(const timeline *t, const char *path, cuzk_error *err) {
    picture p;
    CUZK_TRY(picture_make(t, &p, err));
    FILE *f = fopen(path, "we");
    json_out j = {.file = f};
    if (f != NULL) {
        json_out_array(&j, NULL);
        for (size_t i = 0; i < p.n; i++) {
            const span *s = &p.spans[i];
            char row[32];
            row_name(s->stage, s->lane, row);
            json_out_object(&j, NULL);
            json_out_string(&j, "job", s->job);
            json_out_u64(&j, "partition", s->partition);
            json_out_string(&j, "row", row);
            json_out_string(&j, "stage", stage_names[s->stage]);
            json_out_u64(&j, "from_ms", s->from);
            json_out_u64(&j, "to_ms", s->to);
            json_out_end_object(&j);
        }
        json_out_end_array(&j);
    }
    free(p.spans);
    return finish(f, path, err);
}

static void svg_text(FILE *f, const char *text) {
    for (; *text != 0; text++) {
        if (*text == '<' || *text == '>' || *text == '&' || *text == '"')
            fprintf(f, "&#%d;", *text);
        else
            fputc(*text, f);
    }
}

enum { LEFT = 100, WIDTH = 1100, ROW = 22, TOP = 30 };

static void svg_rows(FILE *f, const picture *p, const unsigned first[N_STAGES]) {
    const double scale = p->to > p->from ? (double)WIDTH / (double)(p->to - p->from) : 0;
    char name[32];
    for (unsigned stage = 0; stage < N_STAGES; stage++)
        for (unsigned lane = 0; lane < p->lanes[stage]; lane++) {
            row_name(stage, lane, name);
            fprintf(f, "<text x=\"4\" y=\"%u\">%s</text>\n", TOP + (first[stage] + lane) * ROW + 15,
                    name);
        }
    for (size_t i = 0; i < p->n; i++) {
        const span *s = &p->spans[i];
        const double width = (double)(s->to - s->from) * scale;
        fprintf(f, "<rect x=\"%.2f\" y=\"%u\" width=\"%.2f\" height=\"%d\" fill=\"%s\"><title>",
                LEFT + (double)(s->from - p->from) * scale,
                TOP + (first[s->stage] + s->lane) * ROW + 2, width < 0.5 ? 0.5 : width, ROW - 4,
                stage_colours[s->stage]);
        svg_text(f, s->job);
        fprintf(f, " partition %u: %llu ms</title></rect>\n", s->partition,
                (unsigned long long)(s->to - s->from));
    }
}

cuzk_status timeline_write_svg(const timeline *t, const char *path, cuzk_error *err) {
    picture p;
    unsigned first[N_STAGES], rows = 0;
    CUZK_TRY(picture_make(t, &p, err));
    static const unsigned order[N_STAGES] = {STAGE_DEVICE, STAGE_WITNESS, STAGE_VERIFY};
    for (unsigned i = 0; i < N_STAGES; i++) {
        first[order[i]] = rows;
        rows += p.lanes[order[i]];
    }
    FILE *f = fopen(path, "we");
    if (f != NULL) {
        fprintf(f,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %u\" font-family=\""
                "sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" "
                "fill=\"#fff\"/>\n<text x=\"4\" y=\"18\">%.1f s</text>\n",
                LEFT + WIDTH + 10, TOP + rows * ROW + 10, (double)(p.to - p.from) / 1000);
        svg_rows(f, &p, first);
        fputs("</svg>\n", f);
    }
    free(p.spans);
    return finish(f, path, err);
}

#endif
