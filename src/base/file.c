#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096

/* A failed system call on path as a status; what names the step. */
static cuzk_status system_error(cuzk_error *err, const char *path, const char *what, int number) {
    const cuzk_status status = number == ENOENT || number == ENOTDIR  ? CUZK_ERR_NOT_FOUND
                               : number == ENOSPC || number == EDQUOT ? CUZK_ERR_NO_SPACE
                               : number == ENOMEM                     ? CUZK_ERR_NO_MEMORY
                                                                      : CUZK_ERR_IO;
    char text[128];
    if (strerror_r(number, text, sizeof text) != 0)
        (void)snprintf(text, sizeof text, "error %d", number);
    return cuzk_fail(err, status, "%s: %s: %s", path, what, text);
}

/* --- mappings --- */

static cuzk_status map_descriptor(int fd, const char *path, file_map *out, cuzk_error *err) {
    struct stat st;
    if (fstat(fd, &st) != 0) return system_error(err, path, "stat", errno);
    if (!S_ISREG(st.st_mode)) return cuzk_fail(err, CUZK_ERR_IO, "%s: not a regular file", path);
    if (st.st_size == 0) return CUZK_OK; /* nothing to map */
    void *data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (data == MAP_FAILED) return system_error(err, path, "map", errno);
    out->data = data;
    out->bytes = (size_t)st.st_size;
    return CUZK_OK;
}

cuzk_status file_map_open(const char *path, file_map *out, cuzk_error *err) {
    *out = (file_map){0};
    /* Non-blocking, so that opening a pipe by mistake does not hang. */
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return system_error(err, path, "open", errno);
    const cuzk_status status = map_descriptor(fd, path, out, err);
    (void)close(fd);
    return status;
}

void file_map_close(file_map *map) {
    /* munmap takes a void * that it does not write through. */
    if (map->data != NULL) (void)munmap((void *)(uintptr_t)map->data, map->bytes);
    *map = (file_map){0};
}

/* --- atomic writes --- */

struct file_writer {
    int fd;
    uint64_t offset;
    char path[PATH_BYTES], temporary[PATH_BYTES];
};

/* A rename would put a file in the place of a device, a pipe or a link to one (/dev/stdout). */
static cuzk_status check_target(const char *path, cuzk_error *err) {
    struct stat st;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
        return cuzk_fail(err, CUZK_ERR_IO, "%s: there already, and not a regular file", path);
    return CUZK_OK;
}

cuzk_status file_writer_open(const char *path, file_writer **out, cuzk_error *err) {
    static atomic_uint counter;
    *out = NULL;
    CUZK_TRY(check_target(path, err));
    file_writer *w = calloc(1, sizeof *w);
    if (w == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "%s: no memory to write it", path);
    const int length = snprintf(w->temporary, sizeof w->temporary, "%s.tmp.%ld.%u", path,
                                (long)getpid(), atomic_fetch_add(&counter, 1));
    if (length < 0 || (size_t)length >= sizeof w->temporary) {
        free(w);
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%.64s...: the path is too long", path);
    }
    strcpy(w->path, path); /* shorter than temporary, which fits */
    w->fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (w->fd < 0) {
        const int number = errno;
        free(w);
        return system_error(err, path, "create", number);
    }
    *out = w;
    return CUZK_OK;
}

cuzk_status file_writer_pwrite(file_writer *w, const void *data, size_t bytes, uint64_t offset,
                               cuzk_error *err) {
    const uint8_t *at = data;
    if (offset > INT64_MAX - bytes)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%s: offset out of range", w->path);
    while (bytes > 0) {
        const ssize_t n = pwrite(w->fd, at, bytes, (off_t)offset);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return system_error(err, w->path, "write", errno);
        at += n;
        offset += (uint64_t)n;
        bytes -= (size_t)n;
    }
    return CUZK_OK;
}

cuzk_status file_writer_write(file_writer *w, const void *data, size_t bytes, cuzk_error *err) {
    CUZK_TRY(file_writer_pwrite(w, data, bytes, w->offset, err));
    w->offset += bytes;
    return CUZK_OK;
}

uint64_t file_writer_offset(const file_writer *w) {
    return w->offset;
}

/* Make the rename itself durable. */
static cuzk_status sync_directory(const char *path, cuzk_error *err) {
    char directory[PATH_BYTES];
    strcpy(directory, path);
    char *slash = strrchr(directory, '/');
    if (slash == NULL)
        strcpy(directory, ".");
    else
        slash[slash == directory ? 1 : 0] = 0;
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return system_error(err, directory, "open", errno);
    const int number = fsync(fd) == 0 ? 0 : errno;
    (void)close(fd);
    /* Some file systems cannot sync a directory and say so with EINVAL. */
    return number == 0 || number == EINVAL ? CUZK_OK : system_error(err, directory, "sync", number);
}

static cuzk_status commit(file_writer *w, cuzk_error *err) {
    if (fsync(w->fd) != 0) return system_error(err, w->path, "sync", errno);
    const int fd = w->fd;
    w->fd = -1;
    if (close(fd) != 0) return system_error(err, w->path, "close", errno);
    if (rename(w->temporary, w->path) != 0) return system_error(err, w->path, "rename", errno);
    w->temporary[0] = 0; /* nothing left to unlink */
    return sync_directory(w->path, err);
}

cuzk_status file_writer_commit(file_writer *w, cuzk_error *err) {
    const cuzk_status status = commit(w, err);
    file_writer_abort(w);
    return status;
}

void file_writer_abort(file_writer *w) {
    if (w == NULL) return;
    if (w->fd >= 0) (void)close(w->fd);
    if (w->temporary[0] != 0) (void)unlink(w->temporary);
    free(w);
}

cuzk_status file_write_all(const char *path, const void *data, size_t bytes, cuzk_error *err) {
    file_writer *w = NULL;
    CUZK_TRY(file_writer_open(path, &w, err));
    const cuzk_status status = file_writer_write(w, data, bytes, err);
    if (status == CUZK_OK) return file_writer_commit(w, err);
    file_writer_abort(w);
    return status;
}
