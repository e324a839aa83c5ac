/* kill -9. A child process (this program with --child) runs the engine behind a unix socket; the
 * parent kills and restarts it while clients submit and wait. The order of words on the wire:
 *   request  { op 'S' | 'A', flags, id }          answer to S: { status }
 *                                                 answer to A: { status, state, 192 bytes } */
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "sim.h"

#define JOBS 1000
#define CLIENTS 50
#define KILLS 20
#define SLOW_JOB 0x10000u /* a flag on the wire: 100 ms on the device */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

typedef struct wire_request {
    uint32_t op, flags;
    uint64_t id;
} wire_request;
typedef struct wire_answer {
    int32_t status, state;
    uint8_t proof[GROTH16_PROOF_BYTES];
    char error[256];
} wire_answer;

static bool read_all(int fd, void *out, size_t bytes) {
    uint8_t *at = out;
    while (bytes > 0) {
        const ssize_t n = read(fd, at, bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        at += n;
        bytes -= (size_t)n;
    }
    return true;
}

static struct sockaddr_un address_in(const char *dir) {
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    snprintf(a.sun_path, sizeof a.sun_path, "%s/socket", dir);
    return a;
}

/* ---- the child ---- */

static sim_world world;
static engine_config config;

/* Every execution gives another proof of the same job, as blinding does: so a result that is not
 * the stored one shows. */
static cuzk_status finish_with_nonce(void *self, const cuzk_host *host, const engine_key_data *key,
                                     const engine_job_data *job, unsigned partition,
                                     const groth16_sums *sums, uint8_t proof[GROTH16_PROOF_BYTES],
                                     cuzk_error *err) {
    const cuzk_status status = sim_work.finish(self, host, key, job, partition, sums, proof, err);
    if (status == CUZK_OK) REQUIRE(getrandom(proof + 16, 8, 0) == 8);
    return status;
}
static cuzk_status verify_with_nonce(void *self, const cuzk_host *host, const engine_key_data *key,
                                     const engine_job_data *job, const uint8_t *proof, size_t bytes,
                                     cuzk_error *err) {
    uint8_t plain[GROTH16_PROOF_BYTES];
    REQUIRE(bytes == sizeof plain);
    memcpy(plain, proof, sizeof plain);
    memset(plain + 16, 0x5a, 8);
    return sim_work.verify_all(self, host, key, job, plain, sizeof plain, err);
}

typedef struct connection {
    engine *e;
    int fd;
} connection;

static void *serve(void *arg) {
    connection c = *(connection *)arg;
    wire_request r;
    free(arg);
    while (read_all(c.fd, &r, sizeof r)) {
        wire_answer a = {0};
        cuzk_error err;
        if (r.op == 'S') {
            a.status = (int32_t)sim_submit(c.e, r.id, (r.flags & SLOW_JOB) != 0,
                                           r.flags & ~SLOW_JOB, ENGINE_PRIORITY_NORMAL);
        } else {
            char job_id[32];
            engine_result result;
            snprintf(job_id, sizeof job_id, "job-%" PRIu64, r.id);
            a.status = (int32_t)engine_await(c.e, job_id, 0, NULL, &result, &err);
            a.state = (int32_t)result.state;
            snprintf(a.error, sizeof a.error, "%.255s", result.error);
            if (result.proof_bytes == sizeof a.proof) memcpy(a.proof, result.proof, sizeof a.proof);
            engine_result_free(&result);
        }
        if (write(c.fd, &a, sizeof a) != sizeof a) break;
    }
    close(c.fd);
    return NULL;
}

static void make_world(void) {
    sim_init(&world);
    world.shapes[0] = (sim_shape){.circuit = "winning-2k",
                                  .partitions = 1,
                                  .job_bytes = 1000,
                                  .witness_bytes = 1000,
                                  .key_bytes = 10000,
                                  .host_bytes = 1000,
                                  .witness_us = 200,
                                  .compute_us = 500};
    world.shapes[1] = world.shapes[0];
    world.shapes[1].circuit = "slow";
    world.shapes[1].compute_us = 100000;
    sim_config(&world, 64 * SIM_MIB, &config);
    sim_add(&world, &config, &(sim_device){0});
    sim_add(&world, &config, &(sim_device){0});
}

static int child(const char *dir, unsigned attempts) {
    static engine_work_ops work;
    engine *e;
    cuzk_error err;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_IGN);
    make_world();
    rmdir(world.dir);
    snprintf(config.state_dir, sizeof config.state_dir, "%s/state", dir);
    work = sim_work;
    work.finish = finish_with_nonce;
    work.verify_all = verify_with_nonce;
    config.work = &work;
    config.job_attempts = attempts;
    if (engine_open(&config, &e, &err) != CUZK_OK) {
        fprintf(stderr, "child: %s\n", err.text);
        return 3;
    }
    const struct sockaddr_un address = address_in(dir);
    unlink(address.sun_path);
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    REQUIRE(bind(listener, (const struct sockaddr *)&address, sizeof address) == 0);
    REQUIRE(listen(listener, 128) == 0);
    for (;;) {
        const int fd = accept(listener, NULL, NULL);
        if (fd < 0) continue;
        connection *c = malloc(sizeof *c);
        pthread_t thread;
        REQUIRE(c != NULL);
        *c = (connection){.e = e, .fd = fd};
        REQUIRE(pthread_create(&thread, NULL, serve, c) == 0);
        pthread_detach(thread);
    }
}

