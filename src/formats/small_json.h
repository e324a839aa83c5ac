/* The small JSON files of the command line: public data, set-up secrets, fixed r and s. Unknown
 * keys are ignored, duplicate keys refused; errors begin with the path and name the key. */
#ifndef CUZK_FORMATS_SMALL_JSON_H
#define CUZK_FORMATS_SMALL_JSON_H

#include "filecoin/public_inputs.h"
#include "groth16/groth16.h"

/* What a verifier knows, as in the meta.json of tests/data/filecoin. Values are hex of the raw
 * bytes (32 each). Which members are set follows from kind. */
typedef struct public_meta {
    proof_kind kind;
    /* PROOF_POREP: registered_proof (name or number), comm_r, comm_d, seed, and replica_id or
     * (miner_id or prover_id), sector_id and ticket; when both are there they must agree. */
    porep_public porep;
    bool has_porep_ids; /* miner_id or prover_id, sector_id and ticket were there */
    node32 prover_id, ticket;
    uint64_t sector_number;
    /* PROOF_WINNING, PROOF_WINDOW: registered_proof, randomness, sectors: [{sector_id, comm_r}] */
    registered_post post;
    node32 randomness;
    post_public_sector *sectors; /* owned */
    size_t n_sectors;
    /* PROOF_SNAP: registered_proof, or sector_size; comm_r_old, comm_r_new, comm_d_new */
    const sector_shape *update_sector;
    node32 comm_r_old, comm_r_new, comm_d_new;
} public_meta;

/* Reads what `kind` needs; a missing or malformed key is an error. */
cuzk_status public_meta_read(const cuzk_host *host, proof_kind kind, const char *json, size_t bytes,
                             public_meta *out, cuzk_error *err);
cuzk_status public_meta_read_file(const cuzk_host *host, proof_kind kind, const char *path,
                                  public_meta *out, cuzk_error *err);
/* The same members as JSON, written atomically. */
cuzk_status public_meta_write_file(const public_meta *meta, const char *path, cuzk_error *err);
void public_meta_free(const cuzk_host *host, public_meta *meta);

/* {"alpha": HEX, "beta": .., "gamma": .., "delta": .., "tau": ..}: 32 bytes little-endian, < r. */
cuzk_status secrets_file_read(const char *path, groth16_secrets *out, cuzk_error *err);
/* [{"r": HEX, "s": HEX}, ...]: exactly n entries, one for each partition. */
cuzk_status fixed_rs_file_read(const char *path, groth16_blinding *out, size_t n, cuzk_error *err);

#endif
