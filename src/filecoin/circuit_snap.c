/* EmptySectorUpdate, the proof of SnapDeals (storage-proofs-update src/{circuit,gadgets}.rs;
 * REFERENCE 9.4), and its all-Poseidon variant (src/poseidon/circuit.rs), in which tree D has the
 * shape of tree R, there is one partition and no apex tree. */
#include "filecoin/circuit_internal.h"

#include <string.h>

#include "filecoin/gadget_poseidon.h"
#include "filecoin/gadget_rows.h"

#define MAX_SIBLINGS (7 * MERKLE_MAX_LEVELS)
#define MAX_CHALLENGE_BITS 31

/* ---- commitments, partition, apex tree ---- */

/* The number k | h_select << partition_bits: its bits, with sum * ONE = number. */
static void synth_selectors(cs *c, snap_state *s) {
    const unsigned n = s->partition_bits + SNAP_H_VALUES;
    unsigned first = 0; /* the first h equal to the one in use, entry 3 (trap T26) */
    while (s->h[first] != s->h[3])
        first++;
    const uint64_t number = s->k | (uint64_t)1 << (first + s->partition_bits);
    fr_t value;
    fr_from_u64(&value, number);
    const gadget_num selectors = num_alloc(c, &value);
    num_inputize(c, &selectors);
    gadget_bit bits[SNAP_MAX_PARTITION_BITS + SNAP_H_VALUES];
    bits_alloc(c, number, n, bits);
    if (cs_recording(c)) {
        const fr_t one = fr_one();
        gadget_row row = row_begin(c);
        lc_add_bits(c, row.a, bits, n, &one);
        row_end_equals(c, &row, selectors.var);
    }
    memcpy(s->partition, bits, s->partition_bits * sizeof *bits);
    memcpy(s->h_select, bits + s->partition_bits, SNAP_H_VALUES * sizeof *bits);
}

static gadget_num alloc_public(cs *c, const uint8_t *bytes) {
    const gadget_num n = num_alloc_bytes(c, bytes);
    num_inputize(c, &n);
    return n;
}

/* H2(comm_c, root) * ONE = comm_r */
static void enforce_comm_r(cs *c, const gadget_num *comm_c, const gadget_num *root,
                           const gadget_num *comm_r) {
    const gadget_num in[2] = {*comm_c, *root};
    const gadget_num hash = gadget_poseidon(c, POSEIDON_2, in);
    num_enforce_equal(c, &hash, comm_r);
}

static gadget_num randomness(cs *c, const gadget_num *a, const gadget_num *b) {
    const gadget_num in[2] = {*a, *b};
    return gadget_poseidon(c, POSEIDON_2_RANDOMNESS, in);
}

/* The partition's apex leaves hash to a node of tree D that lies on the path of the partition. */
static void synth_apex_tree(cs *c, const snap_state *s, const gadget_num *partition_path) {
    gadget_num row[SNAP_MAX_APEX];
    uint32_t n = 1u << s->apex_bits;
    memcpy(row, s->apex, n * sizeof *row);
    for (; n > 1; n /= 2)
        for (uint32_t i = 0; i < n / 2; i++)
            row[i] = merkle_sha256_node(c, &row[2 * i], &row[2 * i + 1]);
    const merkle_levels levels = merkle_levels_binary(s->partition_bits);
    merkle_check(c, &levels, s->partition, partition_path, &row[0], &s->comm_d);
}

/* ---- challenge bits ---- */

/* digests * partition + j, by (digests partition + j ONE) * ONE = index; for j = 0 the second term
 * is there with coefficient zero (trap T14). */
static gadget_num digest_index(cs *c, const snap_state *s, const gadget_num *partition,
                               uint32_t j) {
    fr_t digests, offset, value;
    fr_from_u64(&digests, s->digests);
    fr_from_u64(&offset, j);
    fr_mul(&value, &digests, &partition->value);
    fr_add(&value, &value, &offset);
    const gadget_num index = num_alloc(c, &value);
    if (cs_recording(c)) {
        gadget_row row = row_begin(c);
        cs_lc_add(c, row.a, partition->var, &digests);
        cs_lc_add(c, row.a, CS_ONE, &offset);
        row_end_equals(c, &row, index.var);
    }
    return index;
}

static void synth_digests(cs *c, snap_state *s, const gadget_num *comm_r_new,
                          const gadget_num *partition) {
    for (uint32_t j = 0; j < s->digests; j++) {
        const gadget_num index = digest_index(c, s, partition, j);
        const gadget_num digest = randomness(c, comm_r_new, &index);
        num_to_words(c, &digest, NUM_BITS_PACKED, s->digest_bits[j]);
    }
}

/* Bits of a challenge that come from a digest; the partition's bits lie above them. */
static uint32_t own_bits(const snap_state *s) {
    return s->challenge_bits - s->partition_bits;
}

