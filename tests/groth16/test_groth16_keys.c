/* Verifying keys and parameter files: every kind of damage gives its own error. */
#include "toy_circuit.h"
#include "json.h"

#include "base/bytes.h"

#define VK_DELTA_G1 576
#define VK_DELTA_G2 672
#define VK_IC 868

/* A point of G1's curve outside the group of order r: the cofactor is large, so the first point
 * found does. */
static void point_outside_group(g1_affine_t *p) {
    fp_t y2, four;
    fp_from_u64(&four, 4);
    for (uint64_t x = 1;; x++) {
        fp_from_u64(&p->x, x);
        fp_sqr(&y2, &p->x);
        fp_mul(&y2, &y2, &p->x);
        fp_add(&y2, &y2, &four);
        if (fp_sqrt(&p->y, &y2) && !g1_affine_in_subgroup(p)) return;
    }
}

static void random_g1(g1_affine_t *p) {
    g1_t t;
    fr_t k;
    toy_fr_random(&k);
    g1_from_affine(&t, &g1_generator);
    g1_mul_var(&t, &t, &k);
    g1_to_affine(p, &t);
}

static void random_g2(g2_affine_t *p) {
    g2_t t;
    fr_t k;
    toy_fr_random(&k);
    g2_from_affine(&t, &g2_generator);
    g2_mul_var(&t, &t, &k);
    g2_to_affine(p, &t);
}

static cuzk_status read_vk(const toy_bench *b, const uint8_t *data, size_t bytes, cuzk_error *err) {
    groth16_vk *vk = NULL;
    const cuzk_status status = groth16_vk_read(b->host, data, bytes, "test.vk", &vk, err);
    CHECK((status == CUZK_OK) == (vk != NULL));
    groth16_vk_free(b->host, vk);
    return status;
}

static cuzk_status read_changed(const toy_bench *b, const groth16_vk *vk, cuzk_error *err) {
    uint8_t data[4096];
    REQUIRE(GROTH16_VK_BYTES(vk->n_ic) <= sizeof data);
    groth16_vk_write(vk, data);
    return read_vk(b, data, GROTH16_VK_BYTES(vk->n_ic), err);
}

TEST(damaged_vk_bytes) {
    cuzk_error err;
    toy_bench b;
    size_t bytes = 0;
    toy_bench_open(&b, 6);
    uint8_t *data = (uint8_t *)read_file_or_die(b.vk_path, &bytes);
    CHECK_U64(bytes, GROTH16_VK_BYTES(b.circuit->inputs));
    CHECK_OK(read_vk(&b, data, bytes, &err));
    for (size_t i = 0; i < bytes; i++) {
        const uint8_t saved = data[i];
        data[i] ^= (uint8_t)(1u << check_random() % 8);
        const cuzk_status s = read_vk(&b, data, bytes, &err);
        CHECK(s == CUZK_ERR_FORMAT || s == CUZK_ERR_NOT_CANONICAL || s == CUZK_ERR_NOT_ON_CURVE ||
              s == CUZK_ERR_NOT_IN_GROUP);
        CHECK(strstr(err.text, "test.vk") != NULL);
        if (i >= VK_IC) { /* the text names the point */
            char name[32];
            snprintf(name, sizeof name, "ic[%zu]", (i - VK_IC) / 96);
            CHECK(strstr(err.text, name) != NULL);
        }
        data[i] = saved;
    }
    for (size_t n = 0; n < bytes; n++)
        CHECK_STATUS(read_vk(&b, data, n, &err), CUZK_ERR_FORMAT);
    uint8_t *longer = malloc(bytes + 1);
    memcpy(longer, data, bytes);
    longer[bytes] = 0;
    CHECK_STATUS(read_vk(&b, longer, bytes + 1, &err), CUZK_ERR_FORMAT);
    store_be32(longer + 864, 0);
    CHECK_STATUS(read_vk(&b, longer, VK_IC, &err), CUZK_ERR_FORMAT);
    store_be32(longer + 864, 0xffffffff);
    CHECK_STATUS(read_vk(&b, longer, bytes, &err), CUZK_ERR_FORMAT);
    free(longer);
    free(data);
    toy_bench_close(&b);
}

