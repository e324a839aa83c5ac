/* A small circuit with every feature that set-up and proving treat apart: BIT and FIELD variables,
 * variables outside A and outside B, inputs in repeated blocks, references to earlier blocks. And
 * what every test of this layer starts with: a host and a folder of its own. */
#ifndef CUZK_TESTS_TOY_CIRCUIT_H
#define CUZK_TESTS_TOY_CIRCUIT_H

#include "check.h"

#include "groth16/executor.h"
#include "host/host_std.h"

#include <unistd.h>

#define TOY_HEAD_BITS 70
#define TOY_ROUND_BITS 33
#define TOY_MAX_ROUNDS 64

typedef struct toy {
    uint64_t seed, rounds;
    fr_t x;
    cs_var x_var;
    cs_circuit circuit;
} toy;

static inline uint64_t toy_mix(uint64_t seed, uint64_t i) {
    uint64_t z = seed + 0x9e3779b97f4a7c15ULL * (i + 1);
    z = (z ^ (z >> 31)) * 0xbf58476d1ce4e5b9ULL;
    return z ^ (z >> 29);
}

/* lc = sum 2^i bit_i; booleanity of every bit; *value follows. */
static inline void toy_bits(cs *c, uint64_t seed, unsigned n, cs_lc *sum, fr_t *value) {
    fr_t power = fr_one(), minus_one;
    const fr_t one = fr_one();
    fr_neg(&minus_one, &one);
    *value = fr_zero();
    if (cs_recording(c)) cs_lc_clear(sum);
    for (unsigned i = 0; i < n; i++) {
        const bool bit = (toy_mix(seed, i) & 4) != 0;
        const cs_var v = cs_alloc_bit(c, bit);
        if (bit) fr_add(value, value, &power);
        if (cs_recording(c)) {
            cs_lc *a = cs_scratch(c, 0), *b = cs_scratch(c, 1);
            cs_lc_add(c, a, v, &one);
            cs_lc_add(c, b, CS_ONE, &one);
            cs_lc_add(c, b, v, &minus_one);
            cs_enforce(c, i % 3 == 2 ? b : a, i % 3 == 2 ? a : b, NULL);
            cs_lc_add(c, sum, v, &power);
        }
        fr_double(&power, &power);
    }
}

static inline cs_lc *toy_single(cs *c, unsigned slot, cs_var v) {
    cs_lc *lc = cs_scratch(c, slot);
    const fr_t one = fr_one();
    cs_lc_add(c, lc, v, &one);
    return lc;
}

static inline void toy_head(cs *c, void *state, uint64_t instance) {
    (void)instance;
    toy *t = state;
    fr_t square, packed, product;
    cs_lc sum = {0};
    fr_sqr(&square, &t->x);
    t->x_var = cs_alloc(c, &t->x);
    const cs_var y = cs_alloc(c, &square); /* in C only */
    toy_bits(c, t->seed, TOY_HEAD_BITS, &sum, &packed);
    const cs_var v = cs_alloc(c, &packed);
    fr_mul(&product, &packed, &t->x);
    const cs_var pub = cs_alloc_input(c, &product);
    if (!cs_recording(c)) return;
    cs_enforce(c, toy_single(c, 2, t->x_var), toy_single(c, 3, t->x_var), toy_single(c, 4, y));
    cs_enforce(c, &sum, toy_single(c, 2, CS_ONE), toy_single(c, 3, v));
    cs_enforce(c, toy_single(c, 2, t->x_var), toy_single(c, 3, v), toy_single(c, 4, pub));
    cs_lc_free(c, &sum);
}

/* ((bits) + x) x = t; t 1 = pub */
static inline void toy_round(cs *c, void *state, uint64_t instance) {
    const toy *t = state;
    fr_t value;
    cs_lc sum = {0};
    toy_bits(c, toy_mix(t->seed, 1000 + instance), TOY_ROUND_BITS, &sum, &value);
    fr_add(&value, &value, &t->x);
    fr_mul(&value, &value, &t->x);
    const cs_var pub = cs_alloc_input(c, &value);
    const cs_var out = cs_alloc(c, &value);
    if (!cs_recording(c)) return;
    const fr_t one = fr_one();
    cs_lc_add(c, &sum, t->x_var, &one);
    cs_enforce(c, &sum, toy_single(c, 2, t->x_var), toy_single(c, 3, out));
    cs_enforce(c, toy_single(c, 2, out), toy_single(c, 3, CS_ONE), toy_single(c, 4, pub));
    cs_lc_free(c, &sum);
}

