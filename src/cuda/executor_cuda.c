/* The executor of one NVIDIA GPU: everything from the compact witness to the five sums, in the
 * order of one compute stream, with uploads on a second one (docs/cuda.md). */
#include <stdio.h>
#include <string.h>

#include "cuda/cuda_api.h"
#include "cuda/gpu_device.h"
#include "cuda/gpu_lists.h"
#include "cuda/gpu_executor.h"
#include "cuda/partition.h"

/* A step's sums: which kernels run, and where their results go. */
typedef struct gpu_work {
    gpu_query query;
    gpu_step step;
    gpu_range scalars; /* of the query's list */
    cuzk_msm_plan msm;
    cuzk_subset_plan subset;
    uint64_t msm_result, subset_result; /* byte offsets into the slot's results */
} gpu_work;

enum { SLOT_FREE, SLOT_UPLOADED, SLOT_RUNNING, SLOT_FAILED };
/* Events of a partition. Behind each query's sums there is one. */
enum {
    MARK_UPLOAD,
    MARK_UPLOADED,
    MARK_START,
    MARK_EVALUATED,
    MARK_QUOTIENT,
    MARK_QUERY,
    MARK_DONE = MARK_QUERY + GPU_QUERIES,
    MARK_SIDE, /* where the other sums overlap with h: their start */
    MARKS
};

typedef struct gpu_slot {
    int state;
    uint8_t *results; /* pinned, CUZK_GPU_RESULT_BYTES */
    uint64_t *bad;    /* pinned, one a query */
    cudaEvent_t mark[MARKS];
} gpu_slot;

typedef struct cuda_executor {
    executor base; /* first */
    gpu_device device;
    gpu_slot slots[CUZK_GPU_SLOTS];
    cudaEvent_t tile_full[2], tile_free[2], turn; /* turn: of the compute stream, for the upload */
    uint8_t *spill;                               /* host, plan.spill_bytes */
    unsigned tile_next;
    bool loaded;
    executor_key key;
    cuzk_eval_image image;
    gpu_plan plan;
    gpu_work *work;
    size_t n_work, max_work;
    uint64_t result_bytes;
    cuda_phases phases;
} cuda_executor;

static cuda_executor *cuda_of(executor *ex) {
    return (cuda_executor *)(void *)ex;
}

static int ordinal_of(const cuda_executor *ex) {
    return ex->device.info.ordinal;
}

static void *in_arena(const cuda_executor *ex, uint64_t at) {
    return ex->device.arena + at;
}

/* Steps of a tile that is not in the arena need the host while they run. */
static bool all_resident(const gpu_plan *p) {
    for (int q = 0; q < GPU_QUERIES; q++)
        if (!p->query[q].resident) return false;
    return true;
}

/* The stream that a query's sums run on. */
static cudaStream_t stream_of(const cuda_executor *ex, gpu_query q) {
    return q != GPU_QUERY_H && ex->plan.overlapped ? ex->device.side : ex->device.compute;
}

static msm_bases query_bases(const groth16_params *p, gpu_query q) {
    const msm_bases bases[GPU_QUERIES] = {p->h, p->l, p->a, p->b_g1, p->b_g2};
    return bases[q];
}

/* ---- info and plan ---- */

static void cuda_info(executor *ex, executor_info *out) {
    const cuda_executor *cuda = cuda_of(ex);
    *out = (executor_info){.kind = "cuda",
                           .ordinal = ordinal_of(cuda),
                           .memory_total = cuda->device.info.memory_bytes,
                           .memory_planned = cuda->device.arena_bytes,
                           .slots = CUZK_GPU_SLOTS};
    snprintf(out->name, sizeof out->name, "%.80s #%d", cuda->device.info.name, ordinal_of(cuda));
    snprintf(out->uuid, sizeof out->uuid, "%s", cuda->device.info.uuid);
}

static cuzk_status make_plan(const cuda_executor *ex, const executor_key *key,
                             cuzk_eval_image *image, gpu_plan *plan, cuzk_error *err) {
    gpu_shape shape;
    gpu_limits limits = ex->device.limits;
    limits.effort = key->effort;
    CUZK_TRY(cuzk_eval_image_layout(image, key->circuit, err));
    gpu_shape_of(&shape, key->circuit, image);
    return cuzk_error_context(err,
                              gpu_plan_make(plan, &shape, ex->device.arena_bytes, &limits, err),
                              "GPU %d", ordinal_of(ex));
}

static size_t plan_steps(const gpu_plan *p) {
    size_t n = 0;
    for (int q = 0; q < GPU_QUERIES; q++)
        n += (size_t)p->query[q].tiles;
    return n;
}

static cuzk_status cuda_plan(executor *ex, const executor_key *key, uint64_t *device_bytes,
                             uint64_t *host_bytes, cuzk_error *err) {
    cuzk_eval_image image;
    gpu_plan plan;
    CUZK_TRY(make_plan(cuda_of(ex), key, &image, &plan, err));
    *device_bytes = plan.used_bytes;
    /* While loading, the image or the lists; they are gone before a partition starts. */
    const uint64_t lists = gpu_lists_bytes(&plan),
                   loading = image.bytes > lists ? image.bytes : lists;
    *host_bytes = loading + plan.spill_bytes + plan_steps(&plan) * sizeof(gpu_work);
    return CUZK_OK;
}

/* ---- loading ---- */

