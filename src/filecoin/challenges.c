/* Challenges of the four proof kinds (REFERENCE 5.4-5.6; rust-fil-proofs
 * storage-proofs-porep/src/stacked/vanilla/challenges.rs, storage-proofs-post/src/fallback/,
 * storage-proofs-update/src/challenges.rs). */
#include <string.h>

#include "base/bytes.h"
#include "field/fr.h"
#include "filecoin/poseidon.h"
#include "filecoin/public_inputs.h"
#include "hash/blake2.h"
#include "hash/chacha.h"
#include "hash/sha256.h"

/* ---- PoRep ---- */

/* A 256-bit little-endian number mod (nodes - 1), plus 1: node 0 is never challenged. */
static uint64_t challenge_of(const uint8_t digest[32], uint64_t nodes) {
    uint64_t rest = 0; /* < 2^31, so that rest * 2^32 + word fits */
    for (size_t i = 8; i-- > 0;)
        rest = (rest << 32 | load_le32(digest + 4 * i)) % (nodes - 1);
    return rest + 1;
}

static void interactive(const porep_public *pub, uint32_t first, uint32_t n, uint64_t *out) {
    for (uint32_t i = 0; i < n; i++) {
        uint8_t message[68], digest[32];
        memcpy(message, pub->replica_id, 32);
        memcpy(message + 32, pub->seed, 32);
        store_le32(message + 64, first + i);
        sha256(digest, message, sizeof message);
        out[i] = challenge_of(digest, pub->seal.sector->nodes);
    }
}

static void non_interactive(const porep_public *pub, uint32_t first, uint32_t n, uint64_t *out) {
    static const char tag[] = "filecoin.io|PoRep|1|NonInteractive|1";
    for (uint32_t i = 0; i < n; i++) {
        uint8_t index[4], digest[32];
        sha256_ctx ctx;
        store_le32(index, first + i);
        sha256_init(&ctx);
        sha256_update(&ctx, tag, sizeof tag - 1);
        sha256_update(&ctx, pub->replica_id, 32);
        sha256_update(&ctx, pub->comm_r, 32);
        sha256_update(&ctx, index, sizeof index);
        sha256_final(&ctx, digest);
        out[i] = challenge_of(digest, pub->seal.sector->nodes);
    }
}

static void synthetic_key(const char *tag, const node32 replica_id, const node32 other,
                          uint8_t key[32]) {
    blake2b_ctx ctx;
    blake2b_init(&ctx, 32, tag, strlen(tag));
    blake2b_update(&ctx, replica_id, 32);
    blake2b_update(&ctx, other, 32);
    blake2b_final(&ctx, key);
}

/* Bytes [at, at + n) of a ChaCha20 stream, within one 64-byte block. */
static void synthetic_stream(const uint8_t key[32], uint64_t at, size_t n, uint8_t *out) {
    /* 96-bit nonce "synth-porep\0" after the 32-bit block counter */
    const uint8_t nonce[12] = "synth-porep";
    const uint32_t tail[4] = {(uint32_t)(at / 64), load_le32(nonce), load_le32(nonce + 4),
                              load_le32(nonce + 8)};
    uint8_t block[64];
    chacha_block(block, key, tail, 20);
    memcpy(out, block + at % 64, n);
}

#define SYNTHETIC_SET (UINT64_C(1) << 18)

static void synthetic(const porep_public *pub, uint32_t first, uint32_t n, uint64_t *out) {
    const uint64_t nodes = pub->seal.sector->nodes;
    const uint64_t set = nodes < SYNTHETIC_SET ? nodes : SYNTHETIC_SET;
    uint8_t generation[32], selection[32];
    synthetic_key("filecoin.io|PoRep|1|Synthetic|1|Generation", pub->replica_id, pub->comm_r,
                  generation);
    synthetic_key("filecoin.io|PoRep|1|Synthetic|1|Selection", pub->replica_id, pub->seed,
                  selection);
    for (uint32_t i = 0; i < n; i++) {
        uint8_t word[4], digest[32];
        synthetic_stream(selection, (uint64_t)4 * (first + i), sizeof word, word);
        synthetic_stream(generation, 32 * (load_le32(word) % set), sizeof digest, digest);
        out[i] = challenge_of(digest, nodes);
    }
}

