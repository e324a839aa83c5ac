#define _GNU_SOURCE /* accept4, struct ucred */
#include "server/acceptor.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_LISTENERS = 16, EVENTS = 64 };

struct acceptor {
    void (*take)(void *self, int fd, bool own_peer, bool trusted);
    void *self;
    unsigned max_connections;
    int epoll, stop;
    struct {
        int fd;
        bool trusted;
    } listeners[MAX_LISTENERS];
    unsigned n_listeners;
    pthread_t thread;
    sem_t listeners_closed;
    bool started, stopped;
    atomic_uint n_connections;
};

/* What an epoll event is about: the kind in the upper half, the socket or listener below. A
 * connection is watched through a duplicate of its socket, because gRPC owns, and closes, the
 * original. */
enum { ABOUT_STOP, ABOUT_LISTENER, ABOUT_CONNECTION };

static bool watch(acceptor *a, int fd, uint32_t events, uint64_t about, uint32_t what) {
    struct epoll_event e = {.events = events, .data.u64 = about << 32 | what};
    return epoll_ctl(a->epoll, EPOLL_CTL_ADD, fd, &e) == 0;
}

cuzk_status acceptor_new(unsigned max_connections,
                         void (*take)(void *self, int fd, bool own_peer, bool trusted), void *self,
                         acceptor **out, cuzk_error *err) {
    acceptor *a = calloc(1, sizeof *a);
    *out = NULL;
    if (a == NULL) return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for the acceptor");
    a->take = take;
    a->self = self;
    a->max_connections = max_connections;
    sem_init(&a->listeners_closed, 0, 0);
    a->epoll = epoll_create1(EPOLL_CLOEXEC);
    a->stop = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (a->epoll < 0 || a->stop < 0 || !watch(a, a->stop, EPOLLIN, ABOUT_STOP, 0)) {
        const int code = errno;
        acceptor_free(a);
        return cuzk_fail(err, CUZK_ERR_IO, "epoll: %s", strerror(code));
    }
    *out = a;
    return CUZK_OK;
}

cuzk_status acceptor_listen(acceptor *a, int fd, bool trusted, cuzk_error *err) {
    const int flags = fcntl(fd, F_GETFL);
    if (a->n_listeners == MAX_LISTENERS || flags < 0 ||
        fcntl(fd, F_SETFL, flags | O_NONBLOCK) < 0 ||
        !watch(a, fd, EPOLLIN, ABOUT_LISTENER, a->n_listeners)) {
        const int code = errno;
        close(fd);
        return cuzk_fail(err, CUZK_ERR_IO, "cannot listen: %s", strerror(code));
    }
    a->listeners[a->n_listeners].fd = fd;
    a->listeners[a->n_listeners++].trusted = trusted;
    return CUZK_OK;
}

static bool is_own_peer(int fd) {
    struct ucred peer;
    socklen_t bytes = sizeof peer;
    struct sockaddr_storage address;
    socklen_t address_bytes = sizeof address;
    if (getsockname(fd, (struct sockaddr *)&address, &address_bytes) != 0 ||
        address.ss_family != AF_UNIX || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0)
        return false;
    return peer.uid == 0 || peer.uid == geteuid();
}

/* Away with it at once: no FIN handshake, no TIME_WAIT. */
static void refuse(int fd) {
    const struct linger hard = {.l_onoff = 1, .l_linger = 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close(fd);
}

static void accept_one(acceptor *a, int fd, bool trusted) {
    const int on = 1;
    const int twin =
        atomic_load(&a->n_connections) < a->max_connections ? fcntl(fd, F_DUPFD_CLOEXEC, 0) : -1;
    if (twin < 0) {
        refuse(fd);
        return;
    }
    if (!watch(a, twin, EPOLLRDHUP, ABOUT_CONNECTION, (uint32_t)twin)) {
        close(twin);
        refuse(fd);
        return;
    }
    atomic_fetch_add(&a->n_connections, 1);
    (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on); /* fails on unix sockets */
    a->take(a->self, fd, is_own_peer(fd), trusted);
}

static void accept_some(acceptor *a, unsigned listener) {
    for (int i = 0; i < EVENTS; i++) {
        const int fd = accept4(a->listeners[listener].fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            accept_one(a, fd, a->listeners[listener].trusted);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) {
            usleep(10000); /* the socket stays readable: do not spin */
            return;
        } else if (errno != ECONNABORTED && errno != EINTR) {
            return;
        }
    }
}

static void close_listeners(acceptor *a) {
    for (unsigned i = 0; i < a->n_listeners; i++)
        close(a->listeners[i].fd);
    a->n_listeners = 0;
}

static void *acceptor_main(void *self) {
    acceptor *a = self;
    struct epoll_event events[EVENTS];
    bool stopping = false;
    for (;;) {
        const int n = epoll_wait(a->epoll, events, EVENTS, -1);
        for (int i = 0; i < n; i++) {
            const uint32_t what = (uint32_t)events[i].data.u64;
            uint64_t wake;
            switch (events[i].data.u64 >> 32) {
            case ABOUT_STOP:
                if (read(a->stop, &wake, sizeof wake) < 0 || stopping) return NULL;
                stopping = true;
                close_listeners(a);
                sem_post(&a->listeners_closed);
                break;
            case ABOUT_LISTENER:
                if (!stopping) accept_some(a, what);
                break;
            default:
                epoll_ctl(a->epoll, EPOLL_CTL_DEL, (int)what, NULL);
                close((int)what);
                atomic_fetch_sub(&a->n_connections, 1);
            }
        }
    }
}

cuzk_status acceptor_start(acceptor *a, cuzk_error *err) {
    a->started = pthread_create(&a->thread, NULL, acceptor_main, a) == 0;
    return a->started ? CUZK_OK : cuzk_fail(err, CUZK_ERR_NO_MEMORY, "cannot start the acceptor");
}

unsigned acceptor_connections(acceptor *a) {
    return atomic_load(&a->n_connections);
}

static void signal_thread(acceptor *a) {
    const uint64_t one = 1;
    while (write(a->stop, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

void acceptor_stop(acceptor *a) {
    if (a->stopped) return;
    a->stopped = true;
    if (!a->started) {
        close_listeners(a);
        return;
    }
    signal_thread(a);
    while (sem_wait(&a->listeners_closed) != 0 && errno == EINTR) {
    }
}

void acceptor_free(acceptor *a) {
    if (a == NULL) return;
    acceptor_stop(a);
    if (a->started) {
        signal_thread(a);
        pthread_join(a->thread, NULL);
    }
    if (a->epoll >= 0) close(a->epoll);
    if (a->stop >= 0) close(a->stop);
    sem_destroy(&a->listeners_closed);
    free(a);
}
