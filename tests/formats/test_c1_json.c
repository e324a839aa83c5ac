#include <unistd.h>

#include "check.h"
#include "filecoin/public_inputs.h"
#include "formats/base64.h"
#include "formats/c1_json.h"
#include "host/host_std.h"
#include "json.h"

static const cuzk_host *host;

static char *load(const char *name, size_t *bytes) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", CUZK_TEST_DATA, name);
    return read_file_or_die(path, bytes);
}

static cuzk_status decode(const char *text, size_t bytes, porep_c1 **out, cuzk_error *err) {
    return porep_c1_read_json(host, (const uint8_t *)text, bytes, out, NULL, err);
}

/* ---- golden files ---- */

static void check_meta(const porep_c1 *c1, const json *meta) {
    const json *challenges = json_get(meta, "challenges");
    CHECK(strcmp(c1->seal.name, json_str(meta, "registered_proof")) == 0);
    CHECK_U64(c1->partitions, json_u64(meta, "partitions"));
    CHECK_HEX(c1->comm_d, 32, json_str(meta, "comm_d"));
    CHECK_HEX(c1->comm_r, 32, json_str(meta, "comm_r"));
    CHECK_HEX(c1->replica_id, 32, json_str(meta, "replica_id"));
    CHECK_HEX(c1->seed, 32, json_str(meta, "c1_seed"));
    CHECK_HEX(c1->ticket, 32, json_str(meta, "ticket"));
    CHECK_HEX(c1->proofs[0].c_x.path.root, 32, json_str(meta, "comm_c"));
    CHECK_HEX(c1->proofs[0].comm_r_last.root, 32, json_str(meta, "comm_r_last"));
    for (size_t k = 0; k < challenges->n; k++)
        for (size_t i = 0; i < c1->challenges; i++)
            CHECK_U64(c1->proofs[k * c1->challenges + i].challenge,
                      strtoull(challenges->items[k].items[i].text, NULL, 10));
}

static void check_sector(const char *name) {
    cuzk_error err;
    char path[128];
    size_t bytes, wrapped_bytes, again_bytes;
    porep_c1 *c1, *inner, *binary;
    c1_source source;
    snprintf(path, sizeof path, "filecoin/%s/meta.json", name);
    json meta = json_load(path);
    snprintf(path, sizeof path, "filecoin/%s/c1.json", name);
    char *text = load(path, &bytes);
    snprintf(path, sizeof path, "filecoin/%s/c1-wrapper.json", name);
    char *wrapped = load(path, &wrapped_bytes);

    CHECK_OK(porep_c1_read_any(host, (uint8_t *)text, bytes, &c1, &source, &err));
    REQUIRE(c1 != NULL);
    CHECK(!source.wrapped);
    check_meta(c1, &meta);
    CHECK_OK(porep_c1_check(host, c1, &err));
    CHECK_OK(porep_c1_read_any(host, (uint8_t *)wrapped, wrapped_bytes, &inner, &source, &err));
    REQUIRE(inner != NULL);
    CHECK(source.wrapped);
    CHECK_U64(source.sector_number, json_u64(&meta, "sector_id"));
    CHECK_U64(source.sector_size, json_u64(&meta, "sector_size"));

    /* Both binary forms are equal, and written JSON is what the Rust serializer wrote. */
    const size_t n = porep_c1_binary_bytes(c1);
    uint8_t *a = malloc(n), *b = malloc(n);
    CHECK_OK(porep_c1_write_binary(c1, a, n, &err));
    CHECK_OK(porep_c1_write_binary(inner, b, n, &err));
    CHECK_MEM(a, b, n);
    CHECK_OK(porep_c1_read_any(host, a, n, &binary, NULL, &err));
    REQUIRE(binary != NULL);
    CHECK_OK(porep_c1_check(host, binary, &err));
    char out[64];
    snprintf(out, sizeof out, "/tmp/test_c1_json.%d", (int)getpid());
    CHECK_OK(porep_c1_write_json_file(binary, NULL, out, &err));
    char *again = read_file_or_die(out, &again_bytes);
    CHECK_U64(again_bytes, bytes);
    CHECK_MEM(again, text, bytes);
    free(again);
    CHECK_OK(porep_c1_write_json_file(binary, &source, out, &err));
    porep_c1_free(host, binary);
    CHECK_OK(porep_c1_read_file(host, out, &binary, &source, &err));
    REQUIRE(binary != NULL);
    CHECK(source.wrapped);
    CHECK_OK(porep_c1_write_binary(binary, b, n, &err));
    CHECK_MEM(a, b, n);
    unlink(out);
    free(a);
    free(b);
    porep_c1_free(host, c1);
    porep_c1_free(host, inner);
    porep_c1_free(host, binary);
    free(text);
    free(wrapped);
    json_free(&meta);
}
TEST(porep_2k) {
    check_sector("porep-2k");
}
TEST(porep_2k_v1) {
    check_sector("porep-2k-v1");
}
TEST(porep_2k_synth) {
    check_sector("porep-2k-synth");
}
TEST(porep_2k_ni) {
    check_sector("porep-2k-ni");
}
TEST(porep_8m) {
    check_sector("porep-8m");
}

