// cuda.h -- internal to cuda/: the device, and the conventions for kernels. A kernel stands beside
// its launcher, in a dialect that nvcc compiles for the GPU and g++ for the emulator of the tests:
// LAUNCH instead of <<<>>>, no inline PTX, no cooperative groups, per-element formulas from
// tensor/math.h.
//
//     __global__ static void relu(const float *x, float *y, int64_t n) { // y (n) = max(x (n), 0)
//         int64_t i = GLOBAL_INDEX;
//         if (i < n) y[i] = math_relu(x[i]);
//     }
//     CUDA_OP(relu) {
//         int64_t n = call_numel(call);
//         return CUDA_LAUNCH(relu, cuda_grid(n), CUDA_BLOCK, 0, call_in(call, 0), call_out(call,
//         0), n);
//     }
#ifndef CUDA_CUDA_H
#define CUDA_CUDA_H

#include <cublas_v2.h>
#include <cuda_runtime.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "tensor/plugin.h"

enum { CUDA_PINNED_SLOTS = 4, CUDA_PINNED_BYTES = 2 << 20 }; // of copy.c's ring; of a slot
enum { CUDA_BLAS_WORKSPACE = 32 << 20 };

typedef struct CudaStamp {
    cudaEvent_t event;
    bool passed; // recorded since the stamps were reserved
} CudaStamp;

typedef struct CudaStamps {
    CudaStamp *stamps; // in host memory
    int64_t capacity, made, reserved;
    cudaEvent_t base[2];      // base[0] is tied to the host's clock; base[1] is for trials
    int64_t base_nanoseconds; // time of tensor/clock.h when the device passed base[0]
} CudaStamps;

typedef struct CudaDevice {
    Device device; // first: the table that the program sees
    const PluginHost *host;
    const OpCall *call;   // the call being launched, NULL between ops
    int index;            // number of the GPU
    char identity[224];   // text of Device.identity
    int64_t cache_bytes;  // size of the GPU's last-level cache
    cudaStream_t compute; // kernels, products and copies, in order
    cublasHandle_t blas;  // on the compute stream
    void *blas_workspace; // 32 MiB: set again after every cublasSetStream
    char *pinned;         // staging for copies from and to pageable memory: a ring of slots
    int pinned_next;      // the least recently used slot
    cudaEvent_t pinned_free[CUDA_PINNED_SLOTS]; // event after the last copy through each slot
    unsigned long long *findings; // one number on the device: 0, or the error that a kernel found
    void *scratch;                // for reductions in two passes
    size_t scratch_bytes;
    CudaStamps stamps;
    void *ranges;     // NVTX domain; NULL: no tool is attached, or built without NVTX
    bool raw;         // RIDGEPOINT_ALLOC=raw: scratch has just the size asked, for memory checkers
    bool synchronous; // RIDGEPOINT_CUDA_SYNC=1: wait after each launch, and name the kernel
    bool dead;        // a sticky error occurred: nothing works any more in this process
    char cause[160];  // the cause of death, for later calls
} CudaDevice;

// The launcher of an op; device.c has the table of them.
typedef Status (*CudaKernel)(const OpCall *call, CudaDevice *cuda);

// ---- errors ------------------------------------------------------------------------------------
// STATUS_OK, or a message with call, file, line, op and layer; a sticky one marks the device dead.
Status cuda_check(CudaDevice *cuda, cudaError_t error, const char *what, const char *file,
                  int line);
Status cuda_check_blas(CudaDevice *cuda, cublasStatus_t status, const char *what, const char *file,
                       int line);
