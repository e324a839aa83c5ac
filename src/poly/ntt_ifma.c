#include "poly/ntt_kernel.h"

const ntt_kernel *ntt_kernel_ifma(void) {
    return NULL;
}
