/* Digests of the constraint stream. The stream of a 32 GiB circuit is 31 GB, so rows are serialised
 * into a small buffer from pre-serialised coefficients and hashed at once; the chunks and the whole
 * streams are separate tasks. */
#include <string.h>

#include "base/bytes.h"
#include "hash/blake2.h"
#include "hash/sha256.h"
#include "r1cs/r1cs_internal.h"

#define TERM_BYTES 41 /* kind, u64 index, coefficient */
#define BUFFER_BYTES ((size_t)256 << 10)

/* What every task reads. */
typedef struct stream {
    const r1cs *r;
    const uint8_t (*coefs)[FR_BYTES]; /* the dictionary, serialised */
    const bool *zero;                 /* of the dictionary: is it zero? */
    size_t row_bytes;                 /* of the longest row */
} stream;

/* --- the stream of the fixtures, little-endian --- */

static uint8_t *put_term(uint8_t *out, const stream *s, cs_var var, uint16_t coef) {
    out[0] = (var & CS_INPUT_FLAG) == 0;
    store_le64(out + 1, var & ~CS_INPUT_FLAG);
    memcpy(out + 9, s->coefs[coef], FR_BYTES);
    return out + TERM_BYTES;
}

/* One row of one matrix of a block's instance. */
static uint8_t *put_row(uint8_t *out, const stream *s, const r1cs_place *at, int m,
                        bool zero_terms) {
    const r1cs_matrix *matrix = &at->block->m[m];
    const uint32_t end = matrix->row_start[at->row + 1];
    uint8_t *count = out;
    uint32_t n = 0;
    out += sizeof n;
    for (uint32_t k = matrix->row_start[at->row]; k < end; k++) {
        if (!zero_terms && s->zero[matrix->coef[k]]) continue;
        out = put_term(out, s, col_var(at->block, at->instance, matrix->col[k]), matrix->coef[k]);
        n++;
    }
    store_le32(count, n);
    return out;
}

/* The appended row x_i * 0 = 0. */
static uint8_t *put_input_row(uint8_t *out, const stream *s, uint64_t input) {
    store_le32(out, 1);
    out = put_term(out + 4, s, (cs_var)input | CS_INPUT_FLAG, 0);
    store_le64(out, 0); /* B and C: no terms */
    return out + 8;
}

/* To the next row, which must exist. */
static void next_place(r1cs_place *at) {
    if (++at->row < at->block->rows) return;
    at->row = 0;
    if (++at->instance < at->block->count) return;
    at->instance = 0;
    do
        at->block++;
    while (at->block->rows == 0);
}

/* Hash rows [first, end), input rows included, into ctx. buffer: BUFFER_BYTES + row_bytes. */
static void hash_rows(const stream *s, uint64_t first, uint64_t end, bool zero_terms,
                      uint8_t *buffer, sha256_ctx *ctx) {
    const r1cs *r = s->r;
    uint8_t *out = buffer;
    r1cs_place at = {0};
    if (first < r->rows) at = r1cs_locate(r, first);
    for (uint64_t row = first; row < end; row++) {
        if (row < r->rows) {
            for (int m = 0; m < 3; m++)
                out = put_row(out, s, &at, m, zero_terms);
            if (row + 1 < r->rows) next_place(&at);
        } else {
            out = put_input_row(out, s, row - r->rows);
        }
        if ((size_t)(out - buffer) < BUFFER_BYTES) continue;
        sha256_update(ctx, buffer, (size_t)(out - buffer));
        out = buffer;
    }
    sha256_update(ctx, buffer, (size_t)(out - buffer));
}

/* --- tasks --- */

typedef struct digest_run {
    const cuzk_host *host;
    stream s;
    r1cs_digests *out;
    uint8_t *buffers; /* one for each worker */
    size_t buffer_bytes;
    bool whole_without_zero; /* task 1 is the stream without zero terms */
} digest_run;

static void hash_whole(const digest_run *run, bool zero_terms, uint8_t *buffer, uint8_t all[32],
                       uint8_t without_input_rows[32]) {
    const r1cs *r = run->s.r;
    sha256_ctx ctx, fork;
    sha256_init(&ctx);
    for (uint64_t row = 0; row < r->rows && !cuzk_host_cancelled(run->host);) {
        const uint64_t n = r->rows - row < R1CS_CHUNK_ROWS ? r->rows - row : R1CS_CHUNK_ROWS;
        hash_rows(&run->s, row, row + n, zero_terms, buffer, &ctx);
        row += n;
        if (zero_terms) cuzk_host_progress(run->host, "digest", row, r->rows);
    }
    fork = ctx;
    sha256_final(&fork, without_input_rows);
    hash_rows(&run->s, r->rows, r->rows + r->inputs, zero_terms, buffer, &ctx);
    sha256_final(&ctx, all);
}

