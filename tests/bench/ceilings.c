// ceilings.c -- STREAM's triad and OpenBLAS's product on threads started by hand.
#include "tests/bench/ceilings.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#include "tensor/math.h"
#include "tests/bench/measure.h"
#include "tests/bench/team.h"

static const double sample_seconds = 2e-3; // short: several fit between two scheduler ticks

// Runs samples until `seconds` have passed and keeps the shortest run. `times`, in the state, is
// the number of repetitions in a sample.
static double shortest(int threads, TeamTask task, void *state, int64_t *times, double seconds) {
    double begin = measure_now(), best = HUGE_VAL;
    int samples = 0;
    *times = 1;
    while (samples < 2 || measure_now() - begin < seconds) {
        double passed = team_run(threads, task, state);
        best = fmin(best, passed / (double)*times);
        samples++;
        if (passed >= 0.5 * sample_seconds) continue;
        *times =
            passed > sample_seconds / 100.0 ? (int64_t)(1.0 + sample_seconds / best) : 16 * *times;
        best = HUGE_VAL;
        samples = 0;
    }
    return best;
}

// ---- arrays ------------------------------------------------------------------------------------
// Three for each thread, first written by the thread that will use them, so that their pages lie
// near it.
enum { NAMES = 3, STAGGER = 1024 / sizeof(float) };

typedef struct Arrays {
    int64_t n; // floats in each
    float *block[TEAM_MOST];
} Arrays;

// The arrays are staggered: at the same place of a page they would collide in some caches.
static float *array_of(const Arrays *arrays, int member, int name) {
    return arrays->block[member] + name * (arrays->n + STAGGER);
}

static void fill(void *argument, int member) {
    const Arrays *arrays = argument;
    int64_t n = NAMES * (arrays->n + STAGGER);
    for (int64_t i = 0; i < n; i++) arrays->block[member][i] = 1.0f + (float)(i % 13) * 0.125f;
}

static void arrays_new(Arrays *arrays, int threads, int64_t n) {
    arrays->n = n;
    for (int i = 0; i < threads; i++)
        arrays->block[i] = measure_room((size_t)(NAMES * (n + STAGGER)) * sizeof(float));
    team_run(threads, fill, arrays);
}

static void arrays_free(Arrays *arrays, int threads) {
    for (int i = 0; i < threads; i++) free(arrays->block[i]);
}

// ---- triad -------------------------------------------------------------------------------------
enum { STEP = 64 }; // floats per turn of the loop: several cache lines

typedef struct Stream {
    Arrays arrays;
    int64_t times;
} Stream;

KERNEL __attribute__((noinline)) static void add_scaled(float *restrict y, const float *restrict a,
                                                        const float *restrict b, int64_t n) {
    const float s = 3.0f;
    for (int64_t i = 0; i < n; i += STEP)
        for (int64_t j = i; j < i + STEP; j++) y[j] = a[j] + s * b[j];
}

static void stream(void *argument, int member) {
    const Stream *s = argument;
    float *y = array_of(&s->arrays, member, 0);
    for (int64_t i = 0; i < s->times; i++)
        add_scaled(y, array_of(&s->arrays, member, 1), array_of(&s->arrays, member, 2),
                   s->arrays.n);
}

void ceilings_triad(int threads, int64_t bytes, double seconds, double *best) {
    Stream s;
    int64_t n = bytes / (int64_t)(NAMES * sizeof(float)) / threads / STEP * STEP;
    arrays_new(&s.arrays, threads, n);
    double once = shortest(threads, stream, &s, &s.times, seconds);
    *best = fmax(*best, (double)(NAMES * sizeof(float)) * (double)(n * threads) / once);
    arrays_free(&s.arrays, threads);
}

// ---- product -----------------------------------------------------------------------------------
const int ceilings_sizes[CEILINGS_SIZES] = {512, 1024, 2048};

typedef struct Product {
    Arrays arrays;
    int n, threads;
    int64_t times;
} Product;

static void multiply(const Product *p, const float *a, const float *b, float *c, int rows) {
    for (int64_t i = 0; i < p->times; i++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, p->n, p->n, 1.0f, a, p->n, b,
                    p->n, 0.0f, c, p->n);
}

static void own_product(void *argument, int member) {
    const Product *p = argument;
    multiply(p, array_of(&p->arrays, member, 0), array_of(&p->arrays, member, 1),
             array_of(&p->arrays, member, 2), p->n);
}

static void own_rows(void *argument, int member) {
    const Product *p = argument;
    int begin = p->n * member / p->threads, end = p->n * (member + 1) / p->threads;
    multiply(p, array_of(&p->arrays, 0, 0) + begin * p->n, array_of(&p->arrays, 0, 1),
             array_of(&p->arrays, 0, 2) + begin * p->n, end - begin);
}

static double pace_of_size(int threads, int n, double seconds) {
    Product p = {.n = n, .threads = threads};
    double flops = 2.0 * n * n * n;
    arrays_new(&p.arrays, threads, (int64_t)n * n);
    double own = shortest(threads, own_product, &p, &p.times, seconds / 2.0);
    double split = shortest(threads, own_rows, &p, &p.times, seconds / 2.0);
    arrays_free(&p.arrays, threads);
    return fmax(flops * threads / own, flops / split);
}

void ceilings_products(int threads, double seconds, double best[CEILINGS_SIZES]) {
    if (openblas_get_num_threads() != 1) openblas_set_num_threads(1); // we start our own threads
    for (int i = 0; i < CEILINGS_SIZES; i++)
        best[i] = fmax(best[i], pace_of_size(threads, ceilings_sizes[i], seconds / CEILINGS_SIZES));
}