/* ---- the parent ---- */

static char dir[64];
static const char *attempts_text;
static pid_t start_child(void) {
    const pid_t pid = fork();
    if (pid == 0) {
        execl("/proc/self/exe", "test_engine_crash", "--child", dir, attempts_text, (char *)NULL);
        _exit(4);
    }
    REQUIRE(pid > 0);
    return pid;
}

/* Ask until an engine answers, over as many engines as it takes. */
static wire_answer ask(int *fd, uint32_t op, uint32_t flags, uint64_t id) {
    const wire_request r = {.op = op, .flags = flags, .id = id};
    const struct sockaddr_un address = address_in(dir);
    wire_answer a;
    for (;;) {
        if (*fd < 0) {
            *fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
            REQUIRE(*fd >= 0);
            if (connect(*fd, (const struct sockaddr *)&address, sizeof address) != 0) {
                close(*fd);
                *fd = -1;
                sim_sleep_us(2000);
                continue;
            }
        }
        if (write(*fd, &r, sizeof r) == sizeof r && read_all(*fd, &a, sizeof a)) return a;
        close(*fd);
        *fd = -1;
    }
}

static uint64_t next_id;
static unsigned acknowledged;
static uint8_t first_seen[JOBS + 1][GROTH16_PROOF_BYTES];

static bool proof_of(const uint8_t *proof, uint64_t id) {
    uint8_t plain[GROTH16_PROOF_BYTES];
    memcpy(plain, proof, sizeof plain);
    memset(plain + 16, 0x5a, 8);
    return sim_proof_is(plain, sizeof plain, id, 1);
}

static void *run_client(void *arg) {
    int fd = -1;
    (void)arg;
    for (;;) {
        const uint64_t id = __atomic_add_fetch(&next_id, 1, __ATOMIC_SEQ_CST);
        if (id > JOBS) break;
        const wire_answer s = ask(&fd, 'S', 0, id);
        CHECK_STATUS((cuzk_status)s.status, CUZK_OK);
        __atomic_add_fetch(&acknowledged, 1, __ATOMIC_SEQ_CST);
        /* Never submitted again from here on. */
        const wire_answer a = ask(&fd, 'A', 0, id);
        CHECK_STATUS((cuzk_status)a.status, CUZK_OK);
        if (a.state != ENGINE_JOB_COMPLETED) CHECK_FAILED_("job %d: %s", (int)id, a.error);
        CHECK(proof_of(a.proof, id));
        memcpy(first_seen[id], a.proof, sizeof a.proof);
    }
    if (fd >= 0) close(fd);
    return NULL;
}

static void begin_parent(const char *attempts) {
    strcpy(dir, "/tmp/cuzk-crash-XXXXXX");
    REQUIRE(mkdtemp(dir) != NULL);
    attempts_text = attempts;
    signal(SIGPIPE, SIG_IGN);
}

static void end_parent(pid_t pid) {
    char command[128];
    int status;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    snprintf(command, sizeof command, "rm -rf %s", dir);
    CHECK(system(command) == 0);
}

