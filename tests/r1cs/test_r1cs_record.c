/* Recording and the witness writer against the plain expansion, digests, and refusals. */
#include "r1cs_ref.h"
#include "hash/sha256.h"

static host_std *two_workers;
static const cuzk_host *host(void) {
    cuzk_error err;
    if (two_workers == NULL) CHECK_OK(host_std_new(2, 0, &two_workers, &err));
    return host_std_host(two_workers);
}

/* --- rows --- */

static void check_rows(const ref_circuit *ref, const r1cs *r) {
    static ref_row row;
    static cs_var vars[REF_MAX_TERMS + 1];
    static uint16_t coefs[REF_MAX_TERMS + 1];
    REQUIRE(r1cs_max_row_terms(r) <= REF_MAX_TERMS + 1);
    for (uint64_t i = 0; i < ref->rows + ref->inputs; i++) {
        for (int m = 0; m < 3; m++) {
            ref_expand(ref, m, i, &row);
            const size_t n = r1cs_row(r, m, i, vars, coefs);
            REQUIRE(n == row.n);
            CHECK_MEM(vars, row.var, n * sizeof *vars);
            for (size_t k = 0; k < n; k++)
                CHECK(fr_eq(&r->dict[coefs[k]], &row.coef[k]));
        }
    }
}

/* Totals and densities, counted from the expansion. */
static void check_totals(const ref_circuit *ref, const r1cs *r) {
    static ref_row row;
    uint8_t *in[2] = {calloc(ref->aux + 1, 1), calloc(ref->aux + 1, 1)};
    uint8_t *b_inputs = calloc(ref->inputs, 1);
    uint64_t nnz[3] = {0}, zero[3] = {0}, density[3] = {0};
    for (uint64_t i = 0; i < ref->rows; i++) {
        for (int m = 0; m < 3; m++) {
            ref_expand(ref, m, i, &row);
            nnz[m] += row.n;
            for (unsigned k = 0; k < row.n; k++) {
                const uint32_t index = row.var[k] & ~CS_INPUT_FLAG;
                if (fr_is_zero(&row.coef[k]))
                    zero[m]++;
                else if (m < 2 && (row.var[k] & CS_INPUT_FLAG) == 0)
                    in[m][index] = 1;
                else if (m == 1)
                    b_inputs[index] = 1;
            }
        }
    }
    for (int m = 0; m < 3; m++) {
        CHECK_U64(r->nnz[m], nnz[m]);
        CHECK_U64(r->zero_terms[m], zero[m]);
    }
    for (uint64_t i = 0; i < ref->aux; i++) {
        CHECK_U64(r->a_aux_map[i / 64] >> (i % 64) & 1, in[0][i]);
        CHECK_U64(r->b_aux_map[i / 64] >> (i % 64) & 1, in[1][i]);
        density[0] += in[0][i];
        density[1] += in[1][i];
    }
    for (uint64_t i = 0; i < ref->inputs; i++) {
        CHECK_U64(r->b_input_map[i / 64] >> (i % 64) & 1, b_inputs[i]);
        density[2] += b_inputs[i];
    }
    CHECK_U64(r->a_aux, density[0]);
    CHECK_U64(r->b_aux, density[1]);
    CHECK_U64(r->b_inputs, density[2]);
    CHECK_U64(r->rows, ref->rows);
    CHECK_U64(r->aux, ref->aux);
    CHECK_U64(r->inputs, ref->inputs);
    CHECK(((uint64_t)1 << r->log2_domain) >= r->rows + r->inputs);
    CHECK(r->log2_domain == 0 || ((uint64_t)1 << (r->log2_domain - 1)) < r->rows + r->inputs);
    free(in[0]);
    free(in[1]);
    free(b_inputs);
}

/* --- digests --- */

