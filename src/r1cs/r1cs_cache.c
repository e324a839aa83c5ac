/* The cache file of a recorded circuit; docs/r1cs.md has the layout.
 *
 * Sizes in the header fix the place and length of every section, so a file holds no offsets that
 * could be wrong: sections follow the header in one order, each padded with zeros to 64 bytes and
 * covered, padding included, by a SHA-256 in the header, which is covered by its own. That finds
 * accidents. A file made to do harm can carry right digests, so the contents are checked as well.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "hash/sha256.h"
#include "r1cs/cs_internal.h"
#include "r1cs/r1cs_dict.h"
#include "r1cs/r1cs_internal.h"

/* Raised whenever the layout or the meaning of a recorded circuit changes. */
#define CACHE_VERSION 2u
#define CACHE_ENDIAN 0x01020304u
#define CACHE_ALIGN 64u
#define HEADER_BYTES 4096u
#define BLOCK_SECTIONS 11u /* classes, imports; row offsets, columns, coefficients of A, B, C */
#define MAX_SECTIONS (1 + CS_MAX_BLOCKS * BLOCK_SECTIONS)

static const char cache_magic[8] = R1CS_CACHE_MAGIC;

typedef struct cache_block {
    char name[32];
    uint64_t count, rows, aux, inputs, fields, nnz[3], n_imports;
} cache_block;

/* As it lies in the file, little-endian and without holes. */
typedef struct cache_header {
    char magic[8];
    uint32_t version, endian;
    uint64_t file_bytes;
    char name[32];
    uint32_t n_blocks, has_c, dict_size, reserved;
    cache_block blocks[CS_MAX_BLOCKS];
    uint8_t section_sha256[MAX_SECTIONS][32];
    uint8_t zero[HEADER_BYTES - 72 - CS_MAX_BLOCKS * 104 - MAX_SECTIONS * 32 - 32];
    uint8_t sha256[32]; /* of everything before it */
} cache_header;
_Static_assert(sizeof(cache_header) == HEADER_BYTES, "cache header layout");

typedef struct section {
    const void *data;
    uint64_t bytes;  /* without padding */
    uint64_t offset; /* in the file */
    char name[64];
} section;

/* --- the sections that a circuit's sizes call for --- */

static void set_section(section *s, const void *data, uint64_t count, uint64_t size) {
    s->data = data;
    s->bytes = count * size; /* both are bounded: below 2^35 */
}

static unsigned list_block(section *s, const r1cs *r, unsigned block) {
    static const char letter[3] = {'A', 'B', 'C'};
    const r1cs_block *b = &r->blocks[block];
    unsigned n = 0;
    set_section(&s[n], b->field_class, bit_words(b->aux), sizeof(uint64_t));
    (void)snprintf(s[n++].name, sizeof s->name, "block %u variable classes", block);
    set_section(&s[n], b->imports, b->count * b->n_imports, sizeof(uint32_t));
    (void)snprintf(s[n++].name, sizeof s->name, "block %u imports", block);
    for (int m = 0; m < (r->has_c ? 3 : 2); m++) {
        set_section(&s[n], b->m[m].row_start, b->rows + 1, sizeof(uint32_t));
        (void)snprintf(s[n++].name, sizeof s->name, "block %u %c row offsets", block, letter[m]);
        set_section(&s[n], b->m[m].col, b->m[m].nnz, sizeof(uint32_t));
        (void)snprintf(s[n++].name, sizeof s->name, "block %u %c columns", block, letter[m]);
        set_section(&s[n], b->m[m].coef, b->m[m].nnz, sizeof(uint16_t));
        (void)snprintf(s[n++].name, sizeof s->name, "block %u %c coefficients", block, letter[m]);
    }
    return n;
}

static uint64_t padded(uint64_t bytes) {
    return (bytes + CACHE_ALIGN - 1) / CACHE_ALIGN * CACHE_ALIGN;
}

/* Fills the list, returns its length; *file_bytes is where the last section ends. */
static unsigned list_sections(section s[MAX_SECTIONS], const r1cs *r, uint64_t *file_bytes) {
    unsigned n = 1;
    set_section(&s[0], r->dict, r->dict_size, sizeof(fr_t));
    (void)snprintf(s[0].name, sizeof s->name, "dictionary");
    for (unsigned i = 0; i < r->n_blocks; i++)
        n += list_block(&s[n], r, i);
    *file_bytes = HEADER_BYTES;
    for (unsigned i = 0; i < n; i++) {
        s[i].offset = *file_bytes;
        *file_bytes += padded(s[i].bytes);
    }
    return n;
}

