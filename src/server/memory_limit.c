/* How much memory "auto" means: what the machine has, or what the cgroup allows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/config.h"

static uint64_t smaller_of_file(uint64_t limit, const char *path) {
    char text[64] = "";
    FILE *f = fopen(path, "re");
    if (f == NULL) return limit;
    if (fgets(text, sizeof text, f) == NULL) text[0] = 0;
    fclose(f);
    char *end;
    const unsigned long long v = strtoull(text, &end, 10);
    return end != text && v > 0 && v < limit ? v : limit; /* "max" is no number */
}

/* Version 2: the limits of this cgroup and of all above it. */
static uint64_t cgroup_limit(uint64_t limit) {
    char line[1024], path[1200];
    FILE *f = fopen("/proc/self/cgroup", "re");
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        line[strcspn(line, "\n")] = 0;
        if (strncmp(line, "0::/", 4) != 0) continue;
        char *group = line + 3;
        for (;;) {
            snprintf(path, sizeof path, "/sys/fs/cgroup%s/memory.max", group);
            limit = smaller_of_file(limit, path);
            char *slash = strrchr(group, '/');
            if (slash == NULL) break;
            *slash = 0;
        }
    }
    if (f != NULL) fclose(f);
    return smaller_of_file(limit, "/sys/fs/cgroup/memory/memory.limit_in_bytes");
}

cuzk_status config_memory_budget(const daemon_config *c, uint64_t *out, cuzk_error *err) {
    if (c->total_budget != 0) {
        *out = c->total_budget;
        return CUZK_OK;
    }
    const uint64_t all =
        cgroup_limit((uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE));
    /* On a small machine the usual margin would leave nothing: never more than a quarter. */
    const uint64_t margin = c->safety_margin < all / 4 ? c->safety_margin : all / 4;
    *out = all - margin;
    return *out > 0 ? CUZK_OK
                    : cuzk_fail(err, CUZK_ERR_ARGUMENT, "memory.total_budget: nothing is left");
}
