/* The verifying key: layout, checks, and what is precomputed from it. */
#include "groth16/groth16_internal.h"

#include "base/bytes.h"

/* The fixed part of the layout, in file order (REFERENCE 2.2). */
typedef struct vk_field {
    const char *name;
    size_t offset; /* in the file */
    size_t member; /* in groth16_vk */
    bool g2;
} vk_field;
static const vk_field vk_fields[] = {
    {"alpha_g1", 0, offsetof(groth16_vk, alpha_g1), false},
    {"beta_g1", 96, offsetof(groth16_vk, beta_g1), false},
    {"beta_g2", 192, offsetof(groth16_vk, beta_g2), true},
    {"gamma_g2", 384, offsetof(groth16_vk, gamma_g2), true},
    {"delta_g1", 576, offsetof(groth16_vk, delta_g1), false},
    {"delta_g2", 672, offsetof(groth16_vk, delta_g2), true},
};
#define VK_FIELDS (sizeof vk_fields / sizeof vk_fields[0])
#define VK_IC_COUNT_AT 864u
#define VK_IC_AT 868u

static cuzk_status vk_field_read(groth16_vk *vk, const vk_field *f, const uint8_t *data,
                                 const char *what, cuzk_error *err) {
    uint8_t *member = (uint8_t *)vk + f->member;
    cuzk_status status;
    bool infinity;
    if (f->g2) {
        g2_affine_t *p = (g2_affine_t *)(void *)member;
        status = g2_read_uncompressed(p, data + f->offset, CURVE_CHECK_SUBGROUP);
        infinity = status == CUZK_OK && g2_affine_is_infinity(p);
    } else {
        g1_affine_t *p = (g1_affine_t *)(void *)member;
        status = g1_read_uncompressed(p, data + f->offset, CURVE_CHECK_SUBGROUP);
        infinity = status == CUZK_OK && g1_affine_is_infinity(p);
    }
    if (infinity) status = CUZK_ERR_INFINITY;
    if (status != CUZK_OK)
        return cuzk_fail(err, status, "%s: %s at byte %zu: %s", what, f->name, f->offset,
                         cuzk_status_name(status));
    return CUZK_OK;
}

/* Do p in G1 and q in G2 hide the same exponent? e(p, g2) = e(g1, q). */
static bool same_exponent(const g1_affine_t *p, const g2_affine_t *q) {
    g1_affine_t g1[2] = {*p};
    g1_affine_neg(&g1[1], &g1_generator);
    const g2_affine_t g2[2] = {g2_generator, *q};
    return pairing_product_is_one(g1, g2, 2);
}

static cuzk_status vk_sanity(const groth16_vk *vk, const char *what, cuzk_error *err) {
    if (g2_affine_eq(&vk->delta_g2, &vk->gamma_g2))
        return cuzk_fail(err, CUZK_ERR_MISMATCH,
                         "%s: delta_g2 equals gamma_g2: proofs under this key can be forged", what);
    if (g2_affine_eq(&vk->delta_g2, &g2_generator))
        return cuzk_fail(err, CUZK_ERR_MISMATCH,
                         "%s: delta_g2 is the generator: the key's set-up was never finished",
                         what);
    if (!same_exponent(&vk->beta_g1, &vk->beta_g2))
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "%s: beta_g1 and beta_g2 do not belong together",
                         what);
    if (!same_exponent(&vk->delta_g1, &vk->delta_g2))
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "%s: delta_g1 and delta_g2 do not belong together",
                         what);
    return CUZK_OK;
}

