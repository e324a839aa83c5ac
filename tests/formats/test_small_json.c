#include <unistd.h>

#include "check.h"
#include "formats/base64.h"
#include "formats/blob_list.h"
#include "formats/small_json.h"
#include "host/host_std.h"
#include "json.h"

static const cuzk_host *host;

static const char *temporary(const char *text) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/test_small_json.%d", (int)getpid());
    FILE *f = fopen(path, "wb");
    REQUIRE(f != NULL);
    fputs(text, f);
    fclose(f);
    return path;
}

/* ---- base64 ---- */

TEST(base64_known) { /* RFC 4648, section 10 */
    const char *plain[] = {"", "f", "fo", "foo", "foob", "fooba", "foobar"};
    const char *coded[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (size_t i = 0; i < 7; i++) {
        char out[16] = {0};
        uint8_t back[16];
        size_t bad;
        base64_encode((const uint8_t *)plain[i], strlen(plain[i]), out);
        CHECK(strcmp(out, coded[i]) == 0);
        CHECK_U64(base64_encoded_bytes(strlen(plain[i])), strlen(coded[i]));
        CHECK_U64(base64_decode(coded[i], strlen(coded[i]), true, back, &bad), strlen(plain[i]));
        CHECK_MEM(back, plain[i], strlen(plain[i]));
    }
}

TEST(base64_round_trip) {
    for (int round = 0; round < 500; round++) {
        uint8_t data[200], back[200];
        char text[300];
        size_t bad;
        const size_t n = (size_t)(check_random() % sizeof data);
        check_random_bytes(data, n);
        base64_encode(data, n, text);
        CHECK_U64(base64_decode(text, base64_encoded_bytes(n), true, back, &bad), n);
        CHECK_MEM(back, data, n);
    }
}

TEST(base64_strict) {
    const char *bad[] = {"Zg=",  "Zg",   "Z",    "Zg==Zg==", "=Zg=", "Zg=v",    "Zm9v\n",
                         "Zm9-", "Zm9_", "Zh==", "Zm9=",     "====", "Zm8=Zm9v"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t out[16];
        size_t at;
        CHECK_U64(base64_decode(bad[i], strlen(bad[i]), true, out, &at), SIZE_MAX);
        CHECK(at <= strlen(bad[i]));
    }
    uint8_t out[16];
    size_t at;
    CHECK_U64(base64_decode("Zg==", 4, false, out, &at), SIZE_MAX);
}

/* ---- blob lists ---- */

static void check_fixture(const char *job, size_t n) {
    cuzk_error err;
    char path[512], raw_paths[4][512];
    const char *paths[4];
    blob_list list, raw, again;
    snprintf(path, sizeof path, "%s/filecoin/%s/vanilla.json", CUZK_TEST_DATA, job);
    paths[0] = path;
    CHECK_OK(blob_list_read_files(host, paths, 1, &list, &err));
    CHECK_U64(list.n, n);
    for (size_t i = 0; i < n; i++) {
        snprintf(raw_paths[i], sizeof raw_paths[i], "%s/filecoin/%s/vanilla-%zu.bin",
                 CUZK_TEST_DATA, job, i);
        paths[i] = raw_paths[i];
    }
    CHECK_OK(blob_list_read_files(host, paths, n, &raw, &err));
    CHECK_U64(raw.n, n);
    const char *out = temporary("");
    CHECK_OK(blob_list_write_json_file(list.data, list.bytes, list.n, out, &err));
    CHECK_OK(blob_list_read_files(host, &out, 1, &again, &err));
    CHECK_U64(again.n, n);
    for (size_t i = 0; i < n; i++) {
        CHECK_U64(list.bytes[i], raw.bytes[i]);
        CHECK_MEM(list.data[i], raw.data[i], raw.bytes[i]);
        CHECK_U64(again.bytes[i], raw.bytes[i]);
        CHECK_MEM(again.data[i], raw.data[i], raw.bytes[i]);
    }
    unlink(out);
    blob_list_free(host, &list);
    blob_list_free(host, &raw);
    blob_list_free(host, &again);
}
TEST(blob_fixtures) {
    check_fixture("winning-2k", 1);
    check_fixture("window-2k", 3);
    check_fixture("snap-2k", 1);
}

TEST(blob_refused) {
    const char *bad[] = {"",          "{}",     "\"YQ==\"",     "[1]",
                         "[null]",    "[true]", "[[\"YQ==\"]]", "[\"Y\"]",
                         "[\"YQ==\"", "[{}]",   "[\"YQ==\"] x", "[\"YQ==\",\"*\"]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        cuzk_error err;
        blob_list list;
        CHECK_STATUS(
            blob_list_read_json(host, (const uint8_t *)bad[i], strlen(bad[i]), &list, &err),
            CUZK_ERR_FORMAT);
        CHECK(list.memory == NULL);
        if (i + 1 == sizeof bad / sizeof bad[0]) CHECK(strstr(err.text, "[1]: not base64") != NULL);
    }
    cuzk_error err;
    blob_list list;
    CHECK_OK(blob_list_read_json(host, (const uint8_t *)" [ ] ", 5, &list, &err));
    CHECK_U64(list.n, 0);
    blob_list_free(host, &list);
    const char *missing = "/nonexistent/file";
    CHECK_STATUS(blob_list_read_files(host, &missing, 1, &list, &err), CUZK_ERR_NOT_FOUND);
}

/* ---- meta ---- */

static cuzk_status read_meta(proof_kind kind, const char *text, public_meta *out, cuzk_error *err) {
    return public_meta_read(host, kind, text, strlen(text), out, err);
}

static char *load(const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", CUZK_TEST_DATA, name);
    return read_file_or_die(path, NULL);
}

TEST(meta_porep) {
    const char *names[] = {"porep-2k", "porep-2k-v1", "porep-2k-synth", "porep-2k-ni", "porep-8m"};
    for (size_t i = 0; i < 5; i++) {
        cuzk_error err;
        char path[512];
        public_meta m;
        snprintf(path, sizeof path, "%s/filecoin/%s/meta.json", CUZK_TEST_DATA, names[i]);
        CHECK_OK(public_meta_read_file(host, PROOF_POREP, path, &m, &err));
        snprintf(path, sizeof path, "filecoin/%s/meta.json", names[i]);
        json v = json_load(path);
        CHECK_HEX(m.porep.replica_id, 32, json_str(&v, "replica_id"));
        CHECK_HEX(m.porep.comm_r, 32, json_str(&v, "comm_r"));
        CHECK_HEX(m.porep.comm_d, 32, json_str(&v, "comm_d"));
        CHECK_HEX(m.porep.seed, 32, json_str(&v, "seed"));
        CHECK_HEX(m.ticket, 32, json_str(&v, "ticket"));
        CHECK(strcmp(m.porep.seal.name, json_str(&v, "registered_proof")) == 0);
        CHECK(m.has_porep_ids);
        CHECK_U64(m.sector_number, json_u64(&v, "sector_id"));
        json_free(&v);
        public_meta_free(host, &m);
    }
}

TEST(meta_post_and_snap) {
    cuzk_error err;
    public_meta m;
    char *t = load("filecoin/window-2k/meta.json");
    CHECK_OK(read_meta(PROOF_WINDOW, t, &m, &err));
    CHECK_U64(m.n_sectors, 3);
    CHECK_U64(m.sectors[2].sector_id, 13);
    CHECK_HEX(m.sectors[2].comm_r, 32,
              "3507cb2d598cde6eb0d7680a0ff385f9efa8679f9c8c0156dee3001a6c905e4f");
    CHECK_HEX(m.randomness, 32, "88722d4ac0c95292bc2c14e3ca25e2b13f7a538b698d9afc722628a879578c29");
    public_meta_free(host, &m);
    CHECK_STATUS(read_meta(PROOF_WINNING, t, &m, &err), CUZK_ERR_MISMATCH);
    CHECK_STATUS(read_meta(PROOF_SNAP, t, &m, &err), CUZK_ERR_ARGUMENT);
    free(t);
    t = load("filecoin/winning-2k/meta.json");
    CHECK_OK(read_meta(PROOF_WINNING, t, &m, &err));
    CHECK_U64(m.n_sectors, 1);
    CHECK(!m.post.window);
    public_meta_free(host, &m);
    free(t);
    t = load("filecoin/snap-2k/meta.json");
    CHECK_OK(read_meta(PROOF_SNAP, t, &m, &err));
    CHECK_U64(m.update_sector->bytes, 2048);
    CHECK_HEX(m.comm_r_old, 32, "b38342dca8e5f3b4eb798c1433552deb526e6bdfd96df3a638a8d4ce75b56a5e");
    public_meta_free(host, &m);
    free(t);
    t = load("vectors/snap-2kib-partition0.pub.json");
    CHECK_OK(read_meta(PROOF_SNAP, t, &m, &err));
    CHECK_U64(m.update_sector->bytes, 2048);
    public_meta_free(host, &m);
    free(t);
}

#define HEX0 "0000000000000000000000000000000000000000000000000000000000000000"
#define HEX1 "0100000000000000000000000000000000000000000000000000000000000000"
#define HEXF "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
#define WINDOW_HEAD                                                                                \
    "{\"registered_proof\":\"StackedDrgWindow2KiBV1_2\",\"randomness\":\"" HEX1 "\","

TEST(meta_refused) {
    const struct {
        proof_kind kind;
        const char *text;
        cuzk_status status;
        const char *names;
    } cases[] = {
        {PROOF_WINDOW, "{}", CUZK_ERR_FORMAT, "registered_proof"},
        {PROOF_WINDOW, "[]", CUZK_ERR_FORMAT, "registered_proof"},
        {PROOF_WINDOW, "{\"registered_proof\":7.5}", CUZK_ERR_FORMAT, "registered_proof"},
        {PROOF_WINDOW, "{\"registered_proof\":99}", CUZK_ERR_ARGUMENT, "RegisteredPoStProof"},
        {PROOF_WINDOW, WINDOW_HEAD "\"sectors\":[]}", CUZK_ERR_FORMAT, "sectors"},
        {PROOF_WINDOW, WINDOW_HEAD "\"sectors\":[{\"sector_id\":1}]}", CUZK_ERR_FORMAT,
         "sectors[0]"},
        {PROOF_WINDOW, WINDOW_HEAD "\"sectors\":[{},{\"sector_id\":1,\"comm_r\":\"" HEX1 "\"}]}",
         CUZK_ERR_FORMAT, "sectors[0]"},
        {PROOF_WINDOW,
         WINDOW_HEAD "\"sectors\":[{\"sector_id\":1,\"sector_id\":1,\"comm_r\":\"" HEX1 "\"}]}",
         CUZK_ERR_FORMAT, "sectors[0].sector_id: duplicate"},
        {PROOF_WINDOW, WINDOW_HEAD "\"sectors\":[{\"sector_id\":1,\"comm_r\":\"" HEXF "\"}]}",
         CUZK_ERR_NOT_CANONICAL, "sectors[0].comm_r"},
        {PROOF_WINDOW, WINDOW_HEAD "\"sectors\":[{\"sector_id\":-1,\"comm_r\":\"" HEX1 "\"}]}",
         CUZK_ERR_FORMAT, "sectors[0].sector_id"},
        {PROOF_WINDOW, WINDOW_HEAD "\"sectors\":[{\"sector_id\":1,\"comm_r\":\"zz\"}]}",
         CUZK_ERR_FORMAT, "sectors[0].comm_r"},
        {PROOF_WINDOW, WINDOW_HEAD "\"sector_size\":4096}", CUZK_ERR_MISMATCH, "sector_size"},
        {PROOF_WINNING, "{\"registered_proof\":0,\"randomness\":\"" HEXF "\"}",
         CUZK_ERR_NOT_CANONICAL, "randomness"},
        {PROOF_SNAP, "{\"sector_size\":3000}", CUZK_ERR_FORMAT, "sector_size"},
        {PROOF_SNAP, "{\"sector_size\":2048}", CUZK_ERR_FORMAT, "comm_r_old"},
        {PROOF_POREP,
         "{\"registered_proof\":5,\"comm_r\":\"" HEX1 "\",\"comm_d\":\"" HEX1 "\",\"seed\":\"" HEXF
         "\"}",
         CUZK_ERR_FORMAT, "replica_id"},
        {PROOF_POREP,
         "{\"registered_proof\":5,\"comm_r\":\"" HEX1 "\",\"comm_d\":\"" HEX1 "\",\"seed\":\"" HEX0
         "\",\"miner_id\":1000,\"sector_id\":1,\"ticket\":\"" HEX0 "\",\"replica_id\":\"" HEX1
         "\"}",
         CUZK_ERR_MISMATCH, "replica_id"},
        {PROOF_POREP,
         "{\"registered_proof\":5,\"comm_r\":\"" HEX1 "\",\"comm_d\":\"" HEX1 "\",\"seed\":\"" HEX0
         "\",\"miner_id\":1000,\"prover_id\":\"" HEX1 "\"}",
         CUZK_ERR_MISMATCH, "prover_id"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_error err = {0};
        public_meta m;
        const cuzk_status st = read_meta(cases[i].kind, cases[i].text, &m, &err);
        if (st != cases[i].status || strstr(err.text, cases[i].names) == NULL)
            CHECK_FAILED_("case %zu: %s: %s", i, cuzk_status_name(st), err.text);
        public_meta_free(host, &m);
    }
}

/* Written and read again: the same members. */
TEST(meta_round_trip) {
    const struct {
        proof_kind kind;
        const char *file;
    } cases[] = {{PROOF_POREP, "filecoin/porep-2k/meta.json"},
                 {PROOF_POREP, "filecoin/porep-2k-ni/meta.json"},
                 {PROOF_WINNING, "filecoin/winning-2k/meta.json"},
                 {PROOF_WINDOW, "filecoin/window-2k/meta.json"},
                 {PROOF_SNAP, "filecoin/snap-2k/meta.json"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        cuzk_error err;
        public_meta a, b;
        char *t = load(cases[i].file);
        const char *path = temporary("");
        CHECK_OK(read_meta(cases[i].kind, t, &a, &err));
        CHECK_OK(public_meta_write_file(&a, path, &err));
        CHECK_OK(public_meta_read_file(host, cases[i].kind, path, &b, &err));
        CHECK_U64(a.n_sectors, b.n_sectors);
        for (size_t j = 0; j < a.n_sectors; j++) {
            CHECK_U64(a.sectors[j].sector_id, b.sectors[j].sector_id);
            CHECK_MEM(a.sectors[j].comm_r, b.sectors[j].comm_r, 32);
        }
        CHECK(a.porep.seal.number == b.porep.seal.number && a.post.number == b.post.number);
        CHECK(a.update_sector == b.update_sector);
        CHECK_MEM(a.porep.comm_r, b.porep.comm_r, 4 * 32); /* comm_r .. seed */
        CHECK_MEM(a.ticket, b.ticket, 32);
        CHECK_MEM(a.prover_id, b.prover_id, 32);
        CHECK_MEM(a.randomness, b.randomness, 32);
        CHECK_MEM(a.comm_r_old, b.comm_r_old, 3 * 32); /* comm_r_old .. comm_d_new */
        unlink(path);
        public_meta_free(host, &a);
        public_meta_free(host, &b);
        free(t);
    }
}

TEST(meta_deep) {
    cuzk_error err;
    public_meta m;
    char t[4096];
    strcpy(t, "{\"a\":");
    memset(t + 5, '[', 4000);
    t[4005] = 0;
    CHECK_STATUS(read_meta(PROOF_SNAP, t, &m, &err), CUZK_ERR_FORMAT);
    CHECK(strstr(err.text, "nested") != NULL);
}

/* ---- secrets, r and s ---- */

#define SECRETS(tau)                                                                               \
    "{\"alpha\":\"" HEX1 "\",\"beta\":\"" HEX1 "\",\"gamma\":\"" HEX1 "\",\"delta\":\"" HEX1       \
    "\"" tau "}"

TEST(secrets) {
    cuzk_error err;
    groth16_secrets s;
    fr_t one = fr_one();
    CHECK_OK(secrets_file_read(
        temporary(SECRETS(",\"tau\":\"0200000000000000000000000000000000000000000000000000000000"
                          "000000\"")),
        &s, &err));
    CHECK(fr_eq(&s.alpha, &one) && fr_eq(&s.delta, &one));
    fr_add(&one, &one, &one);
    CHECK(fr_eq(&s.tau, &one));
    CHECK_STATUS(secrets_file_read(temporary(SECRETS("")), &s, &err), CUZK_ERR_FORMAT);
    CHECK(strstr(err.text, "\"tau\" is missing") != NULL);
    CHECK_STATUS(secrets_file_read(temporary(SECRETS(",\"tau\":\"" HEXF "\"")), &s, &err),
                 CUZK_ERR_NOT_CANONICAL);
    CHECK(strstr(err.text, "tau") != NULL);
    const char *path = temporary(SECRETS(",\"alpha\":\"" HEX1 "\""));
    CHECK_STATUS(secrets_file_read(path, &s, &err), CUZK_ERR_FORMAT);
    CHECK(strncmp(err.text, path, strlen(path)) == 0);
    CHECK_STATUS(secrets_file_read("/nonexistent", &s, &err), CUZK_ERR_NOT_FOUND);
    unlink(path);
}

#define RS(r, s) "{\"r\":\"" r "\",\"s\":\"" s "\"}"

TEST(fixed_rs) {
    cuzk_error err;
    groth16_blinding rs[2];
    const fr_t one = fr_one(), zero = fr_zero();
    CHECK_OK(fixed_rs_file_read(temporary("[" RS(HEX1, HEX0) "," RS(HEX0, HEX1) "]"), rs, 2, &err));
    CHECK(fr_eq(&rs[0].r, &one) && fr_eq(&rs[0].s, &zero));
    CHECK(fr_eq(&rs[1].r, &zero) && fr_eq(&rs[1].s, &one));
    const char *bad[] = {"[]",
                         "[" RS(HEX1, HEX0) "]",
                         "[" RS(HEX1, HEX0) "," RS(HEX1, HEX0) "," RS(HEX1, HEX0) "]",
                         "[{\"r\":\"" HEX1 "\"},{\"s\":\"" HEX1 "\"}]",
                         "[{\"r\":\"" HEX1 "\",\"r\":\"" HEX1 "\"}," RS(HEX1, HEX0) "]",
                         "[{\"s\":\"" HEX1 "\"}," RS(HEX1, HEX0) "]"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_STATUS(fixed_rs_file_read(temporary(bad[i]), rs, 2, &err), CUZK_ERR_FORMAT);
    const char *path = temporary("[" RS(HEX1, HEXF) "," RS(HEX0, HEX1) "]");
    CHECK_STATUS(fixed_rs_file_read(path, rs, 2, &err), CUZK_ERR_NOT_CANONICAL);
    CHECK(strstr(err.text, "[0].s") != NULL);
    unlink(path);
}

int main(int argc, char **argv) {
    const check_case cases[] = {
        RUN(base64_known),       RUN(base64_round_trip), RUN(base64_strict),
        RUN(blob_fixtures),      RUN(blob_refused),      RUN(meta_porep),
        RUN(meta_post_and_snap), RUN(meta_refused),      RUN(meta_round_trip),
        RUN(meta_deep),          RUN(secrets),           RUN(fixed_rs)};
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
