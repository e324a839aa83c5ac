/* The C interface: checks, and the way to each curve's kernels. */
#include "cuda_api.h"

#include "launch.cuh"
#include "ntt_constants.h"
#include "ntt_run.cuh"
#include "points.cuh"
#include "sums.cuh"

using namespace cuzk;

cuzk_status cuzk_gpu_prepare(cuzk_error *err) {
    CUZK_TRY(lists_prepare(err));
    return ntt_prepare(err);
}

cuzk_status cuzk_gpu_decode(cuzk_gpu_group curve, void *out, const void *in, uint64_t n,
                            uint64_t first, uint64_t *bad, cuzk_gpu_stream stream,
                            cuzk_error *err) {
    return points_decode(out, in, n, curve == CUZK_GPU_G1 ? 2 : 4, first, bad, stream, err);
}

cuzk_status cuzk_gpu_msm(const cuzk_msm_plan *plan, const void *points,
                         const cuzk_gpu_scalars *scalars, void *scratch, void *result,
                         cuzk_gpu_stream stream, cuzk_error *err) {
    const msm_source source = {(const fr *)scalars->scalars, scalars->index,
                               scalars->bit_reversed_log2_n};
    return plan->curve == CUZK_GPU_G1 ? msm_g1(*plan, points, source, scratch, result, stream, err)
                                      : msm_g2(*plan, points, source, scratch, result, stream, err);
}

cuzk_status cuzk_gpu_subset(const cuzk_subset_plan *plan, const void *points,
                            const uint64_t *bitmap, void *scratch, void *result,
                            cuzk_gpu_stream stream, cuzk_error *err) {
    return plan->curve == CUZK_GPU_G1
               ? subset_g1(*plan, points, bitmap, scratch, result, stream, err)
               : subset_g2(*plan, points, bitmap, scratch, result, stream, err);
}

cuzk_status cuzk_gpu_list_sums(cuzk_gpu_group curve, const cuzk_tree_plan *plan, const void *points,
                               const uint32_t *list, const uint32_t *in_at, uint32_t buckets,
                               void *sums, void *scratch, cuzk_gpu_stream stream, cuzk_error *err) {
    return curve == CUZK_GPU_G1
               ? list_sums_g1(*plan, points, list, in_at, buckets, sums, scratch, stream, err)
               : list_sums_g2(*plan, points, list, in_at, buckets, sums, scratch, stream, err);
}

/* ---- transforms ---- */

cuzk_status cuzk_gpu_ntt_tables(const cuzk_ntt_plan *plan, void *tables, cuzk_gpu_stream stream,
                                cuzk_error *err) {
    ntt_constants constants;
    cuzk_ntt_make_constants(plan->log2_n, (cuzk_ntt_constants *)&constants);
    return ntt_fill_tables(*plan, constants, tables, stream, err);
}

cuzk_status cuzk_gpu_ntt(const cuzk_ntt_plan *plan, const void *tables, cuzk_ntt_kind kind,
                         bool from_reversed, void *v, cuzk_gpu_stream stream, cuzk_error *err) {
    ntt_job job = {};
    job.reversed = from_reversed;
    job.in = job.out = (fr *)v;
    job.scale = -1;
    switch (kind) {
    case CUZK_NTT_FORWARD:
        break;
    case CUZK_NTT_INVERSE:
        job.direction = 1;
        job.scale = CUZK_NTT_SCALE_INVERSE;
        break;
    case CUZK_NTT_COSET_FORWARD:
        if (!from_reversed)
            return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "a coset transform from natural order");
        job.coset = true;
        job.scale = CUZK_NTT_SCALE_COSET;
        break;
    case CUZK_NTT_COSET_INVERSE:
        if (from_reversed)
            return cuzk_fail(err, CUZK_ERR_UNSUPPORTED,
                             "an inverse coset transform to natural order");
        job.direction = 1;
        job.coset = true;
        job.scale = CUZK_NTT_SCALE_COSET_INVERSE;
        break;
    }
    return ntt_transform(*plan, tables, job, stream, err);
}

cuzk_status cuzk_gpu_bit_reverse(unsigned log2_n, void *out, const void *in, cuzk_gpu_stream stream,
                                 cuzk_error *err) {
    return ntt_bit_reverse(log2_n, out, in, stream, err);
}

cuzk_status cuzk_gpu_quotient(const cuzk_ntt_plan *plan, const void *tables, void *a, void *b,
                              void *c, cuzk_gpu_stream stream, cuzk_error *err) {
    CUZK_TRY(ntt_quotient_c(*plan, tables, (const fr *)a, (const fr *)b, (fr *)c, stream, err));
    return ntt_quotient_product(*plan, tables, (fr *)a, (fr *)b, (const fr *)c, stream, err);
}
