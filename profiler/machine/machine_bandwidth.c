// machine_bandwidth.c -- the benchmark loops, the bytes they move, and their best rates.
#include "profiler/machine/machine_parts.h"

#include <math.h>

#include "tensor/context.h"
#include "tensor/math.h"

enum { BLOCK = 64, ROWS = 4 }; // floats per step of a loop (cache lines); rows of sum_rows_pass

// A thread's part of the arrays: n elements, a multiple of BLOCK; and its buffer for sums.
typedef struct Part {
    float *y;
    const float *x;
    int64_t n;
    float *sums; // BLOCK floats
} Part;

// ---- the loops ---------------------------------------------------------------------------------
// The loops work in blocks, so that counting takes little of a pass. Not inlined: a compiler that
// saw the passes repeat could swap the loops and stay in registers.
#define LOOP KERNEL __attribute__((noinline)) static

LOOP void sum_pass(const Part *part) {
    const float *x = part->y;
    float sum[BLOCK] = {0};
    for (int64_t i = 0; i < part->n; i += BLOCK)
        for (int j = 0; j < BLOCK; j++) sum[j] += x[i + j];
    for (int j = 0; j < BLOCK; j++) part->sums[j] = sum[j];
}

// Adds rows of a matrix, as for gradients of biases.
LOOP void sum_rows_pass(const Part *part) {
    int64_t n = part->n / ROWS / BLOCK * BLOCK;
    const float *a = part->y, *b = a + n, *c = b + n, *d = c + n;
    float sum[BLOCK] = {0};
    for (int64_t i = 0; i < n; i += BLOCK)
        for (int j = 0; j < BLOCK; j++) sum[j] += (a[i + j] + b[i + j]) + (c[i + j] + d[i + j]);
    for (int j = 0; j < BLOCK; j++) part->sums[j] = sum[j];
}

LOOP void scale_pass(const Part *part) {
    float *restrict y = part->y;
    const float *restrict x = part->x;
    for (int64_t i = 0; i < part->n; i += BLOCK)
        for (int j = 0; j < BLOCK; j++) y[i + j] = 0.5f * x[i + j];
}

LOOP void scale_in_place_pass(const Part *part) {
    float *y = part->y;
    for (int64_t i = 0; i < part->n; i += BLOCK)
        for (int j = 0; j < BLOCK; j++) y[i + j] = 1.5f - y[i + j];
}

LOOP void add_in_place_pass(const Part *part) {
    float *restrict y = part->y;
    const float *restrict x = part->x;
    for (int64_t i = 0; i < part->n; i += BLOCK)
        for (int j = 0; j < BLOCK; j++) y[i + j] = x[i + j] - y[i + j];
}

LOOP void fill_pass(const Part *part) {
    float *y = part->y;
    for (int64_t i = 0; i < part->n; i += BLOCK)
        for (int j = 0; j < BLOCK; j++) y[i + j] = 1.25f;
}

LOOP void root_pass(const Part *part) {
    float *restrict y = part->y;
    const float *restrict x = part->x;
    for (int64_t i = 0; i < part->n; i++) y[i] = math_sqrt(x[i]);
}

LOOP void division_pass(const Part *part) {
    float *restrict y = part->y;
    const float *restrict x = part->x;
    for (int64_t i = 0; i < part->n; i++) y[i] = 1.5f / x[i];
}

typedef struct Loop {
    void (*pass)(const Part *part);
    int arrays;                   // 1: y; 2: y and x
    int read, allocated, written; // number of arrays read, allocated and written
} Loop;

static const Loop loops[] = {
    {scale_pass, 2, 1, 1, 1}, // must be first: it gives the counted rate
    {sum_pass, 1, 1, 0, 0},          {sum_rows_pass, 1, 1, 0, 0}, {scale_in_place_pass, 1, 1, 0, 1},
    {add_in_place_pass, 2, 2, 0, 1}, {fill_pass, 1, 0, 1, 1},
};
enum { LOOPS = sizeof loops / sizeof loops[0] };

// ---- timing ------------------------------------------------------------------------------------
typedef struct LoopJob {
    const Loop *loop;
    float *y, *x;
    int64_t n; // elements per array
    int64_t times;
} LoopJob;

// Each thread repeats its own part, so that distributing work does not count as bandwidth.
static void run_range(void *argument, int64_t begin, int64_t end) {
    const LoopJob *job = argument;
    float sums[BLOCK];
    Part part = {job->y + begin * BLOCK, job->x + begin * BLOCK, (end - begin) * BLOCK, sums};
    for (int64_t i = 0; i < job->times; i++) job->loop->pass(&part);
}

static void run_loop(void *argument, int64_t times) {
    LoopJob *job = argument;
    job->times = times;
    const double high = 1e9; // always divided among threads
    cpu_parallel((OpWork){.items = job->n / BLOCK, .cost = high, .together = ROWS}, run_range, job);
}

// Times a loop over consecutive arrays. *floats: elements of each array per second.
static Status time_loop(const MachineScratch *scratch, const Loop *loop, int64_t bytes,
                        double seconds, double *floats) {
    int64_t n = bytes / (int64_t)sizeof(float) / loop->arrays / (BLOCK * ROWS) * (BLOCK * ROWS);
    LoopJob job = {loop, scratch->data, scratch->data + n, n, 1};
    MachineTime once;
    Status status = machine_time(run_loop, &job, seconds, &once);
    if (!status) *floats = (double)n / once.device;
    return status;
}

static void keep_best(double *best, double rate) { *best = fmax(*best, rate); }

Status machine_measure_rates(const MachineScratch *scratch, int64_t bytes, bool first,
                             double seconds, MachineRates *rates, double *counted) {
    *rates = (MachineRates){0};
    for (int i = 0; i < LOOPS; i++) {
        const Loop *loop = &loops[i];
        double floats;
        Status status = time_loop(scratch, loop, bytes, seconds / LOOPS, &floats);
        if (status) return status;
        double rate = floats * sizeof(float);
        int comes = loop->read + (first ? 0 : loop->allocated);
        keep_best(&rates->fill, rate * comes);
        if (first) keep_best(&rates->store, rate * loop->written);
        if (!first) keep_best(&rates->move, rate * (comes + loop->written));
        if (i == 0) *counted = rate * (loop->read + loop->written);
    }
    return STATUS_OK;
}

Status machine_measure_bandwidth(const MachineScratch *scratch, int64_t bytes, double seconds,
                                 double *counted) {
    double floats;
    Status status = time_loop(scratch, &loops[0], bytes, seconds, &floats);
    if (!status) *counted = floats * 2.0 * sizeof(float);
    return status;
}

Status machine_measure_slow(const MachineScratch *scratch, double seconds, double *root_seconds,
                            double *division_seconds) {
    enum { BYTES = 8 << 10 }; // fits in every first level
    static const Loop root = {root_pass, 2, 0, 0, 0}, division = {division_pass, 2, 0, 0, 0};
    double roots, divisions;
    Status status = time_loop(scratch, &root, BYTES, seconds / 2.0, &roots);
    if (!status) status = time_loop(scratch, &division, BYTES, seconds / 2.0, &divisions);
    if (status) return status;
    *root_seconds = 1.0 / roots;
    *division_seconds = 1.0 / divisions;
    return STATUS_OK;
}
