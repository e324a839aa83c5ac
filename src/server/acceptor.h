/* Connections: accepts them on listening sockets, counts them, and refuses those over the limit.
 * (gRPC core accepts without a limit, cannot listen on an inherited socket, and does not say who
 * the peer of a unix socket is.) */
#ifndef CUZK_SERVER_ACCEPTOR_H
#define CUZK_SERVER_ACCEPTOR_H

#include <stdbool.h>

#include "base/status.h"

typedef struct acceptor acceptor;

/* take gets every accepted socket (non-blocking) and owns it; own_peer: a unix socket whose other
 * end is a process of the daemon's user or of root. Runs on the acceptor's thread. */
cuzk_status acceptor_new(unsigned max_connections,
                         void (*take)(void *self, int fd, bool own_peer, bool trusted), void *self,
                         acceptor **out, cuzk_error *err);
/* fd: a listening socket, owned from here on; trusted is passed to take. Before acceptor_start. */
cuzk_status acceptor_listen(acceptor *a, int fd, bool trusted, cuzk_error *err);
cuzk_status acceptor_start(acceptor *a, cuzk_error *err);
unsigned acceptor_connections(acceptor *a); /* open now */
/* Accept no more; closes the listening sockets. take is not called after this. */
void acceptor_stop(acceptor *a);
/* Stops. The connections should be closed by now: those still open are no longer watched. NULL is
 * allowed. */
void acceptor_free(acceptor *a);

#endif
