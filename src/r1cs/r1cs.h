/* A recorded circuit: its matrices by block, dictionary-coded, and what follows from them. */
#ifndef CUZK_R1CS_R1CS_H
#define CUZK_R1CS_R1CS_H

#include "r1cs/cs.h"

/* A column in a block's matrix: three tag bits and an index. LOCAL indices are relative to the
 * instance's first aux or input; GLOBAL ones are absolute; an IMPORT is a place in the instance's
 * row of the block's imports. Tags descend along a row (see r1cs_matrix). */
#define R1CS_COL_TAG_SHIFT 29
#define R1CS_COL_INDEX_MASK ((1u << R1CS_COL_TAG_SHIFT) - 1)
typedef enum r1cs_col_tag {
    R1CS_AUX_LOCAL = 0,
    R1CS_AUX_IMPORT = 1,
    R1CS_AUX_GLOBAL = 2,
    R1CS_INPUT_LOCAL = 3,
    R1CS_INPUT_GLOBAL = 4
} r1cs_col_tag;

/* CSR with 32-bit offsets inside one block (a block's template has < 2^32 terms). Terms of a row:
 * inputs ascending, then aux ascending, in global order. */
typedef struct r1cs_matrix {
    const uint32_t *row_start; /* rows + 1 */
    const uint32_t *col;       /* nnz: tagged columns */
    const uint16_t *coef;      /* nnz: index into r1cs.dict */
    uint64_t nnz;
} r1cs_matrix;

enum { R1CS_A = 0, R1CS_B = 1, R1CS_C = 2 };

typedef struct r1cs_block {
    char name[32];
    uint64_t count;                     /* instances */
    uint64_t rows, aux, inputs, fields; /* of one instance; fields: FIELD-class aux */
    uint64_t row_base, aux_base, input_base, field_base; /* of instance 0; instance i adds i*size */
    r1cs_matrix m[3];
    /* count * n_imports absolute aux variables of earlier blocks, all of class BIT; those of an
     * instance ascend, and no GLOBAL aux column of the block reaches the first of any instance. */
    uint64_t n_imports;
    const uint32_t *imports;
    const uint64_t *field_class; /* aux bits: 1 = FIELD, 0 = BIT; ceil(aux/64) words */
    const uint32_t *field_rank;  /* FIELD variables before word w of field_class */
} r1cs_block;

/* Everything is immutable after recording or loading; pointers are into one mapping or allocation
 * owned by the r1cs. Rows do not include the appended input rows: total rows = rows + inputs
 * (trap T5); row (rows + i) is input_i * 0 = 0. */
typedef struct r1cs {
    char name[32];
    unsigned n_blocks;
    r1cs_block blocks[CS_MAX_BLOCKS];
    const fr_t *dict; /* distinct coefficients, Montgomery; dict[0] = 1 */
    uint32_t dict_size;
    uint64_t rows, aux, inputs, fields; /* inputs counts ONE */
    bool has_c;                         /* false after r1cs_drop_c */
    uint64_t nnz[3];                    /* without the appended rows */
    uint64_t zero_terms[3];             /* of them, with a zero coefficient */
    unsigned log2_domain;               /* least k with 2^k >= rows + inputs */
    uint64_t a_aux, b_aux, b_inputs;    /* densities: variables with a non-zero coefficient */
    /* Bitmaps over all aux (ceil(aux/64) words): appears in A / in B / is of class FIELD. */
    const uint64_t *a_aux_map, *b_aux_map, *field_map;
    const uint64_t *b_input_map; /* over inputs */
    void *owner;                 /* implementation: memory or mapping */
} r1cs;

/* Record a circuit. CUZK_ERR_NO_MEMORY, or what the circuit reported. */
cuzk_status r1cs_record(const cuzk_host *host, const cs_circuit *circuit, r1cs **out,
                        cuzk_error *err);
void r1cs_free(const cuzk_host *host, r1cs *r); /* r may be NULL */
/* Forget C, which only set-up, digests and checks need: a satisfied row's C value is the product of
 * the other two. The rest of r stays as it is; functions that need C say CUZK_ERR_UNSUPPORTED. */
void r1cs_drop_c(const cuzk_host *host, r1cs *r);

/* Digests of the constraint stream under the fixtures' names (fixtures README "r1cs/SHAPE.json");
 * rows are expanded on the fly, chunks hashed in parallel. */