static cuzk_status upload_image(cuda_executor *ex, cuzk_error *err) {
    void *memory = NULL;
    CUZK_TRY(cuzk_host_alloc(ex->base.host, &memory, ex->image.bytes, 1, "device circuit", err));
    cuzk_eval_image_fill(&ex->image, ex->key.circuit, memory);
    const cuzk_status status =
        gpu_upload(&ex->device, ex->plan.image.at, memory, ex->image.bytes, err);
    cuzk_host_free(ex->base.host, memory, ex->image.bytes, 1);
    return status;
}

/* Where a density's bases and scalars are. */
static cuzk_status upload_lists(cuda_executor *ex, gpu_density d, const gpu_lists *lists,
                                cuzk_error *err) {
    const gpu_plan *p = &ex->plan;
    CUZK_TRY(gpu_upload(&ex->device, p->index[d].at, lists->index, p->index[d].bytes, err));
    CUZK_TRY(gpu_upload(&ex->device, p->from[d].at, lists->from, p->from[d].bytes, err));
    if (lists->map != NULL) {
        CUZK_TRY(gpu_upload(&ex->device, p->maps[d].at, lists->map, p->maps[d].bytes, err));
        CUZK_TRY(gpu_upload(&ex->device, p->ranks[d].at, lists->rank, p->ranks[d].bytes, err));
    }
    return CUZK_OK;
}

static uint64_t take_result(cuda_executor *ex, size_t bytes) {
    const uint64_t at = ex->result_bytes;
    ex->result_bytes += (bytes + 255) / 256 * 256;
    return at;
}

static cuzk_status add_work(cuda_executor *ex, gpu_query q, uint64_t step, gpu_range scalars,
                            cuzk_error *err) {
    const gpu_query_plan *query = &ex->plan.query[q];
    const gpu_limits *limits = &ex->device.limits;
    gpu_work *w = &ex->work[ex->n_work++];
    *w = (gpu_work){.query = q, .step = gpu_step_of(query, step), .scalars = scalars};
    if (scalars.n != 0) {
        CUZK_TRY(cuzk_msm_plan_make(&w->msm, query->curve, scalars.n, query->copies, limits->sms,
                                    limits->tuning, (size_t)gpu_scratch_bytes(&ex->plan, q), err));
        w->msm_result = take_result(ex, w->msm.result_bytes);
    }
    if (q != GPU_QUERY_H && w->step.aux != 0) {
        CUZK_TRY(cuzk_subset_plan_make(&w->subset, query->curve, w->step.aux, w->step.aux,
                                       query->pairs, limits->sms, limits->tuning, err));
        w->subset_result = take_result(ex, w->subset.result_bytes);
    }
    return ex->result_bytes <= CUZK_GPU_RESULT_BYTES
               ? CUZK_OK
               : cuzk_fail(err, CUZK_ERR_INTERNAL, "results of %llu bytes",
                           (unsigned long long)ex->result_bytes);
}

/* The steps of a query; lists: of its density, NULL for h. */
static cuzk_status add_query(cuda_executor *ex, gpu_query q, const gpu_lists *lists,
                             cuzk_error *err) {
    const gpu_query_plan *query = &ex->plan.query[q];
    for (uint64_t k = 0; k < query->tiles; k++) {
        const gpu_step step = gpu_step_of(query, k);
        gpu_range scalars = {step.base, step.bases};
        if (q == GPU_QUERY_H && ex->plan.h_reversed) scalars.n++; /* the top one is zero */
        if (q != GPU_QUERY_H) scalars = gpu_lists_range(lists, step.base, step.bases);
        CUZK_TRY(add_work(ex, q, k, scalars, err));
    }
    return CUZK_OK;
}

static cuzk_status load_density(cuda_executor *ex, gpu_density d, cuzk_error *err) {
    gpu_lists lists;
    CUZK_TRY(gpu_lists_new(ex->base.host, ex->key.circuit, &ex->plan, d, &lists, err));
    cuzk_status status = upload_lists(ex, d, &lists, err);
    for (gpu_query q = GPU_QUERY_L; status == CUZK_OK && q < GPU_QUERIES; q++)
        if (gpu_query_density(q) == d) status = add_query(ex, q, &lists, err);
    gpu_lists_free(ex->base.host, &lists);
    return status;
}

/* The plan of a query's MSM over copies: there is one step. */
static const cuzk_msm_plan *msm_over_copies(const cuda_executor *ex, gpu_query q) {
    size_t i = 0;
    while (ex->work[i].query != q)
        i++;
    return &ex->work[i].msm;
}

/* Decode points first .. first + n of a query where they lie, and make multiples of h's. */
static cuzk_status prepare_points(cuda_executor *ex, gpu_query q, uint64_t first, uint64_t n,
                                  cuzk_error *err) {
    const gpu_query_plan *query = &ex->plan.query[q];
    const uint64_t size = CUZK_GPU_AFFINE_BYTES(query->curve);
    void *const points = in_arena(ex, query->points.at);
    uint8_t *const at = (uint8_t *)points + first * size;
    uint64_t *const bad = (uint64_t *)in_arena(ex, ex->plan.bad.at) + q;
    CUZK_TRY(cuzk_gpu_decode(query->curve, at, at, n, first, bad, ex->device.upload, err));
    if (q != GPU_QUERY_H || query->copies == 1) return CUZK_OK;
    return cuzk_gpu_multiples(msm_over_copies(ex, q), points, first, n, ex->device.upload, err);
}

