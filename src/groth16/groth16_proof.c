/* Proofs as 192 bytes, blinding, and the assembly of a proof from its sums. */
#include "groth16/groth16_internal.h"

#define PROOF_B_AT G1_COMPRESSED_BYTES
#define PROOF_C_AT (G1_COMPRESSED_BYTES + G2_COMPRESSED_BYTES)

void groth16_proof_write(const groth16_proof *p, uint8_t out[GROTH16_PROOF_BYTES]) {
    g1_write_compressed(out, &p->a);
    g2_write_compressed(out + PROOF_B_AT, &p->b);
    g1_write_compressed(out + PROOF_C_AT, &p->c);
}

static cuzk_status g1_proof_point(g1_affine_t *z, const uint8_t *in, const char *name,
                                  cuzk_error *err) {
    cuzk_status status = g1_read_compressed(z, in, CURVE_CHECK_SUBGROUP);
    if (status == CUZK_OK && g1_affine_is_infinity(z)) status = CUZK_ERR_INFINITY;
    if (status == CUZK_OK) return CUZK_OK;
    return cuzk_fail(err, status, "proof: point %s: %s", name, cuzk_status_name(status));
}

cuzk_status groth16_proof_read(groth16_proof *p, const uint8_t in[GROTH16_PROOF_BYTES],
                               cuzk_error *err) {
    CUZK_TRY(g1_proof_point(&p->a, in, "A", err));
    cuzk_status status = g2_read_compressed(&p->b, in + PROOF_B_AT, CURVE_CHECK_SUBGROUP);
    if (status == CUZK_OK && g2_affine_is_infinity(&p->b)) status = CUZK_ERR_INFINITY;
    if (status != CUZK_OK)
        return cuzk_fail(err, status, "proof: point B: %s", cuzk_status_name(status));
    return g1_proof_point(&p->c, in + PROOF_C_AT, "C", err);
}

cuzk_status groth16_blinding_random(const cuzk_host *host, groth16_blinding *out, cuzk_error *err) {
    if (host->random == NULL)
        return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "blinding: the host has no randomness");
    do {
        uint8_t wide[128];
        const cuzk_status status = host->random(host->self, wide, sizeof wide);
        if (status != CUZK_OK) return cuzk_fail(err, status, "blinding: no randomness");
        fr_from_wide(&out->r, wide);
        fr_from_wide(&out->s, wide + 64);
        explicit_bzero(wide, sizeof wide);
    } while (fr_is_zero(&out->r) && fr_is_zero(&out->s));
    return CUZK_OK;
}

void groth16_blinding_wipe(groth16_blinding *rs) {
    explicit_bzero(rs, sizeof *rs);
}

/* z = p + k q */
static void g1_blind(g1_t *z, const g1_t *p, const g1_affine_t *q, const fr_t *k) {
    g1_t t;
    g1_from_affine(&t, q);
    g1_mul_var(&t, &t, k);
    g1_add(z, p, &t);
}

static void g2_blind(g2_t *z, const g2_t *p, const g2_affine_t *q, const fr_t *k) {
    g2_t t;
    g2_from_affine(&t, q);
    g2_mul_var(&t, &t, k);
    g2_add(z, p, &t);
}

void groth16_assemble(const groth16_vk *vk, const groth16_sums *sums, const groth16_blinding *rs,
                      groth16_proof *proof) {
    g1_t a, b1, c, t;
    g2_t b;
    g1_add_affine(&a, &sums->a, &vk->alpha_g1);
    g1_blind(&a, &a, &vk->delta_g1, &rs->r);
    g2_add_affine(&b, &sums->b_g2, &vk->beta_g2);
    g2_blind(&b, &b, &vk->delta_g2, &rs->s);
    g1_add_affine(&b1, &sums->b_g1, &vk->beta_g1);
    g1_blind(&b1, &b1, &vk->delta_g1, &rs->s);

    g1_add(&c, &sums->h, &sums->l);
    g1_mul_var(&t, &a, &rs->s);
    g1_add(&c, &c, &t);
    g1_mul_var(&t, &b1, &rs->r);
    g1_add(&c, &c, &t);
    fr_t minus_rs;
    fr_mul(&minus_rs, &rs->r, &rs->s);
    fr_neg(&minus_rs, &minus_rs);
    g1_blind(&c, &c, &vk->delta_g1, &minus_rs);
    explicit_bzero(&minus_rs, sizeof minus_rs);

    g1_to_affine(&proof->a, &a);
    g2_to_affine(&proof->b, &b);
    g1_to_affine(&proof->c, &c);
}
