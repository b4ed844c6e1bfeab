// cuda_raw.h -- what a GPU does without the engine: a device copy and cuBLAS's product. A library
// of its own (tests/plugins/cuda_raw.c), opened at run time, because no program links CUDA.
#ifndef TESTS_BENCH_CUDA_RAW_H
#define TESTS_BENCH_CUDA_RAW_H

#include <stddef.h>
#include <stdint.h>

// Each returns NULL, or what went wrong: "cudaMalloc: out of memory".
typedef struct CudaRaw {
    // Two buffers of `bytes`, and float32 matrices (n, n).
    const char *(*open)(size_t bytes, int n);
    const char *(*copy)(int64_t times);    // one buffer into the other, and waits
    const char *(*product)(int64_t times); // c = a . b in float32, no TF32, and waits
    void (*close)(void);
} CudaRaw;

#define CUDA_RAW_SYMBOL "cuda_raw" // a const CudaRaw

// From the library at `path`; ends the program with a message when it cannot be used.
const CudaRaw *cuda_raw_load(const char *path);

#endif
