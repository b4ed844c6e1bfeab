// hand_loops.c -- the plain loops of the workloads by hand, vectorised like the engine's.
#include "tensor/math_activation.h"
#include "tests/bench/hand.h"

enum { LANES = 16 }; // sums in fixed lanes: otherwise a compiler may not reorder them

MATH_INLINE float sum_of(const float *x, int64_t n) {
    float lane[LANES] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int k = 0; k < LANES; k++) lane[k] += x[i + k];
    for (int k = 0; i + k < n; k++) lane[k] += x[i + k];
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int k = 0; k < half; k++) lane[k] += lane[k + half];
    return lane[0];
}

// Uses integers of the same order, because their maximum may be reordered. (Not for NaN.)
MATH_INLINE float largest_of(const float *x, int64_t n) {
    int32_t largest = INT32_MIN;
    for (int64_t i = 0; i < n; i++) {
        int32_t bits = (int32_t)math_to_bits(x[i]), key = bits ^ (bits >> 31 & INT32_MAX);
        largest = key > largest ? key : largest;
    }
    return math_from_bits((uint32_t)(largest ^ (largest >> 31 & INT32_MAX)));
}

// ---- element-wise and by row -------------------------------------------------------------------
KERNEL void hand_add(void *arrays, int64_t begin, int64_t end) {
    const HandArrays *at = arrays;
    const float *restrict a = at->a, *restrict b = at->b;
    float *restrict y = at->y;
    for (int64_t i = begin; i < end; i++) y[i] = a[i] + b[i];
}

KERNEL void hand_relu(void *arrays, int64_t begin, int64_t end) {
    const HandArrays *at = arrays;
    const float *restrict a = at->a;
    float *restrict y = at->y;
    for (int64_t i = begin; i < end; i++) y[i] = math_relu(a[i]);
}

KERNEL void hand_gelu(void *arrays, int64_t begin, int64_t end) {
    const HandArrays *at = arrays;
    const float *restrict a = at->a;
    float *restrict y = at->y;
    for (int64_t i = begin; i < end; i++) y[i] = math_gelu(a[i]);
}

KERNEL void hand_exp(void *arrays, int64_t begin, int64_t end) {
    const HandArrays *at = arrays;
    const float *restrict a = at->a;
    float *restrict y = at->y;
    for (int64_t i = begin; i < end; i++) y[i] = math_exp(a[i]);
}

KERNEL void hand_softmax(void *arrays, int64_t begin, int64_t end) {
    const HandArrays *at = arrays;
    int64_t n = at->columns;
    for (int64_t row = begin; row < end; row++) {
        const float *restrict x = at->a + row * n;
        float *restrict y = at->y + row * n, largest = largest_of(x, n);
        for (int64_t j = 0; j < n; j++) y[j] = math_exp_falling(x[j] - largest);
        float scale = 1.0f / sum_of(y, n);
        for (int64_t j = 0; j < n; j++) y[j] *= scale;
    }
}

KERNEL void hand_layer_norm(void *arrays, int64_t begin, int64_t end) {
    const HandArrays *at = arrays;
    int64_t n = at->columns;
    for (int64_t row = begin; row < end; row++) {
        const float *restrict x = at->a + row * n, *restrict w = at->weight, *restrict b = at->bias;
        float *restrict y = at->y + row * n, mean = sum_of(x, n) / (float)n;
        for (int64_t j = 0; j < n; j++) y[j] = (x[j] - mean) * (x[j] - mean);
        float rstd = 1.0f / sqrtf(sum_of(y, n) / (float)n + 1e-5f);
        for (int64_t j = 0; j < n; j++) y[j] = (x[j] - mean) * rstd * w[j] + b[j];
    }
}

// ---- around the products -----------------------------------------------------------------------
KERNEL void hand_outer(const float *a, const float *b, float *c, int64_t m, int64_t n,
                       int64_t ldc) {
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) c[i * ldc + j] = a[i] * b[j];
}

KERNEL void hand_bias(float *y, int64_t rows, int64_t columns, int64_t ld, const float *bias,
                      bool relu) {
    for (int64_t i = 0; i < rows; i++, y += ld) {
        if (relu)
            for (int64_t j = 0; j < columns; j++) y[j] = math_relu(y[j] + bias[j]);
        else
            for (int64_t j = 0; j < columns; j++) y[j] += bias[j];
    }
}

KERNEL void hand_mask(float *grad, int64_t rows, int64_t columns, int64_t ld, const float *output) {
    for (int64_t i = 0; i < rows; i++, grad += ld, output += ld)
        for (int64_t j = 0; j < columns; j++) grad[j] = math_relu_backward(grad[j], output[j]);
}

KERNEL void hand_small(const float *a, const float *b, float *y, int64_t n, int64_t k, int64_t ld,
                       bool transposed) {
    if (transposed) {
        for (int64_t j = 0; j < n; j++) {
            float sum = 0.0f;
            for (int64_t p = 0; p < k; p++) sum += a[p] * b[j * ld + p];
            y[j] = sum;
        }
        return;
    }
    for (int64_t j = 0; j < n; j++) y[j] = 0.0f;
    for (int64_t p = 0; p < k; p++)
        for (int64_t j = 0; j < n; j++) y[j] += a[p] * b[p * ld + j];
}

KERNEL void hand_column_sums(const float *grad, float *sums, int64_t rows, int64_t columns,
                             int64_t begin, int64_t end) {
    for (int64_t j = begin; j < end; j++) sums[j] = grad[j];
    for (int64_t i = 1; i < rows; i++)
        for (int64_t j = begin; j < end; j++) sums[j] += grad[i * columns + j];
}

KERNEL float hand_cross_entropy(const float *logits, const int64_t *labels, float *grad,
                                int64_t rows, int64_t classes) {
    double total = 0.0;
    float share = 1.0f / (float)rows;
    for (int64_t i = 0; i < rows; i++) {
        const float *x = logits + i * classes;
        float *g = grad + i * classes, largest = largest_of(x, classes);
        for (int64_t j = 0; j < classes; j++) g[j] = math_exp_falling(x[j] - largest);
        float sum = sum_of(g, classes), scale = share / sum;
        for (int64_t j = 0; j < classes; j++) g[j] *= scale;
        g[labels[i]] -= share;
        total += (double)(largest + math_log(sum) - x[labels[i]]);
    }
    return (float)total * share;
}

// ---- updates -----------------------------------------------------------------------------------
KERNEL void hand_sgd(float *parameters, const float *gradients, int64_t n, float learning_rate) {
    for (int64_t i = 0; i < n; i++) parameters[i] -= learning_rate * gradients[i];
}

KERNEL void hand_adam(float *parameters, const float *gradients, float *mean, float *square,
                      int64_t n, float step, float root_scale) {
    float *restrict p = parameters, *restrict m = mean, *restrict v = square;
    const float *restrict g = gradients;
    for (int64_t i = 0; i < n; i++) {
        m[i] = 0.9f * m[i] + (1.0f - 0.9f) * g[i];
        v[i] = 0.999f * v[i] + (1.0f - 0.999f) * g[i] * g[i];
        p[i] -= step * m[i] / (math_sqrt(v[i]) * root_scale + 1e-8f);
    }
}
