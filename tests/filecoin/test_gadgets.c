/* Every gadget against the constraint systems and witnesses of bellperson, and the word-parallel
 * operations against the single bits that define them. */
#include "circuit_test.h"

#include "filecoin/gadget_merkle.h"
#include "filecoin/gadget_poseidon.h"
#include "filecoin/gadget_sha256.h"

/* ---- operands: the fixture generator's rule, or nothing while recording ---- */

static const char *fixture; /* gadget whose operands are wanted */

static void rule_bytes(const char *suffix, uint8_t out[32]) {
    char label[128];
    const int n = snprintf(label, sizeof label, "fixturegen/gadget/%s/%s", fixture, suffix);
    sha256(out, label, (size_t)n);
}

static gadget_num operand(cs *c, unsigned i) {
    uint8_t bytes[32];
    char suffix[16];
    snprintf(suffix, sizeof suffix, "%u", i);
    rule_bytes(suffix, bytes);
    bytes[31] &= 0x3f;
    return num_alloc_bytes(c, cs_recording(c) ? NULL : bytes);
}

static void operands(cs *c, gadget_num *out, unsigned n) {
    for (unsigned i = 0; i < n; i++)
        out[i] = operand(c, i);
}

/* n bits of the stream "bits", least significant of a byte first. */
static void operand_bits(cs *c, gadget_bit *out, unsigned n) {
    uint8_t block[32] = {0};
    for (unsigned i = 0; i < n; i++) {
        if (i % 256 == 0) {
            char suffix[16];
            snprintf(suffix, sizeof suffix, "bits/%u", i / 256);
            rule_bytes(suffix, block);
        }
        out[i] = bit_alloc(c, block[i / 8 % 32] >> (i % 8) & 1);
    }
}

/* Words of the SHA-256 message whose bit stream is given. */
static void words_of_bits(cs *c, gadget_word *words, const gadget_word **list,
                          const gadget_bit *bits, unsigned n_words) {
    for (unsigned i = 0; i < n_words; i++) {
        word_constant(&words[i], 0);
        for (unsigned j = 0; j < 32; j++)
            word_set_bit(c, &words[i], 31 - j, bits[32 * i + j]);
        list[i] = &words[i];
    }
}

/* ---- gadgets ---- */

static void poseidon(cs *c, poseidon_kind kind) {
    gadget_num in[POSEIDON_MAX_WIDTH];
    operands(c, in, poseidon_get(kind)->arity);
    gadget_poseidon(c, kind, in);
}
static void poseidon_2(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    poseidon(c, POSEIDON_2);
}
static void poseidon_4(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    poseidon(c, POSEIDON_4);
}
static void poseidon_8(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    poseidon(c, POSEIDON_8);
}
static void poseidon_11(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    poseidon(c, POSEIDON_11);
}
static void poseidon_2_randomness(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    poseidon(c, POSEIDON_2_RANDOMNESS);
}

static void sha256_bits(cs *c, unsigned n) {
    gadget_bit bits[512];
    gadget_word words[16], out[8];
    const gadget_word *list[16];
    operand_bits(c, bits, n);
    words_of_bits(c, words, list, bits, n / 32);
    gadget_sha256(c, out, list, n / 32);
}
static void sha256_512(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    sha256_bits(c, 512);
}
static void sha256_256(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    sha256_bits(c, 256);
}

