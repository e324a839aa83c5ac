#include <stdio.h>

#include "cli/cli.h"
#include "cli/device.h"
#include "cli/version.h"
#include "field/cpu.h"

#define MAX_DEVICES 64

static void print_devices(const cuda_library *cuda) {
    static cuda_device_info infos[MAX_DEVICES];
    cuzk_error err = {0};
    unsigned n = 0;
    if (cuda->devices(infos, MAX_DEVICES, &n, &err) != CUZK_OK) {
        printf("GPUs           %s\n", err.text);
        return;
    }
    for (unsigned i = 0; i < n && i < MAX_DEVICES; i++) {
        const cuda_device_info *d = &infos[i];
        printf("GPU %-10d %s, sm_%d, %u multiprocessors, %.1f GiB, %s, %s\n", d->ordinal, d->name,
               d->arch, d->sms, (double)d->memory_bytes / 1073741824.0, d->uuid, d->pci);
        printf("               %s%s\n", d->unusable[0] == 0 ? "usable" : "not used: ", d->unusable);
    }
    if (n == 0) printf("GPUs           none visible: the CPU is used\n");
}

/* Looks at the GPUs, and works without any. */
static void print_cuda(void) {
    cuzk_error err = {0};
    const cuda_library *cuda = device_cuda_library(&err);
    if (cuda == NULL) {
        printf("CUDA           not used: %s\n", err.text);
        return;
    }
    const int version = cuda->runtime_version, driver = cuda->driver_version();
    printf("CUDA           built in: version %d.%d, architectures %s\n", version / 1000,
           version % 1000 / 10, cuda->architectures);
    if (driver == 0) {
        printf("NVIDIA driver  none: the CPU is used\n");
        return;
    }
    printf("NVIDIA driver  for CUDA up to %d.%d%s\n", driver / 1000, driver % 1000 / 10,
           driver / 1000 < version / 1000 ? ": too old for this build, the CPU is used" : "");
    print_devices(cuda);
}

static int run(int argc, char **argv, const cli_command *self) {
    int code;
    if (!cli_parse(argc, argv, self, NULL, 0, NULL, 0, &code)) return code;
    printf("cuzk           %s\n", CUZK_VERSION);
    printf("mulx/adcx/adox %s\n", cuzk_cpu_has_adx() ? "used" : "not on this CPU: portable code");
    printf("AVX-512 IFMA   %s\n",
           cuzk_cpu_has_avx512ifma() ? "used" : "not on this CPU: scalar code");
#ifdef CUZK_HAVE_FORMATS
    printf("JSON inputs    built in\n");
#else
    printf("JSON inputs    left out (built without yajl): binary C1 files only\n");
#endif
    print_cuda();
    return EXIT_OK;
}

const cli_command cmd_doctor = {
    .name = "doctor",
    .summary = "what was built in, what this machine has, what is used and why not",
    .about = "Diagnoses the machine; needs no GPU.",
    .run = run,
};