/* What is made of a query's points when all are there: sums of neighbours, and the bases of inputs
 * and FIELD variables side by side, with their multiples. */
static cuzk_status prepare_query(cuda_executor *ex, gpu_query q, cuzk_error *err) {
    const gpu_query_plan *query = &ex->plan.query[q];
    const uint64_t size = CUZK_GPU_AFFINE_BYTES(query->curve);
    uint8_t *const points = in_arena(ex, query->points.at);
    uint8_t *const aux = points + query->inputs * size;
    void *const fields = in_arena(ex, query->fields.at);
    if (query->pairs)
        CUZK_TRY(cuzk_gpu_pairs(query->curve, aux, query->aux, aux + query->aux * size,
                                ex->device.upload, err));
    if (query->fields.bytes == 0) return CUZK_OK;
    const gpu_region *index = &ex->plan.index[gpu_query_density(q)];
    CUZK_TRY(cuzk_gpu_gather_points(query->curve, points, in_arena(ex, index->at), query->scalars,
                                    fields, ex->device.upload, err));
    return cuzk_gpu_multiples(msm_over_copies(ex, q), fields, 0, query->scalars, ex->device.upload,
                              err);
}

static bool load_cancelled(const cuda_executor *ex) {
    const executor_key *key = &ex->key;
    return cuzk_host_cancelled(ex->base.host) ||
           (key->give_up != NULL && key->give_up(key->give_up_self));
}

static cuzk_status load_points(cuda_executor *ex, gpu_query q, cuzk_error *err) {
    const gpu_query_plan *query = &ex->plan.query[q];
    if (!query->resident) return CUZK_OK;
    const uint64_t size = CUZK_GPU_AFFINE_BYTES(query->curve), n = query->inputs + query->aux;
    const uint8_t *from = query_bases(ex->key.params, q).data;
    /* For progress, and to overlap decoding; a slice of h with its copies takes some 0.15 s. */
    const uint64_t slice = ((uint64_t)1 << 28) / size;
    for (uint64_t i = 0; i < n; i += slice) {
        const uint64_t count = n - i < slice ? n - i : slice, at = query->points.at + i * size;
        cuzk_host_progress(ex->base.host, gpu_query_name(q), i, n);
        if (load_cancelled(ex)) return cuzk_fail(err, CUZK_ERR_CANCELLED, "loading cancelled");
        CUZK_TRY(gpu_upload(&ex->device, at, from + i * size, count * size, err));
        CUZK_TRY(prepare_points(ex, q, i, count, err));
    }
    CUZK_TRY(prepare_query(ex, q, err));
    cuzk_host_progress(ex->base.host, gpu_query_name(q), n, n);
    return CUZK_OK;
}

static cuzk_status check_points(const cuda_executor *ex, const uint64_t *bad, cuzk_error *err) {
    for (gpu_query q = 0; q < GPU_QUERIES; q++)
        if (bad[q] != UINT64_MAX)
            return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: %s, point %llu: not an encoded point",
                             ex->key.params->path, gpu_query_name(q), (unsigned long long)bad[q]);
    return CUZK_OK;
}

static cuzk_status load_all(cuda_executor *ex, cuzk_error *err) {
    const gpu_plan *p = &ex->plan;
    const int ordinal = ordinal_of(ex);
    ex->n_work = 0;
    ex->result_bytes = 0;
    GPU_TRY(ordinal,
            cudaMemsetAsync(in_arena(ex, p->bad.at), 0xff, p->bad.bytes, ex->device.upload), err);
    for (int i = 0; i < CUZK_GPU_SLOTS; i++) /* copied with the gaps between results */
        GPU_TRY(ordinal,
                cudaMemsetAsync(in_arena(ex, p->results[i].at), 0, p->results[i].bytes,
                                ex->device.upload),
                err);
    CUZK_TRY(cuzk_gpu_ntt_tables(&p->ntt, in_arena(ex, p->ntt_tables.at), ex->device.upload, err));
    CUZK_TRY(upload_image(ex, err));
    CUZK_TRY(add_query(ex, GPU_QUERY_H, NULL, err));
    for (gpu_density d = 0; d < GPU_DENSITIES; d++)
        CUZK_TRY(load_density(ex, d, err));
    for (gpu_query q = 0; q < GPU_QUERIES; q++)
        CUZK_TRY(load_points(ex, q, err));
    uint64_t *const bad = ex->slots[0].bad;
    GPU_TRY(ordinal,
            cudaMemcpyAsync(bad, in_arena(ex, p->bad.at), p->bad.bytes, cudaMemcpyDeviceToHost,
                            ex->device.upload),
            err);
    GPU_TRY(ordinal, cudaStreamSynchronize(ex->device.upload), err);
    return check_points(ex, bad, err);
}

