#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/cli.h"
#include "cli/device.h"
#include "cli/inputs.h"
#include "hash/sha256.h"
#include "prover/key.h"

typedef struct setup_args {
    const char *circuit, *out, *seed, *secrets_file, *device, *vram_limit;
    uint64_t threads;
} setup_args;

/* Secrets from a seed: SHA-256(seed | name), top two bits cleared, as a little-endian number. */
static cuzk_status secret_from_seed(const uint8_t seed[32], const char *name, fr_t *out) {
    sha256_ctx ctx;
    uint8_t digest[32];
    sha256_init(&ctx);
    sha256_update(&ctx, seed, 32);
    sha256_update(&ctx, name, strlen(name));
    sha256_final(&ctx, digest);
    digest[31] &= 0x3f;
    return fr_from_bytes(out, digest);
}

static cuzk_status make_secrets(const cli_session *s, const setup_args *args, groth16_secrets *out,
                                cuzk_error *err) {
    uint8_t seed[32];
    if (args->secrets_file != NULL) return secrets_read(args->secrets_file, out, err);
    if (args->seed == NULL) {
        if (s->host->random(s->host->self, seed, sizeof seed) != CUZK_OK)
            return cuzk_fail(err, CUZK_ERR_IO, "no randomness from the operating system");
    } else if (!cli_parse_hex(args->seed, seed, sizeof seed)) {
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "--seed: expected 64 hex digits");
    }
    fr_t *const members[] = {&out->alpha, &out->beta, &out->gamma, &out->delta, &out->tau};
    static const char *const names[] = {"alpha", "beta", "gamma", "delta", "tau"};
    for (int i = 0; i < 5; i++)
        CUZK_TRY(secret_from_seed(seed, names[i], members[i]));
    explicit_bzero(seed, sizeof seed);
    return CUZK_OK;
}

/* Where everything goes. The notes say what the files are, for whoever finds them later. */
typedef struct setup_paths {
    char params[1024], vk[1024], meta[1024], insecure[1024];
} setup_paths;

static cuzk_status name_files(const char *dir, const circuit_id *id, setup_paths *p,
                              cuzk_error *err) {
    CUZK_TRY(params_path(dir, id, ".params", p->params, sizeof p->params, err));
    CUZK_TRY(params_path(dir, id, ".vk", p->vk, sizeof p->vk, err));
    CUZK_TRY(params_path(dir, id, ".meta", p->meta, sizeof p->meta, err));
    return params_path(dir, id, ".INSECURE", p->insecure, sizeof p->insecure, err);
}

static cuzk_status write_notes(const circuit_id *id, const setup_paths *p, cuzk_error *err) {
    char text[64];
    snprintf(text, sizeof text, "{\"sector_size\":%llu}", (unsigned long long)id->sector->bytes);
    CUZK_TRY(file_write_all(p->meta, text, strlen(text), err));
    static const char note[] =
        "INSECURE: these parameters were made on one machine, for tests and development.\n"
        "Whoever made them can forge proofs. They are not Filecoin's published parameters.\n";
    return file_write_all(p->insecure, note, sizeof note - 1, err);
}

/* The notes come first, so that no parameters stand without their warning; they go again when
 * there are none. */
static cuzk_status make_files(const cuzk_host *host, const circuit_id *id, const setup_paths *p,
                              const groth16_secrets *secrets, const char *device, cuzk_error *err) {
    r1cs *circuit = NULL;
    groth16_encoder *encoder = NULL;
    CUZK_TRY(device_encoder_open(host, device, &encoder, err));
    cuzk_status status = circuit_record(host, id, true, &circuit, err);
    if (status == CUZK_OK) status = write_notes(id, p, err);
    if (status == CUZK_OK)
        status = groth16_setup_with(host, circuit, secrets, encoder, p->params, p->vk, err);
    r1cs_free(host, circuit);
    device_encoder_close(encoder);
    if (status != CUZK_OK && access(p->params, F_OK) != 0) {
        (void)unlink(p->meta);
        (void)unlink(p->insecure);
    }
    return status;
}

static cuzk_status setup(const cli_session *s, const setup_args *args, cuzk_error *err) {
    char device[DEVICE_NAME_BYTES];
    circuit_id id;
    setup_paths paths;
    groth16_secrets secrets;
    CUZK_TRY(circuit_id_parse(args->circuit, &id, err));
    CUZK_TRY(name_files(args->out, &id, &paths, err));
    CUZK_TRY(device_limited(args->device, args->vram_limit, device, err));
    CUZK_TRY(make_secrets(s, args, &secrets, err));
    const bool made = mkdir(args->out, 0777) == 0;
    cuzk_status status = CUZK_OK;
    if (!made && errno != EEXIST)
        status = cuzk_fail(err, CUZK_ERR_IO, "%s: %s", args->out, strerror(errno));
    if (status == CUZK_OK) status = make_files(s->host, &id, &paths, &secrets, device, err);
    explicit_bzero(&secrets, sizeof secrets);
    if (status == CUZK_OK) printf("%s\n%s\n", paths.params, paths.vk);
    if (status != CUZK_OK && made) (void)rmdir(args->out);
    return status;
}

static int run(int argc, char **argv, const cli_command *self) {
    setup_args args = {0};
    const cli_option options[] = {
        {CLI_TEXT, "circuit", "ID",
         "porep-{2k,8m,512m,32g,64g}; likewise winning-, window-, snap-,\nsnap-poseidon-",
         &args.circuit, 0, 0, true},
        {CLI_TEXT, "out", "DIR", "folder for the files, made when it is missing", &args.out, 0, 0,
         true},
        {CLI_TEXT, "seed", "HEX", "derive the secrets from 32 bytes: the same files again",
         &args.seed, 0, 0, false},
        {CLI_TEXT, "secrets", "FILE",
         "JSON object with alpha, beta, gamma, delta, tau, each 32 bytes\nlittle-endian in hex",
         &args.secrets_file, 0, 0, false},
        {CLI_TEXT, "device", "NAME",
         "cpu, cuda, cuda:DEVICE, or auto (default: a GPU if there is one)", &args.device, 0, 0,
         false},
        VRAM_LIMIT_OPTION(args.vram_limit),
        {CLI_COUNT, "threads", "N", "threads to use (default: all)", &args.threads, 1, 1024, false},
    };
    int code;
    if (!cli_parse(argc, argv, self, options, sizeof options / sizeof options[0], NULL, 0, &code))
        return code;
    if (args.seed != NULL && args.secrets_file != NULL)
        return cli_usage(self, "--seed and --secrets exclude each other");

    cli_session s;
    cuzk_error err = {0};
    if (cli_session_open(&s, (unsigned)args.threads, false, &err) != CUZK_OK)
        return cli_report(self, &err);
    fprintf(stderr, "INSECURE parameters: for tests and development only\n");
    const double start = cli_now();
    const cuzk_status status = setup(&s, &args, &err);
    cli_session_close(&s);
    if (status != CUZK_OK) return cli_report(self, &err);
    fprintf(stderr, "made in %.1f s\n", cli_now() - start);
    return EXIT_OK;
}

const cli_command cmd_setup = {
    .name = "setup",
    .summary = "make INSECURE parameters for tests and development",
    .about = "Makes a parameter file and its verifying key under Filecoin's file names.\n"
             "Whoever runs this knows the secrets: never use the result for real proofs.",
    .run = run,
};
