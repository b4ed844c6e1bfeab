// layer_norm.h -- internal to ops/: shared by norms, their gradients and the variance: rows made of
// a tensor's last dimensions, pairs of sums over a row, and its moments.
#ifndef TENSOR_OPS_LAYER_NORM_H
#define TENSOR_OPS_LAYER_NORM_H

#include "tensor/ops/reduce.h"

typedef struct NormRows {
    int64_t count, n; // count rows of n elements; count is 0 if n is
} NormRows;

// params: shape = shape of a row
static inline NormRows norm_rows_of(const Tensor *x, const OpParams *params) {
    NormRows rows = {.n = 1};
    for (int i = 0; i < params->shape.ndim; i++) rows.n *= params->shape.dims[i];
    rows.count = rows.n ? x->numel / rows.n : 0;
    return rows;
}

// Check that x ends in a row, and later inputs have its shape; and that epsilon (value[0]) >= 0.
Status norm_check_row(const OpCall *call);
Status norm_check_epsilon(const OpCall *call);

// ---- for norms from x, weight, bias (in this order) to y, mean, rstd --------------------------
enum { NORM_X, NORM_WEIGHT, NORM_BIAS };
enum { NORM_Y, NORM_MEAN, NORM_RSTD };
unsigned norm_saves(const OpCall *call);
void norm_vary(OpStory *story, const OpParams *params, unsigned given);
// Runs `of_x` on dy, x, weight, mean, rstd, and `of_weight` on dy, x, mean, rstd; the latter also
// gives dbias if the flag is set. If dweight is not wanted, the caller computes dbias.
enum { NORM_WITH_BIAS = 1 };
Status norm_run_backward(const OpCall *saved, Tensor *grad, Tensor *grad_in[], const Op *of_x,
                         const Op *of_weight);
static inline bool norm_wants_bias_alone(const OpCall *saved) {
    return call_needs(saved, NORM_BIAS) && !call_needs(saved, NORM_WEIGHT);
}

typedef struct NormSums {
    double first, second;
} NormSums;
typedef struct NormTerm {
    float first, second;
} NormTerm;

// As in reduce_sum, with twice as many lanes: gcc needs them to vectorise two sums at once.
enum { NORM_LANES = 32 };

// Adds both parts of term(row, j) to the lanes, for j from i up to `end`.
MATH_INLINE void norm_add(float first[NORM_LANES], float second[NORM_LANES], const void *row,
                          int64_t i, int64_t end, NormTerm (*term)(const void *, int64_t)) {
    for (; i + NORM_LANES <= end; i += NORM_LANES)
        for (int k = 0; k < NORM_LANES; k++) {
            NormTerm t = term(row, i + k);
            first[k] += t.first;
            second[k] += t.second;
        }
    for (int k = 0; i + k < end; k++) {
        NormTerm t = term(row, i + k);
        first[k] += t.first;
        second[k] += t.second;
    }
}

// The sums of both parts of term(row, j) over n elements j: lanes, in blocks of REDUCE_BLOCK.
MATH_INLINE NormSums norm_sums(const void *row, int64_t n,
                               NormTerm (*term)(const void *, int64_t)) {
    NormSums sums = {0.0, 0.0};
    for (int64_t from = 0; from < n; from += REDUCE_BLOCK) {
        float first[NORM_LANES] = {0}, second[NORM_LANES] = {0};
        norm_add(first, second, row, from, n - from < REDUCE_BLOCK ? n : from + REDUCE_BLOCK, term);
        for (int half = NORM_LANES / 2; half > 0; half /= 2)
            for (int k = 0; k < half; k++) {
                first[k] += first[k + half];
                second[k] += second[k + half];
            }
        sums.first += (double)first[0];
        sums.second += (double)second[0];
    }
    return sums;
}

typedef struct Moments { // the mean is about + rest, which together hold more digits than a float
    float about, rest;
    double variance; // mean of squared distances from the mean
} Moments;

typedef struct Centred { // a row x relative to `about`, which is near its mean
    const float *x;
    float about;
} Centred;

MATH_INLINE NormTerm distance_and_square(const void *row, int64_t j) {
    const Centred *centred = row;
    float d = centred->x[j] - centred->about;
    return (NormTerm){d, d * d};
}

