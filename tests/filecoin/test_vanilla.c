#include "check.h"
#include "filecoin/merkle.h"
#include "filecoin/public_inputs.h"
#include "host/host_std.h"
#include "json.h"

typedef struct blob {
    uint8_t *data;
    size_t bytes;
} blob;

static const cuzk_host *host;

static blob load(const char *name) {
    char path[512];
    blob b;
    snprintf(path, sizeof path, "%s/%s", CUZK_TEST_DATA, name);
    b.data = (uint8_t *)read_file_or_die(path, &b.bytes);
    return b;
}
static void hex32(node32 out, const json *v, const char *key) {
    check_unhex(out, 32, json_str(v, key));
}

/* ---- PoSt ---- */

static cuzk_status read_post(const registered_post *post, const blob *blobs, size_t n,
                             post_vanilla **out, cuzk_error *err) {
    const uint8_t *data[8];
    size_t bytes[8];
    for (size_t i = 0; i < n; i++) {
        data[i] = blobs[i].data;
        bytes[i] = blobs[i].bytes;
    }
    return post_vanilla_read(host, post, data, bytes, n, out, err);
}

static void check_post(const char *job, size_t n) {
    cuzk_error err;
    char name[128];
    blob blobs[8];
    registered_post post;
    post_vanilla *v;
    node32 randomness;
    snprintf(name, sizeof name, "filecoin/%s/meta.json", job);
    json meta = json_load(name);
    hex32(randomness, &meta, "randomness");
    CHECK_OK(registered_post_by_name(json_str(&meta, "registered_proof"), &post, &err));
    const json *sectors = json_get(&meta, "sectors");
    REQUIRE(sectors->n == n);
    for (size_t i = 0; i < n; i++) {
        snprintf(name, sizeof name, "filecoin/%s/vanilla-%zu.bin", job, i);
        blobs[i] = load(name);
    }
    CHECK_OK(read_post(&post, blobs, n, &v, &err));
    REQUIRE(v != NULL);
    CHECK_U64(v->n_sectors, n);
    for (size_t i = 0; i < n; i++) {
        const json *e = &sectors->items[i], *challenges = json_get(e, "challenges");
        const post_sector *s = &v->sectors[i];
        CHECK_U64(s->sector_id, json_u64(e, "sector_id"));
        CHECK_HEX(s->comm_r, 32, json_str(e, "comm_r"));
        CHECK_HEX(s->comm_c, 32, json_str(e, "comm_c"));
        CHECK_HEX(s->comm_r_last, 32, json_str(e, "comm_r_last"));
        CHECK_U64(s->n_paths, challenges->n);
        for (uint32_t j = 0; j < s->n_paths; j++)
            CHECK_U64(s->paths[j].index, strtoull(challenges->items[j].text, NULL, 10));
    }
    CHECK_OK(post_vanilla_check(host, &post, randomness, v, &err));
    randomness[0] ^= 1;
    CHECK_STATUS(post_vanilla_check(host, &post, randomness, v, &err), CUZK_ERR_MISMATCH);
    CHECK(strstr(err.text, "inclusion_proofs[") != NULL);
    randomness[31] = 0xff;
    CHECK_STATUS(post_vanilla_check(host, &post, randomness, v, &err), CUZK_ERR_NOT_CANONICAL);
    post_vanilla_free(host, v);
    for (size_t i = 0; i < n; i++)
        free(blobs[i].data);
    json_free(&meta);
}
TEST(winning) {
    check_post("winning-2k", 1);
}
TEST(window) {
    check_post("window-2k", 3);
}

TEST(post_refuses) {
    cuzk_error err;
    registered_post winning, window, other;
    post_vanilla *v;
    blob b[2] = {load("filecoin/window-2k/vanilla-0.bin"),
                 load("filecoin/window-2k/vanilla-1.bin")};
    CHECK_OK(registered_post_by_number(0, &winning, &err));
    CHECK_OK(registered_post_by_number(10, &window, &err));
    CHECK_OK(registered_post_by_number(11, &other, &err));
    CHECK_STATUS(read_post(&window, b, 0, &v, &err), CUZK_ERR_FORMAT);
    CHECK_STATUS(read_post(&winning, b, 2, &v, &err), CUZK_ERR_FORMAT);
    CHECK_STATUS(read_post(&winning, b, 1, &v, &err), CUZK_ERR_FORMAT);
    CHECK_STATUS(read_post(&other, b, 2, &v, &err), CUZK_ERR_FORMAT);
    CHECK(strstr(err.text, "vanilla proof 0") != NULL);
    b[1].bytes--;
    CHECK_STATUS(read_post(&window, b, 2, &v, &err), CUZK_ERR_FORMAT);
    CHECK(strstr(err.text, "vanilla proof 1") != NULL);
    b[1].bytes++;
    uint8_t *longer = malloc(b[0].bytes + 1);
    memcpy(longer, b[0].data, b[0].bytes);
    const blob trailing = {longer, b[0].bytes + 1};
    CHECK_STATUS(read_post(&window, &trailing, 1, &v, &err), CUZK_ERR_FORMAT);
    CHECK(strstr(err.text, "trailing") != NULL);
    free(longer);
    free(b[0].data);
    free(b[1].data);
}

