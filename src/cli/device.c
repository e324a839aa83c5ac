#include "cli/device.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIBRARY "libcuzk-cuda.so"

/* ---- the library ---- */

static const cuda_library *library;
static cuzk_error library_error;

/* The folder of this program, without a slash at its end. */
static bool program_folder(char *out, size_t bytes) {
    const ssize_t n = readlink("/proc/self/exe", out, bytes - 1);
    if (n <= 0) return false;
    out[n] = 0;
    char *slash = strrchr(out, '/');
    if (slash == NULL) return false;
    *slash = 0;
    return true;
}

static void use_library(void *handle, const char *path) {
    /* POSIX: a function's address comes as an object pointer. */
    union {
        void *object;
        cuda_library_entry_fn function;
    } entry = {dlsym(handle, CUZK_CUDA_LIBRARY_ENTRY)};
    const cuda_library *found = entry.object != NULL ? entry.function() : NULL;
    if (found == NULL || found->version != CUZK_CUDA_LIBRARY_VERSION) {
        (void)cuzk_fail(&library_error, CUZK_ERR_MISMATCH, "%s belongs to another version of cuzk",
                        path);
        return;
    }
    library = found;
}

/* Never from the current folder or a search path that others can set. */
static void load_library(void) {
    static const char *const places[] = {"", "/../lib/cuzk"};
    char folder[1024], path[1200];
    (void)cuzk_fail(&library_error, CUZK_ERR_UNSUPPORTED,
                    "no " LIBRARY " beside the program or in ../lib/cuzk: built without CUDA");
    if (!program_folder(folder, sizeof folder)) return;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%s%s/" LIBRARY, folder, places[i]);
        if (access(path, F_OK) != 0) continue;
        void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (handle != NULL)
            use_library(handle, path);
        else
            (void)cuzk_fail(&library_error, CUZK_ERR_UNSUPPORTED, "%s", dlerror());
        return;
    }
}

const cuda_library *device_cuda_library(cuzk_error *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    (void)pthread_once(&once, load_library);
    if (library == NULL) (void)cuzk_fail(err, library_error.status, "%s", library_error.text);
    return library;
}

/* ---- names ---- */

/* "16GiB", "512MiB", "1000000": above 0. */
static bool parse_size(const char *text, uint64_t *out) {
    static const struct {
        const char *suffix;
        unsigned shift;
    } units[] = {{"", 0}, {"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
    char *end;
    if (*text < '0' || *text > '9') return false;
    const unsigned long long value = strtoull(text, &end, 10);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        if (strcmp(end, units[i].suffix) != 0) continue;
        *out = (uint64_t)value << units[i].shift;
        return *out >> units[i].shift == value && *out != 0;
    }
    return false;
}

/* A device's name taken apart. */
typedef struct device_name {
    enum { DEVICE_AUTO, DEVICE_CPU, DEVICE_CUDA } kind;
    char selector[64];
    cuda_options options; /* options.device is selector, or NULL */
} device_name;

static bool is(const char *text, size_t length, const char *word) {
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

/* The selector of a GPU in text[0 .. length), without "cuda:" if that is there. */
static bool parse_selector(const char *text, size_t length, char *out, size_t bytes) {
    const bool prefixed = length > 5 && strncmp(text, "cuda:", 5) == 0;
    if (!prefixed && (*text < '0' || *text > '9') && strncmp(text, "GPU-", 4) != 0) return false;
    if (prefixed) {
        text += 5;
        length -= 5;
    }
    if (length >= bytes) return false;
    memcpy(out, text, length);
    out[length] = 0;
    return true;
}

static cuzk_status parse_name(const char *name, device_name *out, cuzk_error *err) {
    *out = (device_name){0};
    if (name == NULL) return CUZK_OK;
    const char *at = strchr(name, '@');
    const size_t length = at != NULL ? (size_t)(at - name) : strlen(name);
    if (at == NULL && is(name, length, "cpu")) {
        out->kind = DEVICE_CPU;
        return CUZK_OK;
    }
    if (!is(name, length, "auto")) {
        out->kind = DEVICE_CUDA;
        if (parse_selector(name, length, out->selector, sizeof out->selector))
            out->options.device = out->selector;
        else if (!is(name, length, "cuda"))
            return cuzk_fail(
                err, CUZK_ERR_ARGUMENT,
                "device '%s': expected auto, cpu, cuda, or an ordinal, UUID or PCI id "
                "(with or without cuda: before it), for a GPU with @SIZE at the end if "
                "it shall be limited",
                name);
    }
    if (at != NULL && !parse_size(at + 1, &out->options.vram_limit))
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "device '%s': '%s' is not a size (16GiB, 512MiB)",
                         name, at + 1);
    return CUZK_OK;
}

cuzk_status device_limited(const char *name, const char *limit, char out[DEVICE_NAME_BYTES],
                           cuzk_error *err) {
    uint64_t bytes;
    if (name == NULL) name = "auto";
    if (limit != NULL && !parse_size(limit, &bytes))
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "--vram-limit: '%s' is not a size (16GiB, 512MiB)",
                         limit);
    const bool as_it_is = limit == NULL || strcmp(name, "cpu") == 0 || strchr(name, '@') != NULL;
    const int n = snprintf(out, DEVICE_NAME_BYTES, "%s%s%s", name, as_it_is ? "" : "@",
                           as_it_is ? "" : limit);
    if (n >= DEVICE_NAME_BYTES)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "device '%.100s...': the name is too long", name);
    return CUZK_OK;
}

