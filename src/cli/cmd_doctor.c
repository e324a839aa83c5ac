#include <stdio.h>

#include "cli/cli.h"
#include "cli/version.h"
#include "field/cpu.h"

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
    return EXIT_OK;
}

const cli_command cmd_doctor = {
    .name = "doctor",
    .summary = "what was built in, what this machine has, what is used and why not",
    .about = "Diagnoses the machine; needs no GPU.",
    .run = run,
};
