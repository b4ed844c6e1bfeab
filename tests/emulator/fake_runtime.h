// fake_runtime.h -- a CUDA runtime and a cuBLAS that live on the CPU and expect the worst: linked
// in place of NVIDIA's libraries, under NVIDIA's own headers. This header is what it offers to
// tests beside NVIDIA's functions; it says nothing about how fast a GPU is.
//
// Memory.  Device memory is NaN (bytes 0xff) when allocated and again when freed, lies on 256
// bytes and no better, and stands between guards that are checked after every kernel, when it is
// freed and when the process ends. It can be touched only by work that runs on a stream: the host
// that follows a device pointer dies of SIGSEGV, as it would beside a real GPU. (A test whose host
// and kernels share a buffer takes cudaMallocHost or malloc.)
// Streams.  Work waits in its stream until somebody waits for it: cudaStreamSynchronize and its
// like, a copy to pageable memory, cudaFree, or an event that was queried often enough. Until then
// the results are NaN, and a pinned buffer is not yet read. Work of streams that nobody orders
// runs as late as it can, so that a missing wait shows every time. What CUDA leaves open is taken
// the unkind way: cudaMemcpy from pageable memory returns before its data arrive, and no call waits
// for a non-blocking stream unless its documentation promises so.
// Errors.  Whatever is wrong gets the error code of the real library and a sentence about it from
// fake_last_fault(). Sticky ones (700, 719, ...) make every later call fail, until fake_reset.
//
// Read at the first call, and again by fake_reset():
//     RIDGEPOINT_FAKE_CUDA_STREAMS=late|reversed|eager
//     RIDGEPOINT_FAKE_CUDA_MEMORY=bytes
//     RIDGEPOINT_FAKE_CUDA_DRIVER=35, RIDGEPOINT_FAKE_CUDA_DEVICES=0       as the functions below
//     RIDGEPOINT_FAKE_CUDA_FAIL=cudaMalloc:7:2     the 7th call and all after it return error 2
//     RIDGEPOINT_FAKE_CUDA_FAIL=cudaMalloc:7:2:1,kernel:9:700       one call; the 9th kernel dies
#ifndef TESTS_EMULATOR_FAKE_RUNTIME_H
#define TESTS_EMULATOR_FAKE_RUNTIME_H

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

// Forgets everything: pending work, memory, streams, events, handles, errors, counts, settings.
void fake_reset(void);

// ---- the machine -------------------------------------------------------------------------------
void fake_set_memory(size_t bytes); // of all devices together; default 1 GiB
void fake_set_devices(int count);   // default 1; with 0 every call is cudaErrorNoDevice (100)
// The error of every call: 35 without a driver, 34 for the stub library; 0: it works. From 1000 on
// the CUDA version of the driver: 12020 is 12.2, and every call returns 35 if that is too old.
void fake_set_driver(int error);

// ---- streams -----------------------------------------------------------------------------------
typedef enum FakeOrder {
    FAKE_LATE,     // as late as possible; cudaDeviceSynchronize runs the oldest stream first
    FAKE_REVERSED, // likewise, with the newest stream first
    FAKE_EAGER,    // at once, before the call that queues it returns
} FakeOrder;
void fake_set_streams(FakeOrder order);
// The number of queries of unfinished work that say cudaErrorNotReady before it is done; default 2.
void fake_set_polls(int polls);

// ---- the clock ---------------------------------------------------------------------------------
// Only work on streams takes time: kernels and cuBLAS calls `kernel` nanoseconds (5000), copies and
// memsets `copy` (2000) plus one per `bytes` bytes (10, which is 10 GB/s), rounded up; and
// functions of the host take `host` (0).
typedef struct FakeTimes {
    int64_t kernel, copy, bytes, host;
} FakeTimes;
void fake_set_times(FakeTimes times);
// Nanoseconds since fake_reset as the host sees them: the end of the latest work it waited for.
int64_t fake_clock(void);
// Keeps the host busy; work that it queues afterwards is queued later.
void fake_pass(int64_t nanoseconds);

// ---- failures ----------------------------------------------------------------------------------
// Call number `from` (1 is the first since fake_reset) of a function and all later ones return
// `error`, a cudaError_t or for a cublas function a cublasStatus_t. A requested failure has no
// effect, except that a releasing function does release. Three more names: cudaLaunchKernel is a
// launch that is refused, "kernel" a kernel that dies while it runs, and "any" counts the calls of
// all CUDA functions and launches (those of cuBLAS have other codes).
void fake_fail(const char *function, int64_t from, int error);
void fake_fail_once(const char *function, int64_t call, int error);
void fake_fail_never(void); // cancels both
int64_t fake_calls(const char *function);
// Writes the names of the first `most` functions ever called, including "cudaLaunchKernel",
// "kernel" and "any", in no order; returns the number of all. Valid until fake_reset.
int fake_functions(const char **names, int most);

// ---- errors ------------------------------------------------------------------------------------
const char *fake_last_fault(void); // a sentence about the latest error; "" when there was none
// Makes an error pending as if a kernel had met it; for the emulator. Inside running work the call
// that waits for the work returns it, outside cudaGetLastError.
void fake_fault(cudaError_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));

// ---- live objects ------------------------------------------------------------------------------
size_t fake_live_bytes(void); // of device memory, as requested
// The number of allocations (pinned ones too), streams, events and cuBLAS handles not yet released;
// writes one line for each to `file`, unless that is NULL.
int fake_leaks(FILE *file);

// ---- cuBLAS ------------------------------------------------------------------------------------
// The user's workspace of a handle, NULL after cublasCreate and after cublasSetStream; and the
// number of products that ran without one, for which the real library would have allocated memory.
void *fake_blas_workspace(cublasHandle_t handle);
int64_t fake_blas_without_workspace(void);

#ifdef __cplusplus
}
#include <functional>
// Puts a kernel into a stream; the emulator's LAUNCH macro calls it. cudaGetLastError reports a bad
// stream or a requested failure. `name` is only for messages.
void fake_enqueue(cudaStream_t stream, std::function<void()> work, const char *name = "a kernel");
#endif

#endif
