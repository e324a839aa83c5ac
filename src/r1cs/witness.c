/* The compact witness: its memory, single values, and the writer that fills it by running a
 * circuit. Instances of a block are written in parallel; each owns a range of variables whose first
 * and last word of bits may also hold a neighbour's, so those two words are merged atomically. */
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "r1cs/cs_internal.h"
#include "r1cs/r1cs_internal.h"

/* --- memory --- */

size_t witness_bytes(const r1cs *r) {
    return bit_words(r->aux) * sizeof(uint64_t) + (size_t)(r->fields + r->inputs) * sizeof(fr_t);
}

static cuzk_status witness_alloc(const cuzk_host *host, witness *w, cuzk_error *err) {
    void *memory = NULL;
    CUZK_TRY(
        cuzk_host_alloc(host, &memory, bit_words(w->n_aux), sizeof *w->bits, "witness bits", err));
    w->bits = memory;
    CUZK_TRY(cuzk_host_alloc(host, &memory, (size_t)w->n_fields, sizeof *w->fields,
                             "witness values", err));
    w->fields = memory;
    CUZK_TRY(cuzk_host_alloc(host, &memory, (size_t)w->n_inputs, sizeof *w->inputs, "inputs", err));
    w->inputs = memory;
    return CUZK_OK;
}

cuzk_status witness_new(const cuzk_host *host, const r1cs *r, witness *out, cuzk_error *err) {
    *out = (witness){.n_aux = r->aux, .n_fields = r->fields, .n_inputs = r->inputs};
    const cuzk_status status = witness_alloc(host, out, err);
    if (status != CUZK_OK) {
        cuzk_host_free(host, out->bits, bit_words(r->aux), sizeof *out->bits);
        cuzk_host_free(host, out->fields, (size_t)r->fields, sizeof *out->fields);
        *out = (witness){0};
        return status;
    }
    cuzk_host_zero(host, out->bits, bit_words(r->aux) * sizeof *out->bits);
    cuzk_host_zero(host, out->fields, (size_t)r->fields * sizeof *out->fields);
    cuzk_host_zero(host, out->inputs, (size_t)r->inputs * sizeof *out->inputs);
    out->inputs[0] = fr_one();
    return CUZK_OK;
}

static void wipe_free(const cuzk_host *host, void *memory, size_t count, size_t size) {
    if (memory == NULL) return;
    cuzk_host_zero(host, memory, count * size);
    cuzk_host_free(host, memory, count, size);
}

void witness_free(const cuzk_host *host, witness *w) {
    wipe_free(host, w->bits, bit_words(w->n_aux), sizeof *w->bits);
    wipe_free(host, w->fields, (size_t)w->n_fields, sizeof *w->fields);
    wipe_free(host, w->inputs, (size_t)w->n_inputs, sizeof *w->inputs);
    *w = (witness){0};
}

/* --- values --- */

static const r1cs_block *block_of_aux(const r1cs *r, uint64_t aux) {
    const r1cs_block *b = r->blocks;
    while (aux >= b->aux_base + b->count * b->aux)
        b++;
    return b;
}

bool r1cs_aux_is_field(const r1cs *r, uint64_t aux) {
    const r1cs_block *b = block_of_aux(r, aux);
    return bit_get(b->field_class, (aux - b->aux_base) % b->aux);
}

uint64_t r1cs_field_number(const r1cs *r, uint64_t aux) {
    const r1cs_block *b = block_of_aux(r, aux);
    const uint64_t instance = (aux - b->aux_base) / b->aux, local = (aux - b->aux_base) % b->aux;
    return b->field_base + instance * b->fields + r1cs_local_field(b, local);
}

void witness_aux(const r1cs *r, const witness *w, uint64_t aux, fr_t *value) {
    if (bit_get(r->field_map, aux))
        *value = w->fields[r1cs_field_number(r, aux)];
    else
        *value = bit_get(w->bits, aux) ? fr_one() : fr_zero();
}

