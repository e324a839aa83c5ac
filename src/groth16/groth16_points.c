/* Checking many encoded points in parallel. */
#include "groth16/groth16_internal.h"

#include <stdatomic.h>

#define POINTS_PER_TASK 1024u
#define TASKS_PER_STEP 128u /* between two looks at progress and cancellation */

typedef struct points_job {
    const groth16_points *points;
    curve_check check;
    g1_affine_t *out;
    size_t first;       /* of this step */
    _Atomic size_t bad; /* least index that failed so far */
} points_job;

static size_t point_bytes(const groth16_points *points) {
    return points->g2 ? G2_UNCOMPRESSED_BYTES : G1_UNCOMPRESSED_BYTES;
}

static cuzk_status point_check(const points_job *job, size_t i) {
    const uint8_t *in = job->points->data + i * point_bytes(job->points);
    if (job->points->g2) {
        g2_affine_t p;
        CUZK_TRY(g2_read_uncompressed(&p, in, job->check));
        return g2_affine_is_infinity(&p) ? CUZK_ERR_INFINITY : CUZK_OK;
    }
    g1_affine_t p;
    CUZK_TRY(g1_read_uncompressed(&p, in, job->check));
    if (job->out != NULL) job->out[i] = p;
    return g1_affine_is_infinity(&p) ? CUZK_ERR_INFINITY : CUZK_OK;
}

static void points_task(void *arg, size_t task, unsigned worker) {
    (void)worker;
    points_job *job = arg;
    const size_t first = job->first + task * POINTS_PER_TASK;
    const size_t end = first + groth16_min(POINTS_PER_TASK, job->points->count - first);
    for (size_t i = first; i < end; i++) {
        if (point_check(job, i) == CUZK_OK) continue;
        size_t seen = atomic_load(&job->bad);
        while (i < seen && !atomic_compare_exchange_weak(&job->bad, &seen, i)) {
        }
        return;
    }
}

cuzk_status groth16_points_check(const cuzk_host *host, const groth16_points *points,
                                 curve_check check, g1_affine_t *out, cuzk_error *err) {
    points_job job = {.points = points, .check = check, .out = out};
    atomic_init(&job.bad, SIZE_MAX);
    const size_t step = (size_t)POINTS_PER_TASK * TASKS_PER_STEP;
    for (job.first = 0; job.first < points->count; job.first += step) {
        if (cuzk_host_cancelled(host))
            return cuzk_fail(err, CUZK_ERR_CANCELLED, "%s: %s: cancelled", points->file,
                             points->query);
        const size_t n = groth16_min(step, points->count - job.first);
        cuzk_host_parallel(host, (n + POINTS_PER_TASK - 1) / POINTS_PER_TASK, points_task, &job);
        const size_t bad = atomic_load(&job.bad);
        if (bad != SIZE_MAX) {
            const cuzk_status status = point_check(&job, bad);
            return cuzk_fail(err, status, "%s: %s[%zu] of %zu: %s", points->file, points->query,
                             bad, points->count, cuzk_status_name(status));
        }
        cuzk_host_progress(host, points->query, job.first + n, points->count);
    }
    return CUZK_OK;
}