/* The reference's digests have the bits before the siblings, the fixtures behind them. */
static void insert(cs *c, unsigned arity, bool bits_first) {
    const unsigned n_bits = (unsigned)__builtin_ctz(arity);
    gadget_num in[NUM_MAX_ARITY], out[NUM_MAX_ARITY];
    gadget_bit bits[3];
    const uint64_t position = arity == 8 ? 7 : 0; /* as in the fixtures' witness */
    in[0] = operand(c, 0);
    if (bits_first) bits_alloc(c, position, n_bits, bits);
    for (unsigned i = 1; i < arity; i++)
        in[i] = operand(c, i);
    if (!bits_first) bits_alloc(c, position, n_bits, bits);
    num_insert(c, arity, &in[0], bits, &in[1], out);
}
static void insert_2(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    insert(c, 2, false);
}
static void insert_8(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    insert(c, 8, false);
}
static void insert_2_bits_first(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    insert(c, 2, true);
}
static void insert_4_bits_first(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    insert(c, 4, true);
}
static void insert_8_bits_first(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    insert(c, 8, true);
}
static void select_8(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    gadget_num values[8];
    gadget_bit bits[3];
    operands(c, values, 8);
    bits_alloc(c, 0, 3, bits);
    num_select(c, values, bits, 3);
}
static void to_bits_le(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    gadget_word bits[8];
    const gadget_num n = operand(c, 0);
    num_to_words(c, &n, NUM_BITS_DIFFERENCE, bits);
}
static void pack_bits_255(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    gadget_bit bits[255];
    operand_bits(c, bits, 254);
    bits_pack(c, bits, 254);
}
static void pack_into_inputs_300(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    gadget_bit bits[300];
    operand_bits(c, bits, 300);
    bits_pack_into_inputs(c, bits, 300);
}
static void alloc_inputize(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    const gadget_num n = operand(c, 0);
    num_inputize(c, &n);
}
static void tree_d_node(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    gadget_num in[2];
    operands(c, in, 2);
    merkle_sha256_node(c, &in[0], &in[1]);
}
static void uint32_addmany_3(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    gadget_bit bits[96];
    gadget_word in[3], out;
    gadget_multieq m;
    operand_bits(c, bits, 96);
    for (unsigned j = 0; j < 3; j++) {
        word_constant(&in[j], 0);
        for (unsigned k = 0; k < 32; k++)
            word_set_bit(c, &in[j], k, bits[32 * j + k]);
    }
    const gadget_word *const sum[3] = {&in[0], &in[1], &in[2]};
    multieq_begin(c, &m);
    word_add_many(c, &m, &out, sum, 3);
    multieq_end(c, &m);
}

/* PoR as its own circuit: the value is allocated before the path, the root behind it. The siblings
 * are zeros while witnessing, so the root is whatever comes out. */
static void por(cs *c, const merkle_levels *levels, bool public_root) {
    static const node32 zeros[64];
    const merkle_path path = {.siblings = zeros, .index = 5};
    const gadget_num value = num_alloc(c, NULL);
    const gadget_num top = merkle_por_root(c, levels, cs_recording(c) ? NULL : &path, &value);
    const gadget_num root = num_alloc(c, &top.value);
    num_enforce_equal(c, &top, &root);
    if (public_root) num_inputize(c, &root);
}
static void por_sha256(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    const merkle_levels levels = merkle_levels_binary(6);
    por(c, &levels, true);
}
static void por_poseidon_8(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    const merkle_levels levels = merkle_levels_poseidon(&(tree_shape){2, 0, 0});
    por(c, &levels, true);
}
static void por_poseidon_8_8_2(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    const merkle_levels levels = merkle_levels_poseidon(&(tree_shape){2, 8, 2});
    por(c, &levels, true);
}
static void por_poseidon_8_8_2_private(cs *c, void *state, uint64_t i) {
    (void)state, (void)i;
    const merkle_levels levels = merkle_levels_poseidon(&(tree_shape){2, 8, 2});
    por(c, &levels, false);
}

typedef struct gadget_case {
    const char *name;
    void (*synth)(cs *c, void *state, uint64_t instance);
    const char *cs_hash; /* REFERENCE 14.2; NULL: not there */
    const char *fixture; /* in gadgets.json; NULL: not there */
} gadget_case;