TEST(independent) {
    cuzk_error err;
    size_t bytes;
    porep_c1 *c1;
    char *text = load("vectors/c1-2kib.json", &bytes);
    CHECK_OK(decode(text, bytes, &c1, &err));
    REQUIRE(c1 != NULL);
    CHECK_OK(porep_c1_check(host, c1, &err));
    porep_c1_free(host, c1);
    free(text);
}

/* ---- other orders, unknown and wrong keys ---- */

static void write_json(FILE *f, const json *v, bool reversed) {
    if (v->type == JSON_ARRAY || v->type == JSON_OBJECT) {
        fputc(v->type == JSON_ARRAY ? '[' : '{', f);
        for (size_t i = 0; i < v->n; i++) {
            const size_t at = reversed && v->type == JSON_OBJECT ? v->n - 1 - i : i;
            if (i > 0) fputs(" ,\n", f);
            if (v->type == JSON_OBJECT) fprintf(f, "\"%s\" : ", v->keys[at]);
            write_json(f, &v->items[at], reversed);
        }
        fputc(v->type == JSON_ARRAY ? ']' : '}', f);
    } else if (v->type == JSON_STRING) {
        fprintf(f, "\"%s\"", v->text);
    } else {
        fputs(v->text, f);
    }
}

static char *to_text(const json *v, bool reversed, size_t *bytes) {
    static char *text; /* static: the stream keeps its address until it is closed */
    FILE *f = open_memstream(&text, bytes);
    write_json(f, v, reversed);
    fclose(f);
    return text;
}

TEST(any_key_order) {
    cuzk_error err;
    const char *names[] = {"filecoin/porep-2k/c1.json", "filecoin/porep-2k-ni/c1.json"};
    for (size_t i = 0; i < 2; i++) {
        size_t bytes;
        porep_c1 *c1;
        json v = json_load(names[i]);
        char *text = to_text(&v, true, &bytes);
        CHECK(strstr(text, "registered_proof") > strstr(text, "vanilla_proofs"));
        CHECK_OK(decode(text, bytes, &c1, &err));
        REQUIRE(c1 != NULL);
        CHECK_OK(porep_c1_check(host, c1, &err));
        porep_c1_free(host, c1);
        free(text);
        json_free(&v);
    }
}

/* Replace the first occurrence of `from` after `anchor`, decode, and look at the error. */
static void check_edit(const char *text, const char *anchor, const char *from, const char *to,
                       cuzk_status status, const char *place) {
    cuzk_error err = {0};
    porep_c1 *c1;
    const char *at = anchor == NULL ? text : strstr(text, anchor);
    REQUIRE(at != NULL);
    at = strstr(at, from);
    REQUIRE(at != NULL);
    const size_t head = (size_t)(at - text), n = strlen(text);
    char *edited = malloc(n + strlen(to) + 1);
    memcpy(edited, text, head);
    strcpy(edited + head, to);
    strcat(edited, at + strlen(from));
    const cuzk_status st = decode(edited, strlen(edited), &c1, &err);
    if (st != status)
        CHECK_FAILED_("%s -> %s: got %s (%s), expected %s", from, to, cuzk_status_name(st),
                      err.text, cuzk_status_name(status));
    if (place != NULL && strstr(err.text, place) == NULL)
        CHECK_FAILED_("%s -> %s: \"%s\" does not name \"%s\"", from, to, err.text, place);
    porep_c1_free(host, c1);
    free(edited);
}

