/* Calls to a daemon, on gRPC core's C API: what the command line uses. */
#ifndef CUZK_SERVER_CLIENT_H
#define CUZK_SERVER_CLIENT_H

#include <protobuf-c/protobuf-c.h>
#include <stdint.h>

#include "base/status.h"

typedef struct rpc_client rpc_client;

typedef struct rpc_client_config {
    const char *address;         /* "unix:///path" or "host:port" */
    const char *token;           /* sent with every call; NULL: none */
    const char *ca, *cert, *key; /* PEM texts for mutual TLS; all NULL: plain */
} rpc_client_config;

cuzk_status rpc_client_open(const rpc_client_config *config, rpc_client **out, cuzk_error *err);
void rpc_client_close(rpc_client *c); /* NULL allowed */

/* One call of cuzk.v1.ProvingEngine ("GetStatus"); thread-safe. timeout_ms 0: as long as it takes.
 * *reply is unpacked by type and freed by protobuf_c_message_free_unpacked. A status of the daemon
 * other than OK becomes the cuzk_status it stands for, with the daemon's text. */
cuzk_status rpc_client_call(rpc_client *c, const char *method, const ProtobufCMessage *request,
                            uint64_t timeout_ms, const ProtobufCMessageDescriptor *type,
                            void *reply, cuzk_error *err);

#endif
