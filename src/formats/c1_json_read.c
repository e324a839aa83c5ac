/* The C1 output as a stream of JSON events. The text is 51 MB for a 32 GiB sector and most of it
 * bytes written as numbers, so nothing is kept but a stack of frames: where we are, what may come
 * next, and where its value belongs. The shape fixes every length, so the values go straight to
 * their place, whatever the order of the keys. */
#include "formats/c1_json.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "filecoin/merkle.h"
#include "filecoin/public_inputs.h"
#include "formats/base64.h"
#include "formats/json_stream.h"

/* What a value may be. */
typedef enum kind {
    /* scalars */
    K_SKIP, /* anything: of an unknown key */
    K_U32,
    K_U64,
    K_LEVEL_INDEX, /* child position of one level of a path */
    K_REGISTERED,
    K_PHASE1,
    /* objects */
    K_TOP,
    K_VARIANT, /* vanilla_proofs: one key, the sector size */
    K_CHALLENGE,
    K_REPLICA,
    K_COLUMN_PROOF,
    K_COLUMN,
    K_LABELING,
    K_MERKLE,
    K_DATA,  /* one key, Single, Sub or Top */
    K_PROOF, /* the value of that key */
    K_PATH,
    K_ELEMENT,
    /* arrays */
    K_PARTITIONS,
    K_CHALLENGES,
    K_COLUMNS,
    K_LABELINGS,
    K_ELEMENTS,
    K_NODES,
    K_BYTES
} kind;
#define FIRST_OBJECT K_TOP
#define FIRST_ARRAY K_PARTITIONS

typedef struct frame {
    kind kind;
    const char *key; /* in the object around it; NULL: an array's element number `at` */
    uint32_t at;
    uint32_t seen;            /* object: bits of keys that have come */
    uint32_t count, expected; /* array */
    void *target;             /* the struct or nodes to fill */
    const merkle_form *form;  /* within a Merkle proof */
    uint32_t level;           /* of the next element of a path */
    bool raw;                 /* K_BYTES: any 32 bytes, not a field element */
} frame;

/* The deepest place: vanilla_proofs.V[k][i].replica_column_proofs.exp_parents[j].inclusion_proof
 * .data.Sub.base_proof.path[l].hashes[n] and a byte. */
#define MAX_FRAMES 24
#define MAX_SKIPPED_DEPTH 64
#define MAX_TEXT_BYTES ((uint64_t)2 << 30)

typedef struct decoder {
    const cuzk_host *host;
    cuzk_error *err;
    cuzk_status status; /* of the callback that stopped the parse */
    c1_source source;
    bool inner; /* within Phase1Out */
    bool has_seal;
    registered_seal seal;
    node32 comm_r, comm_d, replica_id, seed, ticket;
    merkle_form form_d, form_r;
    porep_c1 *c1;
    uint32_t partitions; /* that have come */
    bool progress;       /* a value or key has come since this was last cleared */
    unsigned skipped;    /* depth within a value that is ignored */
    unsigned depth;      /* stack[depth] is the innermost open frame, stack[depth + 1] its child */
    char variant[64];    /* the key of K_VARIANT */
    frame stack[MAX_FRAMES + 1];
} decoder;

/* ---- errors ---- */

static void place_of(const decoder *d, unsigned last, char *out, size_t cap) {
    size_t n = 0;
    out[0] = 0;
    for (unsigned i = 2; i <= last && n < cap; i++) {
        const frame *f = &d->stack[i];
        const int w = f->key == NULL ? snprintf(out + n, cap - n, "[%u]", f->at)
                                     : snprintf(out + n, cap - n, n == 0 ? "%s" : ".%s", f->key);
        n += w < 0 ? 0 : (size_t)w;
    }
}

/* Stops the parse (0 is yajl's word for it). The place is stack[last]'s. */
__attribute__((format(printf, 4, 5))) static int stop(decoder *d, unsigned last, cuzk_status status,
                                                      const char *format, ...) {
    char place[256], text[200];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    place_of(d, last, place, sizeof place);
    d->status = cuzk_fail(d->err, status, "%s%s%s", place, place[0] == 0 ? "" : ": ", text);
    return 0;
}

#define HERE(d) ((d)->depth)
#define CHILD(d) ((d)->depth + 1)

/* ---- what comes next ---- */

typedef struct key {
    kind parent;
    const char *name;
    kind child;
    bool optional;
} key;

