/* The pieces of the daemon that take bytes and text from elsewhere. */
#include "check.h"

#include <fcntl.h>
#include <grpc/support/log.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cuzk/v1/proving.pb-c.h"
#include "host/host_std.h"
#include "server/address.h"
#include "server/config.h"
#include "server/log.h"
#include "server/request.h"
#include "server/rpc.h"
#include "server/safe_text.h"
#include "server/tokens.h"
#include "server/wire.h"

static cuzk_error err;

static const char *temp_file(const char *text, mode_t mode) {
    static char path[64];
    snprintf(path, sizeof path, "/tmp/cuzk-units-%d", (int)getpid());
    FILE *f = fopen(path, "w");
    REQUIRE(f != NULL && fputs(text, f) >= 0 && fclose(f) == 0 && chmod(path, mode) == 0);
    return path;
}

/* ---- messages ---- */

/* protobuf-c takes field numbers above 2^29 - 1, which the format does not allow. */
static bool has_large_number(const uint8_t *p, size_t n) {
    for (size_t i = 0; i < n;) {
        uint64_t v[2] = {0};
        for (int k = 0; k < 2; k++) { /* tag; value or length */
            for (unsigned shift = 0; i < n && shift < 64; shift += 7) {
                v[k] |= (uint64_t)(p[i] & 0x7f) << shift;
                if (p[i++] < 0x80) break;
            }
            if (k == 0 && v[0] >> 3 > 0x1fffffff) return true;
            if (k == 0 && (v[0] & 7) % 4 == 1) break; /* 64 or 32 bits */
        }
        const uint64_t more = (v[0] & 7) == 1   ? 8
                              : (v[0] & 7) == 5 ? 4
                              : (v[0] & 7) == 2 ? v[1]
                                                : 0;
        if (more > n - i) return false;
        i += (size_t)more;
    }
    return false;
}

TEST(views_agree_with_protobuf_c) {
    for (int round = 0; round < 200; round++) {
        Cuzk__V1__SubmitProofRequest m = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
        uint8_t data[3][40], packed[1024];
        ProtobufCBinaryData list[3];
        char id[20];
        request_view v;
        for (size_t i = 0; i < 3; i++) {
            check_random_bytes(data[i], sizeof data[i]);
            list[i] = (ProtobufCBinaryData){check_random() % 41, data[i]};
        }
        snprintf(id, sizeof id, "id-%u", (unsigned)(check_random() % 1000));
        m.request_id = id;
        m.proof_kind = (Cuzk__V1__ProofKind)(check_random() % 5);
        m.sector_size = check_random();
        m.registered_proof = check_random() >> (check_random() % 64);
        m.priority = (Cuzk__V1__Priority)(check_random() % 5);
        m.sector_number = check_random();
        m.miner_id = check_random();
        m.partition_index = (uint32_t)check_random();
        m.vanilla_proof = list[0];
        m.randomness = list[1];
        m.comm_d_new = list[2];
        m.n_vanilla_proofs = check_random() % 4;
        m.vanilla_proofs = list;
        const size_t n = cuzk__v1__submit_proof_request__pack(&m, packed);
        CHECK_OK(request_view_read(packed, n, &v, &err));
        CHECK_U64(v.proof_kind, m.proof_kind);
        CHECK_U64(v.sector_size, m.sector_size);
        CHECK_U64(v.registered_proof, m.registered_proof);
        CHECK_U64(v.priority, m.priority);
        CHECK_U64(v.sector_number, m.sector_number);
        CHECK_U64(v.miner_id, m.miner_id);
        CHECK_U64(v.partition_index, m.partition_index);
        CHECK_U64(v.n_vanilla_proofs, m.n_vanilla_proofs);
        CHECK_U64(v.request_id.bytes, strlen(id));
        CHECK_U64(v.vanilla_proof.bytes, list[0].len);
        CHECK_U64(v.randomness.bytes, list[1].len);
        CHECK_U64(v.comm_d_new.bytes, list[2].len);
        CHECK_U64(v.comm_r_old.bytes, 0);
        if (list[1].len > 0) CHECK_MEM(v.randomness.data, list[1].data, list[1].len);
        /* What protobuf-c takes, so do we: cut and changed messages. */
        packed[check_random() % n] ^= (uint8_t)(1 + check_random() % 255);
        const size_t cut = check_random() % (n + 1);
        Cuzk__V1__SubmitProofRequest *u = cuzk__v1__submit_proof_request__unpack(NULL, cut, packed);
        if (u != NULL && has_large_number(packed, cut)) {
            CHECK_STATUS(request_view_read(packed, cut, &v, &err), CUZK_ERR_FORMAT);
            cuzk__v1__submit_proof_request__free_unpacked(u, NULL);
        } else if (u != NULL) {
            CHECK_OK(request_view_read(packed, cut, &v, &err));
            CHECK_U64(v.n_vanilla_proofs, u->n_vanilla_proofs);
            CHECK_U64(v.miner_id, u->miner_id);
            cuzk__v1__submit_proof_request__free_unpacked(u, NULL);
        }
    }
}

