// device.c -- the CUDA device: what the program's table of devices gets from this plug-in. Kernels
// are in the .cu files, each beside its launcher; here is the table of them.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"

#define EXPORT __attribute__((visibility("default")))

// tensor_raw, inline in a header, asks for this table; the plug-in links nothing of the program.
const uint8_t dtype_sizes[DTYPE_COUNT] = {
#define DTYPE_SIZE(name, text, size) size,
    DTYPE_LIST(DTYPE_SIZE)
#undef DTYPE_SIZE
};

// ---- kernels -----------------------------------------------------------------------------------
// Weak: an op without a launcher has a NULL slot, and says so when it is run.
#define CUDA_DECLARE(name)                                                                         \
    extern Status name##_cuda(const OpCall *call, CudaDevice *cuda) __attribute__((weak));
#define CUDA_NONE(name)
OP_LIST(CUDA_DECLARE, CUDA_NONE)

static const CudaKernel kernels[OP_COUNT] = {
#define CUDA_ENTRY(name) [OP_##name] = name##_cuda,
    OP_LIST(CUDA_ENTRY, CUDA_NONE)
#undef CUDA_ENTRY
};

// ---- one at a time -----------------------------------------------------------------------------
// Threads may share the device: its stream, scratch and staging ring are one, so they take turns.
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;
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
    pthread_mutex_init(&turn, NULL); // another thread of the parent may have held it
}

// ---- the table ---------------------------------------------------------------------------------
static Status device_run(Device *self, const OpCall *call) {
    CudaDevice *cuda = enter(self, call);
    if (!cuda) return STATUS_DEVICE;
    CudaKernel kernel = kernels[call->op->id];
    if (kernel) return leave(kernel(call, cuda));
    return leave(cuda->host->op_error(call, STATUS_NOT_IMPLEMENTED,
                                      "has no kernel on %s. HINT: use the cpu device", self->name));
}

// No error when memory is out: the ledger gives back what it keeps, and asks once more.
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

// Nobody waits for an answer here; an error that cudaFree met is met again at the next call.
static void device_release(Device *self, void *data, size_t bytes) {
    (void)bytes;
    CudaDevice *cuda = (CudaDevice *)self;
    pthread_mutex_lock(&turn);
    cudaError_t error = cuda->dead ? cudaSuccess : cudaFree(data);
    if (error) cuda_note(cuda, error);
    pthread_mutex_unlock(&turn);
}

// Scratch and the products' workspace belong to the device, whatever op runs.
static int64_t device_workspace(Device *self, const OpCall *call) {
    (void)self, (void)call;
    return 0;
}

static Status device_from_host(Device *self, void *to, const void *from, size_t bytes) {
    CudaDevice *cuda = enter(self, NULL);
    return cuda ? leave(cuda_from_host(cuda, to, from, bytes)) : STATUS_DEVICE;
}

// What a kernel found wrong (a label, an index) is told when values are next read: asking after
// each op would wait for each. The low 16 bits say which op, counted from 1, the others where.
static Status tell_findings(CudaDevice *cuda) {
#define CUDA_NAME(name) #name,
    static const char *const names[OP_COUNT] = {OP_LIST(CUDA_NAME, CUDA_NAME)};
#undef CUDA_NAME
    int64_t found = 0;
    Status status = cuda_to_host(cuda, &found, cuda->scratch_status, sizeof found);
    if (status || found == 0) return status;
    status =
        CUDA_CHECK(cuda, cudaMemsetAsync(cuda->scratch_status, 0, sizeof found, cuda->compute));
    int64_t op = (found & 0xffff) - 1;
    if (status) return status;
    return cuda->host->error_set(
        STATUS_INVALID_ARGUMENT,
        "%s: an index or label is out of range (the last one found: at %lld). HINT: indices count "
        "from 0; on cuda this is told when values are next read",
        op >= 0 && op < OP_COUNT ? names[op] : "an op", (long long)(found >> 16));
}

static Status device_to_host(Device *self, void *to, const void *from, size_t bytes) {
    CudaDevice *cuda = enter(self, NULL);
    if (!cuda) return STATUS_DEVICE;
    Status status = cuda_to_host(cuda, to, from, bytes);
    return leave(status ? status : tell_findings(cuda));
}

static Status device_wait(Device *self) {
    CudaDevice *cuda = enter(self, NULL);
    return cuda ? leave(CUDA_CHECK(cuda, cudaStreamSynchronize(cuda->compute))) : STATUS_DEVICE;
}

static const Device table = {.name = "cuda",
                             .has_data = true,
                             .allocate = device_allocate,
                             .release = device_release,
                             .run = device_run,
                             .workspace = device_workspace,
                             .from_host = device_from_host,
                             .to_host = device_to_host,
                             .synchronize = device_wait};

