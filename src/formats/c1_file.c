#include <string.h>

#include "base/file.h"
#include "formats/c1_json.h"

cuzk_status porep_c1_read_any(const cuzk_host *host, const uint8_t *data, size_t bytes,
                              porep_c1 **out, c1_source *source, cuzk_error *err) {
    static const uint8_t magic[8] = POREP_C1_MAGIC;
    *out = NULL;
    if (bytes >= sizeof magic && memcmp(data, magic, sizeof magic) == 0) {
        if (source != NULL) *source = (c1_source){0};
        return porep_c1_read_binary(host, data, bytes, out, err);
    }
    return porep_c1_read_json(host, data, bytes, out, source, err);
}

cuzk_status porep_c1_read_file(const cuzk_host *host, const char *path, porep_c1 **out,
                               c1_source *source, cuzk_error *err) {
    file_map map;
    *out = NULL;
    CUZK_TRY(file_map_open(path, &map, err));
    const cuzk_status st = porep_c1_read_any(host, map.data, map.bytes, out, source, err);
    file_map_close(&map);
    return st == CUZK_OK ? CUZK_OK : cuzk_error_context(err, st, "%s", path);
}