TEST(refused_edits) {
    size_t bytes;
    char *t = load("filecoin/porep-2k/c1.json", &bytes);
    const cuzk_status format = CUZK_ERR_FORMAT;
    check_edit(t, NULL, "\"registered_proof\"", "\"other\":{\"a\":[1,{}]},\"registered_proof\"",
               CUZK_OK, NULL);
    check_edit(t, NULL, "\"registered_proof\":\"StackedDrg2KiBV1_1\",", "", format,
               "\"registered_proof\" is missing");
    check_edit(t, NULL, "StackedDrg2KiBV1_1", "StackedDrg8MiBV1_1", CUZK_ERR_MISMATCH,
               "StackedDrg2KiBV1");
    check_edit(t, NULL, "StackedDrg2KiBV1_1", "StackedDrg2KiBV7", format, "registered_proof: ");
    check_edit(t, NULL, "StackedDrg2KiBV1_1", "StackedDrg2KiBV1_2_Feat_NonInteractivePoRep", format,
               "1 entries, expected 13");
    check_edit(t, NULL, "{\"StackedDrg2KiBV1\"", "{\"StackedDrg2KiBV1_1\"", format,
               "vanilla_proofs");
    check_edit(t, NULL, "\"comm_r\":[", "\"comm_d\":[0],\"comm_r\":[", format,
               "comm_d: 1 entries, expected 32");
    check_edit(t, "\"ticket\"", "]}", "],\"seed\":[]}", format, "seed: duplicate key");
    check_edit(t, "\"ticket\"", "]}", "]", format, "ends too early");
    check_edit(t, "\"ticket\"", "]}", "]}}", format, "JSON, byte");
    check_edit(t, NULL, "\"Single\"", "\"Sub\"", format,
               "data.Sub: this sector size's tree has the form \"Single\"");
    check_edit(t, "\"comm_r_last_proof\"", "\"path\":{", "\"sub_proof\":{", format,
               "Single.sub_proof: ");
    check_edit(t, "\"comm_r_last_proof\"", "\"leaf\":[", "\"base_proof\":{},\"leaf\":[", format,
               "Single.base_proof: ");
    check_edit(t, NULL, "\"comm_r_last_proof\"", "\"comm_r_lost_proof\"", format,
               "\"comm_r_last_proof\" is missing");
    check_edit(t, "\"comm_r_last_proof\"", "\"index\":", "\"index\":8,\"x\":", format,
               "[0][0].comm_r_last_proof.data.Single.path.path[0].index: 8, must be below 8");
    check_edit(t, "\"comm_r_last_proof\"", "\"index\":", "\"index\":-1,\"x\":", format,
               "is not an unsigned integer");
    check_edit(t, "\"comm_r_last_proof\"", "\"index\":", "\"index\":0.5,\"x\":", format,
               "is not an unsigned integer");
    check_edit(t, "\"comm_r_last_proof\"",
               "\"index\":", "\"index\":18446744073709551616,\"x\":", format,
               "is not an unsigned integer");
    check_edit(t, "\"comm_r_last_proof\"", "\"index\":", "\"index\":\"1\",\"x\":", format,
               "expected a number, got a string");
    check_edit(t, "\"comm_r_last_proof\"", "\"root\":[", "\"root\":[256,", format,
               "root: [0]: 256 is not a byte");
    check_edit(t, "\"comm_r_last_proof\"", "\"root\":[", "\"root\":[1,", format,
               "root: more than 32 bytes");
    check_edit(t, "\"comm_r_last_proof\"", "\"root\":[", "\"root\":[[", format, "root");
    check_edit(t, "\"comm_r_last_proof\"", "\"root\":[", "\"root\":[null,", format,
               "expected 32 numbers");
    check_edit(t, "\"comm_r_last_proof\"", "\"root\":[", "\"root\":{\"a\":[", format,
               "expected an array, got an object");
    check_edit(t, "\"drg_parents\"", "[{", "[{},{", format,
               "drg_parents[0]: \"column\" is missing");
    check_edit(t, "\"column\"", "\"index\":", "\"index\":4294967296,\"x\":", format,
               "is not an unsigned integer of 32 bits");
    check_edit(t, "\"labeling_proofs\"", "\"parents\":[", "\"parents\":[[],", format,
               "labeling_proofs[0].parents[0]: 0 entries, expected 32");
    check_edit(t, NULL, "\"seed\":[", "\"seed\":[], \"s\":[", format, "seed: 0 entries");
    free(t);
}