TEST(acknowledged_jobs_survive_kill_9) {
    pthread_t clients[CLIENTS];
    begin_parent("1000");
    pid_t pid = start_child();
    for (unsigned i = 0; i < CLIENTS; i++)
        REQUIRE(pthread_create(&clients[i], NULL, run_client, NULL) == 0);
    for (unsigned kills = 0; kills < KILLS; kills++) {
        int status;
        while (__atomic_load_n(&acknowledged, __ATOMIC_SEQ_CST) < kills * (JOBS - 50) / KILLS) {
            sim_sleep_us(1000);
            REQUIRE(waitpid(pid, &status, WNOHANG) == 0); /* it does not die by itself */
        }
        sim_sleep_us(check_random() % 100000);
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        CHECK(WIFSIGNALED(status));
        pid = start_child();
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        pthread_join(clients[i], NULL);
    CHECK_U64(acknowledged, JOBS);
    /* The same result for ever, in the next engine too. */
    int fd = -1, status;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    pid = start_child();
    for (uint64_t id = 1; id <= JOBS; id++) {
        const wire_answer a = ask(&fd, 'A', 0, id);
        CHECK(a.status == CUZK_OK && a.state == ENGINE_JOB_COMPLETED);
        CHECK_MEM(a.proof, first_seen[id], sizeof a.proof);
    }
    close(fd);
    end_parent(pid);
}

/* The culprit is found, and jobs that ran beside it at every crash are not set aside with it. */
TEST(a_job_that_kills_the_engine_is_set_aside) {
    begin_parent("3");
    pid_t pid = start_child();
    int fd = -1, status;
    for (uint64_t id = 2; id < 8; id++)
        CHECK_STATUS((cuzk_status)ask(&fd, 'S', SLOW_JOB, id).status, CUZK_OK);
    const wire_request killer = {.op = 'S', .flags = SIM_KILLER, .id = 1};
    CHECK(write(fd, &killer, sizeof killer) == sizeof killer); /* the answer may not come */
    unsigned deaths = 0;
    for (unsigned tries = 0; tries < 5000 && deaths < 3; tries++) {
        sim_sleep_us(2000);
        if (waitpid(pid, &status, WNOHANG) != pid) continue;
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
        deaths++;
        pid = start_child();
    }
    CHECK_U64(deaths, 3);
    close(fd);
    fd = -1;
    for (uint64_t id = 2; id < 8; id++) {
        const wire_answer a = ask(&fd, 'A', 0, id);
        if (a.state != ENGINE_JOB_COMPLETED) CHECK_FAILED_("job %d: %s", (int)id, a.error);
        CHECK(a.status == CUZK_OK && proof_of(a.proof, id));
    }
    const wire_answer a = ask(&fd, 'A', 0, 1);
    CHECK(a.state == ENGINE_JOB_FAILED && strstr(a.error, "set aside") != NULL);
    close(fd);
    end_parent(pid);
}

/* Resident bytes. */
static uint64_t resident(void) {
    FILE *f = fopen("/proc/self/status", "r");
    char line[256];
    unsigned long long kib = 0;
    REQUIRE(f != NULL);
    while (fgets(line, sizeof line, f) != NULL)
        if (sscanf(line, "VmRSS: %llu kB", &kib) == 1) break;
    fclose(f);
    return kib << 10;
}

TEST(overhead_of_empty_work) {
    engine *e;
    cuzk_error err;
    make_world();
    world.shapes[0].witness_us = world.shapes[0].compute_us = 0;
    CHECK_OK(engine_open(&config, &e, &err));
    double worst = 0;
    const double from = check_seconds();
    for (uint64_t id = 1; id <= 200; id++) {
        const double start = check_seconds();
        CHECK_STATUS(sim_submit(e, id, 0, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
        CHECK(sim_await(e, id, 1, NULL) == ENGINE_JOB_COMPLETED);
        const double took = check_seconds() - start;
        if (took > worst) worst = took;
    }
    printf("one after another: %.2f ms a job, worst %.1f ms\n", (check_seconds() - from) * 5,
           worst * 1e3);
    engine_close(e);
    sim_destroy(&world);
}

TEST(memory_stays_flat) {
    engine *e;
    cuzk_error err;
    make_world();
    world.shapes[0].witness_us = world.shapes[0].compute_us = 0;
    world.shapes[0].real_witness = 3 << 20; /* as winning-2k */
    world.shapes[0].real_key = 16 << 20;
    config.result_limit = 50;
    CHECK_OK(engine_open(&config, &e, &err));
    uint64_t after_hundred = 0;
    for (uint64_t id = 1; id <= JOBS; id++) {
        CHECK_STATUS(sim_submit(e, id, 0, 0, ENGINE_PRIORITY_NORMAL), CUZK_OK);
        CHECK(sim_await(e, id, 1, NULL) == ENGINE_JOB_COMPLETED);
        if (id == 100) after_hundred = resident();
    }
    const uint64_t at_end = resident();
    printf("%.2f MiB resident after 100 jobs, %.2f after %d\n", (double)after_hundred / (1 << 20),
           (double)at_end / (1 << 20), JOBS);
    /* An address sanitizer keeps freed memory for a while. */
    if (!SANITIZED) CHECK((double)at_end < 1.05 * (double)after_hundred);
    engine_close(e);
    sim_destroy(&world);
}

int main(int argc, char **argv) {
    const check_case cases[] = {RUN(overhead_of_empty_work), RUN(memory_stays_flat),

                                RUN(a_job_that_kills_the_engine_is_set_aside),
                                RUN(acknowledged_jobs_survive_kill_9)};
    if (argc == 4 && strcmp(argv[1], "--child") == 0)
        return child(argv[2], (unsigned)atoi(argv[3]));
    return check_main(argc, argv, cases, sizeof cases / sizeof cases[0]);
}