/* The bit of a key in frame.seen is its place among those of its parent. */
static const key keys[] = {
    {K_TOP, "registered_proof", K_REGISTERED, false},
    {K_TOP, "vanilla_proofs", K_VARIANT, false},
    {K_TOP, "comm_r", K_BYTES, false},
    {K_TOP, "comm_d", K_BYTES, false},
    {K_TOP, "replica_id", K_BYTES, false},
    {K_TOP, "seed", K_BYTES, false},
    {K_TOP, "ticket", K_BYTES, false},
    {K_TOP, "SectorNum", K_U64, true},
    {K_TOP, "Phase1Out", K_PHASE1, true},
    {K_TOP, "SectorSize", K_U64, true},
    {K_CHALLENGE, "comm_d_proofs", K_MERKLE, false},
    {K_CHALLENGE, "comm_r_last_proof", K_MERKLE, false},
    {K_CHALLENGE, "replica_column_proofs", K_REPLICA, false},
    {K_CHALLENGE, "labeling_proofs", K_LABELINGS, false},
    {K_CHALLENGE, "encoding_proof", K_LABELING, false},
    {K_REPLICA, "c_x", K_COLUMN_PROOF, false},
    {K_REPLICA, "drg_parents", K_COLUMNS, false},
    {K_REPLICA, "exp_parents", K_COLUMNS, false},
    {K_COLUMN_PROOF, "column", K_COLUMN, false},
    {K_COLUMN_PROOF, "inclusion_proof", K_MERKLE, false},
    {K_COLUMN, "index", K_U32, false},
    {K_COLUMN, "rows", K_NODES, false},
    {K_LABELING, "parents", K_NODES, false},
    {K_LABELING, "layer_index", K_U32, false},
    {K_LABELING, "node", K_U64, false},
    {K_MERKLE, "data", K_DATA, false},
    {K_DATA, "Single", K_PROOF, true},
    {K_DATA, "Sub", K_PROOF, true},
    {K_DATA, "Top", K_PROOF, true},
    {K_PROOF, "root", K_BYTES, false},
    {K_PROOF, "leaf", K_BYTES, false},
    {K_PROOF, "path", K_PATH, true},
    {K_PROOF, "base_proof", K_PATH, true},
    {K_PROOF, "sub_proof", K_PATH, true},
    {K_PROOF, "top_proof", K_PATH, true},
    {K_PATH, "path", K_ELEMENTS, false},
    {K_ELEMENT, "hashes", K_NODES, false},
    {K_ELEMENT, "index", K_LEVEL_INDEX, false},
};
#define N_KEYS (sizeof keys / sizeof keys[0])
enum { TOP_SECTOR_NUM = 7, TOP_PHASE1 = 8, TOP_SECTOR_SIZE = 9, TOP_PLAIN = 0x7f };

/* Where the value of a key of frame f goes. bit: which of its parent's keys. */
static void aim_top(decoder *d, unsigned bit, frame *child) {
    void *const targets[] = {[2] = d->comm_r,
                             [3] = d->comm_d,
                             [4] = d->replica_id,
                             [5] = d->seed,
                             [6] = d->ticket,
                             [7] = &d->source.sector_number,
                             [9] = &d->source.sector_size};
    child->target = bit < sizeof targets / sizeof targets[0] ? targets[bit] : NULL;
    child->raw = bit == 5 || bit == 6;
}

static void aim_challenge(const decoder *d, porep_challenge *c, unsigned bit, frame *child) {
    switch (bit) {
    case 0:
        child->target = &c->comm_d;
        child->form = &d->form_d;
        break;
    case 1:
        child->target = &c->comm_r_last;
        child->form = &d->form_r;
        break;
    case 2:
        child->target = c;
        break;
    case 3:
        child->target = vanilla_fill_labels(c->labels);
        child->expected = d->c1->seal.sector->layers;
        break;
    default:
        child->target = &c->encoding;
        break;
    }
}

static void aim_replica(porep_challenge *c, unsigned bit, frame *child) {
    child->target = bit == 0 ? &c->c_x : bit == 1 ? c->drg : c->exp;
    child->expected = bit == 1 ? POREP_DRG_PARENTS : POREP_EXP_PARENTS;
}

