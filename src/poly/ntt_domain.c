/* Domains: how a size is split into passes, and the tables of roots (see docs/ntt.md). */
#include "poly/ntt_kernel.h"

#include <string.h>

#include "field/cpu.h"

#define NTT_MAX_LOG2 32 /* r - 1 = 2^32 * odd */

const ntt_kernel *ntt_kernel_best(void) {
    const ntt_kernel *ifma = ntt_kernel_ifma();
    return ifma != NULL ? ifma : &ntt_kernel_scalar;
}

void ntt_root_of_unity(unsigned log2_n, fr_t *omega) {
    memcpy(omega->l, cuzk_fr_prime.root, sizeof omega->l);
    for (unsigned i = log2_n; i < NTT_MAX_LOG2; i++)
        fr_sqr(omega, omega);
}

/* As even a split as there is, the first passes taking the odd rows; two passes at least, so that
 * every transform has columns and rows. */
static void plan_passes(ntt_domain *d, unsigned tile_log2) {
    d->passes = (d->log2_n + tile_log2 - 1) / tile_log2;
    if (d->passes < 2) d->passes = 2;
    for (unsigned i = 0; i < d->passes; i++)
        d->log2_rows[i] = d->log2_n / d->passes + (i < d->log2_n % d->passes);
}

/* The next `bytes` of base; NULL while only the sum in *at is of interest. */
static void *take(unsigned char *base, size_t *at, size_t bytes) {
    void *p = base == NULL ? NULL : base + *at;
    *at += bytes;
    return p;
}

/* Hand out the tables behind the struct and set d->bytes to the size of everything. */
static void place_tables(ntt_domain *d, unsigned char *base) {
    size_t at = (sizeof(ntt_domain) + 63) / 64 * 64;
    d->low = take(base, &at, sizeof(fr_t) << d->low_bits);
    d->high = take(base, &at, sizeof(fr_t) << (d->log2_n - d->low_bits));
    for (int way = 0; way < 2; way++) {
        d->twiddles[way] = take(base, &at, sizeof(ntt_constant) << d->log2_rows[0]);
        d->coset_rows[way] = take(base, &at, sizeof(ntt_constant) << d->log2_rows[d->passes - 1]);
    }
    d->bytes = at;
}

static ntt_domain plan(unsigned log2_n, unsigned tile_log2, void *memory) {
    ntt_domain d = {.log2_n = log2_n, .low_bits = (log2_n + 1) / 2};
    plan_passes(&d, tile_log2);
    place_tables(&d, memory);
    return d;
}

size_t ntt_domain_bytes(unsigned log2_n) {
    if (log2_n > NTT_MAX_LOG2) return 0;
    return plan(log2_n, NTT_TILE_LOG2, NULL).bytes;
}

void ntt_domain_root(const ntt_domain *d, uint64_t e, fr_t *z) {
    e &= ((uint64_t)1 << d->log2_n) - 1;
    fr_mul(z, &d->high[e >> d->low_bits], &d->low[e & (((uint64_t)1 << d->low_bits) - 1)]);
}

/* out[i] = ratio^i */
static void fill_powers(fr_t *out, size_t n, const fr_t *ratio) {
    out[0] = fr_one();
    for (size_t i = 1; i < n; i++)
        fr_mul(&out[i], &out[i - 1], ratio);
}

static void square_times(fr_t *z, const fr_t *x, unsigned times) {
    *z = *x;
    for (unsigned i = 0; i < times; i++)
        fr_sqr(z, z);
}

/* Entry L + j: root of order 2L to the j; entry 0 is not used. */
static void fill_twiddles(ntt_domain *d, int way) {
    const fr_t zero = fr_zero();
    d->kernel->constant(&d->twiddles[way][0], &zero);
    for (unsigned level = 0; level < d->log2_rows[0]; level++) {
        const size_t half = (size_t)1 << level;
        fr_t root, power = fr_one();
        ntt_root_of_unity(level + 1, &root);
        if (way == 1) fr_inv(&root, &root);
        for (size_t j = 0; j < half; j++) {
            d->kernel->constant(&d->twiddles[way][half + j], &power);
            fr_mul(&power, &power, &root);
        }
    }
}

static void fill_coset_rows(ntt_domain *d, int way) {
    const unsigned log_n = d->log2_rows[d->passes - 1];
    fr_t ratio, power = fr_one();
    square_times(&ratio, &d->shift[way], d->log2_n - log_n);
    for (size_t k = 0; k < (size_t)1 << log_n; k++) {
        const size_t row = way == 0 ? ntt_bit_reverse(k, log_n) : k;
        d->kernel->constant(&d->coset_rows[way][row], &power);
        fr_mul(&power, &power, &ratio);
    }
}

static void fill_scalars(ntt_domain *d) {
    const fr_t one = fr_one();
    fr_from_u64(&d->n_inverse, (uint64_t)1 << d->log2_n);
    fr_inv(&d->n_inverse, &d->n_inverse);
    fr_from_u64(&d->shift[0], 7);
    fr_inv(&d->shift[1], &d->shift[0]);
    square_times(&d->vanishing_inverse, &d->shift[0], d->log2_n);
    fr_sub(&d->vanishing_inverse, &d->vanishing_inverse, &one);
    fr_inv(&d->vanishing_inverse, &d->vanishing_inverse);
}

cuzk_status ntt_domain_new_with(const cuzk_host *host, unsigned log2_n, const ntt_kernel *kernel,
                                unsigned tile_log2, ntt_domain **out, cuzk_error *err) {
    *out = NULL;
    if (log2_n > NTT_MAX_LOG2)
        return cuzk_fail(err, CUZK_ERR_ARGUMENT, "NTT domain of 2^%u: the field has roots to 2^%d",
                         log2_n, NTT_MAX_LOG2);
    void *memory = NULL;
    CUZK_TRY(
        cuzk_host_alloc(host, &memory, plan(log2_n, tile_log2, NULL).bytes, 1, "NTT domain", err));
    ntt_domain *d = memory;
    *d = plan(log2_n, tile_log2, memory);
    d->kernel = kernel;
    fr_t omega, stride;
    ntt_root_of_unity(log2_n, &omega);
    square_times(&stride, &omega, d->low_bits);
    fill_powers(d->low, (size_t)1 << d->low_bits, &omega);
    fill_powers(d->high, (size_t)1 << (log2_n - d->low_bits), &stride);
    fill_scalars(d);
    for (int way = 0; way < 2; way++) {
        fill_twiddles(d, way);
        fill_coset_rows(d, way);
    }
    *out = d;
    return CUZK_OK;
}

cuzk_status ntt_domain_new(const cuzk_host *host, unsigned log2_n, ntt_domain **out,
                           cuzk_error *err) {
    return ntt_domain_new_with(host, log2_n, ntt_kernel_best(), NTT_TILE_LOG2, out, err);
}

void ntt_domain_free(const cuzk_host *host, ntt_domain *domain) {
    if (domain != NULL) cuzk_host_free(host, domain, domain->bytes, 1);
}

unsigned ntt_domain_log2(const ntt_domain *domain) {
    return domain->log2_n;
}

void ntt_coset_vanishing_inverse(const ntt_domain *domain, fr_t *z) {
    *z = domain->vanishing_inverse;
}
