/* Error texts for clients: the same words, without folders of the server's file system. */
#ifndef CUZK_SERVER_SAFE_TEXT_H
#define CUZK_SERVER_SAFE_TEXT_H

#include <stddef.h>

/* Copies text; an absolute path ("/data/zk/params/v28-x.params") keeps its last part only, and
 * bytes that are not printable become '?'. UTF-8 is kept. */
void safe_text(char *out, size_t out_bytes, const char *text);

#endif
