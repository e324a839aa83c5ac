/* Whole transforms, natural order in and out: the passes, and a permutation in place. */
#include "poly/ntt.h"
#include "poly/ntt_passes.h"

#define REVERSE_LOG2 3 /* squares of 8 x 8 elements: runs of 256 bytes */
#define REVERSE_CHUNK 256

typedef struct reverse_job {
    fr_t *v;
    unsigned log2_n, side; /* an index is (side high bits, middle, side low bits) */
} reverse_job;

/* Exchange the square of one middle with that of the reversed middle, each pair once. */
static void reverse_square(const reverse_job *job, size_t middle) {
    const unsigned side = job->side, top = job->log2_n - side;
    const size_t other = ntt_bit_reverse(middle, job->log2_n - 2 * side);
    if (other < middle) return;
    for (size_t high = 0; high < (size_t)1 << side; high++) {
        for (size_t low = 0; low < (size_t)1 << side; low++) {
            const size_t i = (high << top) + (middle << side) + low;
            const size_t j =
                (ntt_bit_reverse(low, side) << top) + (other << side) + ntt_bit_reverse(high, side);
            if (other == middle && j <= i) continue;
            const fr_t kept = job->v[i];
            job->v[i] = job->v[j];
            job->v[j] = kept;
        }
    }
}

static void reverse_task(void *arg, size_t task, unsigned worker) {
    (void)worker;
    const reverse_job *job = arg;
    const size_t middles = (size_t)1 << (job->log2_n - 2 * job->side);
    for (size_t i = task * REVERSE_CHUNK; i < middles && i < (task + 1) * REVERSE_CHUNK; i++)
        reverse_square(job, i);
}

static void reverse_order(const cuzk_host *host, unsigned log2_n, fr_t *v) {
    reverse_job job = {.v = v, .log2_n = log2_n, .side = REVERSE_LOG2};
    if (job.side > log2_n / 2) job.side = log2_n / 2;
    const size_t middles = (size_t)1 << (log2_n - 2 * job.side);
    cuzk_host_parallel(host, (middles + REVERSE_CHUNK - 1) / REVERSE_CHUNK, reverse_task, &job);
}

static void forward(const cuzk_host *host, const ntt_domain *d, fr_t *v, bool coset) {
    reverse_order(host, d->log2_n, v);
    for (unsigned i = d->passes; i-- > 0;) {
        ntt_pass pass = ntt_pass_of(d, i, coset);
        pass.v[0] = v;
        pass.vectors = 1;
        if (i + 1 == d->passes)
            ntt_rows(host, &pass, NTT_FORWARD, false);
        else
            ntt_columns(host, &pass, NTT_FORWARD, i == 0);
    }
}

static void inverse(const cuzk_host *host, const ntt_domain *d, fr_t *v, bool coset) {
    for (unsigned i = 0; i < d->passes; i++) {
        ntt_pass pass = ntt_pass_of(d, i, coset);
        pass.v[0] = v;
        pass.vectors = 1;
        if (i == 0) pass.start[NTT_INVERSE] = d->n_inverse;
        if (i + 1 == d->passes)
            ntt_rows(host, &pass, NTT_INVERSE, true);
        else
            ntt_columns(host, &pass, NTT_INVERSE, false);
    }
    reverse_order(host, d->log2_n, v);
}

void ntt_forward(const cuzk_host *host, const ntt_domain *domain, fr_t *v) {
    forward(host, domain, v, false);
}
void ntt_inverse(const cuzk_host *host, const ntt_domain *domain, fr_t *v) {
    inverse(host, domain, v, false);
}
void ntt_coset_forward(const cuzk_host *host, const ntt_domain *domain, fr_t *v) {
    forward(host, domain, v, true);
}
void ntt_coset_inverse(const cuzk_host *host, const ntt_domain *domain, fr_t *v) {
    inverse(host, domain, v, true);
}
