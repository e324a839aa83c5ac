#include "server/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static cuzk_status parse_unix(const char *path, address *out, cuzk_error *err) {
    struct sockaddr_un *un = (struct sockaddr_un *)&out->socket;
    if (path[0] != '/')
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "\"unix:%s\": the path must be absolute", path);
    if (strlen(path) >= sizeof un->sun_path)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "%s: a socket's path has at most %zu characters",
                         path, sizeof un->sun_path - 1);
    un->sun_family = AF_UNIX;
    snprintf(un->sun_path, sizeof un->sun_path, "%s", path);
    snprintf(out->text, sizeof out->text, "%s", path);
    out->socket_bytes = sizeof *un;
    out->is_unix = true;
    return CUZK_OK;
}

static bool is_loopback(const struct sockaddr *a) {
    if (a->sa_family == AF_INET) {
        struct sockaddr_in in;
        memcpy(&in, a, sizeof in);
        return ntohl(in.sin_addr.s_addr) >> 24 == 127;
    }
    struct sockaddr_in6 in6;
    memcpy(&in6, a, sizeof in6);
    return IN6_IS_ADDR_LOOPBACK(&in6.sin6_addr);
}

cuzk_status address_parse(const char *text, address *out, cuzk_error *err) {
    memset(out, 0, sizeof *out);
    if (strncmp(text, "unix:", 5) == 0)
        return parse_unix(strncmp(text, "unix://", 7) == 0 ? text + 7 : text + 5, out, err);
    const char *colon = strrchr(text, ':');
    char host[256];
    if (colon == NULL || colon[1] == 0 || strlen(text) >= sizeof host)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                         "address \"%.200s\": expected unix:///path or host:port", text);
    size_t n = (size_t)(colon - text);
    const bool brackets = n >= 2 && text[0] == '[' && text[n - 1] == ']';
    snprintf(host, sizeof host, "%.*s", (int)(brackets ? n - 2 : n), text + brackets);
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    const int code = getaddrinfo(host[0] == 0 ? NULL : host, colon + 1, &hints, &found);
    if (code != 0)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "address \"%s\": %s", text, gai_strerror(code));
    memcpy(&out->socket, found->ai_addr, found->ai_addrlen);
    out->socket_bytes = found->ai_addrlen;
    out->is_loopback = is_loopback(found->ai_addr);
    snprintf(out->text, sizeof out->text, "%s", text);
    freeaddrinfo(found);
    return CUZK_OK;
}

/* Nobody behind it: connecting is refused. */
static bool is_stale(const address *a) {
    struct stat st;
    if (stat(a->text, &st) != 0 || !S_ISSOCK(st.st_mode)) return false;
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool refused = fd >= 0 &&
                         connect(fd, (const struct sockaddr *)&a->socket, a->socket_bytes) != 0 &&
                         errno == ECONNREFUSED;
    if (fd >= 0) close(fd);
    return refused;
}

static void make_folder(const char *path) {
    char folder[512];
    snprintf(folder, sizeof folder, "%s", path);
    char *slash = strrchr(folder, '/');
    if (slash == folder) return;
    *slash = 0;
    (void)mkdir(folder, 0755); /* bind says what is wrong, if anything */
}

cuzk_status address_listen(const address *a, int *fd, cuzk_error *err) {
    const int on = 1;
    if (a->is_unix) {
        make_folder(a->text);
        if (is_stale(a)) (void)unlink(a->text);
    }
    *fd = socket(a->socket.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*fd >= 0 && !a->is_unix) setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    const mode_t mask = umask(0177);
    const bool bound =
        *fd >= 0 && bind(*fd, (const struct sockaddr *)&a->socket, a->socket_bytes) == 0;
    const int code = errno;
    umask(mask);
    if (bound && listen(*fd, 1024) == 0) return CUZK_OK;
    const int why = bound ? errno : code;
    if (*fd >= 0) close(*fd);
    *fd = -1;
    return cuzk_fail(err, why == EADDRINUSE ? CUZK_ERR_EXISTS : CUZK_ERR_IO,
                     "cannot listen at %s: %s", a->text, strerror(why));
}
