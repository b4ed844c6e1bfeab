// limits.c -- small own loops for bandwidth, one product for arithmetic; the best of several.
#include "tests/bench/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/gemm.h"
#include "tensor/math.h"
#include "tests/bench/measure.h"

// ---- bandwidth ---------------------------------------------------------------------------------
enum { READ, WRITE, COPY, KINDS };

typedef struct Traffic {
    int32_t *from, *to; // to: also where a reader leaves its sum
    int64_t count;      // numbers in each
    int64_t times;      // passes over them, so that a run is long enough for the clock
    int kind;
} Traffic;

// Integers, because their sum may be reordered; four streams, because one sum would wait for
// itself.
KERNEL static int32_t read_numbers(const int32_t *x, int64_t n) {
    int32_t a = 0, b = 0, c = 0, d = 0;
    int64_t q = n / 4;
    for (int64_t i = 0; i < q; i++) {
        a += x[i];
        b += x[q + i];
        c += x[2 * q + i];
        d += x[3 * q + i];
    }
    return a + b + c + d;
}

static void move(void *argument, int64_t begin, int64_t end) {
    const Traffic *traffic = argument;
    int32_t *from = traffic->from + begin, *to = traffic->to + begin;
    size_t bytes = (size_t)(end - begin) * sizeof(int32_t);
    for (int64_t i = 0; i < traffic->times; i++) {
        if (traffic->kind == READ)
            *to += read_numbers(from, end - begin);
        else if (traffic->kind == WRITE)
            memset(from, (int)i, bytes);
        else
            memcpy(to, from, bytes);
    }
}

static double best_bandwidth(Traffic *traffic, Pool *pool, double *copy) {
    enum { REPEATS = 5 };
    int64_t share = (traffic->count + pool_threads(pool) - 1) / pool_threads(pool);
    double best = 0.0;
    for (int kind = READ; kind < KINDS; kind++) {
        traffic->kind = kind;
        for (int i = 0; i < REPEATS; i++) {
            double start = measure_now();
            pool_run(pool, traffic->count, share, move, traffic);
            double bytes = (double)(traffic->count * traffic->times) * sizeof(int32_t);
            double pace = bytes * (kind == COPY ? 2.0 : 1.0) / (measure_now() - start);
            if (pace > best) best = pace;
            if (kind == COPY && pace > *copy) *copy = pace;
        }
    }
    return best;
}

// One file of what the system knows about a cache of the first core; "" when there is none.
static const char *cache_file(int index, const char *name, char text[32]) {
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, 32, file)) text[0] = '\0';
    if (file) fclose(file);
    return text;
}

// What a data cache of that level holds, or a common size when the system does not say. (sysconf is
// no help: it adds up caches that one core does not reach.)
static int64_t cache_bytes(int level, int64_t otherwise) {
    enum { INDICES = 8, KIB = 1024 };
    char text[32];
    for (int i = 0; i < INDICES; i++) {
        if (atoi(cache_file(i, "level", text)) != level) continue;
        if (cache_file(i, "type", text)[0] == 'I') continue; // of instructions
        int64_t kib = atoi(cache_file(i, "size", text));     // "32768K"
        if (kib > 0) return kib * KIB;
    }
    return otherwise;
}

static void measure_bandwidth(Limits *limits, Pool *pool) {
    enum { KIB = 1024, MIB = 1024 * KIB, ENOUGH = 128 * MIB };
    int64_t *level = limits->level_bytes, threads = limits->threads;
    level[LIMITS_L1] = threads * cache_bytes(1, 32 * KIB);
    level[LIMITS_L2] = threads * cache_bytes(2, 1 * MIB);
    level[LIMITS_L3] = cache_bytes(3, 16 * MIB);
    level[LIMITS_MEMORY] = 4 * level[LIMITS_L3] > ENOUGH ? 4 * level[LIMITS_L3] : ENOUGH;
    Traffic traffic = {.from = measure_memory((size_t)level[LIMITS_MEMORY]),
                       .to = measure_memory((size_t)level[LIMITS_MEMORY])};
    for (int i = 0; i < LIMITS_LEVELS; i++) {
        // A third of a cache each: the two arrays of a copy must both fit in.
        int64_t bytes = i == LIMITS_MEMORY ? level[i] : level[i] / 3;
        traffic.count = bytes / (int64_t)sizeof(int32_t);
        traffic.times = 1 + ENOUGH / bytes;
        limits->copy_bytes_per_second = 0.0; // that of the last level stays
        limits->bytes_per_second[i] =
            best_bandwidth(&traffic, pool, &limits->copy_bytes_per_second);
    }
    free(traffic.from);
    free(traffic.to);
}

