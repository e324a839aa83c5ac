#include "field/mont.h"

void mont_plain_mul_4(uint64_t *z, const uint64_t *x, const uint64_t *y, const mont_prime *P) {
    mont_plain_mul(z, x, y, P, 4);
}

void mont_plain_mul_6(uint64_t *z, const uint64_t *x, const uint64_t *y, const mont_prime *P) {
    mont_plain_mul(z, x, y, P, 6);
}

void mont_plain_wide_mul_6(uint64_t *z, const uint64_t *x, const uint64_t *y) {
    mont_plain_wide_mul(z, x, y, 6);
}

void mont_plain_wide_reduce_6(uint64_t *z, const uint64_t *w, const mont_prime *P) {
    mont_plain_wide_reduce(z, w, P, 6);
}