/* A value >= r, by name and place; a ticket or seed may be any bytes. */
TEST(not_canonical) {
    cuzk_error err;
    size_t bytes;
    json v = json_load("filecoin/porep-2k/c1.json");
    const json *proof = &json_get(&v, "vanilla_proofs")->items[0].items[0].items[1];
    const json *exp = json_get(json_get(proof, "replica_column_proofs"), "exp_parents");
    json *rows = (json *)json_get(json_get(&exp->items[5], "column"), "rows");
    for (size_t i = 0; i < 32; i++) {
        free(rows->items[1].items[i].text);
        rows->items[1].items[i].text = strdup("255");
    }
    porep_c1 *c1;
    char *text = to_text(&v, false, &bytes);
    CHECK_STATUS(decode(text, bytes, &c1, &err), CUZK_ERR_NOT_CANONICAL);
    CHECK(strstr(err.text, "vanilla_proofs.StackedDrg2KiBV1[0][1].replica_column_proofs."
                           "exp_parents[5].column.rows[1]: ") == err.text);
    CHECK(c1 == NULL);
    free(text);
    json_free(&v);
    v = json_load("filecoin/porep-2k/c1.json");
    json *ticket = (json *)json_get(&v, "ticket");
    for (size_t i = 0; i < 32; i++)
        strcpy(ticket->items[i].text = realloc(ticket->items[i].text, 4), "255");
    text = to_text(&v, false, &bytes);
    CHECK_OK(decode(text, bytes, &c1, &err));
    porep_c1_free(host, c1);
    free(text);
    json_free(&v);
}

static void set_bytes(json *v, const char *key, const char *value) {
    json *list = (json *)json_get(v, key);
    for (size_t i = 0; i < 32; i++) {
        free(list->items[i].text);
        list->items[i].text = strdup(value);
    }
}
TEST(all_zero_header) {
    const char *fields[] = {"comm_d", "comm_r", "seed"};
    for (size_t i = 0; i < 3; i++) {
        cuzk_error err;
        size_t bytes;
        porep_c1 *c1;
        json v = json_load("filecoin/porep-2k/c1.json");
        set_bytes(&v, fields[i], "0");
        char *text = to_text(&v, false, &bytes);
        CHECK_STATUS(decode(text, bytes, &c1, &err), CUZK_ERR_FORMAT);
        CHECK(strstr(err.text, fields[i]) != NULL);
        free(text);
        json_free(&v);
    }
}

TEST(wrappers) {
    cuzk_error err;
    size_t bytes;
    porep_c1 *c1;
    char *t = load("filecoin/porep-2k/c1-wrapper.json", &bytes);
    check_edit(t, NULL, "\"SectorSize\":2048", "\"SectorSize\":8388608", CUZK_ERR_MISMATCH,
               "SectorSize");
    check_edit(t, NULL, ",\"SectorSize\":2048", "", CUZK_ERR_FORMAT, "SectorSize");
    check_edit(t, NULL, "\"Phase1Out\":\"", "\"Phase1Out\":\"?", CUZK_ERR_FORMAT,
               "Phase1Out: not base64 at character 0");
    check_edit(t, NULL, "\"Phase1Out\":\"", "\"Phase1Out\":\"YQ==", CUZK_ERR_FORMAT,
               "Phase1Out: not base64");
    check_edit(t, NULL, "\"Phase1Out\":\"", "\"Phase1Out\":\"e319", CUZK_ERR_FORMAT, "Phase1Out: ");
    check_edit(t, NULL, "\"Phase1Out\":\"", "\"Phase1Out\":null,\"a\":\"", CUZK_ERR_FORMAT,
               "Phase1Out: expected a string, got null");
    check_edit(t, NULL, "\"SectorSize\"", "\"comm_r\":[],\"SectorSize\"", CUZK_ERR_FORMAT,
               "comm_r");
    /* escapes in the text, as some serializers write a slash */
    check_edit(t, NULL, "\"Phase1Out\":\"e", "\"Phase1Out\":\"\\u0065", CUZK_OK, NULL);
    /* a C1 beside the wrapped one */
    size_t plain_bytes;
    char *plain = load("filecoin/porep-2k/c1.json", &plain_bytes);
    char *both = malloc(bytes + plain_bytes + 2);
    sprintf(both, "%.*s,%s", (int)bytes - 1, t, plain + 1);
    CHECK_STATUS(decode(both, strlen(both), &c1, &err), CUZK_ERR_FORMAT);
    sprintf(both, "%.*s,%s", (int)plain_bytes - 1, plain, t + 1);
    CHECK_STATUS(decode(both, strlen(both), &c1, &err), CUZK_ERR_FORMAT);
    free(both);
    /* a wrapper within the wrapper: {"Phase1Out":"e30="} */
    const char *nested = "{\"SectorNum\":1,\"SectorSize\":2048,"
                         "\"Phase1Out\":\"eyJQaGFzZTFPdXQiOiJlMzA9In0=\"}";
    CHECK_STATUS(decode(nested, strlen(nested), &c1, &err), CUZK_ERR_FORMAT);
    CHECK(strstr(err.text, "within a wrapper") != NULL);
    free(plain);
    free(t);
}

