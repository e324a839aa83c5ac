#include "r1cs/r1cs_dict.h"

#include <string.h>

static uint32_t hash_of(const fr_t *v, uint32_t slots) {
    /* Montgomery forms of small numbers differ in every limb; odd multipliers mix the rest. */
    const uint64_t h = (v->l[0] * 0x9e3779b97f4a7c15ULL) ^ (v->l[1] * 0xc2b2ae3d27d4eb4fULL) ^
                       (v->l[2] * 0x165667b19e3779f9ULL) ^ (v->l[3] * 0x27d4eb2f165667c5ULL);
    return (uint32_t)(h >> 40) & (slots - 1);
}

/* The slot that holds value, or the free one where it belongs. At most half of them are taken. */
static uint32_t find_slot(const r1cs_dict *d, const fr_t *value) {
    const uint32_t slots = 2 * d->cap;
    uint32_t at = hash_of(value, slots);
    while (d->slots[at] != 0 && !fr_eq(&d->values[d->slots[at] - 1], value))
        at = (at + 1) & (slots - 1);
    return at;
}

static cuzk_status dict_resize(const cuzk_host *host, r1cs_dict *d, uint32_t cap, cuzk_error *err) {
    r1cs_dict bigger = {.n = d->n, .cap = cap};
    void *memory = NULL;
    CUZK_TRY(cuzk_host_alloc(host, &memory, cap, sizeof *d->values, "coefficients", err));
    bigger.values = memory;
    const cuzk_status status =
        cuzk_host_alloc(host, &memory, 2 * (size_t)cap, sizeof *d->slots, "coefficients", err);
    if (status != CUZK_OK) {
        cuzk_host_free(host, bigger.values, cap, sizeof *d->values);
        return status;
    }
    bigger.slots = memory;
    memset(bigger.slots, 0, 2 * (size_t)cap * sizeof *d->slots);
    for (uint32_t i = 0; i < d->n; i++) {
        bigger.values[i] = d->values[i];
        bigger.slots[find_slot(&bigger, &d->values[i])] = i + 1;
    }
    r1cs_dict_free(host, d);
    *d = bigger;
    return CUZK_OK;
}

cuzk_status r1cs_dict_init(const cuzk_host *host, r1cs_dict *d, cuzk_error *err) {
    *d = (r1cs_dict){0};
    CUZK_TRY(dict_resize(host, d, 1024, err));
    const fr_t one = fr_one();
    uint16_t number = 0;
    return r1cs_dict_number(host, d, &one, &number, err);
}

void r1cs_dict_free(const cuzk_host *host, r1cs_dict *d) {
    cuzk_host_free(host, d->values, d->cap, sizeof *d->values);
    cuzk_host_free(host, d->slots, 2 * (size_t)d->cap, sizeof *d->slots);
    *d = (r1cs_dict){0};
}

cuzk_status r1cs_dict_number(const cuzk_host *host, r1cs_dict *d, const fr_t *value,
                             uint16_t *number, cuzk_error *err) {
    uint32_t at = find_slot(d, value);
    if (d->slots[at] == 0) {
        if (d->n == R1CS_DICT_MAX)
            return cuzk_fail(err, CUZK_ERR_EXHAUSTED, "more than %u distinct coefficients",
                             R1CS_DICT_MAX);
        if (d->n == d->cap) {
            CUZK_TRY(dict_resize(host, d, 2 * d->cap, err));
            at = find_slot(d, value);
        }
        d->values[d->n++] = *value;
        d->slots[at] = d->n;
    }
    *number = (uint16_t)(d->slots[at] - 1);
    return CUZK_OK;
}

uint32_t r1cs_dict_find(const r1cs_dict *d, const fr_t *value) {
    const uint32_t slot = d->slots[find_slot(d, value)];
    return slot == 0 ? UINT32_MAX : slot - 1;
}
