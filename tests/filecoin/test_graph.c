#include "check.h"
#include "field/fr.h"
#include "filecoin/graph.h"
#include "filecoin/public_inputs.h"
#include "json.h"

static porep_api api_of(const char *version) {
    return version[2] == '0' ? POREP_API_1_0 : version[2] == '1' ? POREP_API_1_1 : POREP_API_1_2;
}

TEST(golden_parents) {
    json v = json_load("filecoin/prims/graph.json");
    for (size_t i = 0; i < v.n; i++) {
        const json *e = &v.items[i];
        porep_graph g;
        node32 porep_id;
        check_unhex(porep_id, 32, json_str(e, "porep_id"));
        const sector_shape *s = sector_shape_by_bytes(32 * json_u64(e, "nodes"));
        REQUIRE(s != NULL);
        porep_graph_init(&g, s, api_of(json_str(e, "api_version")), porep_id);
        CHECK_HEX(g.drg_seed, 28, json_str(e, "drsample_seed"));
        CHECK_HEX(g.feistel_keys, 32, json_str(e, "feistel_keys"));
        const json *list = json_get(e, "parents");
        for (size_t j = 0; j < list->n; j++) {
            const uint64_t node = json_u64(&list->items[j], "node");
            const json *expected = json_get(&list->items[j], "parents");
            uint64_t parents[POREP_DRG_PARENTS + POREP_EXP_PARENTS];
            porep_drg_parents(&g, node, parents);
            porep_exp_parents(&g, node, parents + POREP_DRG_PARENTS);
            CHECK_U64(expected->n, POREP_DRG_PARENTS + POREP_EXP_PARENTS);
            for (size_t k = 0; k < expected->n; k++)
                CHECK_U64(parents[k], strtoull(expected->items[k].text, NULL, 10));
        }
    }
    json_free(&v);
}

/* REFERENCE 6.3. */
TEST(known_parents) {
    cuzk_error err;
    registered_seal seal;
    porep_graph g;
    uint64_t drg[POREP_DRG_PARENTS], exp[POREP_EXP_PARENTS];
    CHECK_OK(registered_seal_by_number(8, &seal, &err));
    porep_graph_of(&g, &seal);
    porep_drg_parents(&g, 536870912, drg);
    porep_exp_parents(&g, 536870912, exp);
    const uint64_t d8[] = {536870911, 536870867, 536870907, 163508719, 536870903, 536862541};
    const uint64_t e8[] = {648647770, 773607577, 975919114, 331514265,
                           496836603, 793376729, 300049294, 427717545};
    CHECK_MEM(drg, d8, sizeof d8);
    CHECK_MEM(exp, e8, sizeof e8);
    CHECK_OK(registered_seal_by_number(0, &seal, &err));
    porep_graph_of(&g, &seal);
    porep_drg_parents(&g, 63, drg);
    porep_exp_parents(&g, 63, exp);
    const uint64_t d0[] = {62, 61, 56, 62, 37, 62}, e0[] = {49, 37, 35, 41, 52, 50, 54, 5};
    CHECK_MEM(drg, d0, sizeof d0);
    CHECK_MEM(exp, e0, sizeof e0);
}

/* Every parent is a real node, and a DRG parent comes before its child. */
TEST(parents_in_range) {
    for (size_t i = 0; i < 6; i++) {
        const sector_shape *s = sector_shape_by_index(i);
        porep_graph g;
        node32 porep_id;
        check_random_bytes(porep_id, 32);
        porep_graph_init(&g, s, (porep_api)(i % 3), porep_id);
        for (uint64_t node = 0; node < s->nodes; node++) {
            uint64_t drg[POREP_DRG_PARENTS], exp[POREP_EXP_PARENTS];
            porep_drg_parents(&g, node, drg);
            porep_exp_parents(&g, node, exp);
            for (size_t j = 0; j < POREP_DRG_PARENTS; j++)
                CHECK(node == 0 ? drg[j] == 0 : drg[j] < node);
            for (size_t j = 0; j < POREP_EXP_PARENTS; j++)
                CHECK(exp[j] < s->nodes);
        }
    }
}

