#define _GNU_SOURCE /* asprintf */
#include "server/client.h"

#include <grpc/byte_buffer.h>
#include <grpc/byte_buffer_reader.h>
#include <grpc/grpc.h>
#include <grpc/grpc_security.h>
#include <grpc/support/alloc.h>
#include <grpc/support/time.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct rpc_client {
    grpc_channel *channel;
    char *authorization; /* NULL: no token */
};

static grpc_channel_credentials *credentials(const rpc_client_config *config) {
    grpc_ssl_pem_key_cert_pair pair = {config->key, config->cert};
    if (config->ca == NULL) return grpc_insecure_credentials_create();
    return grpc_ssl_credentials_create_ex(config->ca, config->cert == NULL ? NULL : &pair, NULL,
                                          NULL);
}

static grpc_arg integer(const char *key, int value) {
    return (grpc_arg){
        .type = GRPC_ARG_INTEGER, .key = (char *)(uintptr_t)key, .value.integer = value};
}

cuzk_status rpc_client_open(const rpc_client_config *config, rpc_client **out, cuzk_error *err) {
    const bool is_unix = strncmp(config->address, "unix:", 5) == 0;
    grpc_arg args[] = {
        integer(GRPC_ARG_MAX_RECEIVE_MESSAGE_LENGTH, 256 << 20),
        /* A channel of its own: many clients in one process are many connections. */
        integer(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1),
        /* A daemon that restarts is found again soon: gRPC's own pauses grow to two minutes. */
        integer(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100),
        integer(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100),
        integer(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 1000),
        /* Last: the path of a unix socket is no name of a host. */
        {.type = GRPC_ARG_STRING,
         .key = (char *)(uintptr_t)GRPC_ARG_DEFAULT_AUTHORITY,
         .value.string = (char *)(uintptr_t) "localhost"},
    };
    const size_t n_args = sizeof args / sizeof args[0];
    const grpc_channel_args list = {is_unix ? n_args : n_args - 1, args};
    rpc_client *c = calloc(1, sizeof *c);
    *out = NULL;
    if (c == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for a client");
    grpc_init();
    if (config->token != NULL && asprintf(&c->authorization, "Bearer %s", config->token) < 0)
        c->authorization = NULL;
    grpc_channel_credentials *creds = credentials(config);
    c->channel = creds == NULL ? NULL : grpc_channel_create(config->address, creds, &list);
    if (creds != NULL) grpc_channel_credentials_release(creds);
    if (c->channel == NULL) {
        rpc_client_close(c);
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%s: cannot make a channel", config->address);
    }
    *out = c;
    return CUZK_OK;
}

void rpc_client_close(rpc_client *c) {
    if (c == NULL) return;
    if (c->channel != NULL) grpc_channel_destroy(c->channel);
    free(c->authorization);
    free(c);
    grpc_shutdown();
}

static cuzk_status status_of(grpc_status_code code) {
    switch (code) {
    case GRPC_STATUS_OK:
        return CUZK_OK;
    case GRPC_STATUS_INVALID_ARGUMENT:
    case GRPC_STATUS_UNAUTHENTICATED:
    case GRPC_STATUS_PERMISSION_DENIED:
        return CUZK_ERR_ARGUMENT;
    case GRPC_STATUS_NOT_FOUND:
        return CUZK_ERR_NOT_FOUND;
    case GRPC_STATUS_ALREADY_EXISTS:
        return CUZK_ERR_EXISTS;
    case GRPC_STATUS_RESOURCE_EXHAUSTED:
        return CUZK_ERR_EXHAUSTED;
    case GRPC_STATUS_CANCELLED:
        return CUZK_ERR_CANCELLED;
    case GRPC_STATUS_DEADLINE_EXCEEDED:
        return CUZK_ERR_TIMEOUT;
    case GRPC_STATUS_UNIMPLEMENTED:
        return CUZK_ERR_UNSUPPORTED;
    case GRPC_STATUS_UNAVAILABLE:
        return CUZK_ERR_IO;
    default:
        return CUZK_ERR_INTERNAL;
    }
}

/* What a call sends and what comes back. */
typedef struct exchange {
    grpc_byte_buffer *request, *reply;
    grpc_metadata_array initial, trailing;
    grpc_status_code code;
    grpc_slice details;
} exchange;

static void run_call(rpc_client *c, const char *path, uint64_t timeout_ms, exchange *x) {
    grpc_completion_queue *queue = grpc_completion_queue_create_for_pluck(NULL);
    const gpr_timespec deadline =
        timeout_ms == 0 ? gpr_inf_future(GPR_CLOCK_MONOTONIC)
                        : gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                                       gpr_time_from_millis((int64_t)timeout_ms, GPR_TIMESPAN));
    grpc_call *call =
        grpc_channel_create_call(c->channel, NULL, GRPC_PROPAGATE_DEFAULTS, queue,
                                 grpc_slice_from_static_string(path), NULL, deadline, NULL);
    grpc_metadata token = {.key = grpc_slice_from_static_string("authorization")};
    grpc_op ops[6] = {
        {.op = GRPC_OP_SEND_INITIAL_METADATA},  {.op = GRPC_OP_SEND_MESSAGE},
        {.op = GRPC_OP_SEND_CLOSE_FROM_CLIENT}, {.op = GRPC_OP_RECV_INITIAL_METADATA},
        {.op = GRPC_OP_RECV_MESSAGE},           {.op = GRPC_OP_RECV_STATUS_ON_CLIENT}};
    if (c->authorization != NULL) {
        token.value = grpc_slice_from_static_string(c->authorization);
        ops[0].data.send_initial_metadata.count = 1;
        ops[0].data.send_initial_metadata.metadata = &token;
    }
    ops[1].data.send_message.send_message = x->request;
    ops[3].data.recv_initial_metadata.recv_initial_metadata = &x->initial;
    ops[4].data.recv_message.recv_message = &x->reply;
    ops[5].data.recv_status_on_client.trailing_metadata = &x->trailing;
    ops[5].data.recv_status_on_client.status = &x->code;
    ops[5].data.recv_status_on_client.status_details = &x->details;
    if (grpc_call_start_batch(call, ops, 6, call, NULL) == GRPC_CALL_OK)
        (void)grpc_completion_queue_pluck(queue, call, gpr_inf_future(GPR_CLOCK_REALTIME), NULL);
    else
        x->code = GRPC_STATUS_INTERNAL;
    grpc_call_unref(call);
    grpc_completion_queue_shutdown(queue);
    grpc_completion_queue_destroy(queue);
}