static const gadget_case gadget_cases[] = {
    {"poseidon_2", poseidon_2, "658f013f99360e164ad8e7f96290944601cc064f93c153d9ea7ac1275927175f",
     "poseidon_2"},
    {"poseidon_4", poseidon_4, "2360602a7c4555d454b46891236273f4ae308090bc916fdcef1fb81d00ebbe70",
     "poseidon_4"},
    {"poseidon_8", poseidon_8, "ab50aeda63344f7125999ef5c4af7777380b9015ec82ad48bac2213e9353b163",
     "poseidon_8"},
    {"poseidon_11", poseidon_11, "e94a28106cbb9a718e525f0f2593ce3b138350047854ebcc3c83472ed482a6f6",
     "poseidon_11"},
    {"poseidon_2_randomness", poseidon_2_randomness,
     "9675551c881122d99caf9a20a4bf87878e1863c432265a33e98e1c1a74e246a8", NULL},
    {"sha256_512", sha256_512, "39b920088193af138e8d3494179b1d9a20442bb23e28e65028b068c6a9e48771",
     "sha256_64_bytes"},
    {"sha256_256", sha256_256, "e43d5115fdc6f42c40a70704fa0ca7b231f7c540347d2c172a3f6cb386ae47cc",
     NULL},
    {"insert_2", insert_2_bits_first,
     "82c023e06614e98ea7c276fdb9fe7a756bd3f7bd064d54df4bb919aaa9e3d62e", NULL},
    {"insert_4", insert_4_bits_first,
     "f17eed7b87158455ecd1851388db6d1de1498c170e1b1a855c2949ef64af717e", NULL},
    {"insert_8", insert_8_bits_first,
     "393a19b029a34f2ab275a6bdec18b8aa306a9ce353209262944e3be6ec1180a6", NULL},
    {"insert_2 fixture", insert_2, NULL, "insert_2"},
    {"insert_8 fixture", insert_8, NULL, "insert_8"},
    {"select_8", select_8, "947ef30b1c67bfdbbabf8c7f14efcbb1f4d43a41877d4ab403f8eb925d186587",
     "select_8"},
    {"to_bits_le", to_bits_le, "fe8f60dff8688ec7c39a8ebb4750cc381c306c9f430d43e0fcf0ca5a23025477",
     "to_bits_le"},
    {"pack_into_inputs_300", pack_into_inputs_300,
     "eb5c5885192eeac7598afd7dae124c8f65e2fc606b868a4a99ae0fdd4f9f6aa5", NULL},
    {"pack_bits_255", pack_bits_255, NULL, "pack_bits_255"},
    {"alloc_inputize", alloc_inputize, NULL, "alloc_inputize"},
    {"uint32_addmany_3", uint32_addmany_3, NULL, "uint32_addmany_3"},
    {"tree_d_node", tree_d_node, "17fd4b5ddd5b8fe8759308f1b1b019e3a9e00d179d227b5e64580e48a233b91e",
     "sha256_hash2"},
    {"por_sha256", por_sha256, "06101b213e985a06aa97367fb756d504912d2edfa7169fe7390f3563e2b7bdbf",
     NULL},
    {"por_poseidon_8", por_poseidon_8,
     "3bd8cb4719e1ce8b020c078159a77bd5cf9d8eca04ed094eaca290c621f10a20", NULL},
    {"por_poseidon_8_8_2", por_poseidon_8_8_2,
     "1aaf5b3ff8221455ad5ba57746f23db956a2de780213b68d65d8ea0165607e84", NULL},
    {"por_poseidon_8_8_2_private", por_poseidon_8_8_2_private,
     "4e7946e0dfd305ad955eb8871b286f7fc720651de2f5c9051afc83f2b29657b3", NULL},
};

