#include "server/tokens.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "hash/sha256.h"

enum { MAX_TOKENS = 256, MAX_FILE = 256 * 1024 };

struct token_list {
    size_t n;
    struct {
        uint8_t digest[32];
        unsigned rights;
    } items[MAX_TOKENS];
};

static bool right_of(const char *name, unsigned *rights) {
    static const struct {
        const char *name;
        unsigned right;
    } names[] = {{"submit", RIGHT_SUBMIT},
                 {"observe", RIGHT_OBSERVE},
                 {"admin", RIGHT_ADMIN},
                 {"all", RIGHT_ALL}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i].name, name) != 0) continue;
        *rights |= names[i].right;
        return true;
    }
    return false;
}

static cuzk_status take_line(token_list *list, char *line, unsigned number, const char *path,
                             cuzk_error *err) {
    char *save = NULL;
    line[strcspn(line, "#\r\n")] = 0;
    const char *token = strtok_r(line, " \t", &save);
    if (token == NULL) return CUZK_OK;
    if (strlen(token) < 16 || strlen(token) > 512)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s:%u: a token has 16 to 512 characters", path,
                         number);
    if (list->n == MAX_TOKENS)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s:%u: more than %d tokens", path, number,
                         MAX_TOKENS);
    unsigned rights = 0;
    for (const char *right; (right = strtok_r(NULL, " \t,", &save)) != NULL;)
        if (!right_of(right, &rights))
            return cuzk_fail(err, CUZK_ERR_FORMAT,
                             "%s:%u: unknown right \"%.32s\" (submit, observe, admin, all)", path,
                             number, right);
    if (rights == 0)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "%s:%u: a token without rights", path, number);
    sha256(list->items[list->n].digest, token, strlen(token));
    list->items[list->n++].rights = rights;
    return CUZK_OK;
}

static cuzk_status read_text(const char *path, char *text, size_t max, cuzk_error *err) {
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) != 0) {
        const int code = errno;
        if (fd >= 0) close(fd);
        return cuzk_fail(err, code == ENOENT ? CUZK_ERR_NOT_FOUND : CUZK_ERR_IO, "%s: %s", path,
                         strerror(code));
    }
    cuzk_status status = CUZK_OK;
    size_t at = 0;
    if ((st.st_mode & S_IRWXO) != 0)
        status = cuzk_fail(err, CUZK_ERR_ARGUMENT,
                           "%s: tokens must not be open to other users (chmod 600)", path);
    while (status == CUZK_OK && at < max) {
        const ssize_t n = read(fd, text + at, max - at);
        if (n < 0) status = cuzk_fail(err, CUZK_ERR_IO, "%s: %s", path, strerror(errno));
        if (n <= 0) break;
        at += (size_t)n;
    }
    close(fd);
    if (status == CUZK_OK && at == max)
        status = cuzk_fail(err, CUZK_ERR_FORMAT, "%s: longer than %zu bytes", path, max - 1);
    text[at == max ? at - 1 : at] = 0;
    return status;
}

cuzk_status token_list_read(const char *path, token_list **out, cuzk_error *err) {
    *out = NULL;
    char *text = malloc(MAX_FILE);
    token_list *list = calloc(1, sizeof *list);
    cuzk_status status = text == NULL || list == NULL
                             ? cuzk_fail(err, CUZK_ERR_NO_MEMORY, "%s: no memory", path)
                             : read_text(path, text, MAX_FILE, err);
    unsigned number = 0;
    char *rest = text;
    while (status == CUZK_OK && rest != NULL) {
        char *line = strsep(&rest, "\n");
        status = take_line(list, line, ++number, path, err);
    }
    if (status == CUZK_OK && list->n == 0)
        status = cuzk_fail(err, CUZK_ERR_FORMAT, "%s: no token in it", path);
    if (text != NULL) explicit_bzero(text, MAX_FILE);
    free(text);
    if (status == CUZK_OK)
        *out = list;
    else
        free(list);
    return status;
}

void token_list_free(token_list *list) {
    free(list);
}

unsigned token_list_rights(const token_list *list, const uint8_t *token, size_t bytes) {
    uint8_t digest[32];
    unsigned rights = 0;
    sha256(digest, token, bytes);
    for (size_t i = 0; i < list->n; i++) {
        unsigned differ = 0;
        for (size_t k = 0; k < sizeof digest; k++)
            differ |= (unsigned)(digest[k] ^ list->items[i].digest[k]);
        /* All ones when differ is 0, without a branch. */
        rights |= list->items[i].rights & (0u - ((differ - 1) >> 31));
    }
    return rights;
}
