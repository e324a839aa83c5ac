/* Server reflection: what services there are, and their .proto files in binary form, so that tools
 * such as grpcurl need no files of their own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "grpc/reflection/v1alpha/reflection.pb-c.h"
#include "server/service.h"
#include "server/wire.h"

/* FileDescriptorSets of the two files, embedded by the assembler (embedded.S). */
extern const uint8_t proving_descriptors[], health_descriptors[];
extern const size_t proving_descriptors_bytes, health_descriptors_bytes;

typedef Grpc__Reflection__V1alpha__ServerReflectionRequest reflection_request;
typedef Grpc__Reflection__V1alpha__ServerReflectionResponse reflection_response;

enum { N_FILES = 2 };
static const struct {
    const char *file, *package, *service;
} files[N_FILES] = {
    {"cuzk/v1/proving.proto", "cuzk.v1", "cuzk.v1.ProvingEngine"},
    {"grpc/health/v1/health.proto", "grpc.health.v1", "grpc.health.v1.Health"},
};

/* The FileDescriptorProto in a set of one: its field 1. */
static ProtobufCBinaryData descriptor_of(int file) {
    const uint8_t *set = file == 0 ? proving_descriptors : health_descriptors;
    wire_reader r = {set, set + (file == 0 ? proving_descriptors_bytes : health_descriptors_bytes)};
    wire_field f;
    while (wire_next(&r, &f) == WIRE_FIELD)
        if (f.number == 1 && f.type == WIRE_BYTES)
            return (ProtobufCBinaryData){f.bytes, (uint8_t *)(uintptr_t)f.data};
    return (ProtobufCBinaryData){0, NULL};
}

/* Whole names are not looked up: everything under a file's package is in that file. */
static int file_of_symbol(const char *symbol) {
    for (int i = 0; i < N_FILES; i++) {
        const size_t n = strlen(files[i].package);
        if (strncmp(symbol, files[i].package, n) == 0 && symbol[n] == '.') return i;
    }
    return -1;
}

static int file_by_name(const char *name) {
    for (int i = 0; i < N_FILES; i++)
        if (strcmp(files[i].file, name) == 0) return i;
    return -1;
}

static void send_services(rpc_call *call, reflection_response *reply) {
    Grpc__Reflection__V1alpha__ServiceResponse services[N_FILES], *list[N_FILES];
    Grpc__Reflection__V1alpha__ListServiceResponse all =
        GRPC__REFLECTION__V1ALPHA__LIST_SERVICE_RESPONSE__INIT;
    for (int i = 0; i < N_FILES; i++) {
        grpc__reflection__v1alpha__service_response__init(&services[i]);
        services[i].name = (char *)(uintptr_t)files[i].service;
        list[i] = &services[i];
    }
    all.n_service = N_FILES;
    all.service = list;
    reply->message_response_case =
        GRPC__REFLECTION__V1ALPHA__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_LIST_SERVICES_RESPONSE;
    reply->list_services_response = &all;
    rpc_send(call, &reply->base);
}

static void send_file(rpc_call *call, reflection_response *reply, int file) {
    ProtobufCBinaryData descriptor;
    Grpc__Reflection__V1alpha__FileDescriptorResponse found =
        GRPC__REFLECTION__V1ALPHA__FILE_DESCRIPTOR_RESPONSE__INIT;
    Grpc__Reflection__V1alpha__ErrorResponse missing =
        GRPC__REFLECTION__V1ALPHA__ERROR_RESPONSE__INIT;
    if (file >= 0) {
        descriptor = descriptor_of(file);
        found.n_file_descriptor_proto = 1;
        found.file_descriptor_proto = &descriptor;
        reply->message_response_case =
            GRPC__REFLECTION__V1ALPHA__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_FILE_DESCRIPTOR_RESPONSE;
        reply->file_descriptor_response = &found;
    } else {
        missing.error_code = GRPC_STATUS_NOT_FOUND;
        missing.error_message = (char *)(uintptr_t) "not found";
        reply->message_response_case =
            GRPC__REFLECTION__V1ALPHA__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_ERROR_RESPONSE;
        reply->error_response = &missing;
    }
    rpc_send(call, &reply->base);
}

void reflection_info(rpc_call *call, const uint8_t *message, size_t bytes) {
    reflection_response reply = GRPC__REFLECTION__V1ALPHA__SERVER_REFLECTION_RESPONSE__INIT;
    reflection_request *request =
        grpc__reflection__v1alpha__server_reflection_request__unpack(NULL, bytes, message);
    if (request == NULL) {
        rpc_fail(call, GRPC_STATUS_INVALID_ARGUMENT, "malformed ServerReflectionRequest");
        return;
    }
    reply.valid_host = request->host;
    reply.original_request = request;
    switch (request->message_request_case) {
    case GRPC__REFLECTION__V1ALPHA__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_LIST_SERVICES:
        send_services(call, &reply);
        break;
    case GRPC__REFLECTION__V1ALPHA__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_BY_FILENAME:
        send_file(call, &reply, file_by_name(request->file_by_filename));
        break;
    case GRPC__REFLECTION__V1ALPHA__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_FILE_CONTAINING_SYMBOL:
        send_file(call, &reply, file_of_symbol(request->file_containing_symbol));
        break;
    default:
        send_file(call, &reply, -1);
    }
    grpc__reflection__v1alpha__server_reflection_request__free_unpacked(request, NULL);
}
