// device.c -- the CUDA device: the Device table that this plug-in gives the program. Kernels are in
// the .cu files, each beside its launcher; their table is here.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"

#define EXPORT __attribute__((visibility("default")))

// Needed by tensor_raw, inline in a header; the plug-in links nothing of the program.
const uint8_t dtype_sizes[DTYPE_COUNT] = {
#define DTYPE_SIZE(name, text, size) size,
    DTYPE_LIST(DTYPE_SIZE)
#undef DTYPE_SIZE
};

// ---- kernels -----------------------------------------------------------------------------------
// Weak: an op without a launcher has a NULL slot, reported when it runs.
#define CUDA_DECLARE(name)                                                                         \
    extern Status name##_cuda(const OpCall *call, CudaDevice *cuda) __attribute__((weak));
#define CUDA_NONE(name)
OP_LIST(CUDA_DECLARE, CUDA_NONE)

static const CudaKernel kernels[OP_COUNT] = {
#define CUDA_ENTRY(name) [OP_##name] = name##_cuda,
    OP_LIST(CUDA_ENTRY, CUDA_NONE)
#undef CUDA_ENTRY
};

// ---- mutual exclusion --------------------------------------------------------------------------
// Threads may share the device; they take turns, as it has one stream, scratch and staging ring.
// Recursive, because a kernel that lacks room for scratch makes the ledger release its cache.
static pthread_mutex_t turn = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static CudaDevice the_device;

static Status leave(Status status) {
    the_device.call = NULL;
    pthread_mutex_unlock(&turn);
    return status;
}

static CudaDevice *enter(Device *self, const OpCall *call) {
    CudaDevice *cuda = (CudaDevice *)self;
    pthread_mutex_lock(&turn);
    cuda->call = call;
    if (!cuda->dead) return cuda;
    leave(cuda->host->error_set(STATUS_DEVICE,
                                "cuda: no longer usable in this process: %s. HINT: start it again",
                                cuda->cause));
    return NULL;
}

static void forget_gpu(void) { // in the child of a fork
    the_device.dead = true;
    snprintf(the_device.cause, sizeof the_device.cause, "it is a fork of the one that opened it");
    pthread_mutex_init(&turn, NULL); // another thread of the parent may have held the lock
}

// ---- the table ---------------------------------------------------------------------------------
// If no tool asks for ranges, this test is their only cost.
static Status launch(CudaKernel kernel, const OpCall *call, CudaDevice *cuda) {
    if (!cuda->ranges) return kernel(call, cuda);
    cuda_range_begin(cuda, call);
    Status status = kernel(call, cuda);
    cuda_range_end(cuda);
    return status;
}

static Status device_run(Device *self, const OpCall *call) {
    CudaDevice *cuda = enter(self, call);
    if (!cuda) return STATUS_DEVICE;
    CudaKernel kernel = kernels[call->op->id];
    if (kernel) return leave(launch(kernel, call, cuda));
    return leave(cuda->host->op_error(call, STATUS_NOT_IMPLEMENTED,
                                      "has no kernel on %s. HINT: use the cpu device", self->name));
}

// Sets no error when memory is exhausted: the ledger releases its cache and asks again.
static void *device_allocate(Device *self, size_t bytes) {
    void *data = NULL;
    CudaDevice *cuda = enter(self, NULL);
    if (!cuda) return NULL;
    cudaError_t error = cudaMalloc(&data, bytes);
    if (error == cudaErrorMemoryAllocation)
        cuda_note(cuda, error);
    else
        cuda_check(cuda, error, "cudaMalloc", __FILE__, __LINE__);
    leave(STATUS_OK);
    return error ? NULL : data;
}

// Has no way to report an error; one from cudaFree shows again at the next call.
static void device_release(Device *self, void *data, size_t bytes) {
    (void)bytes;
    CudaDevice *cuda = (CudaDevice *)self;
    pthread_mutex_lock(&turn);
    cudaError_t error = cuda->dead ? cudaSuccess : cudaFree(data);
    if (error) cuda_note(cuda, error);
    pthread_mutex_unlock(&turn);
}

static Status device_memory(Device *self, DeviceMemory *memory) {
    CudaDevice *cuda = enter(self, NULL);
    return cuda ? leave(cuda_memory(cuda, memory)) : STATUS_DEVICE;
}

