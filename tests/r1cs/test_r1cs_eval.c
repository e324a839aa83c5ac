/* Evaluation by compiled programs and term by term against the expansion; the check of rows. */
#include "r1cs_ref.h"

static host_std *two_workers;
static const cuzk_host *host(void) {
    cuzk_error err;
    if (two_workers == NULL) CHECK_OK(host_std_new(2, 0, &two_workers, &err));
    return host_std_host(two_workers);
}

/* A recorded circuit with its reference and witness. */
typedef struct fixture {
    ref_circuit ref;
    r1cs *r;
    witness w;
} fixture;

static void fixture_record(fixture *f) {
    cuzk_error err;
    const cs_circuit circuit = ref_to_cs(&f->ref);
    CHECK_OK(r1cs_record(host(), &circuit, &f->r, &err));
    REQUIRE(f->r != NULL);
    CHECK_OK(witness_new(host(), f->r, &f->w, &err));
    CHECK_OK(r1cs_witness(host(), f->r, &circuit, &f->w, &err));
}

static void fixture_free(fixture *f) {
    witness_free(host(), &f->w);
    r1cs_free(host(), f->r);
    ref_free(&f->ref);
}

/* --- evaluation --- */

static void check_values(const fixture *f, int m, uint64_t first, uint64_t n, const fr_t *want) {
    cuzk_error err;
    fr_t *z = malloc((n + 1) * sizeof *z);
    memset(z, 0xee, (n + 1) * sizeof *z);
    const fr_t guard = z[n];
    CHECK_OK(r1cs_eval(host(), f->r, m, &f->w, first, n, z, &err));
    for (uint64_t i = 0; i < n; i++) {
        if (!fr_eq(&z[i], &want[first + i]))
            CHECK_FAILED_("matrix %d, row %" PRIu64 ": wrong value", m, first + i);
    }
    CHECK(fr_eq(&z[n], &guard));
    free(z);
}

static void check_eval(fixture *f) {
    cuzk_error err;
    const uint64_t n = f->ref.rows + f->ref.inputs + 5;
    fr_t *want = malloc(n * sizeof *want);
    fr_t *plain = malloc(n * sizeof *want);
    for (int m = 0; m < 3; m++) {
        for (uint64_t i = 0; i < n; i++)
            want[i] = ref_eval(&f->ref, m, i);
        CHECK_OK(r1cs_eval_plain(host(), f->r, m, &f->w, 0, n, plain, &err));
        CHECK_MEM(plain, want, n * sizeof *want);
        check_values(f, m, 0, n, want);
        for (int k = 0; k < 8; k++) {
            const uint64_t first = check_random() % n;
            check_values(f, m, first, check_random() % (n - first + 1), want);
        }
    }
    free(want);
    free(plain);
}

TEST(random_circuits) {
    for (int i = 0; i < 60; i++) {
        fixture f;
        /* Some blocks are longer than one compiled group. */
        ref_random_circuit(&f.ref, i < 20 ? 20 : 1500, i < 40 ? 20 : 3);
        fixture_record(&f);
        check_eval(&f);
        fixture_free(&f);
    }
}

/* --- sums that need every limb --- */

#define WIDE_WORDS 200

/* Bits that are all one and two rows: packed words of 64 bits with random coefficients, and many
 * words of 58 bits with the same one. */
static void synth_wide(cs *c, void *state, uint64_t instance) {
    static cs_lc wide, same;
    const fr_t *coefs = state;
    (void)instance;
    for (unsigned i = 0; i < WIDE_WORDS; i++) {
        fr_t wide_coef = coefs[i], same_coef = coefs[WIDE_WORDS];
        const cs_var first = cs_alloc_bits(c, ~(uint64_t)0, 64);
        cs_alloc(c, &coefs[i]); /* keeps words apart */
        for (unsigned k = 0; k < 64 && cs_recording(c); k++) {
            cs_lc_add(c, &wide, first + k, &wide_coef);
            if (k < 58) cs_lc_add(c, &same, first + k, &same_coef);
            fr_double(&wide_coef, &wide_coef);
            fr_double(&same_coef, &same_coef);
        }
    }
    if (!cs_recording(c)) return;
    cs_enforce(c, &wide, &same, NULL);
    cs_lc_free(c, &wide);
    cs_lc_free(c, &same);
}

TEST(wide_sums) {
    cuzk_error err;
    r1cs *r = NULL;
    witness w;
    fr_t coefs[WIDE_WORDS + 1], fast, plain;
    for (unsigned i = 0; i <= WIDE_WORDS; i++)
        coefs[i] = random_fr();
    const cs_circuit circuit = {
        "wide", 1, {{.name = "wide", .count = 1, .synth = synth_wide}}, coefs};
    CHECK_OK(r1cs_record(host(), &circuit, &r, &err));
    REQUIRE(r != NULL);
    CHECK_OK(witness_new(host(), r, &w, &err));
    CHECK_OK(r1cs_witness(host(), r, &circuit, &w, &err));
    for (int m = 0; m < 2; m++) {
        CHECK_OK(r1cs_eval(host(), r, m, &w, 0, 1, &fast, &err));
        CHECK_OK(r1cs_eval_plain(host(), r, m, &w, 0, 1, &plain, &err));
        CHECK(fr_eq(&fast, &plain));
    }
    witness_free(host(), &w);
    r1cs_free(host(), r);
}

/* --- check --- */

