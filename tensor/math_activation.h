// math_activation.h -- one element of each activation, and its slope. Compiled for the CPU and by
// CUDA, under the same rules as math.h, which has relu, sigmoid, tanh and erf.
#ifndef TENSOR_MATH_ACTIVATION_H
#define TENSOR_MATH_ACTIVATION_H

#include "tensor/math.h"

// ---- piecewise ---------------------------------------------------------------------------------
// The slope of relu6 and hardtanh; unlike clamp's, it is 0 at the bounds.
MATH_INLINE float math_hardtanh_backward(float grad, float x, float low, float high) {
    return ((x <= low) | (x >= high)) ? 0.0f : grad;
}

// Maps x from [-3, 3] to [0, 1], clamped.
MATH_INLINE float math_hardsigmoid(float x) { return math_clamp(x + 3.0f, 0.0f, 6.0f) / 6.0f; }
MATH_INLINE float math_hardsigmoid_backward(float grad, float x) {
    return ((x > -3.0f) & (x < 3.0f)) ? grad / 6.0f : 0.0f;
}

MATH_INLINE float math_hardswish(float x) { return x * math_hardsigmoid(x); }
MATH_INLINE float math_hardswish_backward(float grad, float x) {
    float inside = x < 3.0f ? grad * (x / 3.0f + 0.5f) : grad;
    return x <= -3.0f ? 0.0f : inside;
}

// Moves x towards 0 by `lambd`; anything closer to 0 becomes 0. NaN stays NaN.
MATH_INLINE float math_softshrink(float x, float lambd) {
    float below = x < -lambd ? x + lambd : x * 0.0f;
    return x > lambd ? x - lambd : below;
}
MATH_INLINE float math_hardshrink(float x, float lambd) {
    return ((x >= -lambd) & (x <= lambd)) ? 0.0f : x;
}
// The gradient of softshrink and of hardshrink.
MATH_INLINE float math_shrink_backward(float grad, float x, float lambd) {
    return ((x >= -lambd) & (x <= lambd)) ? 0.0f : grad;
}

MATH_INLINE float math_threshold(float x, float threshold, float value) {
    return x <= threshold ? value : x;
}
MATH_INLINE float math_threshold_backward(float grad, float x, float threshold) {
    return x <= threshold ? 0.0f : grad;
}

MATH_INLINE float math_leaky_relu(float x, float slope) { return x > 0.0f ? x : slope * x; }
MATH_INLINE float math_leaky_relu_backward(float grad, float x, float slope) {
    return x > 0.0f ? grad : slope * grad;
}
// The gradient of the slope, where the slope is a weight.
MATH_INLINE float math_prelu_backward_weight(float grad, float x) {
    return x > 0.0f ? 0.0f : grad * x;
}

// ---- smooth ------------------------------------------------------------------------------------
MATH_INLINE float math_silu(float x) { return x * math_sigmoid(x); }

MATH_INLINE float math_silu_derivative(float x) {
    float s = math_sigmoid(x);
    return s * (1.0f + x * (1.0f - s));
}
MATH_INLINE float math_silu_backward(float grad, float x) { return grad * math_silu_derivative(x); }

// x sigmoid(1.702 x)
MATH_INLINE float math_quick_gelu(float x) { return x * math_sigmoid(1.702f * x); }
MATH_INLINE float math_quick_gelu_backward(float grad, float x) {
    float s = math_sigmoid(1.702f * x);
    return grad * (s + 1.702f * (x * (s * (1.0f - s)))); // s first: 1.702 x may be infinite
}

// log(1 + exp(-|x|)), 3 ulp: log(1 + exp(x)) without its max(x, 0). Multiplying by e / ((1 + e) -
// 1) undoes the rounding of 1 + e (Kahan), so a tiny e is kept.
MATH_INLINE float math_softplus_tail(float x) {
    float e = math_exp_falling(-math_absolute(x)), sum = 1.0f + e;
    float corrected = math_log(sum) * (e / (sum - 1.0f));
    return sum == 1.0f ? e : corrected;
}

// log(1 + exp(beta x)) / beta, and x itself where beta x is above the threshold.
MATH_INLINE float math_softplus(float x, float beta, float threshold) {
    float z = beta * x, above = z < 0.0f ? 0.0f : z;
    float y = (above + math_softplus_tail(z)) / beta;
    return z > threshold ? x : y;
}
MATH_INLINE float math_softplus_backward(float grad, float x, float beta, float threshold) {
    float z = beta * x, slope = math_sigmoid(z);
    return z > threshold ? grad : grad * slope;
}

MATH_INLINE float math_log_sigmoid(float x) {
    float below = x > 0.0f ? 0.0f : x;
    return below - math_softplus_tail(x);
}
MATH_INLINE float math_log_sigmoid_backward(float grad, float x) { return grad * math_sigmoid(-x); }

