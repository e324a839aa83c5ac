#include "filecoin/gadget_merkle.h"

#include "filecoin/gadget_poseidon.h"
#include "filecoin/gadget_sha256.h"

merkle_levels merkle_levels_binary(uint32_t n) {
    merkle_levels levels = {.n = n, .sha256 = true};
    for (uint32_t i = 0; i < n; i++)
        levels.arity[i] = 2;
    return levels;
}

merkle_levels merkle_levels_poseidon(const tree_shape *shape) {
    merkle_levels levels = {.n = 0};
    while (levels.n < shape->base_levels)
        levels.arity[levels.n++] = 8;
    if (shape->sub > 0) levels.arity[levels.n++] = (uint8_t)shape->sub;
    if (shape->top > 0) levels.arity[levels.n++] = (uint8_t)shape->top;
    return levels;
}

static unsigned level_bits(const merkle_levels *levels, uint32_t i) {
    return (unsigned)__builtin_ctz(levels->arity[i]);
}

uint32_t merkle_siblings(const merkle_levels *levels) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < levels->n; i++)
        n += levels->arity[i] - 1u;
    return n;
}

uint32_t merkle_index_bits(const merkle_levels *levels) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < levels->n; i++)
        n += level_bits(levels, i);
    return n;
}

gadget_num merkle_sha256_node(cs *c, const gadget_num *left, const gadget_num *right) {
    const gadget_num *const children[2] = {left, right};
    gadget_word bits[8], message[16], digest[8];
    const gadget_word *words[16];
    for (unsigned child = 0; child < 2; child++) {
        num_to_words(c, children[child], NUM_BITS_DIFFERENCE, bits);
        for (unsigned i = 0; i < 8; i++) {
            word_bswap(c, &message[8 * child + i], &bits[i]);
            words[8 * child + i] = &message[8 * child + i];
        }
    }
    gadget_sha256(c, digest, words, 16);
    for (unsigned i = 0; i < 8; i++)
        word_bswap(c, &bits[i], &digest[i]);
    return words_pack(c, bits);
}

/* The parent of cur and its siblings. */
static gadget_num climb(cs *c, const merkle_levels *levels, uint32_t level, const gadget_num *cur,
                        const gadget_bit *bits, const gadget_num *siblings) {
    const unsigned arity = levels->arity[level];
    gadget_num children[NUM_MAX_ARITY];
    num_insert(c, arity, cur, bits, siblings, children);
    if (levels->sha256) return merkle_sha256_node(c, &children[0], &children[1]);
    return gadget_poseidon(c,
                           arity == 2   ? POSEIDON_2
                           : arity == 4 ? POSEIDON_4
                                        : POSEIDON_8,
                           children);
}

gadget_num merkle_por_root(cs *c, const merkle_levels *levels, const merkle_path *path,
                           const gadget_num *value) {
    gadget_bit bits[64];
    gadget_num cur = *value;
    unsigned n_bits = 0;
    uint32_t next = 0; /* sibling */
    for (uint32_t level = 0; level < levels->n; level++) {
        const unsigned width = level_bits(levels, level);
        bits_alloc(c, path != NULL ? path->index >> n_bits : 0, width, bits + n_bits);
        gadget_num siblings[NUM_MAX_ARITY - 1];
        for (unsigned i = 0; i + 1 < levels->arity[level]; i++, next++)
            siblings[i] = num_alloc_bytes(c, path != NULL ? path->siblings[next] : NULL);
        cur = climb(c, levels, level, &cur, bits + n_bits, siblings);
        n_bits += width;
    }
    bits_pack_into_inputs(c, bits, n_bits);
    return cur;
}

void merkle_por(cs *c, const merkle_levels *levels, const merkle_path *path,
                const gadget_num *value, const gadget_num *root) {
    const gadget_num computed = merkle_por_root(c, levels, path, value);
    num_enforce_equal(c, &computed, root);
}

void merkle_check(cs *c, const merkle_levels *levels, const gadget_bit *bits,
                  const gadget_num *siblings, const gadget_num *leaf, const gadget_num *root) {
    gadget_num cur = *leaf;
    for (uint32_t level = 0; level < levels->n; level++) {
        cur = climb(c, levels, level, &cur, bits, siblings);
        bits += level_bits(levels, level);
        siblings += levels->arity[level] - 1;
    }
    num_enforce_equal(c, &cur, root);
}
