// fake_internal.h -- shared by the files of the fake CUDA runtime only.
#ifndef TESTS_EMULATOR_FAKE_INTERNAL_H
#define TESTS_EMULATOR_FAKE_INTERNAL_H

#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/emulator/fake_runtime.h"

namespace fake {

// ---- errors (fake_runtime.cpp) -----------------------------------------------------------------
// Every function for outside callers holds a lock; the first one ever reads the environment.
struct Lock {
    Lock();
    std::lock_guard<std::recursive_mutex> guard;
};
// Stands at the top of every function of the runtime: counts the call, and decides whether it may
// proceed. NOTHING: works without a driver and after a sticky error.
enum class Needs { DEVICE, NOTHING };
struct Call {
    explicit Call(const char *function, Needs needs = Needs::DEVICE);
    Lock lock;
    cudaError_t error = cudaSuccess;
};
#define FAKE_CALL()                                                                                \
    fake::Call call(__func__);                                                                     \
    if (call.error != cudaSuccess) return call.error

// The counterpart of Call for a function of cuBLAS.
struct BlasCall {
    explicit BlasCall(const char *function);
    Lock lock;
    cublasStatus_t status = CUBLAS_STATUS_SUCCESS;
};
#define FAKE_BLAS_CALL()                                                                           \
    fake::BlasCall call(__func__);                                                                 \
    if (call.status != CUBLAS_STATUS_SUCCESS) return call.status

// Records the error (and whether it is sticky) with a sentence, and returns it.
cudaError_t fail(cudaError_t error, const char *format, ...) __attribute__((format(printf, 2, 3)));
// Two steps of fail: the finder of a fault words it, then the caller picks the error code.
void set_fault(const char *format, ...) __attribute__((format(printf, 1, 2)));
cudaError_t refuse(cudaError_t error);
cudaError_t sticky();       // cudaSuccess while the context is usable
cudaError_t asynchronous(); // once: an error of running work; then a sticky error or cudaSuccess
// Counts one more call of `name`; returns the error that was requested for it, or 0.
int requested(const char *name);
int device_count();
int driver_version(); // 0 without a driver

// ---- addresses of device memory (fake_arena.cpp) -----------------------------------------------
struct Access { // device memory can be touched while one of these lives
    Access();
    ~Access();
};
bool in_arena(const void *pointer);
unsigned char *arena_take(size_t bytes); // under an Access; NULL when there is no room
void arena_give(unsigned char *begin, size_t bytes);
void reset_arena();

// ---- memory (fake_memory.cpp) ------------------------------------------------------------------
enum class Place { DEVICE, PINNED, PAGEABLE };
Place place_of(const void *pointer);
// True if `bytes` bytes from `pointer` lie in one live allocation, or in pageable memory, whose
// bounds are unknown. If not, the fault says so, starting with `what`.
bool in_bounds(const void *pointer, size_t bytes, const char *what);
// Checks the guards of all allocations, under an Access; a broken one is mended and becomes a
// sticky error that names its allocation. `who` is the likely writer.
void check_guards(const char *who);
void reset_memory(size_t limit);
size_t memory_limit();
int list_memory(FILE *file); // a part of fake_leaks, as are list_streams and list_blas

// ---- streams (fake_streams.cpp) ----------------------------------------------------------------
// The end of one piece of work in a stream. `stream` is valid until that is done.
struct Mark {
    cudaStream_t stream;
    bool done;
    int64_t end; // on the fake clock, once done
    int polls;   // number of queries that said "not done" so far
};
using MarkPointer = std::shared_ptr<Mark>;
struct Work {
    std::function<void()> run;
    std::string name;
    int64_t cost; // nanoseconds
    bool kernel;  // may be made to fail as "kernel"
};
bool running();                          // true if running work calls this
bool stream_exists(cudaStream_t stream); // true for NULL; for an unknown one a fault is set
// Puts work into a stream, to be done after `waits`, too; returns its end.
MarkPointer queue(cudaStream_t stream, Work work, std::vector<MarkPointer> waits = {});
MarkPointer last_of(cudaStream_t stream); // NULL when nothing was ever queued
// Makes the host wait; returns asynchronous(). NULL is done.
cudaError_t wait_for(MarkPointer mark);
cudaError_t wait_for_all();
cudaError_t query(MarkPointer mark, const char *what); // a few times cudaErrorNotReady, then waits
FakeTimes times();
void set_order(FakeOrder order);
void reset_streams();
int list_streams(FILE *file);

// ---- events (fake_events.cpp) ------------------------------------------------------------------
void reset_events();
int list_events(FILE *file);

// ---- cuBLAS (fake_cublas.cpp) ------------------------------------------------------------------
void reset_blas();
int list_blas(FILE *file);

} // namespace fake

#endif