// tanh(log(1 + exp(x))) is w / (w + 2) with w = e^x (e^x + 2); for x > 0, both are divided by e^2x,
// so nothing overflows. *rest is 1 minus the result, without loss of digits.
MATH_INLINE float math_tanh_softplus(float x, float *rest) {
    float e = math_exp_falling(-math_absolute(x)), square = e * e;
    float w = x > 0.0f ? 1.0f + 2.0f * e : square + 2.0f * e;
    float two = x > 0.0f ? 2.0f * square : 2.0f;
    *rest = two / (w + two);
    return w / (w + two);
}
MATH_INLINE float math_mish(float x) {
    float rest;
    return x * math_tanh_softplus(x, &rest);
}
MATH_INLINE float math_mish_backward(float grad, float x) {
    float rest, t = math_tanh_softplus(x, &rest);
    return grad * (t + x * math_sigmoid(x) * (rest * (1.0f + t)));
}

// x where it is positive, else alpha (exp(x) - 1).
MATH_INLINE float math_elu(float x, float alpha) {
    float below = alpha * math_exp_minus_one_falling(x > 0.0f ? 0.0f : x);
    return x > 0.0f ? x : below;
}
MATH_INLINE float math_elu_backward(float grad, float x, float alpha) {
    float below = grad * alpha * math_exp_falling(x > 0.0f ? 0.0f : x);
    return x <= 0.0f ? below : grad;
}
// As elu of x / alpha, so that the slope at 0 is 1 for any alpha. z is positive if alpha < 0.
MATH_INLINE float math_celu(float x, float alpha) {
    float z = x > 0.0f ? 0.0f : x / alpha;
    float rest = z > 20.0f ? math_exp(z) : math_exp_minus_one_falling(z > 20.0f ? 20.0f : z);
    return x > 0.0f ? x : alpha * rest;
}
MATH_INLINE float math_celu_backward(float grad, float x, float alpha) {
    float below = grad * math_exp(x > 0.0f ? 0.0f : x / alpha);
    return x <= 0.0f ? below : grad;
}
// elu with alpha 1.67326, scaled by 1.0507: these two constants make layers keep mean 0 and
// variance 1 (Klambauer et al. 2017).
MATH_INLINE float math_selu(float x) {
    float below = 1.75809934f * math_exp_minus_one_falling(x > 0.0f ? 0.0f : x);
    return x > 0.0f ? 1.05070099f * x : below;
}
MATH_INLINE float math_selu_backward(float grad, float x) {
    float below = grad * 1.75809934f * math_exp_falling(x > 0.0f ? 0.0f : x);
    return x <= 0.0f ? below : 1.05070099f * grad;
}

MATH_INLINE float math_softsign(float x) { return x / (1.0f + math_absolute(x)); }
MATH_INLINE float math_softsign_backward(float grad, float x) {
    float share = 1.0f / (1.0f + math_absolute(x));
    return grad * share * share;
}

MATH_INLINE float math_tanhshrink(float x) { return x - math_tanh(x); }
MATH_INLINE float math_tanhshrink_backward(float grad, float x) {
    float t = math_tanh(x);
    return grad * t * t;
}

// ---- GELU --------------------------------------------------------------------------------------
// x Phi(x), with Phi the standard normal distribution: x/2 (1 + erf(x / sqrt 2)).
MATH_INLINE float math_gelu(float x) { return 0.5f * x * (1.0f + math_erf(x * 0.70710678f)); }

// Phi(x) + x phi(x), with phi the standard normal density.
MATH_INLINE float math_gelu_derivative(float x) {
    float phi = 0.39894228f * math_exp_falling(-0.5f * x * x);
    return 0.5f * (1.0f + math_erf(x * 0.70710678f)) + x * phi;
}
MATH_INLINE float math_gelu_backward(float grad, float x) { return grad * math_gelu_derivative(x); }

// The argument of tanh in the approximation: sqrt(2/pi) (x + 0.044715 x^3) (Hendrycks 2016).
MATH_INLINE float math_gelu_tanh_inner(float x) {
    return 0.79788456f * (x + 0.044715f * (x * x * x));
}

MATH_INLINE float math_gelu_tanh(float x) {
    return 0.5f * x * (1.0f + math_tanh(math_gelu_tanh_inner(x)));
}

MATH_INLINE float math_gelu_tanh_derivative(float x) {
    // Beyond 10 the slope is 0 or 1; staying there keeps x^2 from overflowing against a zero.
    x = x > 10.0f ? 10.0f : x;
    x = x < -10.0f ? -10.0f : x;
    float t = math_tanh(math_gelu_tanh_inner(x));
    float inner_slope = 0.79788456f * (1.0f + 3.0f * 0.044715f * (x * x));
    return 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * inner_slope;
}
MATH_INLINE float math_gelu_tanh_backward(float grad, float x) {
    return grad * math_gelu_tanh_derivative(x);
}

#endif