static void cuda_unload(executor *base) {
    cuda_executor *ex = cuda_of(base);
    const gpu_device *d = &ex->device;
    if (ex->work == NULL) return;
    if (gpu_device_use(d, NULL) == CUZK_OK) {
        /* the slots and the work region held a witness */
        const gpu_region *const secret[] = {&ex->plan.bits[0],   &ex->plan.bits[1],
                                            &ex->plan.values[0], &ex->plan.values[1],
                                            &ex->plan.work,      &ex->plan.sums};
        (void)cudaStreamSynchronize(d->upload);
        (void)cudaStreamSynchronize(d->side);
        for (size_t i = 0; i < sizeof secret / sizeof secret[0]; i++)
            (void)cudaMemsetAsync(in_arena(ex, secret[i]->at), 0, secret[i]->bytes, d->compute);
        (void)cudaStreamSynchronize(d->compute);
    }
    if (ex->spill != NULL) explicit_bzero(ex->spill, ex->plan.spill_bytes);
    cuzk_host_free(base->host, ex->spill, ex->plan.spill_bytes, 1);
    cuzk_host_free(base->host, ex->work, ex->max_work, sizeof *ex->work);
    ex->spill = NULL;
    ex->work = NULL;
    ex->loaded = false;
    for (int i = 0; i < CUZK_GPU_SLOTS; i++)
        ex->slots[i].state = SLOT_FREE;
}

static cuzk_status cuda_load(executor *base, const executor_key *key, cuzk_error *err) {
    cuda_executor *ex = cuda_of(base);
    void *memory = NULL, *spill = NULL;
    CUZK_TRY(groth16_params_fit(key->params, key->circuit, err));
    CUZK_TRY(gpu_device_use(&ex->device, err));
    cuda_unload(base);
    ex->key = *key;
    CUZK_TRY(make_plan(ex, key, &ex->image, &ex->plan, err));
    ex->max_work = plan_steps(&ex->plan);
    CUZK_TRY(cuzk_host_alloc(base->host, &memory, ex->max_work, sizeof *ex->work, "steps", err));
    ex->work = memory;
    cuzk_status status = CUZK_OK;
    if (ex->plan.spill_bytes != 0)
        status = cuzk_host_alloc(base->host, &spill, ex->plan.spill_bytes, 1, "quotient", err);
    ex->spill = spill;
    if (status == CUZK_OK) status = load_all(ex, err);
    if (status != CUZK_OK) cuda_unload(base);
    ex->loaded = status == CUZK_OK;
    return status;
}

/* ---- a partition ---- */

static cuzk_status mark(cuda_executor *ex, gpu_slot *slot, int i, cudaStream_t stream,
                        cuzk_error *err) {
    return gpu_check(ordinal_of(ex), cudaEventRecord(slot->mark[i], stream), "cudaEventRecord",
                     err);
}

static cuzk_status upload_witness(cuda_executor *ex, unsigned s, const witness *w,
                                  cuzk_error *err) {
    const gpu_plan *p = &ex->plan;
    gpu_device *d = &ex->device;
    const uint64_t inputs = w->n_inputs * sizeof(fr_t);
    CUZK_TRY(mark(ex, &ex->slots[s], MARK_UPLOAD, d->upload, err));
    CUZK_TRY(gpu_upload(d, p->bits[s].at, w->bits, p->bits[s].bytes, err));
    CUZK_TRY(gpu_upload(d, p->values[s].at, w->inputs, inputs, err));
    CUZK_TRY(gpu_upload(d, p->values[s].at + inputs, w->fields, w->n_fields * sizeof(fr_t), err));
    return mark(ex, &ex->slots[s], MARK_UPLOADED, d->upload, err);
}

static cuzk_status evaluate(cuda_executor *ex, unsigned s, int matrix, void *out, cuzk_error *err) {
    const gpu_plan *p = &ex->plan;
    return cuzk_gpu_eval(&ex->image, in_arena(ex, p->image.at), matrix, p->ntt.log2_n,
                         in_arena(ex, p->bits[s].at), in_arena(ex, p->values[s].at), out,
                         ex->device.compute, err);
}

/* The quotient with two vectors: a = h in bit-reversed order. C's share goes to the host and comes
 * back through b; A w is evaluated twice. */
static cuzk_status quotient_spilled(cuda_executor *ex, unsigned s, void *a, uint64_t b_at,
                                    cuzk_error *err) {
    const gpu_plan *p = &ex->plan;
    gpu_device *d = &ex->device;
    void *const tables = in_arena(ex, p->ntt_tables.at), *const b = in_arena(ex, b_at);
    CUZK_TRY(cuzk_gpu_quotient_c(&p->ntt, tables, a, b, d->compute, err));
    CUZK_TRY(gpu_download(d, ex->spill, a, p->spill_bytes, d->compute, err));
    CUZK_TRY(evaluate(ex, s, R1CS_A, a, err));
    CUZK_TRY(cuzk_gpu_quotient_product(&p->ntt, tables, a, b, d->compute, err));
    GPU_TRY(ordinal_of(ex), cudaEventRecord(ex->turn, d->compute), err);
    GPU_TRY(ordinal_of(ex), cudaStreamWaitEvent(d->upload, ex->turn, 0), err);
    CUZK_TRY(gpu_upload(d, b_at, ex->spill, p->spill_bytes, err));
    GPU_TRY(ordinal_of(ex), cudaEventRecord(ex->turn, d->upload), err);
    GPU_TRY(ordinal_of(ex), cudaStreamWaitEvent(d->compute, ex->turn, 0), err);
    return cuzk_gpu_subtract(a, b, (uint64_t)1 << p->ntt.log2_n, d->compute, err);
}

/* h's coefficients at the front of the work region: bit-reversed for one sum over all, in order
 * where it is summed in steps. */
