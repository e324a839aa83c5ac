/* Set-up points on a device: scalars become lists of 20 entries of a table of the generator's
 * multiples, d 2^(13 w) G for every digit d of every window w; the kernel that sums lists does the
 * rest. The tables of G1 and G2, 16 and 31 MB, stay in the L2 cache. */
#include <string.h>

#include "cuda/cuda_api.h"
#include "cuda/gpu_device.h"
#include "cuda/gpu_executor.h"
#include "cuda/partition.h"

#define CHUNK ((size_t)1 << 20)
#define TABLE_POINTS ((size_t)CUZK_FIXED_WINDOWS << CUZK_FIXED_BITS)

typedef struct cuda_encoder {
    groth16_encoder base; /* first */
    gpu_device device;
    cuzk_tree_plan plan[2]; /* G1, G2 */
    uint64_t table[2], scalars, list, starts, points, scratch, end;
} cuda_encoder;

static uint64_t reserve(uint64_t *total, uint64_t bytes) {
    const uint64_t at = *total;
    *total += (bytes + 255) / 256 * 256;
    return at;
}

static void lay_out(cuda_encoder *e) {
    size_t scratch = 0;
    e->end = 0;
    for (cuzk_gpu_group g = CUZK_GPU_G1; g <= CUZK_GPU_G2; g++) {
        e->table[g] = reserve(&e->end, TABLE_POINTS * CUZK_GPU_AFFINE_BYTES(g));
        const size_t bytes =
            cuzk_tree_plan_make(&e->plan[g], g, CHUNK * CUZK_FIXED_WINDOWS, CHUNK,
                                CUZK_FIXED_WINDOWS, e->device.limits.sms, e->device.limits.tuning);
        if (bytes > scratch) scratch = bytes;
    }
    e->scalars = reserve(&e->end, CHUNK * sizeof(fr_t));
    e->list = reserve(&e->end, CHUNK * CUZK_FIXED_WINDOWS * sizeof(uint32_t));
    e->starts = reserve(&e->end, (CHUNK + 1) * sizeof(uint32_t));
    e->points = reserve(&e->end, CHUNK * CUZK_GPU_AFFINE_BYTES(CUZK_GPU_G2));
    e->scratch = reserve(&e->end, scratch);
}

/* ---- tables ---- */

static void table_scalars(fr_t *k) {
    fr_t window = fr_one();
    for (size_t w = 0; w < CUZK_FIXED_WINDOWS; w++) {
        fr_t value = fr_zero();
        for (size_t d = 0; d < (size_t)1 << CUZK_FIXED_BITS; d++) {
            *k++ = value;
            fr_add(&value, &value, &window);
        }
        window = value;
    }
}

static cuzk_status fill_table(cuda_encoder *e, cuzk_gpu_group g, const fr_t *scalars, void *points,
                              cuzk_error *err) {
    const cuzk_host *host = e->device.host;
    cuzk_status status;
    if (g == CUZK_GPU_G1) {
        msm_fixed_g1 *table = NULL;
        CUZK_TRY(msm_fixed_g1_new(host, &g1_generator, TABLE_POINTS, &table, err));
        status = msm_fixed_g1_apply(host, table, scalars, TABLE_POINTS, points, err);
        msm_fixed_g1_free(host, table);
    } else {
        msm_fixed_g2 *table = NULL;
        CUZK_TRY(msm_fixed_g2_new(host, &g2_generator, TABLE_POINTS, &table, err));
        status = msm_fixed_g2_apply(host, table, scalars, TABLE_POINTS, points, err);
        msm_fixed_g2_free(host, table);
    }
    if (status != CUZK_OK) return status;
    return gpu_upload(&e->device, e->table[g], points, TABLE_POINTS * CUZK_GPU_AFFINE_BYTES(g),
                      err);
}

