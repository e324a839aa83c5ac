/* Names for the templates of this layer, which are included once for each group by msm_g1.c and
 * msm_g2.c with
 *
 *   MSM_GROUP         g1 or g2
 *   MSM_FIELD         its coordinate field, fp or fp2
 *   MSM_DEGREE    1 or 2 */
#include <string.h>

#include "base/host.h"
#include "field/cpu.h"
#include "field/template.h"
#include "msm/affine_pairs.h"
#include "msm/decode.h"
#include "msm/msm.h"
#include "msm/windows.h"

#define G_(name) TEMPLATE_NAME(MSM_GROUP, name)       /* g1_add */
#define F_(name) TEMPLATE_NAME(MSM_FIELD, name)       /* fp_add */
#define OF_GROUP(name) TEMPLATE_NAME(name, MSM_GROUP) /* msm_subset_g1 */
#define ADD_PAIRS_PLAIN OF_GROUP(msm_add_pairs_plain)
#define ADD_PAIRS_FN TEMPLATE_NAME(OF_GROUP(msm_add_pairs), fn)

typedef G_(affine_t) affine;
typedef G_(t) point;
typedef F_(t) element;