// ---- scratch -----------------------------------------------------------------------------------
void *cuda_scratch(CudaDevice *cuda, size_t bytes) {
    if (bytes == cuda->scratch_bytes || (bytes < cuda->scratch_bytes && !cuda->raw))
        return cuda->scratch;
    size_t grown = cuda->scratch_bytes ? 2 * cuda->scratch_bytes : (size_t)1 << 20;
    if (grown < bytes || cuda->raw) grown = bytes;
    void *old = cuda->scratch;
    cuda->scratch = NULL;
    cuda->scratch_bytes = 0;
    // cudaFree waits for the kernels that still use the old one.
    if (CUDA_CHECK(cuda, cudaFree(old))) return NULL;
    if (CUDA_CHECK(cuda, cudaMalloc(&cuda->scratch, grown))) return NULL;
    cuda->scratch_bytes = grown;
    return cuda->scratch;
}

// ---- opening -----------------------------------------------------------------------------------
enum { BLAS_WORKSPACE = 32 << 20 };

static void version_text(int version, char text[16]) {
    snprintf(text, 16, "%d.%d", version / 1000, version % 1000 / 10);
}

// Is there a GPU, and a driver that knows this CUDA?
static Status find_gpu(const PluginHost *host) {
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

static Status open_blas(CudaDevice *cuda) {
    Status status = CUDA_CHECK_BLAS(cuda, cublasCreate(&cuda->blas));
    if (!status) status = CUDA_CHECK(cuda, cudaMalloc(&cuda->blas_workspace, BLAS_WORKSPACE));
    if (!status) status = CUDA_CHECK_BLAS(cuda, cublasSetStream(cuda->blas, cuda->compute));
    if (!status)
        status = CUDA_CHECK_BLAS(cuda, cublasSetWorkspace(cuda->blas, cuda->blas_workspace,
                                                          BLAS_WORKSPACE));
    // float32 means float32: no TF32, whatever the environment says.
    if (!status)
        status = CUDA_CHECK_BLAS(cuda, cublasSetMathMode(cuda->blas, CUBLAS_PEDANTIC_MATH));
    return status;
}

static void close_device(CudaDevice *cuda) {
    if (cuda->blas) cublasDestroy(cuda->blas);
    cudaFree(cuda->blas_workspace);
    cudaFree(cuda->scratch_status);
    cuda_ring_free(cuda);
    if (cuda->compute) cudaStreamDestroy(cuda->compute);
    memset(cuda, 0, sizeof *cuda);
}

static Status open_device(CudaDevice *cuda) {
    size_t bytes = sizeof *cuda->scratch_status;
    Status status = CUDA_CHECK(cuda, cudaSetDevice(cuda->index));
    if (!status)
        status = CUDA_CHECK(cuda, cudaStreamCreateWithFlags(&cuda->compute, cudaStreamNonBlocking));
    if (!status) status = CUDA_CHECK(cuda, cudaMalloc((void **)&cuda->scratch_status, bytes));
    if (!status)
        status = CUDA_CHECK(cuda, cudaMemsetAsync(cuda->scratch_status, 0, bytes, cuda->compute));
    if (!status) status = cuda_ring_new(cuda);
    return status ? status : open_blas(cuda);
}

static Status describe(CudaDevice *cuda, char *about, size_t size) {
    struct cudaDeviceProp gpu;
    int known = 0;
    char driver[16];
    Status status = CUDA_CHECK(cuda, cudaGetDeviceProperties(&gpu, cuda->index));
    if (!status) status = CUDA_CHECK(cuda, cudaDriverGetVersion(&known));
    if (status) return status;
    version_text(known, driver);
    snprintf(about, size, "%s, %.0f GB, compute capability %d.%d, driver for CUDA %s", gpu.name,
             (double)gpu.totalGlobalMem / 1e9, gpu.major, gpu.minor, driver);
    return STATUS_OK;
}

static bool environment_is(const char *name, const char *value) {
    const char *text = getenv(name);
    return text && strcmp(text, value) == 0;
}

EXPORT uint64_t ridgepoint_plugin_abi(void);
uint64_t ridgepoint_plugin_abi(void) { return plugin_abi(); }

EXPORT Status ridgepoint_plugin_open(const PluginHost *host, Device **device, char *about,
                                     size_t size);
Status ridgepoint_plugin_open(const PluginHost *host, Device **device, char *about, size_t size) {
    static bool follows_forks;
    CudaDevice *cuda = &the_device;
    Status status = find_gpu(host);
    if (status) return status;
    *cuda = (CudaDevice){.device = table,
                         .host = host,
                         .raw = environment_is("RIDGEPOINT_ALLOC", "raw"),
                         .synchronous = environment_is("RIDGEPOINT_CUDA_SYNC", "1")};
    status = describe(cuda, about, size);
    if (!status) status = open_device(cuda);
    if (status) {
        close_device(cuda);
        return status;
    }
    if (!follows_forks) follows_forks = pthread_atfork(NULL, NULL, forget_gpu) == 0;
    *device = &cuda->device;
    return STATUS_OK;
}
