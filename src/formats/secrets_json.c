/* Set-up secrets and fixed r, s. */
#include <string.h>

#include "base/file.h"
#include "formats/json_flat.h"
#include "formats/small_json.h"

#define MAX_BYTES ((size_t)1 << 20)

/* Reads a whole small file through fn; errors begin with the path. */
static cuzk_status parse_file(const char *path, json_scalar_fn fn, void *context, cuzk_error *err) {
    file_map map;
    CUZK_TRY(file_map_open(path, &map, err));
    const cuzk_status st =
        json_flat_parse((const char *)map.data, map.bytes, MAX_BYTES, fn, context, err);
    file_map_close(&map);
    return st == CUZK_OK ? CUZK_OK : cuzk_error_context(err, st, "%s", path);
}

static cuzk_status take_fr(const json_scalar *s, fr_t *out, bool *seen, cuzk_error *err) {
    uint8_t bytes[32];
    CUZK_TRY(json_take_hex32(s, bytes, seen, err));
    const cuzk_status st = fr_from_bytes(out, bytes);
    explicit_bzero(bytes, sizeof bytes);
    if (st != CUZK_OK)
        return cuzk_fail(err, CUZK_ERR_NOT_CANONICAL, "%.100s: not below the field's modulus r",
                         s->path);
    return CUZK_OK;
}

/* ---- secrets ---- */

#define N_SECRETS 5
static const char *const secret_names[N_SECRETS] = {"alpha", "beta", "gamma", "delta", "tau"};

typedef struct secrets_reader {
    fr_t *values[N_SECRETS];
    bool seen[N_SECRETS];
} secrets_reader;

static cuzk_status on_secret(void *context, const json_scalar *s, cuzk_error *err) {
    secrets_reader *r = context;
    for (size_t i = 0; i < N_SECRETS; i++)
        if (strcmp(s->path, secret_names[i]) == 0)
            return take_fr(s, r->values[i], &r->seen[i], err);
    return CUZK_OK;
}

cuzk_status secrets_file_read(const char *path, groth16_secrets *out, cuzk_error *err) {
    secrets_reader r = {.values = {&out->alpha, &out->beta, &out->gamma, &out->delta, &out->tau}};
    CUZK_TRY(parse_file(path, on_secret, &r, err));
    for (size_t i = 0; i < N_SECRETS; i++)
        if (!r.seen[i])
            return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: \"%s\" is missing", path, secret_names[i]);
    return CUZK_OK;
}

/* ---- fixed r and s ---- */

typedef struct rs_reader {
    groth16_blinding *out;
    size_t n, count;   /* entries expected, and values that have come */
    bool has_r, has_s; /* of the entry that is being read */
} rs_reader;

static cuzk_status on_rs(void *context, const json_scalar *s, cuzk_error *err) {
    rs_reader *r = context;
    size_t i;
    const bool is_r = json_path_is(s->path, "[].r", &i);
    if (!is_r && !json_path_is(s->path, "[].s", &i)) return CUZK_OK;
    if (i >= r->n)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%.100s: the proof has %zu partitions", s->path,
                         r->n);
    if (i != r->count / 2)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "[%zu]: r or s is missing", r->count / 2);
    if (r->count % 2 == 0) r->has_r = r->has_s = false;
    r->count++;
    return take_fr(s, is_r ? &r->out[i].r : &r->out[i].s, is_r ? &r->has_r : &r->has_s, err);
}

cuzk_status fixed_rs_file_read(const char *path, groth16_blinding *out, size_t n, cuzk_error *err) {
    rs_reader r = {.out = out, .n = n};
    CUZK_TRY(parse_file(path, on_rs, &r, err));
    if (r.count != 2 * n)
        return cuzk_fail(err, CUZK_ERR_FORMAT,
                         "%s: {\"r\", \"s\"} of %zu partitions expected, got %zu values", path, n,
                         r.count);
    return CUZK_OK;
}