#define CUDA_CHECK(cuda, expression) cuda_check(cuda, (expression), #expression, __FILE__, __LINE__)
#define CUDA_CHECK_BLAS(cuda, expression)                                                          \
    cuda_check_blas(cuda, (expression), #expression, __FILE__, __LINE__)
// Records an error that nobody will report, in case it killed the device.
void cuda_note(CudaDevice *cuda, cudaError_t error);
// After a launch: whether it was accepted (and, with RIDGEPOINT_CUDA_SYNC=1, ended well).
Status cuda_launched(CudaDevice *cuda, const char *kernel, const char *file, int line);

// ---- the GPU found, and its memory -------------------------------------------------------------
Status cuda_find_gpu(const PluginHost *host); // a GPU, and a driver that supports CUDA
// Finds out for an open device: its text for --devices, its identity, its cache size.
Status cuda_describe(CudaDevice *cuda, char *about, size_t size);
Status cuda_memory(CudaDevice *cuda, DeviceMemory *memory);
void cuda_say_full(CudaDevice *cuda); // replaces the pending error

// ---- errors that kernels find ------------------------------------------------------------------
// An out-of-range label or index, or an int64 divisor of 0. The host does not wait for it:
// *findings holds the last one, reported when values are next read. Its place is above bit 16; the
// lower bits are 1 + the op's id, and CUDA_FOUND_ZERO for a divisor.
enum { CUDA_FOUND_ZERO = 1 << 15 };

// ---- scratch -----------------------------------------------------------------------------------
// At least `bytes` on the device, until the next op; NULL with an error pending. Ask once per op: a
// second call may move it. It doubles to grow (raw: has exactly these bytes); no op's cost counts
// it.
void *cuda_scratch(CudaDevice *cuda, size_t bytes);

// ---- copying ------------------------------------------------------------------------------------
// Copies run in order with the kernels. Pageable host memory is staged, so it may be reused at
// return; copies to the host are complete at return.
Status cuda_ring_new(CudaDevice *cuda); // the staging memory; freed with the device
void cuda_ring_free(CudaDevice *cuda);
Status cuda_from_host(CudaDevice *cuda, void *to, const void *from, size_t bytes);
Status cuda_to_host(CudaDevice *cuda, void *to, const void *from, size_t bytes);
Status cuda_clear(CudaDevice *cuda, const Tensor *t); // fills a dense tensor with zeros

// ---- time --------------------------------------------------------------------------------------
// These implement the slots of device.h with the same names.
enum { CUDA_MOST_STAMPS = 1 << 20 };
Status cuda_stamps_reserve(CudaDevice *cuda, int64_t count);
Status cuda_stamp(CudaDevice *cuda, int64_t index);
Status cuda_stamps_read(CudaDevice *cuda, int64_t count, int64_t *nanoseconds);
void cuda_stamps_free(CudaDevice *cuda);
Status cuda_hold(CudaDevice *cuda, int64_t nanoseconds);

// NVTX. Weak: NULL if built without its headers. Call the last two only if cuda->ranges is set.
void cuda_ranges_open(CudaDevice *cuda) __attribute__((weak));
void cuda_range_begin(CudaDevice *cuda, const OpCall *call) __attribute__((weak));
void cuda_range_end(CudaDevice *cuda) __attribute__((weak));

// ---- launching ---------------------------------------------------------------------------------
enum { CUDA_BLOCK = 256, CUDA_WARP = 32 };
#ifdef __cplusplus
}

// op: OP_*, and CUDA_FOUND_ZERO if it applies; place: index for the message.
static __device__ inline void cuda_note_finding(unsigned long long *findings, int op,
                                                int64_t place) {
    atomicMax(findings, (unsigned long long)place << 16 | (unsigned long long)(1 + op));
}

static inline int64_t *cuda_indices(const Tensor *t) { return (int64_t *)(void *)tensor_raw(t); }
static inline const float *input_or_null(const OpCall *call, int i) {
    return call->in[i] ? call_in(call, i) : NULL;
}
// Whether four floats can be moved at a time.
static inline bool is_wide(const void *data) { return (uintptr_t)data % sizeof(float4) == 0; }

// At least one block, at most CUDA_MOST_BLOCKS (which the tests make small): the kernel loops over
// the rest.
static inline unsigned cuda_blocks(int64_t blocks) {
    const int64_t most = CUDA_MOST_BLOCKS;
    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}
// Blocks of CUDA_BLOCK threads for n items; a kernel that may get more items than threads loops
// with GRID_STRIDE.
static inline unsigned cuda_grid(int64_t n) {
    return cuda_blocks((n + CUDA_BLOCK - 1) / CUDA_BLOCK);
}

#define GLOBAL_INDEX ((int64_t)blockIdx.x * (int64_t)blockDim.x + (int64_t)threadIdx.x)
#define GRID_STRIDE ((int64_t)gridDim.x * (int64_t)blockDim.x)

// LAUNCH(kernel, grid, block, shared bytes, stream, arguments...) and CUDA_MOST_BLOCKS come from
// launch_nvcc.h or from tests/emulator/launch_emulator.h; a rules.mk includes one of them before
// anything else.
#define CUDA_LAUNCH(kernel, grid, block, shared, ...)                                              \
    (LAUNCH(kernel, grid, block, shared, cuda->compute, __VA_ARGS__),                              \
     cuda_launched(cuda, #kernel, __FILE__, __LINE__))
// Defines the launcher of an op: CUDA_OP(relu) { ... uses call and cuda ... }
#define CUDA_OP(name)                                                                              \
    extern "C" Status name##_cuda(const OpCall *call, CudaDevice *cuda);                           \
    extern "C" Status name##_cuda([[maybe_unused]] const OpCall *call,                             \
                                  [[maybe_unused]] CudaDevice *cuda)
#endif

#endif