// Scratch and the products' workspace belong to the device, not to an op.
static int64_t device_workspace(Device *self, const OpCall *call) {
    (void)self, (void)call;
    return 0;
}

static Status copy_in(Device *self, void *to, const void *from, size_t bytes) {
    CudaDevice *cuda = enter(self, NULL);
    return cuda ? leave(cuda_from_host(cuda, to, from, bytes)) : STATUS_DEVICE;
}

// Reports kernels' findings when values are next read, because asking after each op would wait for
// each.
static Status tell_findings(CudaDevice *cuda) {
#define CUDA_NAME(name) [OP_##name] = #name,
    static const char *const names[OP_COUNT] = {OP_LIST(CUDA_NAME, CUDA_NAME)};
#undef CUDA_NAME
    unsigned long long found = 0;
    Status status = cuda_to_host(cuda, &found, cuda->findings, sizeof found);
    if (status || found == 0) return status;
    status = CUDA_CHECK(cuda, cudaMemsetAsync(cuda->findings, 0, sizeof found, cuda->compute));
    if (status) return status;
    bool zero = (found & CUDA_FOUND_ZERO) != 0;
    int op = (int)(found & (CUDA_FOUND_ZERO - 1)) - 1;
    return cuda->host->error_set(
        STATUS_INVALID_ARGUMENT,
        "%s: %s (the last one found: at %llu). HINT: %s; on cuda this is told when values are next "
        "read",
        op > 0 && op < OP_COUNT ? names[op] : "an op",
        zero ? "a whole number divided by 0" : "an index or label is out of range", found >> 16,
        zero ? "the second input has zeros" : "indices count from 0");
}

static Status copy_out(Device *self, void *to, const void *from, size_t bytes) {
    CudaDevice *cuda = enter(self, NULL);
    if (!cuda) return STATUS_DEVICE;
    Status status = cuda_to_host(cuda, to, from, bytes);
    return leave(status ? status : tell_findings(cuda));
}

static Status device_wait(Device *self) {
    CudaDevice *cuda = enter(self, NULL);
    return cuda ? leave(CUDA_CHECK(cuda, cudaStreamSynchronize(cuda->compute))) : STATUS_DEVICE;
}

static Status stamps_reserve(Device *self, int64_t count) {
    CudaDevice *cuda = enter(self, NULL);
    return cuda ? leave(cuda_stamps_reserve(cuda, count)) : STATUS_DEVICE;
}

static Status stamp(Device *self, int64_t index) {
    CudaDevice *cuda = enter(self, NULL);
    return cuda ? leave(cuda_stamp(cuda, index)) : STATUS_DEVICE;
}

static Status stamps_read(Device *self, int64_t count, int64_t *nanoseconds) {
    CudaDevice *cuda = enter(self, NULL);
    return cuda ? leave(cuda_stamps_read(cuda, count, nanoseconds)) : STATUS_DEVICE;
}

static Status hold(Device *self, int64_t nanoseconds) {
    CudaDevice *cuda = enter(self, NULL);
    return cuda ? leave(cuda_hold(cuda, nanoseconds)) : STATUS_DEVICE;
}

static const Device table = {.name = "cuda",
                             .has_data = true,
                             .allocate = device_allocate,
                             .release = device_release,
                             .memory = device_memory,
                             .run = device_run,
                             .workspace = device_workspace,
                             .from_host = copy_in,
                             .to_host = copy_out,
                             .synchronize = device_wait,
                             .stamps_reserve = stamps_reserve,
                             .stamp = stamp,
                             .stamps_read = stamps_read,
                             .hold = hold};

