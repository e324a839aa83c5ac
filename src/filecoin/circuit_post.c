/* Winning and window PoSt (storage-proofs-post src/fallback/circuit.rs; REFERENCE 9.3): one
 * instance for each sector. */
#include "filecoin/circuit_internal.h"
#include "filecoin/gadget_poseidon.h"

/* The values of all paths' hashes at once, which takes a fraction of the time; NULL when there is
 * no memory, which the cs remembers, or one path alone. */
static const fr_t *trace_paths(cs *c, const post_state *s, const merkle_path *paths) {
    if (paths == NULL || s->challenges == 1) return NULL;
    fr_t *traces = cs_memory(c, s->challenges * merkle_trace_length(&s->tree_r), sizeof *traces);
    if (traces != NULL) merkle_trace_paths(&s->tree_r, paths, s->challenges, traces);
    return traces;
}

static void synth_sector(cs *c, void *state, uint64_t instance) {
    const post_state *s = state;
    const post_sector *p = NULL;
    const merkle_path *paths = NULL;
    if (s->proofs != NULL && s->winning) {
        p = s->proofs;
        paths = p->paths + instance;
    } else if (s->proofs != NULL) { /* a short partition repeats its last sector (trap T25) */
        p = &s->proofs[instance < s->n_proofs ? instance : s->n_proofs - 1];
        paths = p->paths;
    }
    const gadget_num comm_r_last = num_alloc_bytes(c, p != NULL ? p->comm_r_last : NULL);
    const gadget_num comm_c = num_alloc_bytes(c, p != NULL ? p->comm_c : NULL);
    const gadget_num comm_r = num_alloc_bytes(c, p != NULL ? p->comm_r : NULL);
    num_inputize(c, &comm_r);
    const gadget_num in[2] = {comm_c, comm_r_last};
    const gadget_num hash = gadget_poseidon(c, POSEIDON_2, in);
    num_enforce_equal(c, &comm_r, &hash);
    const fr_t *trace = trace_paths(c, s, paths);
    for (uint32_t i = 0; i < s->challenges; i++) {
        const merkle_path *path = paths != NULL ? &paths[i] : NULL;
        const gadget_num leaf = num_alloc_bytes(c, path != NULL ? path->leaf : NULL);
        merkle_por_traced(c, &s->tree_r, path, &leaf, &comm_r_last, trace);
        if (trace != NULL) trace += merkle_trace_length(&s->tree_r);
    }
}

void circuit_post_init(filecoin_circuit *c) {
    post_state *s = &c->state.post;
    s->tree_r = merkle_levels_poseidon(&c->id.sector->tree);
    s->winning = c->id.kind == PROOF_WINNING;
    s->sectors = s->winning ? WINNING_SECTORS : c->id.sector->window_sectors;
    s->challenges = s->winning ? 1 : WINDOW_CHALLENGES;
    circuit_add_block(c, "sector", s->sectors, synth_sector);
}

cuzk_status filecoin_circuit_bind_post(filecoin_circuit *c, const post_sector *sectors,
                                       uint32_t n_sectors, cuzk_error *err) {
    if (c->id.kind != PROOF_WINDOW && c->id.kind != PROOF_WINNING)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%s is no PoSt circuit", c->cs.name);
    post_state *s = &c->state.post;
    const uint32_t most = s->winning ? 1 : s->sectors;
    const uint32_t paths = s->winning ? WINNING_SECTORS : WINDOW_CHALLENGES;
    if (n_sectors == 0 || n_sectors > most)
        return cuzk_fail(err, CUZK_ERR_MISMATCH,
                         "%u sectors for a partition of circuit %s, 1 to %u", n_sectors, c->cs.name,
                         most);
    for (uint32_t i = 0; i < n_sectors; i++) {
        if (sectors[i].n_paths != paths)
            return cuzk_fail(err, CUZK_ERR_MISMATCH, "sector %llu: %u paths, circuit %s has %u",
                             (unsigned long long)sectors[i].sector_id, sectors[i].n_paths,
                             c->cs.name, paths);
        for (uint32_t j = 0; j < paths; j++)
            CUZK_TRY(circuit_check_path(&s->tree_r, &sectors[i].paths[j], "path of sector",
                                        sectors[i].sector_id, err));
    }
    s->proofs = sectors;
    s->n_proofs = n_sectors;
    return CUZK_OK;
}
