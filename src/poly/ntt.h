/* Number-theoretic transforms over Fr and the Groth16 quotient.
 *
 * Domain of size m = 2^k: omega = 7^((r-1)/2^k), the root blstrs and bellperson use; the coset is
 * 7 * <omega> (bellperson src/domain.rs). Vectors are Montgomery fr_t in natural order unless a
 * function says otherwise. Sizes to 2^32 by the field; tested to 2^27.
 *
 * A domain is not changed by transforms: any number may use it at once. A worker takes half a MiB
 * of stack. How it works: docs/ntt.md. */
#ifndef CUZK_POLY_NTT_H
#define CUZK_POLY_NTT_H

#include "base/host.h"
#include "field/fr.h"

typedef struct ntt_domain ntt_domain; /* opaque: log2 size and twiddle tables */

/* Create a domain of size 2^log2_n; tables come from host->alloc. CUZK_ERR_ARGUMENT when log2_n >
 * 32. Freed by ntt_domain_free with the same host. */
cuzk_status ntt_domain_new(const cuzk_host *host, unsigned log2_n, ntt_domain **out,
                           cuzk_error *err);
void ntt_domain_free(const cuzk_host *host, ntt_domain *domain);
unsigned ntt_domain_log2(const ntt_domain *domain);
/* Bytes of tables that ntt_domain_new takes. */
size_t ntt_domain_bytes(unsigned log2_n);

/* In place, natural order in and out. inverse scales by 1/m. */
void ntt_forward(const cuzk_host *host, const ntt_domain *domain, fr_t *v);
void ntt_inverse(const cuzk_host *host, const ntt_domain *domain, fr_t *v);
/* coefficients -> evaluations on the coset, and back. */
void ntt_coset_forward(const cuzk_host *host, const ntt_domain *domain, fr_t *v);
void ntt_coset_inverse(const cuzk_host *host, const ntt_domain *domain, fr_t *v);

/* The quotient h = (A B - C) / (X^m - 1) of a satisfied system. On entry a and b hold the rows' A w
 * and B w (m values each, zero-padded); c holds nothing and is scratch of m values. C's rows are
 * a*b row by row. On return a holds the m coefficients of h; the last one is zero. b and c are
 * clobbered. Six transforms: C needs no coset transform (docs/ntt.md). The three vectors must not
 * overlap. */
void ntt_quotient(const cuzk_host *host, const ntt_domain *domain, fr_t *a, fr_t *b, fr_t *c);

/* z = 1/(7^m - 1), the inverse of the vanishing polynomial on the coset. */
void ntt_coset_vanishing_inverse(const ntt_domain *domain, fr_t *z);
/* omega of the domain. */
void ntt_root_of_unity(unsigned log2_n, fr_t *omega);

#endif
