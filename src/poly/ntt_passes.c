#include "poly/ntt_passes.h"

static unsigned log2_rows(const ntt_pass *p) {
    return p->domain->log2_rows[p->index];
}

/* Columns of a block; for the last pass, where a block has one, the number of blocks. */
static unsigned log2_across(const ntt_pass *p) {
    const unsigned before = p->log2_before;
    return p->index + 1 == p->domain->passes ? before : p->domain->log2_n - before - log2_rows(p);
}

static unsigned log2_lanes(const ntt_pass *p) {
    const unsigned across = log2_across(p);
    return across < 3 ? across : 3;
}
_Static_assert(NTT_LANES == 8, "log2_lanes");

ntt_pass ntt_pass_of(const ntt_domain *d, unsigned index, bool coset) {
    ntt_pass p = {.domain = d, .index = index, .coset = coset};
    for (unsigned i = 0; i < index; i++)
        p.log2_before += d->log2_rows[i];
    for (int way = 0; way < 2; way++) {
        p.start[way] = fr_one();
        p.shift[way] = coset ? d->shift[way] : fr_one();
        for (unsigned i = 0; i < p.log2_before; i++)
            fr_sqr(&p.shift[way], &p.shift[way]);
    }
    return p;
}

size_t ntt_pass_tiles(const ntt_pass *p) {
    return (size_t)1 << (p->domain->log2_n - log2_rows(p) - log2_lanes(p));
}

static size_t first_column(const ntt_pass *p, size_t tile) {
    return (tile << log2_lanes(p)) & (((size_t)1 << log2_across(p)) - 1);
}

void ntt_column_tile(const ntt_pass *p, size_t tile, ntt_tile *t, size_t *first) {
    const unsigned across = log2_across(p);
    const size_t block = tile >> (across - log2_lanes(p));
    *first = (block << (across + log2_rows(p))) + first_column(p, tile);
    *t = (ntt_tile){
        .row_stride = (size_t)1 << across, .lanes = 1U << log2_lanes(p), .log_n = log2_rows(p)};
    for (unsigned lane = 0; lane < t->lanes; lane++)
        t->lane_offset[lane] = lane;
}

/* Row k of column c: (omega_M^c s)^k, where s is the shift: on a coset, this pass's share of the
 * factor g^i of coefficient i. */
void ntt_column_powers(const ntt_pass *p, size_t tile, ntt_way way, ntt_buffer *powers) {
    const ntt_domain *d = p->domain;
    const uint64_t sign = way == NTT_FORWARD ? 1 : ~(uint64_t)0;
    fr_t ratio[NTT_LANES], step;
    ntt_domain_root(d, sign * (first_column(p, tile) << p->log2_before), &ratio[0]);
    ntt_domain_root(d, sign * ((uint64_t)1 << p->log2_before), &step);
    fr_mul(&ratio[0], &ratio[0], &p->shift[way]);
    for (unsigned lane = 1; lane < NTT_LANES; lane++)
        fr_mul(&ratio[lane], &ratio[lane - 1], &step);
    d->kernel->powers(powers, log2_rows(p), &p->start[way], ratio, way == NTT_FORWARD);
}

void ntt_row_tile(const ntt_pass *p, size_t tile, ntt_tile *t) {
    *t = (ntt_tile){.row_stride = 1, .lanes = 1U << log2_lanes(p), .log_n = log2_rows(p)};
    for (unsigned lane = 0; lane < NTT_LANES; lane++) {
        const size_t k = (tile << log2_lanes(p)) + lane % t->lanes;
        t->lane_offset[lane] = ntt_bit_reverse(k, log2_across(p)) << log2_rows(p);
    }
}

void ntt_natural_row_tile(const ntt_pass *p, size_t tile, ntt_tile *t) {
    *t = (ntt_tile){.row_stride = (size_t)1 << log2_across(p),
                    .lanes = 1U << log2_lanes(p),
                    .log_n = log2_rows(p)};
    for (unsigned lane = 0; lane < NTT_LANES; lane++)
        t->lane_offset[lane] = (tile << log2_lanes(p)) + lane % t->lanes;
}

typedef struct pass_job {
    const ntt_pass *pass;
    ntt_way way;
    bool canonical;
    unsigned log2_blocks; /* of a task over columns */
} pass_job;

static void column_tile(const pass_job *job, size_t tile, const ntt_buffer *powers) {
    const ntt_pass *p = job->pass;
    const ntt_kernel *k = p->domain->kernel;
    ntt_buffer b;
    ntt_tile t;
    size_t first;
    ntt_column_tile(p, tile, &t, &first);
    for (unsigned i = 0; i < p->vectors; i++) {
        fr_t *v = p->v[i] + first;
        k->load(&b, &t, v, job->way == NTT_INVERSE);
        if (job->way == NTT_FORWARD) k->mul(&b, powers, t.log_n);
        k->fft(&b, t.log_n, p->domain->twiddles[job->way]);
        if (job->way == NTT_INVERSE) k->mul(&b, powers, t.log_n);
        k->store(&b, &t, v, job->way == NTT_INVERSE, job->canonical);
    }
}

/* The same columns of some neighbouring blocks: their twiddles are the same. */
static void columns_task(void *arg, size_t task, unsigned worker) {
    (void)worker;
    const pass_job *job = arg;
    const unsigned bits = log2_across(job->pass) - log2_lanes(job->pass);
    const size_t column = task & (((size_t)1 << bits) - 1);
    const size_t block = task >> bits << job->log2_blocks;
    ntt_buffer powers;
    ntt_column_powers(job->pass, column, job->way, &powers);
    for (size_t i = 0; i < (size_t)1 << job->log2_blocks; i++)
        column_tile(job, (block + i) << bits | column, &powers);
}

static void rows_task(void *arg, size_t tile, unsigned worker) {
    (void)worker;
    const pass_job *job = arg;
    const ntt_pass *p = job->pass;
    const ntt_domain *d = p->domain;
    ntt_buffer b;
    ntt_tile t;
    ntt_row_tile(p, tile, &t);
    for (unsigned i = 0; i < p->vectors; i++) {
        d->kernel->load(&b, &t, p->v[i], job->way == NTT_INVERSE);
        if (p->coset && job->way == NTT_FORWARD)
            d->kernel->mul_rows(&b, t.log_n, d->coset_rows[NTT_FORWARD]);
        d->kernel->fft(&b, t.log_n, d->twiddles[job->way]);
        if (p->coset && job->way == NTT_INVERSE)
            d->kernel->mul_rows(&b, t.log_n, d->coset_rows[NTT_INVERSE]);
        d->kernel->store(&b, &t, p->v[i], job->way == NTT_INVERSE, job->canonical);
    }
}

void ntt_columns(const cuzk_host *host, const ntt_pass *p, ntt_way way, bool canonical) {
    pass_job job = {.pass = p, .way = way, .canonical = canonical};
    job.log2_blocks = p->log2_before < 3 ? p->log2_before : 3;
    cuzk_host_parallel(host, ntt_pass_tiles(p) >> job.log2_blocks, columns_task, &job);
}

void ntt_rows(const cuzk_host *host, const ntt_pass *p, ntt_way way, bool canonical) {
    pass_job job = {.pass = p, .way = way, .canonical = canonical};
    cuzk_host_parallel(host, ntt_pass_tiles(p), rows_task, &job);
}
