#define MSM_GROUP g2
#define MSM_FIELD fp2
#define MSM_DEGREE 2
#include "msm/msm_cases.h"