static void aim_proof(const frame *f, merkle_path *path, unsigned bit, frame *child) {
    child->target = bit == 0 ? (void *)path->root : bit == 1 ? (void *)path->leaf : (void *)path;
    child->form = f->form;
    if (bit < 2) return;
    /* path and base_proof hold the base levels, sub_proof and top_proof one level each. */
    child->level = bit <= 3 ? 0 : f->form->base_levels + bit - 4;
    child->expected = bit <= 3 ? f->form->base_levels : 1;
}

static void aim_element(const frame *f, merkle_path *path, unsigned bit, frame *child) {
    uint32_t before = 0;
    for (uint32_t i = 0; i < f->level; i++)
        before += f->form->arity[i] - 1u;
    child->target = bit == 0 ? (void *)(vanilla_fill(path->siblings) + before) : (void *)path;
    child->expected = f->form->arity[f->level] - 1u;
    child->form = f->form;
    child->level = f->level;
}

static void aim(decoder *d, const frame *f, unsigned bit, frame *child) {
    switch (f->kind) {
    case K_TOP:
        aim_top(d, bit, child);
        break;
    case K_CHALLENGE:
        aim_challenge(d, f->target, bit, child);
        break;
    case K_REPLICA:
        aim_replica(f->target, bit, child);
        break;
    case K_COLUMN_PROOF: {
        porep_column *c = f->target;
        child->target = bit == 0 ? (void *)c : (void *)&c->path;
        child->form = &d->form_r;
        break;
    }
    case K_COLUMN: {
        porep_column *c = f->target;
        child->target = bit == 0 ? (void *)&c->index : (void *)vanilla_fill(c->rows);
        child->expected = d->c1->seal.sector->layers;
        break;
    }
    case K_LABELING: {
        porep_labeling *l = f->target;
        child->target = bit == 0   ? (void *)vanilla_fill(l->parents)
                        : bit == 1 ? (void *)&l->layer_index
                                   : (void *)&l->node;
        child->expected = POREP_LABEL_PARENTS;
        break;
    }
    case K_PROOF:
        aim_proof(f, f->target, bit, child);
        break;
    case K_ELEMENT:
        aim_element(f, f->target, bit, child);
        break;
    default: /* K_MERKLE, K_DATA, K_PATH hand on what they have */
        child->target = f->target;
        child->form = f->form;
        child->level = f->level;
        child->expected = f->expected;
        break;
    }
}

/* The next element of an array. */
static int next_element(decoder *d) {
    frame *f = &d->stack[HERE(d)], *child = &d->stack[CHILD(d)];
    static const kind children[] = {
        [K_PARTITIONS] = K_CHALLENGES, [K_CHALLENGES] = K_CHALLENGE, [K_COLUMNS] = K_COLUMN_PROOF,
        [K_LABELINGS] = K_LABELING,    [K_ELEMENTS] = K_ELEMENT,     [K_NODES] = K_BYTES};
    if (f->kind == K_BYTES) return stop(d, HERE(d), CUZK_ERR_FORMAT, "expected 32 numbers");
    if (f->count >= f->expected)
        return stop(d, HERE(d), CUZK_ERR_FORMAT, "more than %u entries", f->expected);
    *child = (frame){.kind = children[f->kind], .at = f->count};
    switch (f->kind) {
    case K_PARTITIONS:
        child->target = &d->c1->proofs[(size_t)f->count * d->c1->challenges];
        child->expected = d->c1->challenges;
        break;
    case K_CHALLENGES:
        child->target = (porep_challenge *)f->target + f->count;
        break;
    case K_COLUMNS:
        child->target = (porep_column *)f->target + f->count;
        break;
    case K_LABELINGS:
        child->target = (porep_labeling *)f->target + f->count;
        break;
    case K_ELEMENTS:
        child->target = f->target;
        child->form = f->form;
        child->level = f->level + f->count;
        break;
    default:
        child->target = (node32 *)f->target + f->count;
        break;
    }
    f->count++;
    return 1;
}

/* Before every value: stack[CHILD] becomes what is expected here. */
static inline int next_value(decoder *d) {
    const frame *f = &d->stack[HERE(d)];
    if (f->kind >= FIRST_ARRAY) return next_element(d);
    return 1; /* an object's child was set by its key; the top value by decoder_init */
}

static const char *expected_text(kind k) {
    return k == K_REGISTERED || k == K_PHASE1 ? "a string"
           : k < FIRST_OBJECT                 ? "a number"
           : k < FIRST_ARRAY                  ? "an object"
                                              : "an array";
}

