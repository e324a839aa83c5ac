/* What cuda_library.h offers, as functions of this library. */
#ifndef CUZK_CUDA_GPU_EXECUTOR_H
#define CUZK_CUDA_GPU_EXECUTOR_H

#include "cuda/cuda_library.h"

cuzk_status gpu_executor_open(const cuzk_host *host, const cuda_options *options, executor **out,
                              cuzk_error *err);
void gpu_executor_phases(const executor *ex, cuda_phases *out);
cuzk_status gpu_encoder_open(const cuzk_host *host, const cuda_options *options,
                             groth16_encoder **out, cuzk_error *err);
void gpu_encoder_close(groth16_encoder *encoder);

#endif