static void hash_row(sha256_ctx *ctx, const ref_circuit *ref, uint64_t i, bool zero_terms) {
    static ref_row row;
    for (int m = 0; m < 3; m++) {
        ref_expand(ref, m, i, &row);
        uint32_t n = 0;
        for (unsigned k = 0; k < row.n; k++)
            n += zero_terms || !fr_is_zero(&row.coef[k]);
        sha256_update(ctx, &n, 4);
        for (unsigned k = 0; k < row.n; k++) {
            if (!zero_terms && fr_is_zero(&row.coef[k])) continue;
            const uint8_t kind = (row.var[k] & CS_INPUT_FLAG) == 0;
            const uint64_t index = row.var[k] & ~CS_INPUT_FLAG;
            uint8_t coef[FR_BYTES];
            fr_to_bytes(coef, &row.coef[k]);
            sha256_update(ctx, &kind, 1);
            sha256_update(ctx, &index, 8);
            sha256_update(ctx, coef, FR_BYTES);
        }
    }
}

static void check_digests(const ref_circuit *ref, const r1cs *r) {
    cuzk_error err;
    r1cs_digests d;
    uint8_t want[32];
    CHECK_OK(r1cs_digest(host(), r, &d, &err));
    CHECK_U64(d.n_chunks, (ref->rows + ref->inputs + R1CS_CHUNK_ROWS - 1) / R1CS_CHUNK_ROWS);
    sha256_ctx all, no_zero, fork;
    sha256_init(&all);
    sha256_init(&no_zero);
    for (uint64_t i = 0; i < ref->rows + ref->inputs; i++) {
        if (i == ref->rows) {
            fork = all;
            sha256_final(&fork, want);
            CHECK_MEM(d.without_input_rows, want, 32);
        }
        hash_row(&all, ref, i, true);
        hash_row(&no_zero, ref, i, false);
    }
    sha256_final(&all, want);
    CHECK_MEM(d.all, want, 32);
    CHECK_MEM(d.chunks[0], want, 32); /* one chunk: the circuits are small */
    sha256_final(&no_zero, want);
    CHECK_MEM(d.without_zero_terms, want, 32);
    r1cs_digests_free(host(), &d);
}

/* --- witness --- */

/* Tasks from the last to the first: an instance is written after the one behind it. */
static void backwards(void *self, size_t tasks, cuzk_task_fn fn, void *arg) {
    (void)self;
    while (tasks-- > 0)
        fn(arg, tasks, 0);
}

static void check_witness(ref_circuit *ref, const r1cs *r) {
    cuzk_error err;
    witness w, serial;
    const cs_circuit circuit = ref_to_cs(ref);
    cuzk_host one = *host();
    one.parallel = check_random() & 1 ? backwards : NULL;
    one.workers = 1;
    CHECK_OK(witness_new(host(), r, &w, &err));
    CHECK_OK(witness_new(host(), r, &serial, &err));
    memset(w.bits, 0xff, (size_t)(r->aux + 63) / 64 * 8); /* left over from another run */
    CHECK_OK(r1cs_witness(host(), r, &circuit, &w, &err));
    CHECK_OK(r1cs_witness(&one, r, &circuit, &serial, &err));
    CHECK_MEM(w.bits, serial.bits, (size_t)(r->aux + 63) / 64 * 8);
    CHECK_MEM(w.fields, serial.fields, (size_t)r->fields * sizeof(fr_t));
    CHECK_MEM(w.inputs, ref->input_values, (size_t)r->inputs * sizeof(fr_t));
    for (uint64_t i = 0; i < r->aux; i++) {
        fr_t value;
        witness_aux(r, &w, i, &value);
        CHECK(fr_eq(&value, &ref->aux_values[i]));
        if (r->field_map[i / 64] >> (i % 64) & 1) CHECK_U64(w.bits[i / 64] >> (i % 64) & 1, 0);
    }
    witness_free(host(), &w);
    witness_free(host(), &serial);
}