TEST(insane_keys) {
    cuzk_error err;
    toy_bench b;
    toy_bench_open(&b, 6);
    const groth16_vk good = *b.params->vk;
    groth16_vk vk = good;
    CHECK_OK(read_changed(&b, &vk, &err));
    /* delta = gamma in both groups: consistent, and proofs can be forged */
    vk.delta_g2 = vk.gamma_g2;
    CHECK_STATUS(read_changed(&b, &vk, &err), CUZK_ERR_MISMATCH);
    CHECK(strstr(err.text, "gamma") != NULL);
    vk = good; /* a set-up that stopped half-way */
    vk.delta_g1 = g1_generator;
    vk.delta_g2 = g2_generator;
    CHECK_STATUS(read_changed(&b, &vk, &err), CUZK_ERR_MISMATCH);
    CHECK(strstr(err.text, "generator") != NULL);
    vk = good; /* gamma = generator is legal */
    vk.gamma_g2 = g2_generator;
    CHECK_OK(read_changed(&b, &vk, &err));
    vk = good;
    random_g1(&vk.delta_g1);
    CHECK_STATUS(read_changed(&b, &vk, &err), CUZK_ERR_MISMATCH);
    CHECK(strstr(err.text, "delta_g1 and delta_g2") != NULL);
    vk = good;
    random_g2(&vk.delta_g2);
    CHECK_STATUS(read_changed(&b, &vk, &err), CUZK_ERR_MISMATCH);
    vk = good;
    random_g1(&vk.beta_g1);
    CHECK_STATUS(read_changed(&b, &vk, &err), CUZK_ERR_MISMATCH);
    CHECK(strstr(err.text, "beta_g1 and beta_g2") != NULL);
    vk = good;
    random_g2(&vk.beta_g2);
    CHECK_STATUS(read_changed(&b, &vk, &err), CUZK_ERR_MISMATCH);

    g1_affine_t *const g1[] = {&vk.alpha_g1, &vk.beta_g1, &vk.delta_g1};
    for (int i = 0; i < 3; i++) {
        vk = good;
        memset(g1[i], 0, sizeof *g1[i]);
        CHECK_STATUS(read_changed(&b, &vk, &err), CUZK_ERR_INFINITY);
        vk = good;
        point_outside_group(g1[i]);
        CHECK_STATUS(read_changed(&b, &vk, &err), CUZK_ERR_NOT_IN_GROUP);
        vk = good;
        fp_add(&g1[i]->x, &g1[i]->x, &g1[i]->y);
        CHECK_STATUS(read_changed(&b, &vk, &err), CUZK_ERR_NOT_ON_CURVE);
    }
    g2_affine_t *const g2[] = {&vk.beta_g2, &vk.gamma_g2, &vk.delta_g2};
    for (int i = 0; i < 3; i++) {
        vk = good;
        memset(g2[i], 0, sizeof *g2[i]);
        CHECK_STATUS(read_changed(&b, &vk, &err), CUZK_ERR_INFINITY);
    }
    vk = good;
    const size_t last = vk.n_ic - 1;
    const g1_affine_t saved = vk.ic[last];
    memset(&vk.ic[last], 0, sizeof saved);
    CHECK_STATUS(read_changed(&b, &vk, &err), CUZK_ERR_INFINITY);
    point_outside_group(&vk.ic[last]);
    CHECK_STATUS(read_changed(&b, &vk, &err), CUZK_ERR_NOT_IN_GROUP);
    vk.ic[last] = saved;
    toy_bench_close(&b);
}

/* ---- parameter files ---- */

typedef struct param_file {
    toy_bench b;
    uint8_t *data;
    size_t bytes;
    char path[128];
} param_file;

static void param_file_open(param_file *f) {
    toy_bench_open(&f->b, 6);
    f->data = (uint8_t *)read_file_or_die(f->b.params_path, &f->bytes);
    snprintf(f->path, sizeof f->path, "%s/damaged.params", f->b.dir);
}

static void param_file_close(param_file *f) {
    free(f->data);
    unlink(f->path);
    toy_bench_close(&f->b);
}

/* Write the first n bytes of data (and `more` zero bytes) and open the file. */
static cuzk_status open_damaged(const param_file *f, size_t n, size_t more, groth16_params **out,
                                cuzk_error *err) {
    FILE *file = fopen(f->path, "wb");
    REQUIRE(file != NULL);
    REQUIRE(fwrite(f->data, 1, n, file) == n);
    for (size_t i = 0; i < more; i++)
        fputc(0, file);
    fclose(file);
    return groth16_params_open(f->b.host, f->path, out, err);
}

static void expect_refused(const param_file *f, size_t n, size_t more) {
    cuzk_error err;
    groth16_params *params = NULL;
    CHECK_STATUS(open_damaged(f, n, more, &params, &err), CUZK_ERR_FORMAT);
    CHECK(params == NULL);
    CHECK(strstr(err.text, "damaged.params") != NULL);
}

