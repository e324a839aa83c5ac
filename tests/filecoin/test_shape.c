#include "check.h"
#include "filecoin/shape.h"
#include "json.h"

TEST(sizes) {
    size_t n = 0, published = 0;
    for (const sector_shape *s; (s = sector_shape_by_index(n)) != NULL; n++) {
        CHECK_U64(s->bytes, 32 * s->nodes);
        CHECK_U64(s->nodes, UINT64_C(1) << s->tree_d_levels);
        uint64_t leaves = UINT64_C(1) << (3 * s->tree.base_levels);
        if (s->tree.sub != 0) leaves *= s->tree.sub;
        if (s->tree.top != 0) leaves *= s->tree.top;
        CHECK_U64(leaves, s->nodes);
        CHECK(sector_shape_by_bytes(s->bytes) == s);
        CHECK(sector_shape_by_name(s->name) == s);
        CHECK(sector_shape_by_name(s->suffix) == s);
        CHECK(s->porep_challenges * s->porep_partitions >= s->porep_min_challenges);
        published += s->published;
    }
    CHECK_U64(published, 5);
    CHECK(sector_shape_by_bytes(2049) == NULL);
    CHECK(sector_shape_by_name("3k") == NULL);
    CHECK(sector_shape_by_name("32gib") != NULL);
}

/* Parameter names of every published circuit: sha256(identifier), REFERENCE 2.1. */
static const struct {
    const char *id, *prefix, *hash;
} names[] = {
#define POREP(tree)                                                                                \
    "stacked-proof-of-replication-merkletree-poseidon_hasher-" tree "-sha256_hasher-"
#define POST(tree) "proof-of-spacetime-fallback-merkletree-poseidon_hasher-" tree "-"
#define UPDATE(tree) "empty-sector-update-merkletree-poseidon_hasher-" tree "-"
    {"porep-2k", POREP("8-0-0"),
     "032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f"},
    {"porep-8m", POREP("8-0-0"),
     "ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb"},
    {"porep-512m", POREP("8-0-0"),
     "6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472"},
    {"porep-32g", POREP("8-8-0"),
     "82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820"},
    {"porep-64g", POREP("8-8-2"),
     "96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2"},
    {"winning-2k", POST("8-0-0"),
     "3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e"},
    {"winning-8m", POST("8-0-0"),
     "50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331"},
    {"winning-512m", POST("8-0-0"),
     "7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781"},
    {"winning-32g", POST("8-8-0"),
     "559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e"},
    {"winning-64g", POST("8-8-2"),
     "b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c"},
    {"window-2k", POST("8-0-0"),
     "0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0"},
    {"window-8m", POST("8-0-0"),
     "5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9"},
    {"window-512m", POST("8-0-0"),
     "0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9"},
    {"window-32g", POST("8-8-0"),
     "0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc"},
    {"window-64g", POST("8-8-2"),
     "2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def"},
    {"snap-2k", UPDATE("8-0-0"),
     "fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194"},
    {"snap-8m", UPDATE("8-0-0"),
     "92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63"},
    {"snap-512m", UPDATE("8-0-0"),
     "61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c"},
    {"snap-32g", UPDATE("8-8-0"),
     "3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18"},
    {"snap-64g", UPDATE("8-8-2"),
     "102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7"},
};

TEST(parameter_names) {
    cuzk_error err;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        circuit_id id;
        char cache_id[256], expected[256], again[32];
        CHECK_OK(circuit_id_parse(names[i].id, &id, &err));
        circuit_cache_id(&id, cache_id);
        snprintf(expected, sizeof expected, "%s%s", names[i].prefix, names[i].hash);
        CHECK(strcmp(cache_id, expected) == 0);
        circuit_id_format(&id, again);
        CHECK(strcmp(again, names[i].id) == 0);
    }
}

static void check_fixture(const char *file, const char *text) {
    cuzk_error err;
    circuit_id id;
    char out[512];
    json v = json_load(file);
    CHECK_OK(circuit_id_parse(text, &id, &err));
    circuit_identifier(&id, out);
    CHECK(strcmp(out, json_str(&v, "identifier")) == 0);
    circuit_cache_id(&id, out);
    CHECK(strcmp(out, json_str(&v, "cache_id")) == 0);
    json_free(&v);
}
TEST(fixtures) {
    check_fixture("filecoin/params/porep-2KiB.json", "porep-2k");
    check_fixture("filecoin/params/winning-2KiB.json", "winning-2k");
    check_fixture("filecoin/params/window-2KiB.json", "wpost-2KiB");
    check_fixture("filecoin/params/update-2KiB.json", "snap-2k");
}