static int wrong_type(decoder *d, const char *got) {
    return stop(d, CHILD(d), CUZK_ERR_FORMAT, "expected %s, got %s",
                expected_text(d->stack[CHILD(d)].kind), got);
}

/* ---- scalars ---- */

static int parse_u64(const char *text, size_t n, uint64_t *out) {
    uint64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned digit = (unsigned)(text[i] - '0');
        if (digit > 9 || __builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, digit, &v))
            return 0;
    }
    *out = v;
    return n > 0;
}

static int on_byte(decoder *d, frame *f, const char *text, size_t n) {
    unsigned v = 0;
    for (size_t i = 0; i < n && i < 4; i++) {
        const unsigned digit = (unsigned)(text[i] - '0');
        v = digit > 9 ? 1000 : v * 10 + digit;
    }
    if (v > 255 || n > 3)
        return stop(d, HERE(d), CUZK_ERR_FORMAT, "[%u]: %.*s is not a byte (0 to 255)", f->count,
                    (int)(n < 32 ? n : 32), text);
    if (f->count == 32) return stop(d, HERE(d), CUZK_ERR_FORMAT, "more than 32 bytes");
    ((uint8_t *)f->target)[f->count++] = (uint8_t)v;
    return 1;
}

static int on_number(void *context, const char *text, size_t n) {
    decoder *d = context;
    d->progress = true;
    if (d->skipped > 0) return 1;
    frame *top = &d->stack[HERE(d)];
    if (top->kind == K_BYTES) return on_byte(d, top, text, n);
    if (!next_value(d)) return 0;
    const frame *f = &d->stack[CHILD(d)];
    uint64_t v;
    if (f->kind == K_SKIP) return 1;
    if (f->kind != K_U32 && f->kind != K_U64 && f->kind != K_LEVEL_INDEX)
        return wrong_type(d, "a number");
    if (!parse_u64(text, n, &v) || (f->kind == K_U32 && v > UINT32_MAX))
        return stop(d, CHILD(d), CUZK_ERR_FORMAT, "%.*s is not an unsigned integer of %d bits",
                    (int)(n < 40 ? n : 40), text, f->kind == K_U32 ? 32 : 64);
    if (f->kind == K_U32) {
        *(uint32_t *)f->target = (uint32_t)v;
    } else if (f->kind == K_U64) {
        *(uint64_t *)f->target = v;
    } else {
        uint32_t shift = 0;
        for (uint32_t i = 0; i < f->level; i++)
            shift += merkle_arity_bits(f->form->arity[i]);
        if (v >= f->form->arity[f->level])
            return stop(d, CHILD(d), CUZK_ERR_FORMAT, "%llu, must be below %u",
                        (unsigned long long)v, f->form->arity[f->level]);
        ((merkle_path *)f->target)->index |= v << shift;
    }
    return 1;
}

static int on_null(void *context) {
    decoder *d = context;
    if (d->skipped > 0) return 1;
    if (!next_value(d)) return 0;
    return d->stack[CHILD(d)].kind == K_SKIP ? 1 : wrong_type(d, "null");
}

static int on_boolean(void *context, int value) {
    decoder *d = context;
    (void)value;
    if (d->skipped > 0) return 1;
    if (!next_value(d)) return 0;
    return d->stack[CHILD(d)].kind == K_SKIP ? 1 : wrong_type(d, "a boolean");
}

static int on_registered(decoder *d, const char *text, size_t n) {
    char name[64];
    if (n >= sizeof name) return stop(d, CHILD(d), CUZK_ERR_FORMAT, "a name of %zu characters", n);
    memcpy(name, text, n);
    name[n] = 0;
    if (registered_seal_by_name(name, &d->seal, NULL) != CUZK_OK)
        return stop(d, CHILD(d), CUZK_ERR_FORMAT, "unknown registered seal proof \"%s\"", name);
    d->has_seal = true;
    return 1;
}

static int on_phase1(decoder *d, const char *text, size_t n);

static int on_string(void *context, const unsigned char *text, size_t n) {
    decoder *d = context;
    d->progress = true;
    if (d->skipped > 0) return 1;
    if (!next_value(d)) return 0;
    switch (d->stack[CHILD(d)].kind) {
    case K_SKIP:
        return 1;
    case K_REGISTERED:
        return on_registered(d, (const char *)text, n);
    case K_PHASE1:
        return on_phase1(d, (const char *)text, n);
    default:
        return wrong_type(d, "a string");
    }
}

