// math.h -- the per-element formulas (relu, exp, gelu ...), for the CPU and for CUDA alike.
// Not here: loops over tensors (ops/), and random numbers (philox.h).
//
// A plain loop over any of these becomes vector code, because nothing here branches or calls a
// library: a condition is a choice between two finished values. Every function takes and gives any
// float: NaN stays NaN, and infinities, zeros and denormals are right. Accuracy is in units in the
// last place (ulp) of float32, measured against double (tests/tensor/test_math.c). It takes gcc's
// -O3 with -fno-math-errno and -fno-trapping-math, and -ffp-contract=off for equal bits on every
// machine.
#ifndef TENSOR_MATH_H
#define TENSOR_MATH_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// The one guard for CUDA in the project. KERNEL marks a hot CPU loop: gcc compiles it for three
// generations of x86-64, and the loader picks the best that the machine has. It is empty elsewhere,
// for clang (whose clones, before version 18, cannot be called from another file), and under the
// thread sanitizer (which is not ready yet when the loader asks).
#ifdef __CUDACC__
#define MATH_INLINE static __host__ __device__ inline
#else
#define MATH_INLINE static inline __attribute__((always_inline))
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) &&                            \
    !defined(__SANITIZE_THREAD__)
#define KERNEL __attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#else
#define KERNEL
#endif

// ---- the bits of a float ---------------------------------------------------------------------

MATH_INLINE uint32_t math_to_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

MATH_INLINE float math_from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

MATH_INLINE float math_absolute(float x) { return math_from_bits(math_to_bits(x) & 0x7fffffffu); }

// |x| with the sign of `sign`, also for zero and NaN.
MATH_INLINE float math_with_sign(float x, float sign) {
    return math_from_bits((math_to_bits(x) & 0x7fffffffu) | (math_to_bits(sign) & 0x80000000u));
}

// 2^k for -126 <= k <= 127: k becomes the exponent field.
MATH_INLINE float math_power_of_two(int32_t k) {
    return math_from_bits(((uint32_t)k + 127u) << 23);
}