/* A huge string in the wrapped text must not cost quadratic time. */
TEST(huge_token) {
    cuzk_error err;
    porep_c1 *c1;
    const size_t n = 30000000, encoded = base64_encoded_bytes(n);
    char *inner = malloc(n), *t = malloc(encoded + 100);
    memset(inner, 'a', n);
    memcpy(inner, "{\"x\":\"", 6);
    strcpy(t, "{\"Phase1Out\":\"");
    const size_t head = strlen(t);
    base64_encode((const uint8_t *)inner, n, t + head);
    strcpy(t + head + encoded, "\",\"SectorNum\":1,\"SectorSize\":2048}");
    const clock_t start = clock(); /* CPU time: other programs may be running */
    CHECK_STATUS(decode(t, strlen(t), &c1, &err), CUZK_ERR_FORMAT);
    CHECK(strstr(err.text, "Phase1Out: no value within") != NULL);
    CHECK((double)(clock() - start) / CLOCKS_PER_SEC < 2);
    free(inner);
    free(t);
}

/* Cut anywhere: an error, nothing leaked. */
TEST(truncated) {
    cuzk_error err;
    size_t bytes;
    porep_c1 *c1;
    char *t = load("filecoin/porep-2k/c1.json", &bytes);
    for (size_t n = 0; n < bytes; n += 1 + (size_t)(check_random() % 2000))
        CHECK_STATUS(decode(t, n, &c1, &err), CUZK_ERR_FORMAT);
    free(t);
}

TEST(nesting_is_bounded) {
    cuzk_error err;
    porep_c1 *c1;
    const size_t n = 1000000;
    char *t = malloc(n + 16);
    strcpy(t, "{\"x\":");
    memset(t + 5, '[', n);
    CHECK_STATUS(decode(t, n + 5, &c1, &err), CUZK_ERR_FORMAT);
    CHECK(strstr(err.text, "nested deeper") != NULL);
    memset(t, '[', n);
    CHECK_STATUS(decode(t, n, &c1, &err), CUZK_ERR_FORMAT);
    free(t);
}

/* ---- the other forms ---- */

TEST(binary_corruption) {
    cuzk_error err;
    size_t bytes;
    porep_c1 *c1, *again;
    char *t = load("filecoin/porep-2k/c1.json", &bytes);
    CHECK_OK(decode(t, bytes, &c1, &err));
    REQUIRE(c1 != NULL);
    const size_t n = porep_c1_binary_bytes(c1);
    uint8_t *b = malloc(n + 1);
    CHECK_OK(porep_c1_write_binary(c1, b, n, &err));
    CHECK_STATUS(porep_c1_write_binary(c1, b, n - 1, &err), CUZK_ERR_ARGUMENT);
    for (size_t i = 0; i < n; i += 1 + (size_t)(check_random() % 500)) {
        b[i] ^= 0x10;
        CHECK(porep_c1_read_binary(host, b, n, &again, &err) != CUZK_OK);
        CHECK(again == NULL);
        b[i] ^= 0x10;
    }
    CHECK_STATUS(porep_c1_read_binary(host, b, n - 1, &again, &err), CUZK_ERR_FORMAT);
    CHECK_STATUS(porep_c1_read_binary(host, b, n + 1, &again, &err), CUZK_ERR_FORMAT);
    CHECK_STATUS(porep_c1_read_binary(host, b, 10, &again, &err), CUZK_ERR_FORMAT);
    free(b);
    porep_c1_free(host, c1);
    free(t);
}

