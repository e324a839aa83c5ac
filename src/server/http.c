#include "server/http.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/status_json.h"

/* The web page, embedded by the assembler (embedded.S). */
extern const char page_html[];
extern const size_t page_html_bytes;

struct http_server {
    http_config config;
    struct MHD_Daemon *daemon;
    bool loopback;
    pthread_mutex_t lock;
    const token_list *tokens;
};

/* MHD's rejection of a bad method is by hand: it knows none. */
static enum MHD_Result answer(struct MHD_Connection *c, unsigned code, const char *type,
                              struct MHD_Response *r) {
    if (r == NULL) return MHD_NO;
    MHD_add_response_header(r, "Content-Type", type);
    MHD_add_response_header(r, "Cache-Control", "no-store");
    MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(r, "Content-Security-Policy",
                            "default-src 'none'; style-src 'unsafe-inline'; script-src "
                            "'unsafe-inline'; connect-src 'self'; img-src data:; "
                            "frame-ancestors 'none'; base-uri 'none'");
    if (code == MHD_HTTP_UNAUTHORIZED)
        MHD_add_response_header(r, "WWW-Authenticate", "Basic realm=\"cuzk\"");
    if (code == MHD_HTTP_METHOD_NOT_ALLOWED) MHD_add_response_header(r, "Allow", "GET, HEAD");
    const enum MHD_Result result = MHD_queue_response(c, code, r);
    MHD_destroy_response(r);
    return result;
}

static enum MHD_Result answer_text(struct MHD_Connection *c, unsigned code, const char *text) {
    return answer(c, code, "text/plain; charset=utf-8",
                  MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text,
                                                  MHD_RESPMEM_MUST_COPY));
}

/* ---- rights ---- */

static bool has_right(struct http_server *s, struct MHD_Connection *c) {
    static const char bearer[] = "Bearer ";
    const char *header = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Authorization");
    char *password = NULL;
    bool ok = s->loopback;
    pthread_mutex_lock(&s->lock);
    if (s->tokens == NULL) ok = true;
    if (!ok && header != NULL && strncmp(header, bearer, sizeof bearer - 1) == 0) {
        const char *token = header + sizeof bearer - 1;
        ok = (token_list_rights(s->tokens, (const uint8_t *)token, strlen(token)) &
              RIGHT_OBSERVE) != 0;
    } else if (!ok && header != NULL) {
        char *user = MHD_basic_auth_get_username_password(c, &password);
        ok = password != NULL &&
             (token_list_rights(s->tokens, (const uint8_t *)password, strlen(password)) &
              RIGHT_OBSERVE) != 0;
        MHD_free(user);
        MHD_free(password);
    }
    pthread_mutex_unlock(&s->lock);
    return ok;
}

/* ---- pages ---- */

/* Ready: takes jobs, and has a device that works. */
static enum MHD_Result ready(struct http_server *s, struct MHD_Connection *c) {
    service *v = s->config.service;
    engine_snapshot *snapshot;
    bool device = false;
    if (atomic_load(&v->draining))
        return answer_text(c, MHD_HTTP_SERVICE_UNAVAILABLE, "draining\n");
    if (engine_snapshot_take(v->engine, &snapshot, NULL) != CUZK_OK)
        return answer_text(c, MHD_HTTP_SERVICE_UNAVAILABLE, "no memory\n");
    for (size_t i = 0; i < snapshot->n_devices; i++)
        device |= !snapshot->devices[i].quarantined;
    engine_snapshot_free(snapshot);
    return device ? answer_text(c, MHD_HTTP_OK, "ready\n")
                  : answer_text(c, MHD_HTTP_SERVICE_UNAVAILABLE, "every device is quarantined\n");
}

static enum MHD_Result status(struct http_server *s, struct MHD_Connection *c) {
    char *text = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&text, &bytes);
    const bool made =
        f != NULL && status_json_write(s->config.service, s->config.version, f, NULL) == CUZK_OK;
    if (f == NULL || fclose(f) != 0 || !made) {
        free(text);
        return answer_text(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "no memory\n");
    }
    return answer(c, MHD_HTTP_OK, "application/json",
                  MHD_create_response_from_buffer(bytes, text, MHD_RESPMEM_MUST_FREE));
}

