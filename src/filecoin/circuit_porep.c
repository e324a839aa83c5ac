/* StackedDRG PoRep (storage-proofs-porep src/stacked/circuit; REFERENCE 9.2): one block with the
 * commitments, then one instance for each challenge of the partition. */
#include "filecoin/circuit_internal.h"
#include "filecoin/gadget_poseidon.h"
#include "filecoin/gadget_sha256.h"

#define PARENTS (POREP_DRG_PARENTS + POREP_EXP_PARENTS)
#define MAX_LAYERS 11

static poseidon_kind column_kind(const sector_shape *sector) {
    return sector->layers == 2 ? POSEIDON_2 : POSEIDON_11;
}

/* The number's 255 bits, constant false above them, in SHA-256's order. */
static void num_to_sha_words(cs *c, const gadget_num *n, sha_words *out) {
    gadget_word bits[8];
    num_to_words(c, n, NUM_BITS_DIFFERENCE, bits);
    for (unsigned i = 0; i < 8; i++)
        word_bswap(c, &out->w[i], &bits[i]);
}

static void synth_commitments(cs *c, void *state, uint64_t instance) {
    porep_state *s = state;
    (void)instance;
    const porep_c1 *c1 = s->c1;
    const gadget_num replica_id = num_alloc_bytes(c, c1 != NULL ? c1->replica_id : NULL);
    num_inputize(c, &replica_id);
    num_to_sha_words(c, &replica_id, &s->replica_id);
    s->comm_d = num_alloc_bytes(c, c1 != NULL ? c1->comm_d : NULL);
    num_inputize(c, &s->comm_d);
    const gadget_num comm_r = num_alloc_bytes(c, c1 != NULL ? c1->comm_r : NULL);
    num_inputize(c, &comm_r);
    s->comm_r_last = num_alloc_bytes(c, c1 != NULL ? s->proofs[0].comm_r_last.root : NULL);
    s->comm_c = num_alloc_bytes(c, c1 != NULL ? s->proofs[0].c_x.path.root : NULL);
    const gadget_num in[2] = {s->comm_c, s->comm_r_last};
    const gadget_num hash = gadget_poseidon(c, POSEIDON_2, in);
    num_enforce_equal(c, &comm_r, &hash);
}

/* A parent's column: its rows, hashed, and the path of the hash in tree C. */
static void synth_parent(cs *c, const porep_state *s, const porep_column *column,
                         gadget_num rows[MAX_LAYERS]) {
    for (uint32_t layer = 0; layer < s->sector->layers; layer++)
        rows[layer] = num_alloc_bytes(c, column != NULL ? column->rows[layer] : NULL);
    const gadget_num hash = gadget_poseidon(c, column_kind(s->sector), rows);
    merkle_por(c, &s->tree_r, column != NULL ? &column->path : NULL, &hash, &s->comm_c);
}

/* Label of the challenged node in one layer (counted from 1):
 * SHA-256(replica id | layer | node | zeros | 37 parents), cut to 254 bits. */
static gadget_num synth_label(cs *c, const sha_words *replica_id, uint32_t layer,
                              const gadget_word node[2], const sha_words *parents,
                              uint32_t n_parents) {
    enum { HEADER_WORDS = 16, WORDS = HEADER_WORDS + 8 * POREP_LABEL_PARENTS };
    const gadget_word *message[WORDS];
    gadget_word layer_word, zero, digest[8], bits[8];
    word_constant(&layer_word, layer);
    word_constant(&zero, 0);
    for (unsigned i = 0; i < HEADER_WORDS; i++)
        message[i] = i < 8 ? &replica_id->w[i] : &zero;
    message[8] = &layer_word;
    message[9] = &node[0];
    message[10] = &node[1];
    for (unsigned i = 0; i < 8 * POREP_LABEL_PARENTS; i++)
        message[HEADER_WORDS + i] = &parents[i / 8 % n_parents].w[i % 8];
    gadget_sha256(c, digest, message, WORDS);
    for (unsigned i = 0; i < 8; i++)
        word_bswap(c, &bits[i], &digest[i]);
    return words_pack(c, bits);
}

/* All labels of the challenged node. The parents' bits are made anew for every layer. */
static void synth_labels(cs *c, const porep_state *s, const gadget_word node[2],
                         gadget_num (*rows)[MAX_LAYERS], gadget_num *labels) {
    for (uint32_t layer = 1; layer <= s->sector->layers; layer++) {
        sha_words parents[PARENTS];
        const uint32_t n = layer > 1 ? PARENTS : POREP_DRG_PARENTS;
        for (uint32_t i = 0; i < n; i++) {
            const bool drg = i < POREP_DRG_PARENTS; /* same layer; expander: the one before */
            num_to_sha_words(c, &rows[i][drg ? layer - 1 : layer - 2], &parents[i]);
        }
        labels[layer - 1] = synth_label(c, &s->replica_id, layer, node, parents, n);
    }
}