static void check_case_of(const gadget_case *g, const json *fixtures) {
    cuzk_error err;
    cs_circuit circuit = {.n_blocks = 1,
                          .blocks = {{.name = g->name, .count = 1, .synth = g->synth}}};
    r1cs *r = NULL;
    witness w;
    const int failures = check_failures;
    fixture = g->fixture != NULL ? g->fixture : g->name;
    snprintf(circuit.name, sizeof circuit.name, "%.31s", g->name);
    CHECK_OK(r1cs_record(test_host(), &circuit, &r, &err));
    REQUIRE(r != NULL);
    if (g->cs_hash != NULL) {
        uint8_t hash[32];
        CHECK_OK(r1cs_cs_hash(test_host(), r, hash, &err));
        check_hex_text(hash, 32, g->cs_hash, g->name);
    }
    CHECK_OK(witness_new(test_host(), r, &w, &err));
    CHECK_OK(r1cs_witness(test_host(), r, &circuit, &w, &err));
    CHECK_OK(r1cs_check(test_host(), r, &w, NULL, &err));
    if (g->fixture != NULL) {
        const json *e = json_get(fixtures, g->fixture);
        check_r1cs_counts(r, e);
        check_r1cs_digests(r, e);
        check_witness(r, &w, json_get(e, "witness"));
    }
    if (check_failures > failures) fprintf(stderr, "in gadget %s\n", g->name);
    witness_free(test_host(), &w);
    r1cs_free(test_host(), r);
}

TEST(gadgets_equal_bellperson) {
    json fixtures = json_load("filecoin/prims/gadgets.json");
    for (size_t i = 0; i < sizeof gadget_cases / sizeof gadget_cases[0]; i++)
        check_case_of(&gadget_cases[i], &fixtures);
    json_free(&fixtures);
}

/* ---- words against bits ---- */

#define WORD_TRIALS 100
#define WORD_OPERANDS 8

/* Which of a word's bits are constants and which are negated: none of either, all constant, or
 * anything; fixed by the trial, not by the witness. */
typedef struct word_kind {
    uint32_t value, constant, negated;
} word_kind;
static word_kind word_kinds[WORD_TRIALS][WORD_OPERANDS];

static void random_word_kinds(void) {
    for (size_t i = 0; i < WORD_TRIALS; i++)
        for (size_t j = 0; j < WORD_OPERANDS; j++) {
            const uint64_t choice = check_random() % 4;
            word_kind *k = &word_kinds[i][j];
            k->value = (uint32_t)check_random_runs();
            k->constant = choice == 0   ? UINT32_MAX
                          : choice == 1 ? (uint32_t)check_random_runs()
                                        : 0;
            k->negated = choice == 2 ? 0 : (uint32_t)check_random_runs();
        }
}

static void operand_words(cs *c, const word_kind *kinds, gadget_word *out) {
    for (unsigned j = 0; j < WORD_OPERANDS; j++) {
        word_constant(&out[j], 0);
        for (unsigned i = 0; i < 32; i++) {
            const bool value = kinds[j].value >> i & 1, negated = kinds[j].negated >> i & 1;
            gadget_bit bit = bit_constant(value);
            if (!(kinds[j].constant >> i & 1)) bit = bit_alloc(c, value != negated);
            if (!bit.constant && negated) bit = bit_not(bit);
            word_set_bit(c, &out[j], i, bit);
        }
    }
}

/* xor, ch and maj of whole words, and a use of their results that shows value and kind of each
 * bit. */
static void by_words(cs *c, void *state, uint64_t trial) {
    (void)state;
    gadget_word in[WORD_OPERANDS], out[3], used;
    operand_words(c, word_kinds[trial], in);
    word_xor(c, &out[0], &in[0], &in[1]);
    word_ch(c, &out[1], &in[2], &in[3], &in[4]);
    word_maj(c, &out[2], &in[5], &in[6], &in[7]);
    for (unsigned j = 0; j < 3; j++)
        word_xor(c, &used, &out[j], &in[0]);
}

