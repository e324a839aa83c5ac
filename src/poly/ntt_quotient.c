/* The Groth16 quotient in six transforms, fused pass by pass (derivation: docs/ntt.md).
 *
 * With z = 1/(g^m - 1) on the coset g<omega>, h = z (A B - C), and C = interpolation of a*b:
 *   h_i = z (D_i - C_i),   g^i D_i = inverse transform of the coset values A B.
 * The inverse passes leave coefficients in bit-reversed order and the forward passes take them so,
 * and the last pass writes to another vector in natural order: nothing is ever permuted. */
#include "poly/ntt.h"
#include "poly/ntt_passes.h"

typedef struct quotient_job {
    const ntt_pass *pass;
    fr_t *a, *b, *c;
} quotient_job;

/* Transform one vector of a tile: the common part of the tasks below. */
static void inverse_columns(const ntt_pass *p, const ntt_tile *t, const ntt_buffer *powers,
                            ntt_buffer *b, fr_t *out) {
    const ntt_kernel *k = p->domain->kernel;
    k->fft(b, t->log_n, p->domain->twiddles[NTT_INVERSE]);
    k->mul(b, powers, t->log_n);
    k->store(b, t, out, true, false);
}

/* First pass of the inverse transforms of a, b and c = a*b. */
static void first_task(void *arg, size_t tile, unsigned worker) {
    (void)worker;
    const quotient_job *job = arg;
    const ntt_pass *p = job->pass;
    const ntt_kernel *k = p->domain->kernel;
    ntt_buffer powers, x, y;
    ntt_tile t;
    size_t first;
    ntt_column_tile(p, tile, &t, &first);
    ntt_column_powers(p, tile, NTT_INVERSE, &powers);
    k->load(&x, &t, job->a + first, true);
    k->load(&y, &t, job->b + first, true);
    k->mul(&x, &y, t.log_n);
    inverse_columns(p, &t, &powers, &x, job->c + first);
    inverse_columns(p, &t, &powers, &y, job->b + first);
    k->load(&x, &t, job->a + first, true);
    inverse_columns(p, &t, &powers, &x, job->a + first);
}

/* Last pass of the inverse transforms of a and b, coset shift, first pass of the forward ones. */
static void middle_task(void *arg, size_t tile, unsigned worker) {
    (void)worker;
    const quotient_job *job = arg;
    const ntt_domain *d = job->pass->domain;
    const ntt_kernel *k = d->kernel;
    fr_t *const vectors[2] = {job->a, job->b};
    ntt_buffer x;
    ntt_tile t;
    ntt_row_tile(job->pass, tile, &t);
    for (int i = 0; i < 2; i++) {
        k->load(&x, &t, vectors[i], true);
        k->fft(&x, t.log_n, d->twiddles[NTT_INVERSE]);
        k->reverse_rows(&x, t.log_n);
        k->mul_rows(&x, t.log_n, d->coset_rows[NTT_FORWARD]);
        k->fft(&x, t.log_n, d->twiddles[NTT_FORWARD]);
        k->store(&x, &t, vectors[i], false, false);
    }
}

/* Last pass of the forward transforms of a and b, product, first pass of its inverse, into b. */
static void product_task(void *arg, size_t tile, unsigned worker) {
    (void)worker;
    const quotient_job *job = arg;
    const ntt_pass *p = job->pass;
    const ntt_kernel *k = p->domain->kernel;
    ntt_buffer powers, x, y;
    ntt_tile t;
    size_t first;
    ntt_column_tile(p, tile, &t, &first);
    ntt_column_powers(p, tile, NTT_FORWARD, &powers);
    k->load(&x, &t, job->a + first, false);
    k->mul(&x, &powers, t.log_n);
    k->fft(&x, t.log_n, p->domain->twiddles[NTT_FORWARD]);
    k->load(&y, &t, job->b + first, false);
    k->mul(&y, &powers, t.log_n);
    k->fft(&y, t.log_n, p->domain->twiddles[NTT_FORWARD]);
    k->product(&x, &y, t.log_n);
    k->reverse_rows(&x, t.log_n);
    ntt_column_powers(p, tile, NTT_INVERSE, &powers);
    inverse_columns(p, &t, &powers, &x, job->b + first);
}

/* Last pass of the inverse transforms of the product and of c; their difference, into a. */
static void last_task(void *arg, size_t tile, unsigned worker) {
    (void)worker;
    const quotient_job *job = arg;
    const ntt_domain *d = job->pass->domain;
    const ntt_kernel *k = d->kernel;
    ntt_buffer x, y;
    ntt_tile t;
    ntt_row_tile(job->pass, tile, &t);
    k->load(&y, &t, job->c, true);
    k->fft(&y, t.log_n, d->twiddles[NTT_INVERSE]);
    k->load(&x, &t, job->b, true);
    k->fft(&x, t.log_n, d->twiddles[NTT_INVERSE]);
    k->mul_rows(&x, t.log_n, d->coset_rows[NTT_INVERSE]);
    k->sub(&x, &y, t.log_n);
    ntt_natural_row_tile(job->pass, tile, &t);
    k->store(&x, &t, job->a, false, true);
}

static void run(const cuzk_host *host, const ntt_pass *pass, quotient_job *job, cuzk_task_fn fn) {
    job->pass = pass;
    cuzk_host_parallel(host, ntt_pass_tiles(pass), fn, job);
}

/* Passes between the first and the last, over n vectors. */
static void between(const cuzk_host *host, const ntt_domain *d, ntt_way way, bool coset,
                    fr_t *const v[3], unsigned n) {
    for (unsigned i = 1; i + 1 < d->passes; i++) {
        ntt_pass pass = ntt_pass_of(d, way == NTT_INVERSE ? i : d->passes - 1 - i, coset);
        for (unsigned j = 0; j < n; j++)
            pass.v[j] = v[j];
        pass.vectors = n;
        ntt_columns(host, &pass, way, false);
    }
}

/* Factors that ride on twiddles. The unscaled inverse transforms multiply by m and a kernel's
 * products by 2^-e. With s on a, b and c and t on the product: C comes out as m s 2^-e C, which
 * must be z C; and D as m^3 s^2 t 2^-e D, which must be z D. */
static void set_factors(const ntt_domain *d, fr_t *s, fr_t *t) {
    fr_t power;
    fr_from_u64(&power, (uint64_t)1 << d->kernel->product_log2);
    fr_mul(&power, &power, &d->vanishing_inverse);
    fr_mul(s, &power, &d->n_inverse);
    fr_inv(t, &power);
    fr_mul(t, t, &d->n_inverse);
}

void ntt_quotient(const cuzk_host *host, const ntt_domain *d, fr_t *a, fr_t *b, fr_t *c) {
    fr_t *const vectors[3] = {a, b, c}, *const product[3] = {b};
    quotient_job job = {.a = a, .b = b, .c = c};
    ntt_pass first = ntt_pass_of(d, 0, false), fused = ntt_pass_of(d, 0, true);
    const ntt_pass last = ntt_pass_of(d, d->passes - 1, true);
    set_factors(d, &first.start[NTT_INVERSE], &fused.start[NTT_INVERSE]);
    run(host, &first, &job, first_task);
    between(host, d, NTT_INVERSE, false, vectors, 3);
    run(host, &last, &job, middle_task);
    between(host, d, NTT_FORWARD, true, vectors, 2);
    run(host, &fused, &job, product_task);
    between(host, d, NTT_INVERSE, true, product, 1);
    run(host, &last, &job, last_task);
}
