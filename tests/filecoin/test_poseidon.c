/* Poseidon against neptune's constants and hashes, and the generated tables against their
 * derivation. */
#include "circuit_test.h"

#include "filecoin/poseidon.h"

static const char *const fixture_names[POSEIDON_KINDS] = {[POSEIDON_2] = "arity2",
                                                          [POSEIDON_4] = "arity4",
                                                          [POSEIDON_8] = "arity8",
                                                          [POSEIDON_11] = "arity11",
                                                          [POSEIDON_2_RANDOMNESS] =
                                                              "update_randomness_arity2"};

static void check_fr_hex(const fr_t *x, const char *expected, const char *what) {
    uint8_t bytes[FR_BYTES];
    fr_to_bytes(bytes, x);
    check_hex_text(bytes, sizeof bytes, expected, what);
}

static fr_t fr_from_hex(const char *hex) {
    uint8_t bytes[FR_BYTES];
    fr_t x;
    REQUIRE(check_unhex(bytes, sizeof bytes, hex) == FR_BYTES);
    REQUIRE(fr_from_bytes(&x, bytes) == CUZK_OK);
    return x;
}

/* SHA-256 over rows x columns elements, rows `stride` elements apart. */
static void check_digest(const fr_t *x, size_t rows, size_t columns, size_t stride,
                         const char *expected, const char *what) {
    sha256_ctx ctx;
    uint8_t bytes[32];
    sha256_init(&ctx);
    for (size_t i = 0; i < rows; i++)
        for (size_t j = 0; j < columns; j++) {
            fr_to_bytes(bytes, &x[i * stride + j]);
            sha256_update(&ctx, bytes, sizeof bytes);
        }
    sha256_final(&ctx, bytes);
    check_hex_text(bytes, sizeof bytes, expected, what);
}

TEST(tables_equal_derivation) {
    static poseidon_constants derived;
    for (int kind = 0; kind < POSEIDON_KINDS; kind++) {
        const poseidon_constants *table = poseidon_get((poseidon_kind)kind);
        poseidon_derive((poseidon_kind)kind, &derived);
        CHECK_U64(table->arity, derived.arity);
        CHECK_U64(table->width, derived.width);
        CHECK_U64(table->partial_rounds, derived.partial_rounds);
        CHECK_U64(table->n_compressed, derived.n_compressed);
        CHECK_MEM(&table->tag, &derived.tag, sizeof derived.tag);
        CHECK_MEM(table->compressed, derived.compressed, sizeof derived.compressed);
        const uint32_t t = derived.width;
        CHECK_MEM(table->round, derived.round, poseidon_rounds(&derived) * t * sizeof(fr_t));
        for (uint32_t i = 0; i < t; i++) {
            CHECK_MEM(table->mds[i], derived.mds[i], t * sizeof(fr_t));
            CHECK_MEM(table->pre_sparse[i], derived.pre_sparse[i], t * sizeof(fr_t));
        }
        for (uint32_t i = 0; i < derived.partial_rounds; i++) {
            CHECK_MEM(table->sparse_what[i], derived.sparse_what[i], t * sizeof(fr_t));
            CHECK_MEM(table->sparse_v[i], derived.sparse_v[i], (t - 1) * sizeof(fr_t));
        }
    }
}

TEST(constants_equal_neptune) {
    json all = json_load("filecoin/prims/poseidon.json");
    for (int kind = 0; kind < POSEIDON_KINDS; kind++) {
        const poseidon_constants *k = poseidon_get((poseidon_kind)kind);
        const json *v = json_get(&all, fixture_names[kind]);
        const uint32_t t = k->width;
        CHECK_U64(k->width, json_u64(v, "width"));
        CHECK_U64(k->partial_rounds, json_u64(v, "partial_rounds"));
        check_fr_hex(&k->tag, json_str(v, "domain_tag"), "domain tag");
        const json *round = json_get(v, "round_constants");
        const uint32_t n = poseidon_rounds(k) * t;
        CHECK_U64(n, json_u64(round, "count"));
        check_fr_hex(&k->round[0], json_str(round, "first"), "first round constant");
        check_fr_hex(&k->round[n - 1], json_str(round, "last"), "last round constant");
        check_digest(k->round, 1, n, n, json_str(round, "sha256"), "round constants");
        check_digest(k->mds[0], t, t, POSEIDON_MAX_WIDTH, json_str(v, "mds_sha256"), "mds");
        const json *compressed = json_get(v, "compressed_round_constants");
        CHECK_U64(k->n_compressed, json_u64(compressed, "count"));
        check_digest(k->compressed, 1, k->n_compressed, k->n_compressed,
                     json_str(compressed, "sha256"), "compressed");
        check_digest(k->pre_sparse[0], t, t, POSEIDON_MAX_WIDTH,
                     json_str(v, "pre_sparse_matrix_sha256"), "pre_sparse");
        const json *sparse = json_get(v, "sparse_matrixes");
        check_digest(k->sparse_what[0], k->partial_rounds, t, POSEIDON_MAX_WIDTH,
                     json_str(sparse, "w_hat_sha256"), "sparse what");
        check_digest(k->sparse_v[0], k->partial_rounds, t - 1, POSEIDON_MAX_WIDTH - 1,
                     json_str(sparse, "v_rest_sha256"), "sparse v");
    }
    json_free(&all);
}

