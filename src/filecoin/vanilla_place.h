/* Names of places in nested data, put together only when something is wrong: every level of a
 * decoder or check prepends its own part to the text of the level below, so that it reads
 * "vanilla_proofs[0][1].comm_r_last_proof.path[3].hashes[2]: value ...". */
#ifndef CUZK_FILECOIN_VANILLA_PLACE_H
#define CUZK_FILECOIN_VANILLA_PLACE_H

#include "base/status.h"

/* Puts the formatted part in front of err's text (err may be NULL); returns status. */
cuzk_status vanilla_place(cuzk_error *err, cuzk_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Runs a step; when it fails, names its place and returns. */
#define TRY_AT(err, step, ...)                                                                     \
    do {                                                                                           \
        const cuzk_status try_at_status_ = (step);                                                 \
        if (try_at_status_ != CUZK_OK) return vanilla_place((err), try_at_status_, __VA_ARGS__);   \
    } while (0)

#endif
