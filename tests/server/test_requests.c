/* Requests of PoSt and SnapDeals proofs: good ones become jobs, and what is wrong with a bad one is
 * said with field and place. */
#include "check.h"

#include "cuzk/v1/proving.pb-c.h"
#include "filecoin/synth.h"
#include "host/host_std.h"
#include "server/request.h"

#define MAX_PROOFS 16

static const cuzk_host *host;
static cuzk_error err;

/* A message and the memory behind it: n proofs of `each` bytes, with room for one more byte. */
typedef struct sample {
    Cuzk__V1__SubmitProofRequest m;
    ProtobufCBinaryData list[MAX_PROOFS];
    node32 randomness, r_old, r_new, d_new;
    uint8_t *memory;
} sample;

static void sample_init(sample *s, proof_kind kind, uint64_t registered, size_t n, size_t each) {
    memset(s, 0, sizeof *s);
    cuzk__v1__submit_proof_request__init(&s->m);
    REQUIRE(n < MAX_PROOFS);
    s->m.proof_kind = (Cuzk__V1__ProofKind)kind;
    s->m.registered_proof = registered;
    s->m.n_vanilla_proofs = n;
    s->m.vanilla_proofs = s->list;
    s->memory = calloc(n, each + 1);
    for (size_t i = 0; i < n; i++)
        s->list[i] = (ProtobufCBinaryData){each, s->memory + i * (each + 1)};
}

static void post_sample(sample *s, uint64_t number, size_t n) {
    registered_post post;
    post_vanilla *v = NULL;
    node32 seed, randomness;
    check_random_bytes(seed, sizeof seed);
    CHECK_OK(registered_post_by_number(number, &post, &err));
    CHECK_OK(post_synth(host, &post, 7, n, seed, randomness, &v, &err));
    REQUIRE(v != NULL);
    sample_init(s, post.window ? PROOF_WINDOW : PROOF_WINNING, number, n,
                post_sector_bincode_bytes(post.sector, v->sectors[0].n_paths));
    for (uint32_t i = 0; i < n; i++)
        post_sector_write_bincode(v, i, s->list[i].data);
    memcpy(s->randomness, randomness, sizeof randomness);
    s->m.randomness = (ProtobufCBinaryData){32, s->randomness};
    post_vanilla_free(host, v);
}

static void snap_sample(sample *s, uint64_t number) {
    const sector_shape *sector;
    snap_vanilla *v = NULL;
    node32 seed, r_old, r_new, d_new;
    check_random_bytes(seed, sizeof seed);
    CHECK_OK(registered_update_by_number(number, &sector, &err));
    CHECK_OK(snap_synth(host, sector, seed, r_old, r_new, d_new, &v, &err));
    REQUIRE(v != NULL);
    sample_init(s, PROOF_SNAP, number, v->n_partitions, snap_partition_bincode_bytes(sector));
    for (uint32_t k = 0; k < v->n_partitions; k++)
        snap_partition_write_bincode(v, k, s->list[k].data);
    memcpy(s->r_old, r_old, sizeof r_old);
    memcpy(s->r_new, r_new, sizeof r_new);
    memcpy(s->d_new, d_new, sizeof d_new);
    s->m.comm_r_old = (ProtobufCBinaryData){32, s->r_old};
    s->m.comm_r_new = (ProtobufCBinaryData){32, s->r_new};
    s->m.comm_d_new = (ProtobufCBinaryData){32, s->d_new};
    snap_vanilla_free(host, v);
}

static cuzk_status decode(const sample *s, proof_job **job) {
    const size_t bytes = cuzk__v1__submit_proof_request__get_packed_size(&s->m);
    uint8_t *packed = malloc(bytes);
    cuzk__v1__submit_proof_request__pack(&s->m, packed);
    const cuzk_status status = request_decode(host, packed, bytes, job, &err);
    free(packed);
    return status;
}

static void check_good(const sample *s, const char *circuit, uint32_t partitions) {
    proof_job *job = NULL;
    char name[32];
    CHECK_OK(decode(s, &job));
    REQUIRE(job != NULL);
    circuit_id_format(&job->circuit, name);
    CHECK(strcmp(name, circuit) == 0);
    CHECK_U64(job->partitions, partitions);
    proof_job_free(host, job);
}

static void check_bad(const sample *s, const char *first, const char *second) {
    proof_job *job = NULL;
    CHECK(decode(s, &job) != CUZK_OK && job == NULL);
    if (strstr(err.text, first) == NULL || strstr(err.text, second) == NULL)
        CHECK_FAILED_("\"%s\" does not say \"%s\" and \"%s\"", err.text, first, second);
}

