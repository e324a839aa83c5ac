/* A list of byte strings, as JSON array of base64 strings (Go's [][]byte): how Curio keeps the
 * vanilla proofs of PoSt and SnapDeals. */
#ifndef CUZK_FORMATS_BLOB_LIST_H
#define CUZK_FORMATS_BLOB_LIST_H

#include "base/host.h"

typedef struct blob_list {
    size_t n;
    const uint8_t **data;
    size_t *bytes;
    void *memory; /* one block, owned */
    size_t memory_bytes;
} blob_list;

cuzk_status blob_list_read_json(const cuzk_host *host, const uint8_t *json, size_t bytes,
                                blob_list *out, cuzk_error *err);
/* One file that holds a JSON array, or n files that hold one blob each (any extension: a file that
 * begins with '[' is JSON when it is the only one). Errors begin with the path. */
cuzk_status blob_list_read_files(const cuzk_host *host, const char *const *paths, size_t n,
                                 blob_list *out, cuzk_error *err);
void blob_list_free(const cuzk_host *host, blob_list *list);
/* Writes the JSON array to the file at path (atomically). */
cuzk_status blob_list_write_json_file(const uint8_t *const *data, const size_t *bytes, size_t n,
                                      const char *path, cuzk_error *err);

#endif