TEST(random_circuits) {
    cuzk_error err;
    unsigned with_imports = 0;
    for (int i = 0; i < 60; i++) {
        ref_circuit ref;
        r1cs *r = NULL;
        ref_random_circuit(&ref, i < 20 ? 12 : 200, i % 3 == 0 ? 20 : 4);
        const cs_circuit circuit = ref_to_cs(&ref);
        CHECK_OK(r1cs_record(host(), &circuit, &r, &err));
        REQUIRE(r != NULL);
        for (unsigned b = 0; b < r->n_blocks; b++)
            with_imports += r->blocks[b].count > 1 && r->blocks[b].n_imports > 0;
        check_totals(&ref, r);
        check_rows(&ref, r);
        check_digests(&ref, r);
        check_witness(&ref, r);
        r1cs_free(host(), r);
        ref_free(&ref);
    }
    CHECK(with_imports > 0);
}

/* --- a known gadget, digest for digest --- */

/* num, its 255 bits with boolean constraints, 0 * 0 = sum 2^i bit_i - num (to_bits_le of
 * bellpepper-core's gadgets/num.rs). */
static void synth_to_bits(cs *c, void *state, uint64_t instance) {
    const fr_t one = fr_one(), minus_one = small(-1);
    cs_lc packing = {0};
    (void)state;
    (void)instance;
    const cs_var num = cs_alloc(c, NULL);
    fr_t coef = one;
    for (int i = 0; i < 255; i++) {
        const cs_var bit = cs_alloc_bit(c, false);
        cs_lc *a = cs_scratch(c, 0), *b = cs_scratch(c, 1);
        cs_lc_add(c, a, CS_ONE, &one);
        cs_lc_add(c, a, bit, &minus_one);
        cs_lc_add(c, b, bit, &one);
        cs_enforce(c, a, b, NULL);
        cs_lc_add(c, &packing, bit, &coef);
        fr_double(&coef, &coef);
    }
    cs_lc_add(c, &packing, num, &minus_one);
    cs_enforce(c, NULL, NULL, &packing);
    cs_lc_free(c, &packing);
}

static const cs_circuit to_bits = {
    "to-bits", 1, {{.name = "bits", .count = 1, .synth = synth_to_bits}}, NULL};