/* Flip each byte once: an error, or another value that the check refuses; never a crash. */
TEST(post_corruption) {
    cuzk_error err;
    registered_post post;
    node32 randomness;
    json meta = json_load("filecoin/window-2k/meta.json");
    hex32(randomness, &meta, "randomness");
    json_free(&meta);
    blob b = load("filecoin/window-2k/vanilla-0.bin");
    CHECK_OK(registered_post_by_number(10, &post, &err));
    for (size_t i = 0; i < b.bytes; i += 1 + (size_t)(check_random() % 40)) {
        post_vanilla *v;
        const uint8_t saved = b.data[i];
        b.data[i] ^= (uint8_t)(1u << check_random() % 8);
        cuzk_status st = read_post(&post, &b, 1, &v, &err);
        if (st == CUZK_OK) st = post_vanilla_check(host, &post, randomness, v, &err);
        CHECK(st == CUZK_ERR_FORMAT || st == CUZK_ERR_NOT_CANONICAL || st == CUZK_ERR_MISMATCH);
        post_vanilla_free(host, v);
        b.data[i] = saved;
    }
    /* A known place: sector_id 8, comm_r 32, sectors 8, inclusion_proofs 8, variant 4: the root of
     * the first path. */
    post_vanilla *v;
    memset(b.data + 60, 0xff, 32);
    CHECK_STATUS(read_post(&post, &b, 1, &v, &err), CUZK_ERR_NOT_CANONICAL);
    CHECK(strstr(err.text,
                 "vanilla_proof.sectors[0].inclusion_proofs[0].root: value at offset 60") != NULL);
    free(b.data);
}

/* ---- Snap ---- */

static void check_snap(const char *file, const json *pub) {
    cuzk_error err;
    const sector_shape *s = sector_shape_by_name("2k");
    snap_vanilla *v;
    node32 old, new, d;
    blob b = load(file);
    const uint8_t *data[] = {b.data, b.data};
    size_t bytes[] = {b.bytes, b.bytes};
    hex32(old, pub, "comm_r_old");
    hex32(new, pub, "comm_r_new");
    hex32(d, pub, "comm_d_new");
    CHECK_OK(snap_vanilla_read(host, s, data, bytes, 1, &v, &err));
    REQUIRE(v != NULL);
    CHECK_OK(snap_vanilla_check(host, v, old, new, d, &err));
    old[0] ^= 1;
    CHECK_STATUS(snap_vanilla_check(host, v, old, new, d, &err), CUZK_ERR_MISMATCH);
    CHECK(strstr(err.text, "comm_r_old") != NULL);
    old[0] ^= 1;
    d[0] ^= 1;
    CHECK_STATUS(snap_vanilla_check(host, v, old, new, d, &err), CUZK_ERR_MISMATCH);
    CHECK(strstr(err.text, "proof_d_new") != NULL);
    d[0] ^= 1;
    vanilla_fill(v->partitions[0].apex)[3][0] ^= 1;
    CHECK_STATUS(snap_vanilla_check(host, v, old, new, d, &err), CUZK_ERR_MISMATCH);
    CHECK(strstr(err.text, "apex_leafs") != NULL);
    snap_vanilla_free(host, v);
    CHECK_STATUS(snap_vanilla_read(host, s, data, bytes, 2, &v, &err), CUZK_ERR_FORMAT);
    bytes[0]--;
    CHECK_STATUS(snap_vanilla_read(host, s, data, bytes, 1, &v, &err), CUZK_ERR_FORMAT);
    for (size_t i = 0; i < b.bytes; i += 1 + (size_t)(check_random() % 100)) {
        const uint8_t saved = b.data[i];
        b.data[i] ^= (uint8_t)(1u << check_random() % 8);
        cuzk_status st = snap_vanilla_read(host, s, data, &b.bytes, 1, &v, &err);
        if (st == CUZK_OK) st = snap_vanilla_check(host, v, old, new, d, &err);
        CHECK(st == CUZK_ERR_FORMAT || st == CUZK_ERR_NOT_CANONICAL || st == CUZK_ERR_MISMATCH);
        snap_vanilla_free(host, v);
        b.data[i] = saved;
    }
    free(b.data);
}
TEST(snap) {
    json pub = json_load("filecoin/snap-2k/meta.json");
    check_snap("filecoin/snap-2k/vanilla-0.bin", &pub);
    json_free(&pub);
    pub = json_load("vectors/snap-2kib-partition0.pub.json");
    check_snap("vectors/snap-2kib-partition0.bin", &pub);
    json_free(&pub);
}

/* ---- Merkle helpers ---- */

