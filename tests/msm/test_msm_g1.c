#define MSM_GROUP g1
#define MSM_FIELD fp
#define MSM_DEGREE 1
#include "msm/msm_cases.h"
