// hand.c -- a perceptron by hand: forward, backward and update over cblas, split over the pool at
// the same sizes as in the engine (tensor/gemm.c, tensor/cpu.c), so that only the engine differs.
#include "tests/bench/hand.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#include "tests/bench/measure.h"

void openblas_set_num_threads(int n);

enum {
    SMALL_PRODUCT = 2048,     // multiply-adds below which a loop beats a cblas call
    SPLIT_PRODUCT = 1 << 18,  // from this size on two threads beat one:
    SPLIT_ELEMENTS = 1 << 16, // for a pass over a matrix,
    SPLIT_UPDATE = 1 << 15,   // for the update, which moves more per element
    GRAIN_PRODUCT = 16,
    GRAIN_COLUMNS = 64,
    GRAIN_UPDATE = 1 << 12,
};

static Pool *shared_pool;
static int product_threads = 1;

void hand_use(Pool *pool, int blas_threads) {
    shared_pool = pool;
    if (product_threads != blas_threads) openblas_set_num_threads(blas_threads);
    product_threads = blas_threads;
}

void hand_parallel(int64_t n, int64_t grain, PoolTask task, void *argument) {
    pool_run(shared_pool, n, grain, task, argument);
}

// ---- products ----------------------------------------------------------------------------------
// c (m, n) = op(a) (m, k) . op(b) (k, n), and the passes over c while it is in cache.
typedef struct Product {
    bool trans_a, trans_b;
    int64_t m, n, k;
    const float *a, *b;
    float *c;
    const float *bias; // (n): added, then relu if requested; NULL: none
    bool relu;
    const float *mask; // (m, n): c becomes 0 where this relu's output is; NULL: none
} Product;

static void product_block(const Product *p, int64_t row, int64_t rows, int64_t column,
                          int64_t columns) {
    int64_t lda = p->trans_a ? p->m : p->k, ldb = p->trans_b ? p->k : p->n;
    const float *a = p->a + (p->trans_a ? row : row * lda);
    const float *b = p->b + (p->trans_b ? column * ldb : column);
    float *c = p->c + row * p->n + column;
    if (p->k == 1)
        hand_outer(a, b, c, rows, columns, p->n);
    else if (p->m == 1 && columns * p->k <= SMALL_PRODUCT)
        hand_small(a, b, c, columns, p->k, ldb, p->trans_b);
    else if (p->m == 1 && p->trans_b)
        cblas_sgemv(CblasRowMajor, CblasNoTrans, (int)columns, (int)p->k, 1.0f, b, (int)ldb, a, 1,
                    0.0f, c, 1);
    else if (p->m == 1)
        cblas_sgemv(CblasRowMajor, CblasTrans, (int)p->k, (int)columns, 1.0f, b, (int)ldb, a, 1,
                    0.0f, c, 1);
    else
        cblas_sgemm(CblasRowMajor, p->trans_a ? CblasTrans : CblasNoTrans,
                    p->trans_b ? CblasTrans : CblasNoTrans, (int)rows, (int)columns, (int)p->k,
                    1.0f, a, (int)lda, b, (int)ldb, 0.0f, c, (int)p->n);
    if (p->bias) hand_bias(c, rows, columns, p->n, p->bias + column, p->relu);
    if (p->mask) hand_mask(c, rows, columns, p->n, p->mask + row * p->n + column);
}

static void product_rows(void *argument, int64_t begin, int64_t end) {
    const Product *p = argument;
    product_block(p, begin, end - begin, 0, p->n);
}

static void product_columns(void *argument, int64_t begin, int64_t end) {
    const Product *p = argument;
    product_block(p, 0, p->m, begin, end - begin);
}

static void product_run(Product p) {
    bool by_rows = p.m >= p.n, blas_splits = product_threads > 1 && p.k > 1;
    PoolTask task = by_rows ? product_rows : product_columns;
    int64_t length = by_rows ? p.m : p.n;
    if (blas_splits || p.m * p.n * p.k < SPLIT_PRODUCT)
        task(&p, 0, length);
    else
        hand_parallel(length, GRAIN_PRODUCT, task, &p);
}

// ---- the net -----------------------------------------------------------------------------------
static int64_t weight_offset(const HandNet *net, int layer) {
    int64_t offset = 0;
    for (int i = 0; i < layer; i++) offset += (net->size[i] + 1) * net->size[i + 1];
    return offset;
}