static cuzk_status quotient(cuda_executor *ex, unsigned s, cuzk_error *err) {
    const gpu_plan *p = &ex->plan;
    const cudaStream_t stream = ex->device.compute;
    const uint64_t vector = (uint64_t)sizeof(fr_t) << p->ntt.log2_n, x0 = p->work.at,
                   x1 = x0 + vector, x2 = x1 + vector;
    void *const a = in_arena(ex, p->h_reversed ? x0 : x1);
    const uint64_t b_at = p->h_reversed ? x1 : p->spill_bytes != 0 ? x0 : x2;
    CUZK_TRY(evaluate(ex, s, R1CS_A, a, err));
    CUZK_TRY(evaluate(ex, s, R1CS_B, in_arena(ex, b_at), err));
    CUZK_TRY(mark(ex, &ex->slots[s], MARK_EVALUATED, stream, err));
    if (p->spill_bytes != 0)
        CUZK_TRY(quotient_spilled(ex, s, a, b_at, err));
    else
        CUZK_TRY(cuzk_gpu_quotient(&p->ntt, in_arena(ex, p->ntt_tables.at), a, in_arena(ex, b_at),
                                   in_arena(ex, p->h_reversed ? x2 : x0), stream, err));
    if (!p->h_reversed)
        CUZK_TRY(cuzk_gpu_bit_reverse(p->ntt.log2_n, in_arena(ex, x0), a, stream, err));
    return mark(ex, &ex->slots[s], MARK_QUOTIENT, stream, err);
}

/* The witness as a query sees it. */
static cuzk_status select_witness(cuda_executor *ex, unsigned s, gpu_query q, cuzk_error *err) {
    const gpu_plan *p = &ex->plan;
    const gpu_density d = gpu_query_density(q);
    const gpu_selection at = gpu_selection_at(p, q, s);
    if (q == GPU_QUERY_B_G2) return CUZK_OK; /* b_g1 left it there */
    if (d != GPU_DENSITY_L)                  /* l takes the witness' bits as they are */
        CUZK_TRY(cuzk_gpu_compact(in_arena(ex, p->bits[s].at), in_arena(ex, p->maps[d].at),
                                  in_arena(ex, p->ranks[d].at), ex->key.circuit->aux,
                                  p->query[q].aux, in_arena(ex, at.bits), stream_of(ex, q), err));
    return cuzk_gpu_gather(in_arena(ex, p->values[s].at), in_arena(ex, p->from[d].at),
                           p->query[q].scalars, in_arena(ex, at.scalars), stream_of(ex, q), err);
}

/* Bring a step's points into the next tile; *points is where its base lies. */
static cuzk_status stream_tile(cuda_executor *ex, const gpu_work *w, const uint8_t **points,
                               unsigned *tile, cuzk_error *err) {
    const gpu_query_plan *query = &ex->plan.query[w->query];
    gpu_device *d = &ex->device;
    const uint64_t size = CUZK_GPU_AFFINE_BYTES(query->curve);
    const uint8_t *from = query_bases(ex->key.params, w->query).data;
    *tile = ex->tile_next++ % 2;
    uint8_t *const to = in_arena(ex, ex->plan.tile[*tile].at);
    GPU_TRY(ordinal_of(ex), cudaStreamWaitEvent(d->upload, ex->tile_free[*tile], 0), err);
    CUZK_TRY(gpu_upload(d, ex->plan.tile[*tile].at, from + w->step.base * size,
                        w->step.bases * size, err));
    CUZK_TRY(cuzk_gpu_decode(query->curve, to, to, w->step.bases, w->step.base,
                             (uint64_t *)in_arena(ex, ex->plan.bad.at) + w->query, d->upload, err));
    GPU_TRY(ordinal_of(ex), cudaEventRecord(ex->tile_full[*tile], d->upload), err);
    GPU_TRY(ordinal_of(ex), cudaStreamWaitEvent(d->compute, ex->tile_full[*tile], 0), err);
    *points = to;
    return CUZK_OK;
}

/* The sums of a step for one slot. points: of the step's first base. */
static cuzk_status sum_step(cuda_executor *ex, unsigned s, const gpu_work *w, const uint8_t *points,
                            cuzk_error *err) {
    const gpu_plan *p = &ex->plan;
    const cudaStream_t stream = stream_of(ex, w->query);
    const uint64_t size = CUZK_GPU_AFFINE_BYTES(p->query[w->query].curve);
    void *const scratch = in_arena(ex, gpu_scratch_at(p, w->query));
    uint8_t *const results = in_arena(ex, p->results[s].at);
    cuzk_gpu_scalars source = {0};
    if (w->query == GPU_QUERY_H) {
        source.scalars = in_arena(ex, p->work.at + w->scalars.first * sizeof(fr_t));
        source.bit_reversed_log2_n = p->h_reversed ? p->ntt.log2_n : 0;
        return cuzk_gpu_msm(&w->msm, points, &source, scratch, results + w->msm_result, stream,
                            err);
    }
    const gpu_density d = gpu_query_density(w->query);
    const gpu_selection at = gpu_selection_at(p, w->query, s);
    const uint64_t *bits = in_arena(ex, d == GPU_DENSITY_L ? p->bits[s].at : at.bits);
    if (w->subset.n != 0)
        CUZK_TRY(cuzk_gpu_subset(&w->subset, points + (w->step.bases - w->step.aux) * size,
                                 bits + w->step.first / 64, scratch, results + w->subset_result,
                                 stream, err));
    if (w->msm.n == 0) return CUZK_OK;
    source.scalars = in_arena(ex, at.scalars + w->scalars.first * sizeof(fr_t));
    const gpu_region *fields = &p->query[w->query].fields;
    if (fields->bytes != 0)
        return cuzk_gpu_msm(&w->msm, in_arena(ex, fields->at), &source, scratch,
                            results + w->msm_result, stream, err);
    source.index = (const uint32_t *)in_arena(ex, p->index[d].at) + w->scalars.first;
    /* indices count from the query's first base */
    return cuzk_gpu_msm(&w->msm, points - w->step.base * size, &source, scratch,
                        results + w->msm_result, stream, err);
}