MATH_INLINE uint64_t math_to_bits_double(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

MATH_INLINE double math_from_bits_double(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

// ---- choices ---------------------------------------------------------------------------------

MATH_INLINE float math_add(float a, float b) { return a + b; }
MATH_INLINE float math_sub(float a, float b) { return a - b; }
MATH_INLINE float math_mul(float a, float b) { return a * b; }
MATH_INLINE float math_div(float a, float b) { return a / b; }
MATH_INLINE float math_negate(float x) { return -x; }
// Takes relu's output y: the slope is 0 where y is 0, and NaN lets the gradient through.
MATH_INLINE float math_relu_backward(float grad, float y) { return y <= 0.0f ? 0.0f : grad; }
MATH_INLINE float math_relu(float x) { return x < 0.0f ? 0.0f : x; }

// The larger one; NaN when either is NaN.
MATH_INLINE float math_max(float a, float b) { return ((a > b) | (a != a)) ? a : b; }
MATH_INLINE float math_min(float a, float b) { return ((a < b) | (a != a)) ? a : b; }
// The gradient of max(mine, other) with respect to `mine`: equals share it, NaN lets it through.
MATH_INLINE float math_max_backward(float grad, float mine, float other) {
    float tied = mine == other ? 0.5f * grad : grad;
    return mine < other ? 0.0f : tied;
}

// Comparisons give 1 if true, else 0; with NaN only not_equal is true.
MATH_INLINE float math_less(float a, float b) { return a < b ? 1.0f : 0.0f; }
MATH_INLINE float math_less_equal(float a, float b) { return a <= b ? 1.0f : 0.0f; }
MATH_INLINE float math_equal(float a, float b) { return a == b ? 1.0f : 0.0f; }
MATH_INLINE float math_not_equal(float a, float b) { return a != b ? 1.0f : 0.0f; }
MATH_INLINE float math_logical_and(float a, float b) {
    return ((a != 0.0f) & (b != 0.0f)) ? 1.0f : 0.0f;
}
MATH_INLINE float math_logical_or(float a, float b) {
    return ((a != 0.0f) | (b != 0.0f)) ? 1.0f : 0.0f;
}
// NaN is true, as in C.
MATH_INLINE float math_where(float condition, float a, float b) {
    return condition != 0.0f ? a : b;
}

// The slope of |x| is 0 at 0.
MATH_INLINE float math_absolute_backward(float grad, float x) {
    float falling = x < 0.0f ? -grad : 0.0f;
    return x > 0.0f ? grad : falling;
}

// Truncates towards 0; a value outside int64 becomes the nearest int64, and NaN becomes 0.
MATH_INLINE int64_t math_to_int64(float x) {
    if (x != x) return 0;
    if (x >= 0x1p63f) return INT64_MAX;
    return x < -0x1p63f ? INT64_MIN : (int64_t)x;
}

// Place of an index among n; a signed one in [-n, 0) counts from the end. Others stay outside.
MATH_INLINE int64_t math_place(int64_t index, int64_t n, bool is_signed) {
    return is_signed && index < 0 && index >= -n ? index + n : index;
}

MATH_INLINE float math_clamp(float x, float low, float high) {
    float raised = x < low ? low : x;
    return raised > high ? high : raised;
}
MATH_INLINE float math_clamp_backward(float grad, float x, float low, float high) {
    return ((x >= low) & (x <= high)) ? grad : 0.0f;
}

// The gradient of parameter p with weight decay; without decay, p has no influence.
MATH_INLINE float math_decayed(float grad, float decay, float p) {
    float decayed = grad + decay * p;
    return decay == 0.0f ? grad : decayed;
}

// One number of the rotated pair (a, b): a cosine - b sine results from passing -b.
MATH_INLINE float math_rotate(float a, float b, float cosine, float sine) {
    return a * cosine + b * sine;
}

// ---- variances -------------------------------------------------------------------------------

// The unbiased variance of n numbers, from their mean square. Without degrees of freedom it is
// infinite, or NaN where the variance is 0.
MATH_INLINE double math_unbiased(double variance, double n, double correction) {
    double freedom = n - correction;
    return variance * n / (freedom > 0.0 ? freedom : 0.0);
}
// The factor of x - mean in the gradient of a variance, and in that of a deviation y, which is 0
// where y is 0.
MATH_INLINE float math_variance_slope(float grad, double n, double correction) {
    return (float)(2.0 / (n - correction) * (double)grad);
}
MATH_INLINE float math_deviation_slope(float grad, float y, double n, double correction) {
    return y == 0.0f ? 0.0f : (float)((double)grad / ((double)y * (n - correction)));
}

// Weight of the newest batch: momentum, or, if momentum is NaN, an equal share for every batch.
MATH_INLINE double math_batch_momentum(float momentum, int64_t batches) {
    return momentum != momentum ? 1.0 / (double)batches : (double)momentum;
}
MATH_INLINE float math_follow(float running, double newest, double momentum) {
    return (float)((1.0 - momentum) * (double)running + momentum * newest);
}

// ---- exp, log, sqrt --------------------------------------------------------------------------

// exp(r) - 1 with r = x - whole ln 2, |r| <= ln 2 / 2. ln 2 is subtracted in two parts; the first
// is so short that its product with a whole number is exact.
MATH_INLINE float math_exp_rest(float x, float whole) {
    float r = (x - whole * 0.693359375f) - whole * -2.12194440e-4f;
    float q = 1.9764248e-4f;
    q = q * r + 1.3932342e-3f;
    q = q * r + 8.333543e-3f;
    q = q * r + 4.1666493e-2f;
    q = q * r + 1.6666666e-1f;
    q = q * r + 0.5f;
    return r + r * r * q;
}

// Splits x = k ln 2 + r; gives exp(r) - 1 and k, so exp(x) = 2^k (1 + result).
MATH_INLINE float math_exp_reduced(float x, int32_t *k) {
    const float round_here = 0x1.8p23f; // adding it pushes the fraction out of the mantissa
    float shifted = x * 1.44269504f + round_here;
    *k = (int32_t)(math_to_bits(shifted) - math_to_bits(round_here));
    return math_exp_rest(x, shifted - round_here);
}

// exp(x) for |x| < 87, where 2^k is a normal number. NaN stays NaN.
MATH_INLINE float math_exp_small(float x) {
    int32_t k;
    float y = 1.0f + math_exp_reduced(x, &k);
    return y * math_power_of_two(k);
}

// exp(x), 1 ulp. Two factors, each with half the exponent, reach the denormals and infinity with a
// single rounding.
MATH_INLINE float math_exp(float x) {
    x = x > 89.0f ? 89.0f : x;
    x = x < -104.0f ? -104.0f : x;
    int32_t k;
    float y = 1.0f + math_exp_reduced(x, &k);
    int32_t half = k >> 1;
    return y * math_power_of_two(half) * math_power_of_two(k - half);
}

// exp(x) - 1 for x <= 87, 2 ulp: 1 is subtracted before scaling, so small x keep their digits.
MATH_INLINE float math_exp_minus_one_falling(float x) {
    x = x < -30.0f ? -30.0f : x; // the result is -1 in float32 from -17.3 on
    int32_t k;
    float reduced = math_exp_reduced(x, &k), scale = math_power_of_two(k);
    return scale * reduced + (scale - 1.0f);
}

// Bit-equal to math_exp for x <= 43, the range that softmax and the like need, and a quarter
// faster: the exponent is raised by 63, so only the last factor can leave the normal numbers.
MATH_INLINE float math_exp_falling(float x) {
    const float round_here = 0x1.8p23f + 190.0f; // 63 and the bias 127; even, so that ties agree
    x = x < -104.0f ? -104.0f : x;
    float shifted = x * 1.44269504f + round_here;
    float whole = shifted - round_here;
    float y = 1.0f + math_exp_rest(x, whole);
    return y * math_from_bits(math_to_bits(shifted) << 23) * 0x1p-63f;
}

// Natural logarithm, 1 ulp. x = 2^k (1 + f) with 1 + f in [sqrt(1/2), sqrt(2)).
MATH_INLINE float math_log(float x) {
    const uint32_t sqrt_half = 0x3f3504f3u;
    int tiny = x < 0x1p-126f; // a denormal has no exponent of its own: scale it up first
    uint32_t bits = math_to_bits(tiny ? x * 0x1p23f : x);
    int32_t exponent = (int32_t)(bits - sqrt_half) >> 23;
    float f = math_from_bits(bits - ((uint32_t)exponent << 23)) - 1.0f;
    float k = (float)(tiny ? exponent - 23 : exponent);
    float p = -7.636439e-2f;
    p = p * f + 1.2762217e-1f;
    p = p * f + -1.315961e-1f;
    p = p * f + 1.420158e-1f;
    p = p * f + -1.6623409e-1f;
    p = p * f + 2.0001242e-1f;
    p = p * f + -2.500082e-1f;
    p = p * f + 3.333333e-1f;
    float square = f * f;
    float tail = square * f * p - 0.5f * square + k * -2.12194440e-4f;
    float y = k * 0.693359375f + (f + tail);
    float outside = x == 0.0f ? -INFINITY : NAN;
    y = x < INFINITY ? y : x;
    return x > 0.0f ? y : outside;
}

MATH_INLINE float math_sqrt(float x) { return sqrtf(x); }
MATH_INLINE float math_rsqrt(float x) { return 1.0f / sqrtf(x); }
MATH_INLINE float math_reciprocal(float x) { return 1.0f / x; }

// ---- steps, and functions of the C library ---------------------------------------------------

// Also the slope of |x|: 0 where x is 0 or NaN.
MATH_INLINE float math_sign(float x) {
    float below = x < 0.0f ? -1.0f : 0.0f;
    return x > 0.0f ? 1.0f : below;
}
MATH_INLINE float math_floor(float x) { return floorf(x); }
MATH_INLINE float math_ceil(float x) { return ceilf(x); }
MATH_INLINE float math_round(float x) { return rintf(x); } // in the default mode: to even

// These call the library and do not vectorize: x may be 10^38 radians, or 10^38 times b.
MATH_INLINE float math_sin(float x) { return (float)sin((double)x); }
MATH_INLINE float math_cos(float x) { return (float)cos((double)x); }
MATH_INLINE float math_fmod(float a, float b) { return fmodf(a, b); }
MATH_INLINE float math_remainder(float a, float b) {
    float rest = fmodf(a, b);
    return ((rest != 0.0f) & ((rest < 0.0f) != (b < 0.0f))) ? rest + b : rest;
}

// ---- powers: in double, because the exponent multiplies the logarithm's error -----------------

// log2(x) for finite x > 0, relative error 2e-12. x = 2^k m with m in [sqrt(1/2), sqrt(2)), and
// log(m) = 2 artanh(s) with s = (m - 1) / (m + 1): the series s + s^3/3 + s^5/5 ...
MATH_INLINE double math_log2_double(float x) {
    const uint64_t sqrt_half = 0x3fe6a09e667f3bcdu, bias = 1024;
    uint64_t bits = math_to_bits_double((double)x); // as a double, no float is denormal
    uint64_t biased = (bits + (bias << 52) - sqrt_half) >> 52;
    double k = math_from_bits_double(0x4330000000000000u | biased) - (0x1p52 + (double)bias);
    double m = math_from_bits_double(bits - ((biased - bias) << 52));
    double s = (m - 1.0) / (m + 1.0), z = s * s;
    double series = z * (1.0 / 13) + 1.0 / 11;
    series = series * z + 1.0 / 9;
    series = series * z + 1.0 / 7;
    series = series * z + 1.0 / 5;
    series = series * z + 1.0 / 3;
    series = series * z + 1.0;
    return k + s * series * 2.8853900817779268; // 2 / ln 2
}

// 2^x for |x| <= 200, relative error 3e-10: the series of exp(r) with |r| <= ln 2 / 2.
MATH_INLINE double math_exp2_double(double x) {
    const double round_here = 0x1.8p52;
    double shifted = x + round_here;
    double r = (x - (shifted - round_here)) * 0.69314718055994531;
    double q = r * (1.0 / 40320) + 1.0 / 5040;
    q = q * r + 1.0 / 720;
    q = q * r + 1.0 / 120;
    q = q * r + 1.0 / 24;
    q = q * r + 1.0 / 6;
    q = q * r + 0.5;
    q = q * r + 1.0;
    q = q * r + 1.0;
    uint64_t k = math_to_bits_double(shifted) - math_to_bits_double(round_here);
    return q * math_from_bits_double((k + 1023) << 52);
}

// x^p, 0.51 ulp, with C's rules: x^0 and 1^p are 1 even for NaN; a negative x takes whole p only.
MATH_INLINE float math_pow(float x, float p) {
    float a = math_absolute(x), size = math_absolute(p);
    int32_t nearest = size < 0x1p24f ? (int32_t)p : 0; // from there on every float is even
    int whole = (size >= 0x1p24f) | ((float)nearest == p);
    double logarithm = a == 0.0f ? -(double)INFINITY : math_log2_double(a);
    logarithm = a < INFINITY ? logarithm : (double)a;
    double product = logarithm == 0.0 ? 0.0 : (double)p * logarithm; // p may be infinite
    product = product > 200.0 ? 200.0 : product;
    product = product < -200.0 ? -200.0 : product;
    float y = (float)math_exp2_double(product);
    y = (whole & nearest & 1) ? math_with_sign(y, x) : y;
    y = ((x < 0.0f) & (x > -INFINITY) & !whole) ? NAN : y;
    return ((x == 1.0f) | (p == 0.0f)) ? 1.0f : y;
}

MATH_INLINE float math_pow_derivative(float x, float p) { return p * math_pow(x, p - 1.0f); }

// ---- sigmoid, tanh, erf ----------------------------------------------------------------------

// 1 / (1 + exp(-x)), 3 ulp; takes exp only of negative numbers, so nothing overflows.
MATH_INLINE float math_sigmoid(float x) {
    float e = math_exp_falling(-math_absolute(x));
    float above = x < 0.0f ? e : 1.0f;
    return above / (1.0f + e);
}

// Takes sigmoid's output y.
MATH_INLINE float math_sigmoid_backward(float grad, float y) { return grad * y * (1.0f - y); }

// tanh |x| = -m / (2 + m) with m = exp(-2|x|) - 1, 3 ulp. 1 is subtracted before scaling, so small
// x keep all their digits.
MATH_INLINE float math_tanh(float x) {
    float a = math_absolute(x);
    a = a > 10.0f ? 10.0f : a; // tanh is 1 in float32 from 9.02 on
    int32_t k;
    float reduced = math_exp_reduced(-2.0f * a, &k);
    float scale = math_power_of_two(k);
    float m = scale * reduced + (scale - 1.0f);
    return math_with_sign(m / (2.0f + m), x);
}
// Takes tanh's output y.
MATH_INLINE float math_tanh_backward(float grad, float y) { return grad * (1.0f - y * y); }

// The error function, 2 ulp: x + x P(x^2) near zero, 1 - exp(|x| Q(|x|)) further out.
MATH_INLINE float math_erf(float x) {
    float a = math_absolute(x);
    a = a > 4.0f ? 4.0f : a; // erf is 1 in float32 from 3.92 on
    float s = a * a;
    float p = -5.994505e-4f;
    p = p * s + 4.994038e-3f;
    p = p * s + -2.6767349e-2f;
    p = p * s + 1.12818435e-1f;
    p = p * s + -3.7612498e-1f;
    p = p * s + 1.2837915e-1f;
    float near = a + a * p;
    float q = 2.1393342e-4f;
    q = q * a + -3.214514e-3f;
    q = q * a + 2.2888502e-2f;
    q = q * a + -1.052595e-1f;
    q = q * a + -6.3572013e-1f;
    q = q * a + -1.1285138f;
    float far = 1.0f - math_exp_small(a * q);
    return math_with_sign(a < 0.921875f ? near : far, x);
}

#endif
