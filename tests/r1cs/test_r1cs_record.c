/* Recording and the witness writer against the plain expansion, digests, and refusals. */
#include "r1cs_ref.h"
#include "hash/sha256.h"

static host_std *two_workers;
static const cuzk_host *host(void) {
    cuzk_error err;
    if (two_workers == NULL) CHECK_OK(host_std_new(2, 0, &two_workers, &err));
    return host_std_host(two_workers);
}

/* --- rows --- */

static void check_rows(const ref_circuit *ref, const r1cs *r) {
    static ref_row row;
    static cs_var vars[REF_MAX_TERMS + 1];
    static uint16_t coefs[REF_MAX_TERMS + 1];
    REQUIRE(r1cs_max_row_terms(r) <= REF_MAX_TERMS + 1);
    for (uint64_t i = 0; i < ref->rows + ref->inputs; i++) {
        for (int m = 0; m < 3; m++) {
            ref_expand(ref, m, i, &row);
            const size_t n = r1cs_row(r, m, i, vars, coefs);
            REQUIRE(n == row.n);
            CHECK_MEM(vars, row.var, n * sizeof *vars);
            for (size_t k = 0; k < n; k++)
                CHECK(fr_eq(&r->dict[coefs[k]], &row.coef[k]));
        }
    }
}

/* Totals and densities, counted from the expansion. */
static void check_totals(const ref_circuit *ref, const r1cs *r) {
    static ref_row row;
    uint8_t *in[2] = {calloc(ref->aux + 1, 1), calloc(ref->aux + 1, 1)};
    uint8_t *b_inputs = calloc(ref->inputs, 1);
    uint64_t nnz[3] = {0}, zero[3] = {0}, density[3] = {0};
    for (uint64_t i = 0; i < ref->rows; i++) {
        for (int m = 0; m < 3; m++) {
            ref_expand(ref, m, i, &row);
            nnz[m] += row.n;
            for (unsigned k = 0; k < row.n; k++) {
                const uint32_t index = row.var[k] & ~CS_INPUT_FLAG;
                if (fr_is_zero(&row.coef[k]))
                    zero[m]++;
                else if (m < 2 && (row.var[k] & CS_INPUT_FLAG) == 0)
                    in[m][index] = 1;
                else if (m == 1)
                    b_inputs[index] = 1;
            }
        }
    }
    for (int m = 0; m < 3; m++) {
        CHECK_U64(r->nnz[m], nnz[m]);
        CHECK_U64(r->zero_terms[m], zero[m]);
    }
    for (uint64_t i = 0; i < ref->aux; i++) {
        CHECK_U64(r->a_aux_map[i / 64] >> (i % 64) & 1, in[0][i]);
        CHECK_U64(r->b_aux_map[i / 64] >> (i % 64) & 1, in[1][i]);
        density[0] += in[0][i];
        density[1] += in[1][i];
    }
    for (uint64_t i = 0; i < ref->inputs; i++) {
        CHECK_U64(r->b_input_map[i / 64] >> (i % 64) & 1, b_inputs[i]);
        density[2] += b_inputs[i];
    }
    CHECK_U64(r->a_aux, density[0]);
    CHECK_U64(r->b_aux, density[1]);
    CHECK_U64(r->b_inputs, density[2]);
    CHECK_U64(r->rows, ref->rows);
    CHECK_U64(r->aux, ref->aux);
    CHECK_U64(r->inputs, ref->inputs);
    CHECK(((uint64_t)1 << r->log2_domain) >= r->rows + r->inputs);
    CHECK(r->log2_domain == 0 || ((uint64_t)1 << (r->log2_domain - 1)) < r->rows + r->inputs);
    free(in[0]);
    free(in[1]);
    free(b_inputs);
}

/* --- digests --- */

