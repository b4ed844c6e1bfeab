// events.c -- time stamps of the device: a pool of CUDA events on the compute stream, converted to
// the host's clock. The profiler decides what to stamp (profiler/record/timeline.c).
#include "cuda/cuda.h"
#include "tensor/clock.h"

enum { ALIGNMENTS = 5 };

// ---- the pool ----------------------------------------------------------------------------------
static Status make_events(CudaDevice *cuda, int64_t count) {
    CudaStamps *pool = &cuda->stamps;
    if (count > pool->capacity) {
        CudaStamp *grown =
            cuda->host->memory_resize(pool->stamps, (size_t)pool->capacity * sizeof *grown,
                                      (size_t)count * sizeof *grown);
        if (!grown) return STATUS_OUT_OF_MEMORY;
        pool->stamps = grown;
        pool->capacity = count;
    }
    for (; pool->made < count; pool->made++) {
        pool->stamps[pool->made] = (CudaStamp){0};
        Status status = CUDA_CHECK(cuda, cudaEventCreate(&pool->stamps[pool->made].event));
        if (status) return status; // events made so far stay for the next request
    }
    for (int i = 0; i < 2; i++) {
        Status status =
            pool->base[i] ? STATUS_OK : CUDA_CHECK(cuda, cudaEventCreate(&pool->base[i]));
        if (status) return status;
    }
    return STATUS_OK;
}

// The device passes an event between the host's readings before and after; we take the middle,
// which is wrong by at most half the interval. On an idle device the interval is some 5 us, nearly
// all of it the way back; so the device is made idle, and the narrowest of a few tries is used. The
// clocks drift apart by microseconds a second: reserve anew now and then on long runs.
static Status align(CudaDevice *cuda) {
    CudaStamps *pool = &cuda->stamps;
    Status status = CUDA_CHECK(cuda, cudaStreamSynchronize(cuda->compute));
    int64_t least = INT64_MAX;
    for (int i = 0; i < ALIGNMENTS && !status; i++) {
        cudaEvent_t tried = pool->base[1];
        int64_t before = clock_nanoseconds();
        status = CUDA_CHECK(cuda, cudaEventRecord(tried, cuda->compute));
        if (!status) status = CUDA_CHECK(cuda, cudaEventSynchronize(tried));
        int64_t between = clock_nanoseconds() - before;
        if (status || between >= least) continue;
        least = between;
        pool->base_nanoseconds = before + between / 2;
        pool->base[1] = pool->base[0];
        pool->base[0] = tried;
    }
    return status;
}

Status cuda_stamps_reserve(CudaDevice *cuda, int64_t count) {
    CudaStamps *pool = &cuda->stamps;
    pool->reserved = 0;
    if (count < 0 || count > CUDA_MOST_STAMPS)
        return cuda->host->error_set(STATUS_INVALID_ARGUMENT,
                                     "cuda: %lld time stamps. HINT: from 0 to %d, and read them in "
                                     "between",
                                     (long long)count, CUDA_MOST_STAMPS);
    Status status = make_events(cuda, count);
    if (!status) status = align(cuda);
    if (status) return status;
    for (int64_t i = 0; i < count; i++) pool->stamps[i].passed = false;
    pool->reserved = count;
    return STATUS_OK;
}

void cuda_stamps_free(CudaDevice *cuda) {
    CudaStamps *pool = &cuda->stamps;
    for (int64_t i = 0; i < pool->made; i++) cudaEventDestroy(pool->stamps[i].event);
    for (int i = 0; i < 2; i++)
        if (pool->base[i]) cudaEventDestroy(pool->base[i]);
    cuda->host->memory_free(pool->stamps);
    *pool = (CudaStamps){0};
}

// ---- stamping ----------------------------------------------------------------------------------
Status cuda_stamp(CudaDevice *cuda, int64_t index) {
    CudaStamps *pool = &cuda->stamps;
    if (index < 0 || index >= pool->reserved)
        return cuda->host->error_set(STATUS_INVALID_ARGUMENT,
                                     "cuda: time stamp %lld of %lld. HINT: stamps_reserve more",
                                     (long long)index, (long long)pool->reserved);
    CudaStamp *stamp = &pool->stamps[index];
    Status status = CUDA_CHECK(cuda, cudaEventRecord(stamp->event, cuda->compute));
    stamp->passed = !status;
    return status;
}

// CUDA gives differences in milliseconds, as float: for stamps a second apart, steps are 60 ns. So
// each stamp is compared with the previous one, and the differences are added in double.
Status cuda_stamps_read(CudaDevice *cuda, int64_t count, int64_t *nanoseconds) {
    CudaStamps *pool = &cuda->stamps;
    for (int64_t i = 0; i < count; i++)
        if (i >= pool->reserved || !pool->stamps[i].passed)
            return cuda->host->error_set(STATUS_STATE,
                                         "cuda: time stamp %lld of %lld was never taken. HINT: "
                                         "somebody else may have reserved them since",
                                         (long long)i, (long long)count);
    Status status = CUDA_CHECK(cuda, cudaStreamSynchronize(cuda->compute));
    cudaEvent_t before = pool->base[0];
    double since = 0.0; // nanoseconds since the base, which precedes all stamps
    for (int64_t i = 0; i < count && !status; i++) {
        float milliseconds = 0.0f;
        cudaEvent_t event = pool->stamps[i].event;
        status = CUDA_CHECK(cuda, cudaEventElapsedTime(&milliseconds, before, event));
        since += 1e6 * (double)milliseconds;
        nanoseconds[i] = pool->base_nanoseconds + (int64_t)(since + 0.5);
        before = event;
    }
    return status;
}

// ---- holding -----------------------------------------------------------------------------------
// Sleeps in a thread of the driver, so the core is free for the thread that launches.
static void CUDART_CB sleep_until(void *nanoseconds) {
    int64_t until = (int64_t)(intptr_t)nanoseconds;
    struct timespec moment = {.tv_sec = until / 1000000000, .tv_nsec = until % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &moment, NULL); // a signal may end it early
}

// If the queue fills up before the time is over, launching waits, and then everything continues.
Status cuda_hold(CudaDevice *cuda, int64_t nanoseconds) {
    void *until = (void *)(intptr_t)(clock_nanoseconds() + nanoseconds);
    return CUDA_CHECK(cuda, cudaLaunchHostFunc(cuda->compute, sleep_until, until));
}
