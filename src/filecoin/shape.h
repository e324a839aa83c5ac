/* The proof kinds and sector sizes: every constant a circuit, a file name or a check needs, in one
 * table. Sources: rust-fil-proofs filecoin-proofs/src/constants.rs, storage-proofs-update/src/
 * constants.rs; REFERENCE sections 1 and 2. */
#ifndef CUZK_FILECOIN_SHAPE_H
#define CUZK_FILECOIN_SHAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

/* Numbers of cuzk.v1.ProofKind. */
typedef enum proof_kind {
    PROOF_POREP = 1,
    PROOF_SNAP = 2,
    PROOF_WINDOW = 3,
    PROOF_WINNING = 4
} proof_kind;

/* Merkle trees C and R: base levels of arity 8, then at most one level of arity `sub`, then at most
 * one of arity `top` (0: absent). */
typedef struct tree_shape {
    uint32_t base_levels, sub, top;
} tree_shape;

typedef struct sector_shape {
    uint64_t bytes, nodes;
    const char *name;   /* "32GiB" as in the Rust enums */
    const char *suffix; /* "32g" as in circuit ids */
    tree_shape tree;
    uint32_t tree_d_levels;
    uint32_t layers, porep_partitions, porep_challenges, porep_min_challenges;
    uint32_t ni_partitions;  /* non-interactive PoRep */
    uint32_t window_sectors; /* per partition; 10 challenges a sector */
    /* of an update; no apex leaves: its all-Poseidon variant, whose tree D has the shape of tree R
     */
    uint32_t snap_partitions, snap_challenges, snap_apex_leaves;
    bool published; /* one of the five sizes with published parameters */
} sector_shape;

#define WINNING_SECTORS 66
#define WINDOW_CHALLENGES 10
#define POREP_DRG_PARENTS 6
#define POREP_EXP_PARENTS 8
#define POREP_LABEL_PARENTS 37
#define POREP_MAX_LAYERS 11
#define POREP_MAX_CHALLENGES 18  /* of a partition */
#define SNAP_MAX_CHALLENGES 1376 /* 16 * 86: the Poseidon variant has one partition */

/* NULL when there is no such sector size. */
const sector_shape *sector_shape_by_bytes(uint64_t bytes);
const sector_shape *sector_shape_by_index(size_t index); /* NULL past the end */
/* "2KiB", "32GiB", "32g", "2k" (case-insensitive). */
const sector_shape *sector_shape_by_name(const char *name);

/* The same sector in the all-Poseidon variant of an update (storage-proofs-update src/constants.rs,
 * challenge_count_poseidon): one partition with the challenges of all, no apex leaves. */
const sector_shape *sector_shape_snap_poseidon(const sector_shape *sector);

/* A circuit: kind and sector size. Ids: porep-32g, winning-32g, wpost-32g (also window-32g),
 * snap-32g; snap-poseidon-32g for the variant. */
typedef struct circuit_id {
    proof_kind kind;
    const sector_shape *sector; /* of the variant: sector_shape_snap_poseidon */
    bool snap_poseidon;
} circuit_id;
cuzk_status circuit_id_parse(const char *text, circuit_id *out, cuzk_error *err);
/* Writes the canonical id ("porep-32g", "window-32g", ...) into out[32]. */
void circuit_id_format(const circuit_id *id, char out[32]);
uint32_t circuit_partitions(const circuit_id *id);

/* Parameter file names (REFERENCE 2.1): v28-<prefix>-<sha256hex(identifier)>.{params,vk}. */
void circuit_identifier(const circuit_id *id, char out[512]);
void circuit_cache_id(const circuit_id *id, char out[256]);

/* Registered proof numbers (REFERENCE 1.4). */
typedef enum porep_api { POREP_API_1_0, POREP_API_1_1, POREP_API_1_2 } porep_api;
typedef enum porep_challenge_mode {
    POREP_INTERACTIVE,
    POREP_SYNTHETIC,
    POREP_NON_INTERACTIVE
} porep_challenge_mode;
typedef struct registered_seal {
    uint32_t number;
    const sector_shape *sector;
    porep_api api;
    porep_challenge_mode mode;
    char name[64]; /* "StackedDrg32GiBV1_1" */
} registered_seal;
cuzk_status registered_seal_by_number(uint64_t number, registered_seal *out, cuzk_error *err);
cuzk_status registered_seal_by_name(const char *name, registered_seal *out, cuzk_error *err);
typedef struct registered_post {
    uint32_t number;
    const sector_shape *sector;
    bool window;
    bool api_1_2; /* window challenge index rule */
} registered_post;
cuzk_status registered_post_by_number(uint64_t number, registered_post *out, cuzk_error *err);
cuzk_status registered_post_by_name(const char *name, registered_post *out, cuzk_error *err);
void registered_post_name(const registered_post *post, char out[64]);
cuzk_status registered_update_by_number(uint64_t number, const sector_shape **out, cuzk_error *err);
/* "StackedDrg32GiBV1" -> 3 */
cuzk_status registered_update_by_name(const char *name, uint32_t *number, cuzk_error *err);

#endif
