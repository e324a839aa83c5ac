/* The stacked DRG graph of PoRep: parents, labels and encoding (REFERENCE section 6;
 * rust-fil-proofs storage-proofs-core/src/drgraph.rs, crypto/feistel.rs,
 * storage-proofs-porep/src/stacked/vanilla/).
 */
#ifndef CUZK_FILECOIN_GRAPH_H
#define CUZK_FILECOIN_GRAPH_H

#include "base/host.h"
#include "filecoin/shape.h"
#include "filecoin/vanilla.h"

typedef struct porep_graph {
    uint64_t nodes;
    uint32_t layers;
    porep_api api;
    uint8_t drg_seed[28];
    uint64_t feistel_keys[4];
} porep_graph;

/* porep_id: u64 LE registered number, then zeros, for real sectors. */
void porep_graph_init(porep_graph *g, const sector_shape *sector, porep_api api,
                      const node32 porep_id);
void porep_graph_of(porep_graph *g, const registered_seal *seal);
void porep_id_of(const registered_seal *seal, node32 out);

/* Parents of node < nodes: in the same layer (DRG) and in the layer before (expander). */
void porep_drg_parents(const porep_graph *g, uint64_t node, uint64_t out[POREP_DRG_PARENTS]);
void porep_exp_parents(const porep_graph *g, uint64_t node, uint64_t out[POREP_EXP_PARENTS]);

/* Label of node > 0 in a layer (from 1) from its 37 parent labels. */
void porep_label(const node32 replica_id, uint32_t layer, uint64_t node,
                 const node32 parents[POREP_LABEL_PARENTS], node32 out);
/* The 37 parents from the 6 DRG labels of this layer and the 8 expander labels of the one before
 * (ignored in layer 1). */
void porep_label_parents(uint32_t layer, const node32 drg[POREP_DRG_PARENTS],
                         const node32 exp[POREP_EXP_PARENTS], node32 out[POREP_LABEL_PARENTS]);
/* A whole layer of labels, for small sectors. previous: the layer before, NULL in layer 1. */
void porep_label_layer(const porep_graph *g, const node32 replica_id, uint32_t layer,
                       const node32 *previous, node32 *out);

/* key + data in Fr (both canonical). */
void porep_encode(const node32 key, const node32 data, node32 out);

#endif
