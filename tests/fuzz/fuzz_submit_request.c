/* A SubmitProofRequest as it comes from the network, up to the checked job. */
#include <string.h>

#include "fuzz/fuzz.h"
#include "server/request.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    const cuzk_host *host = host_std_host(fuzz_host());
    cuzk_error err = {0};
    proof_job *job = NULL;
    engine_request request;
    request_bytes inner;
    if (request_for_engine(data, size, &request, &err) == CUZK_OK &&
        strlen(request.request_id) >= sizeof request.request_id)
        abort();
    (void)request_of_prove(data, size, &inner, &err);
    const cuzk_status status = request_decode(host, data, size, &job, &err);
    fuzz_check_refusal(status, &err, job);
    proof_job_free(host, job);
    fuzz_check_memory();
    return 0;
}