static void by_bits(cs *c, void *state, uint64_t trial) {
    (void)state;
    gadget_word in[WORD_OPERANDS];
    gadget_bit out[3][32];
    operand_words(c, word_kinds[trial], in);
    for (unsigned i = 0; i < 32; i++)
        out[0][i] = bit_xor(c, word_bit(c, &in[0], i), word_bit(c, &in[1], i));
    for (unsigned i = 0; i < 32; i++)
        out[1][i] =
            bit_ch(c, word_bit(c, &in[2], i), word_bit(c, &in[3], i), word_bit(c, &in[4], i));
    for (unsigned i = 0; i < 32; i++)
        out[2][i] =
            bit_maj(c, word_bit(c, &in[5], i), word_bit(c, &in[6], i), word_bit(c, &in[7], i));
    for (unsigned j = 0; j < 3; j++)
        for (unsigned i = 0; i < 32; i++)
            bit_xor(c, out[j][i], word_bit(c, &in[0], i));
}

/* Trials have different shapes, so each is a circuit of its own. */
static void (*trial_synth)(cs *c, void *state, uint64_t instance);
static uint64_t trial_number;
static void run_trial(cs *c, void *state, uint64_t instance) {
    (void)instance;
    trial_synth(c, state, trial_number);
}

static r1cs *trial_witness(void (*synth)(cs *, void *, uint64_t), witness *w) {
    cuzk_error err;
    r1cs *r = NULL;
    const cs_circuit circuit = {.name = "words",
                                .n_blocks = 1,
                                .blocks = {{.name = "trial", .count = 1, .synth = run_trial}}};
    trial_synth = synth;
    CHECK_OK(r1cs_record(test_host(), &circuit, &r, &err));
    REQUIRE(r != NULL);
    CHECK_OK(witness_new(test_host(), r, w, &err));
    CHECK_OK(r1cs_witness(test_host(), r, &circuit, w, &err));
    CHECK_OK(r1cs_check(test_host(), r, w, NULL, &err));
    return r;
}

TEST(words_equal_bits) {
    random_word_kinds();
    for (trial_number = 0; trial_number < WORD_TRIALS; trial_number++) {
        cuzk_error err;
        witness words, bits;
        uint8_t hash[2][32];
        r1cs *r_words = trial_witness(by_words, &words), *r_bits = trial_witness(by_bits, &bits);
        CHECK_OK(r1cs_cs_hash(test_host(), r_words, hash[0], &err));
        CHECK_OK(r1cs_cs_hash(test_host(), r_bits, hash[1], &err));
        CHECK_MEM(hash[0], hash[1], 32);
        CHECK_U64(words.n_aux, bits.n_aux);
        if (words.n_aux == bits.n_aux)
            CHECK_MEM(words.bits, bits.bits, (words.n_aux + 63) / 64 * sizeof *words.bits);
        witness_free(test_host(), &words);
        witness_free(test_host(), &bits);
        r1cs_free(test_host(), r_words);
        r1cs_free(test_host(), r_bits);
    }
}

/* Sums of 2 to 10 operands: the carries are allocated too. */
static void sums(cs *c, void *state, uint64_t instance) {
    (void)state, (void)instance;
    gadget_word in[WORD_OPERANDS], out;
    operand_words(c, word_kinds[trial_number], in);
    for (unsigned n = 2; n <= WORD_MAX_OPERANDS; n++) {
        const gadget_word *operand_list[WORD_MAX_OPERANDS];
        gadget_multieq m;
        for (unsigned j = 0; j < n; j++)
            operand_list[j] = &in[j % WORD_OPERANDS];
        multieq_begin(c, &m);
        word_add_many(c, &m, &out, operand_list, n);
        multieq_end(c, &m);
        uint32_t sum = 0;
        for (unsigned j = 0; j < n; j++)
            sum += in[j % WORD_OPERANDS].value;
        if (!cs_recording(c)) CHECK_U64(out.value, sum);
    }
}

TEST(sums_are_satisfied) {
    random_word_kinds();
    for (trial_number = 0; trial_number < WORD_TRIALS; trial_number++) {
        witness w;
        r1cs *r = trial_witness(sums, &w);
        witness_free(test_host(), &w);
        r1cs_free(test_host(), r);
    }
}

TEST_MAIN(RUN(gadgets_equal_bellperson), RUN(words_equal_bits), RUN(sums_are_satisfied))
