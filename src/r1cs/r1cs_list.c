#include "r1cs/r1cs_list.h"

#define SEGMENT_MIN ((size_t)4096)
#define SEGMENT_MAX ((size_t)4 << 20)

bool r1cs_list_grow(const cuzk_host *host, r1cs_list *list) {
    size_t cap = list->last == NULL ? SEGMENT_MIN : 2 * list->last->cap;
    if (cap > SEGMENT_MAX) cap = SEGMENT_MAX;
    r1cs_segment *s = host->alloc(host->self, sizeof *s + cap);
    if (s == NULL) return false;
    *s = (r1cs_segment){.cap = cap};
    if (list->last == NULL)
        list->first = s;
    else
        list->last->next = s;
    list->last = s;
    return true;
}

void r1cs_list_take(const cuzk_host *host, r1cs_list *list, void *out) {
    uint8_t *at = out;
    for (r1cs_segment *s = list->first, *next; s != NULL; s = next) {
        next = s->next;
        memcpy(at, s->data, s->used);
        at += s->used;
        host->free(host->self, s, sizeof *s + s->cap);
    }
    *list = (r1cs_list){.item = list->item};
}

void r1cs_list_free(const cuzk_host *host, r1cs_list *list) {
    for (r1cs_segment *s = list->first, *next; s != NULL; s = next) {
        next = s->next;
        host->free(host->self, s, sizeof *s + s->cap);
    }
    *list = (r1cs_list){.item = list->item};
}
