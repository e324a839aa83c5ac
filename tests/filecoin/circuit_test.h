/* Recorded circuits and witnesses against the golden files (tests/data/filecoin/README.md). */
#ifndef CUZK_TESTS_CIRCUIT_TEST_H
#define CUZK_TESTS_CIRCUIT_TEST_H

#include "check.h"
#include "json.h"

#include "base/bytes.h"
#include "hash/sha256.h"
#include "host/host_std.h"
#include "r1cs/r1cs.h"

static inline const host_std *test_host_std(void) {
    static host_std *h;
    cuzk_error err;
    if (h == NULL) REQUIRE(host_std_new(0, 0, &h, &err) == CUZK_OK);
    return h;
}
static inline const cuzk_host *test_host(void) {
    return host_std_host(test_host_std());
}
/* Most bytes held at once so far. */
static inline uint64_t test_host_peak(void) {
    return host_std_peak(test_host_std());
}

/* Hex text of an expected digest or value; `what` names it in the message. */
static inline void check_hex_text(const void *got, size_t bytes, const char *expected,
                                  const char *what) {
    if (strcmp(check_hex(got, bytes), expected) != 0)
        CHECK_FAILED_("%s: got %s, expected %s", what, check_hex(got, bytes), expected);
}

/* ---- constraint systems ---- */

static inline void check_r1cs_counts(const r1cs *r, const json *e) {
    static const char *const names[3] = {"a", "b", "c"};
    CHECK_U64(r->inputs, json_u64(e, "num_inputs"));
    CHECK_U64(r->aux, json_u64(e, "num_aux"));
    CHECK_U64(r->rows, json_u64(e, "num_constraints_without_input_rows"));
    CHECK_U64(r->rows + r->inputs, json_u64(e, "num_constraints"));
    CHECK_U64(r->log2_domain, json_u64(e, "domain_log2"));
    for (int m = 0; m < 3; m++) {
        CHECK_U64(r->nnz[m] + (m == R1CS_A ? r->inputs : 0),
                  json_u64(json_get(e, "nnz"), names[m]));
        CHECK_U64(r->zero_terms[m], json_u64(json_get(e, "zero_coefficient_terms"), names[m]));
    }
    const json *density = json_get(e, "density");
    CHECK_U64(r->a_aux, json_u64(density, "a_aux"));
    CHECK_U64(r->b_aux, json_u64(density, "b_aux"));
    CHECK_U64(r->b_inputs, json_u64(density, "b_input"));
}

static inline void check_r1cs_digests(const r1cs *r, const json *e) {
    cuzk_error err;
    r1cs_digests d;
    CHECK_OK(r1cs_digest(test_host(), r, &d, &err));
    const json *chunks = json_get(e, "chunk_sha256");
    CHECK_U64(d.n_chunks, chunks->n);
    for (size_t i = 0; i < d.n_chunks && i < chunks->n; i++) {
        char what[32];
        snprintf(what, sizeof what, "chunk %zu", i);
        check_hex_text(d.chunks[i], 32, chunks->items[i].text, what);
    }
    check_hex_text(d.all, 32, json_str(e, "sha256"), "all rows");
    check_hex_text(d.without_input_rows, 32, json_str(e, "sha256_without_input_rows"),
                   "without input rows");
    check_hex_text(d.without_zero_terms, 32, json_str(e, "sha256_without_zero_terms"),
                   "without zero terms");
    const json *density = json_get(e, "density");
    check_hex_text(d.a_aux, 32, json_str(density, "a_aux_sha256"), "A density");
    check_hex_text(d.b_aux, 32, json_str(density, "b_aux_sha256"), "B density");
    check_hex_text(d.b_input, 32, json_str(density, "b_input_sha256"), "B input density");
    static const char *const names[3] = {"a", "b", "c"};
    for (int m = 0; m < 3; m++) {
        CHECK_U64(d.max_terms[m], json_u64(json_get(e, "max_terms"), names[m]));
        CHECK_U64(d.empty_lcs[m], json_u64(json_get(e, "empty_lcs"), names[m]));
    }
    r1cs_digests_free(test_host(), &d);
}

/* ---- witnesses ---- */