static inline void toy_init(toy *t, uint64_t seed, uint64_t rounds) {
    *t = (toy){.seed = seed, .rounds = rounds};
    fr_from_u64(&t->x, toy_mix(seed, 77));
    fr_sqr(&t->x, &t->x);
    fr_sqr(&t->x, &t->x); /* a full-size value */
    t->circuit = (cs_circuit){.name = "toy", .n_blocks = 2, .state = t};
    t->circuit.blocks[0] = (cs_block){.name = "head", .count = 1, .synth = toy_head};
    t->circuit.blocks[1] = (cs_block){.name = "round", .count = rounds, .synth = toy_round};
}

/* ---- a test's surroundings ---- */

typedef struct toy_bench {
    host_std *std;
    const cuzk_host *host;
    char dir[64], params_path[96], vk_path[96];
    toy t;
    r1cs *circuit;
    groth16_params *params;
    groth16_secrets secrets;
    executor_key key;
} toy_bench;

static inline void toy_fr_random(fr_t *z) {
    uint8_t wide[64];
    check_random_bytes(wide, sizeof wide);
    fr_from_wide(z, wide);
}

/* Host, folder, recorded circuit, parameters from seeded secrets. */
static inline void toy_bench_open(toy_bench *b, uint64_t rounds) {
    cuzk_error err = {0};
    memset(b, 0, sizeof *b);
    REQUIRE(host_std_new(2, 0, &b->std, &err) == CUZK_OK);
    b->host = host_std_host(b->std);
    strcpy(b->dir, "/tmp/cuzk-groth16-XXXXXX");
    REQUIRE(mkdtemp(b->dir) != NULL);
    snprintf(b->params_path, sizeof b->params_path, "%s/toy.params", b->dir);
    snprintf(b->vk_path, sizeof b->vk_path, "%s/toy.vk", b->dir);
    toy_init(&b->t, 1, rounds);
    CHECK_OK(r1cs_record(b->host, &b->t.circuit, &b->circuit, &err));
    REQUIRE(b->circuit != NULL);
    toy_fr_random(&b->secrets.alpha);
    toy_fr_random(&b->secrets.beta);
    toy_fr_random(&b->secrets.gamma);
    toy_fr_random(&b->secrets.delta);
    toy_fr_random(&b->secrets.tau);
    CHECK_OK(groth16_setup(b->host, b->circuit, &b->secrets, b->params_path, b->vk_path, &err));
    CHECK_OK(groth16_params_open(b->host, b->params_path, &b->params, &err));
    REQUIRE(b->params != NULL);
    b->key = (executor_key){.circuit_id = "toy", .circuit = b->circuit, .params = b->params};
}

/* Everything given back: nothing may be left in the host or in the folder. */
static inline void toy_bench_close(toy_bench *b) {
    groth16_params_close(b->host, b->params);
    r1cs_free(b->host, b->circuit);
    CHECK_U64(host_std_used(b->std), 0);
    host_std_free(b->std);
    unlink(b->params_path);
    unlink(b->vk_path);
    CHECK(rmdir(b->dir) == 0);
}

static inline void toy_witness(toy_bench *b, uint64_t seed, witness *w) {
    cuzk_error err = {0};
    toy t;
    toy_init(&t, seed, b->t.rounds);
    CHECK_OK(witness_new(b->host, b->circuit, w, &err));
    CHECK_OK(r1cs_witness(b->host, b->circuit, &t.circuit, w, &err));
    CHECK_OK(r1cs_check(b->host, b->circuit, w, NULL, &err));
}

/* A verified proof of the seed's instance. */
static inline void toy_prove(toy_bench *b, const witness *w, groth16_proof *proof) {
    cuzk_error err = {0};
    executor *ex = NULL;
    groth16_blinding rs;
    CHECK_OK(groth16_blinding_random(b->host, &rs, &err));
    CHECK_OK(executor_cpu_open(b->host, &ex, &err));
    CHECK_OK(ex->ops->load(ex, &b->key, &err));
    CHECK_OK(executor_prove(ex, &b->key, w, &rs, proof, NULL, &err));
    ex->ops->close(ex);
}

#endif
