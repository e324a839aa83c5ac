/* What is behind the opaque `cs`: shared by the recorder, the witness writer and the LC code. */
#ifndef CUZK_R1CS_CS_INTERNAL_H
#define CUZK_R1CS_CS_INTERNAL_H

#include "r1cs/cs.h"

/* Most variables of one kind: an index must fit beside three tag bits in a column. */
#define CS_MAX_VARS ((uint64_t)1 << 29)

struct cs_recorder;

struct cs {
    const cuzk_host *host;
    struct cs_recorder *recorder; /* NULL while witnessing */
    cuzk_status status;
    char text[256];
    cs_lc scratch[CS_SCRATCH_LCS];

    uint64_t aux, inputs; /* the next variable of each kind, absolute */

    /* Witness writer: where one instance of a block may write. */
    uint64_t aux_end, input_end;    /* first variable behind the instance */
    uint64_t *bits;                 /* the whole witness */
    uint64_t first_word, last_word; /* of bits: may be shared with a neighbouring instance */
    uint64_t pending;               /* bits of word aux / 64 below aux */
    const uint64_t *field_map;      /* class of every variable as recorded */
    fr_t *next_field, *field_end;   /* FIELD values of this instance */
    fr_t *input_values;             /* all inputs */
    void *memory;                   /* cs_memory */
    size_t memory_bytes;
};

/* Releases the scratch LCs and the memory. */
void cs_release(cs *c);

/* The recorder's halves of the functions in cs.h. */
cs_var cs_record_aux(cs *c, uint64_t n, bool field);
cs_var cs_record_input(cs *c);

/* A sort key in the order of terms in a row: inputs ascending, then aux ascending. */
static inline uint32_t cs_var_key(cs_var v) {
    return v ^ CS_INPUT_FLAG;
}

#endif
