/* Who may do what: bearer tokens from a file, each with rights. */
#ifndef CUZK_SERVER_TOKENS_H
#define CUZK_SERVER_TOKENS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

enum {
    RIGHT_SUBMIT = 1,  /* submit, await, prove, cancel */
    RIGHT_OBSERVE = 2, /* status, metrics, web page */
    RIGHT_ADMIN = 4,   /* preload, evict */
    RIGHT_ALL = 7
};

typedef struct token_list token_list;

/* One token a line, then its rights: "TOKEN submit,observe". '#' begins a comment. The file must
 * not be readable by other users, and tokens have 16 to 512 visible characters. Only digests are
 * kept in memory. */
cuzk_status token_list_read(const char *path, token_list **out, cuzk_error *err);
void token_list_free(token_list *list);
/* The rights of a token; 0: unknown. Takes the same time for every token of a length. */
unsigned token_list_rights(const token_list *list, const uint8_t *token, size_t bytes);

#endif
