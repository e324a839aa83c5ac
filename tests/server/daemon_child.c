#define _GNU_SOURCE /* nftw */
#include "daemon_child.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

void child_init(daemon_child *d, ...) {
    va_list list;
    memset(d, 0, sizeof *d);
    /* In memory where possible: a kill loses nothing there, and thousands of fsyncs cost nothing.
     */
    snprintf(d->dir, sizeof d->dir, "%s/cuzk-server-XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    REQUIRE(mkdtemp(d->dir) != NULL);
    snprintf(d->socket, sizeof d->socket, "unix://%s/sock", d->dir);
    snprintf(d->log, sizeof d->log, "%s/log", d->dir);
    va_start(list, d);
    while ((d->args[d->n_args] = va_arg(list, char *)) != NULL)
        d->n_args++;
    va_end(list);
}

rpc_client *child_client(const daemon_child *d, const char *token) {
    const rpc_client_config config = {.address = d->socket, .token = token};
    rpc_client *c;
    cuzk_error err;
    CHECK_OK(rpc_client_open(&config, &c, &err));
    return c;
}

static bool answers(const daemon_child *d) {
    const Cuzk__V1__GetStatusRequest request = CUZK__V1__GET_STATUS_REQUEST__INIT;
    Cuzk__V1__GetStatusResponse *reply;
    cuzk_error err = {0};
    rpc_client *c = child_client(d, NULL);
    const cuzk_status status =
        rpc_client_call(c, "GetStatus", &request.base, 2000,
                        &cuzk__v1__get_status_response__descriptor, &reply, &err);
    rpc_client_close(c);
    if (status == CUZK_OK) cuzk__v1__get_status_response__free_unpacked(reply, NULL);
    return status == CUZK_OK;
}

static void show_log(const daemon_child *d) {
    char line[512];
    FILE *f = fopen(d->log, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        fputs(line, stderr);
    if (f != NULL) fclose(f);
}

void child_start(daemon_child *d) {
    char *argv[40] = {(char *)(uintptr_t)SIM_DAEMON, d->dir};
    for (int i = 0; i < d->n_args; i++)
        argv[2 + i] = d->args[i];
    d->pid = fork();
    REQUIRE(d->pid >= 0);
    if (d->pid == 0) {
        const int log = open(d->log, O_WRONLY | O_CREAT | O_APPEND, 0600);
        dup2(log, STDERR_FILENO);
        execv(argv[0], argv);
        _exit(127);
    }
    for (int i = 0; i < 600; i++) {
        REQUIRE(waitpid(d->pid, NULL, WNOHANG) == 0);
        if (access(d->socket + 7, F_OK) == 0 && answers(d)) return;
        usleep(20000);
    }
    show_log(d);
    REQUIRE(false /* the daemon does not serve */);
}

int child_stop(daemon_child *d, int signal_number) {
    int status = -1;
    if (d->pid == 0) return -1;
    kill(d->pid, signal_number);
    for (int i = 0; i < 3000; i++) {
        if (waitpid(d->pid, &status, WNOHANG) == d->pid) {
            d->pid = 0;
            return status;
        }
        usleep(10000);
    }
    kill(d->pid, SIGKILL);
    waitpid(d->pid, &status, 0);
    d->pid = 0;
    CHECK_FAILED_("the daemon did not end within 30 s");
    return status;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void child_free(daemon_child *d) {
    if (d->pid != 0) {
        const int status = child_stop(d, SIGTERM);
        CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        if (status != 0) show_log(d); /* what a sanitizer says */
    }
    nftw(d->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

uint64_t child_rss(const daemon_child *d) {
    char path[64];
    unsigned long long total = 0, resident = 0;
    snprintf(path, sizeof path, "/proc/%d/statm", (int)d->pid);
    FILE *f = fopen(path, "r");
    if (f == NULL) return 0;
    if (fscanf(f, "%llu %llu", &total, &resident) != 2) resident = 0;
    fclose(f);
    return (uint64_t)resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

unsigned free_port(void) {
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof a;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    REQUIRE(fd >= 0 && bind(fd, (struct sockaddr *)&a, sizeof a) == 0 &&
            getsockname(fd, (struct sockaddr *)&a, &bytes) == 0);
    close(fd);
    return ntohs(a.sin_port);
}

cuzk_status child_submit(rpc_client *c, const char *request_id, uint64_t id, unsigned kind,
                         uint32_t flags, char *job_id, cuzk_error *err) {
    sim_body body = {.id = id, .shape = kind == 4 ? 1 : 0, .flags = flags};
    Cuzk__V1__SubmitProofRequest request = CUZK__V1__SUBMIT_PROOF_REQUEST__INIT;
    Cuzk__V1__SubmitProofResponse *reply;
    request.request_id = (char *)(uintptr_t)request_id;
    request.proof_kind = (Cuzk__V1__ProofKind)kind;
    request.randomness = (ProtobufCBinaryData){sizeof body, (uint8_t *)&body};
    const cuzk_status status =
        rpc_client_call(c, "SubmitProof", &request.base, 20000,
                        &cuzk__v1__submit_proof_response__descriptor, &reply, err);
    if (status != CUZK_OK) return status;
    if (job_id != NULL) snprintf(job_id, 256, "%s", reply->job_id);
    cuzk__v1__submit_proof_response__free_unpacked(reply, NULL);
    return CUZK_OK;
}

cuzk_status child_await(rpc_client *c, const char *job_id, uint64_t timeout_ms,
                        Cuzk__V1__AwaitProofResponse **out, cuzk_error *err) {
    Cuzk__V1__AwaitProofRequest request = CUZK__V1__AWAIT_PROOF_REQUEST__INIT;
    request.job_id = (char *)(uintptr_t)job_id;
    request.timeout_ms = timeout_ms;
    return rpc_client_call(c, "AwaitProof", &request.base, 60000,
                           &cuzk__v1__await_proof_response__descriptor, out, err);
}

int http_get(unsigned port, const char *path, const char *header, char *text, size_t room) {
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_port = htons((uint16_t)port),
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    size_t n = 0;
    ssize_t got;
    int code = 0;
    text[0] = 0;
    if (connect(fd, (struct sockaddr *)&a, sizeof a) == 0) {
        dprintf(fd, "GET %s HTTP/1.0\r\nHost: localhost\r\n%s\r\n", path, header);
        while (n + 1 < room && (got = read(fd, text + n, room - 1 - n)) > 0)
            n += (size_t)got;
        text[n] = 0;
        (void)sscanf(text, "HTTP/%*s %d", &code);
    }
    close(fd);
    return code;
}
