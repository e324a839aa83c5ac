/* Witnesses made from the golden vanilla proofs: inputs, aux, a, b and c against bellperson's, and
 * corrupted proofs, which must not satisfy their circuit. */
#include "c1_from_json.h"
#include "circuit_golden.h"

#include "filecoin/poseidon.h"

/* A recorded circuit, its definition and a witness. */
typedef struct job {
    r1cs *r;
    filecoin_circuit *c;
    witness w;
} job;

static job job_new(const char *id_text) {
    cuzk_error err;
    circuit_id id;
    job j = {.r = record_circuit(id_text)};
    CHECK_OK(circuit_id_parse(id_text, &id, &err));
    CHECK_OK(filecoin_circuit_new(test_host(), &id, &j.c, &err));
    CHECK_OK(witness_new(test_host(), j.r, &j.w, &err));
    return j;
}
static void job_free(job *j) {
    witness_free(test_host(), &j->w);
    filecoin_circuit_free(test_host(), j->c);
    r1cs_free(test_host(), j->r);
}
static void job_witness(job *j) {
    cuzk_error err;
    const double start = check_seconds();
    CHECK_OK(r1cs_witness(test_host(), j->r, filecoin_circuit_cs(j->c), &j->w, &err));
    printf("       %s: witness in %.3f s\n", j->r->name, check_seconds() - start);
}
static void job_check(job *j, const char *name) {
    char path[128];
    snprintf(path, sizeof path, "filecoin/witness/%s.json", name);
    json e = json_load(path);
    check_witness(j->r, &j->w, &e);
    json_free(&e);
}
static void job_unsatisfied(job *j) {
    cuzk_error err;
    CHECK_OK(r1cs_witness(test_host(), j->r, filecoin_circuit_cs(j->c), &j->w, &err));
    CHECK_STATUS(r1cs_check(test_host(), j->r, &j->w, NULL, &err), CUZK_ERR_UNSATISFIED);
}

/* One bit changed at each place in turn. */
static void check_corruptions(job *j, uint8_t *const *places, size_t n) {
    for (size_t i = 0; i < n; i++) {
        const int failures = check_failures;
        uint8_t *byte = places[i] + check_random() % 30; /* the value stays below r */
        const uint8_t bit = (uint8_t)(1u << check_random() % 8);
        *byte ^= bit;
        job_unsatisfied(j);
        *byte ^= bit;
        if (check_failures > failures) fprintf(stderr, "at place %zu\n", i);
    }
}

/* ---- PoRep ---- */

static void check_porep(const char *id, const char *name) {
    cuzk_error err;
    char path[128];
    snprintf(path, sizeof path, "filecoin/%s/c1.json", name);
    porep_c1 *c1 = c1_load(path);
    job j = job_new(id);
    CHECK_OK(filecoin_circuit_bind_porep(j.c, c1, 0, &err));
    job_witness(&j);
    snprintf(path, sizeof path, "%s-0", name);
    job_check(&j, path);
    job_free(&j);
}
TEST(porep_2k) {
    check_porep("porep-2k", "porep-2k");
}
TEST(porep_2k_synth) {
    check_porep("porep-2k", "porep-2k-synth");
}
TEST(porep_2k_ni) {
    check_porep("porep-2k", "porep-2k-ni");
}
TEST(porep_2k_v1) {
    check_porep("porep-2k", "porep-2k-v1");
}
TEST(porep_8m) {
    check_porep("porep-8m", "porep-8m");
}

/* Every part of a challenge that the circuit uses, one bit of it changed. */
TEST(corrupt_porep_is_unsatisfied) {
    cuzk_error err;
    porep_c1 *c1 = c1_load("filecoin/porep-2k/c1.json");
    job j = job_new("porep-2k");
    CHECK_OK(filecoin_circuit_bind_porep(j.c, c1, 0, &err));
    porep_challenge *p = &c1->proofs[1];
    uint8_t *const places[] = {
        c1->comm_r,
        c1->comm_d,
        c1->replica_id,
        c1->proofs[0].comm_r_last.root,
        c1->proofs[0].c_x.path.root,
        p->comm_d.leaf,
        (uint8_t *)p->comm_d.siblings[5],
        (uint8_t *)p->comm_r_last.siblings[13],
        (uint8_t *)p->c_x.path.siblings[0],
        (uint8_t *)p->drg[5].rows[1],
        (uint8_t *)p->exp[7].path.siblings[6],
    };
    check_corruptions(&j, places, sizeof places / sizeof places[0]);
    job_free(&j);
}

/* ---- PoSt ---- */

