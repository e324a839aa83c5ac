/* Poseidon in a circuit: neptune's src/circuit.rs, not circuit2 (REFERENCE 7.3, trap T1). */
#ifndef CUZK_FILECOIN_GADGET_POSEIDON_H
#define CUZK_FILECOIN_GADGET_POSEIDON_H

#include "filecoin/gadget_num.h"
#include "filecoin/poseidon.h"

/* Hash of as many numbers as the kind's arity. 31 t + 4 R_P - 2 variables and rows. */
gadget_num gadget_poseidon(cs *c, poseidon_kind kind, const gadget_num *in);
/* Witnessing only: the same from its values, which poseidon_trace_lanes made of the inputs. */
gadget_num gadget_poseidon_traced(cs *c, poseidon_kind kind, const fr_t *trace);

#endif
