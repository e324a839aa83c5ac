/* cuzk synth porep|winning|window|snap: consistent vanilla proofs of any sector size, unsealed. */
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "cli/cli.h"
#include "filecoin/synth.h"
#include "filecoin/vanilla.h"

#ifdef CUZK_HAVE_FORMATS
#include "formats/blob_list.h"
#include "formats/c1_json.h"
#include "formats/small_json.h"
#endif

typedef struct synth_args {
    proof_kind kind;
    const char *sector_size, *out, *meta, *seed;
    uint64_t miner, sector, n_sectors, registered;
    bool wrapper, poseidon;
    node32 seed_bytes;
} synth_args;

/* ---- PoRep ---- */

static cuzk_status write_binary(const cuzk_host *host, const porep_c1 *c1, const char *path,
                                cuzk_error *err) {
    const size_t bytes = porep_c1_binary_bytes(c1);
    void *memory;
    CUZK_TRY(cuzk_host_alloc(host, &memory, bytes, 1, "binary C1", err));
    cuzk_status status = porep_c1_write_binary(c1, memory, bytes, err);
    if (status == CUZK_OK) status = file_write_all(path, memory, bytes, err);
    cuzk_host_free(host, memory, bytes, 1);
    return status;
}

static cuzk_status write_c1(const cuzk_host *host, const synth_args *args, const porep_c1 *c1,
                            cuzk_error *err) {
    const size_t n = strlen(args->out);
    if (n < 5 || strcmp(args->out + n - 5, ".json") != 0)
        return write_binary(host, c1, args->out, err);
#ifdef CUZK_HAVE_FORMATS
    const c1_source wrap = {
        .wrapped = true, .sector_number = args->sector, .sector_size = c1->seal.sector->bytes};
    return porep_c1_write_json_file(c1, args->wrapper ? &wrap : NULL, args->out, err);
#else
    return cuzk_fail(err, CUZK_ERR_UNSUPPORTED,
                     "%s: this build writes no JSON; name the file .bin for the binary form",
                     args->out);
#endif
}

static cuzk_status synth_porep(const cuzk_host *host, const synth_args *args,
                               const sector_shape *sector, cuzk_error *err) {
    registered_seal seal;
    porep_c1 *c1;
    char name[64];
    snprintf(name, sizeof name, "StackedDrg%sV1_1", sector->name);
    CUZK_TRY(registered_seal_by_name(name, &seal, err));
    CUZK_TRY(porep_synth(host, &seal, args->miner, args->sector, args->seed_bytes, &c1, err));
    cuzk_status status = write_c1(host, args, c1, err);
    if (status == CUZK_OK)
        fprintf(stderr, "%s: %s, %u partitions of %u challenges\n", args->out, seal.name,
                c1->partitions, c1->challenges);
    porep_c1_free(host, c1);
    return status;
}

/* ---- PoSt and SnapDeals ---- */

#ifdef CUZK_HAVE_FORMATS

static uint64_t sector_index(const sector_shape *sector) {
    static const uint64_t sizes[] = {2048, 8u << 20, 512u << 20, 32ULL << 30, 64ULL << 30};
    for (uint64_t i = 0; i < 5; i++)
        if (sizes[i] == sector->bytes) return i;
    return 5;
}

/* Write n blobs of equal size, each made by write(v, i, out), as one JSON array. */
static cuzk_status write_blobs(const cuzk_host *host, const void *v, size_t n, size_t bytes,
                               void (*write)(const void *v, uint32_t i, uint8_t *out),
                               const char *path, cuzk_error *err) {
    void *memory, *data, *sizes;
    CUZK_TRY(cuzk_host_alloc(host, &memory, n, bytes, "vanilla proofs", err));
    cuzk_status status = cuzk_host_alloc(host, &data, n, sizeof(uint8_t *), "list", err);
    if (status == CUZK_OK) {
        status = cuzk_host_alloc(host, &sizes, n, sizeof(size_t), "list", err);
        if (status == CUZK_OK) {
            for (size_t i = 0; i < n; i++) {
                uint8_t *at = (uint8_t *)memory + i * bytes;
                write(v, (uint32_t)i, at);
                ((uint8_t **)data)[i] = at;
                ((size_t *)sizes)[i] = bytes;
            }
            status = blob_list_write_json_file((const uint8_t *const *)data, sizes, n, path, err);
            cuzk_host_free(host, sizes, n, sizeof(size_t));
        }
        cuzk_host_free(host, data, n, sizeof(uint8_t *));
    }
    cuzk_host_free(host, memory, n, bytes);
    return status;
}