static uint8_t *blob(const char *name, size_t *bytes) {
    char path[1024];
    snprintf(path, sizeof path, "%s/filecoin/%s", CUZK_TEST_DATA, name);
    return (uint8_t *)read_file_or_die(path, bytes);
}

static post_vanilla *post_load(uint64_t registered, const char *const *names, size_t n) {
    cuzk_error err;
    registered_post post;
    post_vanilla *v = NULL;
    uint8_t *blobs[4];
    size_t bytes[4];
    for (size_t i = 0; i < n; i++)
        blobs[i] = blob(names[i], &bytes[i]);
    CHECK_OK(registered_post_by_number(registered, &post, &err));
    CHECK_OK(
        post_vanilla_read(test_host(), &post, (const uint8_t *const *)blobs, bytes, n, &v, &err));
    REQUIRE(v != NULL);
    for (size_t i = 0; i < n; i++)
        free(blobs[i]);
    return v;
}

#define WINNING_2K 0 /* RegisteredPoStProof */
#define WINDOW_2K_V1_2 10

TEST(winning_2k) {
    cuzk_error err;
    post_vanilla *v = post_load(WINNING_2K, (const char *const[]){"winning-2k/vanilla-0.bin"}, 1);
    job j = job_new("winning-2k");
    CHECK_OK(filecoin_circuit_bind_post(j.c, v->sectors, 1, &err));
    job_witness(&j);
    job_check(&j, "winning-2k-0");
    post_sector *s = &v->sectors[0];
    uint8_t *const places[] = {s->comm_r, s->comm_c, s->comm_r_last, s->paths[65].leaf,
                               (uint8_t *)s->paths[17].siblings[13]};
    check_corruptions(&j, places, sizeof places / sizeof places[0]);
    s->paths[3].index ^= 1;
    job_unsatisfied(&j);
    job_free(&j);
    post_vanilla_free(test_host(), v);
}

/* Three sectors in partitions of two: the second repeats its last sector. */
TEST(window_2k) {
    cuzk_error err;
    post_vanilla *v =
        post_load(WINDOW_2K_V1_2,
                  (const char *const[]){"window-2k/vanilla-0.bin", "window-2k/vanilla-1.bin",
                                        "window-2k/vanilla-2.bin"},
                  3);
    job j = job_new("window-2k");
    CHECK_OK(filecoin_circuit_bind_post(j.c, v->sectors, 2, &err));
    job_witness(&j);
    job_check(&j, "window-2k-0");
    CHECK_OK(filecoin_circuit_bind_post(j.c, v->sectors + 2, 1, &err));
    job_witness(&j);
    job_check(&j, "window-2k-1");
    job_free(&j);
    post_vanilla_free(test_host(), v);
}

/* ---- SnapDeals ---- */

typedef struct update {
    node32 comm_r_old, comm_r_new, comm_d_new;
} update;

static update update_load(void) {
    update u;
    json meta = json_load("filecoin/snap-2k/meta.json");
    check_unhex(u.comm_r_old, sizeof u.comm_r_old, json_str(&meta, "comm_r_old"));
    check_unhex(u.comm_r_new, sizeof u.comm_r_new, json_str(&meta, "comm_r_new"));
    check_unhex(u.comm_d_new, sizeof u.comm_d_new, json_str(&meta, "comm_d_new"));
    json_free(&meta);
    return u;
}

TEST(snap_2k) {
    cuzk_error err;
    size_t bytes;
    snap_vanilla *v = NULL;
    uint8_t *data = blob("snap-2k/vanilla-0.bin", &bytes);
    const uint8_t *const blobs[1] = {data};
    CHECK_OK(
        snap_vanilla_read(test_host(), sector_shape_by_name("2KiB"), blobs, &bytes, 1, &v, &err));
    REQUIRE(v != NULL);
    update u = update_load();
    snap_partition *p = &v->partitions[0];
    job j = job_new("snap-2k");
    CHECK_OK(filecoin_circuit_bind_snap(j.c, p, 0, u.comm_r_old, u.comm_r_new, u.comm_d_new, &err));
    job_witness(&j);
    job_check(&j, "snap-2k-0");
    snap_challenge *last = &p->challenges[9];
    uint8_t *const places[] = {u.comm_r_old,
                               u.comm_r_new,
                               u.comm_d_new,
                               p->comm_c,
                               (uint8_t *)p->apex[7],
                               last->r_old.leaf,
                               last->d_new.leaf,
                               (uint8_t *)last->r_old.siblings[3],
                               (uint8_t *)last->r_new.siblings[13],
                               (uint8_t *)last->d_new.siblings[2]};
    check_corruptions(&j, places, sizeof places / sizeof places[0]);
    CHECK_STATUS(
        filecoin_circuit_bind_snap(j.c, p, 1, u.comm_r_old, u.comm_r_new, u.comm_d_new, &err),
        CUZK_ERR_ARGUMENT);
    job_free(&j);
    snap_vanilla_free(test_host(), v);
    free(data);
}