/* Make every row hold: in a count-1 block C is a constant that fits the values, in a repeated one
 * the row is a * 1 = a. */
static void satisfy(ref_circuit *c) {
    for (unsigned b = 0; b < c->n_blocks; b++) {
        ref_block *block = &c->blocks[b];
        uint64_t row = block->row_base;
        for (unsigned i = 0; i < block->n_steps; i++) {
            ref_step *s = &block->steps[i];
            if (s->kind != REF_ROW) continue;
            ref_term one = {.input = true, .coef = fr_one()};
            if (block->count == 1) {
                const fr_t a = ref_eval(c, R1CS_A, row), b_value = ref_eval(c, R1CS_B, row);
                fr_mul(&one.coef, &a, &b_value);
                s->terms[2][0] = one;
                s->n_terms[2] = 1;
            } else {
                free(s->terms[2]);
                s->terms[2] = malloc((s->n_terms[0] + 1) * sizeof one);
                memcpy(s->terms[2], s->terms[0], s->n_terms[0] * sizeof one);
                s->n_terms[2] = s->n_terms[0];
                s->terms[1][0] = one;
                s->n_terms[1] = 1;
            }
            row++;
        }
    }
}

static uint64_t first_bad(const ref_circuit *c) {
    for (uint64_t i = 0; i < c->rows; i++) {
        const fr_t a = ref_eval(c, 0, i), b = ref_eval(c, 1, i), k = ref_eval(c, 2, i);
        fr_t product;
        fr_mul(&product, &a, &b);
        if (!fr_eq(&product, &k)) return i;
    }
    return c->rows;
}

/* Change one value and let the reference say which row notices first. */
static void break_one(fixture *f) {
    cuzk_error err;
    if (f->ref.aux == 0) return;
    const uint64_t aux = check_random() % f->ref.aux;
    fr_t *value = &f->ref.aux_values[aux];
    const fr_t one = fr_one(), before = *value;
    if (f->r->field_map[aux / 64] >> (aux % 64) & 1)
        fr_add(value, value, &one);
    else
        fr_sub(value, &one, value);
    const cs_circuit circuit = ref_to_cs(&f->ref);
    CHECK_OK(r1cs_witness(host(), f->r, &circuit, &f->w, &err));
    uint64_t bad = 0;
    const uint64_t want = first_bad(&f->ref);
    const cuzk_status status = r1cs_check(host(), f->r, &f->w, &bad, &err);
    CHECK_STATUS(status, want == f->ref.rows ? CUZK_OK : CUZK_ERR_UNSATISFIED);
    CHECK_U64(bad, want);
    if (want < f->ref.rows) {
        char row[32];
        snprintf(row, sizeof row, "row %" PRIu64 " ", want);
        CHECK(strstr(err.text, row) != NULL);
    }
    *value = before;
}

TEST(satisfied_or_not) {
    cuzk_error err;
    for (int i = 0; i < 40; i++) {
        fixture f;
        ref_random_circuit(&f.ref, 120, 6);
        satisfy(&f.ref);
        fixture_record(&f);
        uint64_t bad = 0;
        CHECK_OK(r1cs_check(host(), f.r, &f.w, &bad, &err));
        CHECK_U64(bad, f.ref.rows);
        for (int k = 0; k < 8; k++)
            break_one(&f);
        fixture_free(&f);
    }
}

/* --- refusals --- */

TEST(refusals) {
    cuzk_error err;
    fixture f;
    fr_t z;
    ref_random_circuit(&f.ref, 50, 3);
    fixture_record(&f);
    CHECK_STATUS(r1cs_eval(host(), f.r, 3, &f.w, 0, 1, &z, &err), CUZK_ERR_ARGUMENT);
    CHECK_STATUS(r1cs_eval(host(), f.r, -1, &f.w, 0, 1, &z, &err), CUZK_ERR_ARGUMENT);
    CHECK_STATUS(r1cs_eval(host(), f.r, 0, &f.w, 2, UINT64_MAX, &z, &err), CUZK_ERR_ARGUMENT);
    witness other = f.w;
    other.n_aux++;
    CHECK_STATUS(r1cs_eval(host(), f.r, 0, &other, 0, 1, &z, &err), CUZK_ERR_MISMATCH);
    CHECK_STATUS(r1cs_check(host(), f.r, &other, NULL, &err), CUZK_ERR_MISMATCH);
    r1cs_drop_c(host(), f.r);
    r1cs_digests d;
    uint8_t hash[32];
    CHECK_STATUS(r1cs_eval(host(), f.r, R1CS_C, &f.w, 0, 1, &z, &err), CUZK_ERR_UNSUPPORTED);
    CHECK_STATUS(r1cs_check(host(), f.r, &f.w, NULL, &err), CUZK_ERR_UNSUPPORTED);
    CHECK_STATUS(r1cs_digest(host(), f.r, &d, &err), CUZK_ERR_UNSUPPORTED);
    CHECK_STATUS(r1cs_cs_hash(host(), f.r, hash, &err), CUZK_ERR_UNSUPPORTED);
    CHECK_OK(r1cs_eval(host(), f.r, R1CS_A, &f.w, 0, 1, &z, &err));
    const fr_t want = ref_eval(&f.ref, R1CS_A, 0);
    CHECK(fr_eq(&z, &want));
    fixture_free(&f);
}

TEST_MAIN(RUN(random_circuits), RUN(wide_sums), RUN(satisfied_or_not), RUN(refusals))
