/* Primes that only tests use, to hold the generic routines to their word: BN254 and tiny
   ones; derived by scripts/gen_constants.py. */
#ifndef CUZK_TESTS_OTHER_PRIMES_H
#define CUZK_TESTS_OTHER_PRIMES_H

#include "field/mont.h"

/* clang-format off */
static const mont_prime bn254_r_prime = {
    .p = {0x43e1f593f0000001ULL, 0x2833e84879b97091ULL, 0xb85045b68181585dULL, 0x30644e72e131a029ULL},
    .r1 = {0xac96341c4ffffffbULL, 0x36fc76959f60cd29ULL, 0x666ea36f7879462eULL, 0x0e0a77c19a07df2fULL},
    .r2 = {0x1bb8e645ae216da7ULL, 0x53fe3ab1e35c59e3ULL, 0x8c49833d53bb8085ULL, 0x0216d0b17f4e44a5ULL},
    .root = {0x636e735580d13d9cULL, 0xa22bf3742445ffd6ULL, 0x56452ac01eb203d8ULL, 0x1860ef942963f9e7ULL},
    .n0 = 0xc2e1f593efffffffULL,
    .bits = 254,
    .two_adicity = 28,
};
static const mont_prime bn254_p_prime = {
    .p = {0x3c208c16d87cfd47ULL, 0x97816a916871ca8dULL, 0xb85045b68181585dULL, 0x30644e72e131a029ULL},
    .r1 = {0xd35d438dc58f0d9dULL, 0x0a78eb28f5c70b3dULL, 0x666ea36f7879462cULL, 0x0e0a77c19a07df2fULL},
    .r2 = {0xf32cfc5b538afa89ULL, 0xb5e71911d44501fbULL, 0x47ab1eff0a417ff6ULL, 0x06d89f71cab8351fULL},
    .root = {0x68c3488912edefaaULL, 0x8d087f6872aabf4fULL, 0x51e1a24709081231ULL, 0x2259d6b14729c0faULL},
    .n0 = 0x87d20782e4866389ULL,
    .bits = 254,
    .two_adicity = 1,
};
static const mont_prime tiny_13_prime = {
    .p = {0x000000000000000dULL},
    .r1 = {0x0000000000000003ULL},
    .r2 = {0x0000000000000009ULL},
    .root = {0x000000000000000bULL},
    .n0 = 0xb13b13b13b13b13bULL,
    .bits = 4,
    .two_adicity = 2,
};
static const mont_prime tiny_97_prime = {
    .p = {0x0000000000000061ULL},
    .r1 = {0x000000000000003dULL},
    .r2 = {0x0000000000000023ULL},
    .root = {0x000000000000003bULL},
    .n0 = 0x5c5f02a3a0fd5c5fULL,
    .bits = 7,
    .two_adicity = 5,
};

#endif