static void hash_row(sha256_ctx *ctx, const ref_circuit *ref, uint64_t i, bool zero_terms) {
    static ref_row row;
    for (int m = 0; m < 3; m++) {
        ref_expand(ref, m, i, &row);
        uint32_t n = 0;
        for (unsigned k = 0; k < row.n; k++)
            n += zero_terms || !fr_is_zero(&row.coef[k]);
        sha256_update(ctx, &n, 4);
        for (unsigned k = 0; k < row.n; k++) {
            if (!zero_terms && fr_is_zero(&row.coef[k])) continue;
            const uint8_t kind = (row.var[k] & CS_INPUT_FLAG) == 0;
            const uint64_t index = row.var[k] & ~CS_INPUT_FLAG;
            uint8_t coef[FR_BYTES];
            fr_to_bytes(coef, &row.coef[k]);
            sha256_update(ctx, &kind, 1);
            sha256_update(ctx, &index, 8);
            sha256_update(ctx, coef, FR_BYTES);
        }
    }
}

static void check_digests(const ref_circuit *ref, const r1cs *r) {
    cuzk_error err;
    r1cs_digests d;
    uint8_t want[32];
    CHECK_OK(r1cs_digest(host(), r, &d, &err));
    CHECK_U64(d.n_chunks, (ref->rows + ref->inputs + R1CS_CHUNK_ROWS - 1) / R1CS_CHUNK_ROWS);
    sha256_ctx all, no_zero, fork;
    sha256_init(&all);
    sha256_init(&no_zero);
    for (uint64_t i = 0; i < ref->rows + ref->inputs; i++) {
        if (i == ref->rows) {
            fork = all;
            sha256_final(&fork, want);
            CHECK_MEM(d.without_input_rows, want, 32);
        }
        hash_row(&all, ref, i, true);
        hash_row(&no_zero, ref, i, false);
    }
    sha256_final(&all, want);
    CHECK_MEM(d.all, want, 32);
    CHECK_MEM(d.chunks[0], want, 32); /* one chunk: the circuits are small */
    sha256_final(&no_zero, want);
    CHECK_MEM(d.without_zero_terms, want, 32);
    r1cs_digests_free(host(), &d);
}

/* --- witness --- */

static void check_witness(ref_circuit *ref, const r1cs *r) {
    cuzk_error err;
    witness w, serial;
    const cs_circuit circuit = ref_to_cs(ref);
    cuzk_host one = *host();
    one.parallel = NULL;
    one.workers = 1;
    CHECK_OK(witness_new(host(), r, &w, &err));
    CHECK_OK(witness_new(host(), r, &serial, &err));
    memset(w.bits, 0xff, (size_t)(r->aux + 63) / 64 * 8); /* left over from another run */
    CHECK_OK(r1cs_witness(host(), r, &circuit, &w, &err));
    CHECK_OK(r1cs_witness(&one, r, &circuit, &serial, &err));
    CHECK_MEM(w.bits, serial.bits, (size_t)(r->aux + 63) / 64 * 8);
    CHECK_MEM(w.fields, serial.fields, (size_t)r->fields * sizeof(fr_t));
    CHECK_MEM(w.inputs, ref->input_values, (size_t)r->inputs * sizeof(fr_t));
    for (uint64_t i = 0; i < r->aux; i++) {
        fr_t value;
        witness_aux(r, &w, i, &value);
        CHECK(fr_eq(&value, &ref->aux_values[i]));
        if (r->field_map[i / 64] >> (i % 64) & 1) CHECK_U64(w.bits[i / 64] >> (i % 64) & 1, 0);
    }
    witness_free(host(), &w);
    witness_free(host(), &serial);
}

TEST(random_circuits) {
    cuzk_error err;
    for (int i = 0; i < 60; i++) {
        ref_circuit ref;
        r1cs *r = NULL;
        ref_random_circuit(&ref, i < 20 ? 12 : 200, i % 3 == 0 ? 20 : 4);
        const cs_circuit circuit = ref_to_cs(&ref);
        CHECK_OK(r1cs_record(host(), &circuit, &r, &err));
        REQUIRE(r != NULL);
        check_totals(&ref, r);
        check_rows(&ref, r);
        check_digests(&ref, r);
        check_witness(&ref, r);
        r1cs_free(host(), r);
        ref_free(&ref);
    }
}

TEST_MAIN(RUN(random_circuits))