/* --- saving --- */

static const uint8_t zeros[CACHE_ALIGN];

static void hash_section(const section *s, uint8_t digest[32]) {
    sha256_ctx ctx;
    sha256_init(&ctx);
    sha256_update(&ctx, s->data, (size_t)s->bytes);
    sha256_update(&ctx, zeros, (size_t)(padded(s->bytes) - s->bytes));
    sha256_final(&ctx, digest);
}

static void fill_header(cache_header *h, const r1cs *r, const section *s, unsigned n,
                        uint64_t file_bytes) {
    memset(h, 0, sizeof *h);
    memcpy(h->magic, cache_magic, sizeof h->magic);
    h->version = CACHE_VERSION;
    h->endian = CACHE_ENDIAN;
    h->file_bytes = file_bytes;
    memcpy(h->name, r->name, sizeof h->name);
    h->n_blocks = r->n_blocks;
    h->has_c = r->has_c;
    h->dict_size = r->dict_size;
    for (unsigned i = 0; i < r->n_blocks; i++) {
        const r1cs_block *b = &r->blocks[i];
        cache_block *to = &h->blocks[i];
        *to = (cache_block){.count = b->count,
                            .rows = b->rows,
                            .aux = b->aux,
                            .inputs = b->inputs,
                            .fields = b->fields,
                            .nnz = {b->m[0].nnz, b->m[1].nnz, b->m[2].nnz},
                            .n_imports = b->n_imports};
        memcpy(to->name, b->name, sizeof to->name);
    }
    for (unsigned i = 0; i < n; i++)
        hash_section(&s[i], h->section_sha256[i]);
    sha256(h->sha256, h, offsetof(cache_header, sha256));
}

cuzk_status r1cs_save(const r1cs *r, const char *path, cuzk_error *err) {
    section s[MAX_SECTIONS];
    cache_header header;
    file_writer *w = NULL;
    uint64_t file_bytes = 0;
    const unsigned n = list_sections(s, r, &file_bytes);
    fill_header(&header, r, s, n, file_bytes);
    CUZK_TRY(file_writer_open(path, &w, err));
    cuzk_status status = file_writer_write(w, &header, sizeof header, err);
    for (unsigned i = 0; i < n && status == CUZK_OK; i++) {
        status = file_writer_write(w, s[i].data, (size_t)s[i].bytes, err);
        if (status == CUZK_OK)
            status = file_writer_write(w, zeros, (size_t)(padded(s[i].bytes) - s[i].bytes), err);
    }
    if (status == CUZK_OK) return file_writer_commit(w, err);
    file_writer_abort(w);
    return status;
}

/* --- loading: the header --- */

static cuzk_status bad(cuzk_error *err, const char *text) {
    return cuzk_fail(err, CUZK_ERR_FORMAT, "%s", text);
}

static cuzk_status check_header(const file_map *map, cuzk_error *err) {
    const cache_header *h = (const cache_header *)map->data;
    uint8_t digest[32];
    if (map->bytes < HEADER_BYTES || memcmp(h->magic, cache_magic, sizeof h->magic) != 0)
        return bad(err, "not a circuit cache");
    if (h->endian != CACHE_ENDIAN) return bad(err, "made on a machine of other endianness");
    if (h->version != CACHE_VERSION)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "cache version %u, this program reads %u",
                         h->version, CACHE_VERSION);
    sha256(digest, h, offsetof(cache_header, sha256));
    if (memcmp(digest, h->sha256, sizeof digest) != 0) return bad(err, "the header is damaged");
    if (h->file_bytes != map->bytes)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%zu bytes long, the header says %llu", map->bytes,
                         (unsigned long long)h->file_bytes);
    if (h->n_blocks == 0 || h->n_blocks > CS_MAX_BLOCKS || h->has_c > 1 || h->dict_size == 0 ||
        h->dict_size > R1CS_DICT_MAX || h->name[sizeof h->name - 1] != 0)
        return bad(err, "the header is inconsistent");
    return CUZK_OK;
}