TEST(damaged_layout) {
    cuzk_error err;
    param_file f;
    groth16_params *params = NULL;
    param_file_open(&f);
    const groth16_params *good = f.b.params;
    CHECK_OK(open_damaged(&f, f.bytes, 0, &params, &err));
    CHECK_OK(groth16_params_fit(params, f.b.circuit, &err));
    CHECK_OK(groth16_params_check(f.b.host, params, CURVE_CHECK_SUBGROUP, &err));
    groth16_params_close(f.b.host, params);
    const msm_bases *sections[] = {&good->h, &good->l, &good->a, &good->b_g1, &good->b_g2};
    for (int i = 0; i < 5; i++) {
        const size_t start = (size_t)((const uint8_t *)sections[i]->data - good->map);
        expect_refused(&f, start, 0); /* cut behind the count, in front of it, inside it */
        expect_refused(&f, start - 4, 0);
        expect_refused(&f, start - 2, 0);
        expect_refused(&f, start + 95, 0);
        for (int k = 0; k < 4; k++) { /* every byte of the count */
            f.data[start - 4 + (size_t)k] ^= 1;
            expect_refused(&f, f.bytes, 0);
            f.data[start - 4 + (size_t)k] ^= 1;
        }
        uint8_t saved[4];
        memcpy(saved, f.data + start - 4, 4);
        store_be32(f.data + start - 4, 0xffffffff);
        expect_refused(&f, f.bytes, 0);
        store_be32(f.data + start - 4, 0);
        expect_refused(&f, f.bytes, 0);
        memcpy(f.data + start - 4, saved, 4);
    }
    expect_refused(&f, f.bytes - 1, 0);
    expect_refused(&f, f.bytes, 1);
    expect_refused(&f, 0, 0);
    expect_refused(&f, 100, 0);
    expect_refused(&f, GROTH16_VK_BYTES(good->vk->n_ic), 0);
    f.data[VK_DELTA_G2 + 100] ^= 1; /* the key inside is checked as well */
    CHECK(open_damaged(&f, f.bytes, 0, &params, &err) != CUZK_OK);
    CHECK(strstr(err.text, "delta_g2") != NULL);
    CHECK_STATUS(groth16_params_open(f.b.host, "/nonexistent/x.params", &params, &err),
                 CUZK_ERR_NOT_FOUND);
    CHECK(strstr(err.text, "/nonexistent/x.params") != NULL);
    param_file_close(&f);
}

static cuzk_status check_damaged(const param_file *f, curve_check check, cuzk_error *err) {
    groth16_params *params = NULL;
    const cuzk_status opened = open_damaged(f, f->bytes, 0, &params, err);
    if (opened != CUZK_OK) {
        CHECK(params == NULL);
        return opened;
    }
    const cuzk_status status = groth16_params_check(f->b.host, params, check, err);
    groth16_params_close(f->b.host, params);
    return status;
}

TEST(damaged_points_are_found_and_named) {
    cuzk_error err;
    param_file f;
    param_file_open(&f);
    const groth16_params *good = f.b.params;
    const struct {
        const char *name;
        const msm_bases *bases;
        size_t bytes;
    } queries[] = {{"h", &good->h, 96},
                   {"l", &good->l, 96},
                   {"a", &good->a, 96},
                   {"b_g1", &good->b_g1, 96},
                   {"b_g2", &good->b_g2, 192}};
    for (int q = 0; q < 5; q++) {
        for (int round = 0; round < 4; round++) {
            const size_t index = round == 0   ? 0
                                 : round == 1 ? queries[q].bases->count - 1
                                              : check_random() % queries[q].bases->count;
            uint8_t *point = f.data + ((const uint8_t *)queries[q].bases->data - good->map) +
                             index * queries[q].bytes;
            char name[64];
            uint8_t saved[192];
            snprintf(name, sizeof name, "%s[%zu]", queries[q].name, index);
            memcpy(saved, point, queries[q].bytes);
            point[check_random() % queries[q].bytes] ^= (uint8_t)(1u << check_random() % 5);
            const cuzk_status s = check_damaged(&f, CURVE_CHECK_ON_CURVE, &err);
            CHECK(s == CUZK_ERR_NOT_ON_CURVE || s == CUZK_ERR_NOT_CANONICAL);
            CHECK(strstr(err.text, name) != NULL);
            memcpy(point, saved, queries[q].bytes);
            point[0] |= 0x20;
            CHECK_STATUS(check_damaged(&f, CURVE_CHECK_ENCODING, &err), CUZK_ERR_FORMAT);
            CHECK(strstr(err.text, name) != NULL);
            memset(point, 0, queries[q].bytes);
            point[0] = 0x40;
            CHECK_STATUS(check_damaged(&f, CURVE_CHECK_ENCODING, &err), CUZK_ERR_INFINITY);
            CHECK(strstr(err.text, name) != NULL);
            memset(point, 0x1f, queries[q].bytes); /* >= p */
            CHECK_STATUS(check_damaged(&f, CURVE_CHECK_ENCODING, &err), CUZK_ERR_NOT_CANONICAL);
            if (q < 4) {
                g1_affine_t outside;
                point_outside_group(&outside);
                g1_write_uncompressed(point, &outside);
                CHECK_OK(check_damaged(&f, CURVE_CHECK_ON_CURVE, &err));
                CHECK_STATUS(check_damaged(&f, CURVE_CHECK_SUBGROUP, &err), CUZK_ERR_NOT_IN_GROUP);
                CHECK(strstr(err.text, name) != NULL);
            }
            memcpy(point, saved, queries[q].bytes);
        }
    }
    /* Of two bad points the first one is named, whatever the workers do. */
    uint8_t *h = f.data + ((const uint8_t *)good->h.data - good->map);
    h[96 * 3 + 50] ^= 1;
    h[96 * (good->h.count - 2) + 50] ^= 1;
    CHECK_STATUS(check_damaged(&f, CURVE_CHECK_ON_CURVE, &err), CUZK_ERR_NOT_ON_CURVE);
    CHECK(strstr(err.text, "h[3]") != NULL);
    param_file_close(&f);
}

