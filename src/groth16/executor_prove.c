/* From witness to verified proof: the whole of proving on one page. */
#include "groth16/executor.h"

cuzk_status executor_prove(executor *ex, const executor_key *key, const witness *w,
                           const groth16_blinding *rs, groth16_proof *proof,
                           executor_timing *timing, cuzk_error *err) {
    if (fr_is_zero(&rs->r) && fr_is_zero(&rs->s))
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "blinding: r and s are both zero");
    groth16_sums sums;
    CUZK_TRY(ex->ops->begin(ex, 0, w, err));
    CUZK_TRY(ex->ops->finish(ex, 0, &sums, timing, err));
    groth16_assemble(key->params->vk, &sums, rs, proof);
    return groth16_verify(ex->host, key->params->vk, proof, w->inputs + 1, w->n_inputs - 1, err);
}
