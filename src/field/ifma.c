/* The primes of BLS12-381 in 52-bit limbs; test_ifma.c derives every number again. */
#include "field/ifma.h"

#if defined(__x86_64__)

/* clang-format off */
const ifma_prime ifma_fr_prime = {
    .p = {0xfffff00000001ULL, 0x02fffe5bfefffULL, 0x9a1d80553bda4ULL, 0x7d483339d8080ULL, 0x073eda753299dULL},
    .minus_p = {0x00000ffffffffULL, 0xfd0001a401000ULL, 0x65e27faac425bULL, 0x82b7ccc627f7fULL, 0xf8c1258acd662ULL},
    .one = {0x00022ffffffddULL, 0x9700396c23000ULL, 0xedf77458d1293ULL, 0xdf20ff1776e6aULL, 0x026821fa14f77ULL},
    .enter = {0x00234fffffdcbULL, 0x61039ef635000ULL, 0xdce3c3e2e7505ULL, 0x7fa6f1563642bULL, 0x0247db575276aULL},
    .leave = {0x00001fffffffeULL, 0xfa00034802000ULL, 0xcbc4ff55884b7ULL, 0x056f998c4fefeULL, 0x01824b159acc5ULL},
    .n0 = 0xffffeffffffffULL,
    .top_inverse = 0x8d54253b7fb6eULL,
    .top_shift = 46,
};
const ifma_prime ifma_fp_prime = {
    .p = {0xeffffffffaaabULL, 0xfeb153ffffb9fULL, 0x6b0f6241eabffULL, 0x12bf6730d2a0fULL, 0x764774b84f385ULL, 0x1ba7b6434bacdULL, 0x1ea397fe69a4bULL, 0x000000001a011ULL},
    .minus_p = {0x1000000005555ULL, 0x014eac0000460ULL, 0x94f09dbe15400ULL, 0xed4098cf2d5f0ULL, 0x89b88b47b0c7aULL, 0xe45849bcb4532ULL, 0xe15c6801965b4ULL, 0xffffffffe5feeULL},
    .one = {0x6480ea8e9b9afULL, 0x65766c8fe444fULL, 0x8b540fea96f7dULL, 0x3b2ee82efd422ULL, 0xa6723e5f0ade5ULL, 0xff6eb6fdd4230ULL, 0xe06ef23c24a25ULL, 0x0000000014c8eULL},
    .enter = {0x7fde37dba9366ULL, 0x4e27525bc342bULL, 0x1f5b1e9778489ULL, 0xb872b2b91b9dcULL, 0xb206f497dfcafULL, 0x4137cc89a9b0bULL, 0xd9d20d7e39959ULL, 0x000000000411cULL},
    .leave = {0x900000002fffdULL, 0x0bc40c0002760ULL, 0x3c758baebf400ULL, 0x57455f4898575ULL, 0xd77ce58537052ULL, 0x071a97a256ec6ULL, 0xec3fa80e4935cULL, 0x0000000015f65ULL},
    .n0 = 0x3fffcfffcfffdULL,
    .top_inverse = 0x9d8307de6dc2aULL,
    .top_shift = 16,
};
/* clang-format on */

#endif
