/* The circuits behind the published parameters, each as a cs_circuit whose state is made from a
 * shape alone (recording) or from a vanilla proof's partition (witnessing). */
#ifndef CUZK_FILECOIN_CIRCUITS_H
#define CUZK_FILECOIN_CIRCUITS_H

#include "filecoin/shape.h"
#include "filecoin/vanilla.h"
#include "r1cs/cs.h"

typedef struct filecoin_circuit filecoin_circuit; /* opaque; owns the state */

/* For recording: no values. */
cuzk_status filecoin_circuit_new(const cuzk_host *host, const circuit_id *id,
                                 filecoin_circuit **out, cuzk_error *err);
/* Zeroes the values, then frees; c may be NULL. */
void filecoin_circuit_free(const cuzk_host *host, filecoin_circuit *c);
const cs_circuit *filecoin_circuit_cs(const filecoin_circuit *c);

/* For witnessing one partition: the same circuit with a job's values bound to it, which are
 * borrowed until the witness is made. A circuit serves one r1cs_witness at a time.
 * CUZK_ERR_MISMATCH: the proof's shape is not the circuit's; the text names the part. Whether the
 * values satisfy the circuit only r1cs_check can tell. */
cuzk_status filecoin_circuit_bind_porep(filecoin_circuit *c, const porep_c1 *c1, uint32_t partition,
                                        cuzk_error *err);
/* sectors: the partition's chunk; fewer than the circuit's sectors repeats the last one. Winning:
 * one sector, whose 66 paths become the circuit's sectors. */
cuzk_status filecoin_circuit_bind_post(filecoin_circuit *c, const post_sector *sectors,
                                       uint32_t n_sectors, cuzk_error *err);
/* k: the partition. Poseidon variant: d_new are paths of tree R's shape, there are no apex leaves,
 * and the one partition (k = 0) has all challenges. */
cuzk_status filecoin_circuit_bind_snap(filecoin_circuit *c, const snap_partition *p, uint32_t k,
                                       const node32 comm_r_old, const node32 comm_r_new,
                                       const node32 comm_d_new, cuzk_error *err);

#endif
