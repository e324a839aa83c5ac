/* The cache file: round trips, damage to every byte, and files made to do harm. */
#include "r1cs_ref.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/file.h"
#include "hash/sha256.h"

/* The layout as docs/r1cs.md gives it, written down once more. */
#define HEADER_BYTES 4096u
#define N_BLOCKS_AT 56u
#define HAS_C_AT 60u
#define DICT_SIZE_AT 64u
#define BLOCKS_AT 72u
#define BLOCK_BYTES 104u
#define DIGESTS_AT (BLOCKS_AT + 8 * BLOCK_BYTES)
#define HEADER_DIGEST_AT (HEADER_BYTES - 32)
#define MAX_SECTIONS (1 + 8 * 11)

static host_std *two_workers;
static const cuzk_host *host(void) {
    cuzk_error err;
    if (two_workers == NULL) CHECK_OK(host_std_new(2, 0, &two_workers, &err));
    return host_std_host(two_workers);
}

static char directory[64];
static const char *file_path(const char *name) {
    static char path[128];
    if (directory[0] == 0) {
        strcpy(directory, "/tmp/cuzk_cache_XXXXXX");
        REQUIRE(mkdtemp(directory) != NULL);
    }
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}
static void remove_files(void) {
    unlink(file_path("circuit"));
    unlink(file_path("damaged"));
    rmdir(directory);
    directory[0] = 0;
}

/* A file in memory that can be changed. */
typedef struct image {
    uint8_t *data;
    size_t bytes;
} image;

static image read_image(const char *path) {
    cuzk_error err;
    file_map map;
    CHECK_OK(file_map_open(path, &map, &err));
    image out = {malloc(map.bytes + 64), map.bytes};
    memcpy(out.data, map.data, map.bytes);
    file_map_close(&map);
    return out;
}

/* Not through file_writer: thousands of fsyncs would be slow. */
static cuzk_status load_image(const uint8_t *data, size_t bytes, r1cs **out, cuzk_error *err) {
    FILE *f = fopen(file_path("damaged"), "wb");
    REQUIRE(f != NULL && fwrite(data, 1, bytes, f) == bytes && fclose(f) == 0);
    return r1cs_load(host(), file_path("damaged"), out, err);
}

static void check_same(const r1cs *a, const r1cs *b) {
    static cs_var vars[2][REF_MAX_TERMS + 1];
    static uint16_t coefs[2][REF_MAX_TERMS + 1];
    CHECK_U64(a->rows, b->rows);
    CHECK_U64(a->aux, b->aux);
    CHECK_U64(a->inputs, b->inputs);
    CHECK_U64(a->fields, b->fields);
    CHECK_U64(a->log2_domain, b->log2_domain);
    CHECK_U64(a->a_aux, b->a_aux);
    CHECK_U64(a->b_aux, b->b_aux);
    CHECK_U64(a->b_inputs, b->b_inputs);
    CHECK_U64(a->dict_size, b->dict_size);
    CHECK(a->has_c == b->has_c && strcmp(a->name, b->name) == 0 && a->n_blocks == b->n_blocks);
    CHECK_MEM(a->dict, b->dict, a->dict_size * sizeof(fr_t));
    CHECK_MEM(a->field_map, b->field_map, (size_t)(a->aux + 63) / 64 * 8);
    CHECK_MEM(a->a_aux_map, b->a_aux_map, (size_t)(a->aux + 63) / 64 * 8);
    CHECK_MEM(a->b_aux_map, b->b_aux_map, (size_t)(a->aux + 63) / 64 * 8);
    for (int m = 0; m < 3; m++) {
        CHECK_U64(a->nnz[m], b->nnz[m]);
        CHECK_U64(a->zero_terms[m], b->zero_terms[m]);
        for (uint64_t row = 0; row < a->rows + a->inputs; row++) {
            const size_t n = r1cs_row(a, m, row, vars[0], coefs[0]);
            REQUIRE(r1cs_row(b, m, row, vars[1], coefs[1]) == n);
            CHECK_MEM(vars[0], vars[1], n * sizeof(cs_var));
            CHECK_MEM(coefs[0], coefs[1], n * sizeof(uint16_t));
        }
    }
}

static r1cs *record(ref_circuit *ref, unsigned steps) {
    cuzk_error err;
    r1cs *r = NULL;
    ref_random_circuit(ref, steps, 6);
    const cs_circuit circuit = ref_to_cs(ref);
    CHECK_OK(r1cs_record(host(), &circuit, &r, &err));
    REQUIRE(r != NULL);
    return r;
}

