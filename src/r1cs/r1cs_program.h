/* A block's matrix compiled for evaluation over a compact witness.
 *
 * Three facts about the circuits make it fast. Most rows hold at most three bits and a constant, so
 * their value is one of eight that depend on the coefficients only: a table lookup. Word gadgets
 * repeat such a row over consecutive variables, so one instruction covers up to 64 rows and takes
 * its bits from the bitmap a word at a time. And long rows are mostly packed words, c, 2c, 4c, ...
 * over consecutive bits: one product of c and the sum of such words.
 *
 * Code is 32-bit words; rows are compiled in groups of R1CS_GROUP_ROWS, each of which can be run by
 * itself. An instruction's first word has its opcode in the low 2 bits and its first row within the
 * group in the next 10; what follows is given at the opcodes. A bit is a column as in r1cs_matrix,
 * an import only with stride 0, because imports next to each other need not be neighbours; a value
 * is a column whose index, for aux, counts FIELD variables: of the instance when local, of the
 * whole circuit when global. */
#ifndef CUZK_R1CS_R1CS_PROGRAM_H
#define CUZK_R1CS_R1CS_PROGRAM_H

#include "r1cs/r1cs_internal.h"

#define R1CS_GROUP_ROWS 1024u

typedef enum r1cs_opcode {
    /* Rows whose value is table[bits]: k bits a row (bits 12..13 of the first word), n rows
     * (14..19: n - 1), 1 or 2 rows apart (20: 1 when 2), strides of bit j (21 + 2j: enum
     * r1cs_stride). Then the table's place in `tables`, and k bits. */
    R1CS_OP_SHORT,
    /* One row that is one value. Then the value. */
    R1CS_OP_COPY,
    /* One row in full. Then four words: constant (0, or a coefficient + 1), and the numbers of
     * sums, single bits and products. A sum: coefficient | words << 16, then for every packed word
     * stride | n - 1 << 2 | shift << 8 and its lowest bit; it is worth
     * coefficient * sum(word << shift), the inner sum being below 2^64. A single bit: coefficient,
     * bit. A product: coefficient, value. */
    R1CS_OP_LONG,
} r1cs_opcode;

/* How a word's bits follow each other: variable i is first + i * stride. */
typedef enum r1cs_stride {
    R1CS_STRIDE_0,
    R1CS_STRIDE_1,
    R1CS_STRIDE_2, /* at most 32 bits */
    R1CS_STRIDE_MINUS_1,
} r1cs_stride;

#define R1CS_SHORT_BITS 3

typedef struct r1cs_program {
    const uint32_t *code;
    const uint32_t *group_start; /* groups + 1 offsets into code */
    const fr_t *tables;          /* of R1CS_OP_SHORT, each 2^k values */
} r1cs_program;

/* Where a group runs: one instance of a block over one witness. */
typedef struct r1cs_frame {
    const fr_t *dict;
    const uint64_t *bits;
    uint64_t aux_base; /* of the instance, as all that is local */
    const uint32_t *imports;
    const fr_t *fields, *local_fields, *inputs, *local_inputs;
} r1cs_frame;

/* z[i] = value of row i of the group. */
void r1cs_program_run(const r1cs_program *p, uint64_t group, const r1cs_frame *frame, fr_t *z);

/* A and B of every block. */
typedef struct r1cs_programs {
    r1cs_program p[CS_MAX_BLOCKS][2];
} r1cs_programs;

#endif