/* What can be wrong with the bytes of the last proof; the place is its number. */
static void check_bad_bytes(sample *s, const char *place) {
    ProtobufCBinaryData *last = &s->list[s->m.n_vanilla_proofs - 1];
    last->len++;
    check_bad(s, place, "trailing");
    last->len -= 2;
    check_bad(s, place, "truncated");
    last->len++;
    uint8_t *const value = last->data + last->len - 32, saved[32];
    memcpy(saved, value, 32);
    memset(value, 0xff, 32);
    check_bad(s, place, (proof_kind)s->m.proof_kind == PROOF_SNAP ? "proof_r_new" : "comm_r_last");
    memcpy(value, saved, 32);
    last->data[100] ^= 1;
    check_bad(s, place, "");
    last->data[100] ^= 1;
}

TEST(default_priorities) {
    static const engine_priority expected[] = {
        [PROOF_POREP] = ENGINE_PRIORITY_NORMAL,
        [PROOF_SNAP] = ENGINE_PRIORITY_NORMAL,
        [PROOF_WINDOW] = ENGINE_PRIORITY_HIGH,
        [PROOF_WINNING] = ENGINE_PRIORITY_CRITICAL,
    };
    for (uint8_t kind = 1; kind <= 4; kind++) {
        const uint8_t plain[] = {0x10, kind}, chosen[] = {0x10, kind, 0x28, ENGINE_PRIORITY_LOW};
        engine_request r;
        CHECK_OK(request_for_engine(plain, sizeof plain, &r, &err));
        CHECK_U64(r.priority, expected[kind]);
        CHECK_OK(request_for_engine(chosen, sizeof chosen, &r, &err));
        CHECK_U64(r.priority, ENGINE_PRIORITY_LOW);
    }
}

static void check_post(sample *s, const char *place, const char *other_size) {
    check_bad_bytes(s, place);
    s->m.registered_proof++;
    check_bad(s, "vanilla proof 0", other_size);
    s->m.registered_proof--;
    s->m.randomness.len = 31;
    check_bad(s, "randomness", "got 31");
    s->m.randomness.len = 32;
    s->randomness[0] ^= 1;
    check_bad(s, "vanilla proof 0", "inclusion_proofs[0]");
    s->randomness[31] = 0xff;
    check_bad(s, "randomness", "modulus");
    free(s->memory);
}

TEST(winning) {
    sample s;
    post_sample(&s, 3, 1);
    check_good(&s, "winning-32g", 1);
    s.list[1] = s.list[0];
    s.m.n_vanilla_proofs = 2;
    check_bad(&s, "winning PoSt vanilla proofs", "exactly one expected, got 2");
    s.m.n_vanilla_proofs = 1;
    check_post(&s, "vanilla proof 0", "64GiB");
}

TEST(window) {
    sample s;
    post_sample(&s, 10, 3);
    check_good(&s, "window-2k", 2);
    check_post(&s, "vanilla proof 2", "8MiB");
    post_sample(&s, 13, 3); /* a short partition */
    check_good(&s, "window-32g", 1);
    free(s.memory);
}

TEST(snap) {
    sample s;
    snap_sample(&s, 1);
    check_good(&s, "snap-8m", 4);
    check_bad_bytes(&s, "vanilla proof 3");
    s.m.n_vanilla_proofs = 3;
    check_bad(&s, "SnapDeals vanilla proofs", "4 partitions, got 3");
    s.m.n_vanilla_proofs = 4;
    const ProtobufCBinaryData first = s.list[0];
    s.list[0] = s.list[1];
    s.list[1] = first;
    check_bad(&s, "vanilla proof 0 challenge_proofs[0]", "");
    s.list[1] = s.list[0];
    s.list[0] = first;
    s.m.registered_proof = 0;
    check_bad(&s, "2KiB", "got 4");
    s.m.registered_proof = 1;
    s.m.comm_r_new.len = 33;
    check_bad(&s, "comm_r_new", "33");
    s.m.comm_r_new.len = 32;
    s.d_new[31] = 0xff;
    check_bad(&s, "comm_d_new", "modulus");
    free(s.memory);
}

int main(int argc, char **argv) {
    const check_case cases[] = {RUN(default_priorities), RUN(winning), RUN(window), RUN(snap)};
    host_std *std;
    if (host_std_new(2, 0, &std, &err) != CUZK_OK) return 1;
    host = host_std_host(std);
    const int rc = check_main(argc, argv, cases, sizeof cases / sizeof cases[0]);
    if (host_std_used(std) != 0) {
        fprintf(stderr, "leaked %" PRIu64 " bytes\n", host_std_used(std));
        return 1;
    }
    host_std_free(std);
    return rc;
}
