#include "filecoin/public_inputs.h"

#include <string.h>

#include "base/bytes.h"
#include "filecoin/graph.h"
#include "hash/sha256.h"

void prover_id_from_miner(uint64_t miner_id, node32 out) {
    size_t n = 0;
    memset(out, 0, 32);
    do {
        out[n] = (uint8_t)(miner_id & 0x7f);
        miner_id >>= 7;
        if (miner_id != 0) out[n] |= 0x80;
        n++;
    } while (miner_id != 0);
}

void porep_replica_id(const registered_seal *seal, const node32 prover_id, uint64_t sector_number,
                      const node32 ticket, const node32 comm_d, node32 out) {
    uint8_t number[8];
    node32 porep_id;
    sha256_ctx ctx;
    porep_id_of(seal, porep_id);
    store_be64(number, sector_number);
    sha256_init(&ctx);
    sha256_update(&ctx, prover_id, 32);
    sha256_update(&ctx, number, sizeof number);
    sha256_update(&ctx, ticket, 32);
    sha256_update(&ctx, comm_d, 32);
    sha256_update(&ctx, porep_id, 32);
    sha256_final(&ctx, out);
    out[31] &= 0x3f;
}

static cuzk_status input_of(fr_t *out, const node32 value, const char *name, cuzk_error *err) {
    if (fr_from_bytes(out, value) != CUZK_OK)
        return cuzk_fail(err, CUZK_ERR_NOT_CANONICAL, "%s is not below the field's modulus r",
                         name);
    return CUZK_OK;
}

/* ---- PoRep ---- */

enum { POREP_INPUTS_PER_CHALLENGE = 4 + POREP_DRG_PARENTS + POREP_EXP_PARENTS };

size_t porep_public_input_count(const sector_shape *sector) {
    return 3 + (size_t)POREP_INPUTS_PER_CHALLENGE * sector->porep_challenges;
}

/* Tree D path, the parents' tree C paths, the challenge, tree R-last path, tree C path: packed path
 * bits are the leaf index itself. */
static void porep_challenge_inputs(const porep_graph *g, uint64_t challenge, fr_t *out) {
    uint64_t drg[POREP_DRG_PARENTS], exp[POREP_EXP_PARENTS];
    porep_drg_parents(g, challenge, drg);
    porep_exp_parents(g, challenge, exp);
    fr_from_u64(out++, challenge);
    for (size_t i = 0; i < POREP_DRG_PARENTS; i++)
        fr_from_u64(out++, drg[i]);
    for (size_t i = 0; i < POREP_EXP_PARENTS; i++)
        fr_from_u64(out++, exp[i]);
    for (size_t i = 0; i < 3; i++)
        fr_from_u64(out++, challenge);
}

cuzk_status porep_public_inputs(const cuzk_host *host, const porep_public *pub, uint32_t k,
                                fr_t *out, cuzk_error *err) {
    (void)host; /* nothing is allocated */
    uint64_t challenges[POREP_MAX_CHALLENGES];
    porep_graph g;
    CUZK_TRY(porep_challenges(pub, k, challenges, err));
    CUZK_TRY(input_of(&out[0], pub->replica_id, "replica_id", err));
    CUZK_TRY(input_of(&out[1], pub->comm_d, "comm_d", err));
    CUZK_TRY(input_of(&out[2], pub->comm_r, "comm_r", err));
    out += 3;
    porep_graph_of(&g, &pub->seal);
    for (uint32_t i = 0; i < pub->seal.sector->porep_challenges; i++)
        porep_challenge_inputs(&g, challenges[i], out + (size_t)i * POREP_INPUTS_PER_CHALLENGE);
    return CUZK_OK;
}

void porep_public_of_c1(const porep_c1 *c1, porep_public *out) {
    *out = (porep_public){.seal = c1->seal};
    memcpy(out->comm_r, c1->comm_r, 32);
    memcpy(out->comm_d, c1->comm_d, 32);
    memcpy(out->replica_id, c1->replica_id, 32);
    memcpy(out->seed, c1->seed, 32);
}

/* ---- PoSt ---- */

