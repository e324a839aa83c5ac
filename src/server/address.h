/* Addresses to listen at: "unix:///path" (also "unix:/path") or "host:port". */
#ifndef CUZK_SERVER_ADDRESS_H
#define CUZK_SERVER_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "base/status.h"

typedef struct address {
    bool is_unix, is_loopback;
    char text[512]; /* the path, or host:port as given */
    struct sockaddr_storage socket;
    socklen_t socket_bytes;
} address;

/* A host name is resolved; is_loopback is said of the address that will be used. */
cuzk_status address_parse(const char *text, address *out, cuzk_error *err);
/* A listening socket. Unix: mode 0600, missing last folder made (0755), a socket that nobody
 * listens on any more is replaced; one that answers is CUZK_ERR_EXISTS. */
cuzk_status address_listen(const address *a, int *fd, cuzk_error *err);

#endif