TEST(hashes_equal_neptune) {
    json all = json_load("filecoin/prims/poseidon.json");
    for (int kind = 0; kind < POSEIDON_KINDS; kind++) {
        const poseidon_constants *k = poseidon_get((poseidon_kind)kind);
        const json *hashes = json_get(json_get(&all, fixture_names[kind]), "hashes");
        CHECK(hashes->n >= 4);
        for (size_t i = 0; i < hashes->n; i++) {
            const json *input = json_get(&hashes->items[i], "input");
            fr_t in[POSEIDON_MAX_WIDTH], out;
            REQUIRE(input->n == k->arity);
            for (size_t j = 0; j < input->n; j++)
                in[j] = fr_from_hex(input->items[j].text);
            poseidon_hash_plain(k, in, &out);
            check_fr_hex(&out, json_str(&hashes->items[i], "hash"), "plain hash");
            poseidon_hash(k, in, &out);
            check_fr_hex(&out, json_str(&hashes->items[i], "hash"), "optimised hash");
        }
    }
    json_free(&all);
}

/* Nodes as rust-fil-proofs hashes them, and which bytes are no element. */
TEST(nodes_equal_rust_fil_proofs) {
    json v = json_load("filecoin/prims/hashes.json");
    const fr_t in[2] = {fr_from_hex(json_str(&v, "a")), fr_from_hex(json_str(&v, "b"))};
    fr_t out;
    uint8_t ff[FR_BYTES];
    check_fr_hex(&in[0], json_str(&v, "fr_into_bytes_of_a"), "bytes of an element");
    poseidon_hash(poseidon_get(POSEIDON_2), in, &out);
    check_fr_hex(&out, json_str(&v, "poseidon_hash2"), "hash of two nodes");
    memset(ff, 0xff, sizeof ff);
    CHECK_STATUS(fr_from_bytes(&out, ff), CUZK_ERR_NOT_CANONICAL);
    json_free(&v);
}

/* Zero, one, r - 1 or a value with long runs of equal bits. */
static fr_t random_element(void) {
    fr_t x = fr_zero();
    const uint64_t choice = check_random() % 8;
    if (choice == 0) return x;
    x = fr_one();
    if (choice == 1) return x;
    if (choice == 2) {
        fr_neg(&x, &x);
        return x;
    }
    uint8_t bytes[64];
    for (size_t i = 0; i < sizeof bytes; i += 8) {
        const uint64_t run = check_random_runs();
        memcpy(bytes + i, &run, sizeof run);
    }
    fr_from_wide(&x, bytes);
    return x;
}

TEST(optimised_equals_plain) {
    for (int kind = 0; kind < POSEIDON_KINDS; kind++) {
        const poseidon_constants *k = poseidon_get((poseidon_kind)kind);
        for (int i = 0; i < 200; i++) {
            fr_t in[POSEIDON_MAX_WIDTH], plain, fast;
            for (uint32_t j = 0; j < k->arity; j++)
                in[j] = random_element();
            poseidon_hash_plain(k, in, &plain);
            poseidon_hash(k, in, &fast);
            CHECK(fr_eq(&plain, &fast));
        }
    }
}

/* Lanes against one at a time, and the last value against the hash; zeros, ones and r - 1 among the
 * inputs, with and without vector instructions. */
