/* A simulated daemon as a child process, and calls to it. */
#ifndef CUZK_TESTS_SERVER_DAEMON_CHILD_H
#define CUZK_TESTS_SERVER_DAEMON_CHILD_H

#include <sys/types.h>

#include "cuzk/v1/proving.pb-c.h"
#include "server/client.h"
#include "sim.h"

typedef struct daemon_child {
    pid_t pid; /* 0: not running */
    char dir[64], socket[96], log[96];
    char *args[32]; /* key=value, borrowed */
    int n_args;
} daemon_child;

/* A new folder; key=value arguments of sim_daemon, ended by NULL. Does not start. */
void child_init(daemon_child *d, ...);
void child_start(daemon_child *d); /* returns when it serves */
/* Ends it; the exit status as waitpid gives it. */
int child_stop(daemon_child *d, int signal_number);
void child_free(daemon_child *d);          /* kills it, removes the folder */
uint64_t child_rss(const daemon_child *d); /* bytes */
/* A free TCP port of 127.0.0.1. */
unsigned free_port(void);

rpc_client *child_client(const daemon_child *d, const char *token);
/* kind 1: shape 0 (10 partitions), kind 4: shape 1 (one). job_id: room of 256. */
cuzk_status child_submit(rpc_client *c, const char *request_id, uint64_t id, unsigned kind,
                         uint32_t flags, char *job_id, cuzk_error *err);
/* Free with cuzk__v1__await_proof_response__free_unpacked. */
cuzk_status child_await(rpc_client *c, const char *job_id, uint64_t timeout_ms,
                        Cuzk__V1__AwaitProofResponse **out, cuzk_error *err);
/* GET path from 127.0.0.1:port: the status code, the whole answer in text. */
int http_get(unsigned port, const char *path, const char *header, char *text, size_t room);

#endif
