/* Parameter files: a mapping cut into five queries (REFERENCE 2.2). */
#include "groth16/groth16_internal.h"

#include "base/bytes.h"
#include "base/file.h"

#include <stdio.h>

/* One section: a u32 count in big-endian, then the points. *at moves past it. */
static cuzk_status section_open(const groth16_params *params, const char *name, size_t point_bytes,
                                size_t *at, msm_bases *out, cuzk_error *err) {
    const size_t left = params->map_bytes - *at;
    if (left < 4)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: file ends at byte %zu, before the count of %s",
                         params->path, params->map_bytes, name);
    const size_t count = load_be32(params->map + *at);
    if (count > (left - 4) / point_bytes)
        return cuzk_fail(err, CUZK_ERR_FORMAT,
                         "%s: %s at byte %zu has %zu points of %zu bytes, only %zu bytes are left",
                         params->path, name, *at, count, point_bytes, left - 4);
    *out = (msm_bases){params->map + *at + 4, count, MSM_ENCODED};
    *at += 4 + count * point_bytes;
    return CUZK_OK;
}

static cuzk_status sections_open(const cuzk_host *host, groth16_params *params, cuzk_error *err) {
    size_t at = 0;
    CUZK_TRY(groth16_vk_parse(host, params->map, params->map_bytes, params->path, &params->vk, &at,
                              err));
    CUZK_TRY(section_open(params, "h", G1_UNCOMPRESSED_BYTES, &at, &params->h, err));
    CUZK_TRY(section_open(params, "l", G1_UNCOMPRESSED_BYTES, &at, &params->l, err));
    CUZK_TRY(section_open(params, "a", G1_UNCOMPRESSED_BYTES, &at, &params->a, err));
    CUZK_TRY(section_open(params, "b_g1", G1_UNCOMPRESSED_BYTES, &at, &params->b_g1, err));
    CUZK_TRY(section_open(params, "b_g2", G2_UNCOMPRESSED_BYTES, &at, &params->b_g2, err));
    if (at != params->map_bytes)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: %zu bytes follow the last section at byte %zu",
                         params->path, params->map_bytes - at, at);
    if (params->b_g1.count != params->b_g2.count)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s: b_g1 has %zu points and b_g2 %zu", params->path,
                         params->b_g1.count, params->b_g2.count);
    if ((params->h.count & (params->h.count + 1)) != 0)
        return cuzk_fail(err, CUZK_ERR_FORMAT,
                         "%s: h has %zu points, which is not one less than a power of two",
                         params->path, params->h.count);
    return CUZK_OK;
}

cuzk_status groth16_params_open(const cuzk_host *host, const char *path, groth16_params **out,
                                cuzk_error *err) {
    *out = NULL;
    file_map map;
    CUZK_TRY(file_map_open(path, &map, err));
    void *memory = NULL;
    cuzk_status status =
        cuzk_host_alloc(host, &memory, 1, sizeof(groth16_params), "parameters", err);
    if (status != CUZK_OK) {
        file_map_close(&map);
        return status;
    }
    groth16_params *params = memory;
    memset(params, 0, sizeof *params);
    params->map = map.data;
    params->map_bytes = map.bytes;
    snprintf(params->path, sizeof params->path, "%s", path);
    status = sections_open(host, params, err);
    if (status != CUZK_OK) {
        groth16_params_close(host, params);
        return status;
    }
    *out = params;
    return CUZK_OK;
}

void groth16_params_close(const cuzk_host *host, groth16_params *params) {
    if (params == NULL) return;
    groth16_vk_free(host, params->vk);
    file_map map = {params->map, params->map_bytes};
    file_map_close(&map);
    cuzk_host_free(host, params, 1, sizeof *params);
}

cuzk_status groth16_params_fit(const groth16_params *params, const r1cs *circuit, cuzk_error *err) {
    const struct {
        const char *name;
        uint64_t found, expected;
    } queries[] = {
        {"ic", params->vk->n_ic, circuit->inputs},
        {"h", params->h.count, ((uint64_t)1 << circuit->log2_domain) - 1},
        {"l", params->l.count, circuit->aux},
        {"a", params->a.count, circuit->inputs + circuit->a_aux},
        {"b_g1", params->b_g1.count, circuit->b_inputs + circuit->b_aux},
        {"b_g2", params->b_g2.count, circuit->b_inputs + circuit->b_aux},
    };
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
        if (queries[i].found != queries[i].expected)
            return cuzk_fail(err, CUZK_ERR_MISMATCH,
                             "%s: %s has %llu points, circuit %s needs %llu: the parameters are of "
                             "another circuit",
                             params->path, queries[i].name, (unsigned long long)queries[i].found,
                             circuit->name, (unsigned long long)queries[i].expected);
    return CUZK_OK;
}

cuzk_status groth16_params_check(const cuzk_host *host, const groth16_params *params,
                                 curve_check check, cuzk_error *err) {
    const struct {
        const char *name;
        const msm_bases *bases;
        bool g2;
    } queries[] = {
        {"h", &params->h, false},       {"l", &params->l, false},      {"a", &params->a, false},
        {"b_g1", &params->b_g1, false}, {"b_g2", &params->b_g2, true},
    };
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++) {
        const groth16_points points = {params->path, queries[i].name, queries[i].bases->data,
                                       queries[i].bases->count, queries[i].g2};
        CUZK_TRY(groth16_points_check(host, &points, check, NULL, err));
    }
    return CUZK_OK;
}