// ---- scratch -----------------------------------------------------------------------------------
void *cuda_scratch(CudaDevice *cuda, size_t bytes) {
    if (bytes == cuda->scratch_bytes || (bytes < cuda->scratch_bytes && !cuda->raw))
        return cuda->scratch;
    size_t grown = cuda->scratch_bytes ? 2 * cuda->scratch_bytes : (size_t)1 << 20;
    if (grown < bytes || cuda->raw) grown = bytes;
    void *old = cuda->scratch;
    cuda->scratch = NULL;
    cuda->scratch_bytes = 0;
    // cudaFree waits for kernels that still use the old scratch.
    if (CUDA_CHECK(cuda, cudaFree(old))) return NULL;
    cudaError_t error = cudaMalloc(&cuda->scratch, grown);
    if (error == cudaErrorMemoryAllocation) {
        cuda_note(cuda, error);
        cuda->host->trim();
        grown = bytes;
        error = cudaMalloc(&cuda->scratch, grown);
    }
    if (cuda_check(cuda, error, "cudaMalloc", __FILE__, __LINE__)) return NULL;
    cuda->scratch_bytes = grown;
    return cuda->scratch;
}

// ---- opening -----------------------------------------------------------------------------------
static Status open_blas(CudaDevice *cuda) {
    Status status = CUDA_CHECK_BLAS(cuda, cublasCreate(&cuda->blas));
    if (!status) status = CUDA_CHECK(cuda, cudaMalloc(&cuda->blas_workspace, CUDA_BLAS_WORKSPACE));
    if (!status) status = CUDA_CHECK_BLAS(cuda, cublasSetStream(cuda->blas, cuda->compute));
    if (!status)
        status = CUDA_CHECK_BLAS(cuda, cublasSetWorkspace(cuda->blas, cuda->blas_workspace,
                                                          CUDA_BLAS_WORKSPACE));
    // float32 means float32: no TF32, whatever the environment.
    if (!status)
        status = CUDA_CHECK_BLAS(cuda, cublasSetMathMode(cuda->blas, CUBLAS_PEDANTIC_MATH));
    return status;
}

static void close_device(CudaDevice *cuda) {
    if (cuda->blas) cublasDestroy(cuda->blas);
    cudaFree(cuda->blas_workspace);
    cudaFree(cuda->findings);
    cuda_ring_free(cuda);
    cuda_stamps_free(cuda);
    if (cuda->compute) cudaStreamDestroy(cuda->compute);
    memset(cuda, 0, sizeof *cuda);
}

static Status open_device(CudaDevice *cuda) {
    size_t bytes = sizeof *cuda->findings;
    Status status = CUDA_CHECK(cuda, cudaSetDevice(cuda->index));
    if (!status)
        status = CUDA_CHECK(cuda, cudaStreamCreateWithFlags(&cuda->compute, cudaStreamNonBlocking));
    if (!status) status = CUDA_CHECK(cuda, cudaMalloc((void **)&cuda->findings, bytes));
    if (!status)
        status = CUDA_CHECK(cuda, cudaMemsetAsync(cuda->findings, 0, bytes, cuda->compute));
    if (!status) status = cuda_ring_new(cuda);
    return status ? status : open_blas(cuda);
}

static bool is_set(const char *variable, const char *value) {
    const char *text = getenv(variable);
    return text && strcmp(text, value) == 0;
}

EXPORT uint64_t ridgepoint_plugin_abi(void);
uint64_t ridgepoint_plugin_abi(void) { return plugin_abi(); }

EXPORT Status ridgepoint_plugin_open(const PluginHost *host, Device **device, char *about,
                                     size_t size);
Status ridgepoint_plugin_open(const PluginHost *host, Device **device, char *about, size_t size) {
    static bool follows_forks;
    CudaDevice *cuda = &the_device;
    Status status = cuda_find_gpu(host);
    if (status) return status;
    *cuda = (CudaDevice){.device = table,
                         .host = host,
                         .raw = is_set("RIDGEPOINT_ALLOC", "raw"),
                         .synchronous = is_set("RIDGEPOINT_CUDA_SYNC", "1")};
    cuda->device.uncached = is_set("RIDGEPOINT_CUDA_ALLOC", "raw");
    status = open_device(cuda);
    if (!status) status = cuda_describe(cuda, about, size);
    if (status) {
        if (status == STATUS_OUT_OF_MEMORY) cuda_say_full(cuda);
        close_device(cuda);
        return status;
    }
    if (cuda_ranges_open) cuda_ranges_open(cuda);
    if (!follows_forks) follows_forks = pthread_atfork(NULL, NULL, forget_gpu) == 0;
    *device = &cuda->device;
    return STATUS_OK;
}