uint32_t porep_public_partitions(const registered_seal *seal) {
    return seal->mode == POREP_NON_INTERACTIVE ? seal->sector->ni_partitions
                                               : seal->sector->porep_partitions;
}

cuzk_status porep_challenges(const porep_public *pub, uint32_t k, uint64_t *out, cuzk_error *err) {
    const uint32_t n = pub->seal.sector->porep_challenges;
    const uint32_t partitions = porep_public_partitions(&pub->seal);
    if (k >= partitions)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "partition %u: a %s proof has %u", k,
                         pub->seal.name, partitions);
    switch (pub->seal.mode) {
    case POREP_INTERACTIVE:
        interactive(pub, k * n, n, out);
        break;
    case POREP_SYNTHETIC:
        synthetic(pub, k * n, n, out);
        break;
    case POREP_NON_INTERACTIVE:
        non_interactive(pub, k * n, n, out);
        break;
    }
    return CUZK_OK;
}

/* ---- PoSt ---- */

uint64_t post_leaf_challenge(const sector_shape *sector, const node32 randomness,
                             uint64_t sector_number, uint64_t challenge_index) {
    uint8_t message[48], digest[32];
    memcpy(message, randomness, 32);
    store_le64(message + 32, sector_number);
    store_le64(message + 40, challenge_index);
    sha256(digest, message, sizeof message);
    return load_le64(digest) % sector->nodes;
}

uint64_t post_challenge_index(const registered_post *post, size_t sector_index, uint32_t n) {
    if (!post->window) return n;
    return post->api_1_2 ? n : (uint64_t)sector_index * WINDOW_CHALLENGES + n;
}

/* ---- Snap ---- */

cuzk_status snap_challenges(const sector_shape *sector, uint32_t k, const node32 comm_r_new,
                            uint64_t *out, cuzk_error *err) {
    const uint32_t partition_bits = (uint32_t)__builtin_ctz(sector->snap_partitions);
    const uint32_t bits = sector->tree_d_levels - partition_bits;
    const uint32_t per_digest = 254 / bits;
    const uint32_t count = sector->snap_challenges;
    const uint32_t digests = (count + per_digest - 1) / per_digest;
    fr_t in[2], digest;
    if (k >= sector->snap_partitions)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "partition %u: a SnapDeals proof of %s has %u", k,
                         sector->name, sector->snap_partitions);
    if (fr_from_bytes(&in[0], comm_r_new) != CUZK_OK)
        return cuzk_fail(err, CUZK_ERR_NOT_CANONICAL,
                         "comm_r_new is not below the field's modulus r");
    for (uint32_t j = 0; j < digests; j++) {
        uint64_t limbs[FR_LIMBS + 1] = {0};
        fr_from_u64(&in[1], (uint64_t)k * digests + j);
        poseidon_hash(poseidon_get(POSEIDON_2_RANDOMNESS), in, &digest);
        fr_to_limbs(limbs, &digest);
        for (uint32_t i = 0; i < per_digest && j * per_digest + i < count; i++) {
            const uint32_t at = i * bits;
            const unsigned __int128 two =
                (unsigned __int128)limbs[at / 64 + 1] << 64 | limbs[at / 64];
            const uint64_t low = (uint64_t)(two >> at % 64) & (((uint64_t)1 << bits) - 1);
            out[j * per_digest + i] = low | (uint64_t)k << bits;
        }
    }
    return CUZK_OK;
}

void snap_phi(const node32 comm_d_new, const node32 comm_r_old, fr_t *out) {
    fr_t in[2];
    (void)fr_from_bytes(&in[0], comm_d_new); /* canonical by contract */
    (void)fr_from_bytes(&in[1], comm_r_old);
    poseidon_hash(poseidon_get(POSEIDON_2_RANDOMNESS), in, out);
}

void snap_rho(const sector_shape *sector, const fr_t *phi, uint64_t node, fr_t *out) {
    const uint32_t h = sector->nodes <= 1024 ? 1 : 10;
    fr_t in[2] = {*phi};
    fr_from_u64(&in[1], node >> (sector->tree_d_levels - h));
    poseidon_hash(poseidon_get(POSEIDON_2_RANDOMNESS), in, out);
}