/* The 64 challenge bits, packed into an input; node: the same as a big-endian u64. */
static void synth_challenge_number(cs *c, uint64_t challenge, gadget_word node[2]) {
    gadget_bit bits[64];
    for (unsigned half = 0; half < 2; half++) {
        word_alloc(c, &node[1 - half], (uint32_t)(challenge >> (32 * half)), 32);
        for (unsigned i = 0; i < 32; i++)
            bits[32 * half + i] = word_bit(c, &node[1 - half], i);
    }
    bits_pack_into_inputs(c, bits, 64);
}

static void synth_challenge(cs *c, void *state, uint64_t instance) {
    const porep_state *s = state;
    const porep_challenge *p = s->c1 != NULL ? &s->proofs[instance] : NULL;
    const gadget_num leaf = num_alloc_bytes(c, p != NULL ? p->comm_d.leaf : NULL);
    merkle_por(c, &s->tree_d, p != NULL ? &p->comm_d : NULL, &leaf, &s->comm_d);

    gadget_num rows[PARENTS][MAX_LAYERS], labels[MAX_LAYERS];
    for (uint32_t i = 0; i < PARENTS; i++) {
        const porep_column *column = NULL;
        if (p != NULL) column = i < POREP_DRG_PARENTS ? &p->drg[i] : &p->exp[i - POREP_DRG_PARENTS];
        synth_parent(c, s, column, rows[i]);
    }
    gadget_word node[2];
    synth_challenge_number(c, p != NULL ? p->challenge : 0, node);
    synth_labels(c, s, node, rows, labels);

    const gadget_num encoded = num_add(c, &labels[s->sector->layers - 1], &leaf);
    merkle_por(c, &s->tree_r, p != NULL ? &p->comm_r_last : NULL, &encoded, &s->comm_r_last);
    const gadget_num column_hash = gadget_poseidon(c, column_kind(s->sector), labels);
    merkle_por(c, &s->tree_r, p != NULL ? &p->c_x.path : NULL, &column_hash, &s->comm_c);
}

void circuit_porep_init(filecoin_circuit *c) {
    porep_state *s = &c->state.porep;
    s->sector = c->id.sector;
    s->tree_d = merkle_levels_binary(s->sector->tree_d_levels);
    s->tree_r = merkle_levels_poseidon(&s->sector->tree);
    circuit_add_block(c, "commitments", 1, synth_commitments);
    circuit_add_block(c, "challenge", s->sector->porep_challenges, synth_challenge);
}

static cuzk_status check_challenge(const porep_state *s, const porep_challenge *p, uint32_t number,
                                   cuzk_error *err) {
    CUZK_TRY(circuit_check_path(&s->tree_d, &p->comm_d, "tree D path of challenge", number, err));
    CUZK_TRY(
        circuit_check_path(&s->tree_r, &p->comm_r_last, "tree R path of challenge", number, err));
    CUZK_TRY(circuit_check_path(&s->tree_r, &p->c_x.path, "column path of challenge", number, err));
    for (uint32_t i = 0; i < POREP_DRG_PARENTS; i++)
        CUZK_TRY(circuit_check_path(&s->tree_r, &p->drg[i].path, "DRG parent path of challenge",
                                    number, err));
    for (uint32_t i = 0; i < POREP_EXP_PARENTS; i++)
        CUZK_TRY(circuit_check_path(&s->tree_r, &p->exp[i].path,
                                    "expander parent path of challenge", number, err));
    return CUZK_OK;
}

cuzk_status filecoin_circuit_bind_porep(filecoin_circuit *c, const porep_c1 *c1, uint32_t partition,
                                        cuzk_error *err) {
    if (c->id.kind != PROOF_POREP)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%s is no PoRep circuit", c->cs.name);
    porep_state *s = &c->state.porep;
    if (c1->seal.sector != s->sector)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "a C1 of %s sectors for circuit %s",
                         c1->seal.sector->name, c->cs.name);
    if (partition >= c1->partitions)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "partition %u of %u", partition, c1->partitions);
    if (c1->challenges != s->sector->porep_challenges)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "%u challenges in a partition, the circuit has %u",
                         c1->challenges, s->sector->porep_challenges);
    const porep_challenge *proofs = c1->proofs + (size_t)partition * c1->challenges;
    for (uint32_t i = 0; i < c1->challenges; i++)
        CUZK_TRY(check_challenge(s, &proofs[i], i, err));
    s->c1 = c1;
    s->proofs = proofs;
    return CUZK_OK;
}
