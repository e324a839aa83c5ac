/* The status as JSON: the field names of the Rust engine's /status, and ours beside them. */
#ifndef CUZK_SERVER_STATUS_JSON_H
#define CUZK_SERVER_STATUS_JSON_H

#include <stdio.h>

#include "server/service.h"

cuzk_status status_json_write(service *v, const char *version, FILE *out, cuzk_error *err);

#endif
