/* 1,000 small jobs from 50 clients while the daemon is killed (-9) 20 times: what was acknowledged
 * ends with exactly its own proof. Simulated work; stress_crash.py does it with real proofs. */
#include "check.h"
#include "daemon_child.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

enum { CLIENTS = 50, JOBS = 1000, KILLS = 20 };

static daemon_child daemon_process;
static atomic_uint next_job, done, lost, wrong;

/* The daemon is away for moments: try until it answers. */
static bool worth_another_try(cuzk_status status) {
    return status == CUZK_ERR_IO || status == CUZK_ERR_INTERNAL || status == CUZK_ERR_CANCELLED ||
           status == CUZK_ERR_TIMEOUT || status == CUZK_ERR_EXHAUSTED;
}

static void one_job(rpc_client *c, uint64_t id) {
    char key[32];
    cuzk_error err = {0};
    cuzk_status status;
    Cuzk__V1__AwaitProofResponse *r;
    snprintf(key, sizeof key, "load-%llu", (unsigned long long)id);
    const uint64_t give_up = sim_now_us() + 120000000;
    while (worth_another_try(status = child_submit(c, key, id, 4, 0, NULL, &err)) &&
           sim_now_us() < give_up)
        usleep(20000);
    while (status == CUZK_OK && worth_another_try(status = child_await(c, key, 0, &r, &err)) &&
           sim_now_us() < give_up) {
        usleep(20000);
        status = CUZK_OK;
    }
    if (status != CUZK_OK) {
        fprintf(stderr, "%s: %s\n", key, err.text);
        atomic_fetch_add(&lost, 1);
        return;
    }
    if (r->status != CUZK__V1__AWAIT_PROOF_RESPONSE__STATUS__COMPLETED ||
        !sim_proof_is(r->proof.data, r->proof.len, id, 1)) {
        fprintf(stderr, "%s: status %d %s\n", key, (int)r->status, r->error_message);
        atomic_fetch_add(&wrong, 1);
    }
    cuzk__v1__await_proof_response__free_unpacked(r, NULL);
    atomic_fetch_add(&done, 1);
}

static void *client_main(void *arg) {
    (void)arg;
    rpc_client *c = child_client(&daemon_process, NULL);
    for (unsigned id; (id = atomic_fetch_add(&next_job, 1)) < JOBS;)
        one_job(c, id);
    rpc_client_close(c);
    return NULL;
}

TEST(jobs_survive_crashes) {
    pthread_t threads[CLIENTS];
    /* Between calls that fail at once nobody polls for gRPC but its own poller, every 5 s. */
    setenv("GRPC_CLIENT_CHANNEL_BACKUP_POLL_INTERVAL_MS", "50", 1);
    child_init(&daemon_process, "compute_us=2000", "devices=2", "daemon.job_attempts=100", NULL);
    child_start(&daemon_process);
    for (unsigned i = 0; i < CLIENTS; i++)
        REQUIRE(pthread_create(&threads[i], NULL, client_main, NULL) == 0);
    unsigned kills = 0;
    for (; kills < KILLS && atomic_load(&done) < JOBS; kills++) {
        /* After a twentieth of the jobs more, at a random moment. */
        while (atomic_load(&done) < kills * JOBS / KILLS)
            usleep(1000);
        usleep((useconds_t)(check_random() % 20000));
        child_stop(&daemon_process, SIGKILL);
        child_start(&daemon_process);
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        pthread_join(threads[i], NULL);
    CHECK_U64(kills, KILLS);
    CHECK_U64(atomic_load(&done), JOBS);
    CHECK_U64(atomic_load(&lost), 0);
    CHECK_U64(atomic_load(&wrong), 0);
    child_free(&daemon_process);
}

TEST_MAIN(RUN(jobs_survive_crashes))