TEST(malformed_messages) {
    request_view v;
    request_bytes inner = {0};
    engine_request r;
    static const struct {
        uint8_t bytes[12];
        size_t n;
    } bad[] = {
        {{0x0a}, 1},                                                        /* no length */
        {{0x0a, 5, 'a'}, 3},                                                /* cut text */
        {{0x0a, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, 10}, /* huge length */
        {{0x18, 0x80}, 2},                                                  /* cut number */
        {{0x00, 0}, 2},                                                     /* field 0 */
        {{0x0b}, 1},                                                        /* a group */
        {{0x0d, 1, 2, 3}, 4},                                               /* cut fixed32 */
        {{0x09, 1, 2, 3}, 4},                                               /* cut fixed64 */
        {{0x0f, 1}, 2},                                                     /* wire type 7 */
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_STATUS(request_view_read(bad[i].bytes, bad[i].n, &v, &err), CUZK_ERR_FORMAT);
    }
    CHECK_STATUS(request_of_prove(NULL, 0, &inner, &err), CUZK_ERR_ARGUMENT);
    static const uint8_t twice[] = {0x0a, 0, 0x0a, 0};
    CHECK_STATUS(request_of_prove(twice, sizeof twice, &inner, &err), CUZK_ERR_ARGUMENT);
    static const uint8_t once[] = {0x12, 1, 'x', 0x0a, 2, 0x10, 4}; /* an unknown field before */
    CHECK_OK(request_of_prove(once, sizeof once, &inner, &err));
    CHECK_OK(request_for_engine(inner.data, inner.bytes, &r, &err));
    CHECK(strcmp(r.kind, "winning-post") == 0);
    CHECK_U64(r.priority, ENGINE_PRIORITY_CRITICAL);
    static const uint8_t nul_in_id[] = {0x10, 1, 0x0a, 3, 'a', 0, 'b'};
    CHECK_STATUS(request_for_engine(nul_in_id, sizeof nul_in_id, &r, &err), CUZK_ERR_ARGUMENT);
    static const uint8_t odd_priority[] = {0x10, 2, 0x28, 99};
    CHECK_OK(request_for_engine(odd_priority, sizeof odd_priority, &r, &err));
    CHECK_U64(r.priority, ENGINE_PRIORITY_NORMAL);
}

TEST(requests_that_are_no_proofs) {
    host_std *std;
    proof_job *job;
    uint8_t packed[4096];
    CHECK_OK(host_std_new(1, 0, &std, &err));
    const cuzk_host *host = host_std_host(std);
    ProtobufCBinaryData empty[2] = {{0, NULL}, {0, NULL}};
    uint8_t node[32] = {1};
    static const struct {
        unsigned kind;
        uint64_t registered;
        size_t proofs, randomness;
        const char *says;
    } cases[] = {{1, 8, 0, 32, "vanilla_proof"},
                 {3, 10, 0, 32, "no vanilla_proofs"},
                 {3, 10, 1, 31, "randomness must be exactly 32 bytes, got 31"},
                 {3, 99, 1, 32, "unknown RegisteredPoStProof value: 99"},
                 {3, 0, 1, 32, "not of kind window-post"},
                 {4, 10, 1, 32, "not of kind winning-post"},
                 {2, 99, 1, 32, "unknown RegisteredUpdateProof value"},
                 {2, 0, 1, 32, "comm_r_old must be exactly 32 bytes, got 0"},
                 {9, 0, 1, 32, "invalid proof_kind: 9"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Cuzk__V1__SubmitProofRequest m = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
        m.proof_kind = (Cuzk__V1__ProofKind)cases[i].kind;
        m.registered_proof = cases[i].registered;
        m.n_vanilla_proofs = cases[i].proofs;
        m.vanilla_proofs = empty;
        m.randomness = (ProtobufCBinaryData){cases[i].randomness, node};
        const size_t n = cuzk__v1__submit_proof_request__pack(&m, packed);
        CHECK(request_decode(host, packed, n, &job, &err) != CUZK_OK && job == NULL);
        if (strstr(err.text, cases[i].says) == NULL) CHECK_FAILED_("case %zu: \"%s\"", i, err.text);
    }
    /* Two bytes on the wire are sixteen in memory: the count is limited. */
    const size_t many = 100000;
    uint8_t *big = malloc(2 + 2 * many);
    REQUIRE(big != NULL);
    big[0] = 0x10;
    big[1] = 3;
    for (size_t i = 0; i < many; i++) {
        big[2 + 2 * i] = 0x5a;
        big[3 + 2 * i] = 0;
    }
    CHECK_STATUS(request_decode(host, big, 2 + 2 * many, &job, &err), CUZK_ERR_ARGUMENT);
    free(big);
    CHECK_U64(host_std_used(std), 0);
    host_std_free(std);
}

TEST(utf8) {
    static const char *const good[] = {"",
                                       "plain",
                                       "\xc3\xa9",
                                       "\xe2\x82\xac",
                                       "\xf0\x9f\x98\x80",
                                       "\xed\x9f\xbf",
                                       "\xf4\x8f\xbf\xbf"};
    static const char *const bad[] = {"\x80",
                                      "\xc3",
                                      "\xc0\x80",
                                      "\xe0\x80\x80",
                                      "\xed\xa0\x80",
                                      "\xf4\x90\x80\x80",
                                      "\xf8\x88\x80\x80\x80",
                                      "a\xffz"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        CHECK(wire_is_utf8((const uint8_t *)good[i], strlen(good[i])));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!wire_is_utf8((const uint8_t *)bad[i], strlen(bad[i])));
}

TEST(safe_texts) {
    static const char *const cases[][2] = {
        {"plain words", "plain words"},
        {"/data/zk/params/v28-x.params: open: No such file", "v28-x.params: open: No such file"},
        {"cannot open \"/var/lib/cuzk/bodies/1\"", "cannot open \"1\""},
        {"a (/tmp/x) b", "a (x) b"},
        {"3/4 of and/or", "3/4 of and/or"},
        {"/etc/", "etc/"},
        {"/", "/"},
        {"tab\there\n", "tab?here?"},
        {"é", "é"},
        {"bad \xff byte", "bad ? byte"},
    };
    char out[64];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        safe_text(out, sizeof out, cases[i][0]);
        if (strcmp(out, cases[i][1]) != 0) CHECK_FAILED_("\"%s\" gives \"%s\"", cases[i][0], out);
    }
    safe_text(out, 3, "aé"); /* cut in the middle of a character */
    CHECK(strcmp(out, "a?") == 0);
}

/* ---- tokens ---- */

TEST(tokens) {
    token_list *list;
    static const char *const bad[] = {"", "# nothing\n", "short submit\n", "a-long-enough-token\n",
                                      "a-long-enough-token rule\n"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_STATUS(token_list_read(temp_file(bad[i], 0600), &list, &err), CUZK_ERR_FORMAT);
    CHECK(strstr(err.text, ":1: unknown right \"rule\"") != NULL);
    CHECK_STATUS(token_list_read(temp_file("a-long-enough-token all\n", 0644), &list, &err),
                 CUZK_ERR_ARGUMENT);
    CHECK_STATUS(token_list_read("/nonexistent", &list, &err), CUZK_ERR_NOT_FOUND);
    CHECK_OK(token_list_read(temp_file("first-token-00001 submit # me\r\n\n"
                                       "second-token-0001 observe,admin\nthird-token-00001 all",
                                       0600),
                             &list, &err));
    static const struct {
        const char *token;
        unsigned rights;
    } cases[] = {{"first-token-00001", RIGHT_SUBMIT},
                 {"second-token-0001", RIGHT_OBSERVE | RIGHT_ADMIN},
                 {"third-token-00001", RIGHT_ALL},
                 {"third-token-0000", 0},
                 {"third-token-000011", 0},
                 {"", 0},
                 {"#", 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        CHECK_U64(token_list_rights(list, (const uint8_t *)cases[i].token, strlen(cases[i].token)),
                  cases[i].rights);
    token_list_free(list);
    unlink(temp_file("", 0600));
}

/* ---- configuration ---- */

static unsigned n_warnings;
static void count_warning(void *arg, const char *text) {
    CHECK(arg == &n_warnings && text[0] != 0);
    n_warnings++;
}

TEST(sizes_and_times) {
    static const struct {
        const char *text;
        uint64_t value;
    } sizes[] = {{"0", 0},
                 {"123", 123},
                 {"1KiB", 1024},
                 {"64 MiB", 64 << 20},
                 {"50GiB", 53687091200},
                 {"2TiB", 2199023255552},
                 {"5GB", 5000000000},
                 {"7MB", 7000000},
                 {"9B", 9}},
      times[] = {{"250ms", 250}, {"30", 30000},   {"90s", 90000},
                 {"5m", 300000}, {"2h", 7200000}, {"1d", 86400000}};
    static const char *const bad[] = {"",
                                      "x",
                                      "1.5GiB",
                                      "-1",
                                      "+1",
                                      "1gib",
                                      "1 2",
                                      "99999999999999TiB",
                                      "18446744073709551616",
                                      "GiB",
                                      " 1"};
    uint64_t v;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        CHECK(config_parse_bytes(sizes[i].text, &v));
        CHECK_U64(v, sizes[i].value);
    }
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++) {
        CHECK(config_parse_duration(times[i].text, &v));
        CHECK_U64(v, times[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK(!config_parse_bytes(bad[i], &v) && !config_parse_duration(bad[i], &v));
}

TEST(configuration_file) {
    static daemon_config c;
    /* A file as the Rust engine's operators have it. */
    static const char rust[] =
        "[daemon]\nlisten = \"unix:///run/curio/cuzk.sock\"\n"
        "[memory]\ntotal_budget = \"400GiB\"\nsafety_margin = \"5GiB\"\n"
        "eviction_min_idle = \"5m\"\npinned_budget = \"50GiB\"\n"
        "[gpus]\ndevices = [0, 2]\ngpu_threads = 32\n"
        "[pipeline]\nenabled = true\nsynthesis_concurrency = 4\n"
        "[srs]\nparam_cache = \"/data/zk/params\"\npreload = [\"porep-32g\"]\n"
        "[logging]\nlevel = \"debug\"\n";
    config_defaults(&c);
    n_warnings = 0;
    CHECK_OK(config_read_file(&c, temp_file(rust, 0600), count_warning, &n_warnings, &err));
    CHECK_U64(n_warnings, 4); /* pinned_budget, gpu_threads, enabled, preload */
    CHECK_U64(c.total_budget, (uint64_t)400 << 30);
    CHECK_U64(c.n_devices, 2);
    CHECK(strcmp(c.devices[1], "2") == 0);
    CHECK_U64(c.witness_threads, 4);
    CHECK_U64(c.log_level, 3);
    CHECK_OK(config_check(&c, &err));
    static const char *const bad[][2] = {
        {"[daemon]\nlistn = \"x\"\n", ":2: unknown key \"daemon.listn\""},
        {"\n[dæmon]\n", ""},
        {"\n\n[other]\n", ":3: unknown section \"other\""},
        {"[memory]\ntotal_budget = \"1TB2\"\n", ":2: memory.total_budget = \"1TB2\": expected"},
        {"[memory]\ntotal_budget = 1.5\n", ":2: memory.total_budget"},
        {"[daemon]\nlisten = 5\n", ":2: daemon.listen"},
        {"[daemon]\nqueue_limit = 0\n", ":2: daemon.queue_limit"},
        {"[daemon]\nqueue_limit = \"5\"\n", ":2: daemon.queue_limit"},
        {"[daemon]\ninsecure = 1\n", ":2: daemon.insecure"},
        {"[gpus]\ndevices = [[1]]\n", ":2: gpus.devices"},
        {"[gpus]\nvram_limit = \"16 XB\"\n", ":2: gpus.vram_limit = \"16 XB\": expected bytes"},
        {"[gpus]\nvram_limit = -1\n", ":2: gpus.vram_limit"},
        {"[gpus]\nvram_limit = [\"16GiB\"]\n", ":2: gpus.vram_limit"},
        {"[gpus]\non_gpu_failure = \"wait\"\n", ":2: gpus.on_gpu_failure"},
        {"[daemon\n", ": line 1: "},
        {"a = 1\na = 2\n", ""},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *path = temp_file(bad[i][0], 0600);
        CHECK(config_read_file(&c, path, NULL, NULL, &err) != CUZK_OK);
        CHECK(strncmp(err.text, path, strlen(path)) == 0);
        if (strstr(err.text, bad[i][1]) == NULL) CHECK_FAILED_("case %zu: %s", i, err.text);
    }
    CHECK_STATUS(config_read_file(&c, "/nonexistent", NULL, NULL, &err), CUZK_ERR_NOT_FOUND);
    unlink(temp_file("", 0600));
}

TEST(configuration_round_trip) {
    static daemon_config c, again;
    char *text = NULL;
    size_t bytes;
    config_defaults(&c);
    CHECK_OK(config_set(&c, "gpus.devices", "cuda:1,cpu", &err));
    CHECK_OK(config_set(&c, "memory.total_budget", "16GiB", &err));
    CHECK_OK(config_set(&c, "gpus.vram_limit", "24GiB", &err));
    CHECK_OK(config_set(&c, "daemon.state_dir", "/a \"quoted\" \\ folder", &err));
    CHECK_STATUS(config_set(&c, "daemon.nothing", "1", &err), CUZK_ERR_ARGUMENT);
    FILE *f = open_memstream(&text, &bytes);
    config_write(&c, f);
    fclose(f);
    config_defaults(&again);
    CHECK_OK(config_read_file(&again, temp_file(text, 0600), NULL, NULL, &err));
    memcpy(again.source, c.source, sizeof c.source);
    CHECK(memcmp(&again, &c, sizeof c) == 0);
    free(text);
    unlink(temp_file("", 0600));
}

TEST(device_memory_limits) {
    static daemon_config c;
    char name[CONFIG_DEVICE_NAME];
    static const char *const names[][3] = {
        /* given, without and with a limit of 16 GiB */
        {"0", "cuda:0", "cuda:0@17179869184"},
        {"cuda", "cuda", "cuda@17179869184"},
        {"cuda:3", "cuda:3", "cuda:3@17179869184"},
        {"GPU-5b1f", "cuda:GPU-5b1f", "cuda:GPU-5b1f@17179869184"},
        {"0000:3b:00.0", "cuda:0000:3b:00.0", "cuda:0000:3b:00.0@17179869184"},
        {"cpu", "cpu", "cpu"},
        {"0@10GiB", "cuda:0@10737418240", "cuda:0@10737418240"},
        {"cuda:1@512MiB", "cuda:1@536870912", "cuda:1@536870912"},
        {"cuda:1@16GB", "cuda:1@16000000000", "cuda:1@16000000000"},
    };
    static const char *const bad[] = {"0@", "0@16XB", "cuda:0@0", "cuda:0@63MiB", "0@16GiB@1"};
    config_defaults(&c);
    CHECK_U64(c.vram_limit, 0);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        c.vram_limit = 0;
        CHECK_OK(config_device_name(&c, names[i][0], name, &err));
        CHECK(strcmp(name, names[i][1]) == 0);
        CHECK_OK(config_set(&c, "gpus.vram_limit", "16GiB", &err));
        CHECK_OK(config_device_name(&c, names[i][0], name, &err));
        CHECK(strcmp(name, names[i][2]) == 0);
        CHECK_OK(config_set(&c, "gpus.devices", names[i][0], &err));
        CHECK_OK(config_check(&c, &err));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        CHECK_OK(config_set(&c, "gpus.devices", bad[i], &err));
        CHECK_STATUS(config_check(&c, &err), CUZK_ERR_ARGUMENT);
        CHECK(strstr(err.text, "gpus.devices") != NULL && strstr(err.text, bad[i]) != NULL);
    }
    CHECK_OK(config_set(&c, "gpus.devices", "0", &err));
    CHECK_OK(config_set(&c, "gpus.vram_limit", "1MiB", &err));
    CHECK_STATUS(config_check(&c, &err), CUZK_ERR_ARGUMENT);
    CHECK(strstr(err.text, "gpus.vram_limit") != NULL);
    setenv("CUZK_GPUS_VRAM_LIMIT", "24GiB", 1);
    CHECK_OK(config_read_environment(&c, NULL, NULL, &err));
    CHECK_U64(c.vram_limit, (uint64_t)24 << 30);
    unsetenv("CUZK_GPUS_VRAM_LIMIT");
}

TEST(configuration_environment) {
    static daemon_config c;
    config_defaults(&c);
    setenv("CUZK_DAEMON_QUEUE_LIMIT", "7", 1);
    setenv("RUST_LOG", "warn", 1);
    CHECK_OK(config_read_environment(&c, NULL, NULL, &err));
    CHECK_U64(c.queue_limit, 7);
    CHECK_U64(c.log_level, 1);
    setenv("CUZK_DAEMON_QUEUE_LIMIT", "many", 1);
    CHECK_STATUS(config_read_environment(&c, NULL, NULL, &err), CUZK_ERR_ARGUMENT);
    unsetenv("CUZK_DAEMON_QUEUE_LIMIT");
    unsetenv("RUST_LOG");
}

TEST(addresses) {
    static daemon_config c;
    static const struct {
        const char *listen;
        bool safe;
    } cases[] = {{"unix:///run/x.sock", true},
                 {"unix:/run/x.sock", true},
                 {"127.0.0.1:1", true},
                 {"127.8.8.8:1", true},
                 {"[::1]:1", true},
                 {"0.0.0.0:1", false},
                 {"[::]:1", false},
                 {":1", false},
                 {"192.0.2.1:1", false},
                 {"unix:///run/x.sock,0.0.0.0:1", false}};
    static const char *const bad[] = {"",           "unix:relative",  "nohost",
                                      "127.0.0.1:", "127.0.0.1:port", "[::1:1"};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        config_defaults(&c);
        CHECK_OK(config_set(&c, "daemon.listen", cases[i].listen, &err));
        CHECK_STATUS(config_check(&c, &err), cases[i].safe ? CUZK_OK : CUZK_ERR_ARGUMENT);
        c.insecure = true;
        CHECK_OK(config_check(&c, &err));
        c.insecure = false;
        snprintf(c.token_file, sizeof c.token_file, "/tokens");
        CHECK_OK(config_check(&c, &err));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        config_defaults(&c);
        CHECK_OK(config_set(&c, "daemon.listen", bad[i], &err));
        CHECK_STATUS(config_check(&c, &err), CUZK_ERR_ARGUMENT);
    }
    config_defaults(&c);
    c.tls_cert[0] = 'x'; /* without key and authority */
    CHECK_STATUS(config_check(&c, &err), CUZK_ERR_ARGUMENT);
    config_defaults(&c);
    snprintf(c.status_listen, sizeof c.status_listen, "0.0.0.0:1");
    CHECK_STATUS(config_check(&c, &err), CUZK_ERR_ARGUMENT);
}

/* Lines of gRPC's own come in the daemon's format, whatever a peer put into them. */
TEST(grpc_lines_are_in_the_log) {
    char path[] = "/tmp/cuzk-log-XXXXXX", text[512] = "";
    const int file = mkstemp(path), error_stream = dup(2);
    REQUIRE(file >= 0 && error_stream >= 0);
    log_configure(LOG_INFO, LOG_JSON);
    rpc_take_log();
    gpr_log_verbosity_init(); /* grpc_init does this */
    fflush(stderr);
    CHECK(dup2(file, 2) == 2);
    gpr_log(GPR_ERROR, "peer \"%s\"", "a\n{\x1b");
    gpr_log(GPR_INFO, "below the log's level");
    CHECK(dup2(error_stream, 2) == 2);
    CHECK(pread(file, text, sizeof text - 1, 0) > 0);
    CHECK(strncmp(text, "{\"time\":\"", 9) == 0);
    CHECK(
        strstr(text, "\"level\":\"warn\",\"message\":\"gRPC: peer \\\"a\\u000a{\\u001b\\\"\"}\n") !=
        NULL);
    CHECK(strchr(text, '\n') == text + strlen(text) - 1); /* one line */
    log_configure(LOG_INFO, LOG_HUMAN);
    close(file);
    close(error_stream);
    unlink(path);
}

TEST_MAIN(RUN(grpc_lines_are_in_the_log), RUN(views_agree_with_protobuf_c), RUN(malformed_messages),
          RUN(requests_that_are_no_proofs), RUN(utf8), RUN(safe_texts), RUN(tokens),
          RUN(sizes_and_times), RUN(configuration_file), RUN(configuration_round_trip),
          RUN(configuration_environment), RUN(device_memory_limits), RUN(addresses))
