#define MSM_GROUP g1
#define MSM_FIELD fp
#define MSM_DEGREE 1
#include "msm/msm_names.h"

#include "msm/affine_pairs_impl.h"
#include "msm/sums_impl.h"
#include "msm/bases_impl.h"
#include "msm/pippenger_impl.h"
#include "msm/subset_impl.h"
#include "msm/fixed_impl.h"
