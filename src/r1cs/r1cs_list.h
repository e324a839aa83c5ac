/* A list that grows without moving: segments of doubling size, so that recording a large circuit
 * never holds two copies of a matrix while it grows. */
#ifndef CUZK_R1CS_R1CS_LIST_H
#define CUZK_R1CS_R1CS_LIST_H

#include <string.h>

#include "base/host.h"

typedef struct r1cs_segment {
    struct r1cs_segment *next;
    size_t used, cap; /* bytes of data */
    uint64_t pad[5];  /* data is aligned as the host aligns */
    uint8_t data[];
} r1cs_segment;

typedef struct r1cs_list {
    size_t item; /* bytes: a power of two, at most 4096 */
    r1cs_segment *first, *last;
    uint64_t n;
} r1cs_list;

/* Out of line: add a segment; false when there is no memory. */
bool r1cs_list_grow(const cuzk_host *host, r1cs_list *list);
/* Copy all items to out and release the segments. */
void r1cs_list_take(const cuzk_host *host, r1cs_list *list, void *out);
void r1cs_list_free(const cuzk_host *host, r1cs_list *list);

static inline bool r1cs_list_push(const cuzk_host *host, r1cs_list *list, const void *item) {
    if (list->last == NULL || list->last->used == list->last->cap) {
        if (!r1cs_list_grow(host, list)) return false;
    }
    memcpy(list->last->data + list->last->used, item, list->item);
    list->last->used += list->item;
    list->n++;
    return true;
}

#endif
