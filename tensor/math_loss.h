// math_loss.h -- one element's share of a loss, and its slope; x is the prediction, t the target.
// Compiled for the CPU and by CUDA, as math.h is, wherever it is used.
#ifndef TENSOR_MATH_LOSS_H
#define TENSOR_MATH_LOSS_H

#include "tensor/math_activation.h"

// -t log(sigmoid(x)) - (1 - t) log(1 - sigmoid(x)), which computed directly would overflow. A term
// with factor 0 is 0 even for infinite x: a certain and right prediction costs nothing.
MATH_INLINE float math_binary_cross_entropy(float x, float t) {
    float wrong = x > 0.0f ? 1.0f - t : t; // max(x, 0) - x t = |x| of this
    return (wrong == 0.0f ? 0.0f : math_absolute(x) * wrong) + math_softplus_tail(x);
}

// d d / 2 up to delta, a line beyond; the slope is d, clamped to delta.
MATH_INLINE float math_huber(float d, float delta) {
    float a = math_absolute(d);
    return a > delta ? delta * (a - 0.5f * delta) : 0.5f * d * d;
}
MATH_INLINE float math_huber_slope(float d, float delta) { return math_clamp(d, -delta, delta); }

// t (log(t) - x), with x the logarithm of the prediction; a target of 0 costs nothing.
MATH_INLINE float math_kl_divergence(float x, float t) {
    float own = t * math_log(t);
    return (t == 0.0f ? 0.0f : own) - t * x;
}

#endif
