#include "cli/device.h"

#include <string.h>

cuzk_status device_open(const cuzk_host *host, const char *name, executor **out, cuzk_error *err) {
    if (name == NULL || strcmp(name, "auto") == 0 || strcmp(name, "cpu") == 0)
        return executor_cpu_open(host, out, err);
    return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "device '%s': this build has only the CPU", name);
}
