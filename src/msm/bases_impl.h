/* Template: bases by index, decoded when they come from a parameter file. */

#define ENCODED_BYTES (MSM_DEGREE * G1_UNCOMPRESSED_BYTES)
#define ENCODED_FLAGS 0xe0 /* compressed, infinity, sign */

/* The first bad base that a task met; status CUZK_OK: none. */
typedef struct bad_base {
    cuzk_status status;
    size_t index;
} bad_base;

static cuzk_status base_decode(affine *z, const uint8_t *bytes) {
    if ((bytes[0] & ENCODED_FLAGS) != 0) return CUZK_ERR_FORMAT;
    return G_(read_uncompressed)(z, bytes, CURVE_CHECK_ENCODING);
}

/* z[i] = base index[i], i < n, up to the first bad one. */
static bad_base bases_load(affine *z, const msm_bases *bases, const size_t *index, size_t n) {
    size_t i = 0;
    if (bases->form == MSM_AFFINE) {
        for (; i < n; i++)
            z[i] = ((const affine *)bases->data)[index[i]];
        return (bad_base){CUZK_OK, 0};
    }
#if defined(__x86_64__)
    if (cuzk_cpu_has_avx512ifma()) i = OF_GROUP(msm_decode_ifma)(z, bases->data, index, n);
#endif
    for (; i < n; i++) {
        const uint8_t *bytes = (const uint8_t *)bases->data + index[i] * ENCODED_BYTES;
        const cuzk_status status = base_decode(&z[i], bytes);
        if (status != CUZK_OK) return (bad_base){status, index[i]};
    }
    return (bad_base){CUZK_OK, 0};
}

/* Infinity has no encoding among bases (see msm_bases). */
static bool base_is_infinity(const msm_bases *bases, size_t index) {
    return bases->form == MSM_AFFINE && is_infinity(&((const affine *)bases->data)[index]);
}

/* That of the lowest index among several reports. */
static bad_base bases_first_bad(const bad_base *bad, size_t n) {
    bad_base first = {CUZK_OK, 0};
    for (size_t i = 0; i < n; i++)
        if (bad[i].status != CUZK_OK && (first.status == CUZK_OK || bad[i].index < first.index))
            first = bad[i];
    return first;
}

static cuzk_status bases_report(bad_base bad, cuzk_error *err) {
    if (bad.status == CUZK_OK) return CUZK_OK;
    const char *cause = bad.status == CUZK_ERR_FORMAT     ? "flag bits are set"
                        : bad.status == CUZK_ERR_ARGUMENT ? "no such base"
                                                          : "a coordinate is not below the modulus";
    return cuzk_fail(err, bad.status, "MSM base %zu: %s", bad.index, cause);
}

static cuzk_status bases_check_count(const msm_bases *bases, size_t n, cuzk_error *err) {
    if (n <= bases->count) return CUZK_OK;
    return cuzk_fail(err, CUZK_ERR_ARGUMENT, "MSM over %zu terms has %zu bases", n, bases->count);
}