/* Bits of challenge i, least significant first. */
static void challenge_bits(const cs *c, const snap_state *s, uint64_t i, gadget_bit *bits) {
    const uint32_t own = own_bits(s), first = (uint32_t)(i % s->per_digest) * own;
    const gadget_word *digest = s->digest_bits[i / s->per_digest];
    for (uint32_t at = first; at < first + own; at++)
        bits[at - first] = word_bit(c, &digest[at / 32], at % 32);
    memcpy(bits + own, s->partition, s->partition_bits * sizeof *bits);
}

/* The variables of the digest bits: all that challenges do not share, behind all that they do. */
static void challenge_imports(const void *state, uint64_t i, cs_var *out) {
    const snap_state *s = state;
    const uint32_t own = own_bits(s), first = (uint32_t)(i % s->per_digest) * own;
    const gadget_word *digest = s->digest_bits[i / s->per_digest];
    for (uint32_t at = first; at < first + own; at++)
        out[at - first] = digest[at / 32].var[at % 32];
}

/* ---- the first block ---- */

/* Siblings of the partition's node: the top of any challenge's tree D path (trap T38). */
static void alloc_partition_path(cs *c, const snap_state *s, gadget_num *out) {
    const uint32_t low = s->sector->tree_d_levels - s->partition_bits;
    for (uint32_t i = 0; i < s->partition_bits; i++)
        out[i] = num_alloc_bytes(
            c, s->proof != NULL ? s->proof->challenges[0].d_new.siblings[low + i] : NULL);
}

static void synth_commitments(cs *c, void *state, uint64_t instance) {
    snap_state *s = state;
    const snap_partition *p = s->proof;
    (void)instance;
    synth_selectors(c, s);
    gadget_num partition = {0};
    if (!s->poseidon) partition = bits_pack(c, s->partition, s->partition_bits);
    const gadget_num comm_r_old = alloc_public(c, s->comm_r_old);
    s->comm_d = alloc_public(c, s->comm_d_new);
    const gadget_num comm_r_new = alloc_public(c, s->comm_r_new);
    s->phi = randomness(c, &s->comm_d, &comm_r_old);

    const gadget_num comm_c = num_alloc_bytes(c, p != NULL ? p->comm_c : NULL);
    s->root_r_old = num_alloc_bytes(c, p != NULL ? p->challenges[0].r_old.root : NULL);
    s->root_r_new = num_alloc_bytes(c, p != NULL ? p->challenges[0].r_new.root : NULL);
    gadget_num partition_path[SNAP_MAX_PARTITION_BITS];
    if (!s->poseidon) {
        for (uint32_t i = 0; i < 1u << s->apex_bits; i++)
            s->apex[i] = num_alloc_bytes(c, p != NULL ? p->apex[i] : NULL);
        alloc_partition_path(c, s, partition_path);
    }
    enforce_comm_r(c, &comm_c, &s->root_r_old, &comm_r_old);
    enforce_comm_r(c, &comm_c, &s->root_r_new, &comm_r_new);
    if (s->poseidon)
        partition = num_alloc(c, NULL); /* zero, and nothing says so */
    else
        synth_apex_tree(c, s, partition_path);
    synth_digests(c, s, &comm_r_new, &partition);
}

/* ---- a challenge ---- */

/* The h high bits of the challenge as a number, h chosen by h_select. */
static gadget_num high_bits(cs *c, const snap_state *s, const gadget_bit *bits) {
    gadget_num chosen[SNAP_H_VALUES];
    fr_t sum = fr_zero();
    for (unsigned i = 0; i < SNAP_H_VALUES; i++) {
        const gadget_num high = bits_pack(c, bits + s->challenge_bits - s->h[i], s->h[i]);
        chosen[i] = num_alloc(c, s->h_select[i].value ? &high.value : NULL);
        fr_add(&sum, &sum, &chosen[i].value);
        if (!cs_recording(c)) continue;
        const fr_t one = fr_one();
        gadget_row row = row_begin(c);
        lc_add_one(c, row.a, high.var);
        lc_add_bit(c, row.b, s->h_select[i], &one);
        lc_add_one(c, row.c, chosen[i].var);
        row_end(c, &row);
    }
    const gadget_num selected = num_alloc(c, &sum);
    if (cs_recording(c)) {
        gadget_row row = row_begin(c);
        for (unsigned i = 0; i < SNAP_H_VALUES; i++)
            lc_add_one(c, row.a, chosen[i].var);
        row_end_equals(c, &row, selected.var);
    }
    return selected;
}

/* All siblings of the levels, then the check. path is NULL while recording. */
static void synth_path(cs *c, const merkle_levels *levels, const merkle_path *path,
                       const gadget_bit *bits, const gadget_num *leaf, const gadget_num *root) {
    gadget_num siblings[MAX_SIBLINGS];
    const uint32_t n = merkle_siblings(levels);
    for (uint32_t i = 0; i < n; i++)
        siblings[i] = num_alloc_bytes(c, path != NULL ? path->siblings[i] : NULL);
    merkle_check(c, levels, bits, siblings, leaf, root);
}

