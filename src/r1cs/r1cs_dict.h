/* The coefficient dictionary while it grows: distinct field elements, numbered as they come. */
#ifndef CUZK_R1CS_R1CS_DICT_H
#define CUZK_R1CS_R1CS_DICT_H

#include "base/host.h"
#include "field/fr.h"

#define R1CS_DICT_MAX 65536u

typedef struct r1cs_dict {
    fr_t *values;    /* cap */
    uint32_t *slots; /* 2 * cap, a hash table of value numbers + 1; 0 is free */
    uint32_t n, cap;
} r1cs_dict;

/* Starts with the value 1 as number 0. */
cuzk_status r1cs_dict_init(const cuzk_host *host, r1cs_dict *d, cuzk_error *err);
void r1cs_dict_free(const cuzk_host *host, r1cs_dict *d);
/* The number of value, which is added when new. CUZK_ERR_EXHAUSTED past R1CS_DICT_MAX values. */
cuzk_status r1cs_dict_number(const cuzk_host *host, r1cs_dict *d, const fr_t *value,
                             uint16_t *number, cuzk_error *err);
/* The number of value, or UINT32_MAX when it is not there. */
uint32_t r1cs_dict_find(const r1cs_dict *d, const fr_t *value);

#endif
