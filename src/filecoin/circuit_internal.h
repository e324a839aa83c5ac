/* State of the circuits: what a shape fixes, the job's values, and the variables that the first
 * block makes and later blocks read. */
#ifndef CUZK_FILECOIN_CIRCUIT_INTERNAL_H
#define CUZK_FILECOIN_CIRCUIT_INTERNAL_H

#include "filecoin/circuits.h"
#include "filecoin/gadget_merkle.h"

/* The 256-bit forms that SHA-256 takes: a number's bits as a byte stream. */
typedef struct sha_words {
    gadget_word w[8];
} sha_words;

typedef struct porep_state {
    const sector_shape *sector;
    merkle_levels tree_d, tree_r;
    const porep_c1 *c1;            /* NULL while recording */
    const porep_challenge *proofs; /* of the partition */
    sha_words replica_id;
    gadget_num comm_d, comm_r_last, comm_c;
} porep_state;

typedef struct post_state {
    merkle_levels tree_r;
    uint32_t sectors, challenges; /* challenges of each sector */
    bool winning;                 /* the sectors are one sector's paths, one each */
    const post_sector *proofs;    /* NULL while recording */
    uint32_t n_proofs;
} post_state;

/* Most digests, of any size and variant: 1376 challenges of 31 bits, 8 a digest. */
#define SNAP_MAX_DIGESTS 172
#define SNAP_H_VALUES 6
#define SNAP_MAX_APEX 128
#define SNAP_MAX_PARTITION_BITS 4
typedef struct snap_state {
    const sector_shape *sector;
    bool poseidon; /* all trees of R's shape, one partition */
    uint32_t partition_bits, challenge_bits, apex_bits, challenges;
    uint32_t per_digest, digests; /* challenges a digest yields, digests of a partition */
    uint8_t h[SNAP_H_VALUES];
    merkle_levels tree_r, tree_d_low; /* tree D below the apex leaves, or the whole of it */
    /* values; proof is NULL while recording */
    const snap_partition *proof;
    uint32_t k;
    const uint8_t *comm_r_old, *comm_r_new, *comm_d_new;
    /* variables */
    gadget_bit partition[SNAP_MAX_PARTITION_BITS], h_select[SNAP_H_VALUES];
    gadget_num phi, root_r_old, root_r_new, comm_d;
    gadget_num apex[SNAP_MAX_APEX];
    gadget_word digest_bits[SNAP_MAX_DIGESTS][8];
} snap_state;

struct filecoin_circuit {
    circuit_id id;
    cs_circuit cs;
    union {
        porep_state porep;
        post_state post;
        snap_state snap;
    } state;
};

/* Fill state and cs.blocks from c->id. */
void circuit_porep_init(filecoin_circuit *c);
void circuit_post_init(filecoin_circuit *c);
void circuit_snap_init(filecoin_circuit *c);

/* Append a block without imports; returns it. */
static inline cs_block *circuit_add_block(filecoin_circuit *c, const char *name, uint64_t count,
                                          void (*synth)(cs *, void *, uint64_t)) {
    cs_block *b = &c->cs.blocks[c->cs.n_blocks++];
    *b = (cs_block){.name = name, .count = count, .synth = synth};
    return b;
}

/* A path of a vanilla proof must have the circuit's number of siblings and an index in range;
 * CUZK_ERR_MISMATCH with `what` and its number in the text. */
cuzk_status circuit_check_path(const merkle_levels *levels, const merkle_path *path,
                               const char *what, uint64_t number, cuzk_error *err);

#endif