/* ---- objects ---- */

static uint32_t variant_of(const merkle_form *form) {
    return form->levels - form->base_levels;
}

static const char *form_name(const merkle_form *form) {
    static const char *const names[] = {"Single", "Sub", "Top"};
    return names[variant_of(form)];
}

/* Bits of the keys that a Merkle proof of this form has, no more and no less. Other objects: all.
 */
static uint32_t allowed_keys(const frame *f) {
    /* root, leaf, then path | base_proof, sub_proof, top_proof */
    static const uint32_t proof_keys[] = {0x07, 0x1b, 0x3b};
    if (f->kind == K_DATA) return 1u << variant_of(f->form);
    if (f->kind == K_PROOF) return proof_keys[variant_of(f->form)];
    return UINT32_MAX;
}

/* vanilla_proofs' one key names the sector size; the room for the proofs is made here. Without the
 * registered proof (it may come later) the number of partitions is open up to the largest. */
static int on_variant(decoder *d, frame *f, const char *text, size_t n) {
    registered_seal seal;
    frame *child = &d->stack[CHILD(d)];
    if (n >= sizeof d->variant)
        return stop(d, HERE(d), CUZK_ERR_FORMAT, "a key of %zu characters", n);
    memcpy(d->variant, text, n);
    d->variant[n] = 0;
    if (f->seen != 0)
        return stop(d, HERE(d), CUZK_ERR_FORMAT, "a second key \"%s\": one is expected",
                    d->variant);
    f->seen = 1;
    if (d->c1 != NULL) return stop(d, HERE(d), CUZK_ERR_FORMAT, "a second C1 output");
    if (registered_seal_by_name(d->variant, &seal, NULL) != CUZK_OK || seal.api != POREP_API_1_0)
        return stop(d, HERE(d), CUZK_ERR_FORMAT, "unknown key \"%s\": expected StackedDrg<size>V1",
                    d->variant);
    if (d->has_seal) {
        if (seal.sector != d->seal.sector)
            return stop(d, HERE(d), CUZK_ERR_MISMATCH, "\"%s\" does not belong to %s", d->variant,
                        d->seal.name);
        seal = d->seal;
    }
    const uint32_t partitions =
        d->has_seal ? porep_public_partitions(&seal) : seal.sector->ni_partitions;
    d->status = porep_c1_new(d->host, &seal, partitions, &d->c1, d->err);
    if (d->status != CUZK_OK) return 0;
    d->form_d = merkle_form_sha256(seal.sector->tree_d_levels);
    d->form_r = merkle_form_poseidon(&seal.sector->tree);
    *child = (frame){.kind = K_PARTITIONS, .key = d->variant, .expected = partitions};
    return 1;
}

static int on_key(void *context, const unsigned char *name, size_t n) {
    decoder *d = context;
    d->progress = true;
    if (d->skipped > 0) return 1;
    frame *f = &d->stack[HERE(d)], *child = &d->stack[CHILD(d)];
    if (f->kind == K_VARIANT) return on_variant(d, f, (const char *)name, n);
    unsigned bit = 0;
    for (size_t i = 0; i < N_KEYS; i++) {
        if (keys[i].parent != f->kind) continue;
        if (strlen(keys[i].name) == n && memcmp(keys[i].name, name, n) == 0) {
            *child = (frame){.kind = keys[i].child, .key = keys[i].name};
            if ((f->seen >> bit & 1) != 0)
                return stop(d, CHILD(d), CUZK_ERR_FORMAT, "duplicate key");
            if ((allowed_keys(f) >> bit & 1) == 0)
                return stop(d, CHILD(d), CUZK_ERR_FORMAT,
                            "this sector size's tree has the form \"%s\"", form_name(f->form));
            f->seen |= 1u << bit;
            aim(d, f, bit, child);
            return 1;
        }
        bit++;
    }
    *child = (frame){.kind = K_SKIP, .key = "(unknown key)"};
    return 1;
}

/* Opens a value that holds others. */
static int open_value(decoder *d, kind first, kind last, const char *got) {
    if (d->skipped == 0 && !next_value(d)) return 0;
    if (d->skipped > 0 || d->stack[CHILD(d)].kind == K_SKIP) {
        if (++d->skipped > MAX_SKIPPED_DEPTH)
            return stop(d, HERE(d), CUZK_ERR_FORMAT, "values nested deeper than %d",
                        MAX_SKIPPED_DEPTH);
        return 1;
    }
    const kind k = d->stack[CHILD(d)].kind;
    if (k < first || k > last) return wrong_type(d, got);
    d->depth++; /* the schema bounds it: MAX_FRAMES */
    return 1;
}