// ---- arithmetic --------------------------------------------------------------------------------
enum { PEAK_SIZE = 1024 };

static void multiply_rows(void *argument, int64_t begin, int64_t end) {
    Gemm part = *(const Gemm *)argument;
    part.a += begin * part.lda;
    part.c += begin * part.ldc;
    part.m = end - begin;
    blas_gemm(&part);
}

void limits_measure_product(Limits *limits, Pool *pool) {
    enum { REPEATS = 4, GRAIN = 16 };
    size_t bytes = (size_t)PEAK_SIZE * PEAK_SIZE * sizeof(float);
    float *a = measure_memory(bytes), *b = measure_memory(bytes), *c = measure_memory(bytes);
    Gemm gemm = {.m = PEAK_SIZE,
                 .n = PEAK_SIZE,
                 .k = PEAK_SIZE,
                 .a = a,
                 .b = b,
                 .c = c,
                 .lda = PEAK_SIZE,
                 .ldb = PEAK_SIZE,
                 .ldc = PEAK_SIZE};
    for (int i = 0; i < REPEATS; i++) {
        double start = measure_now();
        pool_run(pool, PEAK_SIZE, GRAIN, multiply_rows, &gemm);
        double pace = 2.0 * PEAK_SIZE * PEAK_SIZE * PEAK_SIZE / (measure_now() - start);
        if (pace > limits->flops_per_second) limits->flops_per_second = pace;
    }
    free(a);
    free(b);
    free(c);
}

void limits_measure(Limits *limits, Pool *pool) {
    *limits = (Limits){.threads = pool_threads(pool)};
    measure_bandwidth(limits, pool);
    limits_measure_product(limits, pool);
}

// ---- what a workload needs at least ------------------------------------------------------------
static double operand_seconds(RoofWatch *watch, const Tensor *t) {
    const void *data = t->storage->data;
    int64_t bytes = tensor_distinct_bytes(t), distance = INT64_MAX;
    int i = 0;
    while (i < watch->n_buffers && watch->buffers[i].data != data) i++;
    if (i < watch->n_buffers)
        distance = watch->traffic - watch->buffers[i].touched + bytes;
    else if (i < LIMITS_BUFFERS)
        watch->n_buffers++;
    watch->traffic += bytes;
    if (i < LIMITS_BUFFERS) {
        watch->buffers[i].data = data;
        watch->buffers[i].touched = watch->traffic;
    }
    int level = 0;
    while (level < LIMITS_MEMORY && distance > watch->limits->level_bytes[level]) level++;
    return (double)bytes / watch->limits->bytes_per_second[level];
}

static void add_op(Observer *observer, const OpCall *call) {
    RoofWatch *watch = (RoofWatch *)observer;
    if (call->op->flags & OP_VIEW) return;
    double flops = (double)op_cost_total_flops(op_cost(call)), seconds = 0.0;
    for (int i = 0; i < call->n_in; i++) {
        if (!call->in[i]) continue;
        bool written = call->op->mutates && call->op->mutates(call, i);
        seconds += operand_seconds(watch, call->in[i]) * (written ? 2.0 : 1.0);
    }
    for (int i = 0; i < call->n_out; i++)
        if (call->out[i]) seconds += operand_seconds(watch, call->out[i]);
    double arithmetic = flops / watch->limits->flops_per_second;
    watch->seconds += arithmetic > seconds ? arithmetic : seconds;
}

double limits_of(const Limits *limits, void (*run)(void *state, int64_t times), void *state) {
    RoofWatch watch = {.observer = {.op_end = add_op}, .limits = limits};
    observer_add(&watch.observer);
    run(state, 1);
    watch.seconds = 0.0;
    run(state, 1);
    observer_remove(&watch.observer);
    return watch.seconds;
}