/* Sizes of one block, without its data. */
static cuzk_status read_block(const cache_block *from, bool has_c, r1cs_block *to,
                              cuzk_error *err) {
    if (from->name[sizeof from->name - 1] != 0 || from->count == 0 || from->count > CS_MAX_VARS ||
        from->rows > UINT32_MAX || from->aux > CS_MAX_VARS || from->inputs > CS_MAX_VARS ||
        from->fields > from->aux || from->nnz[0] > UINT32_MAX || from->nnz[1] > UINT32_MAX ||
        from->nnz[2] > (has_c ? UINT32_MAX : 0) || from->n_imports > CS_MAX_VARS / from->count)
        return bad(err, "a block's sizes are out of range");
    memcpy(to->name, from->name, sizeof to->name);
    to->count = from->count;
    to->rows = from->rows;
    to->aux = from->aux;
    to->inputs = from->inputs;
    to->fields = from->fields;
    to->n_imports = from->n_imports;
    for (int m = 0; m < 3; m++)
        to->m[m].nnz = from->nnz[m];
    return CUZK_OK;
}

/* --- loading: sections --- */

typedef struct load_run {
    const uint8_t *file;
    const cache_header *header;
    const section *sections;
    bool wrong[MAX_SECTIONS];
} load_run;

static void verify_section(void *arg, size_t task, unsigned worker) {
    load_run *run = arg;
    const section *s = &run->sections[task];
    uint8_t digest[32];
    (void)worker;
    sha256(digest, run->file + s->offset, (size_t)padded(s->bytes));
    run->wrong[task] = memcmp(digest, run->header->section_sha256[task], sizeof digest) != 0;
}

static cuzk_status verify_sections(const cuzk_host *host, const uint8_t *file, const section *s,
                                   unsigned n, cuzk_error *err) {
    load_run run = {.file = file, .header = (const cache_header *)file, .sections = s};
    cuzk_host_parallel(host, n, verify_section, &run);
    for (unsigned i = 0; i < n; i++) {
        if (run.wrong[i])
            return cuzk_fail(err, CUZK_ERR_FORMAT, "section \"%s\" is damaged", s[i].name);
    }
    return CUZK_OK;
}

/* Point the circuit into the file, in the order of list_sections. */
static void attach_sections(r1cs *r, const uint8_t *file, const section *s) {
    r->dict = (const void *)(file + s++->offset);
    for (unsigned i = 0; i < r->n_blocks; i++) {
        r1cs_block *b = &r->blocks[i];
        b->field_class = (const void *)(file + s++->offset);
        b->imports = (const void *)(file + s++->offset);
        for (int m = 0; m < (r->has_c ? 3 : 2); m++) {
            b->m[m].row_start = (const void *)(file + s++->offset);
            b->m[m].col = (const void *)(file + s++->offset);
            b->m[m].coef = (const void *)(file + s++->offset);
        }
    }
}

/* --- loading: contents --- */

static cuzk_status check_dict(const cuzk_host *host, const r1cs *r, cuzk_error *err) {
    r1cs_dict seen;
    uint16_t number = 0;
    cuzk_status status = r1cs_dict_init(host, &seen, err); /* starts with 1 */
    for (uint32_t i = 0; i < r->dict_size && status == CUZK_OK; i++) {
        if (!mont_is_canonical(r->dict[i].l, &cuzk_fr_prime, FR_LIMBS))
            status = cuzk_fail(err, CUZK_ERR_FORMAT, "coefficient %u is not canonical", i);
        else
            status = r1cs_dict_number(host, &seen, &r->dict[i], &number, err);
        if (status == CUZK_OK && number != i)
            status =
                cuzk_fail(err, CUZK_ERR_FORMAT, "coefficient %u is not 1 or repeats another", i);
    }
    r1cs_dict_free(host, &seen);
    return status;
}

static bool classes_valid(const r1cs_block *b) {
    uint64_t fields = 0;
    for (size_t i = 0; i < bit_words(b->aux); i++)
        fields += (uint64_t)__builtin_popcountll(b->field_class[i]);
    const unsigned spare = b->aux & 63;
    return fields == b->fields && (spare == 0 || b->field_class[b->aux >> 6] >> spare == 0);
}

static bool column_valid(const r1cs_block *b, uint64_t globals_end, uint32_t col) {
    const uint64_t index = col & R1CS_COL_INDEX_MASK;
    switch ((r1cs_col_tag)(col >> R1CS_COL_TAG_SHIFT)) {
    case R1CS_AUX_LOCAL:
        return index < b->aux;
    case R1CS_AUX_IMPORT:
        return index < b->n_imports;
    case R1CS_AUX_GLOBAL:
        return index < globals_end;
    case R1CS_INPUT_LOCAL:
        return index < b->inputs;
    case R1CS_INPUT_GLOBAL:
        return index < b->input_base;
    default:
        return false;
    }
}