/* --- writer --- */

static void write_word(cs *c, uint64_t word) {
    if (word == c->first_word || word == c->last_word)
        (void)__atomic_fetch_or(&c->bits[word], c->pending, __ATOMIC_RELAXED);
    else
        c->bits[word] = c->pending;
}

static void too_many(cs *c, const char *what) {
    char text[96];
    (void)snprintf(text, sizeof text, "more %s than the recorded circuit has", what);
    cs_fail(c, CUZK_ERR_MISMATCH, text);
}

/* Append n <= 64 bits, those of values above n being zero. */
static inline cs_var write_bits(cs *c, uint64_t values, unsigned n) {
    const uint64_t at = c->aux;
    if (n > c->aux_end - at) {
        too_many(c, "variables");
        return 0;
    }
    const unsigned shift = at & 63;
    c->pending |= values << shift;
    c->aux = at + n;
    if (shift + n >= 64) {
        write_word(c, at >> 6);
        c->pending = shift == 0 ? 0 : values >> (64 - shift);
    }
    return (cs_var)at;
}

cs_var cs_alloc_bits(cs *c, uint64_t values, unsigned n) {
    if (n > 64) {
        cs_fail(c, CUZK_ERR_ARGUMENT, "more than 64 bits in one allocation");
        return 0;
    }
    if (c->recorder != NULL) return cs_record_aux(c, n, false);
    if (n == 0) return (cs_var)c->aux;
    return write_bits(c, values & (~(uint64_t)0 >> (64 - n)), n);
}

cs_var cs_alloc_bit(cs *c, bool value) {
    if (c->recorder != NULL) return cs_record_aux(c, 1, false);
    return write_bits(c, value, 1);
}

cs_var cs_alloc(cs *c, const fr_t *value) {
    if (c->recorder != NULL) return cs_record_aux(c, 1, true);
    if (c->next_field == c->field_end || c->aux == c->aux_end) {
        too_many(c, "field variables");
        return 0;
    }
    if (!bit_get(c->field_map, c->aux)) {
        cs_fail(c, CUZK_ERR_MISMATCH, "a field variable where the recorded circuit has a bit");
        return 0;
    }
    *c->next_field++ = *value;
    return write_bits(c, 0, 1);
}

cs_var cs_alloc_input(cs *c, const fr_t *value) {
    if (c->recorder != NULL) return cs_record_input(c);
    if (c->inputs == c->input_end) {
        too_many(c, "inputs");
        return CS_ONE;
    }
    c->input_values[c->inputs] = *value;
    return (cs_var)c->inputs++ | CS_INPUT_FLAG;
}

void *cs_memory(cs *c, size_t count, size_t size) {
    cuzk_error err;
    if (c->recorder != NULL || c->memory != NULL) {
        cs_fail(c, CUZK_ERR_ARGUMENT, "memory of an instance: while witnessing, once");
        return NULL;
    }
    const cuzk_status status =
        cuzk_host_alloc(c->host, &c->memory, count, size, "values of an instance", &err);
    if (status != CUZK_OK) cs_fail(c, status, err.text);
    c->memory_bytes = count * size;
    return c->memory;
}

/* --- running a circuit --- */

typedef struct block_run {
    const cuzk_host *host;
    const r1cs *r;
    const r1cs_block *block;
    const cs_block *synth;
    void *state;
    witness *w;
    /* The failure of the lowest instance. */
    atomic_flag lock;
    uint64_t instance;
    cuzk_status status;
    char text[256];
} block_run;

static void report(block_run *run, uint64_t instance, cuzk_status status, const char *text) {
    while (atomic_flag_test_and_set_explicit(&run->lock, memory_order_acquire)) {
    }
    if (run->status == CUZK_OK || instance < run->instance) {
        run->status = status;
        run->instance = instance;
        (void)snprintf(run->text, sizeof run->text, "%s", text);
    }
    atomic_flag_clear_explicit(&run->lock, memory_order_release);
}