static int64_t bias_offset(const HandNet *net, int layer) {
    return weight_offset(net, layer) + net->size[layer] * net->size[layer + 1];
}

HandNet *hand_net_new(const int64_t *sizes, int n_sizes, int64_t batch, bool adam) {
    HandNet *net = measure_memory(sizeof(HandNet));
    net->layers = n_sizes - 1;
    net->batch = batch;
    net->adam = adam;
    for (int i = 0; i < n_sizes; i++) net->size[i] = sizes[i];
    for (int i = 1; i < n_sizes; i++) {
        size_t bytes = (size_t)(batch * sizes[i]) * sizeof(float);
        net->value[i] = measure_memory(bytes);
        net->grad[i] = measure_memory(bytes);
    }
    net->count = weight_offset(net, net->layers);
    size_t bytes = (size_t)net->count * sizeof(float);
    net->parameters = measure_memory(bytes);
    net->gradients = measure_memory(bytes);
    net->mean = adam ? measure_memory(bytes) : NULL;
    net->square = adam ? measure_memory(bytes) : NULL;
    return net;
}

void hand_net_free(HandNet *net) {
    if (!net) return;
    for (int i = 1; i <= net->layers; i++) {
        free(net->value[i]);
        free(net->grad[i]);
    }
    free(net->parameters);
    free(net->gradients);
    free(net->mean);
    free(net->square);
    free(net);
}

void hand_net_forward(HandNet *net) {
    for (int i = 0; i < net->layers; i++)
        product_run((Product){.m = net->batch,
                              .n = net->size[i + 1],
                              .k = net->size[i],
                              .a = net->value[i],
                              .b = net->parameters + weight_offset(net, i),
                              .trans_b = true,
                              .c = net->value[i + 1],
                              .bias = net->parameters + bias_offset(net, i),
                              .relu = i + 1 < net->layers});
}

typedef struct BiasGradient {
    const float *grad;
    float *sums;
    int64_t rows, columns;
} BiasGradient;

static void sum_columns(void *argument, int64_t begin, int64_t end) {
    const BiasGradient *b = argument;
    hand_column_sums(b->grad, b->sums, b->rows, b->columns, begin, end);
}

static void backward_layer(HandNet *net, int i) {
    int64_t in = net->size[i], out = net->size[i + 1];
    const float *grad = net->grad[i + 1];
    if (i > 0) // the first layer's input needs no gradient
        product_run((Product){.m = net->batch,
                              .n = in,
                              .k = out,
                              .a = grad,
                              .b = net->parameters + weight_offset(net, i),
                              .c = net->grad[i],
                              .mask = net->value[i]});
    product_run((Product){.m = out,
                          .n = in,
                          .k = net->batch,
                          .a = grad,
                          .trans_a = true,
                          .b = net->value[i],
                          .c = net->gradients + weight_offset(net, i)});
    BiasGradient bias = {grad, net->gradients + bias_offset(net, i), net->batch, out};
    if (net->batch * out < SPLIT_ELEMENTS)
        sum_columns(&bias, 0, out);
    else
        hand_parallel(out, GRAIN_COLUMNS, sum_columns, &bias);
}

static void update(void *argument, int64_t begin, int64_t end) {
    HandNet *net = argument;
    float *parameters = net->parameters + begin;
    const float *gradients = net->gradients + begin;
    if (!net->adam) {
        hand_sgd(parameters, gradients, end - begin, net->learning_rate);
        return;
    }
    double t = (double)net->steps, rate = (double)net->learning_rate;
    hand_adam(parameters, gradients, net->mean + begin, net->square + begin, end - begin,
              (float)(rate / (1.0 - pow(0.9, t))), (float)(1.0 / sqrt(1.0 - pow(0.999, t))));
}

void hand_net_step(HandNet *net) {
    hand_net_forward(net);
    net->loss = hand_cross_entropy(net->value[net->layers], net->labels, net->grad[net->layers],
                                   net->batch, net->size[net->layers]);
    for (int i = net->layers - 1; i >= 0; i--) backward_layer(net, i);
    net->steps++;
    if (net->count < SPLIT_UPDATE)
        update(net, 0, net->count);
    else
        hand_parallel(net->count, GRAIN_UPDATE, update, net);
}
