// machine_measure.c -- times products, ops and threads. machine_device.c adds the measurements that
// only a card needs.
#include "profiler/machine/machine_parts.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "profiler/base/statistics.h"
#include "tensor/clock.h"
#include "tensor/context.h"
#include "tensor/gemm.h"
#include "tensor/math.h"
#include "tensor/memory.h"
#include "tensor/ops.h"

static Status median_of(const double *samples, int n, double *median) {
    LatencyStatistics statistics;
    Status status = statistics_summarise(samples, n, &statistics);
    if (!status) *median = statistics.median;
    return status;
}

// ---- places ------------------------------------------------------------------------------------

typedef struct Placing {
    const cpu_set_t *processors;
    int threads;
    pthread_t caller;
    atomic_int placed;
} Placing;

static void place_here(const Placing *placing, int64_t nth) {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET(i, placing->processors) && nth-- == 0) CPU_SET(i, &one);
    sched_setaffinity(0, sizeof one, &one); // this thread only
}

// The caller goes last: otherwise the pool would give it the ranges of threads that are late.
static void place_range(void *argument, int64_t begin, int64_t end) {
    (void)end;
    const double patience = 0.1;
    Placing *placing = argument;
    bool caller = pthread_equal(pthread_self(), placing->caller);
    if (caller && begin > 0) return; // a range of a thread that never came
    double start = clock_seconds();
    while (caller && atomic_load(&placing->placed) < placing->threads - 1 &&
           clock_seconds() - start < patience)
        sched_yield();
    place_here(placing, begin);
    atomic_fetch_add(&placing->placed, 1);
}

// Work that is always divided, whatever its size.
static OpWork by_all(int64_t items, int64_t together) {
    return (OpWork){.items = items, .cost = 1e9, .together = together};
}

void machine_places_take(MachinePlaces *places) {
    int threads = context_current()->threads;
    bool known = sched_getaffinity(0, sizeof places->before, &places->before) == 0;
    places->taken = known && threads > 1 && threads == CPU_COUNT(&places->before);
    if (!places->taken) return;
    Placing placing = {&places->before, threads, pthread_self(), 0};
    cpu_parallel(by_all(threads, 1), place_range, &placing);
}

void machine_places_leave(const MachinePlaces *places) {
    if (places->taken) sched_setaffinity(0, sizeof places->before, &places->before);
}

// ---- scratch -----------------------------------------------------------------------------------

// Writes small numbers, none 0 or subnormal. Pages never written would all map to one zero page.
static void touch_range(void *argument, int64_t begin, int64_t end) {
    float *data = argument;
    for (int64_t i = begin; i < end; i++) data[i] = 1.0f + (float)(i % 13) * 0.125f;
}

Status machine_scratch_new(int64_t bytes, MachineScratch *scratch) {
    float *data = memory_request() ? memory_new_data((size_t)bytes) : NULL;
    if (!data)
        return error_set(STATUS_OUT_OF_MEMORY,
                         "machine: no room for %lld bytes to measure bandwidth in. HINT: free "
                         "memory, or give the ceilings with --peaks FILE",
                         (long long)bytes);
    *scratch = (MachineScratch){data, bytes};
    int64_t floats = bytes / (int64_t)sizeof(float);
    cpu_parallel(by_all(floats, 1 << 12), touch_range, data); // touched by its later users
    return STATUS_OK;
}

void machine_scratch_free(MachineScratch *scratch) {
    memory_free_data(scratch->data);
    *scratch = (MachineScratch){0};
}

// ---- peak --------------------------------------------------------------------------------------

static void product_run(void *argument, int64_t times) {
    for (int64_t i = 0; i < times; i++) gemm_run(argument, NULL, NULL);
}

