/* What the commands that talk to a daemon share: where it is, and how a request is made of files.
 */
#ifndef CUZK_CLI_DAEMON_CLIENT_H
#define CUZK_CLI_DAEMON_CLIENT_H

#include "cli/cli.h"
#include "cli/inputs.h"
#include "cuzk/v1/proving.pb-c.h"
#include "server/client.h"

typedef struct daemon_at {
    const char *address; /* NULL: CUZK_DAEMON, else where `cuzk serve` listens by default */
    const char *token_file, *tls_ca, *tls_cert, *tls_key;
} daemon_at;

#define DAEMON_OPTIONS(d)                                                                          \
    {CLI_TEXT, "daemon", "ADDR",                                                                   \
     "unix:///path or host:port (default: $CUZK_DAEMON, or the local\n"                            \
     "daemon's socket)",                                                                           \
     .target = &(d).address},                                                                      \
        {CLI_TEXT, "token-file", "FILE", "file whose first word is the bearer token",              \
         .target = &(d).token_file},                                                               \
        {CLI_TEXT, "tls-ca", "FILE", "authority of the daemon's certificate (PEM): use TLS",       \
         .target = &(d).tls_ca},                                                                   \
        {CLI_TEXT, "tls-cert", "FILE", "own certificate (PEM)", .target = &(d).tls_cert}, {        \
        CLI_TEXT, "tls-key", "FILE", "its private key (PEM)", .target = &(d).tls_key               \
    }

cuzk_status daemon_connect(const daemon_at *at, rpc_client **out, cuzk_error *err);

/* A SubmitProofRequest from the files of a job. */
typedef struct proof_request {
    Cuzk__V1__SubmitProofRequest message; /* borrows from below */
    void *parts;                          /* owned */
} proof_request;
cuzk_status proof_request_make(const cuzk_host *host, const job_files *files, proof_request *out,
                               cuzk_error *err);
void proof_request_free(const cuzk_host *host, proof_request *r);

/* "low", "normal", "high", "critical", or NULL for the kind's own. */
bool priority_by_name(const char *name, Cuzk__V1__Priority *out);
/* Say how a job ended: the proof to a file (NULL: hex on standard output), or its error. */
int print_result(const cli_command *self, const Cuzk__V1__AwaitProofResponse *r, const char *out,
                 bool json);
/* `cuzk prove KIND --daemon ADDR`. */
int prove_at_daemon(const cli_command *self, const job_files *files, const char *address,
                    const char *out, bool json);

#endif