/* Many paths at once: as one by one, whichever is bad. */
static void check_many_paths(const merkle_tree *tree, uint64_t leaves) {
    enum { PATHS = 19 };
    static node32 siblings[PATHS][64];
    merkle_path paths[PATHS];
    uint64_t indices[PATHS];
    cuzk_error err;
    size_t bad;
    for (size_t i = 0; i < PATHS; i++) {
        paths[i] = (merkle_path){.siblings = (const node32 *)siblings[i]};
        indices[i] = check_random() % leaves;
        merkle_tree_path(tree, indices[i], &paths[i]);
    }
    node32 root;
    memcpy(root, paths[0].root, 32);
    const uint32_t n_siblings = merkle_form_siblings(&tree->form);
    for (size_t n = 0; n <= PATHS; n++)
        CHECK_OK(merkle_paths_check(&tree->form, paths, n, indices, root, &bad, &err));
    for (size_t i = 0; i < PATHS; i++) {
        uint8_t *const place = i % 3 == 0   ? siblings[i][check_random() % n_siblings]
                               : i % 3 == 1 ? paths[i].leaf
                                            : paths[i].root;
        place[check_random() % 31] ^= 1;
        CHECK_STATUS(merkle_paths_check(&tree->form, paths, PATHS, indices, root, &bad, &err),
                     CUZK_ERR_MISMATCH);
        CHECK_U64(bad, i);
        merkle_tree_path(tree, indices[i], &paths[i]);
        indices[i] ^= 1;
        CHECK_STATUS(merkle_paths_check(&tree->form, paths, PATHS, indices, root, &bad, &err),
                     CUZK_ERR_MISMATCH);
        CHECK_U64(bad, i);
        indices[i] ^= 1;
    }
}

TEST(merkle_paths) {
    cuzk_error err;
    for (size_t i = 0; i < 6; i++) {
        const sector_shape *s = sector_shape_by_index(i);
        for (int sha = 0; sha < 2; sha++) {
            const merkle_form form =
                sha ? merkle_form_sha256(s->tree_d_levels) : merkle_form_poseidon(&s->tree);
            node32 *leaves = malloc(s->nodes * sizeof *leaves), siblings[64];
            merkle_tree tree;
            check_random_bytes(leaves, s->nodes * sizeof *leaves);
            for (uint64_t j = 0; j < s->nodes; j++)
                leaves[j][31] &= 0x3f;
            CHECK_OK(merkle_tree_new(host, &form, (const node32 *)leaves, &tree, &err));
            CHECK(merkle_form_siblings(&form) <= 64);
            merkle_path path = {.siblings = (const node32 *)siblings};
            for (int round = 0; round < 20; round++) {
                const uint64_t at = check_random() % s->nodes;
                merkle_tree_path(&tree, at, &path);
                CHECK_MEM(path.leaf, leaves[at], 32);
                CHECK_OK(merkle_path_check(&form, &path, at, path.root, &err));
                siblings[check_random() % merkle_form_siblings(&form)][check_random() % 31] ^= 1;
                CHECK_STATUS(merkle_path_check(&form, &path, at, path.root, &err),
                             CUZK_ERR_MISMATCH);
            }
            if (!sha) check_many_paths(&tree, s->nodes);
            merkle_tree_free(host, &tree);
            free(leaves);
        }
    }
}

TEST(canonical_edges) {
    node32 r;
    check_unhex(r, 32, "01000000fffffffffe5bfeff02a4bd5305d8a10908d83933487d9d2953a7ed73");
    CHECK(!node_is_canonical(r));
    r[0] = 0;
    CHECK(node_is_canonical(r));
    r[0] = 2;
    CHECK(!node_is_canonical(r));
    memset(r, 0, 32);
    CHECK(node_is_canonical(r));
    memset(r, 0xff, 32);
    CHECK(!node_is_canonical(r));
    r[31] = 0x72;
    CHECK(node_is_canonical(r));
}

TEST(memory) {
    host_std *small;
    cuzk_error err;
    post_vanilla *v;
    REQUIRE(host_std_new(1, 1000, &small, &err) == CUZK_OK);
    CHECK_STATUS(post_vanilla_new(host_std_host(small), sector_shape_by_name("32g"), SIZE_MAX / 2,
                                  10, &v, &err),
                 CUZK_ERR_NO_MEMORY);
    CHECK_STATUS(
        post_vanilla_new(host_std_host(small), sector_shape_by_name("32g"), 2349, 10, &v, &err),
        CUZK_ERR_NO_MEMORY);
    CHECK(v == NULL);
    host_std_free(small);
}

int main(int argc, char **argv) {
    const check_case cases[] = {RUN(winning),         RUN(window), RUN(post_refuses),
                                RUN(post_corruption), RUN(snap),   RUN(merkle_paths),
                                RUN(canonical_edges), RUN(memory)};
    host_std *h;
    cuzk_error err;
    if (host_std_new(2, 0, &h, &err) != CUZK_OK) return 1;
    host = host_std_host(h);
    const int rc = check_main(argc, argv, cases, sizeof cases / sizeof cases[0]);
    if (host_std_used(h) != 0) {
        fprintf(stderr, "leaked %" PRIu64 " bytes\n", host_std_used(h));
        return 1;
    }
    host_std_free(h);
    return rc;
}
