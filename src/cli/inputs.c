#include "cli/inputs.h"

#include <string.h>

#include "base/file.h"
#include "filecoin/public_inputs.h"

#ifdef CUZK_HAVE_FORMATS
#include "formats/blob_list.h"
#include "formats/c1_json.h"
#include "formats/small_json.h"
#endif

static cuzk_status open_porep(const cuzk_host *host, const job_files *files, proof_job **out,
                              cuzk_error *err) {
    porep_c1 *c1;
    CUZK_TRY(c1_file_read(host, files->c1, &c1, err));
    cuzk_status status = porep_c1_check(host, c1, err);
    if (status == CUZK_OK) status = proof_job_porep(host, c1, out, err);
    if (status == CUZK_OK) return CUZK_OK;
    porep_c1_free(host, c1);
    return cuzk_error_context(err, status, "%s", files->c1);
}

static cuzk_status open_porep_public(const cuzk_host *host, const job_files *files, proof_job **out,
                                     cuzk_error *err) {
    porep_c1 *c1;
    porep_public pub;
    CUZK_TRY(c1_file_read(host, files->c1, &c1, err));
    porep_public_of_c1(c1, &pub);
    porep_c1_free(host, c1);
    const cuzk_status status = proof_job_porep_public(host, &pub, out, err);
    return status == CUZK_OK ? status : cuzk_error_context(err, status, "%s", files->c1);
}

#ifdef CUZK_HAVE_FORMATS

cuzk_status c1_file_read(const cuzk_host *host, const char *path, porep_c1 **out, cuzk_error *err) {
    return porep_c1_read_file(host, path, out, NULL, err);
}
cuzk_status secrets_read(const char *path, groth16_secrets *out, cuzk_error *err) {
    return secrets_file_read(path, out, err);
}
cuzk_status fixed_rs_read(const char *path, groth16_blinding *out, size_t n, cuzk_error *err) {
    return fixed_rs_file_read(path, out, n, err);
}

static cuzk_status open_post(const cuzk_host *host, const public_meta *meta, const blob_list *blobs,
                             proof_job **out, cuzk_error *err) {
    post_vanilla *v;
    CUZK_TRY(post_vanilla_read(host, &meta->post, blobs->data, blobs->bytes, blobs->n, &v, err));
    cuzk_status status = CUZK_OK;
    if (v->n_sectors != meta->n_sectors)
        status = cuzk_fail(err, CUZK_ERR_MISMATCH, "%u vanilla proofs for %zu sectors",
                           v->n_sectors, meta->n_sectors);
    for (size_t i = 0; status == CUZK_OK && i < meta->n_sectors; i++) {
        if (v->sectors[i].sector_id != meta->sectors[i].sector_id ||
            memcmp(v->sectors[i].comm_r, meta->sectors[i].comm_r, sizeof(node32)) != 0)
            status = cuzk_fail(err, CUZK_ERR_MISMATCH,
                               "vanilla proof %zu is of sector %llu with another id or comm_r than "
                               "the metadata's sector %llu",
                               i, (unsigned long long)v->sectors[i].sector_id,
                               (unsigned long long)meta->sectors[i].sector_id);
    }
    if (status == CUZK_OK) status = post_vanilla_check(host, &meta->post, meta->randomness, v, err);
    if (status == CUZK_OK)
        status = proof_job_post(host, &meta->post, meta->randomness, v, out, err);
    if (status != CUZK_OK) post_vanilla_free(host, v);
    return status;
}

static circuit_id snap_circuit(const job_files *files, const public_meta *meta) {
    const sector_shape *sector = meta->update_sector;
    return (circuit_id){.kind = PROOF_SNAP,
                        .sector = files->poseidon ? sector_shape_snap_poseidon(sector) : sector,
                        .snap_poseidon = files->poseidon};
}

static cuzk_status open_snap(const cuzk_host *host, const job_files *files, const public_meta *meta,
                             const blob_list *blobs, proof_job **out, cuzk_error *err) {
    const circuit_id id = snap_circuit(files, meta);
    snap_vanilla *v;
    CUZK_TRY(snap_vanilla_read(host, id.sector, blobs->data, blobs->bytes, blobs->n, &v, err));
    cuzk_status status =
        snap_vanilla_check(host, v, meta->comm_r_old, meta->comm_r_new, meta->comm_d_new, err);
    if (status == CUZK_OK)
        status = proof_job_snap(host, &id, meta->comm_r_old, meta->comm_r_new, meta->comm_d_new, v,
                                out, err);
    if (status != CUZK_OK) snap_vanilla_free(host, v);
    return status;
}

