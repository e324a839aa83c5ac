#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "host/json_out.h"
#include "prover/key.h"

typedef struct circuit_args {
    const char *circuit, *save;
    bool digest, json;
    uint64_t threads;
} circuit_args;

static void counts_json(json_out *j, const circuit_id *id, const r1cs *r) {
    static const char *const letters[] = {"a", "b", "c"};
    char text[512];
    circuit_cache_id(id, text);
    json_out_string(j, "cache_id", text);
    circuit_identifier(id, text);
    json_out_string(j, "identifier", text);
    json_out_string(j, "circuit", r->name);
    json_out_u64(j, "num_inputs", r->inputs);
    json_out_u64(j, "num_aux", r->aux);
    json_out_u64(j, "num_constraints", r->rows + r->inputs);
    json_out_u64(j, "num_constraints_without_input_rows", r->rows);
    json_out_u64(j, "domain_log2", r->log2_domain);
    json_out_u64(j, "field_aux", r->fields);
    json_out_u64(j, "distinct_coefficients", r->dict_size);
    json_out_object(j, "nnz");
    /* The stream of the golden data has the appended input rows, one term each in A. */
    for (int m = 0; m < 3; m++)
        json_out_u64(j, letters[m], r->nnz[m] + (m == R1CS_A ? r->inputs : 0));
    json_out_end_object(j);
    json_out_object(j, "zero_coefficient_terms");
    for (int m = 0; m < 3; m++)
        json_out_u64(j, letters[m], r->zero_terms[m]);
    json_out_end_object(j);
}

static void density_json(json_out *j, const r1cs *r, const r1cs_digests *d) {
    json_out_object(j, "density");
    json_out_u64(j, "a_aux", r->a_aux);
    if (d != NULL) json_out_hex(j, "a_aux_sha256", d->a_aux, 32);
    json_out_u64(j, "a_inputs", r->inputs);
    json_out_u64(j, "b_aux", r->b_aux);
    if (d != NULL) json_out_hex(j, "b_aux_sha256", d->b_aux, 32);
    json_out_u64(j, "b_input", r->b_inputs);
    if (d != NULL) json_out_hex(j, "b_input_sha256", d->b_input, 32);
    json_out_end_object(j);
}

static void digests_json(json_out *j, const r1cs_digests *d) {
    static const char *const letters[] = {"a", "b", "c"};
    json_out_u64(j, "chunk_constraints", R1CS_CHUNK_ROWS);
    json_out_array(j, "chunk_sha256");
    for (size_t i = 0; i < d->n_chunks; i++)
        json_out_hex(j, NULL, d->chunks[i], 32);
    json_out_end_array(j);
    json_out_hex(j, "sha256", d->all, 32);
    json_out_hex(j, "sha256_without_input_rows", d->without_input_rows, 32);
    json_out_hex(j, "sha256_without_zero_terms", d->without_zero_terms, 32);
    json_out_object(j, "max_terms");
    for (int m = 0; m < 3; m++)
        json_out_u64(j, letters[m], d->max_terms[m]);
    json_out_end_object(j);
    json_out_object(j, "empty_lcs");
    for (int m = 0; m < 3; m++)
        json_out_u64(j, letters[m], d->empty_lcs[m]);
    json_out_end_object(j);
}

static void print_json(const circuit_id *id, const r1cs *r, const r1cs_digests *d) {
    json_out j = {.file = stdout};
    json_out_object(&j, NULL);
    counts_json(&j, id, r);
    density_json(&j, r, d);
    if (d != NULL) digests_json(&j, d);
    json_out_end_object(&j);
}

static void print_text(const circuit_id *id, const r1cs *r, const r1cs_digests *d) {
    char text[256], hex[65] = {0};
    circuit_cache_id(id, text);
    printf("circuit      %s\nfile name    v28-%s\n", r->name, text);
    printf("inputs       %llu (ONE counted)\n", (unsigned long long)r->inputs);
    printf("aux          %llu: %llu bits, %llu field elements\n", (unsigned long long)r->aux,
           (unsigned long long)(r->aux - r->fields), (unsigned long long)r->fields);
    printf("constraints  %llu, domain 2^%u\n", (unsigned long long)(r->rows + r->inputs),
           r->log2_domain);
    printf("non-zeros    A %llu  B %llu  C %llu (without the input rows)\n",
           (unsigned long long)r->nnz[0], (unsigned long long)r->nnz[1],
           (unsigned long long)r->nnz[2]);
    printf("densities    A %llu aux  B %llu aux, %llu input\n", (unsigned long long)r->a_aux,
           (unsigned long long)r->b_aux, (unsigned long long)r->b_inputs);
    printf("coefficients %u distinct\n", r->dict_size);
    for (unsigned b = 0; b < r->n_blocks; b++)
        printf("block        %-12s %llu x %llu rows, %llu aux, %llu inputs\n", r->blocks[b].name,
               (unsigned long long)r->blocks[b].count, (unsigned long long)r->blocks[b].rows,
               (unsigned long long)r->blocks[b].aux, (unsigned long long)r->blocks[b].inputs);
    if (d != NULL) {
        cli_hex(hex, d->all, 32);
        printf("sha256       %s\n", hex);
        cli_hex(hex, d->without_input_rows, 32);
        printf("  without input rows %s\n", hex);
    }
}

static cuzk_status show(const cli_session *s, const circuit_args *args, cuzk_error *err) {
    circuit_id id;
    r1cs *r;
    r1cs_digests d;
    CUZK_TRY(circuit_id_parse(args->circuit, &id, err));
    CUZK_TRY(circuit_record(s->host, &id, true, &r, err));
    cuzk_status status = CUZK_OK;
    if (args->save != NULL) status = r1cs_save(r, args->save, err);
    if (status == CUZK_OK && args->digest) status = r1cs_digest(s->host, r, &d, err);
    if (status == CUZK_OK) {
        (args->json ? print_json : print_text)(&id, r, args->digest ? &d : NULL);
        if (args->digest) r1cs_digests_free(s->host, &d);
    }
    r1cs_free(s->host, r);
    return status;
}

static int run(int argc, char **argv, const cli_command *self) {
    circuit_args args = {0};
    const cli_option options[] = {
        {CLI_TEXT, "circuit", "ID", "such as porep-32g (cuzk setup --help lists all)",
         &args.circuit, 0, 0, true},
        {CLI_FLAG, "digest", NULL, "SHA-256 of the constraint stream, whole and by chunk",
         &args.digest, 0, 0, false},
        {CLI_FLAG, "json", NULL, "machine-readable, with the key names of the golden data",
         &args.json, 0, 0, false},
        {CLI_TEXT, "save", "FILE", "write the recorded circuit as a checksummed cache file",
         &args.save, 0, 0, false},
        {CLI_COUNT, "threads", "N", "threads to use (default: all)", &args.threads, 1, 1024, false},
    };
    int code;
    if (!cli_parse(argc, argv, self, options, sizeof options / sizeof options[0], NULL, 0, &code))
        return code;

    cli_session s;
    cuzk_error err = {0};
    if (cli_session_open(&s, (unsigned)args.threads, false, &err) != CUZK_OK)
        return cli_report(self, &err);
    const cuzk_status status = show(&s, &args, &err);
    cli_session_close(&s);
    return status == CUZK_OK ? EXIT_OK : cli_report(self, &err);
}

const cli_command cmd_circuit = {
    .name = "circuit",
    .summary = "record a circuit: counts, non-zeros, densities, digests",
    .about = "Records a circuit and shows its counts, non-zeros, densities and digests.",
    .run = run,
};