static int on_start_map(void *context) {
    return open_value(context, FIRST_OBJECT, FIRST_ARRAY - 1, "an object");
}

static int on_start_array(void *context) {
    return open_value(context, FIRST_ARRAY, K_BYTES, "an array");
}

static int check_top_keys(decoder *d, const frame *f) {
    const uint32_t wrapper = 1u << TOP_SECTOR_NUM | 1u << TOP_PHASE1 | 1u << TOP_SECTOR_SIZE;
    if ((f->seen & wrapper) == 0) return 1;
    if (f->seen != wrapper)
        return stop(d, HERE(d), CUZK_ERR_FORMAT,
                    "expected SectorNum, Phase1Out and SectorSize, or a C1 output's keys");
    d->source.wrapped = true;
    return 2; /* no other key is needed */
}

static int check_keys(decoder *d, const frame *f) {
    unsigned bit = 0;
    if (f->kind == K_DATA || f->kind == K_PROOF)
        return f->seen == allowed_keys(f)
                   ? 1
                   : stop(d, HERE(d), CUZK_ERR_FORMAT, "keys of the form \"%s\" are missing",
                          form_name(f->form));
    if (f->kind == K_VARIANT)
        return f->seen != 0 ? 1 : stop(d, HERE(d), CUZK_ERR_FORMAT, "no vanilla proofs");
    if (f->kind == K_TOP) {
        const int done = check_top_keys(d, f);
        if (done != 1) return done;
    }
    for (size_t i = 0; i < N_KEYS; i++) {
        if (keys[i].parent != f->kind) continue;
        if (!keys[i].optional && (f->seen >> bit & 1) == 0)
            return stop(d, HERE(d), CUZK_ERR_FORMAT, "\"%s\" is missing", keys[i].name);
        bit++;
    }
    return 1;
}

static int on_end_map(void *context) {
    decoder *d = context;
    if (d->skipped > 0) {
        d->skipped--;
        return 1;
    }
    if (!check_keys(d, &d->stack[HERE(d)])) return 0;
    d->depth--;
    return 1;
}

static int on_end_array(void *context) {
    decoder *d = context;
    if (d->skipped > 0) {
        d->skipped--;
        return 1;
    }
    const frame *f = &d->stack[HERE(d)];
    const uint32_t expected = f->kind == K_BYTES ? 32 : f->expected;
    if (f->kind == K_PARTITIONS) d->partitions = f->count;
    const bool open = f->kind == K_PARTITIONS && !d->has_seal; /* checked at the end */
    if (f->count != expected && !open)
        return stop(d, HERE(d), CUZK_ERR_FORMAT, "%u entries, expected %u", f->count, expected);
    if (f->kind == K_BYTES && !f->raw && !node_is_canonical(f->target))
        return stop(d, HERE(d), CUZK_ERR_NOT_CANONICAL,
                    "the value is not below the field's modulus r");
    d->depth--;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_string,
    .yajl_start_map = on_start_map,
    .yajl_map_key = on_key,
    .yajl_end_map = on_end_map,
    .yajl_start_array = on_start_array,
    .yajl_end_array = on_end_array,
};

/* ---- whole texts ---- */

static void decoder_init(decoder *d, const cuzk_host *host, bool inner, cuzk_error *err) {
    memset(d, 0, sizeof *d);
    d->host = host;
    d->err = err;
    d->inner = inner;
    d->status = CUZK_OK;
    d->stack[0].kind = FIRST_OBJECT; /* around the text: its child is the top object */
    d->stack[1].kind = K_TOP;
}

