/* Every allocation of every function fails once: the right status, and nothing is leaked. */
#include "r1cs_ref.h"

#include <unistd.h>

/* A host that refuses its n-th allocation and counts what it has lent. */
typedef struct faulty {
    uint64_t calls, refuse; /* refuse call number `refuse`, counted from 1; 0: none */
    uint64_t live, bytes;
} faulty;

static void *faulty_alloc(void *self, size_t bytes) {
    faulty *f = self;
    if (++f->calls == f->refuse) return NULL;
    void *p = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (p == NULL) return NULL;
    memset(p, 0xa5, bytes); /* not zeroed: who needs zeros must write them */
    f->live++;
    f->bytes += bytes;
    return p;
}

static void faulty_free(void *self, void *memory, size_t bytes) {
    faulty *f = self;
    if (memory == NULL) return;
    f->live--;
    f->bytes -= bytes; /* wraps when sizes do not match, which the test sees at the end */
    free(memory);
}

static char path[64];

/* Everything the layer does with memory, once. */
static cuzk_status life(const cuzk_host *host, const cs_circuit *circuit, cuzk_error *err) {
    r1cs *r = NULL, *loaded = NULL;
    witness w = {0};
    r1cs_digests d = {0};
    uint8_t hash[32];
    fr_t z[64];
    cuzk_status status = r1cs_record(host, circuit, &r, err);
    if (status == CUZK_OK) status = witness_new(host, r, &w, err);
    if (status == CUZK_OK) status = r1cs_witness(host, r, circuit, &w, err);
    if (status == CUZK_OK) status = r1cs_eval(host, r, R1CS_A, &w, 0, 64, z, err);
    if (status == CUZK_OK) {
        status = r1cs_check(host, r, &w, NULL, err);
        if (status == CUZK_ERR_UNSATISFIED) status = CUZK_OK; /* as random circuits are */
    }
    if (status == CUZK_OK) status = r1cs_digest(host, r, &d, err);
    if (status == CUZK_OK) status = r1cs_cs_hash(host, r, hash, err);
    if (status == CUZK_OK) status = r1cs_load(host, path, &loaded, err);
    r1cs_digests_free(host, &d);
    witness_free(host, &w);
    r1cs_free(host, r);
    r1cs_free(host, loaded);
    return status;
}

TEST(every_allocation) {
    cuzk_error err;
    faulty f = {0};
    const cuzk_host host = {.self = &f, .alloc = faulty_alloc, .free = faulty_free, .workers = 1};
    strcpy(path, "/tmp/cuzk_memory_XXXXXX");
    const int fd = mkstemp(path);
    REQUIRE(fd >= 0);
    close(fd);
    for (int i = 0; i < 3; i++) {
        ref_circuit ref;
        r1cs *r = NULL;
        ref_random_circuit(&ref, 400, 3);
        const cs_circuit circuit = ref_to_cs(&ref);
        f.refuse = 0;
        CHECK_OK(r1cs_record(&host, &circuit, &r, &err));
        REQUIRE(r != NULL);
        CHECK_OK(r1cs_save(r, path, &err));
        r1cs_free(&host, r);
        f.calls = 0;
        CHECK_OK(life(&host, &circuit, &err));
        const uint64_t calls = f.calls;
        CHECK(calls > 50);
        for (uint64_t k = 1; k <= calls; k++) {
            f.calls = 0;
            f.refuse = k;
            err.text[0] = 0;
            CHECK_STATUS(life(&host, &circuit, &err), CUZK_ERR_NO_MEMORY);
            CHECK(strstr(err.text, "memory") != NULL);
            CHECK_U64(f.live, 0);
            CHECK_U64(f.bytes, 0);
        }
        ref_free(&ref);
    }
    unlink(path);
}