static void synth_challenge(cs *c, void *state, uint64_t i) {
    const snap_state *s = state;
    const snap_challenge *p = s->proof != NULL ? &s->proof->challenges[i] : NULL;
    gadget_bit bits[MAX_CHALLENGE_BITS];
    challenge_bits(c, s, i, bits);
    const gadget_num high = high_bits(c, s, bits);
    const gadget_num rho = randomness(c, &s->phi, &high);

    const gadget_num leaf_r_old = num_alloc_bytes(c, p != NULL ? p->r_old.leaf : NULL);
    const gadget_num leaf_d_new = num_alloc_bytes(c, p != NULL ? p->d_new.leaf : NULL);
    const gadget_num masked = num_mul(c, &leaf_d_new, &rho);
    const gadget_num leaf_r_new = num_add(c, &leaf_r_old, &masked);

    synth_path(c, &s->tree_r, p != NULL ? &p->r_old : NULL, bits, &leaf_r_old, &s->root_r_old);
    synth_path(c, &s->tree_r, p != NULL ? &p->r_new : NULL, bits, &leaf_r_new, &s->root_r_new);
    const merkle_path *path_d = p != NULL ? &p->d_new : NULL;
    if (s->poseidon) {
        synth_path(c, &s->tree_r, path_d, bits, &leaf_d_new, &s->comm_d);
        return;
    }
    gadget_num apex[SNAP_MAX_APEX];
    memcpy(apex, s->apex, sizeof apex);
    const gadget_num apex_leaf = num_select(c, apex, bits + s->tree_d_low.n, s->apex_bits);
    synth_path(c, &s->tree_d_low, path_d, bits, &leaf_d_new, &apex_leaf);
}

/* ---- shape and values ---- */

static uint32_t log2_of(uint64_t power) {
    return (uint32_t)__builtin_ctzll(power);
}

void circuit_snap_init(filecoin_circuit *c) {
    static const uint8_t small_h[SNAP_H_VALUES] = {1, 1, 1, 1, 1, 1};
    static const uint8_t large_h[SNAP_H_VALUES] = {7, 8, 9, 10, 11, 12};
    snap_state *s = &c->state.snap;
    const sector_shape *sector = c->id.sector;
    s->sector = sector;
    s->poseidon = c->id.snap_poseidon;
    memcpy(s->h, sector->nodes <= 1u << 10 ? small_h : large_h, sizeof s->h);
    s->challenge_bits = log2_of(sector->nodes);
    s->tree_r = merkle_levels_poseidon(&sector->tree);
    s->challenges = sector->snap_challenges;
    s->partition_bits = log2_of(sector->snap_partitions);
    if (!s->poseidon) {
        s->apex_bits = log2_of(sector->snap_apex_leaves);
        s->tree_d_low = merkle_levels_binary(s->challenge_bits - s->partition_bits - s->apex_bits);
    }
    s->per_digest = NUM_CAPACITY / own_bits(s);
    s->digests = (s->challenges + s->per_digest - 1) / s->per_digest;
    circuit_add_block(c, "commitments", 1, synth_commitments);
    cs_block *challenge = circuit_add_block(c, "challenge", s->challenges, synth_challenge);
    challenge->n_imports = own_bits(s);
    challenge->imports = challenge_imports;
}

static cuzk_status check_proof(const snap_state *s, const snap_partition *p, cuzk_error *err) {
    const uint32_t apex = s->poseidon ? 0 : 1u << s->apex_bits;
    const merkle_levels tree_d =
        s->poseidon ? s->tree_r : merkle_levels_binary(s->sector->tree_d_levels);
    if (p->n_challenges != s->challenges)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "%u challenges in a partition, the circuit has %u",
                         p->n_challenges, s->challenges);
    if (p->n_apex != apex)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "%u apex leaves, the circuit has %u", p->n_apex,
                         apex);
    for (uint32_t i = 0; i < p->n_challenges; i++) {
        const snap_challenge *challenge = &p->challenges[i];
        CUZK_TRY(circuit_check_path(&s->tree_r, &challenge->r_old, "old tree R path of challenge",
                                    i, err));
        CUZK_TRY(circuit_check_path(&s->tree_r, &challenge->r_new, "new tree R path of challenge",
                                    i, err));
        CUZK_TRY(
            circuit_check_path(&tree_d, &challenge->d_new, "tree D path of challenge", i, err));
    }
    return CUZK_OK;
}

cuzk_status filecoin_circuit_bind_snap(filecoin_circuit *c, const snap_partition *p, uint32_t k,
                                       const node32 comm_r_old, const node32 comm_r_new,
                                       const node32 comm_d_new, cuzk_error *err) {
    if (c->id.kind != PROOF_SNAP)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%s is no SnapDeals circuit", c->cs.name);
    snap_state *s = &c->state.snap;
    if (k >= 1u << s->partition_bits)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "partition %u of %u", k, 1u << s->partition_bits);
    CUZK_TRY(check_proof(s, p, err));
    s->proof = p;
    s->k = k;
    s->comm_r_old = comm_r_old;
    s->comm_r_new = comm_r_new;
    s->comm_d_new = comm_d_new;
    return CUZK_OK;
}