TEST(round_trip) {
    cuzk_error err;
    for (int i = 0; i < 30; i++) {
        ref_circuit ref;
        r1cs *r = record(&ref, i < 10 ? 8 : 300), *loaded = NULL;
        if (i % 3 == 0) r1cs_drop_c(host(), r);
        CHECK_OK(r1cs_save(r, file_path("circuit"), &err));
        CHECK_OK(r1cs_load(host(), file_path("circuit"), &loaded, &err));
        REQUIRE(loaded != NULL);
        check_same(r, loaded);
        if (i % 2 == 0) {
            r1cs_drop_c(host(), r);
            r1cs_drop_c(host(), loaded);
            check_same(r, loaded);
        }
        r1cs_free(host(), r);
        r1cs_free(host(), loaded);
        ref_free(&ref);
    }
    remove_files();
}

static void expect_format(const char *what, size_t at) {
    cuzk_error err;
    r1cs *r = NULL;
    const cuzk_status status = r1cs_load(host(), file_path("circuit"), &r, &err);
    if (status != CUZK_ERR_FORMAT || r != NULL)
        CHECK_FAILED_("%s %zu: got %s", what, at, cuzk_status_name(status));
    r1cs_free(host(), r);
}

TEST(damage) {
    cuzk_error err;
    ref_circuit ref;
    r1cs *r = record(&ref, 16), *loaded = NULL;
    CHECK_OK(r1cs_save(r, file_path("circuit"), &err));
    image f = read_image(file_path("circuit"));
    const int fd = open(file_path("circuit"), O_RDWR); /* changed in place: thousands of loads */
    REQUIRE(fd >= 0);
    for (size_t i = 0; i < f.bytes; i++) {
        const uint8_t flipped = f.data[i] ^ (uint8_t)(1 << check_random() % 8);
        REQUIRE(pwrite(fd, &flipped, 1, (off_t)i) == 1);
        expect_format("flip at byte", i);
        REQUIRE(pwrite(fd, f.data + i, 1, (off_t)i) == 1);
    }
    for (size_t n = 64; n > 0; n -= n > 1 ? 21 : 1) {
        REQUIRE(ftruncate(fd, (off_t)(f.bytes + n)) == 0); /* zeros behind the end */
        expect_format("extended by", n);
    }
    REQUIRE(ftruncate(fd, (off_t)f.bytes) == 0);
    CHECK_OK(r1cs_load(host(), file_path("circuit"), &loaded, &err)); /* the file is good again */
    r1cs_free(host(), loaded);
    for (size_t n = f.bytes; n > 0;) {
        n -= 1 + n / 128;
        REQUIRE(ftruncate(fd, (off_t)n) == 0);
        expect_format("cut to", n);
    }
    close(fd);
    CHECK_STATUS(r1cs_load(host(), file_path("absent"), &loaded, &err), CUZK_ERR_NOT_FOUND);
    CHECK(loaded == NULL && strstr(err.text, "absent") != NULL);
    free(f.data);
    r1cs_free(host(), r);
    ref_free(&ref);
    remove_files();
}

/* --- files with right digests and wrong contents --- */

static uint64_t get(const image *f, size_t at, size_t bytes) {
    uint64_t v = 0;
    memcpy(&v, f->data + at, bytes);
    return v;
}
static uint64_t sizes(const image *f, unsigned block, unsigned k) {
    return get(f, BLOCKS_AT + block * BLOCK_BYTES + 32 + 8 * k, 8); /* count, rows, aux, ... */
}
static size_t padded(uint64_t bytes) {
    return (size_t)(bytes + 63) / 64 * 64;
}

/* Section sizes in file order, as the header has them; their number, or 0 when they do not fit. */
static unsigned section_sizes(const image *f, size_t out[MAX_SECTIONS]) {
    unsigned n = 0;
    size_t sum = HEADER_BYTES;
    out[n++] = padded(get(f, DICT_SIZE_AT, 4) * 32);
    for (unsigned b = 0; b < get(f, N_BLOCKS_AT, 4) && b < 8; b++) {
        out[n++] = padded((sizes(f, b, 2) + 63) / 64 * 8);
        out[n++] = padded(sizes(f, b, 0) * sizes(f, b, 8) * 4);
        for (unsigned m = 0; m < 2 + get(f, HAS_C_AT, 4) && m < 3; m++) {
            out[n++] = padded((sizes(f, b, 1) + 1) * 4);
            out[n++] = padded(sizes(f, b, 5 + m) * 4);
            out[n++] = padded(sizes(f, b, 5 + m) * 2);
        }
    }
    for (unsigned i = 0; i < n; i++) {
        if (out[i] > f->bytes - sum) return 0;
        sum += out[i];
    }
    return sum == f->bytes ? n : 0;
}