/* Every instance allocates exactly what was recorded; that each FIELD value fell on a FIELD
 * variable and that their number is right means that the classes agree everywhere. */
static void check_instance(cs *c) {
    char text[160];
    if (c->aux == c->aux_end && c->inputs == c->input_end && c->next_field == c->field_end) return;
    (void)snprintf(text, sizeof text,
                   "the recorded circuit has %llu more variables, %llu of them field values, and "
                   "%llu more inputs",
                   (unsigned long long)(c->aux_end - c->aux),
                   (unsigned long long)(c->field_end - c->next_field),
                   (unsigned long long)(c->input_end - c->inputs));
    cs_fail(c, CUZK_ERR_MISMATCH, text);
}

static void run_instance(void *arg, size_t task, unsigned worker) {
    block_run *run = arg;
    (void)worker;
    if (cuzk_host_cancelled(run->host)) {
        report(run, task, CUZK_ERR_CANCELLED, "cancelled");
        return;
    }
    const r1cs_block *b = run->block;
    cs c = {.host = run->host, .bits = run->w->bits, .input_values = run->w->inputs};
    c.field_map = run->r->field_map;
    c.aux = b->aux_base + task * b->aux;
    c.aux_end = c.aux + b->aux;
    c.inputs = b->input_base + task * b->inputs;
    c.input_end = c.inputs + b->inputs;
    c.next_field = run->w->fields + b->field_base + task * b->fields;
    c.field_end = c.next_field + b->fields;
    c.first_word = c.aux >> 6;
    c.last_word = c.aux_end >> 6;
    run->synth->synth(&c, run->state, task);
    check_instance(&c);
    if ((c.aux & 63) != 0) write_word(&c, c.aux >> 6);
    cs_release(&c);
    if (c.status != CUZK_OK) report(run, task, c.status, c.text);
}

static cuzk_status check_shape(const r1cs *r, const cs_circuit *circuit, const witness *w,
                               cuzk_error *err) {
    if (w->n_aux != r->aux || w->n_fields != r->fields || w->n_inputs != r->inputs)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "the witness was made for another circuit than %s",
                         r->name);
    if (circuit->n_blocks != r->n_blocks)
        return cuzk_fail(err, CUZK_ERR_MISMATCH, "circuit %s has %u blocks, %s has %u",
                         circuit->name, circuit->n_blocks, r->name, r->n_blocks);
    for (unsigned i = 0; i < r->n_blocks; i++) {
        if (circuit->blocks[i].count != r->blocks[i].count)
            return cuzk_fail(err, CUZK_ERR_MISMATCH, "block %s: %llu instances, %llu recorded",
                             r->blocks[i].name, (unsigned long long)circuit->blocks[i].count,
                             (unsigned long long)r->blocks[i].count);
    }
    return CUZK_OK;
}

cuzk_status r1cs_witness(const cuzk_host *host, const r1cs *r, const cs_circuit *circuit,
                         witness *w, cuzk_error *err) {
    CUZK_TRY(check_shape(r, circuit, w, err));
    cuzk_host_zero(host, w->bits, bit_words(w->n_aux) * sizeof *w->bits);
    w->inputs[0] = fr_one();
    for (unsigned i = 0; i < r->n_blocks; i++) {
        block_run run = {.host = host,
                         .r = r,
                         .block = &r->blocks[i],
                         .synth = &circuit->blocks[i],
                         .state = circuit->state,
                         .w = w,
                         .lock = ATOMIC_FLAG_INIT};
        cuzk_host_parallel(host, (size_t)r->blocks[i].count, run_instance, &run);
        if (run.status != CUZK_OK)
            return cuzk_fail(err, run.status, "circuit %s, block %s, instance %llu: %s", r->name,
                             r->blocks[i].name, (unsigned long long)run.instance, run.text);
        cuzk_host_progress(host, "witness", i + 1, r->n_blocks);
    }
    return CUZK_OK;
}