static cuzk_status vk_fill(const cuzk_host *host, groth16_vk *vk, const uint8_t *data,
                           const char *what, cuzk_error *err) {
    for (size_t i = 0; i < VK_FIELDS; i++)
        CUZK_TRY(vk_field_read(vk, &vk_fields[i], data, what, err));
    CUZK_TRY(vk_sanity(vk, what, err));
    void *ic = NULL;
    CUZK_TRY(cuzk_host_alloc(host, &ic, vk->n_ic, sizeof *vk->ic, "verifying key", err));
    vk->ic = ic;
    const groth16_points points = {what, "ic", data + VK_IC_AT, vk->n_ic, false};
    CUZK_TRY(groth16_points_check(host, &points, CURVE_CHECK_SUBGROUP, vk->ic, err));
    pairing(&vk->alpha_beta, &vk->alpha_g1, &vk->beta_g2);
    return CUZK_OK;
}

cuzk_status groth16_vk_parse(const cuzk_host *host, const uint8_t *data, size_t bytes,
                             const char *what, groth16_vk **out, size_t *used, cuzk_error *err) {
    *out = NULL;
    if (bytes < VK_IC_AT)
        return cuzk_fail(err, CUZK_ERR_FORMAT,
                         "%s: %zu bytes are too short for a verifying key (at least %u)", what,
                         bytes, VK_IC_AT);
    const size_t n_ic = load_be32(data + VK_IC_COUNT_AT);
    if (n_ic == 0)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: ic is empty, it must have at least one point",
                         what);
    if (n_ic > (bytes - VK_IC_AT) / G1_UNCOMPRESSED_BYTES)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: %zu ic points need %zu bytes, the file has %zu",
                         what, n_ic, GROTH16_VK_BYTES(n_ic), bytes);
    void *memory = NULL;
    CUZK_TRY(cuzk_host_alloc(host, &memory, 1, sizeof(groth16_vk), "verifying key", err));
    groth16_vk *vk = memory;
    memset(vk, 0, sizeof *vk);
    vk->n_ic = n_ic;
    const cuzk_status status = vk_fill(host, vk, data, what, err);
    if (status != CUZK_OK) {
        groth16_vk_free(host, vk);
        return status;
    }
    *out = vk;
    *used = GROTH16_VK_BYTES(n_ic);
    return CUZK_OK;
}

cuzk_status groth16_vk_read(const cuzk_host *host, const uint8_t *data, size_t bytes,
                            const char *what, groth16_vk **out, cuzk_error *err) {
    *out = NULL;
    /* Length first: cheaper than a few thousand subgroup checks before it. */
    if (bytes >= VK_IC_AT) {
        const uint64_t n_ic = load_be32(data + VK_IC_COUNT_AT);
        if (bytes != GROTH16_VK_BYTES(n_ic))
            return cuzk_fail(err, CUZK_ERR_FORMAT,
                             "%s: %zu bytes, but a verifying key with %zu ic points has %zu", what,
                             bytes, (size_t)n_ic, GROTH16_VK_BYTES(n_ic));
    }
    size_t used = 0;
    return groth16_vk_parse(host, data, bytes, what, out, &used, err);
}

void groth16_vk_free(const cuzk_host *host, groth16_vk *vk) {
    if (vk == NULL) return;
    cuzk_host_free(host, vk->ic, vk->n_ic, sizeof *vk->ic);
    cuzk_host_free(host, vk, 1, sizeof *vk);
}

void groth16_vk_write(const groth16_vk *vk, uint8_t *out) {
    for (size_t i = 0; i < VK_FIELDS; i++) {
        const uint8_t *member = (const uint8_t *)vk + vk_fields[i].member;
        if (vk_fields[i].g2)
            g2_write_uncompressed(out + vk_fields[i].offset,
                                  (const g2_affine_t *)(const void *)member);
        else
            g1_write_uncompressed(out + vk_fields[i].offset,
                                  (const g1_affine_t *)(const void *)member);
    }
    store_be32(out + VK_IC_COUNT_AT, (uint32_t)vk->n_ic);
    for (size_t i = 0; i < vk->n_ic; i++)
        g1_write_uncompressed(out + VK_IC_AT + i * G1_UNCOMPRESSED_BYTES, &vk->ic[i]);
}