static enum MHD_Result prometheus(struct http_server *s, struct MHD_Connection *c) {
    char *text;
    const service *v = s->config.service;
    if (metrics_text(v->metrics, v->engine, &text, NULL) != CUZK_OK)
        return answer_text(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "no memory\n");
    return answer(c, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8",
                  MHD_create_response_from_buffer(strlen(text), text, MHD_RESPMEM_MUST_FREE));
}

static enum MHD_Result on_request(void *self, struct MHD_Connection *c, const char *url,
                                  const char *method, const char *version, const char *upload,
                                  size_t *upload_bytes, void **state) {
    struct http_server *s = self;
    static int seen;
    (void)version;
    (void)upload;
    if (*state == NULL) { /* the headers are there; a body, if any, is thrown away */
        *state = &seen;
        return MHD_YES;
    }
    if (*upload_bytes > 0) {
        *upload_bytes = 0;
        return MHD_YES;
    }
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
        return answer_text(c, MHD_HTTP_METHOD_NOT_ALLOWED, "GET only\n");
    if (strcmp(url, "/healthz") == 0) return answer_text(c, MHD_HTTP_OK, "ok\n");
    if (strcmp(url, "/readyz") == 0) return ready(s, c);
    if (!has_right(s, c)) return answer_text(c, MHD_HTTP_UNAUTHORIZED, "a token is needed\n");
    if (strcmp(url, "/status") == 0) return status(s, c);
    if (strcmp(url, "/metrics") == 0) return prometheus(s, c);
    if (strcmp(url, "/") == 0)
        return answer(c, MHD_HTTP_OK, "text/html; charset=utf-8",
                      MHD_create_response_from_buffer(page_html_bytes, (void *)(uintptr_t)page_html,
                                                      MHD_RESPMEM_PERSISTENT));
    return answer_text(c, MHD_HTTP_NOT_FOUND, "not found\n");
}

/* ---- life ---- */

static bool on_loopback(int fd) {
    struct sockaddr_storage at;
    socklen_t bytes = sizeof at;
    if (getsockname(fd, (struct sockaddr *)&at, &bytes) != 0) return false;
    if (at.ss_family == AF_INET)
        return ntohl(((const struct sockaddr_in *)&at)->sin_addr.s_addr) >> 24 == 127;
    return at.ss_family == AF_INET6 &&
           IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)&at)->sin6_addr);
}

cuzk_status http_server_start(const http_config *config, int fd, const token_list *tokens,
                              http_server **out, cuzk_error *err) {
    struct http_server *s = calloc(1, sizeof *s);
    *out = NULL;
    if (s == NULL) {
        close(fd);
        return cuzk_fail(err, CUZK_ERR_NO_MEMORY, "no memory for the HTTP server");
    }
    s->config = *config;
    s->tokens = tokens;
    s->loopback = on_loopback(fd);
    pthread_mutex_init(&s->lock, NULL);
    s->daemon =
        MHD_start_daemon(MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_EPOLL, 0, NULL, NULL, on_request,
                         s, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, 128u,
                         MHD_OPTION_CONNECTION_TIMEOUT, 15u, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
                         (size_t)16384, MHD_OPTION_END);
    if (s->daemon == NULL) {
        close(fd);
        pthread_mutex_destroy(&s->lock);
        free(s);
        return cuzk_fail(err, CUZK_ERR_IO, "cannot start the HTTP server");
    }
    *out = s;
    return CUZK_OK;
}

void http_server_set_tokens(http_server *s, const token_list *tokens) {
    if (s == NULL) return;
    pthread_mutex_lock(&s->lock);
    s->tokens = tokens;
    pthread_mutex_unlock(&s->lock);
}

void http_server_stop(http_server *s) {
    if (s == NULL) return;
    MHD_stop_daemon(s->daemon);
    pthread_mutex_destroy(&s->lock);
    free(s);
}
