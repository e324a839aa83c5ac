/* A gRPC server on gRPC core's C API: connections, rights, admission of large messages, and the
 * life of a call. What the calls mean is in service.c and health.c.
 *
 * A call belongs to the server until its handler has been called; from then on to the handler,
 * which ends it by exactly one rpc_reply or rpc_fail, now or later, from any thread. */
#ifndef CUZK_SERVER_RPC_H
#define CUZK_SERVER_RPC_H

#include <grpc/status.h>
#include <protobuf-c/protobuf-c.h>

#include "base/status.h"
#include "server/tokens.h"

typedef struct rpc_server rpc_server;
typedef struct rpc_call rpc_call;

typedef struct rpc_method {
    const char *path; /* "/package.Service/Method" */
    unsigned rights;  /* RIGHT_*, 0: anybody who may connect */
    bool large;       /* its message is admitted to the budget before it is read */
    void (*handle)(rpc_call *call, const uint8_t *message, size_t bytes);
    bool stream; /* of requests: handle answers each by rpc_send, or ends the call */
} rpc_method;

typedef struct rpc_config {
    const rpc_method *methods;
    size_t n_methods;
    void *context;            /* rpc_context() of every call */
    const token_list *tokens; /* NULL: every connection has all rights */
    unsigned threads;         /* that serve calls */
    unsigned max_connections, max_streams;
    uint32_t max_message;     /* bytes */
    unsigned max_receivers;   /* large messages that are received at once */
    uint64_t body_charge;     /* admitted for a message whose size is not known yet */
    uint64_t body_timeout_ms; /* for a message to arrive */
    uint64_t body_grace_ms;   /* when others wait: the slowest goes after this */
    uint64_t idle_timeout_ms; /* of a connection without calls */
    uint64_t receive_memory;  /* bytes that gRPC may hold for all connections; beyond that it ends
                                 calls and connections of its own choice, good ones too */
    bool (*admit)(void *context, uint64_t bytes);
    void (*release)(void *context, uint64_t bytes);
} rpc_config;

/* gRPC's own lines go to the daemon's log; a new server sees to it. */
void rpc_take_log(void);
cuzk_status rpc_server_new(const rpc_config *config, rpc_server **out, cuzk_error *err);
/* Listen on an open socket (listening, TCP or unix), which the server owns from here on. A unix
 * peer of the daemon's own user or root has all rights; with `trusted` everybody who connects has.
 */
cuzk_status rpc_server_listen(rpc_server *s, int fd, bool trusted, cuzk_error *err);
/* Listen at "host:port" with TLS; clients must show a certificate of the given authority. The
 * certificates are PEM texts. */
cuzk_status rpc_server_listen_tls(rpc_server *s, const char *address, const char *key,
                                  const char *chain, const char *client_ca, cuzk_error *err);
cuzk_status rpc_server_start(rpc_server *s, cuzk_error *err);
/* New tokens for new calls (NULL: none needed); the list is borrowed until the next call. */
void rpc_server_set_tokens(rpc_server *s, const token_list *tokens);
unsigned rpc_server_connections(rpc_server *s);
/* Accept no more connections and calls, end the waiting ones with UNAVAILABLE, free everything. */
void rpc_server_close(rpc_server *s);

/* ---- for handlers ---- */

void *rpc_context(const rpc_call *call);
void rpc_reply(rpc_call *call, const ProtobufCMessage *reply);
/* One message of a stream of replies, which rpc_fail (with GRPC_STATUS_OK) or rpc_reply ends; the
 * one before must have been sent. */
void rpc_send(rpc_call *call, const ProtobufCMessage *message);
void rpc_fail(rpc_call *call, grpc_status_code code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same for an error of a layer below: its status as a code, its text without paths. */
void rpc_fail_error(rpc_call *call, const cuzk_error *err);
/* Run fn(call, arg) on a thread of its own, for what may take long. The call must be answered by
 * it. False: too many of these are running (the call has been answered). */
bool rpc_run_apart(rpc_call *call, void (*fn)(rpc_call *call, void *arg), void *arg);

/* Wait for something: exactly one of ready (after rpc_wake, from any thread and at any time),
 * timeout (0: none) or gone (the client went away; the call must not be answered) is called. */
typedef struct rpc_wait {
    void (*ready)(rpc_call *call, void *arg);
    void (*timeout)(rpc_call *call, void *arg);
    void (*gone)(rpc_call *call, void *arg);
    void *arg;
} rpc_wait;
void rpc_wait_begin(rpc_call *call, const rpc_wait *wait, uint64_t timeout_ms);
/* Returns at once; ready runs on a thread of the server. Harmless when the wait is over. The caller
 * holds a reference. */
void rpc_wake(rpc_call *call);
void rpc_ref(rpc_call *call);
void rpc_unref(rpc_call *call);

#endif