#define R1CS_CHUNK_ROWS 1048576u
typedef struct r1cs_digests {
    uint8_t all[32];                /* "sha256" */
    uint8_t without_input_rows[32]; /* "sha256_without_input_rows" */
    uint8_t without_zero_terms[32]; /* "sha256_without_zero_terms" */
    uint8_t (*chunks)[32];          /* "chunk_sha256", one for every 2^20 rows */
    size_t n_chunks;
    uint8_t a_aux[32], b_aux[32], b_input[32]; /* of the density bitmaps */
    uint64_t max_terms[3], empty_lcs[3];
} r1cs_digests;
cuzk_status r1cs_digest(const cuzk_host *host, const r1cs *r, r1cs_digests *out, cuzk_error *err);
void r1cs_digests_free(const cuzk_host *host, r1cs_digests *d);
/* TestConstraintSystem::hash of bellpepper-core (util_cs/test_cs.rs): BLAKE2s-256 over big-endian
 * counts and the rows without appended ones and without zero terms. Sequential. */
cuzk_status r1cs_cs_hash(const cuzk_host *host, const r1cs *r, uint8_t hash[32], cuzk_error *err);

#define R1CS_CACHE_MAGIC "CUZKR1CS"
/* Cache file: magic, version, endianness tag, sizes, per-section SHA-256; written to a temporary
 * name, fsynced, renamed; loaded by mmap with every offset and column checked. A torn or altered
 * file is CUZK_ERR_FORMAT with the section's name. */
cuzk_status r1cs_save(const r1cs *r, const char *path, cuzk_error *err);
cuzk_status r1cs_load(const cuzk_host *host, const char *path, r1cs **out, cuzk_error *err);

/* ---- compact witness ---- */

/* One bit per aux variable (FIELD variables' bits are 0), and one Montgomery value per FIELD
 * variable in variable order; inputs in full. For PoRep 32 GiB: 16 MiB + 52 MiB. */
typedef struct witness {
    uint64_t *bits; /* ceil(aux/64) words */
    fr_t *fields;   /* r->fields */
    fr_t *inputs;   /* r->inputs, inputs[0] = 1 */
    uint64_t n_aux, n_fields, n_inputs;
} witness;

cuzk_status witness_new(const cuzk_host *host, const r1cs *r, witness *out, cuzk_error *err);
/* Zeroes the values, then frees. */
void witness_free(const cuzk_host *host, witness *w);
/* Bytes a witness of r takes: what an engine reserves. */
size_t witness_bytes(const r1cs *r);

/* Run the circuit as a witness generator into w. Blocks run in order, the instances of a block in
 * parallel. A circuit whose shape differs from r (another number of allocations in any instance)
 * is CUZK_ERR_MISMATCH. */
cuzk_status r1cs_witness(const cuzk_host *host, const r1cs *r, const cs_circuit *circuit,
                         witness *w, cuzk_error *err);

/* Value of one variable. */
void witness_aux(const r1cs *r, const witness *w, uint64_t aux, fr_t *value);

/* z[i] = (M w)_i for rows first..first+n-1, appended input rows included; m = R1CS_A, _B or _C.
 * Rows beyond rows + inputs give zero, so n may run to the domain size. A and B are evaluated by
 * row programs that recording and loading derive from the matrices: words of bits at a time. */
cuzk_status r1cs_eval(const cuzk_host *host, const r1cs *r, int m, const witness *w, uint64_t first,
                      uint64_t n, fr_t *z, cuzk_error *err);
/* The same, term by term: the definition of r1cs_eval. */
cuzk_status r1cs_eval_plain(const cuzk_host *host, const r1cs *r, int m, const witness *w,
                            uint64_t first, uint64_t n, fr_t *z, cuzk_error *err);

/* Is every row satisfied? On failure CUZK_ERR_UNSATISFIED with the first bad row, its block and
 * instance in the text, and *bad_row (may be NULL). */
cuzk_status r1cs_check(const cuzk_host *host, const r1cs *r, const witness *w, uint64_t *bad_row,
                       cuzk_error *err);

/* Call fn for terms of every row of matrix m in expanded form: used by set-up and digests. Terms
 * have absolute variables. scratch must hold the longest row (r1cs_max_row_terms). */
size_t r1cs_max_row_terms(const r1cs *r);
/* Expand one row (0 <= row < rows + inputs): returns the number of terms written to vars and coefs
 * (dictionary indices). */
size_t r1cs_row(const r1cs *r, int m, uint64_t row, cs_var *vars, uint16_t *coefs);

#endif