/* The first usable GPU into name; without one it becomes the CPU. */
static cuzk_status resolve_auto(device_name *name, cuzk_error *err) {
    cuda_device_info infos[64];
    unsigned n = 0;
    name->kind = DEVICE_CPU;
    const cuda_library *cuda = device_cuda_library(NULL);
    if (cuda == NULL) return CUZK_OK;
    CUZK_TRY(cuda->devices(infos, 64, &n, err));
    for (unsigned i = 0; i < n && i < 64; i++) {
        if (infos[i].unusable[0] != 0) continue;
        name->kind = DEVICE_CUDA;
        snprintf(name->selector, sizeof name->selector, "%d", infos[i].ordinal);
        name->options.device = name->selector;
        break;
    }
    return CUZK_OK;
}

/* Parse, resolve "auto", and get the library for a GPU: *cuda is NULL for the CPU. */
static cuzk_status find_device(const char *text, device_name *name, const cuda_library **cuda,
                               cuzk_error *err) {
    *cuda = NULL;
    CUZK_TRY(parse_name(text, name, err));
    if (name->kind == DEVICE_AUTO) CUZK_TRY(resolve_auto(name, err));
    if (name->kind == DEVICE_CPU) return CUZK_OK;
    *cuda = device_cuda_library(err);
    if (*cuda == NULL) return cuzk_error_context(err, library_error.status, "device '%s'", text);
    return CUZK_OK;
}

cuzk_status device_open(const cuzk_host *host, const char *text, executor **out, cuzk_error *err) {
    device_name name;
    const cuda_library *cuda;
    CUZK_TRY(find_device(text, &name, &cuda, err));
    return cuda != NULL ? cuda->open(host, &name.options, out, err)
                        : executor_cpu_open(host, out, err);
}

cuzk_status device_encoder_open(const cuzk_host *host, const char *text, groth16_encoder **out,
                                cuzk_error *err) {
    device_name name;
    const cuda_library *cuda;
    *out = NULL;
    CUZK_TRY(find_device(text, &name, &cuda, err));
    return cuda != NULL ? cuda->encoder_open(host, &name.options, out, err) : CUZK_OK;
}

void device_encoder_close(groth16_encoder *encoder) {
    if (encoder != NULL) library->encoder_close(encoder);
}
