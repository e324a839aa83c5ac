#define MSM_GROUP g2
#define MSM_FIELD fp2
#define MSM_DEGREE 2
#include "msm/msm_names.h"

#include "msm/ifma_fp2.h"

#if defined(__x86_64__)
#include "msm/affine_pairs_ifma_impl.h"
#endif
