/* Synthetic vanilla proofs of any sector size, without sealing: random leaves and siblings under
 * sparse Merkle trees that hold exactly the challenged paths. Everything a verifier derives
 * (challenges, parents, labels, encodings, commitments) is what it would derive for a real sector;
 * only the data nobody looks at do not exist. */
#ifndef CUZK_FILECOIN_SYNTH_H
#define CUZK_FILECOIN_SYNTH_H

#include "base/host.h"
#include "filecoin/shape.h"
#include "filecoin/vanilla.h"

/* Everything random comes from seed (32 bytes): the same seed, the same proof. */

/* The data are zeros (a CC sector), so comm_d, and with it replica_id and the challenges, are known
 * before the trees. Synthetic and non-interactive challenges depend on comm_r, which depends on the
 * challenged columns: UNSUPPORTED. */
cuzk_status porep_synth(const cuzk_host *host, const registered_seal *seal, uint64_t miner_id,
                        uint64_t sector_number, const node32 seed, porep_c1 **out, cuzk_error *err);

/* n_sectors sectors (winning: 1) with ids first_sector, first_sector + 1, ...; randomness is given
 * back. */
cuzk_status post_synth(const cuzk_host *host, const registered_post *post, uint64_t first_sector,
                       size_t n_sectors, const node32 seed, node32 randomness, post_vanilla **out,
                       cuzk_error *err);

/* All partitions of an update, or of its all-Poseidon variant (sector_shape_snap_poseidon).
 * Challenges depend on comm_r_new: see synth_snap.c for the trees that make this possible. */
cuzk_status snap_synth(const cuzk_host *host, const sector_shape *sector, const node32 seed,
                       node32 comm_r_old, node32 comm_r_new, node32 comm_d_new, snap_vanilla **out,
                       cuzk_error *err);

#endif