/* The expander edges are a permutation of node slots: each node is a parent exactly 8 times. */
TEST(expander_is_regular) {
    const sector_shape *s = sector_shape_by_name("32k");
    porep_graph g;
    node32 porep_id;
    check_random_bytes(porep_id, 32);
    porep_graph_init(&g, s, POREP_API_1_1, porep_id);
    uint32_t count[1024] = {0};
    for (uint64_t node = 0; node < s->nodes; node++) {
        uint64_t exp[POREP_EXP_PARENTS];
        porep_exp_parents(&g, node, exp);
        for (size_t j = 0; j < POREP_EXP_PARENTS; j++)
            count[exp[j]]++;
    }
    for (size_t i = 0; i < s->nodes; i++)
        CHECK_U64(count[i], POREP_EXP_PARENTS);
}

/* The label of the last node in layer 11 (REFERENCE 14.6): 11 layers on small sectors. */
static void check_last_label(const char *size, uint8_t id_byte, porep_api api,
                             const char *expected) {
    const sector_shape *s = sector_shape_by_name(size);
    static node32 layers[2][128];
    porep_graph g;
    node32 porep_id, replica_id;
    memset(porep_id, id_byte, 32);
    memset(replica_id, 9, 32);
    porep_graph_init(&g, s, api, porep_id);
    for (uint32_t layer = 1; layer <= 11; layer++)
        porep_label_layer(&g, replica_id, layer, (const node32 *)layers[(layer + 1) % 2],
                          layers[layer % 2]);
    CHECK_HEX(layers[1][s->nodes - 1], 32, expected);
}
TEST(published_labels) {
    const char *k2 = "cfef0db78bf3b3ab9f1169774d2e7a77bc9054499d954834b51ca7c788110206";
    const char *k4 = "6d67c468cf81ab2289c1c9c72fa8777a232de4c1323dc0c6bd552ccc187c770f";
    check_last_label("2k", 0, POREP_API_1_0,
                     "04ba0f9a6ba9fad35e4806d183a281eab3c25afa9a1bd5e3378da6f1f4f46204");
    check_last_label("4k", 0, POREP_API_1_0,
                     "86daa8c4521e197e48c1fae6c9a1e85ab894a8883b9f23cebe531ddcd1004c23");
    check_last_label("2k", 0x7b, POREP_API_1_1, k2);
    check_last_label("2k", 0x7b, POREP_API_1_2, k2);
    check_last_label("4k", 0x7b, POREP_API_1_1, k4);
    check_last_label("4k", 0x7b, POREP_API_1_2, k4);
}

static void load(const char *sector, const char *file, node32 out[64]) {
    char path[512];
    size_t bytes;
    snprintf(path, sizeof path, "%s/filecoin/%s/%s", CUZK_TEST_DATA, sector, file);
    char *data = read_file_or_die(path, &bytes);
    REQUIRE(bytes == 2048);
    memcpy(out, data, bytes);
    free(data);
}

/* Label the fixtures' 2 KiB sectors again, and encode them. */
TEST(fixture_sectors) {
    const char *sectors[] = {"porep-2k", "porep-2k-v1", "porep-2k-ni"};
    cuzk_error err;
    for (size_t i = 0; i < 3; i++) {
        char path[64];
        registered_seal seal;
        porep_graph g;
        node32 replica_id, layer1[64], layer2[64], expected[64], data[64], encoded;
        snprintf(path, sizeof path, "filecoin/%s/meta.json", sectors[i]);
        json meta = json_load(path);
        check_unhex(replica_id, 32, json_str(&meta, "replica_id"));
        CHECK_OK(registered_seal_by_name(json_str(&meta, "registered_proof"), &seal, &err));
        json_free(&meta);
        porep_graph_of(&g, &seal);
        porep_label_layer(&g, replica_id, 1, NULL, layer1);
        porep_label_layer(&g, replica_id, 2, (const node32 *)layer1, layer2);
        load(sectors[i], "layer-1.bin", expected);
        CHECK_MEM(layer1, expected, sizeof layer1);
        load(sectors[i], "layer-2.bin", expected);
        CHECK_MEM(layer2, expected, sizeof layer2);
        load(sectors[i], "unsealed.bin", data);
        load(sectors[i], "sealed.bin", expected);
        for (size_t j = 0; j < 64; j++) {
            porep_encode(layer2[j], data[j], encoded);
            CHECK_MEM(encoded, expected[j], 32);
        }
    }
}

TEST_MAIN(RUN(golden_parents), RUN(known_parents), RUN(parents_in_range), RUN(expander_is_regular),
          RUN(published_labels), RUN(fixture_sectors))
