/* How much memory a circuit takes, before it is recorded: what an engine reserves. */
#ifndef CUZK_PROVER_SIZE_H
#define CUZK_PROVER_SIZE_H

#include "filecoin/shape.h"

typedef struct circuit_size {
    uint64_t witness_bytes; /* one compact witness, exact */
    uint64_t circuit_bytes; /* the recorded circuit without C, an upper bound */
} circuit_size;

/* From a table (the tests compare it with recorded circuits). A size
 * that is not in the table is CUZK_ERR_UNSUPPORTED. */
cuzk_status circuit_size_of(const circuit_id *id, circuit_size *out, cuzk_error *err);

#endif