TEST(circuit_ids) {
    cuzk_error err;
    circuit_id id;
    char text[32];
    CHECK_OK(circuit_id_parse("wpost-32g", &id, &err));
    CHECK(id.kind == PROOF_WINDOW);
    circuit_id_format(&id, text);
    CHECK(strcmp(text, "window-32g") == 0);
    CHECK_OK(circuit_id_parse("snap-poseidon-8m", &id, &err));
    CHECK(id.kind == PROOF_SNAP && id.snap_poseidon);
    circuit_id_format(&id, text);
    CHECK(strcmp(text, "snap-poseidon-8m") == 0);
    CHECK_U64(circuit_partitions(&id), 1);
    CHECK_U64(id.sector->snap_challenges, 40);
    CHECK(id.sector == sector_shape_snap_poseidon(sector_shape_by_name("8MiB")));
    CHECK_OK(circuit_id_parse("snap-8m", &id, &err));
    CHECK_U64(circuit_partitions(&id), 4);
    CHECK_OK(circuit_id_parse("porep-64GiB", &id, &err));
    CHECK_U64(circuit_partitions(&id), 10);
    CHECK_STATUS(circuit_id_parse("porep-", &id, &err), CUZK_ERR_ARGUMENT);
    CHECK_STATUS(circuit_id_parse("porep-2kk", &id, &err), CUZK_ERR_ARGUMENT);
    CHECK_STATUS(circuit_id_parse("", &id, &err), CUZK_ERR_ARGUMENT);
    CHECK_STATUS(circuit_id_parse("seal-2k", &id, &err), CUZK_ERR_ARGUMENT);
}

TEST(registered_proofs) {
    cuzk_error err;
    registered_seal seal;
    registered_post post;
    const sector_shape *sector;
    uint32_t number;
    char name[64];
    for (uint64_t i = 0; i < 20; i++) {
        CHECK_OK(registered_seal_by_number(i, &seal, &err));
        memcpy(name, seal.name, sizeof name);
        CHECK_OK(registered_seal_by_name(name, &seal, &err));
        CHECK_U64(seal.number, i);
    }
    CHECK_OK(registered_seal_by_number(8, &seal, &err));
    CHECK(strcmp(seal.name, "StackedDrg32GiBV1_1") == 0);
    CHECK(seal.api == POREP_API_1_1 && seal.mode == POREP_INTERACTIVE);
    CHECK_OK(registered_seal_by_number(15, &seal, &err));
    CHECK(strcmp(seal.name, "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep") == 0);
    CHECK(seal.api == POREP_API_1_2 && seal.mode == POREP_NON_INTERACTIVE);
    CHECK_STATUS(registered_seal_by_number(20, &seal, &err), CUZK_ERR_ARGUMENT);
    CHECK_STATUS(registered_seal_by_name("StackedDrg3KiBV1", &seal, &err), CUZK_ERR_ARGUMENT);
    for (uint64_t i = 0; i < 15; i++) {
        CHECK_OK(registered_post_by_number(i, &post, &err));
        registered_post_name(&post, name);
        CHECK_OK(registered_post_by_name(name, &post, &err));
        CHECK_U64(post.number, i);
    }
    CHECK_OK(registered_post_by_name("StackedDrgWindow2KiBV1_2", &post, &err));
    CHECK_U64(post.number, 10);
    CHECK(post.window && post.api_1_2 && post.sector->bytes == 2048);
    CHECK_STATUS(registered_post_by_number(15, &post, &err), CUZK_ERR_ARGUMENT);
    CHECK_STATUS(registered_post_by_number(UINT64_MAX, &post, &err), CUZK_ERR_ARGUMENT);
    CHECK_OK(registered_update_by_number(3, &sector, &err));
    CHECK(strcmp(sector->name, "32GiB") == 0);
    CHECK_STATUS(registered_update_by_number(5, &sector, &err), CUZK_ERR_ARGUMENT);
    CHECK_OK(registered_update_by_name("StackedDrg8MiBV1", &number, &err));
    CHECK_U64(number, 1);
    CHECK_STATUS(registered_update_by_name("StackedDrg4KiBV1", &number, &err), CUZK_ERR_ARGUMENT);
}

TEST_MAIN(RUN(sizes), RUN(parameter_names), RUN(fixtures), RUN(circuit_ids), RUN(registered_proofs))
