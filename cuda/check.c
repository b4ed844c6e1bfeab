// check.c -- turns errors of CUDA and cuBLAS into one message with call, place, op and layer, and
// detects errors after which nothing works any more.
#include <stdio.h>
#include <string.h>

#include "cuda/cuda.h"

// True for errors of a kernel or the GPU itself: the runtime repeats them in this process for ever.
static bool is_sticky(cudaError_t error) {
    switch (error) {
    case cudaErrorECCUncorrectable:
    case cudaErrorIllegalAddress:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorHardwareStackError:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorLaunchFailure:
    case cudaErrorContextIsDestroyed:
        return true;
    default:
        return false;
    }
}

void cuda_note(CudaDevice *cuda, cudaError_t error) {
    cudaGetLastError(); // otherwise the next launch would report it
    if (!is_sticky(error) || cuda->dead) return;
    cuda->dead = true;
    snprintf(cuda->cause, sizeof cuda->cause, "%s", cudaGetErrorString(error));
}

static Status report(CudaDevice *cuda, Status status, const char *what, const char *file, int line,
                     const char *error, const char *hint) {
    char where[96];
    int name = (int)strcspn(what, "("); // length of the call's name, without arguments
    cuda->host->where(where, sizeof where);
    if (cuda->call)
        return cuda->host->op_error(cuda->call, status, "%.*s at %s:%d (%s): %s. HINT: %s", name,
                                    what, file, line, where, error, hint);
    return cuda->host->error_set(status, "cuda: %.*s at %s:%d (%s): %s. HINT: %s", name, what, file,
                                 line, where, error, hint);
}

Status cuda_check(CudaDevice *cuda, cudaError_t error, const char *what, const char *file,
                  int line) {
    if (error == cudaSuccess) return STATUS_OK;
    cuda_note(cuda, error);
    bool memory = error == cudaErrorMemoryAllocation;
    const char *hint = "RIDGEPOINT_CUDA_SYNC=1 names the kernel that did it";
    if (memory)
        hint = "use a smaller batch";
    else if (cuda->synchronous)
        hint = "compute-sanitizer says more";
    return report(cuda, memory ? STATUS_OUT_OF_MEMORY : STATUS_DEVICE, what, file, line,
                  cudaGetErrorString(error), hint);
}

Status cuda_check_blas(CudaDevice *cuda, cublasStatus_t status, const char *what, const char *file,
                       int line) {
    if (status == CUBLAS_STATUS_SUCCESS) return STATUS_OK;
    cuda_note(cuda, cudaPeekAtLastError()); // cuBLAS also returns errors of kernels
    bool memory = status == CUBLAS_STATUS_ALLOC_FAILED;
    return report(cuda, memory ? STATUS_OUT_OF_MEMORY : STATUS_DEVICE, what, file, line,
                  cublasGetStatusString(status),
                  memory ? "use a smaller batch" : "RIDGEPOINT_CUDA_SYNC=1 says where it began");
}

Status cuda_launched(CudaDevice *cuda, const char *kernel, const char *file, int line) {
    cudaError_t error = cudaGetLastError();
    if (!error && cuda->synchronous) error = cudaStreamSynchronize(cuda->compute);
    if (!error) return STATUS_OK;
    char what[96];
    snprintf(what, sizeof what, "kernel %s", kernel);
    return cuda_check(cuda, error, what, file, line);
}
