/* cuzk inspect FILE: what a file is, its sizes, counts and digests, and what is wrong with it. */
#include <stdio.h>
#include <string.h>

#include "base/bytes.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/inputs.h"
#include "host/json_out.h"
#include "filecoin/manifest.h"
#include "filecoin/public_inputs.h"
#include "groth16/groth16.h"
#include "hash/blake2.h"
#include "hash/sha256.h"
#include "r1cs/r1cs.h"

typedef struct inspect_args {
    const char *path;
    bool json, check, no_digest;
} inspect_args;

/* Facts are written once and shown as text or JSON. */
typedef struct report {
    json_out j;
    bool json;
} report;

static void fact_text(report *r, const char *key, const char *value) {
    if (r->json)
        json_out_string(&r->j, key, value);
    else
        printf("%-18s %s\n", key, value);
}
static void fact_u64(report *r, const char *key, uint64_t value) {
    if (r->json)
        json_out_u64(&r->j, key, value);
    else
        printf("%-18s %llu\n", key, (unsigned long long)value);
}
static void fact_hex(report *r, const char *key, const uint8_t *data, size_t bytes) {
    char hex[129] = {0};
    cli_hex(hex, data, bytes > 64 ? 64 : bytes);
    fact_text(r, key, hex);
}

/* ---- kinds of file ---- */

static cuzk_status inspect_c1(const cuzk_host *host, const inspect_args *args, report *r,
                              cuzk_error *err) {
    porep_c1 *c1;
    proof_job *job;
    char text[512] = {0};
    CUZK_TRY(c1_file_read(host, args->path, &c1, err));
    fact_text(r, "kind", "PoRep C1 output");
    fact_text(r, "registered_proof", c1->seal.name);
    fact_u64(r, "sector_bytes", c1->seal.sector->bytes);
    fact_u64(r, "partitions", c1->partitions);
    fact_u64(r, "challenges", c1->challenges);
    fact_hex(r, "comm_r", c1->comm_r, 32);
    fact_hex(r, "comm_d", c1->comm_d, 32);
    fact_hex(r, "replica_id", c1->replica_id, 32);
    fact_hex(r, "seed", c1->seed, 32);
    fact_hex(r, "ticket", c1->ticket, 32);
    size_t at = 0;
    for (uint32_t i = 0; i < c1->challenges && at + 24 < sizeof text; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%llu", i == 0 ? "" : " ",
                               (unsigned long long)c1->proofs[i].challenge);
    fact_text(r, "first_challenges", text);
    cuzk_status status = porep_c1_check(host, c1, err);
    if (status != CUZK_OK) {
        porep_c1_free(host, c1);
        return status;
    }
    fact_text(r, "vanilla_proof", "consistent: challenges, labels, paths, encodings");
    status = proof_job_porep(host, c1, &job, err);
    if (status != CUZK_OK) {
        porep_c1_free(host, c1);
        return status;
    }
    proof_job_free(host, job);
    return CUZK_OK;
}

static void vk_facts(report *r, const groth16_vk *vk) {
    uint8_t bytes[48];
    fact_u64(r, "public_inputs", vk->n_ic - 1);
    g1_write_compressed(bytes, &vk->alpha_g1);
    fact_hex(r, "alpha_g1", bytes, sizeof bytes);
    g1_write_compressed(bytes, &vk->delta_g1);
    fact_hex(r, "delta_g1", bytes, sizeof bytes);
    fact_text(r, "key", "sane: points in their groups, delta != gamma, G1 and G2 agree");
}

static cuzk_status inspect_vk(const cuzk_host *host, const file_map *map, const char *path,
                              report *r, cuzk_error *err) {
    groth16_vk *vk;
    CUZK_TRY(groth16_vk_read(host, map->data, map->bytes, path, &vk, err));
    fact_text(r, "kind", "Groth16 verifying key");
    vk_facts(r, vk);
    groth16_vk_free(host, vk);
    return CUZK_OK;
}