/* A change anywhere in a decoded C1 is found by the check, with its place. */
TEST(check_names_the_place) {
    cuzk_error err;
    size_t bytes;
    porep_c1 *c1;
    char *t = load("filecoin/porep-2k/c1.json", &bytes);
    CHECK_OK(decode(t, bytes, &c1, &err));
    REQUIRE(c1 != NULL);
    porep_challenge *c = &c1->proofs[1];
    const struct {
        uint8_t *byte;
        const char *place;
    } edits[] = {
        {c1->seed, "labeling_proofs[0].node"},
        {c1->comm_r, "comm_r: "},
        {c1->comm_d, "vanilla_proofs[0][0].comm_d_proofs: "},
        {c->comm_d.leaf, "vanilla_proofs[0][1].comm_d_proofs: "},
        {vanilla_fill(c->comm_d.siblings)[2], "vanilla_proofs[0][1].comm_d_proofs: "},
        {vanilla_fill(c->comm_r_last.siblings)[9], "vanilla_proofs[0][1].comm_r_last_proof: "},
        {c->comm_r_last.root, "vanilla_proofs[0][1].comm_r_last_proof: "},
        {vanilla_fill(c->c_x.rows)[0], "replica_column_proofs.c_x.column.rows"},
        {vanilla_fill(c->drg[3].rows)[1], "replica_column_proofs.drg_parents[3].column.rows"},
        {c->exp[7].path.leaf, "replica_column_proofs.exp_parents[7].column.rows"},
        {vanilla_fill(c->exp[7].path.siblings)[0],
         "replica_column_proofs.exp_parents[7].inclusion_proof"},
        {(uint8_t *)&c->drg[0].index, "drg_parents[0].column.index"},
        {vanilla_fill(c->labels[1].parents)[36], "labeling_proofs[1].parents[36]"},
        {(uint8_t *)&vanilla_fill_labels(c->labels)[1].layer_index,
         "labeling_proofs[1].layer_index"},
        {vanilla_fill(c->encoding.parents)[0], "encoding_proof.parents[0]"},
    };
    for (size_t i = 0; i < sizeof edits / sizeof edits[0]; i++) {
        edits[i].byte[0] ^= 1;
        CHECK_STATUS(porep_c1_check(host, c1, &err), CUZK_ERR_MISMATCH);
        if (strstr(err.text, edits[i].place) == NULL)
            CHECK_FAILED_("edit %zu: \"%s\" does not name \"%s\"", i, err.text, edits[i].place);
        edits[i].byte[0] ^= 1;
    }
    CHECK_OK(porep_c1_check(host, c1, &err));
    porep_c1_free(host, c1);
    free(t);
}

/* One digit of the text changed, anywhere: the decoder refuses it or the check finds it. Only the
 * ticket is free: nothing in a C1 output depends on it but replica_id, with ids that are not there.
 */
TEST(any_changed_digit_is_found) {
    cuzk_error err;
    size_t bytes;
    porep_c1 *c1;
    char *t = load("filecoin/porep-2k/c1.json", &bytes);
    const char *ticket = strstr(t, "\"ticket\":[");
    REQUIRE(ticket != NULL);
    const size_t free_from = (size_t)(ticket - t), free_to = free_from + strcspn(ticket, "]");
    unsigned refused = 0, found = 0;
    while (refused + found < 400) {
        const size_t at = (size_t)(check_random() % bytes);
        if (t[at] < '0' || t[at] > '9' || (at >= free_from && at < free_to)) continue;
        const char saved = t[at];
        t[at] = (char)('0' + (saved - '0' + 1 + (int)(check_random() % 9)) % 10);
        const cuzk_status status = decode(t, bytes, &c1, &err);
        if (status != CUZK_OK) {
            refused++;
            CHECK(c1 == NULL && err.text[0] != 0);
        } else {
            found++;
            if (porep_c1_check(host, c1, &err) == CUZK_OK)
                CHECK_FAILED_("'%c' for '%c' at byte %zu is not found", t[at], saved, at);
            porep_c1_free(host, c1);
        }
        t[at] = saved;
    }
    CHECK(refused > 0 && found > 0);
    free(t);
}