/* The end of a plain C1 output: the proofs and what stands beside them fit together. */
static cuzk_status finish(decoder *d) {
    porep_c1 *c1 = d->c1;
    const uint32_t expected = porep_public_partitions(&d->seal);
    if (c1->seal.sector != d->seal.sector)
        return cuzk_fail(d->err, CUZK_ERR_MISMATCH, "vanilla_proofs: \"%s\" does not belong to %s",
                         d->variant, d->seal.name);
    if (d->partitions != expected)
        return cuzk_fail(d->err, CUZK_ERR_FORMAT, "vanilla_proofs.%s: %u entries, expected %u",
                         d->variant, d->partitions, expected);
    c1->seal = d->seal;
    c1->partitions = expected;
    memcpy(c1->comm_r, d->comm_r, 32);
    memcpy(c1->comm_d, d->comm_d, 32);
    memcpy(c1->replica_id, d->replica_id, 32);
    memcpy(c1->seed, d->seed, 32);
    memcpy(c1->ticket, d->ticket, 32);
    for (size_t i = 0; i < (size_t)c1->partitions * c1->challenges; i++)
        c1->proofs[i].challenge = c1->proofs[i].labels[0].node;
    return porep_c1_check_header(c1, d->err);
}

#define PIECE_CHARACTERS 65536

/* Decodes base64 in pieces into the parser, so that the text never exists as a whole. yajl reads a
 * token that goes on from its start again with every piece, so a token as long as a piece (a C1
 * output has none over 64 bytes) is refused: it would cost quadratic time. */
static cuzk_status feed_base64(decoder *d, json_stream *s, const char *text, size_t n) {
    uint8_t piece[PIECE_CHARACTERS / 4 * 3];
    for (size_t at = 0; at < n; at += PIECE_CHARACTERS) {
        const bool last = n - at <= PIECE_CHARACTERS;
        size_t bad_at;
        const size_t bytes =
            base64_decode(text + at, last ? n - at : PIECE_CHARACTERS, last, piece, &bad_at);
        if (bytes == SIZE_MAX)
            return cuzk_fail(d->err, CUZK_ERR_FORMAT, "not base64 at character %zu", at + bad_at);
        d->progress = false;
        CUZK_TRY(json_stream_feed(s, piece, bytes));
        if (!d->progress && !last)
            return cuzk_fail(d->err, CUZK_ERR_FORMAT, "no value within %zu bytes, up to byte %llu",
                             bytes, (unsigned long long)s->fed);
    }
    return CUZK_OK;
}

static cuzk_status decode(decoder *d, const uint8_t *json, const char *base64, size_t n) {
    json_stream s;
    CUZK_TRY(json_stream_open(&s, &callbacks, d, &d->status, d->err));
    cuzk_status st = json != NULL ? json_stream_feed(&s, json, n) : feed_base64(d, &s, base64, n);
    if (st == CUZK_OK) st = json_stream_finish(&s);
    json_stream_close(&s);
    if (st == CUZK_OK && !d->source.wrapped) st = finish(d);
    return st;
}

static int on_phase1(decoder *d, const char *text, size_t n) {
    decoder inner;
    if (d->inner) return stop(d, CHILD(d), CUZK_ERR_FORMAT, "a wrapper within a wrapper");
    if (d->c1 != NULL) return stop(d, CHILD(d), CUZK_ERR_FORMAT, "a second C1 output");
    decoder_init(&inner, d->host, true, d->err);
    d->status = decode(&inner, NULL, text, n);
    d->c1 = inner.c1; /* freed by the outer decoder on failure */
    if (d->status != CUZK_OK) {
        cuzk_error_context(d->err, d->status, "Phase1Out");
        return 0;
    }
    return 1;
}

static cuzk_status check_wrapper(const decoder *d) {
    const sector_shape *s = d->c1->seal.sector;
    if (d->source.sector_size != s->bytes)
        return cuzk_fail(d->err, CUZK_ERR_MISMATCH,
                         "SectorSize: %llu, but Phase1Out is of a %s sector",
                         (unsigned long long)d->source.sector_size, s->name);
    return CUZK_OK;
}

cuzk_status porep_c1_read_json(const cuzk_host *host, const uint8_t *data, size_t bytes,
                               porep_c1 **out, c1_source *source, cuzk_error *err) {
    decoder d;
    *out = NULL;
    if (bytes > MAX_TEXT_BYTES)
        return cuzk_fail(err, CUZK_ERR_FORMAT, "JSON of %zu bytes: more than %llu are refused",
                         bytes, (unsigned long long)MAX_TEXT_BYTES);
    decoder_init(&d, host, false, err);
    cuzk_status st = decode(&d, data, NULL, bytes);
    if (st == CUZK_OK && d.source.wrapped) st = check_wrapper(&d);
    if (st != CUZK_OK) {
        porep_c1_free(host, d.c1);
        return st;
    }
    if (source != NULL) *source = d.source;
    *out = d.c1;
    return CUZK_OK;
}