uint32_t post_partitions(const registered_post *post, size_t n_sectors) {
    if (!post->window) return 1;
    const size_t each = post->sector->window_sectors;
    return (uint32_t)((n_sectors + each - 1) / each);
}

size_t post_public_input_count(const registered_post *post) {
    return post->window ? (size_t)post->sector->window_sectors * (1 + WINDOW_CHALLENGES)
                        : (size_t)WINNING_SECTORS * 2;
}

/* 66 pseudo-sectors with one challenge each. */
static void winning_inputs(const registered_post *post, const node32 randomness,
                           const post_public_sector *sector, const fr_t *comm_r, fr_t *out) {
    for (uint32_t i = 0; i < WINNING_SECTORS; i++) {
        *out++ = *comm_r;
        fr_from_u64(out++, post_leaf_challenge(post->sector, randomness, sector->sector_id, i));
    }
}

static cuzk_status window_inputs(const registered_post *post, const node32 randomness,
                                 const post_public_sector *sectors, size_t first, size_t n,
                                 fr_t *out, cuzk_error *err) {
    const size_t each = 1 + WINDOW_CHALLENGES;
    for (size_t i = 0; i < post->sector->window_sectors; i++, out += each) {
        if (i >= n) { /* padding repeats the last sector's inputs as they are */
            memcpy(out, out - each, each * sizeof *out);
            continue;
        }
        const post_public_sector *s = &sectors[first + i];
        CUZK_TRY(input_of(&out[0], s->comm_r, "comm_r", err));
        for (uint32_t j = 0; j < WINDOW_CHALLENGES; j++)
            fr_from_u64(&out[1 + j], post_leaf_challenge(post->sector, randomness, s->sector_id,
                                                         post_challenge_index(post, first + i, j)));
    }
    return CUZK_OK;
}

cuzk_status post_public_inputs(const registered_post *post, const node32 randomness,
                               const post_public_sector *sectors, size_t n_sectors, uint32_t k,
                               fr_t *out, cuzk_error *err) {
    fr_t unused;
    CUZK_TRY(input_of(&unused, randomness, "randomness", err));
    if (!post->window) {
        fr_t comm_r;
        if (n_sectors != 1 || k != 0)
            return cuzk_fail(err, CUZK_ERR_ARGUMENT,
                             "winning PoSt has one sector and one partition, got %zu sectors, "
                             "partition %u",
                             n_sectors, k);
        CUZK_TRY(input_of(&comm_r, sectors[0].comm_r, "comm_r", err));
        winning_inputs(post, randomness, &sectors[0], &comm_r, out);
        return CUZK_OK;
    }
    if (k >= post_partitions(post, n_sectors))
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "partition %u: %zu sectors of %s fill %u", k,
                         n_sectors, post->sector->name, post_partitions(post, n_sectors));
    const size_t each = post->sector->window_sectors, first = k * each;
    const size_t n = n_sectors - first < each ? n_sectors - first : each;
    return window_inputs(post, randomness, sectors, first, n, out, err);
}

/* ---- Snap ---- */

cuzk_status snap_public_inputs(const sector_shape *sector, uint32_t k, const node32 comm_r_old,
                               const node32 comm_r_new, const node32 comm_d_new, fr_t out[4],
                               cuzk_error *err) {
    /* h = hs[3]; h_select has the bit of the first entry equal to it: all six are 1 in sectors of
     * up to 2^10 nodes, else they are 7..12. */
    const uint64_t h_select = sector->nodes <= 1024 ? 1 : 8;
    const uint32_t partition_bits = (uint32_t)__builtin_ctz(sector->snap_partitions);
    if (k >= sector->snap_partitions)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "partition %u: a SnapDeals proof of %s has %u", k,
                         sector->name, sector->snap_partitions);
    fr_from_u64(&out[0], k | h_select << partition_bits);
    CUZK_TRY(input_of(&out[1], comm_r_old, "comm_r_old", err));
    CUZK_TRY(input_of(&out[2], comm_d_new, "comm_d_new", err));
    return input_of(&out[3], comm_r_new, "comm_r_new", err);
}