/* Put the file in front of an error that names the vanilla proof by its number. */
static cuzk_status name_vanilla(const job_files *files, cuzk_status status, cuzk_error *err) {
    const cli_list *list = &files->vanilla;
    if (list->n == 1) return cuzk_error_context(err, status, "%s", list->items[0]);
    return cuzk_error_context(err, status, "%s (0) to %s (%zu)", list->items[0],
                              list->items[list->n - 1], list->n - 1);
}

cuzk_status job_files_open(const cuzk_host *host, const job_files *files, proof_job **out,
                           cuzk_error *err) {
    if (files->kind == PROOF_POREP) return open_porep(host, files, out, err);
    public_meta meta;
    blob_list blobs;
    CUZK_TRY(public_meta_read_file(host, files->kind, files->meta, &meta, err));
    cuzk_status status =
        blob_list_read_files(host, files->vanilla.items, files->vanilla.n, &blobs, err);
    if (status == CUZK_OK) {
        status = files->kind == PROOF_SNAP ? open_snap(host, files, &meta, &blobs, out, err)
                                           : open_post(host, &meta, &blobs, out, err);
        if (status != CUZK_OK) status = name_vanilla(files, status, err);
        blob_list_free(host, &blobs);
    }
    public_meta_free(host, &meta);
    return status;
}

cuzk_status job_files_open_public(const cuzk_host *host, const job_files *files, proof_job **out,
                                  cuzk_error *err) {
    if (files->kind == PROOF_POREP && files->c1 != NULL)
        return open_porep_public(host, files, out, err);
    public_meta meta;
    CUZK_TRY(public_meta_read_file(host, files->kind, files->meta, &meta, err));
    cuzk_status status;
    if (files->kind == PROOF_POREP) {
        status = proof_job_porep_public(host, &meta.porep, out, err);
    } else if (files->kind == PROOF_SNAP) {
        const circuit_id id = snap_circuit(files, &meta);
        status = proof_job_snap_public(host, &id, meta.comm_r_old, meta.comm_r_new, meta.comm_d_new,
                                       out, err);
    } else {
        status = proof_job_post_public(host, &meta.post, meta.randomness, meta.sectors,
                                       meta.n_sectors, out, err);
    }
    public_meta_free(host, &meta);
    return status == CUZK_OK ? status : cuzk_error_context(err, status, "%s", files->meta);
}

#else /* a build without yajl: binary C1 files only */

static cuzk_status no_json(const char *path, cuzk_error *err) {
    return cuzk_fail(err, CUZK_ERR_UNSUPPORTED, "%s: this build of cuzk reads no JSON (yajl)",
                     path);
}

cuzk_status c1_file_read(const cuzk_host *host, const char *path, porep_c1 **out, cuzk_error *err) {
    file_map map;
    CUZK_TRY(file_map_open(path, &map, err));
    cuzk_status status = map.bytes > 0 && map.data[0] == '{'
                             ? no_json(path, err)
                             : porep_c1_read_binary(host, map.data, map.bytes, out, err);
    file_map_close(&map);
    return status == CUZK_OK ? status : cuzk_error_context(err, status, "%s", path);
}
cuzk_status secrets_read(const char *path, groth16_secrets *out, cuzk_error *err) {
    (void)out;
    return no_json(path, err);
}
cuzk_status fixed_rs_read(const char *path, groth16_blinding *out, size_t n, cuzk_error *err) {
    (void)out;
    (void)n;
    return no_json(path, err);
}
cuzk_status job_files_open(const cuzk_host *host, const job_files *files, proof_job **out,
                           cuzk_error *err) {
    if (files->kind == PROOF_POREP) return open_porep(host, files, out, err);
    return no_json(files->meta, err);
}
cuzk_status job_files_open_public(const cuzk_host *host, const job_files *files, proof_job **out,
                                  cuzk_error *err) {
    if (files->kind == PROOF_POREP && files->c1 != NULL)
        return open_porep_public(host, files, out, err);
    return no_json(files->meta, err);
}

#endif
