// cuda_raw.c -- opens the library that holds CudaRaw, tests/plugins/cuda_raw.c.
#include "tests/bench/cuda_raw.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

const CudaRaw *cuda_raw_load(const char *path) {
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const CudaRaw *raw = library ? dlsym(library, CUDA_RAW_SYMBOL) : NULL;
    if (raw) return raw;
    fprintf(stderr, "bench_cuda: %s. HINT: make bench-cuda builds and names it\n", dlerror());
    exit(3);
}
