/* Template: bases by index, decoded when they come from a parameter file. */

#define ENCODED_BYTES (MSM_DEGREE * G1_UNCOMPRESSED_BYTES)
#define ENCODED_FLAGS 0xe0 /* compressed, infinity, sign */

/* The first bad base that a task met; status CUZK_OK: none. */
typedef struct bad_base {
    cuzk_status status;
    size_t index;
} bad_base;

static cuzk_status base_load(affine *z, const msm_bases *bases, size_t index) {
    if (bases->form == MSM_AFFINE) {
        *z = ((const affine *)bases->data)[index];
        return CUZK_OK;
    }
    const uint8_t *bytes = (const uint8_t *)bases->data + index * ENCODED_BYTES;
    if ((bytes[0] & ENCODED_FLAGS) != 0) return CUZK_ERR_FORMAT;
    return G_(read_uncompressed)(z, bytes, CURVE_CHECK_ENCODING);
}

/* The error of the lowest bad index among the tasks' reports. */
static cuzk_status bases_report(const bad_base *bad, size_t n, cuzk_error *err) {
    const bad_base *first = NULL;
    for (size_t i = 0; i < n; i++) {
        if (bad[i].status == CUZK_OK) continue;
        if (first == NULL || bad[i].index < first->index) first = &bad[i];
    }
    if (first == NULL) return CUZK_OK;
    const char *cause = first->status == CUZK_ERR_FORMAT ? "flag bits are set"
                        : first->status == CUZK_ERR_ARGUMENT
                            ? "no such base"
                            : "a coordinate is not below the modulus";
    return cuzk_fail(err, first->status, "MSM base %zu: %s", first->index, cause);
}

static cuzk_status bases_check_count(const msm_bases *bases, size_t n, cuzk_error *err) {
    if (n <= bases->count) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_ARGUMENT, "MSM over %zu terms has %zu bases", n, bases->count);
}
