#include <stdio.h>

#include "cli/cli.h"
#ifdef CUZK_HAVE_SERVER
#include "cli/daemon_config.h"
#endif
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

#ifdef CUZK_HAVE_SERVER
/* How much of each GPU the daemon would take. */
static void print_limit(const config_flags *flags) {
    static daemon_config config; /* large */
    cuzk_error err = {0};
    if (daemon_config_load(flags, false, &config, &err) != CUZK_OK)
        printf("daemon         its configuration is not usable: %s\n", err.text);
    else if (config.vram_limit == 0)
        printf("vram_limit     none: all that is free less 0.75 GiB of each GPU\n");
    else
        printf("vram_limit     %.2f GiB of each GPU (a limit behind a device's name wins)\n",
               (double)config.vram_limit / 1073741824.0);
    for (uint64_t i = 0; err.status == CUZK_OK && i < config.n_devices; i++)
        printf("%s%s%s", i == 0 ? "gpus.devices   " : ", ", config.devices[i],
               i + 1 == config.n_devices ? "\n" : "");
}
#endif

static int run(int argc, char **argv, const cli_command *self) {
    int code;
#ifdef CUZK_HAVE_SERVER
    static config_flags flags; /* large */
    const cli_option options[] = {
        {CLI_TEXT, "config", "FILE", "the daemon's configuration", .target = &flags.config},
        {CLI_TEXT, "vram-limit", "SIZE", "as for serve", .target = &flags.vram_limit}};
    if (!cli_parse(argc, argv, self, options, sizeof options / sizeof options[0], NULL, 0, &code))
        return code;
#else
    if (!cli_parse(argc, argv, self, NULL, 0, NULL, 0, &code)) return code;
#endif
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
#ifdef CUZK_HAVE_SERVER
    print_limit(&flags);
#endif
    return EXIT_OK;
}

const cli_command cmd_doctor = {
    .name = "doctor",
    .summary = "what was built in, what this machine has, what is used and why not",
    .about = "Diagnoses the machine; needs no GPU.",
    .run = run,
};
