/* Input as a file, for parsers that map one. */
#ifndef CUZK_TESTS_FUZZ_FILE_H
#define CUZK_TESTS_FUZZ_FILE_H

#include <sys/mman.h>
#include <unistd.h>

#include "fuzz/fuzz.h"

/* A file in memory; its path goes to path. Close the descriptor to remove it. */
static inline int fuzz_file(const uint8_t *data, size_t bytes, char path[32]) {
    const int fd = memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0) abort();
    for (size_t at = 0; at < bytes;) {
        const ssize_t n = write(fd, data + at, bytes - at);
        if (n <= 0) abort();
        at += (size_t)n;
    }
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

#endif
