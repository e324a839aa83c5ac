/* Files as every module uses them: read-only mappings and atomic writes. */
#ifndef CUZK_BASE_FILE_H
#define CUZK_BASE_FILE_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>

#include "base/status.h"

typedef struct file_map {
    const uint8_t *data; /* NULL for an empty file */
    size_t bytes;
} file_map;
/* NOT_FOUND, IO (with errno's text) or OK. path is named in the error text. */
cuzk_status file_map_open(const char *path, file_map *out, cuzk_error *err);
void file_map_close(file_map *map);

/* Atomic write: data goes to "<path>.tmp.<pid>.<n>"; commit fsyncs, renames over path and fsyncs
 * the directory; abort (or a failed commit) unlinks it. Disk full is CUZK_ERR_NO_SPACE; a path that
 * is there and not a regular file is CUZK_ERR_IO, and left as it is. The writer itself (about 8
 * KiB) comes from malloc; it buffers nothing, so write in large pieces. */
typedef struct file_writer file_writer;
cuzk_status file_writer_open(const char *path, file_writer **out, cuzk_error *err);
cuzk_status file_writer_write(file_writer *w, const void *data, size_t bytes, cuzk_error *err);
/* Overwrite earlier bytes, such as a length known only at the end. */
cuzk_status file_writer_pwrite(file_writer *w, const void *data, size_t bytes, uint64_t offset,
                               cuzk_error *err);
uint64_t file_writer_offset(const file_writer *w);
cuzk_status file_writer_commit(file_writer *w, cuzk_error *err); /* frees w in any case */
void file_writer_abort(file_writer *w);
cuzk_status file_write_all(const char *path, const void *data, size_t bytes, cuzk_error *err);

#endif
