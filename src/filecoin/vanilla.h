/* Vanilla proofs in memory: what the wire formats decode to and the circuits read. All hash values
 * are raw 32-byte little-endian field elements, checked < r by the decoders. One arena holds a
 * whole proof; freeing it frees everything. */
#ifndef CUZK_FILECOIN_VANILLA_H
#define CUZK_FILECOIN_VANILLA_H

#include "base/host.h"
#include "filecoin/shape.h"

typedef uint8_t node32[32];

/* A Merkle path. Siblings are concatenated from the leaf upward, arity - 1 for each level (base
 * levels, then sub, then top; tree D: arity 2 throughout), ascending within a level. index is the
 * leaf index: the levels' child positions packed LSB first. */
typedef struct merkle_path {
    const node32 *siblings;
    uint32_t n_siblings;
    uint64_t index;
    node32 leaf, root;
} merkle_path;

/* ---- PoRep (SealCommitPhase1Output) ---- */

typedef struct porep_column {
    const node32 *rows; /* layers */
    merkle_path path;   /* in tree C; path.leaf is the column hash as sent */
    uint32_t index;     /* as sent */
} porep_column;

typedef struct porep_labeling {
    const node32 *parents; /* 37 */
    uint32_t layer_index;
    uint64_t node;
} porep_labeling;

typedef struct porep_challenge {
    uint64_t challenge;
    merkle_path comm_d, comm_r_last;
    porep_column c_x;
    porep_column drg[POREP_DRG_PARENTS], exp[POREP_EXP_PARENTS];
    /* As sent; circuits ignore them. labels: layers entries. */
    const porep_labeling *labels;
    porep_labeling encoding;
} porep_challenge;

typedef struct porep_c1 {
    registered_seal seal;
    node32 comm_r, comm_d, replica_id, seed, ticket;
    uint32_t partitions, challenges; /* challenges per partition */
    porep_challenge *proofs;         /* partitions * challenges, partition-major */
    void *arena;
} porep_c1;

/* ---- PoSt (FallbackPoStSectorProof) ---- */

typedef struct post_sector {
    uint64_t sector_id;
    node32 comm_r, comm_c, comm_r_last;
    uint32_t n_paths; /* window 10, winning 66 */
    merkle_path *paths;
} post_sector;

typedef struct post_vanilla {
    const sector_shape *sector;
    uint32_t n_sectors;
    post_sector *sectors;
    void *arena;
} post_vanilla;

/* ---- SnapDeals (update PartitionProof) ---- */

/* The all-Poseidon variant (its PartitionProof has no apex leaves) is the one whose sector is a
 * sector_shape_snap_poseidon. */
typedef struct snap_challenge {
    merkle_path r_old, d_new, r_new;
} snap_challenge;
typedef struct snap_partition {
    node32 comm_c;
    uint32_t n_apex, n_challenges;
    const node32 *apex;
    snap_challenge *challenges;
} snap_partition;
typedef struct snap_vanilla {
    const sector_shape *sector;
    uint32_t n_partitions;
    snap_partition *partitions;
    void *arena;
} snap_vanilla;

/* Room for the proofs of `partitions` partitions: every length and pointer set as the shape fixes
 * them, values zero. For decoders and generators. */
cuzk_status porep_c1_new(const cuzk_host *host, const registered_seal *seal, uint32_t partitions,
                         porep_c1 **out, cuzk_error *err);
cuzk_status post_vanilla_new(const cuzk_host *host, const sector_shape *sector, size_t n_sectors,
                             uint32_t n_paths, post_vanilla **out, cuzk_error *err);
cuzk_status snap_vanilla_new(const cuzk_host *host, const sector_shape *sector, snap_vanilla **out,
                             cuzk_error *err);
/* The writable nodes behind a pointer of a proof made by the functions above. */
static inline node32 *vanilla_fill(const node32 *room) {
    return (node32 *)(uintptr_t)room;
}
static inline porep_labeling *vanilla_fill_labels(const porep_labeling *room) {
    return (porep_labeling *)(uintptr_t)room;
}
/* What every decoder of a C1 output checks at its end: comm_d, comm_r and (where it is used) seed
 * are not all zero. */
cuzk_status porep_c1_check_header(const porep_c1 *c1, cuzk_error *err);

void porep_c1_free(const cuzk_host *host, porep_c1 *c1);
void post_vanilla_free(const cuzk_host *host, post_vanilla *v);
void snap_vanilla_free(const cuzk_host *host, snap_vanilla *v);

/* Bincode decoders (REFERENCE 4.3-4.6), strict: trailing bytes, wrong lengths, indices out of range
 * and values >= r are errors that name field, place (partition, challenge, level) and offset. */
cuzk_status porep_c1_read_bincode(const cuzk_host *host, const registered_seal *seal,
                                  const uint8_t *data, size_t bytes, porep_c1 **out,
                                  cuzk_error *err);
/* blobs: one FallbackPoStSectorProof per sector. */
cuzk_status post_vanilla_read(const cuzk_host *host, const registered_post *post,
                              const uint8_t *const *blobs, const size_t *blob_bytes, size_t n_blobs,
                              post_vanilla **out, cuzk_error *err);
/* blobs: one PartitionProof per partition. */
cuzk_status snap_vanilla_read(const cuzk_host *host, const sector_shape *sector,
                              const uint8_t *const *blobs, const size_t *blob_bytes, size_t n_blobs,
                              snap_vanilla **out, cuzk_error *err);

/* The wire forms of PoSt and SnapDeals proofs (REFERENCE 4.5, 4.6): sizes fixed by the sector, and
 * writers of blob i (room of that size). */
size_t post_sector_bincode_bytes(const sector_shape *sector, uint32_t n_paths);
void post_sector_write_bincode(const post_vanilla *v, uint32_t i, uint8_t *out);
size_t snap_partition_bincode_bytes(const sector_shape *sector);
void snap_partition_write_bincode(const snap_vanilla *v, uint32_t k, uint8_t *out);

/* Our compact binary C1: magic "CUZKC1\0\1", header, then the values that the circuit and verifier
 * use, and a SHA-256. docs/formats.md has the layout. The core reads and writes it with no library.
 */
#define POREP_C1_MAGIC "CUZKC1\0\1"
cuzk_status porep_c1_read_binary(const cuzk_host *host, const uint8_t *data, size_t bytes,
                                 porep_c1 **out, cuzk_error *err);
size_t porep_c1_binary_bytes(const porep_c1 *c1);
cuzk_status porep_c1_write_binary(const porep_c1 *c1, uint8_t *out, size_t bytes, cuzk_error *err);

#endif
