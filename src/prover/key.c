#include "prover/key.h"

#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "filecoin/circuits.h"

cuzk_status params_path(const char *dir, const circuit_id *id, const char *extension, char *out,
                        size_t out_bytes, cuzk_error *err) {
    char cache_id[256];
    circuit_cache_id(id, cache_id);
    const int n = snprintf(out, out_bytes, "%s/v28-%s%s", dir, cache_id, extension);
    if (n < 0 || (size_t)n >= out_bytes)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "parameter folder: the path is too long");
    return CUZK_OK;
}

cuzk_status circuit_record(const cuzk_host *host, const circuit_id *id, bool keep_c, r1cs **out,
                           cuzk_error *err) {
    filecoin_circuit *definition;
    CUZK_TRY(filecoin_circuit_new(host, id, &definition, err));
    cuzk_status status = r1cs_record(host, filecoin_circuit_cs(definition), out, err);
    if (status == CUZK_OK && !keep_c) r1cs_drop_c(host, *out);
    filecoin_circuit_free(host, definition);
    return status;
}

static cuzk_status missing(const char *path, const char *dir, const char *circuit,
                           cuzk_error *err) {
    const char *slash = strrchr(path, '/');
    return cuzk_fail(err, CUZK_ERR_NOT_FOUND,
                     "no parameters of %s in %s: %s is missing (Filecoin publishes it; it is never "
                     "made here)",
                     circuit, dir, slash != NULL ? slash + 1 : path);
}

cuzk_status proving_key_load(const cuzk_host *host, const circuit_id *id, const char *dir,
                             proving_key **out, cuzk_error *err) {
    char path[1024];
    void *memory;
    *out = NULL;
    CUZK_TRY(params_path(dir, id, ".params", path, sizeof path, err));
    CUZK_TRY(cuzk_host_alloc(host, &memory, 1, sizeof(proving_key), "proving key", err));
    memset(memory, 0, sizeof(proving_key));
    proving_key *key = memory;
    key->id = *id;
    circuit_id_format(id, key->name);
    cuzk_status status = groth16_params_open(host, path, &key->params, err);
    if (status == CUZK_ERR_NOT_FOUND) status = missing(path, dir, key->name, err);
    if (status == CUZK_OK) status = circuit_record(host, id, false, &key->circuit, err);
    if (status == CUZK_OK) {
        status = groth16_params_fit(key->params, key->circuit, err);
        if (status != CUZK_OK) status = cuzk_error_context(err, status, "%s", path);
    }
    if (status != CUZK_OK) {
        proving_key_free(host, key);
        return status;
    }
    *out = key;
    return CUZK_OK;
}

void proving_key_free(const cuzk_host *host, proving_key *key) {
    if (key == NULL) return;
    if (key->circuit != NULL) r1cs_free(host, key->circuit);
    if (key->params != NULL) groth16_params_close(host, key->params);
    cuzk_host_free(host, key, 1, sizeof *key);
}

executor_key proving_key_for_executor(const proving_key *key) {
    return (executor_key){.circuit_id = key->name, .circuit = key->circuit, .params = key->params};
}

cuzk_status verifying_key_load(const cuzk_host *host, const circuit_id *id, const char *dir,
                               groth16_vk **out, cuzk_error *err) {
    char path[1024];
    file_map map;
    CUZK_TRY(params_path(dir, id, ".vk", path, sizeof path, err));
    cuzk_status status = file_map_open(path, &map, err);
    if (status == CUZK_ERR_NOT_FOUND) {
        groth16_params *params;
        CUZK_TRY(params_path(dir, id, ".params", path, sizeof path, err));
        status = groth16_params_open(host, path, &params, err);
        if (status == CUZK_ERR_NOT_FOUND) {
            char name[32];
            circuit_id_format(id, name);
            return missing(path, dir, name, err);
        }
        if (status != CUZK_OK) return status;
        *out = params->vk;
        params->vk = NULL;
        groth16_params_close(host, params);
        return CUZK_OK;
    }
    if (status != CUZK_OK) return status;
    status = groth16_vk_read(host, map.data, map.bytes, path, out, err);
    file_map_close(&map);
    return status;
}
