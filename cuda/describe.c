// describe.c -- finds the driver and a GPU, with its name and memory. Not here: their use.
#include <stdio.h>
#include <string.h>

#include "cuda/cuda.h"

static void version_text(int version, char text[16]) {
    snprintf(text, 16, "%d.%d", version / 1000, version % 1000 / 10);
}

// Checks for a GPU and a driver that supports this CUDA.
Status cuda_find_gpu(const PluginHost *host) {
    int count = 0, known = 0;
    char driver[16], ours[16];
    cudaError_t error = cudaGetDeviceCount(&count);
    if (!error && count > 0) return STATUS_OK;
    cudaDriverGetVersion(&known);
    version_text(known, driver);
    version_text(CUDART_VERSION, ours);
    cudaGetLastError();
    switch (error) {
    case cudaSuccess:
    case cudaErrorNoDevice:
        return host->error_set(STATUS_DEVICE, "cuda: the driver sees no GPU. HINT: does nvidia-smi "
                                              "list one, and CUDA_VISIBLE_DEVICES not hide it?");
    case cudaErrorInsufficientDriver:
        if (known == 0)
            return host->error_set(STATUS_DEVICE, "cuda: there is no NVIDIA driver on this "
                                                  "machine. HINT: install one");
        return host->error_set(STATUS_DEVICE,
                               "cuda: the NVIDIA driver is for CUDA %s, and this build needs %s. "
                               "HINT: update the driver, or build with an older toolkit",
                               driver, ours);
    case cudaErrorStubLibrary:
        return host->error_set(STATUS_DEVICE, "cuda: libcuda.so.1 is a toolkit's stub, no driver. "
                                              "HINT: take it off the library path");
    default:
        return host->error_set(STATUS_DEVICE,
                               "cuda: cudaGetDeviceCount: %s (%d). HINT: does nvidia-smi work?",
                               cudaGetErrorString(error), (int)error);
    }
}

// Also keeps the size of the last-level cache, the only other property needed later.
static void write_identity(CudaDevice *cuda, const struct cudaDeviceProp *gpu, int driver) {
    char known[16], ours[16], uuid[48] = "";
    const unsigned char *bytes = (const unsigned char *)gpu->uuid.bytes;
    int blas = 0, used = 0;
    for (int i = 0; i < 16; i++)
        used += snprintf(uuid + used, sizeof uuid - (size_t)used, "%s%02x",
                         i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
    cublasGetVersion(cuda->blas, &blas);
    version_text(driver, known);
    version_text(CUDART_VERSION, ours);
    snprintf(cuda->identity, sizeof cuda->identity,
             "%.64s, GPU-%s, driver for CUDA %s, CUDA %s, cuBLAS %d.%d.%d", gpu->name, uuid, known,
             ours, blas / 10000, blas / 100 % 100, blas % 100);
    cuda->device.identity = cuda->identity;
    cuda->cache_bytes = gpu->l2CacheSize;
}

Status cuda_describe(CudaDevice *cuda, char *about, size_t size) {
    struct cudaDeviceProp gpu;
    int known = 0;
    char driver[16];
    Status status = CUDA_CHECK(cuda, cudaGetDeviceProperties(&gpu, cuda->index));
    if (!status) status = CUDA_CHECK(cuda, cudaDriverGetVersion(&known));
    if (status) return status;
    version_text(known, driver);
    snprintf(about, size, "%s, %.0f GB, compute capability %d.%d, driver for CUDA %s", gpu.name,
             (double)gpu.totalGlobalMem / 1e9, gpu.major, gpu.minor, driver);
    write_identity(cuda, &gpu, known);
    return STATUS_OK;
}

Status cuda_memory(CudaDevice *cuda, DeviceMemory *memory) {
    size_t left, total;
    Status status = CUDA_CHECK(cuda, cudaMemGetInfo(&left, &total));
    if (status) return status;
    *memory = (DeviceMemory){.total = (int64_t)total,
                             .free = (int64_t)left,
                             .own = CUDA_BLAS_WORKSPACE + (int64_t)cuda->scratch_bytes +
                                    (int64_t)sizeof(int64_t),
                             .staging = (int64_t)CUDA_PINNED_SLOTS * CUDA_PINNED_BYTES,
                             .cache = cuda->cache_bytes};
    return STATUS_OK;
}

// If a GPU is full, some drivers do not even report the free memory.
void cuda_say_full(CudaDevice *cuda) {
    size_t left = 0, total = 0;
    char room[64] = "";
    if (cudaMemGetInfo(&left, &total) == cudaSuccess)
        snprintf(room, sizeof room, " (%.0f of %.0f MB are free)", (double)left / 1e6,
                 (double)total / 1e6);
    cudaGetLastError();
    cuda->host->error_clear();
    cuda->host->error_set(
        STATUS_OUT_OF_MEMORY,
        "cuda: the GPU's memory is full: no room for workspaces of %d MB%s. HINT: "
        "nvidia-smi shows who uses it; CUDA_VISIBLE_DEVICES chooses another GPU",
        CUDA_BLAS_WORKSPACE / 1000000 + 1, room);
}