static void sign(image *f) {
    size_t sections[MAX_SECTIONS], at = HEADER_BYTES;
    const unsigned n = section_sizes(f, sections);
    for (unsigned i = 0; i < n; i++) {
        sha256(f->data + DIGESTS_AT + 32 * i, f->data + at, sections[i]);
        at += sections[i];
    }
    sha256(f->data + HEADER_DIGEST_AT, f->data, HEADER_DIGEST_AT);
}

/* Everything that walks the data of a circuit: an index out of range would fault or be reported by
 * the sanitizer. */
static void use(r1cs *r) {
    cuzk_error err;
    witness w;
    r1cs_digests d;
    if (r->aux > 100000 || r->rows > 100000 || r->inputs > 100000) return;
    const uint64_t n = r->rows + r->inputs;
    fr_t *z = malloc(n * sizeof *z), *fast = malloc(n * sizeof *z);
    CHECK_OK(witness_new(host(), r, &w, &err));
    for (int m = 0; m < 2; m++) {
        CHECK_OK(r1cs_eval_plain(host(), r, m, &w, 0, n, z, &err));
        CHECK_OK(r1cs_eval(host(), r, m, &w, 0, n, fast, &err));
        CHECK_MEM(z, fast, n * sizeof *z);
    }
    if (r->has_c) {
        CHECK_OK(r1cs_digest(host(), r, &d, &err));
        r1cs_digests_free(host(), &d);
    }
    witness_free(host(), &w);
    free(z);
    free(fast);
}

TEST(hostile) {
    cuzk_error err;
    unsigned accepted = 0, refused = 0;
    for (int i = 0; i < 8; i++) {
        ref_circuit ref;
        r1cs *r = record(&ref, 60);
        CHECK_OK(r1cs_save(r, file_path("circuit"), &err));
        image f = read_image(file_path("circuit"));
        uint8_t *good = malloc(f.bytes);
        memcpy(good, f.data, f.bytes);
        for (int k = 0; k < 120; k++) {
            const bool header = k % 3 == 0;
            const size_t at = header ? 16 + check_random() % (DIGESTS_AT - 16)
                                     : HEADER_BYTES + check_random() % (f.bytes - HEADER_BYTES);
            f.data[at] = check_random() & 1 ? 0xff : (uint8_t)check_random();
            sign(&f);
            r1cs *loaded = NULL;
            const cuzk_status status = load_image(f.data, f.bytes, &loaded, &err);
            if (status == CUZK_OK) {
                accepted++;
                use(loaded);
            } else {
                refused++;
                CHECK_STATUS(status, CUZK_ERR_FORMAT);
            }
            r1cs_free(host(), loaded);
            memcpy(f.data, good, f.bytes);
        }
        free(f.data);
        free(good);
        r1cs_free(host(), r);
        ref_free(&ref);
    }
    CHECK(accepted > 0 && refused > 0); /* both sides were reached */
    remove_files();
}

/* Where a section starts: 0 is the dictionary; in block b classes are 1 + 11 b, then imports, row
 * offsets, columns and coefficients of A, B, C. */
static uint8_t *section_at(const image *f, unsigned index) {
    size_t sizes_of[MAX_SECTIONS], at = HEADER_BYTES;
    REQUIRE(section_sizes(f, sizes_of) > index);
    for (unsigned i = 0; i < index; i++)
        at += sizes_of[i];
    return f->data + at;
}

static void expect_contents(image *f, const char *text) {
    cuzk_error err;
    r1cs *r = NULL;
    sign(f);
    CHECK_STATUS(load_image(f->data, f->bytes, &r, &err), CUZK_ERR_FORMAT);
    CHECK(r == NULL);
    if (strstr(err.text, text) == NULL) CHECK_FAILED_("\"%s\" lacks \"%s\"", err.text, text);
}

/* Change the image f, load it, change it back. */
#define CHANGED(text, ...)                                                                         \
    do {                                                                                           \
        __VA_ARGS__;                                                                               \
        expect_contents(&f, text);                                                                 \
        memcpy(f.data, good, f.bytes);                                                             \
    } while (0)