// For rows whose sum or squares a float cannot hold: they are few, so speed does not matter.
Moments norm_moments_in_double(const float *x, int64_t n);

// Whether a float holds this mean of squares plus epsilon. Of smaller ones it has lost some or all
// digits.
MATH_INLINE bool norm_square_holds(double square, double epsilon) {
    return square + epsilon >= 0x1p-80 && isfinite(square);
}

// Far from 0, a float mean is too inexact for squared distances from it. So distances are taken
// from this approximate mean, and their own mean corrects its error.
MATH_INLINE Moments norm_moments(const float *x, int64_t n, double epsilon) {
    if (n == 0) return (Moments){(float)NAN, 0.0f, (double)NAN}; // mean of no elements
    Centred row = {x, reduce_sum(x, n) / (float)n};
    NormSums sums = norm_sums(&row, n, distance_and_square);
    double rest = sums.first / (double)n, variance = sums.second / (double)n - rest * rest;
    if (!norm_square_holds(variance, epsilon)) return norm_moments_in_double(x, n);
    return (Moments){row.about, (float)rest, variance < 0.0 ? 0.0 : variance}; // < 0: rounded
}

// ---- a row's output and gradient ---------------------------------------------------------------
MATH_INLINE void norm_write_with(const float *x, float *y, int64_t n, Moments m, float rstd,
                                 const float *weight, const float *bias) {
    for (int64_t j = 0; j < n; j++) {
        float value = ((x[j] - m.about) - m.rest) * rstd;
        if (weight) value *= weight[j];
        if (bias) value += bias[j];
        y[j] = value;
    }
}

// y (n) = (x (n) - mean) rstd weight (n) + bias (n); NULL leaves out weight or bias. Inlining with
// constant NULLs makes four plain loops.
MATH_INLINE void norm_write(const float *x, float *y, int64_t n, Moments m, float rstd,
                            const float *weight, const float *bias) {
    if (weight && bias)
        norm_write_with(x, y, n, m, rstd, weight, bias);
    else if (weight)
        norm_write_with(x, y, n, m, rstd, weight, NULL);
    else if (bias)
        norm_write_with(x, y, n, m, rstd, NULL, bias);
    else
        norm_write_with(x, y, n, m, rstd, NULL, NULL);
}

typedef struct GradientRow { // dy, x and weight (n); NULL weight: 1 everywhere
    const float *dy, *x, *weight;
    float mean, rstd;
    bool centred; // x minus its mean
} GradientRow;

MATH_INLINE float norm_weighted(const GradientRow *row, int64_t j) {
    return row->weight ? row->dy[j] * row->weight[j] : row->dy[j];
}
MATH_INLINE float norm_normalised(const GradientRow *row, int64_t j) {
    return (row->x[j] - row->mean) * row->rstd;
}
MATH_INLINE NormTerm norm_gradient_term(const void *row, int64_t j) {
    float g = norm_weighted(row, j);
    return (NormTerm){g, g * norm_normalised(row, j)};
}

// dx (n) = (g - mean_g - z mean_gz) rstd
MATH_INLINE void norm_write_slopes(const GradientRow *row, int64_t n, float mean_g, float mean_gz,
                                   float *dx) {
    for (int64_t j = 0; j < n; j++)
        dx[j] = (norm_weighted(row, j) - mean_g - norm_normalised(row, j) * mean_gz) * row->rstd;
}

MATH_INLINE void norm_write_gradient_with(GradientRow row, int64_t n, float *dx) {
    NormSums sums = norm_sums(&row, n, norm_gradient_term);
    float mean_g = row.centred ? (float)(sums.first / (double)n) : 0.0f;
    norm_write_slopes(&row, n, mean_g, (float)(sums.second / (double)n), dx);
}

// dx (n) = rstd (g - mean(g) - z mean(g z)), g = dy weight, z = (x - mean) rstd
MATH_INLINE void norm_write_gradient(GradientRow row, int64_t n, float *dx) {
    const float *weight = row.weight;
    row.weight = NULL; // a constant for the inlined loop
    if (!weight) {
        norm_write_gradient_with(row, n, dx);
        return;
    }
    row.weight = weight;
    norm_write_gradient_with(row, n, dx);
}

#endif