TEST(to_bits_gadget) {
    cuzk_error err;
    r1cs *r = NULL;
    r1cs_digests d;
    uint8_t hash[32];
    CHECK_OK(r1cs_record(host(), &to_bits, &r, &err));
    REQUIRE(r != NULL);
    CHECK_OK(r1cs_digest(host(), r, &d, &err));
    CHECK_OK(r1cs_cs_hash(host(), r, hash, &err));
    /* shared golden data: prims/gadgets.json "to_bits_le"; the hash is bellpepper's own */
    CHECK_HEX(d.all, 32, "73abd534f5649ae331fc174cb0d1a4328abb048058ad7ac4f8127f087ab8d286");
    CHECK_HEX(d.without_input_rows, 32,
              "4aaa6a6f960f07e9cb1a40f1aacb0931aae52826f5f9f5d1283ca6dc6769068e");
    CHECK_HEX(d.a_aux, 32, "019da9f8b93daf2ffbe0b46e64d0fb695532c36cc862228ce829aed641811322");
    CHECK_HEX(d.b_aux, 32, "019da9f8b93daf2ffbe0b46e64d0fb695532c36cc862228ce829aed641811322");
    CHECK_HEX(d.b_input, 32, "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
    CHECK_HEX(hash, 32, "fe8f60dff8688ec7c39a8ebb4750cc381c306c9f430d43e0fcf0ca5a23025477");
    CHECK_U64(d.max_terms[0], 2);
    CHECK_U64(d.max_terms[2], 256);
    CHECK_U64(d.empty_lcs[0], 1);
    CHECK_U64(d.empty_lcs[1], 2);
    CHECK_U64(d.empty_lcs[2], 256);
    CHECK_U64(r->log2_domain, 9);
    r1cs_digests_free(host(), &d);
    r1cs_free(host(), r);
}

/* --- more rows than a chunk --- */

static void synth_many(cs *c, void *state, uint64_t instance) {
    const fr_t one = fr_one();
    cs_lc *a = cs_scratch(c, 0);
    (void)state;
    (void)instance;
    for (int i = 0; i < 150000; i++) {
        cs_lc_clear(a);
        cs_lc_add(c, a, cs_alloc_bit(c, true), &one);
        if (cs_recording(c)) cs_enforce(c, a, a, a);
    }
}

TEST(chunks) {
    cuzk_error err;
    r1cs *r = NULL;
    r1cs_digests d;
    const cs_circuit circuit = {
        "many", 1, {{.name = "many", .count = 9, .synth = synth_many}}, NULL};
    CHECK_OK(r1cs_record(host(), &circuit, &r, &err));
    REQUIRE(r != NULL);
    CHECK_OK(r1cs_digest(host(), r, &d, &err));
    CHECK_U64(d.n_chunks, 2);
    sha256_ctx all, chunk;
    sha256_init(&all);
    sha256_init(&chunk);
    uint8_t row[3 * 45 + 1], want[32];
    for (uint64_t i = 0; i < 9 * 150000; i++) {
        for (int m = 0; m < 3; m++) {
            uint8_t *p = row + 45 * m;
            const uint32_t n = 1;
            memset(p, 0, 45);
            memcpy(p, &n, 4);
            p[4] = 1;
            memcpy(p + 5, &i, 8);
            p[13] = 1;
        }
        if (i == R1CS_CHUNK_ROWS) {
            sha256_final(&chunk, want);
            CHECK_MEM(d.chunks[0], want, 32);
            sha256_init(&chunk);
        }
        sha256_update(&all, row, 135);
        sha256_update(&chunk, row, 135);
    }
    const uint8_t one_row[53] = {[0] = 1, [13] = 1}; /* ONE * 0 = 0 */
    sha256_update(&all, one_row, 53);
    sha256_update(&chunk, one_row, 53);
    sha256_final(&chunk, want);
    CHECK_MEM(d.chunks[1], want, 32);
    sha256_final(&all, want);
    CHECK_MEM(d.all, want, 32);
    r1cs_digests_free(host(), &d);
    r1cs_free(host(), r);
}

/* --- linear combinations --- */

TEST(normalise) {
    for (int i = 0; i < 300; i++) {
        cs_term terms[200], want[200];
        cs_lc lc = {terms, check_random() % 200, 200};
        size_t n = 0;
        for (size_t k = 0; k < lc.n; k++) {
            const cs_var var = (cs_var)(check_random() % 50) | (check_random() & 1 ? CS_ONE : 0);
            terms[k] = (cs_term){var, ref_random_coef()};
        }
        /* Inputs then aux, each ascending, equal variables added up. */
        for (uint32_t key = 0; key < 100; key++) {
            const cs_var var = key < 50 ? key | CS_INPUT_FLAG : key - 50;
            cs_term sum = {var, fr_zero()};
            bool found = false;
            for (size_t k = 0; k < lc.n; k++) {
                if (terms[k].var != var) continue;
                fr_add(&sum.coef, &sum.coef, &terms[k].coef);
                found = true;
            }
            if (found) want[n++] = sum;
        }
        cs_lc_normalise(&lc);
        CHECK_U64(lc.n, n);
        for (size_t k = 0; k < n && k < lc.n; k++)
            CHECK(lc.terms[k].var == want[k].var && fr_eq(&lc.terms[k].coef, &want[k].coef));
    }
}

/* --- what recording refuses --- */

typedef void (*synth_fn)(cs *c, void *state, uint64_t instance);

static void expect_record(synth_fn synth, uint64_t count, cuzk_status status, const char *text) {
    cuzk_error err;
    r1cs *r = NULL;
    const cs_circuit circuit = {"bad", 1, {{.name = "part", .count = count, .synth = synth}}, NULL};
    CHECK_STATUS(r1cs_record(host(), &circuit, &r, &err), status);
    CHECK(r == NULL);
    if (strstr(err.text, text) == NULL) CHECK_FAILED_("\"%s\" lacks \"%s\"", err.text, text);
}

static void synth_unknown_variable(cs *c, void *state, uint64_t instance) {
    const fr_t one = fr_one();
    (void)state;
    (void)instance;
    cs_alloc_bit(c, false);
    cs_lc_add(c, cs_scratch(c, 0), 1, &one); /* only 0 exists */
    cs_lc *lc = cs_scratch(c, 1);
    cs_lc_add(c, lc, 1, &one);
    cs_enforce(c, lc, NULL, NULL);
}
static void synth_unknown_input(cs *c, void *state, uint64_t instance) {
    const fr_t one = fr_one();
    cs_lc *lc = cs_scratch(c, 1);
    (void)state;
    (void)instance;
    cs_lc_add(c, lc, CS_INPUT_FLAG | 1, &one);
    cs_enforce(c, lc, NULL, NULL);
}
static void synth_many_coefficients(cs *c, void *state, uint64_t instance) {
    cs_lc *lc = cs_scratch(c, 0);
    const cs_var v = cs_alloc_bit(c, false);
    (void)instance;
    for (uint64_t i = 1; i <= *(const uint64_t *)state; i++) {
        const fr_t coef = small((int64_t)i); /* 1 is there from the start */
        cs_lc_clear(lc);
        cs_lc_add(c, lc, v, &coef);
        cs_enforce(c, lc, NULL, NULL);
    }
}
static void synth_complains(cs *c, void *state, uint64_t instance) {
    (void)state;
    (void)instance;
    cs_fail(c, CUZK_ERR_UNSUPPORTED, "no such shape");
    cs_fail(c, CUZK_ERR_INTERNAL, "a later failure");
    cs_alloc(c, NULL);
    cs_enforce(c, NULL, NULL, NULL);
}
static void synth_65_bits(cs *c, void *state, uint64_t instance) {
    (void)state;
    (void)instance;
    cs_alloc_bits(c, 0, 65);
}
static void synth_1024_bits(cs *c, void *state, uint64_t instance) {
    (void)state;
    (void)instance;
    for (int i = 0; i < 16; i++)
        cs_alloc_bits(c, 0, 64);
}

TEST(record_refusals) {
    cuzk_error err;
    r1cs *r = NULL;
    expect_record(synth_unknown_variable, 1, CUZK_ERR_ARGUMENT, "aux 1");
    expect_record(synth_unknown_input, 1, CUZK_ERR_ARGUMENT, "input 1");
    expect_record(synth_complains, 1, CUZK_ERR_UNSUPPORTED, "block part: no such shape");
    expect_record(synth_65_bits, 1, CUZK_ERR_ARGUMENT, "64 bits");
    expect_record(synth_1024_bits, 0, CUZK_ERR_ARGUMENT, "0 instances");
    expect_record(synth_1024_bits, ((uint64_t)1 << 19) + 1, CUZK_ERR_EXHAUSTED, "2^29 variables");
    expect_record(synth_1024_bits, UINT64_MAX, CUZK_ERR_ARGUMENT, "instances");
    uint64_t n = 65536;
    cs_circuit circuit = {
        "many", 1, {{.name = "part", .count = 1, .synth = synth_many_coefficients}}, &n};
    CHECK_OK(r1cs_record(host(), &circuit, &r, &err));
    CHECK_U64(r->dict_size, 65536);
    r1cs_free(host(), r);
    n++;
    CHECK_STATUS(r1cs_record(host(), &circuit, &r, &err), CUZK_ERR_EXHAUSTED);
    CHECK(strstr(err.text, "65536") != NULL);
    circuit.n_blocks = 0;
    CHECK_STATUS(r1cs_record(host(), &circuit, &r, &err), CUZK_ERR_ARGUMENT);
    circuit.n_blocks = CS_MAX_BLOCKS + 1;
    CHECK_STATUS(r1cs_record(host(), &circuit, &r, &err), CUZK_ERR_ARGUMENT);
}

/* --- imports that are refused --- */

/* Behind ref_head a block that has one row with one term. */
typedef struct import_case {
    cs_var imports[2][2]; /* by instance */
    cs_var term;
} import_case;

static void synth_importer(cs *c, void *state, uint64_t instance) {
    const fr_t one = fr_one();
    cs_lc *lc = cs_scratch(c, 0);
    (void)instance;
    cs_alloc_bit(c, false);
    cs_lc_add(c, lc, ((const import_case *)state)->term, &one);
    cs_enforce(c, lc, NULL, NULL);
}
static void two_imports(const void *state, uint64_t instance, cs_var *out) {
    memcpy(out, ((const import_case *)state)->imports[instance], 2 * sizeof *out);
}

static void expect_imports(import_case x, cuzk_status status, const char *text) {
    cuzk_error err = {.text = ""};
    r1cs *r = NULL;
    const cs_circuit circuit = {.name = "imports",
                                .n_blocks = 2,
                                .blocks = {{.name = "head", .count = 1, .synth = ref_head},
                                           {.name = "importer",
                                            .count = 2,
                                            .synth = synth_importer,
                                            .n_imports = 2,
                                            .imports = two_imports}},
                                .state = &x};
    CHECK_STATUS(r1cs_record(host(), &circuit, &r, &err), status);
    CHECK((r != NULL) == (status == CUZK_OK));
    if (status != CUZK_OK && strstr(err.text, text) == NULL)
        CHECK_FAILED_("\"%s\" lacks \"%s\"", err.text, text);
    r1cs_free(host(), r);
}

TEST(import_refusals) {
    const cuzk_status bad = CUZK_ERR_ARGUMENT;
    expect_imports((import_case){{{5, 11}, {4, 19}}, 11}, CUZK_OK, "");
    expect_imports((import_case){{{5, 11}, {4, 19}}, 3}, CUZK_OK, "");
    expect_imports((import_case){{{5, 11}, {4, 19}}, 4}, bad, "block importer: a row uses aux 4,");
    expect_imports((import_case){{{5, 11}, {4, 19}}, 12}, bad, "neither an import nor before");
    expect_imports((import_case){{{11, 5}, {4, 19}}, 0}, bad, "the imports of instance 0");
    expect_imports((import_case){{{5, 11}, {4, 4}}, 0}, bad, "the imports of instance 1");
    expect_imports((import_case){{{5, 10}, {4, 19}}, 0}, bad, "the imports of instance 0");
    expect_imports((import_case){{{5, 11}, {4, 20}}, 0}, bad, "the imports of instance 1");
    expect_imports((import_case){{{5, 11}, {4, CS_ONE}}, 0}, bad, "the imports of instance 1");
    cuzk_error err;
    r1cs *r = NULL;
    cs_circuit circuit = {.name = "head", .n_blocks = 1};
    circuit.blocks[0] = (cs_block){.name = "head", .count = 1, .synth = ref_head, .n_imports = 1};
    CHECK_STATUS(r1cs_record(host(), &circuit, &r, &err), bad);
    circuit.blocks[0].imports = two_imports;
    circuit.blocks[0].count = (uint64_t)1 << 29;
    circuit.blocks[0].n_imports = 2;
    CHECK_STATUS(r1cs_record(host(), &circuit, &r, &err), bad);
    CHECK(strstr(err.text, "2 imports") != NULL);
}

/* --- what the witness writer refuses: one instance that allocates otherwise --- */

typedef enum deviation {
    SAME,
    FEWER_BITS,
    MORE_BITS,
    MORE_FIELDS,
    FEWER_FIELDS,
    FIELD_FIRST,
    FIELD_AS_BIT,
    MORE_INPUTS,
    FEWER_INPUTS,
    REPORTED,
    DEVIATIONS
} deviation;

typedef struct deviant {
    deviation how;
    uint64_t instance;
} deviant;

static void synth_deviant(cs *c, void *state, uint64_t instance) {
    const deviant *d = state;
    const deviation how = instance == d->instance ? d->how : SAME;
    const fr_t one = fr_one();
    if (how == FIELD_FIRST) cs_alloc(c, &one);
    cs_alloc_bits(c, 0x1234567, how == FEWER_BITS ? 28 : how == MORE_BITS ? 30 : 29);
    if (how == FIELD_AS_BIT)
        cs_alloc_bit(c, true);
    else if (how != FIELD_FIRST)
        cs_alloc(c, &one);
    if (how != FEWER_FIELDS) cs_alloc(c, &one);
    if (how == MORE_FIELDS) cs_alloc(c, &one);
    if (how != FEWER_INPUTS) cs_alloc_input(c, &one);
    if (how == MORE_INPUTS) cs_alloc_input(c, &one);
    if (how == REPORTED) cs_fail(c, CUZK_ERR_FORMAT, "a bad value");
}

TEST(witness_refusals) {
    cuzk_error err;
    r1cs *r = NULL;
    witness w;
    deviant d = {SAME, 0};
    cs_circuit circuit = {
        "deviant", 1, {{.name = "part", .count = 23, .synth = synth_deviant}}, &d};
    CHECK_OK(r1cs_record(host(), &circuit, &r, &err));
    REQUIRE(r != NULL);
    CHECK_OK(witness_new(host(), r, &w, &err));
    CHECK_U64(witness_bytes(r), 12 * 8 + (46 + 24) * 32);
    for (unsigned how = 0; how < DEVIATIONS; how++) {
        for (d.instance = 0; d.instance < 23; d.instance += 11) {
            char where[32];
            d.how = (deviation)how;
            const cuzk_status want = how == SAME       ? CUZK_OK
                                     : how == REPORTED ? CUZK_ERR_FORMAT
                                                       : CUZK_ERR_MISMATCH;
            CHECK_STATUS(r1cs_witness(host(), r, &circuit, &w, &err), want);
            snprintf(where, sizeof where, "instance %u:", (unsigned)d.instance);
            if (want != CUZK_OK && strstr(err.text, where) == NULL)
                CHECK_FAILED_("\"%s\" lacks \"%s\"", err.text, where);
        }
    }
    d.how = SAME;
    circuit.blocks[0].count = 22;
    CHECK_STATUS(r1cs_witness(host(), r, &circuit, &w, &err), CUZK_ERR_MISMATCH);
    circuit.n_blocks = 2;
    CHECK_STATUS(r1cs_witness(host(), r, &circuit, &w, &err), CUZK_ERR_MISMATCH);
    w.n_fields++;
    CHECK_STATUS(r1cs_witness(host(), r, &circuit, &w, &err), CUZK_ERR_MISMATCH);
    w.n_fields--;
    witness_free(host(), &w);
    CHECK(w.bits == NULL && w.n_aux == 0);
    r1cs_free(host(), r);
}

/* --- cancellation --- */

static bool always(void *self) {
    (void)self;
    return true;
}

TEST(cancelled) {
    cuzk_error err;
    r1cs *r = NULL;
    witness w;
    deviant d = {SAME, 0};
    uint64_t bad;
    fr_t z;
    cuzk_host stopped = *host();
    stopped.cancelled = always;
    const cs_circuit circuit = {
        "deviant", 1, {{.name = "part", .count = 23, .synth = synth_deviant}}, &d};
    CHECK_STATUS(r1cs_record(&stopped, &circuit, &r, &err), CUZK_ERR_CANCELLED);
    CHECK_OK(r1cs_record(host(), &circuit, &r, &err));
    CHECK_OK(witness_new(host(), r, &w, &err));
    CHECK_STATUS(r1cs_witness(&stopped, r, &circuit, &w, &err), CUZK_ERR_CANCELLED);
    CHECK_STATUS(r1cs_eval(&stopped, r, R1CS_A, &w, 0, 1, &z, &err), CUZK_ERR_CANCELLED);
    CHECK_STATUS(r1cs_check(&stopped, r, &w, &bad, &err), CUZK_ERR_CANCELLED);
    witness_free(host(), &w);
    r1cs_free(host(), r);
}

TEST_MAIN(RUN(random_circuits), RUN(to_bits_gadget), RUN(chunks), RUN(normalise),
          RUN(record_refusals), RUN(import_refusals), RUN(witness_refusals), RUN(cancelled))