/* A step for several slots: its points are brought once. */
static cuzk_status run_step(cuda_executor *ex, const unsigned *slots, unsigned n, const gpu_work *w,
                            cuzk_error *err) {
    const gpu_query_plan *query = &ex->plan.query[w->query];
    const uint64_t size = CUZK_GPU_AFFINE_BYTES(query->curve);
    const uint8_t *points = in_arena(ex, query->points.at + w->step.base * size);
    unsigned tile = 0;
    if (!query->resident) CUZK_TRY(stream_tile(ex, w, &points, &tile, err));
    for (unsigned i = 0; i < n; i++)
        CUZK_TRY(sum_step(ex, slots[i], w, points, err));
    if (query->resident) return CUZK_OK;
    return gpu_check(ordinal_of(ex), cudaEventRecord(ex->tile_free[tile], ex->device.compute),
                     "cudaEventRecord", err);
}

static cuzk_status run_query(cuda_executor *ex, const unsigned *slots, unsigned n, gpu_query q,
                             cuzk_error *err) {
    for (unsigned i = 0; q != GPU_QUERY_H && i < n; i++)
        CUZK_TRY(select_witness(ex, slots[i], q, err));
    for (size_t i = 0; i < ex->n_work; i++)
        if (ex->work[i].query == q) CUZK_TRY(run_step(ex, slots, n, &ex->work[i], err));
    for (unsigned i = 0; i < n; i++)
        CUZK_TRY(mark(ex, &ex->slots[slots[i]], MARK_QUERY + (int)q, stream_of(ex, q), err));
    return CUZK_OK;
}

static cuzk_status fetch_results(cuda_executor *ex, unsigned s, cuzk_error *err) {
    const gpu_plan *p = &ex->plan;
    gpu_slot *slot = &ex->slots[s];
    const cudaStream_t stream = ex->device.compute;
    GPU_TRY(ordinal_of(ex),
            cudaMemcpyAsync(slot->results, in_arena(ex, p->results[s].at), ex->result_bytes,
                            cudaMemcpyDeviceToHost, stream),
            err);
    GPU_TRY(ordinal_of(ex),
            cudaMemcpyAsync(slot->bad, in_arena(ex, p->bad.at), p->bad.bytes,
                            cudaMemcpyDeviceToHost, stream),
            err);
    CUZK_TRY(mark(ex, slot, MARK_DONE, stream, err));
    slot->state = SLOT_RUNNING;
    return CUZK_OK;
}

/* The quotient and the sum over h. */
static cuzk_status compute_h(cuda_executor *ex, unsigned s, cuzk_error *err) {
    gpu_slot *slot = &ex->slots[s];
    GPU_TRY(ordinal_of(ex), cudaStreamWaitEvent(ex->device.compute, slot->mark[MARK_UPLOADED], 0),
            err);
    CUZK_TRY(mark(ex, slot, MARK_START, ex->device.compute, err));
    CUZK_TRY(quotient(ex, s, err));
    return run_query(ex, &s, 1, GPU_QUERY_H, err);
}

/* The other sums on the side stream: they fill the gaps that h's leave, and are enqueued first so
 * that they are there when a gap comes. */
static cuzk_status compute_overlapped(cuda_executor *ex, unsigned s, cuzk_error *err) {
    gpu_slot *slot = &ex->slots[s];
    GPU_TRY(ordinal_of(ex), cudaStreamWaitEvent(ex->device.side, slot->mark[MARK_UPLOADED], 0),
            err);
    CUZK_TRY(mark(ex, slot, MARK_SIDE, ex->device.side, err));
    for (gpu_query q = GPU_QUERY_L; q < GPU_QUERIES; q++)
        CUZK_TRY(run_query(ex, &s, 1, q, err));
    CUZK_TRY(compute_h(ex, s, err));
    GPU_TRY(ordinal_of(ex), cudaStreamWaitEvent(ex->device.compute, slot->mark[MARK_DONE - 1], 0),
            err);
    return fetch_results(ex, s, err);
}

/* Everything from uploaded witnesses to results in pinned memory. h's vectors are the work region
 * of one slot at a time; the other queries share each step. */
static cuzk_status compute(cuda_executor *ex, const unsigned *slots, unsigned n, cuzk_error *err) {
    if (ex->plan.overlapped) {
        for (unsigned i = 0; i < n; i++)
            CUZK_TRY(compute_overlapped(ex, slots[i], err));
        return CUZK_OK;
    }
    for (unsigned i = 0; i < n; i++)
        CUZK_TRY(compute_h(ex, slots[i], err));
    for (gpu_query q = GPU_QUERY_L; q < GPU_QUERIES; q++)
        CUZK_TRY(run_query(ex, slots, n, q, err));
    for (unsigned i = 0; i < n; i++)
        CUZK_TRY(fetch_results(ex, slots[i], err));
    return CUZK_OK;
}