/* The Poseidon variant has no golden proof: one is made here over 64 random leaves. */
#define LEAVES 64
typedef struct small_tree {
    node32 leaf[LEAVES], node[LEAVES / 8], root; /* two levels of arity 8 */
} small_tree;

static void hash_nodes(poseidon_kind kind, const node32 *in, node32 out) {
    fr_t values[8], hash;
    for (uint32_t i = 0; i < poseidon_get(kind)->arity; i++)
        REQUIRE(fr_from_bytes(&values[i], in[i]) == CUZK_OK);
    poseidon_hash(poseidon_get(kind), values, &hash);
    fr_to_bytes(out, &hash);
}
static void hash_pair(poseidon_kind kind, const node32 a, const node32 b, node32 out) {
    node32 in[2];
    memcpy(in[0], a, sizeof in[0]);
    memcpy(in[1], b, sizeof in[1]);
    hash_nodes(kind, (const node32 *)in, out);
}
static void tree_build(small_tree *t) {
    for (size_t i = 0; i < LEAVES / 8; i++)
        hash_nodes(POSEIDON_8, (const node32 *)&t->leaf[8 * i], t->node[i]);
    hash_nodes(POSEIDON_8, (const node32 *)t->node, t->root);
}
static void tree_random_leaves(small_tree *t) {
    for (size_t i = 0; i < LEAVES; i++) {
        check_random_bytes(t->leaf[i], sizeof t->leaf[i]);
        t->leaf[i][31] &= 0x3f;
    }
}
static merkle_path tree_path(const small_tree *t, uint64_t leaf, node32 siblings[14]) {
    merkle_path path = {.siblings = (const node32 *)siblings, .index = leaf};
    memcpy(path.leaf, t->leaf[leaf], sizeof path.leaf);
    memcpy(path.root, t->root, sizeof path.root);
    for (uint64_t i = 0; i < 8; i++)
        if (i != leaf % 8) memcpy(siblings[path.n_siblings++], t->leaf[leaf / 8 * 8 + i], 32);
    for (uint64_t i = 0; i < 8; i++)
        if (i != leaf / 8) memcpy(siblings[path.n_siblings++], t->node[i], 32);
    return path;
}
/* new = old + data rho, rho by the top bit of the leaf's index. */
static void encode(small_tree *new, const small_tree *old, const small_tree *data,
                   const node32 phi) {
    for (size_t i = 0; i < LEAVES; i++) {
        node32 high = {(uint8_t)(i / (LEAVES / 2))}, rho;
        fr_t x, y;
        hash_pair(POSEIDON_2_RANDOMNESS, phi, high, rho);
        REQUIRE(fr_from_bytes(&x, rho) == CUZK_OK && fr_from_bytes(&y, data->leaf[i]) == CUZK_OK);
        fr_mul(&x, &x, &y);
        REQUIRE(fr_from_bytes(&y, old->leaf[i]) == CUZK_OK);
        fr_add(&x, &x, &y);
        fr_to_bytes(new->leaf[i], &x);
    }
}

