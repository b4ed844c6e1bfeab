// hand.h -- the workloads as a careful C programmer would write them without an engine: plain loops
// over the same cblas calls, buffers made once, one pass per update, the same thread pool.
#ifndef TESTS_BENCH_HAND_H
#define TESTS_BENCH_HAND_H

#include <stdbool.h>
#include <stdint.h>

#include "tensor/pool.h"

// Splits work over `pool` from now on (NULL: one thread). With `blas_threads` above 1, OpenBLAS
// splits the products itself, and the pool everything else. The default is one thread.
void hand_use(Pool *pool, int blas_threads);
void hand_parallel(int64_t n, int64_t grain, PoolTask task, void *argument);

// ---- a perceptron: linear layers with ReLU between them, cross-entropy ------------------------
enum { HAND_LAYERS = 4 };

typedef struct HandNet {
    int layers;
    int64_t size[HAND_LAYERS + 1], batch;
    const int64_t *labels;         // borrowed
    float *value[HAND_LAYERS + 1]; // (batch, size): the input (borrowed), then each layer's output
    float *grad[HAND_LAYERS + 1];  // gradients of value[i], i >= 1
    int64_t count;                 // number of parameters: per layer weight (out, in), bias (out)
    float *parameters, *gradients, *mean, *square; // (count) each; the last two are Adam's
    bool adam;
    int64_t steps;
    float learning_rate;
    float loss; // loss of the last step
} HandNet;

HandNet *hand_net_new(const int64_t *sizes, int n_sizes, int64_t batch, bool adam);
void hand_net_free(HandNet *net);
void hand_net_forward(HandNet *net);
void hand_net_step(HandNet *net); // zeroes gradients; forward, loss, backward, update

// ---- element-wise and by row: y (n) from a (n) and, with two inputs, b (n) ----------------------
typedef struct HandArrays {
    const float *a, *b, *weight, *bias; // weight, bias (columns): of a norm
    float *y;
    int64_t columns; // columns of rows
} HandArrays;
// Compute items [begin, end): elements, or rows.
void hand_add(void *arrays, int64_t begin, int64_t end);
void hand_relu(void *arrays, int64_t begin, int64_t end);
void hand_gelu(void *arrays, int64_t begin, int64_t end);
void hand_exp(void *arrays, int64_t begin, int64_t end);
void hand_softmax(void *arrays, int64_t begin, int64_t end);
void hand_layer_norm(void *arrays, int64_t begin, int64_t end);

// ---- loops of the perceptron (hand_loops.c) -----------------------------------------------------
// c (m, n), rows ldc apart, = a (m) . b (n)
void hand_outer(const float *a, const float *b, float *c, int64_t m, int64_t n, int64_t ldc);
// y (rows, columns), rows ld apart: y += bias, then relu if asked
void hand_bias(float *y, int64_t rows, int64_t columns, int64_t ld, const float *bias, bool relu);
// grad = 0 where the relu's output was
void hand_mask(float *grad, int64_t rows, int64_t columns, int64_t ld, const float *output);
// y (n) = a (k) . b (k, n), or with b stored transposed (n, k); ld apart
void hand_small(const float *a, const float *b, float *y, int64_t n, int64_t k, int64_t ld,
                bool transposed);
// sums (columns) of grad (rows, columns) for columns [begin, end)
void hand_column_sums(const float *grad, float *sums, int64_t rows, int64_t columns, int64_t begin,
                      int64_t end);
// The mean loss; grad = (softmax - onehot) / rows.
float hand_cross_entropy(const float *logits, const int64_t *labels, float *grad, int64_t rows,
                         int64_t classes);
void hand_sgd(float *parameters, const float *gradients, int64_t n, float learning_rate);
// step = learning rate / (1 - beta1^t), root_scale = 1 / sqrt(1 - beta2^t)
void hand_adam(float *parameters, const float *gradients, float *mean, float *square, int64_t n,
               float step, float root_scale);

#endif
