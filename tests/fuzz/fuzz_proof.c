/* The 192 bytes of a proof: what is accepted is written back unchanged. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "groth16/groth16.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t in[GROTH16_PROOF_BYTES] = {0}, out[GROTH16_PROOF_BYTES];
    cuzk_error err = {0};
    groth16_proof proof;
    memcpy(in, data, size < sizeof in ? size : sizeof in);
    if (groth16_proof_read(&proof, in, &err) != CUZK_OK) {
        if (err.text[0] == 0) abort();
        return 0;
    }
    groth16_proof_write(&proof, out);
    if (memcmp(in, out, sizeof in) != 0) abort();
    return 0;
}
