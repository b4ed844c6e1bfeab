// cuda_raw.h -- a GPU's speed without the engine: a device copy and cuBLAS's product. A library of
// its own (tests/plugins/cuda_raw.c), opened at run time, because no program links CUDA.
#ifndef TESTS_BENCH_CUDA_RAW_H
#define TESTS_BENCH_CUDA_RAW_H

#include <stddef.h>
#include <stdint.h>

// Each function returns NULL, or an error such as "cudaMalloc: out of memory".
typedef struct CudaRaw {
    // Makes two buffers of `bytes`, and float32 matrices (n, n).
    const char *(*open)(size_t bytes, int n);
    const char *(*copy)(int64_t times);    // copies one buffer to the other, and waits
    const char *(*product)(int64_t times); // c = a . b in float32, no TF32, and waits
    void (*close)(void);
} CudaRaw;

#define CUDA_RAW_SYMBOL "cuda_raw" // name of a const CudaRaw

// Loads it from the library at `path`; ends the program with a message if that fails.
const CudaRaw *cuda_raw_load(const char *path);

#endif