static void write_post_blob(const void *v, uint32_t i, uint8_t *out) {
    post_sector_write_bincode(v, i, out);
}
static void write_snap_blob(const void *v, uint32_t k, uint8_t *out) {
    snap_partition_write_bincode(v, k, out);
}

/* The public data of a PoSt: ids and comm_r's of its sectors. */
static cuzk_status write_post_meta(const cuzk_host *host, const synth_args *args,
                                   const registered_post *post, const node32 randomness,
                                   const post_vanilla *v, cuzk_error *err) {
    public_meta meta = {.kind = args->kind, .post = *post, .n_sectors = v->n_sectors};
    void *memory;
    memcpy(meta.randomness, randomness, sizeof meta.randomness);
    CUZK_TRY(cuzk_host_alloc(host, &memory, v->n_sectors, sizeof *meta.sectors, "sectors", err));
    meta.sectors = memory;
    for (uint32_t i = 0; i < v->n_sectors; i++) {
        meta.sectors[i].sector_id = v->sectors[i].sector_id;
        memcpy(meta.sectors[i].comm_r, v->sectors[i].comm_r, sizeof(node32));
    }
    const cuzk_status status = public_meta_write_file(&meta, args->meta, err);
    cuzk_host_free(host, memory, v->n_sectors, sizeof *meta.sectors);
    return status;
}

static cuzk_status synth_post(const cuzk_host *host, const synth_args *args,
                              const sector_shape *sector, cuzk_error *err) {
    const bool window = args->kind == PROOF_WINDOW;
    const uint64_t n = !window                ? 1
                       : args->n_sectors != 0 ? args->n_sectors
                                              : sector->window_sectors;
    registered_post post;
    node32 randomness;
    post_vanilla *v;
    /* Registered numbers: winning 0.., window with the newer challenge rule 10.. */
    CUZK_TRY(registered_post_by_number(sector_index(sector) + (window ? 10 : 0), &post, err));
    CUZK_TRY(post_synth(host, &post, args->sector, n, args->seed_bytes, randomness, &v, err));
    cuzk_status status =
        write_blobs(host, v, v->n_sectors, post_sector_bincode_bytes(sector, v->sectors[0].n_paths),
                    write_post_blob, args->out, err);
    if (status == CUZK_OK) status = write_post_meta(host, args, &post, randomness, v, err);
    post_vanilla_free(host, v);
    return status;
}

static cuzk_status synth_snap(const cuzk_host *host, const synth_args *args,
                              const sector_shape *sector, cuzk_error *err) {
    public_meta meta = {.kind = PROOF_SNAP, .update_sector = sector};
    snap_vanilla *v;
    if (args->poseidon) sector = sector_shape_snap_poseidon(sector);
    CUZK_TRY(snap_synth(host, sector, args->seed_bytes, meta.comm_r_old, meta.comm_r_new,
                        meta.comm_d_new, &v, err));
    const cuzk_status status =
        write_blobs(host, v, v->n_partitions, snap_partition_bincode_bytes(sector), write_snap_blob,
                    args->out, err);
    snap_vanilla_free(host, v);
    return status == CUZK_OK ? public_meta_write_file(&meta, args->meta, err) : status;
}

#endif

static cuzk_status synth(const cuzk_host *host, synth_args *args, cuzk_error *err) {
    const sector_shape *sector = sector_shape_by_name(args->sector_size);
    if (sector == NULL)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "no sector size '%s' (2KiB ... 64GiB)",
                         args->sector_size);
    if (args->seed == NULL) {
        if (host->random(host->self, args->seed_bytes, sizeof args->seed_bytes) != CUZK_OK)
            return cuzk_fail(err, CUZK_ERR_IO, "no randomness from the operating system");
    } else if (!cli_parse_hex(args->seed, args->seed_bytes, sizeof args->seed_bytes)) {
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "--seed: expected 64 hex digits");
    }
    if (args->kind == PROOF_POREP) return synth_porep(host, args, sector, err);
