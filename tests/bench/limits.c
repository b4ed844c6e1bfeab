// limits.c -- small loops for bandwidth, one product for arithmetic; the best of several runs.
#include "tests/bench/limits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor/gemm.h"
#include "tensor/math.h"
#include "tensor/pool.h"
#include "tests/bench/measure.h"

// ---- bandwidth ---------------------------------------------------------------------------------
enum { READ, WRITE, COPY, UPDATE };

typedef struct Traffic {
    int32_t *from, *to; // to: readers leave their sum there, too
    int64_t count;      // numbers in each
    int64_t times;      // passes over them, enough for the clock
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

KERNEL static void add_one(int32_t *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) x[i] += 1;
}

static void move(void *argument, int64_t begin, int64_t end) {
    const Traffic *traffic = argument;
    int32_t *from = traffic->from + begin, *to = traffic->to + begin;
    size_t bytes = (size_t)(end - begin) * sizeof(int32_t);
    for (int64_t i = 0; i < traffic->times; i++) {
        switch (traffic->kind) {
        case READ:
            *to += read_numbers(from, end - begin);
            break;
        case WRITE:
            memset(from, (int)i, bytes);
            break;
        case COPY:
            memcpy(to, from, bytes);
            break;
        case UPDATE:
            add_one(from, end - begin);
            break;
        }
    }
}

static double bandwidth(Traffic *traffic, Pool *pool, int kind) {
    enum { REPEATS = 5 };
    int64_t share = (traffic->count + pool_threads(pool) - 1) / pool_threads(pool);
    double bytes = (double)(traffic->count * traffic->times) * sizeof(int32_t), best = 0.0;
    traffic->kind = kind;
    for (int i = 0; i < REPEATS; i++) {
        double start = measure_now();
        pool_run(pool, traffic->count, share, move, traffic);
        double pace = bytes / (measure_now() - start);
        if (pace > best) best = pace;
    }
    return kind == COPY || kind == UPDATE ? 2.0 * best : best;
}

// One file of the system's description of a cache of the first core; "" if there is none.
static const char *cache_file(int index, const char *name, char text[32]) {
    char path[96];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", index, name);
    FILE *file = fopen(path, "r");
    if (!file || !fgets(text, 32, file)) text[0] = '\0';
    if (file) fclose(file);
    return text;
}

// Bytes of a data cache of that level, or a common size if the system does not tell. (sysconf does
// not help: it adds up caches that one core does not reach.)
static int64_t cache_bytes(int level, int64_t otherwise) {
    enum { INDICES = 8, KIB = 1024 };
    char text[32];
    for (int i = 0; i < INDICES; i++) {
        if (atoi(cache_file(i, "level", text)) != level) continue;
        if (cache_file(i, "type", text)[0] == 'I') continue; // a cache for instructions
        int64_t kib = atoi(cache_file(i, "size", text));     // such as "32768K"
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
        // A third of a cache each, so that both arrays of a copy fit.
        int64_t bytes = i == LIMITS_MEMORY ? level[i] : level[i] / 3;
        traffic.count = bytes / (int64_t)sizeof(int32_t);
        traffic.times = 1 + ENOUGH / bytes;
        double copy = bandwidth(&traffic, pool, COPY), update = bandwidth(&traffic, pool, UPDATE);
        limits->bytes_per_second[LIMITS_READ][i] = bandwidth(&traffic, pool, READ);
        limits->bytes_per_second[LIMITS_WRITE][i] = bandwidth(&traffic, pool, WRITE);
        limits->bytes_per_second[LIMITS_BOTH][i] = copy > update ? copy : update;
        limits->copy_bytes_per_second = copy; // the last level's remains
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

// ---- the least time of a workload --------------------------------------------------------------
static int64_t reuse_distance(RoofWatch *watch, const void *data, int64_t bytes) {
    int64_t distance = INT64_MAX;
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
    return distance;
}

// At best each level still holds as much as it can of the bytes moved since.
static double operand_seconds(const Limits *limits, int kind, int64_t bytes, int64_t distance) {
    double seconds = 0.0, held = 0.0;
    for (int level = 0; level < LIMITS_LEVELS && held < 1.0; level++) {
        double most = (double)limits->level_bytes[level] / (double)distance;
        double reach = level == LIMITS_MEMORY || most > 1.0 ? 1.0 : most;
        seconds += (reach - held) * (double)bytes / limits->bytes_per_second[kind][level];
        held = reach;
    }
    return seconds;
}

static void add_operand(RoofWatch *watch, const Tensor *t, bool read, bool written,
                        double seconds[LIMITS_KINDS]) {
    if (!t) return;
    int64_t bytes = tensor_distinct_bytes(t);
    int64_t distance = reuse_distance(watch, t->storage->data, bytes);
    for (int kind = 0; kind < LIMITS_KINDS; kind++) {
        int times = (read && kind != LIMITS_WRITE) + (written && kind != LIMITS_READ);
        seconds[kind] += operand_seconds(watch->limits, kind, times * bytes, distance);
    }
}

static void add_op(Observer *observer, const OpCall *call) {
    RoofWatch *watch = (RoofWatch *)observer;
    if (call->op->flags & OP_VIEW) return;
    double seconds[LIMITS_KINDS] = {0.0};
    for (int i = 0; i < call->n_in; i++) {
        bool written = call->in[i] && call->op->mutates && call->op->mutates(call, i);
        add_operand(watch, call->in[i], true, written, seconds);
    }
    for (int i = 0; i < call->n_out; i++) add_operand(watch, call->out[i], false, true, seconds);
    double flops = (double)op_cost_total_flops(op_cost(call));
    double longest = flops / watch->limits->flops_per_second;
    for (int kind = 0; kind < LIMITS_KINDS; kind++)
        if (seconds[kind] > longest) longest = seconds[kind];
    watch->seconds += longest;
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