/* witness_free wipes values before it gives memory back. */
static void *watched;
static size_t watched_bytes;
static bool wiped;
static void watching_free(void *self, void *memory, size_t bytes) {
    if (memory != NULL && memory == watched) {
        wiped = bytes == watched_bytes;
        for (size_t i = 0; i < bytes; i++)
            wiped = wiped && ((const uint8_t *)memory)[i] == 0;
    }
    faulty_free(self, memory, bytes);
}

TEST(wiped) {
    cuzk_error err;
    faulty f = {0};
    const cuzk_host host = {.self = &f, .alloc = faulty_alloc, .free = watching_free, .workers = 1};
    ref_circuit ref;
    r1cs *r = NULL;
    witness w;
    do
        ref_random_circuit(&ref, 100, 3);
    while (ref.aux == 0);
    const cs_circuit circuit = ref_to_cs(&ref);
    CHECK_OK(r1cs_record(&host, &circuit, &r, &err));
    CHECK_OK(witness_new(&host, r, &w, &err));
    CHECK_OK(r1cs_witness(&host, r, &circuit, &w, &err));
    watched = w.fields;
    watched_bytes = (size_t)r->fields * sizeof(fr_t);
    if (watched_bytes > 0) {
        witness_free(&host, &w);
        CHECK(wiped);
    } else {
        witness_free(&host, &w);
    }
    r1cs_free(&host, r);
    ref_free(&ref);
}

/* Memory that a circuit asks for while it makes a witness. */
typedef struct asking {
    int times;
    size_t count;
} asking;
static void synth_asking(cs *c, void *state, uint64_t instance) {
    const asking *a = state;
    const fr_t one = fr_one();
    (void)instance;
    cs_lc *lc = cs_recording(c) ? cs_scratch(c, 0) : NULL;
    const cs_var var = cs_alloc(c, &one);
    if (lc != NULL) {
        cs_lc_add(c, lc, var, &one);
        cs_enforce(c, lc, lc, lc);
    }
    for (int i = 0; i < a->times && (!cs_recording(c) || a->times == 3); i++) {
        void *memory = cs_memory(c, a->count, sizeof(fr_t));
        if (memory == NULL) continue;
        watched = memory;
        watched_bytes = a->count * sizeof(fr_t);
        memset(memory, 0xa5, watched_bytes);
    }
}

TEST(memory_of_an_instance) {
    cuzk_error err;
    faulty f = {0};
    const cuzk_host host = {.self = &f, .alloc = faulty_alloc, .free = watching_free, .workers = 1};
    asking a = {1, 100};
    const cs_circuit circuit = {.name = "asking",
                                .n_blocks = 1,
                                .blocks = {{.name = "block", .count = 2, .synth = synth_asking}},
                                .state = &a};
    r1cs *r = NULL;
    witness w;
    CHECK_OK(r1cs_record(&host, &circuit, &r, &err));
    CHECK_OK(witness_new(&host, r, &w, &err));
    wiped = false;
    CHECK_OK(r1cs_witness(&host, r, &circuit, &w, &err));
    CHECK(wiped);
    a.times = 2;
    CHECK_STATUS(r1cs_witness(&host, r, &circuit, &w, &err), CUZK_ERR_ARGUMENT);
    a = (asking){1, SIZE_MAX / 2};
    CHECK_STATUS(r1cs_witness(&host, r, &circuit, &w, &err), CUZK_ERR_ARGUMENT); /* overflow */
    a.count = 100;
    f.calls = 0;
    f.refuse = 1;
    CHECK_STATUS(r1cs_witness(&host, r, &circuit, &w, &err), CUZK_ERR_NO_MEMORY);
    f.refuse = 0;
    watched = NULL;
    witness_free(&host, &w);
    r1cs_free(&host, r);
    a.times = 3; /* while recording */
    CHECK_STATUS(r1cs_record(&host, &circuit, &r, &err), CUZK_ERR_ARGUMENT);
    CHECK_U64(f.live, 0);
}

TEST_MAIN(RUN(every_allocation), RUN(wiped), RUN(memory_of_an_instance))
