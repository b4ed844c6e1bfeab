// cuda_raw.c -- a device copy and cuBLAS's product as a program without the engine would call them:
// the rivals of the cuda device. nvcc links it for a GPU, g++ over the fake runtime for the test of
// the benchmark.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <stdio.h>

#include "tests/bench/cuda_raw.h"

enum { WORKSPACE = 32 << 20 }; // as large as the engine's

static struct {
    cudaStream_t stream;
    cublasHandle_t blas;
    void *from, *to, *workspace;
    float *matrices; // a, b and c
    size_t bytes;
    int n;
    char text[160];
} raw;

static const char *say(const char *call, const char *error) {
    snprintf(raw.text, sizeof raw.text, "%s: %s", call, error);
    return raw.text;
}

#define TRY(call)                                                                                  \
    do {                                                                                           \
        cudaError_t error = call;                                                                  \
        if (error) return say(#call, cudaGetErrorString(error));                                   \
    } while (0)
#define TRY_BLAS(call)                                                                             \
    do {                                                                                           \
        cublasStatus_t status = call;                                                              \
        if (status) return say(#call, cublasGetStatusString(status));                              \
    } while (0)

static const char *raw_open(size_t bytes, int n) {
    size_t matrix = (size_t)n * (size_t)n * sizeof(float);
    raw.bytes = bytes;
    raw.n = n;
    TRY(cudaStreamCreateWithFlags(&raw.stream, cudaStreamNonBlocking));
    TRY(cudaMalloc(&raw.from, bytes));
    TRY(cudaMalloc(&raw.to, bytes));
    TRY(cudaMalloc((void **)&raw.matrices, 3 * matrix));
    TRY(cudaMalloc(&raw.workspace, WORKSPACE));
    TRY(cudaMemsetAsync(raw.from, 0, bytes, raw.stream));
    TRY(cudaMemsetAsync(raw.matrices, 0x3f, 3 * matrix, raw.stream)); // 0.747 everywhere
    TRY_BLAS(cublasCreate(&raw.blas));
    TRY_BLAS(cublasSetStream(raw.blas, raw.stream));
    TRY_BLAS(cublasSetWorkspace(raw.blas, raw.workspace, WORKSPACE));
    TRY_BLAS(cublasSetMathMode(raw.blas, CUBLAS_PEDANTIC_MATH));
    return NULL;
}

static const char *raw_copy(int64_t times) {
    for (int64_t i = 0; i < times; i++)
        TRY(cudaMemcpyAsync(raw.to, raw.from, raw.bytes, cudaMemcpyDeviceToDevice, raw.stream));
    TRY(cudaStreamSynchronize(raw.stream));
    return NULL;
}

// c (n, n) = a (n, n) . b (n, n), column-major
static const char *raw_product(int64_t times) {
    const float one = 1.0f, zero = 0.0f, *a = raw.matrices;
    const float *b = a + (size_t)raw.n * (size_t)raw.n;
    float *c = raw.matrices + 2 * (size_t)raw.n * (size_t)raw.n;
    for (int64_t i = 0; i < times; i++)
        TRY_BLAS(cublasSgemm(raw.blas, CUBLAS_OP_N, CUBLAS_OP_N, raw.n, raw.n, raw.n, &one, a,
                             raw.n, b, raw.n, &zero, c, raw.n));
    TRY(cudaStreamSynchronize(raw.stream));
    return NULL;
}

static void raw_close(void) {
    if (raw.blas) cublasDestroy(raw.blas);
    cudaFree(raw.workspace);
    cudaFree(raw.matrices);
    cudaFree(raw.to);
    cudaFree(raw.from);
    if (raw.stream) cudaStreamDestroy(raw.stream);
}

extern const CudaRaw cuda_raw;
__attribute__((visibility("default")))
const CudaRaw cuda_raw = {raw_open, raw_copy, raw_product, raw_close};