static cuzk_status fill_tables(cuda_encoder *e, cuzk_error *err) {
    const cuzk_host *host = e->device.host;
    void *scalars = NULL, *points = NULL;
    cuzk_status status =
        cuzk_host_alloc(host, &scalars, TABLE_POINTS, sizeof(fr_t), "fixed-base table", err);
    if (status == CUZK_OK)
        status = cuzk_host_alloc(host, &points, TABLE_POINTS, sizeof(g2_affine_t),
                                 "fixed-base table", err);
    if (status == CUZK_OK) table_scalars(scalars);
    for (cuzk_gpu_group g = CUZK_GPU_G1; status == CUZK_OK && g <= CUZK_GPU_G2; g++)
        status = fill_table(e, g, scalars, points, err);
    cuzk_host_free(host, scalars, TABLE_POINTS, sizeof(fr_t));
    cuzk_host_free(host, points, TABLE_POINTS, sizeof(g2_affine_t));
    return status;
}

/* ---- encoding ---- */

static cuzk_status cuda_encode(groth16_encoder *base, const fr_t *scalars, size_t n, bool g2,
                               uint8_t *out, cuzk_error *err) {
    cuda_encoder *e = (cuda_encoder *)(void *)base;
    gpu_device *d = &e->device;
    const cuzk_gpu_group g = g2 ? CUZK_GPU_G2 : CUZK_GPU_G1;
    const size_t bytes = n * CUZK_GPU_AFFINE_BYTES(g);
    if (n == 0 || n > CHUNK)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%zu scalars at once: at most %zu", n, CHUNK);
    CUZK_TRY(gpu_device_use(d, err));
    CUZK_TRY(gpu_upload(d, e->scalars, scalars, n * sizeof(fr_t), err));
    uint32_t *const list = (uint32_t *)(void *)(d->arena + e->list),
                    *const starts = (uint32_t *)(void *)(d->arena + e->starts);
    uint8_t *const points = d->arena + e->points;
    CUZK_TRY(cuzk_gpu_fixed_digits(d->arena + e->scalars, n, list, starts, d->upload, err));
    CUZK_TRY(cuzk_gpu_list_sums(g, &e->plan[g], d->arena + e->table[g], list, starts, (uint32_t)n,
                                points, d->arena + e->scratch, d->upload, err));
    /* the scratch of the sums is free again: encoded points go there */
    CUZK_TRY(cuzk_gpu_encode(g, d->arena + e->scratch, points, n, d->upload, err));
    return gpu_download(d, out, d->arena + e->scratch, bytes, d->upload, err);
}

void gpu_encoder_close(groth16_encoder *base) {
    cuda_encoder *e = (cuda_encoder *)(void *)base;
    const cuzk_host *host = e->device.host;
    (void)gpu_device_use(&e->device, NULL);
    /* secrets' multiples: scalars and digits */
    if (e->device.arena != NULL)
        (void)cudaMemsetAsync(e->device.arena, 0, e->end, e->device.upload);
    gpu_device_close(&e->device);
    cuzk_host_free(host, e, 1, sizeof *e);
}

cuzk_status gpu_encoder_open(const cuzk_host *host, const cuda_options *options,
                             groth16_encoder **out, cuzk_error *err) {
    void *memory = NULL;
    *out = NULL;
    CUZK_TRY(cuzk_host_alloc(host, &memory, 1, sizeof(cuda_encoder), "CUDA set-up", err));
    cuda_encoder *e = memory;
    *e = (cuda_encoder){.base = {CHUNK, cuda_encode}};
    cuzk_status status =
        gpu_device_open(&e->device, host, options->device, options->vram_limit, err);
    if (status != CUZK_OK) {
        cuzk_host_free(host, e, 1, sizeof *e);
        return status;
    }
    lay_out(e);
    if (e->end > e->device.arena_bytes) {
        status = cuzk_fail(err, CUZK_ERR_DEVICE_MEMORY,
                           "GPU %d: set-up needs %llu bytes of device memory, %llu are available",
                           e->device.info.ordinal, (unsigned long long)e->end,
                           (unsigned long long)e->device.arena_bytes);
        e->end = 0;
    }
    if (status == CUZK_OK) status = fill_tables(e, err);
    if (status != CUZK_OK)
        gpu_encoder_close(&e->base);
    else
        *out = &e->base;
    return status;
}