#ifdef CUZK_HAVE_FORMATS
    return args->kind == PROOF_SNAP ? synth_snap(host, args, sector, err)
                                    : synth_post(host, args, sector, err);
#else
    return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "this build writes no JSON (yajl)");
#endif
}

static int run(int argc, char **argv, const cli_command *self) {
    synth_args args = {.kind = self == &cmd_synth_porep     ? PROOF_POREP
                               : self == &cmd_synth_winning ? PROOF_WINNING
                               : self == &cmd_synth_window  ? PROOF_WINDOW
                                                            : PROOF_SNAP,
                       .miner = 1000,
                       .sector = 1};
    const bool porep = args.kind == PROOF_POREP;
    cli_option options[] = {
        {CLI_TEXT, "sector-size", "SIZE", "2KiB, 8MiB, 512MiB, 32GiB or 64GiB", &args.sector_size,
         0, 0, true},
        {CLI_TEXT, "out", "FILE",
         porep ? "C1 output: JSON when the name ends in .json, else cuzk's binary\nform"
               : "vanilla proofs: JSON array of base64",
         &args.out, 0, 0, true},
        {CLI_TEXT, "seed", "HEX", "32 bytes: the same input again (default: random)", &args.seed, 0,
         0, false},
        /* more by kind */
        {0},
        {0},
        {0}};
    size_t n = 3;
    if (porep) {
        options[n++] =
            (cli_option){CLI_COUNT,   "miner", "ID",       "miner actor id (default 1000)",
                         &args.miner, 0,       UINT64_MAX, false};
        options[n++] =
            (cli_option){CLI_FLAG,      "wrapper", NULL, "JSON: wrap it as lotus-bench does",
                         &args.wrapper, 0,         0,    false};
    } else {
        options[n++] = (cli_option){CLI_TEXT,   "meta", "FILE", "where the public data go (JSON)",
                                    &args.meta, 0,      0,      true};
    }
    if (args.kind == PROOF_SNAP)
        options[n++] = (cli_option){
            CLI_FLAG,       "poseidon", NULL, "the all-Poseidon variant of the circuit",
            &args.poseidon, 0,          0,    false};
    else
        options[n++] = (cli_option){
            CLI_COUNT, "sector",       "N",  "(first) sector number (default 1)", &args.sector,
            0,         UINT64_MAX / 2, false};
    if (args.kind == PROOF_WINDOW)
        options[n++] = (cli_option){
            CLI_COUNT,       "sectors", "N",    "number of sectors (default: one full partition)",
            &args.n_sectors, 1,         100000, false};
    int code;
    if (!cli_parse(argc, argv, self, options, n, NULL, 0, &code)) return code;

    cli_session s;
    cuzk_error err = {0};
    if (cli_session_open(&s, 0, false, &err) != CUZK_OK) return cli_report(self, &err);
    const cuzk_status status = synth(s.host, &args, &err);
    cli_session_close(&s);
    return status == CUZK_OK ? EXIT_OK : cli_report(self, &err);
}

#define SYNTH_COMMAND(id, kind, what)                                                              \
    const cli_command cmd_synth_##id = {                                                           \
        .name = "synth " kind,                                                                     \
        .summary = "make a consistent synthetic " what,                                            \
        .about = "Makes a test input of any sector size without sealing a sector: random leaves\n" \
                 "and siblings under sparse Merkle trees, with every constraint satisfied.",       \
        .run = run,                                                                                \
    }
SYNTH_COMMAND(porep, "porep", "PoRep C1 output");
SYNTH_COMMAND(winning, "winning", "WinningPoSt vanilla proof");
SYNTH_COMMAND(window, "window", "WindowPoSt vanilla proof");
SYNTH_COMMAND(snap, "snap", "SnapDeals vanilla proof");