static cuzk_status inspect_params(const cuzk_host *host, const inspect_args *args, report *r,
                                  cuzk_error *err) {
    groth16_params *p;
    CUZK_TRY(groth16_params_open(host, args->path, &p, err));
    fact_text(r, "kind", "Groth16 parameters");
    vk_facts(r, p->vk);
    fact_u64(r, "h_points", p->h.count);
    fact_u64(r, "l_points", p->l.count);
    fact_u64(r, "a_points", p->a.count);
    fact_u64(r, "b_g1_points", p->b_g1.count);
    fact_u64(r, "b_g2_points", p->b_g2.count);
    cuzk_status status = CUZK_OK;
    if (args->check) {
        status = groth16_params_check(host, p, CURVE_CHECK_SUBGROUP, err);
        if (status == CUZK_OK) fact_text(r, "points", "every one on the curve and in its group");
    }
    groth16_params_close(host, p);
    return status;
}

static cuzk_status inspect_proof(const file_map *map, report *r, cuzk_error *err) {
    fact_text(r, "kind", "Groth16 proofs");
    fact_u64(r, "partitions", map->bytes / GROTH16_PROOF_BYTES);
    for (size_t k = 0; k < map->bytes / GROTH16_PROOF_BYTES; k++) {
        groth16_proof proof;
        const cuzk_status status =
            groth16_proof_read(&proof, map->data + k * GROTH16_PROOF_BYTES, err);
        if (status != CUZK_OK) return cuzk_error_context(err, status, "partition %zu", k);
    }
    fact_text(r, "encoding", "points are canonical and in their groups");
    return CUZK_OK;
}

static cuzk_status inspect_circuit(const cuzk_host *host, const char *path, report *r,
                                   cuzk_error *err) {
    r1cs *c;
    CUZK_TRY(r1cs_load(host, path, &c, err));
    fact_text(r, "kind", "circuit cache");
    fact_text(r, "circuit", c->name);
    fact_u64(r, "constraints", c->rows + c->inputs);
    fact_u64(r, "inputs", c->inputs);
    fact_u64(r, "aux", c->aux);
    fact_u64(r, "field_aux", c->fields);
    fact_u64(r, "nnz_a", c->nnz[R1CS_A]);
    fact_u64(r, "nnz_b", c->nnz[R1CS_B]);
    fact_u64(r, "domain_log2", c->log2_domain);
    r1cs_free(host, c);
    return CUZK_OK;
}

/* ---- recognition ---- */

static bool ends_with(const char *text, const char *end) {
    const size_t n = strlen(text), k = strlen(end);
    return n >= k && strcmp(text + n - k, end) == 0;
}

static bool starts_with(const file_map *map, const char *magic, size_t n) {
    return map->bytes >= n && memcmp(map->data, magic, n) == 0;
}

static bool looks_like_proof(const file_map *map) {
    return map->bytes > 0 && map->bytes % GROTH16_PROOF_BYTES == 0 &&
           map->bytes <= 256 * GROTH16_PROOF_BYTES && (map->data[0] & 0x80) != 0;
}

static bool looks_like_vk(const file_map *map) {
    return map->bytes > GROTH16_VK_BYTES(0) && (map->bytes - GROTH16_VK_BYTES(0)) % 96 == 0 &&
           load_be32(map->data + GROTH16_VK_BYTES(0) - 4) ==
               (map->bytes - GROTH16_VK_BYTES(0)) / 96;
}

/* By the count of ic points in the key at its head: a circuit has at most some thousand inputs. */
static bool looks_like_params(const file_map *map) {
    if (map->bytes <= GROTH16_VK_BYTES(1)) return false;
    const uint32_t n_ic = load_be32(map->data + GROTH16_VK_BYTES(0) - 4);
    return n_ic > 0 && n_ic <= 1u << 20 && map->bytes > GROTH16_VK_BYTES(n_ic);
}

