/* The JSON forms of a PoRep C1 output (REFERENCE 4.1, 4.2): SealCommitPhase1Output as
 * rust-filecoin-proofs-api and Curio write it, and lotus-bench's wrapper with it in base64. */
#ifndef CUZK_FORMATS_C1_JSON_H
#define CUZK_FORMATS_C1_JSON_H

#include "filecoin/vanilla.h"

/* What stood around the C1 output. */
typedef struct c1_source {
    bool wrapped; /* {"SectorNum", "Phase1Out", "SectorSize"}: the numbers below */
    uint64_t sector_number, sector_size;
} c1_source;

/* Plain or wrapped; keys in any order, unknown keys ignored, duplicate keys refused. Every length
 * and index is checked and every field element is < r, else the error names the place, such as
 * "vanilla_proofs.StackedDrg2KiBV1[0][1].comm_r_last_proof.data.Single.path.path[0].hashes[3]".
 * source may be NULL. Allocates through yajl (malloc) beside host: small buffers only. */
cuzk_status porep_c1_read_json(const cuzk_host *host, const uint8_t *data, size_t bytes,
                               porep_c1 **out, c1_source *source, cuzk_error *err);
/* JSON of either form, or our binary form, told apart by the first bytes. source may be NULL. */
cuzk_status porep_c1_read_any(const cuzk_host *host, const uint8_t *data, size_t bytes,
                              porep_c1 **out, c1_source *source, cuzk_error *err);
/* The file at path, in any of the three forms; the error begins with the path. */
cuzk_status porep_c1_read_file(const cuzk_host *host, const char *path, porep_c1 **out,
                               c1_source *source, cuzk_error *err);

/* Writes the file at path (atomically). wrap NULL: the plain form, byte for byte as serde_json
 * writes it; else the wrapper with the given numbers. */
cuzk_status porep_c1_write_json_file(const porep_c1 *c1, const c1_source *wrap, const char *path,
                                     cuzk_error *err);

#endif
