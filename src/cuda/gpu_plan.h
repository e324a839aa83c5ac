/* The layout of a device's arena for one circuit: what stays (circuit, tables, points, upload
 * slots) and what a partition uses in turn. A pure function of (circuit, bytes, device constants);
 * no device is needed. docs/cuda.md draws it.
 *
 * The points of a query are resident, or streamed through two tile buffers; either way a query is
 * worked off in steps of whole tiles, so that the scratch of one step is bounded too. */
#ifndef CUZK_CUDA_GPU_PLAN_H
#define CUZK_CUDA_GPU_PLAN_H

#include "cuda/eval_image.h"
#include "cuda/msm_plan.h"
#include "cuda/ntt_plan.h"
#include "groth16/executor.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CUZK_GPU_SLOTS 2
/* Results of one partition's steps: also what is pinned on the host for each slot. */
#define CUZK_GPU_RESULT_BYTES ((uint64_t)16 << 20)

typedef enum gpu_query {
    GPU_QUERY_H,
    GPU_QUERY_L,
    GPU_QUERY_A,
    GPU_QUERY_B_G1,
    GPU_QUERY_B_G2,
    GPU_QUERIES
} gpu_query;
/* What selects the witness for a query: b_g1 and b_g2 share one. */
typedef enum gpu_density { GPU_DENSITY_L, GPU_DENSITY_A, GPU_DENSITY_B, GPU_DENSITIES } gpu_density;

/* Bases of a query: `inputs` of inputs, then `aux`; scalars: inputs and FIELD variables. */
typedef struct gpu_density_shape {
    uint64_t inputs, aux, scalars;
} gpu_density_shape;

/* What a plan depends on. */
typedef struct gpu_shape {
    char name[32];
    unsigned log2_domain;
    uint64_t inputs, aux, fields, image_bytes;
    gpu_density_shape density[GPU_DENSITIES];
} gpu_shape;
/* image: of the same circuit. */
void gpu_shape_of(gpu_shape *shape, const r1cs *circuit, const cuzk_eval_image *image);

typedef struct gpu_region {
    uint64_t at, bytes; /* from the arena's start */
} gpu_region;

typedef struct gpu_query_plan {
    cuzk_gpu_group curve;
    uint64_t inputs, aux, scalars; /* of h: no inputs, aux = scalars = 2^log2_domain - 1 */
    bool resident;
    /* Of the points that the query's MSM takes: of h all, in `points`; of the others those of
     * inputs and FIELD variables, which then lie in `fields`, n = scalars of them. */
    unsigned copies;
    bool pairs;        /* behind the aux points lie the sums of neighbours, for the subset sum */
    uint64_t tile;     /* aux bases a step, a multiple of 64 unless there is one step */
    uint64_t tiles;    /* steps */
    gpu_region points; /* when resident; copies of h's are 2^log2_domain points apart */
    gpu_region fields; /* empty where the MSM finds its bases among `points` by their index */
} gpu_query_plan;

typedef struct gpu_plan {
    uint64_t arena_bytes, used_bytes;
    cuzk_ntt_plan ntt;
    gpu_region image, ntt_tables;
    gpu_region maps[GPU_DENSITIES], ranks[GPU_DENSITIES]; /* empty for L */
    gpu_region index[GPU_DENSITIES], from[GPU_DENSITIES]; /* u32 a scalar */
    gpu_region bits[CUZK_GPU_SLOTS], values[CUZK_GPU_SLOTS], results[CUZK_GPU_SLOTS];
    gpu_region bad;     /* u64 a query: first undecodable point */
    gpu_region tile[2]; /* of streamed queries */
    gpu_region work;    /* vectors, then scratch of h */
    gpu_region sums;    /* selections and scratch of the other queries */
    bool overlapped;    /* sums lies behind work; else it is the same region, used after h */
    /* What the memory beyond a resident plan's least is used for (overlap, wide tables of the
     * transforms, copies of points, sums of neighbours) saves a partition: about as much as so many
     * additions. */
    uint64_t saved;
    gpu_query_plan query[GPU_QUERIES];
    bool h_reversed; /* h is summed in bit-reversed order, in one step */
    /* The quotient has two vectors in the work region, and C's coefficients wait on the host:
     * spill_bytes of it, else 0. */
    uint64_t spill_bytes;
    /* Witness selections in front of a query's scratch: one for each slot where points are
     * streamed, since a tile then serves all partitions that wait. */
    unsigned selections;
} gpu_plan;

/* Constants of a device that shape scratch memory. */
typedef struct gpu_limits {
    unsigned sms;
    const cuzk_gpu_tuning *tuning;
    executor_effort effort; /* what loading may take time for: executor.h */
} gpu_limits;

/* CUZK_ERR_DEVICE_MEMORY, with the bytes needed and available, when the arena is too small. */
cuzk_status gpu_plan_make(gpu_plan *plan, const gpu_shape *shape, uint64_t arena_bytes,
                          const gpu_limits *limits, cuzk_error *err);

/* Which density a query has; not for h. */
gpu_density gpu_query_density(gpu_query q);
const char *gpu_query_name(gpu_query q);

/* Where a slot's selection lies for a query: packed bits, then scalars. Not for h. */
typedef struct gpu_selection {
    uint64_t bits, scalars; /* from the arena's start */
} gpu_selection;
gpu_selection gpu_selection_at(const gpu_plan *plan, gpu_query q, unsigned slot);
/* Scratch for the sums of a query, in the work or the sums region: from the arena's start. */
uint64_t gpu_scratch_at(const gpu_plan *plan, gpu_query q);
uint64_t gpu_scratch_bytes(const gpu_plan *plan, gpu_query q);

/* A step of a query: aux bases first .. first + aux, and with them in step 0 the inputs'. */
typedef struct gpu_step {
    uint64_t base, bases; /* in the query's points */
    uint64_t first, aux;
} gpu_step;
gpu_step gpu_step_of(const gpu_query_plan *q, uint64_t step);

#ifdef __cplusplus
}
#endif
#endif