/* bincode as supraseal writes it: put together here from the decoded values. */
typedef struct bytes_out {
    uint8_t *data;
    size_t n;
} bytes_out;
static void put(bytes_out *o, const void *p, size_t n) {
    memcpy(o->data + o->n, p, n);
    o->n += n;
}
static void put_u64(bytes_out *o, uint64_t v) {
    put(o, &v, 8);
}
static void put_path(bytes_out *o, const merkle_path *p, uint32_t levels, uint32_t arity) {
    const uint32_t single = 0;
    uint64_t index = p->index;
    put(o, &single, 4);
    put(o, p->root, 32);
    put(o, p->leaf, 32);
    put_u64(o, levels);
    for (uint32_t i = 0; i < levels; i++) {
        put_u64(o, arity - 1);
        put(o, p->siblings[i * (arity - 1)], (arity - 1) * 32);
        put_u64(o, index % arity);
        index /= arity;
    }
}
static void put_column(bytes_out *o, const porep_column *c) {
    put(o, &c->index, 4);
    put_u64(o, 2);
    put(o, c->rows, 64);
    put_path(o, &c->path, 2, 8);
}
static void put_labeling(bytes_out *o, const porep_labeling *l) {
    put_u64(o, 37);
    put(o, l->parents, 37 * 32);
    put(o, &l->layer_index, 4);
    put_u64(o, l->node);
}
TEST(supraseal_bincode) {
    cuzk_error err;
    size_t bytes;
    porep_c1 *c1, *again;
    char *t = load("filecoin/porep-2k/c1.json", &bytes);
    CHECK_OK(decode(t, bytes, &c1, &err));
    REQUIRE(c1 != NULL);
    bytes_out o = {.data = malloc(1 << 20)};
    put_u64(&o, 1);
    put_u64(&o, 2);
    for (size_t i = 0; i < 2; i++) {
        const porep_challenge *c = &c1->proofs[i];
        put_path(&o, &c->comm_d, 6, 2);
        put_path(&o, &c->comm_r_last, 2, 8);
        put_column(&o, &c->c_x);
        put_u64(&o, 6);
        for (size_t j = 0; j < 6; j++)
            put_column(&o, &c->drg[j]);
        put_u64(&o, 8);
        for (size_t j = 0; j < 8; j++)
            put_column(&o, &c->exp[j]);
        put_u64(&o, 2);
        for (size_t j = 0; j < 2; j++)
            put_labeling(&o, &c->labels[j]);
        put_labeling(&o, &c->encoding);
    }
    put(&o, c1->comm_r, 32);
    put(&o, c1->comm_d, 32);
    put(&o, c1->replica_id, 32);
    put(&o, c1->seed, 32);
    put(&o, c1->ticket, 32);
    CHECK_OK(porep_c1_read_bincode(host, &c1->seal, o.data, o.n, &again, &err));
    REQUIRE(again != NULL);
    CHECK_OK(porep_c1_check(host, again, &err));
    porep_c1_free(host, again);
    CHECK_STATUS(porep_c1_read_bincode(host, &c1->seal, o.data, o.n - 1, &again, &err),
                 CUZK_ERR_FORMAT);
    for (size_t i = 0; i < o.n; i += 1 + (size_t)(check_random() % 1500)) {
        o.data[i] ^= 0x20;
        cuzk_status st = porep_c1_read_bincode(host, &c1->seal, o.data, o.n, &again, &err);
        if (st == CUZK_OK) st = porep_c1_check(host, again, &err);
        /* ticket is the one thing that nothing depends on here */
        CHECK(st != CUZK_OK || i >= o.n - 32);
        porep_c1_free(host, again);
        o.data[i] ^= 0x20;
    }
    free(o.data);
    porep_c1_free(host, c1);
    free(t);
}

int main(int argc, char **argv) {
    const check_case cases[] = {RUN(porep_2k),
                                RUN(porep_2k_v1),
                                RUN(porep_2k_synth),
                                RUN(porep_2k_ni),
                                RUN(porep_8m),
                                RUN(independent),
                                RUN(any_key_order),
                                RUN(refused_edits),
                                RUN(not_canonical),
                                RUN(all_zero_header),
                                RUN(wrappers),
                                RUN(huge_token),
                                RUN(truncated),
                                RUN(nesting_is_bounded),
                                RUN(binary_corruption),
                                RUN(check_names_the_place),
                                RUN(any_changed_digit_is_found),
                                RUN(supraseal_bincode)};
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