static void digest_task(void *arg, size_t task, unsigned worker) {
    const digest_run *run = arg;
    r1cs_digests *out = run->out;
    uint8_t *buffer = run->buffers + worker * run->buffer_bytes;
    if (task == 0) {
        hash_whole(run, true, buffer, out->all, out->without_input_rows);
        return;
    }
    if (task == 1 && run->whole_without_zero) {
        uint8_t unused[32];
        hash_whole(run, false, buffer, out->without_zero_terms, unused);
        return;
    }
    if (cuzk_host_cancelled(run->host)) return;
    const r1cs *r = run->s.r;
    const size_t chunk = task - (run->whole_without_zero ? 2 : 1);
    const uint64_t first = (uint64_t)chunk * R1CS_CHUNK_ROWS;
    const uint64_t left = r->rows + r->inputs - first;
    sha256_ctx ctx;
    sha256_init(&ctx);
    hash_rows(&run->s, first, first + (left < R1CS_CHUNK_ROWS ? left : R1CS_CHUNK_ROWS), true,
              buffer, &ctx);
    sha256_final(&ctx, out->chunks[chunk]);
}

static void count_terms(const r1cs *r, r1cs_digests *out) {
    for (int m = 0; m < 3; m++) {
        out->max_terms[m] = m == R1CS_A;
        out->empty_lcs[m] = m == R1CS_A ? 0 : r->inputs;
        for (unsigned i = 0; i < r->n_blocks; i++) {
            const r1cs_block *b = &r->blocks[i];
            uint64_t empty = 0;
            for (uint64_t row = 0; row < b->rows; row++) {
                const uint64_t n = b->m[m].row_start[row + 1] - b->m[m].row_start[row];
                if (n > out->max_terms[m]) out->max_terms[m] = n;
                empty += n == 0;
            }
            out->empty_lcs[m] += b->count * empty;
        }
    }
}

/* --- memory --- */

/* The tables of a stream: serialised coefficients and which of them are zero. */
typedef struct stream_memory {
    uint8_t (*coefs)[FR_BYTES];
    bool *zero;
} stream_memory;

static void stream_close(const cuzk_host *host, const r1cs *r, stream_memory *memory) {
    cuzk_host_free(host, memory->coefs, r->dict_size, FR_BYTES);
    cuzk_host_free(host, memory->zero, r->dict_size, sizeof *memory->zero);
}

static cuzk_status stream_open(const cuzk_host *host, const r1cs *r, stream_memory *memory,
                               stream *s, cuzk_error *err) {
    *memory = (stream_memory){0};
    if (!r->has_c)
        return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "%s: a digest needs C, which was dropped",
                         r->name);
    void *p = NULL;
    CUZK_TRY(cuzk_host_alloc(host, &p, r->dict_size, FR_BYTES, "digest coefficients", err));
    memory->coefs = p;
    const cuzk_status status =
        cuzk_host_alloc(host, &p, r->dict_size, sizeof *memory->zero, "digest coefficients", err);
    if (status != CUZK_OK) {
        stream_close(host, r, memory);
        return status;
    }
    memory->zero = p;
    for (uint32_t i = 0; i < r->dict_size; i++) {
        fr_to_bytes(memory->coefs[i], &r->dict[i]);
        memory->zero[i] = fr_is_zero(&r->dict[i]);
    }
    *s = (stream){.r = r, .coefs = (const uint8_t(*)[FR_BYTES])memory->coefs, .zero = memory->zero};
    s->row_bytes = 3 * (8 + r1cs_max_row_terms(r) * TERM_BYTES);
    return CUZK_OK;
}

static cuzk_status run_digest(const cuzk_host *host, digest_run *run, cuzk_error *err) {
    const r1cs *r = run->s.r;
    r1cs_digests *out = run->out;
    void *memory = NULL;
    out->n_chunks = (size_t)((r->rows + r->inputs + R1CS_CHUNK_ROWS - 1) / R1CS_CHUNK_ROWS);
    CUZK_TRY(cuzk_host_alloc(host, &memory, out->n_chunks, 32, "chunk digests", err));
    out->chunks = memory;
    run->buffer_bytes = BUFFER_BYTES + run->s.row_bytes;
    run->whole_without_zero = (r->zero_terms[0] | r->zero_terms[1] | r->zero_terms[2]) != 0;
    CUZK_TRY(cuzk_host_alloc(host, &memory, host->workers, run->buffer_bytes, "digest", err));
    run->buffers = memory;
    const size_t tasks = out->n_chunks + (run->whole_without_zero ? 2 : 1);
    cuzk_host_parallel(host, tasks, digest_task, run);
    cuzk_host_free(host, run->buffers, host->workers, run->buffer_bytes);
    if (cuzk_host_cancelled(host))
        return cuzk_fail(err, CUZK_ERR_CANCELLED, "digest of %s: cancelled", r->name);
    if (!run->whole_without_zero) memcpy(out->without_zero_terms, out->all, 32);
    return CUZK_OK;
}

