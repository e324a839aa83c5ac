#include <string.h>

#include "filecoin/circuit_internal.h"

cuzk_status filecoin_circuit_new(const cuzk_host *host, const circuit_id *id,
                                 filecoin_circuit **out, cuzk_error *err) {
    void *memory;
    *out = NULL;
    CUZK_TRY(cuzk_host_alloc(host, &memory, 1, sizeof(filecoin_circuit), "circuit state", err));
    filecoin_circuit *c = memory;
    memset(c, 0, sizeof *c);
    c->id = *id;
    circuit_id_format(id, c->cs.name);
    c->cs.state = &c->state;
    switch (id->kind) {
    case PROOF_POREP:
        circuit_porep_init(c);
        break;
    case PROOF_SNAP:
        circuit_snap_init(c);
        break;
    case PROOF_WINDOW:
    case PROOF_WINNING:
        circuit_post_init(c);
        break;
    default:
        cuzk_host_free(host, c, 1, sizeof *c);
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "there is no circuit of kind %d", (int)id->kind);
    }
    *out = c;
    return CUZK_OK;
}

void filecoin_circuit_free(const cuzk_host *host, filecoin_circuit *c) {
    if (c == NULL) return;
    explicit_bzero(c, sizeof *c); /* it holds values of the witness */
    cuzk_host_free(host, c, 1, sizeof *c);
}

const cs_circuit *filecoin_circuit_cs(const filecoin_circuit *c) {
    return &c->cs;
}

cuzk_status circuit_check_path(const merkle_levels *levels, const merkle_path *path,
                               const char *what, uint64_t number, cuzk_error *err) {
    const uint32_t siblings = merkle_siblings(levels), bits = merkle_index_bits(levels);
    if (path->n_siblings != siblings)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "%s %llu: %u siblings, the circuit has %u", what,
                         (unsigned long long)number, path->n_siblings, siblings);
    if (path->index >> bits != 0)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "%s %llu: leaf %llu of a tree of 2^%u leaves",
                         what, (unsigned long long)number, (unsigned long long)path->index, bits);
    return CUZK_OK;
}