/* A prover that meets a damaged point gives no proof: the flags and the range are seen when the
 * point is decoded, anything else by the verification of the proof. */
TEST(damaged_points_give_no_proof) {
    cuzk_error err;
    param_file f;
    witness w;
    executor *ex = NULL;
    const groth16_blinding rs = {fr_one(), fr_one()};
    param_file_open(&f);
    toy_witness(&f.b, 1, &w);
    CHECK_OK(executor_cpu_open(f.b.host, &ex, &err));
    const groth16_params *good = f.b.params;
    const struct {
        const char *name;
        const msm_bases *bases;
    } queries[] = {{"h", &good->h},
                   {"l", &good->l},
                   {"a", &good->a},
                   {"b_g1", &good->b_g1},
                   {"b_g2", &good->b_g2}};
    for (int q = 0; q < 5; q++) {
        /* Base 0 of l is a FIELD variable's and that of the others an input's or a power's: its
         * scalar is not zero. */
        uint8_t *point = f.data + ((const uint8_t *)queries[q].bases->data - good->map);
        for (int kind = 0; kind < 3; kind++) {
            groth16_params *params = NULL;
            groth16_proof proof;
            const uint8_t saved[2] = {point[0], point[47]};
            if (kind == 0) point[0] |= 0x40;
            if (kind == 1) point[0] = 0x1f;
            if (kind == 2) point[47] ^= 1;
            CHECK_OK(open_damaged(&f, f.bytes, 0, &params, &err));
            const executor_key key = {
                .circuit_id = "toy", .circuit = f.b.circuit, .params = params};
            CHECK_OK(ex->ops->load(ex, &key, &err));
            const cuzk_status s = executor_prove(ex, &key, &w, &rs, &proof, NULL, &err);
            CHECK_STATUS(s, kind == 0   ? CUZK_ERR_FORMAT
                            : kind == 1 ? CUZK_ERR_NOT_CANONICAL
                                        : CUZK_ERR_INVALID_PROOF);
            if (kind < 2) CHECK(strstr(err.text, queries[q].name) != NULL);
            ex->ops->unload(ex);
            groth16_params_close(f.b.host, params);
            point[0] = saved[0];
            point[47] = saved[1];
        }
    }
    ex->ops->close(ex);
    witness_free(f.b.host, &w);
    param_file_close(&f);
}

/* Every query whose length does not fit is named with both numbers. */
TEST(unfitting_circuit_is_named) {
    cuzk_error err;
    toy_bench b;
    toy_bench_open(&b, 6);
    uint64_t *const fields[] = {&b.circuit->inputs, &b.circuit->aux, &b.circuit->a_aux,
                                &b.circuit->b_aux};
    const char *const names[] = {"ic", "l", "a", "b_g1"};
    for (int i = 0; i < 4; i++) {
        char text[64];
        snprintf(text, sizeof text, ": %s has ", names[i]);
        ++*fields[i];
        CHECK_STATUS(groth16_params_fit(b.params, b.circuit, &err), CUZK_ERR_MISMATCH);
        CHECK(strstr(err.text, text) != NULL);
        --*fields[i];
    }
    b.circuit->log2_domain++;
    CHECK_STATUS(groth16_params_fit(b.params, b.circuit, &err), CUZK_ERR_MISMATCH);
    CHECK(strstr(err.text, ": h has 511 points, circuit toy needs 1023") != NULL);
    b.circuit->log2_domain--;
    CHECK_OK(groth16_params_fit(b.params, b.circuit, &err));
    toy_bench_close(&b);
}

TEST_MAIN(RUN(damaged_vk_bytes), RUN(insane_keys), RUN(damaged_layout),
          RUN(damaged_points_are_found_and_named), RUN(damaged_points_give_no_proof),
          RUN(unfitting_circuit_is_named))
