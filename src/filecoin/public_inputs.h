/* Public inputs and challenges as a verifier derives them (REFERENCE section 5). ONE is not among
 * the inputs. */
#ifndef CUZK_FILECOIN_PUBLIC_INPUTS_H
#define CUZK_FILECOIN_PUBLIC_INPUTS_H

#include "base/host.h"
#include "field/fr.h"
#include "filecoin/shape.h"
#include "filecoin/vanilla.h"

/* prover_id from a miner actor id: LEB128, left-aligned, zero-filled. */
void prover_id_from_miner(uint64_t miner_id, node32 out);
void porep_replica_id(const registered_seal *seal, const node32 prover_id, uint64_t sector_number,
                      const node32 ticket, const node32 comm_d, node32 out);

/* What a PoRep verifier knows. */
typedef struct porep_public {
    registered_seal seal;
    node32 comm_r, comm_d, replica_id, seed;
} porep_public;
/* Challenges of partition k: seal.sector->porep_challenges values. */
cuzk_status porep_challenges(const porep_public *pub, uint32_t k, uint64_t *out, cuzk_error *err);
/* 3 + 18 * challenges inputs of partition k. */
size_t porep_public_input_count(const sector_shape *sector);
cuzk_status porep_public_inputs(const cuzk_host *host, const porep_public *pub, uint32_t k,
                                fr_t *out, cuzk_error *err);
void porep_public_of_c1(const porep_c1 *c1, porep_public *out);
/* partitions of a proof in this mode (13/126 for non-interactive) */
uint32_t porep_public_partitions(const registered_seal *seal);

/* PoSt leaf challenge. challenge_index by the API's rule (REFERENCE 5.5). */
uint64_t post_leaf_challenge(const sector_shape *sector, const node32 randomness,
                             uint64_t sector_number, uint64_t challenge_index);
/* Index of challenge n of the sector_index-th sector of a proof: n for winning and for window
 * API 1.2, else counted over all sectors. */
uint64_t post_challenge_index(const registered_post *post, size_t sector_index, uint32_t n);
typedef struct post_public_sector {
    uint64_t sector_id;
    node32 comm_r;
} post_public_sector;
size_t post_public_input_count(const registered_post *post);
/* Inputs of partition k over all sectors of the proof (chunked and padded here). */
cuzk_status post_public_inputs(const registered_post *post, const node32 randomness,
                               const post_public_sector *sectors, size_t n_sectors, uint32_t k,
                               fr_t *out, cuzk_error *err);
uint32_t post_partitions(const registered_post *post, size_t n_sectors);

/* Snap: 4 inputs. */
cuzk_status snap_public_inputs(const sector_shape *sector, uint32_t k, const node32 comm_r_old,
                               const node32 comm_r_new, const node32 comm_d_new, fr_t out[4],
                               cuzk_error *err);
/* Challenges of partition k: sector->snap_challenges values. */
cuzk_status snap_challenges(const sector_shape *sector, uint32_t k, const node32 comm_r_new,
                            uint64_t *out, cuzk_error *err);

/* Does a vanilla proof say what the public data demand? Challenges, roots, paths, column hashes,
 * labels, encoding: the checks that turn a corrupt input into a MISMATCH that names its place
 * instead of an unsatisfied row. Values must be canonical, as the decoders leave them. */
cuzk_status porep_c1_check(const cuzk_host *host, const porep_c1 *c1, cuzk_error *err);
/* v: all sectors of the proof, in order (winning: one). */
cuzk_status post_vanilla_check(const cuzk_host *host, const registered_post *post,
                               const node32 randomness, const post_vanilla *v, cuzk_error *err);
cuzk_status snap_vanilla_check(const cuzk_host *host, const snap_vanilla *v,
                               const node32 comm_r_old, const node32 comm_r_new,
                               const node32 comm_d_new, cuzk_error *err);
/* SnapDeals' phi = H2*(comm_d_new, comm_r_old) and rho of a node: H2*(phi, its high bits). Values
 * canonical. */
void snap_phi(const node32 comm_d_new, const node32 comm_r_old, fr_t *out);
void snap_rho(const sector_shape *sector, const fr_t *phi, uint64_t node, fr_t *out);

#endif
