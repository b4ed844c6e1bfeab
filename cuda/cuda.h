// cuda.h -- internal to cuda/: the device, and how its kernels are written. A kernel stands beside
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

enum { CUDA_PINNED_SLOTS = 4, CUDA_PINNED_BYTES = 2 << 20 }; // of the ring in copy.c, and of each
enum { CUDA_BLAS_WORKSPACE = 32 << 20 };

typedef struct CudaStamp {
    cudaEvent_t event;
    bool passed; // recorded since the stamps were reserved
} CudaStamp;

typedef struct CudaStamps {
    CudaStamp *stamps; // of the host's memory
    int64_t capacity, made, reserved;
    cudaEvent_t base[2];      // the first is on the host's clock; the second for trying
    int64_t base_nanoseconds; // of tensor/clock.h, when the device passed the first
} CudaStamps;

typedef struct CudaDevice {
    Device device; // first: the table that the program sees
    const PluginHost *host;
    const OpCall *call;   // the one that is being launched, NULL between ops
    int index;            // of the GPU
    char identity[224];   // what Device.identity points at
    int64_t cache_bytes;  // of the GPU's last cache
    cudaStream_t compute; // kernels, products and copies, in order
    cublasHandle_t blas;  // on the compute stream
    void *blas_workspace; // 32 MiB: set again after every cublasSetStream
    char *pinned;         // staging for copies from and to pageable memory: a ring of slots
    int pinned_next;      // the slot that was used longest ago
    cudaEvent_t pinned_free[CUDA_PINNED_SLOTS]; // the last copy through that slot is over
    unsigned long long *findings; // one, on the device: 0, or what a kernel found wrong
    void *scratch;                // for reductions in two passes
    size_t scratch_bytes;
    CudaStamps stamps;
    void *ranges;     // NVTX domain; NULL: no tool is attached, or NVTX was not there to build with
    bool raw;         // RIDGEPOINT_ALLOC=raw: scratch is no longer than asked, for memory checkers
    bool synchronous; // RIDGEPOINT_CUDA_SYNC=1: wait after each launch, and name the kernel
    bool dead;        // a sticky error: nothing works any more in this process
    char cause[160];  // of death, for later calls
} CudaDevice;

// What an op's launcher is; the table of them is in device.c.
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
// Takes note of an error that nobody will report: is the device dead?
void cuda_note(CudaDevice *cuda, cudaError_t error);
// After a launch: was it accepted (and, with RIDGEPOINT_CUDA_SYNC=1, did it end well)?
Status cuda_launched(CudaDevice *cuda, const char *kernel, const char *file, int line);

// ---- what there is -----------------------------------------------------------------------------
Status cuda_find_gpu(const PluginHost *host); // a GPU, and a driver that knows this CUDA
// Of the open device: what --devices says of it, its identity, its cache.
Status cuda_describe(CudaDevice *cuda, char *about, size_t size);
Status cuda_memory(CudaDevice *cuda, DeviceMemory *memory);
void cuda_say_full(CudaDevice *cuda); // instead of the error that is pending

// ---- what a kernel finds wrong -----------------------------------------------------------------
// A label or an index out of range, or a 0 that a whole number is divided by. The host does not
// wait for it: the last one is in *findings, and told when values are next read. Its place is above
// 16 bits; below are 1 + the op's id, and which of the two it is.
enum { CUDA_FOUND_ZERO = 1 << 15 };

// ---- scratch -----------------------------------------------------------------------------------
// At least `bytes` on the device, until the next op; NULL with an error pending. Ask once per op: a
// second call may move it. Grows by doubling (raw: has exactly these bytes); no part of any op's
// cost.
void *cuda_scratch(CudaDevice *cuda, size_t bytes);

// ---- copying ------------------------------------------------------------------------------------
// In order with the kernels. From pageable memory it is staged, and may be overwritten at return;
// to the host the bytes are there at return.
Status cuda_ring_new(CudaDevice *cuda); // the staging memory; freed with the device
void cuda_ring_free(CudaDevice *cuda);
Status cuda_from_host(CudaDevice *cuda, void *to, const void *from, size_t bytes);
Status cuda_to_host(CudaDevice *cuda, void *to, const void *from, size_t bytes);
Status cuda_clear(CudaDevice *cuda, const Tensor *t); // a dense one: to zeros

// ---- time --------------------------------------------------------------------------------------
// What device.h says of the slots of these names.
enum { CUDA_MOST_STAMPS = 1 << 20 };
Status cuda_stamps_reserve(CudaDevice *cuda, int64_t count);
Status cuda_stamp(CudaDevice *cuda, int64_t index);
Status cuda_stamps_read(CudaDevice *cuda, int64_t count, int64_t *nanoseconds);
void cuda_stamps_free(CudaDevice *cuda);
Status cuda_hold(CudaDevice *cuda, int64_t nanoseconds);

// NVTX. Weak: NULL where its headers were not there. The last two only with cuda->ranges.
void cuda_ranges_open(CudaDevice *cuda) __attribute__((weak));
void cuda_range_begin(CudaDevice *cuda, const OpCall *call) __attribute__((weak));
void cuda_range_end(CudaDevice *cuda) __attribute__((weak));

// ---- launching ---------------------------------------------------------------------------------
enum { CUDA_BLOCK = 256, CUDA_WARP = 32 };
#ifdef __cplusplus
}

// op: OP_*, and CUDA_FOUND_ZERO; place: where, for the message.
static __device__ inline void cuda_note_finding(unsigned long long *findings, int op,
                                                int64_t place) {
    atomicMax(findings, (unsigned long long)place << 16 | (unsigned long long)(1 + op));
}

static inline int64_t *cuda_indices(const Tensor *t) { return (int64_t *)(void *)tensor_raw(t); }
static inline const float *input_or_null(const OpCall *call, int i) {
    return call->in[i] ? call_in(call, i) : NULL;
}
// May four floats be moved at a time?
static inline bool is_wide(const void *data) { return (uintptr_t)data % sizeof(float4) == 0; }

// At least one block, at most CUDA_MOST_BLOCKS (which the tests make small): the kernel loops over
// what is left.
static inline unsigned cuda_blocks(int64_t blocks) {
    const int64_t most = CUDA_MOST_BLOCKS;
    return (unsigned)(blocks < 1 ? 1 : blocks < most ? blocks : most);
}
// Blocks of CUDA_BLOCK threads for n items: a kernel that may get more items than threads loops
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