/* Compute every slot that waits. */
static cuzk_status compute_waiting(cuda_executor *ex, cuzk_error *err) {
    unsigned slots[CUZK_GPU_SLOTS], n = 0;
    for (unsigned s = 0; s < CUZK_GPU_SLOTS; s++)
        if (ex->slots[s].state == SLOT_UPLOADED) slots[n++] = s;
    const cuzk_status status = compute(ex, slots, n, err);
    for (unsigned i = 0; status != CUZK_OK && i < n; i++)
        ex->slots[slots[i]].state = SLOT_FAILED;
    return status;
}

/* Resident points: compute what is uploaded, unless another partition is being computed. That one
 * behind it stays free to be withdrawn; it is enqueued by the first call after the running one's
 * finish, a millisecond of idleness in a second. */
static cuzk_status compute_next(cuda_executor *ex, cuzk_error *err) {
    for (unsigned s = 0; s < CUZK_GPU_SLOTS; s++)
        if (ex->slots[s].state == SLOT_RUNNING) return CUZK_OK;
    return all_resident(&ex->plan) ? compute_waiting(ex, err) : CUZK_OK;
}

static cuzk_status cuda_begin(executor *base, unsigned s, const witness *w, cuzk_error *err) {
    cuda_executor *ex = cuda_of(base);
    if (!ex->loaded)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "GPU %d: begin without a loaded circuit",
                         ordinal_of(ex));
    if (s >= CUZK_GPU_SLOTS || ex->slots[s].state != SLOT_FREE)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "GPU %d: slot %u is %s", ordinal_of(ex), s,
                         s >= CUZK_GPU_SLOTS ? "out of range" : "in use");
    const r1cs *c = ex->key.circuit;
    if (w->n_aux != c->aux || w->n_fields != c->fields || w->n_inputs != c->inputs)
        return cuzk_fail(err, CUZK_ERR_MISMATCH,
                         "witness of %llu aux, %llu field and %llu input values for circuit %s of "
                         "%llu, %llu and %llu",
                         (unsigned long long)w->n_aux, (unsigned long long)w->n_fields,
                         (unsigned long long)w->n_inputs, c->name, (unsigned long long)c->aux,
                         (unsigned long long)c->fields, (unsigned long long)c->inputs);
    CUZK_TRY(gpu_device_use(&ex->device, err));
    CUZK_TRY(compute_next(ex, err)); /* before the upload, which takes milliseconds */
    CUZK_TRY(upload_witness(ex, s, w, err));
    ex->slots[s].state = SLOT_UPLOADED;
    /* Where points are streamed, the host takes part: that is finish's work. */
    const cuzk_status status = compute_next(ex, err);
    if (status != CUZK_OK) ex->slots[s].state = SLOT_FREE;
    return status;
}

static bool cuda_withdraw(executor *base, unsigned s) {
    cuda_executor *ex = cuda_of(base);
    if (s >= CUZK_GPU_SLOTS || ex->slots[s].state != SLOT_UPLOADED) return false;
    ex->slots[s].state = SLOT_FREE; /* the next upload comes behind this one's, or unload wipes */
    return true;
}

/* ---- the end of a partition ---- */

static void add_result(const gpu_work *w, const uint8_t *results, groth16_sums *out) {
    g1_t *const g1[] = {&out->h, &out->l, &out->a, &out->b_g1};
    const bool g2 = w->query == GPU_QUERY_B_G2;
    if (w->subset.n != 0) {
        const void *const sum = results + w->subset_result;
        if (g2)
            g2_add(&out->b_g2, &out->b_g2, sum);
        else
            g1_add(g1[w->query], g1[w->query], sum);
    }
    if (w->msm.n == 0) return;
    if (g2) {
        g2_t sum;
        cuzk_msm_finish_g2(&w->msm, results + w->msm_result, &sum);
        g2_add(&out->b_g2, &out->b_g2, &sum);
    } else {
        g1_t sum;
        cuzk_msm_finish_g1(&w->msm, results + w->msm_result, &sum);
        g1_add(g1[w->query], g1[w->query], &sum);
    }
}

static cuzk_status elapsed(const cuda_executor *ex, const gpu_slot *slot, int from, int to,
                           double *ms, cuzk_error *err) {
    float value = 0;
    GPU_TRY(ordinal_of(ex), cudaEventElapsedTime(&value, slot->mark[from], slot->mark[to]), err);
    *ms = (double)value;
    return CUZK_OK;
}

/* Phases may overlap; what is not uploading, evaluation or transforms counts as sums. */
static cuzk_status measure(cuda_executor *ex, const gpu_slot *slot, executor_timing *timing,
                           cuzk_error *err) {
    executor_timing t = {0};
    double computing, *const ms = ex->phases.ms;
    CUZK_TRY(elapsed(ex, slot, MARK_UPLOAD, MARK_UPLOADED, &ms[0], err));
    for (int i = 1; i < CUDA_PHASES; i++) {
        const int end = MARK_START + i;
        const bool first = end == MARK_QUERY + GPU_QUERY_L && ex->plan.overlapped;
        CUZK_TRY(elapsed(ex, slot, first ? MARK_SIDE : end - 1, end, &ms[i], err));
    }
    CUZK_TRY(elapsed(ex, slot, MARK_START, MARK_DONE, &computing, err));
    t.upload_ms = ms[0];
    t.eval_ms = ms[1];
    t.ntt_ms = ms[2];
    t.msm_ms = computing - t.eval_ms - t.ntt_ms;
    t.total_ms = t.upload_ms + computing;
    if (timing != NULL) *timing = t;
    return CUZK_OK;
}