static cuzk_status dispatch(const cuzk_host *host, const inspect_args *args, const file_map *map,
                            report *r, cuzk_error *err) {
    if (map->bytes == 0) return cuzk_fail(err, CUZK_ERR_FORMAT, "the file is empty");
    if (starts_with(map, R1CS_CACHE_MAGIC, 8)) return inspect_circuit(host, args->path, r, err);
    if (map->data[0] == '{' || starts_with(map, POREP_C1_MAGIC, 8))
        return inspect_c1(host, args, r, err);
    if (ends_with(args->path, ".params")) return inspect_params(host, args, r, err);
    if (ends_with(args->path, ".vk") || looks_like_vk(map))
        return inspect_vk(host, map, args->path, r, err);
    if (looks_like_proof(map)) return inspect_proof(map, r, err);
    if (looks_like_params(map)) return inspect_params(host, args, r, err);
    return cuzk_fail(err, CUZK_ERR_FORMAT,
                     "not a C1 output, parameter file, verifying key, proof or circuit cache "
                     "(%zu bytes)",
                     map->bytes);
}

static cuzk_status digests(const cuzk_host *host, const file_map *map, report *r, cuzk_error *err) {
    sha256_ctx sha;
    blake2b_ctx blake;
    uint8_t digest[64];
    sha256_init(&sha);
    blake2b_init(&blake, 64, NULL, 0);
    for (size_t at = 0; at < map->bytes;) {
        const size_t n = map->bytes - at < (1u << 22) ? map->bytes - at : (1u << 22);
        if (cuzk_host_cancelled(host)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "cancelled");
        sha256_update(&sha, map->data + at, n);
        blake2b_update(&blake, map->data + at, n);
        at += n;
        cuzk_host_progress(host, "digest", at, map->bytes);
    }
    sha256_final(&sha, digest);
    fact_hex(r, "sha256", digest, 32);
    blake2b_final(&blake, digest);
    /* Filecoin's parameter manifest: the first 16 bytes of BLAKE2b-512. */
    char hex[33];
    bool is_vk;
    cli_hex(hex, digest, 16);
    fact_text(r, "manifest_digest", hex);
    const char *circuit = manifest_circuit_of(hex, &is_vk);
    if (circuit != NULL) {
        char text[64];
        (void)snprintf(text, sizeof text, "%s %s", circuit, is_vk ? "verifying key" : "parameters");
        fact_text(r, "published_as", text);
    }
    return CUZK_OK;
}

static int run(int argc, char **argv, const cli_command *self) {
    inspect_args args = {0};
    static cli_list rest;
    const cli_option options[] = {
        {CLI_FLAG, "json", NULL, "facts as JSON on standard output", &args.json, 0, 0, false},
        {CLI_FLAG, "check", NULL,
         "parameters: also check that every point is on the curve and in\nits group (slow)",
         &args.check, 0, 0, false},
        {CLI_FLAG, "no-digest", NULL, "leave out the digests of the whole file", &args.no_digest, 0,
         0, false},
    };
    int code;
    if (!cli_parse(argc, argv, self, options, 3, &rest, 1, &code)) return code;
    if (rest.n != 1) return cli_usage(self, "a file is needed");
    args.path = rest.items[0];

    cli_session s;
    file_map map;
    cuzk_error err = {0};
    if (cli_session_open(&s, 0, false, &err) != CUZK_OK) return cli_report(self, &err);
    cuzk_status status = file_map_open(args.path, &map, &err);
    if (status == CUZK_OK) {
        report r = {.json = args.json, .j = {.file = stdout}};
        if (r.json) json_out_object(&r.j, NULL);
        fact_text(&r, "file", args.path);
        fact_u64(&r, "bytes", map.bytes);
        status = dispatch(s.host, &args, &map, &r, &err);
        if (status == CUZK_OK && !args.no_digest) status = digests(s.host, &map, &r, &err);
        if (status != CUZK_OK) fact_text(&r, "problem", err.text);
        if (r.json) json_out_end_object(&r.j);
        file_map_close(&map);
    }
    cli_session_close(&s);
    if (status == CUZK_OK) return EXIT_OK;
    if (strstr(err.text, args.path) == NULL)
        (void)cuzk_error_context(&err, status, "%s", args.path);
    return cli_report(self, &err);
}

const cli_command cmd_inspect = {
    .name = "inspect",
    .summary = "say what a file is: C1, .params, .vk, proof, circuit cache",
    .about = "Shows what FILE is, its sizes, counts and digests, and what is wrong with it.",
    .run = run,
};