TEST(snap_poseidon_2k) {
    static small_tree old, data, new;
    static node32 siblings[10][3][14];
    snap_challenge challenges[10];
    snap_partition p = {.n_challenges = 10, .challenges = challenges};
    update u;
    node32 phi, digest, zero = {0};
    cuzk_error err;
    check_random_bytes(p.comm_c, 31);
    p.comm_c[31] = 0;
    tree_random_leaves(&old);
    tree_random_leaves(&data);
    tree_build(&old);
    tree_build(&data);
    memcpy(u.comm_d_new, data.root, sizeof data.root);
    hash_pair(POSEIDON_2, p.comm_c, old.root, u.comm_r_old);
    hash_pair(POSEIDON_2_RANDOMNESS, u.comm_d_new, u.comm_r_old, phi);
    encode(&new, &old, &data, phi);
    tree_build(&new);
    hash_pair(POSEIDON_2, p.comm_c, new.root, u.comm_r_new);
    hash_pair(POSEIDON_2_RANDOMNESS, u.comm_r_new, zero, digest);
    for (unsigned i = 0; i < 10; i++) { /* bits [6 i, 6 i + 6) */
        const unsigned at = 6 * i;
        const unsigned two = (unsigned)(digest[at / 8] | digest[at / 8 + 1] << 8);
        const uint64_t leaf = two >> (at % 8) & (LEAVES - 1);
        challenges[i].r_old = tree_path(&old, leaf, siblings[i][0]);
        challenges[i].d_new = tree_path(&data, leaf, siblings[i][1]);
        challenges[i].r_new = tree_path(&new, leaf, siblings[i][2]);
    }
    job j = job_new("snap-poseidon-2k");
    CHECK_OK(
        filecoin_circuit_bind_snap(j.c, &p, 0, u.comm_r_old, u.comm_r_new, u.comm_d_new, &err));
    job_witness(&j);
    CHECK_OK(r1cs_check(test_host(), j.r, &j.w, NULL, &err));
    uint8_t *const places[] = {u.comm_r_old,
                               u.comm_r_new,
                               u.comm_d_new,
                               p.comm_c,
                               siblings[9][0][13],
                               siblings[0][1][0],
                               siblings[5][2][7],
                               challenges[3].r_old.leaf,
                               challenges[2].d_new.leaf};
    check_corruptions(&j, places, sizeof places / sizeof places[0]);
    job_free(&j);
}

/* ---- proofs of another shape ---- */

TEST(other_shapes_are_refused) {
    cuzk_error err;
    job porep = job_new("porep-2k"), window = job_new("window-2k"), snap = job_new("snap-2k");
    porep_c1 *c1 = c1_load("filecoin/porep-8m/c1.json");
    CHECK_STATUS(filecoin_circuit_bind_porep(porep.c, c1, 0, &err), CUZK_ERR_MISMATCH);
    CHECK_STATUS(filecoin_circuit_bind_porep(window.c, c1, 0, &err), CUZK_ERR_ARGUMENT);
    c1 = c1_load("filecoin/porep-2k/c1.json");
    CHECK_STATUS(filecoin_circuit_bind_porep(porep.c, c1, 1, &err), CUZK_ERR_ARGUMENT);
    c1->proofs[0].exp[3].path.n_siblings--;
    CHECK_STATUS(filecoin_circuit_bind_porep(porep.c, c1, 0, &err), CUZK_ERR_MISMATCH);
    c1->proofs[0].exp[3].path.n_siblings++;
    c1->proofs[0].comm_d.index = 64;
    CHECK_STATUS(filecoin_circuit_bind_porep(porep.c, c1, 0, &err), CUZK_ERR_MISMATCH);

    post_vanilla *v = post_load(WINNING_2K, (const char *const[]){"winning-2k/vanilla-0.bin"}, 1);
    CHECK_STATUS(filecoin_circuit_bind_post(window.c, v->sectors, 1, &err), CUZK_ERR_MISMATCH);
    CHECK_STATUS(filecoin_circuit_bind_post(window.c, v->sectors, 0, &err), CUZK_ERR_MISMATCH);
    CHECK_STATUS(filecoin_circuit_bind_post(window.c, v->sectors, 3, &err), CUZK_ERR_MISMATCH);
    CHECK_STATUS(filecoin_circuit_bind_post(snap.c, v->sectors, 1, &err), CUZK_ERR_ARGUMENT);
    post_vanilla_free(test_host(), v);
    job_free(&porep);
    job_free(&window);
    job_free(&snap);
}

/* A hash value >= r in a proof that no decoder has checked: an error, never a wrong witness. */
TEST(values_past_the_modulus_are_refused) {
    cuzk_error err;
    porep_c1 *c1 = c1_load("filecoin/porep-2k/c1.json");
    job j = job_new("porep-2k");
    CHECK_OK(filecoin_circuit_bind_porep(j.c, c1, 0, &err));
    memset(c1->proofs[1].comm_d.leaf, 0xff, 32);
    CHECK_STATUS(r1cs_witness(test_host(), j.r, filecoin_circuit_cs(j.c), &j.w, &err),
                 CUZK_ERR_NOT_CANONICAL);
    job_free(&j);
}

TEST_MAIN(RUN(porep_2k), RUN(porep_2k_synth), RUN(porep_2k_ni), RUN(porep_2k_v1), RUN(porep_8m),
          RUN(corrupt_porep_is_unsatisfied), RUN(winning_2k), RUN(window_2k), RUN(snap_2k),
          RUN(snap_poseidon_2k), RUN(other_shapes_are_refused),
          RUN(values_past_the_modulus_are_refused))