static cuzk_status collect(cuda_executor *ex, gpu_slot *slot, groth16_sums *out,
                           executor_timing *timing, cuzk_error *err) {
    GPU_TRY(ordinal_of(ex), cudaEventSynchronize(slot->mark[MARK_DONE]), err);
    CUZK_TRY(check_points(ex, slot->bad, err));
    *out =
        (groth16_sums){g1_infinity(), g1_infinity(), g1_infinity(), g1_infinity(), g2_infinity()};
    for (size_t i = 0; i < ex->n_work; i++)
        add_result(&ex->work[i], slot->results, out);
    return measure(ex, slot, timing, err);
}

static cuzk_status cuda_finish(executor *base, unsigned s, groth16_sums *out,
                               executor_timing *timing, cuzk_error *err) {
    cuda_executor *ex = cuda_of(base);
    if (s >= CUZK_GPU_SLOTS || ex->slots[s].state == SLOT_FREE)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "GPU %d: slot %u was not begun", ordinal_of(ex),
                         s);
    gpu_slot *slot = &ex->slots[s];
    cuzk_status status = gpu_device_use(&ex->device, err);
    if (status == CUZK_OK && slot->state == SLOT_UPLOADED) status = compute_waiting(ex, err);
    if (status == CUZK_OK && slot->state == SLOT_FAILED)
        status =
            cuzk_fail(err, CUZK_ERR_DEVICE,
                      "GPU %d: the partition beside this one failed on the device", ordinal_of(ex));
    if (status == CUZK_OK) status = collect(ex, slot, out, timing, err);
    slot->state = SLOT_FREE;
    return status;
}

/* ---- opening and closing ---- */

static void cuda_close(executor *base) {
    cuda_executor *ex = cuda_of(base);
    cuda_unload(base);
    (void)cudaSetDevice(ordinal_of(ex));
    for (int i = 0; i < CUZK_GPU_SLOTS; i++) {
        for (int k = 0; k < MARKS; k++)
            if (ex->slots[i].mark[k] != NULL) (void)cudaEventDestroy(ex->slots[i].mark[k]);
        if (ex->slots[i].results != NULL) (void)cudaFreeHost(ex->slots[i].results);
    }
    for (int i = 0; i < 2; i++) {
        if (ex->tile_full[i] != NULL) (void)cudaEventDestroy(ex->tile_full[i]);
        if (ex->tile_free[i] != NULL) (void)cudaEventDestroy(ex->tile_free[i]);
    }
    if (ex->turn != NULL) (void)cudaEventDestroy(ex->turn);
    gpu_device_close(&ex->device);
    cuzk_host_free(base->host, ex, 1, sizeof *ex);
}

static cuzk_status open_slots(cuda_executor *ex, cuzk_error *err) {
    const int ordinal = ordinal_of(ex);
    for (int i = 0; i < CUZK_GPU_SLOTS; i++) {
        gpu_slot *slot = &ex->slots[i];
        void *pinned = NULL;
        GPU_TRY(ordinal,
                cudaHostAlloc(&pinned, CUZK_GPU_RESULT_BYTES + GPU_QUERIES * sizeof(uint64_t),
                              cudaHostAllocDefault),
                err);
        slot->results = pinned;
        slot->bad = (uint64_t *)(void *)(slot->results + CUZK_GPU_RESULT_BYTES);
        for (int k = 0; k < MARKS; k++)
            GPU_TRY(ordinal, cudaEventCreate(&slot->mark[k]), err);
    }
    for (int i = 0; i < 2; i++) {
        GPU_TRY(ordinal, cudaEventCreateWithFlags(&ex->tile_full[i], cudaEventDisableTiming), err);
        GPU_TRY(ordinal, cudaEventCreateWithFlags(&ex->tile_free[i], cudaEventDisableTiming), err);
    }
    GPU_TRY(ordinal, cudaEventCreateWithFlags(&ex->turn, cudaEventDisableTiming), err);
    return CUZK_OK;
}

static const executor_ops cuda_ops = {
    .info = cuda_info,
    .plan = cuda_plan,
    .load = cuda_load,
    .unload = cuda_unload,
    .begin = cuda_begin,
    .finish = cuda_finish,
    .withdraw = cuda_withdraw,
    .close = cuda_close,
};

cuzk_status gpu_executor_open(const cuzk_host *host, const cuda_options *options, executor **out,
                              cuzk_error *err) {
    void *memory = NULL;
    *out = NULL;
    CUZK_TRY(cuzk_host_alloc(host, &memory, 1, sizeof(cuda_executor), "CUDA executor", err));
    cuda_executor *ex = memory;
    *ex = (cuda_executor){.base = {&cuda_ops, host}};
    cuzk_status status =
        gpu_device_open(&ex->device, host, options->device, options->vram_limit, err);
    if (status != CUZK_OK) {
        cuzk_host_free(host, ex, 1, sizeof *ex);
        return status;
    }
    status = open_slots(ex, err);
    if (status != CUZK_OK)
        cuda_close(&ex->base);
    else
        *out = &ex->base;
    return status;
}

void gpu_executor_phases(const executor *ex, cuda_phases *out) {
    *out = ((const cuda_executor *)(const void *)ex)->phases;
}
