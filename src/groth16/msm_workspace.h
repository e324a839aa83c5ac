/* What the sums of a proof take beyond their arguments: the workspace of the MSM layer, for plans.
 * Upper bounds: scalars 0 and +-1 need less. */
#ifndef CUZK_GROTH16_MSM_WORKSPACE_H
#define CUZK_GROTH16_MSM_WORKSPACE_H

#include <stdint.h>

/* A multiplication of n terms by `workers` workers; group_degree: 1 for G1, 2 for G2. */
uint64_t msm_workspace_bytes(unsigned workers, uint64_t n, unsigned group_degree);
/* A subset sum of any size. */
uint64_t msm_subset_workspace_bytes(unsigned workers, unsigned group_degree);

#endif