/* SHA-256 of a vector of values, whole and by chunks of 65536 elements. */
#define WITNESS_CHUNK 65536u
typedef struct vector_digest {
    sha256_ctx whole, chunk;
    uint64_t n;
    const json *chunks; /* expected; NULL: not compared */
    const char *what;
} vector_digest;

static inline void vector_digest_init(vector_digest *d, const json *chunks, const char *what) {
    *d = (vector_digest){.chunks = chunks, .what = what};
    sha256_init(&d->whole);
    sha256_init(&d->chunk);
}
static inline void vector_digest_end_chunk(vector_digest *d, uint64_t number) {
    uint8_t digest[32];
    char what[64];
    sha256_final(&d->chunk, digest);
    sha256_init(&d->chunk);
    if (d->chunks == NULL) return;
    snprintf(what, sizeof what, "%s chunk %llu", d->what, (unsigned long long)number);
    REQUIRE(number < d->chunks->n);
    check_hex_text(digest, 32, d->chunks->items[number].text, what);
}
static inline void vector_digest_add(vector_digest *d, const fr_t *value) {
    uint8_t bytes[FR_BYTES];
    fr_to_bytes(bytes, value);
    sha256_update(&d->whole, bytes, sizeof bytes);
    sha256_update(&d->chunk, bytes, sizeof bytes);
    if (++d->n % WITNESS_CHUNK == 0) vector_digest_end_chunk(d, d->n / WITNESS_CHUNK - 1);
}
static inline void vector_digest_end(vector_digest *d, const char *expected) {
    uint8_t digest[32];
    if (d->n % WITNESS_CHUNK != 0) vector_digest_end_chunk(d, d->n / WITNESS_CHUNK);
    if (d->chunks != NULL) CHECK_U64((d->n + WITNESS_CHUNK - 1) / WITNESS_CHUNK, d->chunks->n);
    sha256_final(&d->whole, digest);
    check_hex_text(digest, 32, expected, d->what);
}

static inline void check_aux_digest(const r1cs *r, const witness *w, const json *e) {
    vector_digest d;
    vector_digest_init(&d, json_find(e, "aux_chunk_sha256"), "aux");
    for (uint64_t i = 0; i < r->aux; i++) {
        fr_t value;
        witness_aux(r, w, i, &value);
        vector_digest_add(&d, &value);
    }
    vector_digest_end(&d, json_str(e, "aux_sha256"));
}

static inline void check_evaluation_digest(const r1cs *r, const witness *w, int m, const json *e) {
    static fr_t z[WITNESS_CHUNK];
    const char letter = (char)('a' + m);
    char key[32];
    cuzk_error err;
    vector_digest d;
    snprintf(key, sizeof key, "%c_chunk_sha256", letter);
    vector_digest_init(&d, json_find(e, key), key);
    const uint64_t rows = r->rows + r->inputs;
    for (uint64_t first = 0; first < rows; first += WITNESS_CHUNK) {
        const uint64_t n = rows - first < WITNESS_CHUNK ? rows - first : WITNESS_CHUNK;
        CHECK_OK(r1cs_eval(test_host(), r, m, w, first, n, z, &err));
        for (uint64_t i = 0; i < n; i++)
            vector_digest_add(&d, &z[i]);
    }
    snprintf(key, sizeof key, "%c_sha256", letter);
    vector_digest_end(&d, json_str(e, key));
}

/* Inputs, aux, a, b and c of a witness; e is a witness/JOB-K.json or a gadget's "witness". */
static inline void check_witness(const r1cs *r, const witness *w, const json *e) {
    cuzk_error err;
    const json *inputs = json_get(e, "inputs");
    CHECK_U64(r->inputs, inputs->n);
    for (size_t i = 0; i < inputs->n && i < r->inputs; i++) {
        uint8_t bytes[FR_BYTES];
        char what[32];
        snprintf(what, sizeof what, "input %zu", i);
        fr_to_bytes(bytes, &w->inputs[i]);
        check_hex_text(bytes, sizeof bytes, inputs->items[i].text, what);
    }
    check_aux_digest(r, w, e);
    CHECK_OK(r1cs_check(test_host(), r, w, NULL, &err));
    for (int m = 0; m < 3; m++)
        check_evaluation_digest(r, w, m, e);
}

#endif