/* Two bits and a value; rows with three terms in A, then rows with one in B. */
static void synth_three(cs *c, void *state, uint64_t instance) {
    const fr_t one = fr_one(), two = small(2);
    cs_lc *lc = cs_scratch(c, 0);
    (void)state;
    (void)instance;
    const cs_var bit = cs_alloc_bits(c, 0, 2), value = cs_alloc(c, &one);
    cs_lc_add(c, lc, bit, &one);
    cs_lc_add(c, lc, bit + 1, &two);
    cs_lc_add(c, lc, value, &one);
    cs_enforce(c, lc, lc, lc);
    cs_enforce(c, lc, NULL, NULL);
    for (cs_var i = 0; i < 3; i++) {
        cs_lc_clear(lc);
        cs_lc_add(c, lc, bit + i, &one);
        cs_enforce(c, NULL, lc, NULL);
    }
}

TEST(contents) {
    cuzk_error err;
    r1cs *r = NULL;
    const cs_circuit circuit = {
        "three", 1, {{.name = "three", .count = 5, .synth = synth_three}}, NULL};
    CHECK_OK(r1cs_record(host(), &circuit, &r, &err));
    CHECK_OK(r1cs_save(r, file_path("circuit"), &err));
    image f = read_image(file_path("circuit"));
    uint8_t *good = malloc(f.bytes);
    memcpy(good, f.data, f.bytes);
    uint64_t *dict = (uint64_t *)(void *)section_at(&f, 0);
    uint64_t *classes = (uint64_t *)(void *)section_at(&f, 1);
    uint32_t *rows = (uint32_t *)(void *)section_at(&f, 3);
    uint32_t *col = (uint32_t *)(void *)section_at(&f, 4);
    uint16_t *coef = (uint16_t *)(void *)section_at(&f, 5);
    uint32_t *b_rows = (uint32_t *)(void *)section_at(&f, 6);
    CHANGED("coefficient 1 is not canonical", memset(dict + 4, 0xff, 32));
    CHANGED("coefficient 1 is not 1 or repeats", memcpy(dict + 4, dict, 32));
    CHANGED("coefficient 0 is not 1", dict[0] ^= 1);
    CHANGED("variable classes", classes[0] = 0);
    CHANGED("variable classes", classes[0] |= 1);
    CHANGED("variable classes", classes[0] = 8); /* one, but behind the last variable */
    CHANGED("matrix A", rows[0] = 1);
    CHANGED("matrix A", rows[1] = 7);
    CHANGED("matrix A", rows[1] = UINT32_MAX);
    CHANGED("matrix A", rows[5] = 5);
    CHANGED("matrix B", b_rows[3] = 5, b_rows[4] = 4); /* each row by itself looks right */
    CHANGED("matrix A", col[0] = 1, col[1] = 0);
    CHANGED("matrix A", col[1] = col[0]);
    CHANGED("matrix A", col[2] = 3);
    CHANGED("matrix A", col[0] = 1u << 29);      /* an import */
    CHANGED("matrix A", col[0] = 2u << 29);      /* a variable of an earlier block */
    CHANGED("matrix A", col[0] = 3u << 29);      /* an input of the instance */
    CHANGED("matrix A", col[0] = 4u << 29 | 1u); /* input 1 */
    CHANGED("matrix A", col[0] = 5u << 29);      /* no such tag */
    CHANGED("matrix A", coef[5] = 2);
    r1cs *loaded = NULL;
    col[0] = 4u << 29; /* ONE is a valid column there */
    sign(&f);
    CHECK_OK(load_image(f.data, f.bytes, &loaded, &err));
    r1cs_free(host(), loaded);
    free(good);
    free(f.data);
    r1cs_free(host(), r);
    remove_files();
}

/* Behind ref_head two instances that import two bits each. */
static void synth_importer(cs *c, void *state, uint64_t instance) {
    const fr_t one = fr_one();
    cs_lc *lc = cs_scratch(c, 0);
    (void)state;
    (void)instance;
    cs_lc_add(c, lc, 3, &one);
    cs_lc_add(c, lc, 5, &one);
    cs_lc_add(c, lc, 11, &one);
    cs_lc_add(c, lc, cs_alloc_bit(c, false), &one);
    cs_enforce(c, lc, NULL, NULL);
}
static void two_imports(const void *state, uint64_t instance, cs_var *out) {
    (void)state;
    out[0] = 5 - (cs_var)instance;
    out[1] = instance == 0 ? 11 : 19;
}