cuzk_status r1cs_digest(const cuzk_host *host, const r1cs *r, r1cs_digests *out, cuzk_error *err) {
    stream_memory memory;
    digest_run run = {.host = host, .out = out};
    *out = (r1cs_digests){0};
    CUZK_TRY(stream_open(host, r, &memory, &run.s, err));
    const cuzk_status status = run_digest(host, &run, err);
    stream_close(host, r, &memory);
    if (status != CUZK_OK) {
        r1cs_digests_free(host, out);
        return status;
    }
    count_terms(r, out);
    sha256(out->a_aux, r->a_aux_map, (size_t)(r->aux + 7) / 8);
    sha256(out->b_aux, r->b_aux_map, (size_t)(r->aux + 7) / 8);
    sha256(out->b_input, r->b_input_map, (size_t)(r->inputs + 7) / 8);
    return CUZK_OK;
}

void r1cs_digests_free(const cuzk_host *host, r1cs_digests *d) {
    cuzk_host_free(host, d->chunks, d->n_chunks, 32);
    d->chunks = NULL;
    d->n_chunks = 0;
}

/* --- the hash of bellpepper's TestConstraintSystem, big-endian --- */

static void put_be_bytes(uint8_t out[FR_BYTES], const uint8_t in[FR_BYTES]) {
    for (int i = 0; i < FR_BYTES; i++)
        out[i] = in[FR_BYTES - 1 - i];
}

static uint8_t *put_row_be(uint8_t *out, const stream *s, const r1cs_place *at, int m) {
    const r1cs_matrix *matrix = &at->block->m[m];
    const uint32_t end = matrix->row_start[at->row + 1];
    uint8_t *count = out;
    uint64_t n = 0;
    out += sizeof n;
    for (uint32_t k = matrix->row_start[at->row]; k < end; k++) {
        if (s->zero[matrix->coef[k]]) continue;
        const cs_var var = col_var(at->block, at->instance, matrix->col[k]);
        out[0] = (var & CS_INPUT_FLAG) != 0 ? 'I' : 'A';
        store_be64(out + 1, var & ~CS_INPUT_FLAG);
        put_be_bytes(out + 9, s->coefs[matrix->coef[k]]);
        out += TERM_BYTES;
        n++;
    }
    store_be64(count, n);
    return out;
}

static void hash_rows_be(const stream *s, uint8_t *buffer, uint8_t hash[32]) {
    const r1cs *r = s->r;
    blake2s_ctx ctx;
    blake2s_init(&ctx);
    store_be64(buffer, r->inputs);
    store_be64(buffer + 8, r->aux);
    store_be64(buffer + 16, r->rows);
    blake2s_update(&ctx, buffer, 24);
    uint8_t *out = buffer;
    r1cs_place at = {0};
    if (r->rows > 0) at = r1cs_locate(r, 0);
    for (uint64_t row = 0; row < r->rows; row++) {
        for (int m = 0; m < 3; m++)
            out = put_row_be(out, s, &at, m);
        if (row + 1 < r->rows) next_place(&at);
        if ((size_t)(out - buffer) < BUFFER_BYTES) continue;
        blake2s_update(&ctx, buffer, (size_t)(out - buffer));
        out = buffer;
    }
    blake2s_update(&ctx, buffer, (size_t)(out - buffer));
    blake2s_final(&ctx, hash);
}

cuzk_status r1cs_cs_hash(const cuzk_host *host, const r1cs *r, uint8_t hash[32], cuzk_error *err) {
    stream_memory memory;
    stream s;
    void *buffer = NULL;
    CUZK_TRY(stream_open(host, r, &memory, &s, err));
    const size_t bytes = BUFFER_BYTES + s.row_bytes;
    const cuzk_status status = cuzk_host_alloc(host, &buffer, 1, bytes, "digest", err);
    if (status == CUZK_OK) hash_rows_be(&s, buffer, hash);
    cuzk_host_free(host, buffer, 1, bytes);
    stream_close(host, r, &memory);
    return status;
}
