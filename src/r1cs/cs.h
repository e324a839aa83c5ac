/* The constraint system as a circuit sees it. One piece of circuit code serves two purposes:
 *
 *   recording  - values do not exist; every enforce() is written down, once for each block
 *   witnessing - no constraint exists; every alloc writes a value into a compact witness
 *
 * so shape and witness cannot drift apart. A gadget never branches on a value while recording, and
 * never allocates differently because of a value.
 *
 * A circuit is a list of *blocks*; a block is a stretch of synthesis that is repeated `count` times
 * with the same shape (PoRep: one challenge, 18 times; window PoSt: one sector, 2349 times). Only
 * one instance of a block is recorded: its own variables are stored relative to the instance's
 * first one, variables from earlier count-1 blocks absolutely. That is what makes the 130 M row
 * circuit a matrix of 7 M rows. Where instances read different variables of earlier blocks, the
 * block declares them as *imports*: each instance has its own list of them.
 *
 * Variable order is the order of alloc calls, row order that of enforce calls; inputs and aux are
 * two index spaces (bellpepper-core's ConstraintSystem). */
#ifndef CUZK_R1CS_CS_H
#define CUZK_R1CS_CS_H

#include "base/host.h"
#include "field/fr.h"

typedef struct cs cs; /* opaque: a recorder or a witness writer */

/* A variable: the top bit says input, the rest is the index in its space. */
typedef uint32_t cs_var;
#define CS_INPUT_FLAG 0x80000000u
#define CS_ONE CS_INPUT_FLAG /* input 0, value 1 */

/* One term of a linear combination. */
typedef struct cs_term {
    cs_var var;
    fr_t coef;
} cs_term;

/* A linear combination being built (recording only). Terms may repeat and come in any order; the
 * recorder merges equal variables and sorts them (inputs first, then aux, ascending). A merged
 * coefficient of zero is kept as a term, as bellpepper does, but counts for no density. Memory
 * comes from the cs. */
typedef struct cs_lc {
    cs_term *terms;
    size_t n, cap;
} cs_lc;

/* True while recording. Gadgets build LCs and call enforce only then. */
bool cs_recording(const cs *c);

/* --- allocation: returns the new variable; the value is ignored while recording --- */

/* A FIELD-class aux variable. value may be NULL while recording. */
cs_var cs_alloc(cs *c, const fr_t *value);
/* A BIT-class aux variable (no constraint added). */
cs_var cs_alloc_bit(cs *c, bool value);
/* n <= 64 BIT-class variables at once: bit i of values is variable first + i. */
cs_var cs_alloc_bits(cs *c, uint64_t values, unsigned n);
/* A public input. */
cs_var cs_alloc_input(cs *c, const fr_t *value);

/* Memory for values until the instance ends, wiped then: one piece for each instance, and
 * witnessing only. NULL when there is none, or a second piece is asked for, which the cs reports.
 */
void *cs_memory(cs *c, size_t count, size_t size);

/* --- linear combinations and rows: recording only --- */

void cs_lc_clear(cs_lc *lc);
/* lc += coef * var. Out of memory is remembered by the cs and reported by cs_status. */
void cs_lc_add(cs *c, cs_lc *lc, cs_var var, const fr_t *coef);
/* lc += factor * other. */
void cs_lc_add_scaled(cs *c, cs_lc *lc, const cs_lc *other, const fr_t *factor);
/* Merge and sort in place (enforce does it by itself). */
void cs_lc_normalise(cs_lc *lc);
void cs_lc_free(cs *c, cs_lc *lc);
/* A cleared LC lent by the cs, slot 0..7: the usual way to build a row without allocating. */
#define CS_SCRATCH_LCS 8
cs_lc *cs_scratch(cs *c, unsigned slot);

/* Row a * b = c. NULL is the empty LC. */
void cs_enforce(cs *c, const cs_lc *a, const cs_lc *b, const cs_lc *k);

/* First failure so far (out of memory, too many distinct coefficients, ...): checked once at the
 * end of synthesis rather than at every call. A gadget may report one itself. */
cuzk_status cs_status(const cs *c, cuzk_error *err);
void cs_fail(cs *c, cuzk_status status, const char *text);

/* --- circuits --- */

typedef struct cs_block {
    const char *name;
    uint64_t count; /* instances; > 1 only if every instance has the same shape */
    /* Synthesise one instance. state is the circuit's: a count-1 block may write variables into it
     * that later blocks read; instances of a count > 1 block run in parallel and only read. */
    void (*synth)(cs *c, void *state, uint64_t instance);
    /* The variables of earlier blocks that instance i reads in place of those of instance 0: out[k]
     * for out[k], n_imports of them. Asked for all instances while recording, after the earlier
     * blocks. They are BIT-class aux, ascend within an instance, and lie behind every other aux
     * variable of an earlier block that the block reads: so terms of a row have one order in every
     * instance. NULL when n_imports is 0. */
    unsigned n_imports;
    void (*imports)(const void *state, uint64_t instance, cs_var *out);
} cs_block;

#define CS_MAX_BLOCKS 8
typedef struct cs_circuit {
    char name[32]; /* circuit id such as "porep-32g" */
    unsigned n_blocks;
    cs_block blocks[CS_MAX_BLOCKS];
    void *state; /* shape, and the job's values when witnessing */
} cs_circuit;

#endif