static void check_lanes(const poseidon_constants *k) {
    const uint32_t n_values = poseidon_trace_length(k);
    REQUIRE(n_values <= POSEIDON_MAX_TRACE);
    fr_t in[POSEIDON_LANES][POSEIDON_MAX_WIDTH], hash, *want = calloc(n_values, sizeof *want);
    fr_t *got = calloc((size_t)POSEIDON_LANES * n_values, sizeof *got);
    const fr_t *from[POSEIDON_LANES];
    fr_t *to[POSEIDON_LANES];
    for (unsigned n = 1; n <= POSEIDON_LANES; n++) {
        memset(got, 0xff, POSEIDON_LANES * n_values * sizeof *got);
        for (unsigned i = 0; i < n; i++) {
            for (uint32_t j = 0; j < k->arity; j++)
                in[i][j] = random_element();
            if (i % 3 == 1) in[i][check_random() % k->arity] = fr_zero();
            if (i % 3 == 2) {
                const fr_t one = fr_one();
                fr_neg(&in[i][check_random() % k->arity], &one);
            }
            if (i == 4)
                for (uint32_t j = 0; j < k->arity; j++) /* r - 1 as limbs */
                    for (int w = 0; w < FR_LIMBS; w++)
                        in[i][j].l[w] = cuzk_fr_prime.p[w] - (w == 0);
            from[i] = in[i];
            to[i] = got + (size_t)i * n_values;
        }
        poseidon_trace_lanes(k, n, from, to);
        fr_t hashes[POSEIDON_LANES], *hash_to[POSEIDON_LANES];
        for (unsigned i = 0; i < n; i++)
            hash_to[i] = &hashes[i];
        poseidon_hash_lanes(k, n, from, hash_to);
        for (unsigned i = 0; i < n; i++) {
            poseidon_trace(k, in[i], want);
            poseidon_hash_plain(k, in[i], &hash);
            CHECK_MEM(to[i], want, n_values * sizeof *want);
            CHECK(fr_eq(&want[n_values - 1], &hash));
            CHECK_MEM(&hashes[i], &hash, sizeof hash);
        }
        for (size_t at = (size_t)n * n_values; at < (size_t)POSEIDON_LANES * n_values; at++)
            CHECK_U64(got[at].l[0], UINT64_MAX);
    }
    free(want);
    free(got);
}
TEST(lanes_equal_one_at_a_time) {
    for (int kind = 0; kind < POSEIDON_KINDS; kind++) {
        cuzk_cpu_force(0);
        check_lanes(poseidon_get((poseidon_kind)kind));
        cuzk_cpu_force(CUZK_CPU_ALL);
        for (int round = 0; round < 10; round++)
            check_lanes(poseidon_get((poseidon_kind)kind));
    }
}

/* All limbs at their largest: the unreduced sum of products must not overflow. */
TEST(linear_layer_at_the_bound) {
    const poseidon_constants *k = poseidon_get(POSEIDON_11);
    fr_t state[POSEIDON_MAX_WIDTH], expected[POSEIDON_MAX_WIDTH];
    for (int i = 0; i < POSEIDON_MAX_WIDTH; i++) /* r - 1 as limbs, whatever it stands for */
        for (int j = 0; j < FR_LIMBS; j++)
            state[i].l[j] = cuzk_fr_prime.p[j] - (j == 0);
    for (int j = 0; j < POSEIDON_MAX_WIDTH; j++) {
        expected[j] = fr_zero();
        for (int i = 0; i < POSEIDON_MAX_WIDTH; i++) {
            fr_t product;
            fr_mul(&product, &state[i], &k->mds[i][j]);
            fr_add(&expected[j], &expected[j], &product);
        }
    }
    poseidon_linear(k, 0, state);
    CHECK_MEM(state, expected, sizeof state);
}

static double cpu_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

TEST(speed) {
    const poseidon_constants *k = poseidon_get(POSEIDON_8);
    fr_t in[POSEIDON_MAX_WIDTH], out = fr_one();
    for (uint32_t j = 0; j < k->arity; j++)
        in[j] = random_element();
    const double start = cpu_seconds();
    const int n = 2000;
    for (int i = 0; i < n; i++) {
        in[0] = out;
        poseidon_hash(k, in, &out);
    }
    printf("       arity 8: %.1f us a hash\n", (cpu_seconds() - start) / n * 1e6);
    static fr_t trace[POSEIDON_LANES][POSEIDON_MAX_TRACE];
    const fr_t *from[POSEIDON_LANES];
    fr_t *to[POSEIDON_LANES];
    for (unsigned i = 0; i < POSEIDON_LANES; i++) {
        from[i] = in;
        to[i] = trace[i];
    }
    const double middle = cpu_seconds();
    for (int i = 0; i < n / 8; i++)
        poseidon_trace_lanes(k, POSEIDON_LANES, from, to);
    const double end = cpu_seconds();
    for (int i = 0; i < n; i++)
        poseidon_trace(k, in, trace[0]);
    printf("       arity 8: traces: %.1f us a hash eight at a time, %.1f us alone\n",
           (end - middle) / n * 1e6, (cpu_seconds() - end) / n * 1e6);
    CHECK(!fr_is_zero(&out));
}

TEST_MAIN(RUN(tables_equal_derivation), RUN(constants_equal_neptune), RUN(hashes_equal_neptune),
          RUN(nodes_equal_rust_fil_proofs), RUN(optimised_equals_plain),
          RUN(lanes_equal_one_at_a_time), RUN(linear_layer_at_the_bound), RUN(speed))
