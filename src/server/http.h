/* What an operator's browser and Prometheus see: /, /status, /metrics, /healthz, /readyz. */
#ifndef CUZK_SERVER_HTTP_H
#define CUZK_SERVER_HTTP_H

#include "server/service.h"

typedef struct http_server http_server;
typedef struct http_config {
    service *service;
    const char *version;
} http_config;

/* Serve on a listening socket, owned from here on (also on failure). tokens: who may look when the
 * socket is not on loopback (bearer, or the password of basic authentication); NULL: everybody. */
cuzk_status http_server_start(const http_config *config, int fd, const token_list *tokens,
                              http_server **out, cuzk_error *err);
void http_server_set_tokens(http_server *s, const token_list *tokens); /* s may be NULL */
void http_server_stop(http_server *s);                                 /* NULL allowed */

#endif