/* Columns of a row ascend with their tags turned round: inputs before aux, global before local, and
 * imports between. */
static uint32_t row_order(uint32_t col) {
    return col ^ ~R1CS_COL_INDEX_MASK;
}

/* Offsets, columns and coefficients of one matrix in range, terms of a row in order. */
static bool matrix_valid(const r1cs *r, const r1cs_block *b, const r1cs_matrix *m) {
    const uint64_t globals_end = r1cs_globals_end(b);
    if (m->row_start[0] != 0 || m->row_start[b->rows] != m->nnz) return false;
    for (uint64_t row = 0; row < b->rows; row++) {
        const uint32_t first = m->row_start[row], end = m->row_start[row + 1];
        if (first > end || end > m->nnz) return false;
        for (uint32_t k = first; k < end; k++) {
            if (!column_valid(b, globals_end, m->col[k]) || m->coef[k] >= r->dict_size)
                return false;
            if (k > first && row_order(m->col[k - 1]) >= row_order(m->col[k])) return false;
        }
    }
    return true;
}

#define VALIDATED 5u /* parts of a block: A, B, C, classes, imports */
typedef struct validate_run {
    const r1cs *r;
    bool wrong[CS_MAX_BLOCKS][VALIDATED];
} validate_run;

static void validate_task(void *arg, size_t task, unsigned worker) {
    validate_run *run = arg;
    const r1cs *r = run->r;
    const r1cs_block *b = &r->blocks[task / VALIDATED];
    const size_t part = task % VALIDATED;
    bool *wrong = &run->wrong[task / VALIDATED][part];
    (void)worker;
    if (part == 3)
        *wrong = !classes_valid(b);
    else if (part == 4)
        *wrong = r1cs_bad_import(r, b) < b->count;
    else if (part != R1CS_C || r->has_c)
        *wrong = !matrix_valid(r, b, &b->m[part]);
}

static cuzk_status check_contents(const cuzk_host *host, const r1cs *r, cuzk_error *err) {
    static const char *const part_name[VALIDATED] = {"matrix A", "matrix B", "matrix C",
                                                     "variable classes", "imports"};
    validate_run run = {.r = r};
    CUZK_TRY(check_dict(host, r, err));
    cuzk_host_parallel(host, (size_t)r->n_blocks * VALIDATED, validate_task, &run);
    for (unsigned i = 0; i < VALIDATED * r->n_blocks; i++) {
        if (run.wrong[i / VALIDATED][i % VALIDATED])
            return cuzk_fail(err, CUZK_ERR_FORMAT, "block %u %s: out of range", i / VALIDATED,
                             part_name[i % VALIDATED]);
    }
    return CUZK_OK;
}

static cuzk_status load(const cuzk_host *host, const char *path, r1cs *r, cuzk_error *err) {
    file_map *map = &((r1cs_owner *)r->owner)->map;
    section s[MAX_SECTIONS];
    uint64_t file_bytes = 0;
    CUZK_TRY(file_map_open(path, map, err));
    CUZK_TRY(check_header(map, err));
    const cache_header *h = (const cache_header *)map->data;
    memcpy(r->name, h->name, sizeof r->name);
    r->n_blocks = h->n_blocks;
    r->has_c = h->has_c == 1;
    r->dict_size = h->dict_size;
    for (unsigned i = 0; i < r->n_blocks; i++)
        CUZK_TRY(read_block(&h->blocks[i], r->has_c, &r->blocks[i], err));
    if (r1cs_layout(r, NULL) != CUZK_OK) return bad(err, "the blocks' sizes are out of range");
    const unsigned n = list_sections(s, r, &file_bytes);
    if (file_bytes != map->bytes)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%zu bytes long, its blocks need %llu", map->bytes,
                         (unsigned long long)file_bytes);
    CUZK_TRY(verify_sections(host, map->data, s, n, err));
    attach_sections(r, map->data, s);
    CUZK_TRY(check_contents(host, r, err));
    return r1cs_finish(host, r, err);
}

cuzk_status r1cs_load(const cuzk_host *host, const char *path, r1cs **out, cuzk_error *err) {
    r1cs *r = NULL;
    *out = NULL;
    CUZK_TRY(r1cs_new(host, &r, err));
    const cuzk_status status = load(host, path, r, err);
    if (status == CUZK_OK) {
        *out = r;
        return CUZK_OK;
    }
    r1cs_free(host, r);
    return cuzk_error_context(err, status, "circuit cache %s", path);
}
