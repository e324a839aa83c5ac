/* A test program in one header: CHECK macros, a seeded random source, and a runner.
 *
 *   TEST(name) { CHECK(1 + 1 == 2); }
 *   TEST_MAIN(RUN(name), RUN(other))
 *
 * Usage of the program: [name-substring] [--seed N]. Exit 0 passed, 1 failed, 77 skipped. */
#ifndef CUZK_TESTS_CHECK_H
#define CUZK_TESTS_CHECK_H

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static int check_failures;
static bool check_skipped;
static uint64_t check_seed;

#define CHECK_FAILED_(...)                                                                         \
    do {                                                                                           \
        fprintf(stderr, "%s:%d: ", __FILE__, __LINE__);                                            \
        fprintf(stderr, __VA_ARGS__);                                                              \
        fprintf(stderr, "\n");                                                                     \
        if (++check_failures >= 20) exit(1);                                                       \
    } while (0)
#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) CHECK_FAILED_("failed: %s", #condition);                                 \
    } while (0)
#define CHECK_U64(got, expected)                                                                   \
    do {                                                                                           \
        const uint64_t g_ = (uint64_t)(got), e_ = (uint64_t)(expected);                            \
        if (g_ != e_) CHECK_FAILED_("%s: got %" PRIu64 ", expected %" PRIu64, #got, g_, e_);       \
    } while (0)
#define CHECK_MEM(got, expected, bytes)                                                            \
    do {                                                                                           \
        if (memcmp((got), (expected), (bytes)) != 0) CHECK_FAILED_("%s differs", #got);            \
    } while (0)
/* A cuzk_status expression with a local `cuzk_error err`. */
#define CHECK_OK(expression)                                                                       \
    do {                                                                                           \
        err.text[0] = 0;                                                                           \
        const cuzk_status s_ = (expression);                                                       \
        if (s_ != CUZK_OK)                                                                         \
            CHECK_FAILED_("%s: %s: %s", #expression, cuzk_status_name(s_), err.text);              \
    } while (0)
#define CHECK_STATUS(expression, expected)                                                         \
    do {                                                                                           \
        const cuzk_status s_ = (expression), x_ = (expected);                                      \
        if (s_ != x_)                                                                              \
            CHECK_FAILED_("%s: got %s, expected %s", #expression, cuzk_status_name(s_),            \
                          cuzk_status_name(x_));                                                   \
    } while (0)
/* Stop the program when going on makes no sense. */
#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            CHECK_FAILED_("required: %s", #condition);                                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* splitmix64; every test starts from the printed seed. */
static uint64_t check_random_state;
static inline uint64_t check_random(void) {
    uint64_t z = (check_random_state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}
/* Limbs with long runs of equal bits about half of the time: finds carry mistakes. */
static inline uint64_t check_random_runs(void) {
    const uint64_t r = check_random();
    if (r & 1) return check_random();
    uint64_t v = 0;
    unsigned at = 0;
    bool bit = (r & 2) != 0;
    while (at < 64) {
        const unsigned run = 1 + (unsigned)(check_random() % 24);
        for (unsigned i = 0; i < run && at < 64; i++, at++)
            v |= (uint64_t)bit << at;
        bit = !bit;
    }
    return v;
}
static inline void check_random_bytes(void *out, size_t n) {
    uint8_t *p = out;
    for (size_t i = 0; i < n; i++)
        p[i] = (uint8_t)(check_random() >> 24);
}

/* "0a1b" -> bytes; returns the number of bytes, or stops the program on a bad digit. */
static inline size_t check_unhex(void *out, size_t cap, const char *hex) {
    uint8_t *p = out;
    size_t n = 0;
    for (; hex[2 * n] != 0 && hex[2 * n + 1] != 0; n++) {
        unsigned v = 0;
        if (n >= cap || sscanf(hex + 2 * n, "%2x", &v) != 1) {
            fprintf(stderr, "bad hex: %s\n", hex);
            exit(1);
        }
        p[n] = (uint8_t)v;
    }
    return n;
}
static inline const char *check_hex(const void *data, size_t n) {
    static char text[2048];
    const uint8_t *p = data;
    for (size_t i = 0; i < n && 2 * i + 2 < sizeof text; i++)
        sprintf(text + 2 * i, "%02x", p[i]);
    return text;
}
#define CHECK_HEX(got, bytes, expected_hex)                                                        \
    do {                                                                                           \
        if (strcmp(check_hex((got), (bytes)), (expected_hex)) != 0)                                \
            CHECK_FAILED_("%s: got %s, expected %s", #got, check_hex((got), (bytes)),              \
                          (expected_hex));                                                         \
    } while (0)

static inline double check_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct check_case {
    const char *name;
    void (*run)(void);
} check_case;
#define TEST(name) static void test_##name(void)
#define RUN(name)                                                                                  \
    { #name, test_##name }
#define SKIP(...)                                                                                  \
    do {                                                                                           \
        printf("skipped: " __VA_ARGS__);                                                           \
        printf("\n");                                                                              \
        check_skipped = true;                                                                      \
        return;                                                                                    \
    } while (0)

static inline int check_main(int argc, char **argv, const check_case *cases, size_t n) {
    const char *only = NULL;
    size_t ran = 0;
    check_seed = (uint64_t)time(NULL);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            check_seed = strtoull(argv[++i], NULL, 0);
        else
            only = argv[i];
    }
    printf("seed %" PRIu64 "\n", check_seed);
    for (size_t i = 0; i < n; i++) {
        if (only != NULL && strstr(cases[i].name, only) == NULL) continue;
        check_random_state = check_seed;
        const int before = check_failures;
        const double start = check_seconds();
        cases[i].run();
        printf("%-6s %s (%.2f s)\n", check_failures == before ? "ok" : "FAILED", cases[i].name,
               check_seconds() - start);
        fflush(stdout);
        ran++;
    }
    if (ran == 0) {
        fprintf(stderr, "no test matches\n");
        return 1;
    }
    if (check_failures > 0) return 1;
    return check_skipped ? 77 : 0;
}
#define TEST_MAIN(...)                                                                             \
    int main(int argc, char **argv) {                                                              \
        const check_case cases[] = {__VA_ARGS__};                                                  \
        return check_main(argc, argv, cases, sizeof cases / sizeof cases[0]);                      \
    }

#endif
