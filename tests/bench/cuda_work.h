// cuda_work.h -- the workloads of bench_cuda on the engine's cuda device, and the rival of each.
#ifndef TESTS_BENCH_CUDA_WORK_H
#define TESTS_BENCH_CUDA_WORK_H

#include "tests/bench/ours.h"

typedef struct CudaSizes {
    int64_t rows, columns; // size of the ops' matrices: 268 MB
    int64_t n;             // size of a square product
    int64_t batch;         // batch of the perceptron 784-512-256-10
} CudaSizes;

typedef enum CudaRival {
    RIVAL_COPY,     // a device copy: bytes per second, ours as the engine counts them
    RIVAL_PRODUCT,  // cuBLAS's product of the same size
    RIVAL_EAGER,    // the workload in PyTorch
    RIVAL_COMPILED, // the workload in PyTorch, compiled, with CUDA graphs
} CudaRival;

typedef struct CudaSubject {
    Device *device;
    const CudaSizes *sizes;
    OursOp op;
    OursNet net;
    Tensor *labels;
} CudaSubject;

typedef struct CudaCase {
    const char *name;
    CudaRival rival;
    double gate, good; // least share of the rival's speed; 0: none
    void (*make)(CudaSubject *subject);
    void (*step)(CudaSubject *subject); // only queued on the device
} CudaCase;

extern const CudaCase cuda_cases[];
extern const int n_cuda_cases;

void cuda_subject_new(CudaSubject *subject, const CudaCase *of, Device *device,
                      const CudaSizes *sizes);
void cuda_subject_free(CudaSubject *subject);
// Bytes that the ops of one step read and write.
int64_t cuda_subject_bytes(CudaSubject *subject, const CudaCase *of);

#endif