TEST(imports) {
    cuzk_error err;
    r1cs *r = NULL, *loaded = NULL;
    const cs_circuit circuit = {.name = "imports",
                                .n_blocks = 2,
                                .blocks = {{.name = "head", .count = 1, .synth = ref_head},
                                           {.name = "importer",
                                            .count = 2,
                                            .synth = synth_importer,
                                            .n_imports = 2,
                                            .imports = two_imports}}};
    CHECK_OK(r1cs_record(host(), &circuit, &r, &err));
    REQUIRE(r != NULL);
    CHECK_OK(r1cs_save(r, file_path("circuit"), &err));
    CHECK_OK(r1cs_load(host(), file_path("circuit"), &loaded, &err));
    REQUIRE(loaded != NULL);
    check_same(r, loaded);
    r1cs_free(host(), loaded);
    image f = read_image(file_path("circuit"));
    uint8_t *good = malloc(f.bytes);
    memcpy(good, f.data, f.bytes);
    uint64_t *classes = (uint64_t *)(void *)section_at(&f, 1);
    uint32_t *imports = (uint32_t *)(void *)section_at(&f, 13);
    uint32_t *col = (uint32_t *)(void *)section_at(&f, 15);
    CHECK_U64(imports[0] | imports[1] << 8 | imports[2] << 16 | imports[3] << 24, 0x13040b05);
    CHECK_U64(col[0], 2u << 29 | 3);
    CHECK_U64(col[1], 1u << 29);
    CHECK_U64(col[2], 1u << 29 | 1);
    CHECK_U64(col[3], 0);
    CHANGED("block 1 imports", imports[0] = 11, imports[1] = 5);
    CHANGED("block 1 imports", imports[3] = 4);
    CHANGED("block 1 imports", imports[1] = 10); /* a value */
    CHANGED("block 1 imports", imports[3] = 20); /* the importer's own */
    CHANGED("block 1 imports", imports[3] = UINT32_MAX);
    CHANGED("block 1 imports", imports[3] = CS_ONE);
    CHANGED("block 1 imports", classes[0] = 1 << 11); /* bit 11 as the value */
    CHANGED("block 1 matrix A", imports[2] = 3);      /* not behind the GLOBAL column */
    CHANGED("block 1 matrix A", col[0] = 2u << 29 | 4);
    CHANGED("block 1 matrix A", col[2] = 1u << 29 | 2);
    CHANGED("block 1 matrix A", col[2] = col[1]);
    imports[2] = 7;
    sign(&f);
    CHECK_OK(load_image(f.data, f.bytes, &loaded, &err));
    r1cs_free(host(), loaded);
    free(good);
    free(f.data);
    r1cs_free(host(), r);
    remove_files();
}

/* A field of the header, a wrong value, and what the text must name. */
static void expect_header(image *f, size_t at, size_t bytes, uint64_t value, const char *text) {
    cuzk_error err;
    r1cs *r = NULL;
    uint8_t before[HEADER_BYTES];
    memcpy(before, f->data, sizeof before);
    memcpy(f->data + at, &value, bytes);
    sha256(f->data + HEADER_DIGEST_AT, f->data, HEADER_DIGEST_AT);
    CHECK_STATUS(load_image(f->data, f->bytes, &r, &err), CUZK_ERR_FORMAT);
    if (strstr(err.text, text) == NULL) CHECK_FAILED_("\"%s\" lacks \"%s\"", err.text, text);
    memcpy(f->data, before, sizeof before);
}

TEST(header_fields) {
    cuzk_error err;
    ref_circuit ref;
    r1cs *r = record(&ref, 60);
    CHECK_OK(r1cs_save(r, file_path("circuit"), &err));
    image f = read_image(file_path("circuit"));
    expect_header(&f, 0, 1, 'X', "not a circuit cache");
    expect_header(&f, 8, 4, 1, "version 1");
    expect_header(&f, 12, 4, 0x04030201, "endianness");
    expect_header(&f, 16, 8, 4096, "bytes long");
    expect_header(&f, N_BLOCKS_AT, 4, 0, "inconsistent");
    expect_header(&f, N_BLOCKS_AT, 4, 9, "inconsistent");
    expect_header(&f, HAS_C_AT, 4, 2, "inconsistent");
    expect_header(&f, DICT_SIZE_AT, 4, 0, "inconsistent");
    expect_header(&f, DICT_SIZE_AT, 4, 65537, "inconsistent");
    for (unsigned k = 0; k < 9; k++) /* every size of a block, absurd */
        expect_header(&f, BLOCKS_AT + 32 + 8 * k, 8, UINT64_MAX, "range");
    expect_header(&f, BLOCKS_AT + 32, 8, 0, "range");
    expect_header(&f, BLOCKS_AT + 40, 8, sizes(&f, 0, 1) + 64, "its blocks need");
    expect_header(&f, BLOCKS_AT + 32, 8, (uint64_t)1 << 30, "");
    free(f.data);
    r1cs_free(host(), r);
    ref_free(&ref);
    remove_files();
}

TEST_MAIN(RUN(round_trip), RUN(damage), RUN(hostile), RUN(contents), RUN(imports),
          RUN(header_fields))
