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

static poseidon_kind node_kind(const merkle_levels *levels, uint32_t level) {
    const unsigned arity = levels->arity[level];
    return arity == 2 ? POSEIDON_2 : arity == 4 ? POSEIDON_4 : POSEIDON_8;
}

/* The parent of cur and its siblings. trace: the values of the node's hash, or NULL. */
static gadget_num climb(cs *c, const merkle_levels *levels, uint32_t level, const gadget_num *cur,
                        const gadget_bit *bits, const gadget_num *siblings, const fr_t *trace) {
    gadget_num children[NUM_MAX_ARITY];
    num_insert(c, levels->arity[level], cur, bits, siblings, children);
    if (levels->sha256) return merkle_sha256_node(c, &children[0], &children[1]);
    const poseidon_kind kind = node_kind(levels, level);
    return trace != NULL ? gadget_poseidon_traced(c, kind, trace)
                         : gadget_poseidon(c, kind, children);
}

/* ---- values of many paths ---- */

static size_t level_trace_length(const merkle_levels *levels, uint32_t level) {
    return poseidon_trace_length(poseidon_get(node_kind(levels, level)));
}

size_t merkle_trace_length(const merkle_levels *levels) {
    size_t n = 0;
    for (uint32_t level = 0; level < levels->n; level++)
        n += level_trace_length(levels, level);
    return n;
}

/* The children of a path's node: cur at its position, the siblings ascending around it. */
static void node_children(const merkle_levels *levels, uint32_t level, const merkle_path *path,
                          unsigned first_bit, uint32_t sibling, const fr_t *cur, fr_t *out) {
    const unsigned arity = levels->arity[level];
    const unsigned at = (unsigned)(path->index >> first_bit) & (arity - 1);
    for (unsigned i = 0; i < arity; i++) {
        if (i == at)
            out[i] = *cur;
        else if (fr_from_bytes(&out[i], path->siblings[sibling++]) != CUZK_OK)
            out[i] = fr_zero(); /* its allocation says so */
    }
}

/* n <= POSEIDON_LANES paths; length: of one path's values. */
static void trace_group(const merkle_levels *levels, const merkle_path *paths, unsigned n,
                        size_t length, fr_t *out) {
    fr_t children[POSEIDON_LANES][NUM_MAX_ARITY], cur[POSEIDON_LANES];
    const fr_t *in[POSEIDON_LANES];
    fr_t *to[POSEIDON_LANES];
    unsigned first_bit = 0;
    uint32_t sibling = 0;
    for (unsigned i = 0; i < n; i++) {
        in[i] = children[i];
        to[i] = out + i * length;
        if (fr_from_bytes(&cur[i], paths[i].leaf) != CUZK_OK) cur[i] = fr_zero();
    }
    for (uint32_t level = 0; level < levels->n; level++) {
        const size_t values = level_trace_length(levels, level);
        for (unsigned i = 0; i < n; i++)
            node_children(levels, level, &paths[i], first_bit, sibling, &cur[i], children[i]);
        poseidon_trace_lanes(poseidon_get(node_kind(levels, level)), n, in, to);
        for (unsigned i = 0; i < n; i++) {
            to[i] += values;
            cur[i] = to[i][-1];
        }
        first_bit += level_bits(levels, level);
        sibling += levels->arity[level] - 1u;
    }
}

void merkle_trace_paths(const merkle_levels *levels, const merkle_path *paths, unsigned n,
                        fr_t *out) {
    const size_t length = merkle_trace_length(levels);
    for (unsigned first = 0; first < n; first += POSEIDON_LANES) {
        const unsigned left = n - first;
        trace_group(levels, paths + first, left < POSEIDON_LANES ? left : POSEIDON_LANES, length,
                    out + first * length);
    }
}

/* ---- paths ---- */

static gadget_num por_root(cs *c, const merkle_levels *levels, const merkle_path *path,
                           const gadget_num *value, const fr_t *trace) {
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
        cur = climb(c, levels, level, &cur, bits + n_bits, siblings, trace);
        n_bits += width;
        if (trace != NULL) trace += level_trace_length(levels, level);
    }
    bits_pack_into_inputs(c, bits, n_bits);
    return cur;
}

gadget_num merkle_por_root(cs *c, const merkle_levels *levels, const merkle_path *path,
                           const gadget_num *value) {
    return por_root(c, levels, path, value, NULL);
}

void merkle_por_traced(cs *c, const merkle_levels *levels, const merkle_path *path,
                       const gadget_num *value, const gadget_num *root, const fr_t *trace) {
    const gadget_num computed = por_root(c, levels, path, value, trace);
    num_enforce_equal(c, &computed, root);
}

void merkle_por(cs *c, const merkle_levels *levels, const merkle_path *path,
                const gadget_num *value, const gadget_num *root) {
    merkle_por_traced(c, levels, path, value, root, NULL);
}

void merkle_check(cs *c, const merkle_levels *levels, const gadget_bit *bits,
                  const gadget_num *siblings, const gadget_num *leaf, const gadget_num *root) {
    gadget_num cur = *leaf;
    for (uint32_t level = 0; level < levels->n; level++) {
        cur = climb(c, levels, level, &cur, bits, siblings, NULL);
        bits += level_bits(levels, level);
        siblings += levels->arity[level] - 1;
    }
    num_enforce_equal(c, &cur, root);
}
