/* Replays a corpus through a fuzz entry, as it is and with random mutations: what a machine without
 * libFuzzer can do in two seconds. Usage: replay FILE-OR-DIRECTORY... [--seconds N] [--seed N] */
#include <dirent.h>
#include <sys/stat.h>

#include "check.h"
#include "fuzz/fuzz.h"

typedef struct input {
    uint8_t *data;
    size_t bytes;
} input;

static input *inputs;
static size_t n_inputs;

static void add_file(const char *path) {
    FILE *f = fopen(path, "rb");
    REQUIRE(f != NULL);
    fseek(f, 0, SEEK_END);
    const size_t bytes = (size_t)ftell(f);
    rewind(f);
    uint8_t *data = malloc(bytes + 1);
    REQUIRE(fread(data, 1, bytes, f) == bytes);
    fclose(f);
    inputs = realloc(inputs, (n_inputs + 1) * sizeof *inputs);
    inputs[n_inputs++] = (input){data, bytes};
}

static void add(const char *path) {
    struct stat st;
    if (stat(path, &st) != 0) return; /* a corpus may have no folder of its own */
    if (!S_ISDIR(st.st_mode)) {
        add_file(path);
        return;
    }
    DIR *dir = opendir(path);
    REQUIRE(dir != NULL);
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        char name[1024];
        if (e->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        add_file(name);
    }
    closedir(dir);
}

/* One of: flip a bit, set a byte to an edge value, cut, repeat a piece, overwrite with a piece of
 * another input. The input is in a block of exactly its size, so that a sanitizer sees every read
 * past the end. */
static size_t mutate(uint8_t *data, size_t n, size_t cap) {
    static const uint8_t edges[] = {0, 1, 0x7f, 0x80, 0xff, '"', '[', ']', '{', '}', ',', '9', '='};
    if (n == 0) return 0;
    const size_t at = (size_t)(check_random() % n);
    const input *other = &inputs[check_random() % n_inputs];
    switch (check_random() % 6) {
    case 0:
        data[at] ^= (uint8_t)(1u << check_random() % 8);
        return n;
    case 1:
        data[at] = edges[check_random() % sizeof edges];
        return n;
    case 2:
        return at;
    case 3: {
        const size_t piece = 1 + (size_t)(check_random() % 40);
        if (at + piece > n || n + piece > cap) return n;
        memmove(data + at + piece, data + at, n - at);
        return n + piece;
    }
    case 4:
        memmove(data + at, data + at + 1, n - at - 1);
        return n - 1;
    default: {
        const size_t piece = 1 + (size_t)(check_random() % 40);
        if (at + piece > n || piece > other->bytes) return n;
        memcpy(data + at, other->data + check_random() % (other->bytes - piece + 1), piece);
        return n;
    }
    }
}

static void run(const uint8_t *data, size_t n) {
    uint8_t *exact = malloc(n == 0 ? 1 : n);
    memcpy(exact, data, n);
    LLVMFuzzerTestOneInput(exact, n);
    free(exact);
}

int main(int argc, char **argv) {
    double seconds = 2;
    size_t runs = 0;
    check_random_state = (uint64_t)time(NULL);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seconds") == 0 && i + 1 < argc)
            seconds = atof(argv[++i]);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            check_random_state = strtoull(argv[++i], NULL, 0);
        else
            add(argv[i]);
    }
    printf("seed %" PRIu64 ", %zu inputs\n", check_random_state, n_inputs);
    fflush(stdout);
    REQUIRE(n_inputs > 0);
    for (size_t i = 0; i < n_inputs; i++)
        run(inputs[i].data, inputs[i].bytes);
    for (const double end = check_seconds() + seconds; check_seconds() < end; runs++) {
        const input *in = &inputs[check_random() % n_inputs];
        const size_t cap = in->bytes + 400;
        uint8_t *data = malloc(cap);
        memcpy(data, in->data, in->bytes);
        size_t n = in->bytes;
        for (uint64_t m = 1 + check_random() % 4; m > 0; m--)
            n = mutate(data, n, cap);
        run(data, n);
        free(data);
    }
    printf("%zu mutated inputs\n", runs);
    for (size_t i = 0; i < n_inputs; i++)
        free(inputs[i].data);
    free(inputs);
    host_std_free(fuzz_host());
    return 0;
}
