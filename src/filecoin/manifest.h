/* Which published parameter file is this? */
#ifndef CUZK_FILECOIN_MANIFEST_H
#define CUZK_FILECOIN_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>

/* digest: 32 hex digits, the first 16 bytes of BLAKE2b-512 over the file. Returns the circuit id of
 * the published .params or .vk file (rust-fil-proofs parameters.json) with that digest, or NULL. */
const char *manifest_circuit_of(const char *digest, bool *is_vk);

#endif
