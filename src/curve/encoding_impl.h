/* The zcash encoding of a curve's points (curve.h has the rules): a template, included after
 * weierstrass_impl.h with the same CURVE, CURVE_FIELD and CURVE_B, and FIELD_BYTES, the bytes of a
 * coordinate. */
#include <string.h>

#include "field/template.h"

#define C_(name) TEMPLATE_NAME(CURVE, name)
#define C_AFFINE C_(affine_t)
#define F_(name) TEMPLATE_NAME(CURVE_FIELD, name)
#define F_T F_(t)

#define FLAG_COMPRESSED 0x80u
#define FLAG_INFINITY 0x40u
#define FLAG_SIGN 0x20u
#define FLAGS (FLAG_COMPRESSED | FLAG_INFINITY | FLAG_SIGN)

static bool C_(bytes_are_zero)(const uint8_t *bytes, size_t n) {
    uint8_t any = 0;
    for (size_t i = 0; i < n; i++)
        any |= bytes[i];
    return any == 0;
}

/* A coordinate whose first byte carries flags. */
static cuzk_status C_(read_first)(F_T *x, const uint8_t *in) {
    uint8_t plain[FIELD_BYTES];
    memcpy(plain, in, FIELD_BYTES);
    plain[0] &= (uint8_t)~FLAGS;
    return F_(from_bytes)(x, plain);
}

/* Flags other than infinity alone, or anything beside them, is a malformed infinity. */
static cuzk_status C_(read_infinity)(C_AFFINE *z, const uint8_t *in, size_t n) {
    const bool clean = (in[0] & (uint8_t) ~(FLAG_COMPRESSED | FLAG_INFINITY)) == 0 &&
                       C_(bytes_are_zero)(in + 1, n - 1);
    if (!clean) return CUZK_ERR_FORMAT;
    z->x = z->y = F_(zero)();
    return CUZK_OK;
}

/* z is on the curve. */
static cuzk_status C_(check_subgroup)(const C_AFFINE *z, curve_check check) {
    if (check < CURVE_CHECK_SUBGROUP || C_(affine_in_subgroup)(z)) return CUZK_OK;
    return CUZK_ERR_NOT_IN_GROUP;
}

cuzk_status C_(read_uncompressed)(C_AFFINE *z, const uint8_t in[2 * FIELD_BYTES],
                                  curve_check check) {
    C_AFFINE p;
    if ((in[0] & (FLAG_COMPRESSED | FLAG_SIGN)) != 0) return CUZK_ERR_FORMAT;
    if ((in[0] & FLAG_INFINITY) != 0) return C_(read_infinity)(z, in, 2 * FIELD_BYTES);
    CUZK_TRY(C_(read_first)(&p.x, in));
    CUZK_TRY(F_(from_bytes)(&p.y, in + FIELD_BYTES));
    if (check >= CURVE_CHECK_ON_CURVE) {
        /* (0, 0) is not on the curve, but is how memory holds infinity */
        if (C_(affine_is_infinity)(&p) || !C_(affine_is_on_curve)(&p)) return CUZK_ERR_NOT_ON_CURVE;
        CUZK_TRY(C_(check_subgroup)(&p, check));
    }
    *z = p;
    return CUZK_OK;
}

cuzk_status C_(read_compressed)(C_AFFINE *z, const uint8_t in[FIELD_BYTES], curve_check check) {
    C_AFFINE p;
    if ((in[0] & FLAG_COMPRESSED) == 0) return CUZK_ERR_FORMAT;
    if ((in[0] & FLAG_INFINITY) != 0) return C_(read_infinity)(z, in, FIELD_BYTES);
    CUZK_TRY(C_(read_first)(&p.x, in));
    F_(sqr)(&p.y, &p.x);
    F_(mul)(&p.y, &p.y, &p.x);
    F_(add)(&p.y, &p.y, &CURVE_B);
    if (!F_(sqrt)(&p.y, &p.y)) return CUZK_ERR_NOT_ON_CURVE;
    const bool sign = (in[0] & FLAG_SIGN) != 0;
    if (F_(is_lexicographically_largest)(&p.y) != sign) F_(neg)(&p.y, &p.y);
    CUZK_TRY(C_(check_subgroup)(&p, check));
    *z = p;
    return CUZK_OK;
}

void C_(write_uncompressed)(uint8_t out[2 * FIELD_BYTES], const C_AFFINE *p) {
    F_(to_bytes)(out, &p->x);
    F_(to_bytes)(out + FIELD_BYTES, &p->y);
    if (C_(affine_is_infinity)(p)) out[0] |= FLAG_INFINITY;
}

void C_(write_compressed)(uint8_t out[FIELD_BYTES], const C_AFFINE *p) {
    F_(to_bytes)(out, &p->x);
    out[0] |= FLAG_COMPRESSED;
    if (C_(affine_is_infinity)(p))
        out[0] |= FLAG_INFINITY;
    else if (F_(is_lexicographically_largest)(&p->y))
        out[0] |= FLAG_SIGN;
}

#undef C_
#undef C_AFFINE
#undef F_
#undef F_T
#undef FLAG_COMPRESSED
#undef FLAG_INFINITY
#undef FLAG_SIGN
#undef FLAGS