static cuzk_status unpack(grpc_byte_buffer *buffer, const ProtobufCMessageDescriptor *type,
                          void **out, cuzk_error *err) {
    grpc_byte_buffer_reader reader;
    if (buffer == NULL) return cuzk_fail(err, CUZK_ERR_INTERNAL, "a reply without a message");
    grpc_byte_buffer_reader_init(&reader, buffer);
    const grpc_slice slice = grpc_byte_buffer_reader_readall(&reader);
    grpc_byte_buffer_reader_destroy(&reader);
    *out = protobuf_c_message_unpack(type, NULL, GRPC_SLICE_LENGTH(slice),
                                     GRPC_SLICE_START_PTR(slice));
    grpc_slice_unref(slice);
    return *out != NULL ? CUZK_OK
                        : cuzk_fail(err, CUZK_ERR_INTERNAL, "a malformed %s", type->short_name);
}

cuzk_status rpc_client_call(rpc_client *c, const char *method, const ProtobufCMessage *request,
                            uint64_t timeout_ms, const ProtobufCMessageDescriptor *type,
                            void *reply, cuzk_error *err) {
    char path[96];
    exchange x = {.details = grpc_empty_slice()};
    snprintf(path, sizeof path, "/cuzk.v1.ProvingEngine/%s", method);
    grpc_slice slice = grpc_slice_malloc(protobuf_c_message_get_packed_size(request));
    protobuf_c_message_pack(request, GRPC_SLICE_START_PTR(slice));
    x.request = grpc_raw_byte_buffer_create(&slice, 1);
    grpc_slice_unref(slice);
    grpc_metadata_array_init(&x.initial);
    grpc_metadata_array_init(&x.trailing);
    run_call(c, path, timeout_ms, &x);
    cuzk_status status = status_of(x.code);
    if (status == CUZK_OK)
        status = unpack(x.reply, type, reply, err);
    else
        status = cuzk_fail(err, status, "%.*s", (int)GRPC_SLICE_LENGTH(x.details),
                           (const char *)GRPC_SLICE_START_PTR(x.details));
    grpc_byte_buffer_destroy(x.request);
    if (x.reply != NULL) grpc_byte_buffer_destroy(x.reply);
    grpc_metadata_array_destroy(&x.initial);
    grpc_metadata_array_destroy(&x.trailing);
    grpc_slice_unref(x.details);
    return status;
}