Status machine_measure_peak(const MachineScratch *scratch, double seconds,
                            double *flops_per_second) {
    static const int64_t sizes[] = {256, 512, 1024};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    *flops_per_second = 0.0;
    for (int i = 0; i < SIZES; i++) {
        int64_t n = sizes[i];
        float *a = scratch->data, *b = a + n * n, *c = b + n * n;
        Gemm gemm = {.m = n, .n = n, .k = n, .a = a, .b = b, .c = c, .lda = n, .ldb = n, .ldc = n};
        double flops = 2.0 * (double)n * (double)n * (double)n;
        MachineTime once;
        // Without a fast BLAS, larger products take too long, and are no faster.
        if (i > 0 && flops / *flops_per_second > seconds / SIZES) break;
        Status status = machine_time(product_run, &gemm, seconds / SIZES, &once);
        if (status) return status;
        if (flops / once.device > *flops_per_second) *flops_per_second = flops / once.device;
    }
    return STATUS_OK;
}

// ---- overheads ---------------------------------------------------------------------------------

// Runs ops in scopes of a few each, as a model does, so that handles are recycled.
static void relu_run(void *argument, int64_t times) {
    enum { OPS_PER_SCOPE = 32 };
    while (times > 0) {
        Scope *scope = scope_open();
        for (int i = 0; i < OPS_PER_SCOPE && times > 0; i++, times--) tensor_relu(argument);
        scope_close(scope);
    }
}

Status machine_measure_dispatch(double seconds, double *dispatch_seconds) {
    Tensor *x = tensor_full_new(SHAPE(1), 1.0f);
    if (!x) return error_status();
    MachineTime once;
    Status status = machine_time(relu_run, x, seconds, &once);
    if (!status) *dispatch_seconds = once.device;
    tensor_free(x);
    return status;
}

// Runs so few ops that a device's queue takes them all, and the caller never waits.
Status machine_measure_call(double seconds, double *call_seconds) {
    enum { CALLS = 64 };
    Tensor *x = tensor_full_new(SHAPE(1), 1.0f);
    Device *device = context_current()->device;
    Status status = x ? device_synchronize(device) : error_status();
    double begin = clock_seconds();
    *call_seconds = HUGE_VAL;
    for (bool first = true; !status && (first || clock_seconds() - begin < seconds);
         first = false) {
        double start = clock_seconds();
        relu_run(x, CALLS);
        *call_seconds = fmin(*call_seconds, (clock_seconds() - start) / CALLS);
        status = error_pending() ? error_status() : device_synchronize(device);
    }
    tensor_free(x);
    return status;
}

// The caller does not return before the other thread has begun: otherwise the pool would take the
// job back from a thread that is late. (After a timeout it stops waiting.)
static void meet(void *argument, int64_t begin, int64_t end) {
    (void)end;
    enum { LOOKS_PER_YIELD = 1024 };
    const double patience = 1e-3;
    atomic_bool *begun = argument;
    if (begin > 0) {
        atomic_store(begun, true);
        return;
    }
    double start = clock_seconds();
    for (int looks = 1; !atomic_load(begun); looks++) {
        if (looks % LOOKS_PER_YIELD) continue;
        if (clock_seconds() - start > patience) return;
        sched_yield();
    }
}

static double meet_seconds(int times) {
    double start = clock_seconds();
    for (int i = 0; i < times; i++) {
        atomic_bool begun = false;
        cpu_parallel(by_all(2, 1), meet, &begun);
    }
    return (clock_seconds() - start) / times;
}

// After each sleep the system places the threads anew, so a bad placement spoils only one sample.
Status machine_measure_threads(double seconds, double *spin_seconds, double *wake_seconds) {
    enum { MOST_WAKES = 31, SPINS = 100 };
    double wakes[MOST_WAKES], spins[MOST_WAKES], begin = clock_seconds();
    *spin_seconds = *wake_seconds = 0.0;
    if (context_current()->threads < 2) return STATUS_OK;
    int n = 0;
    while (n < MOST_WAKES && (n == 0 || clock_seconds() - begin < seconds)) {
        nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); // until the other threads sleep
        wakes[n] = meet_seconds(1);
        spins[n++] = meet_seconds(SPINS);
    }
    Status status = median_of(spins, n, spin_seconds);
    return status ? status : median_of(wakes, n, wake_seconds);
}
