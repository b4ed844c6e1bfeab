// test_math.c -- the per-element formulas against double-precision libm, over the whole range of
// float32, and at the places where formulas break.
#include "tensor/math_loss.h"

#include <float.h>
#include <stdbool.h>

#include "tests/helpers/harness.h"

enum { BLOCK = 4096, STRIDE = 997 }; // every 997th float: 4.3 million, of every sign and exponent

// ---- reference values ------------------------------------------------------------------------

static const double sqrt_half = 0.70710678118654752, root_of_2_over_pi = 0.79788456080286536;

static double relu(double x) { return x < 0 ? 0 : x; }
static double sigmoid(double x) { return x < 0 ? exp(x) / (1 + exp(x)) : 1 / (1 + exp(-x)); }
static double silu(double x) { return x * sigmoid(x); }
static double softplus_tail(double x) { return log1p(exp(-fabs(x))); }

static double silu_derivative(double x) {
    double s = sigmoid(x);
    return s * (1 + x * (1 - s));
}

static double gelu(double x) { return 0.5 * x * erfc(-x * sqrt_half); }
static double gelu_inner(double x) { return root_of_2_over_pi * (x + 0.044715 * x * x * x); }
static double gelu_tanh(double x) { return 0.5 * x * (1 + tanh(gelu_inner(x))); }

static double gelu_derivative(double x) {
    double density = 0.39894228040143268 * exp(-0.5 * x * x);
    return 0.5 * erfc(-x * sqrt_half) + x * density;
}

static double gelu_tanh_derivative(double x) {
    if (fabs(x) > 20) return x > 0; // tanh is 1 there, even in double
    double t = tanh(gelu_inner(x));
    double slope = root_of_2_over_pi * (1 + 3 * 0.044715 * x * x);
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * slope;
}

// X(formula math_..., its reference, allowed ulp, or else this absolute error)
#define FORMULA_LIST(X)                                                                            \
    X(relu, relu, 0, 0)                                                                            \
    X(absolute, fabs, 0, 0)                                                                        \
    X(exp, exp, 1, 0)                                                                              \
    X(log, log, 1, 0)                                                                              \
    X(sqrt, sqrt, 0.5, 0)                                                                          \
    X(tanh, tanh, 2.75, 0)                                                                         \
    X(erf, erf, 1.5, 0)                                                                            \
    X(sigmoid, sigmoid, 2.5, 0)                                                                    \
    X(silu, silu, 3.5, 1e-43)                                                                      \
    X(silu_derivative, silu_derivative, 2, 1e-6)                                                   \
    X(softplus_tail, softplus_tail, 2.75, 0)                                                       \
    X(gelu, gelu, 2, 5e-7)                                                                         \
    X(gelu_tanh, gelu_tanh, 2, 5e-7)                                                               \
    X(gelu_derivative, gelu_derivative, 2, 3e-7)                                                   \
    X(gelu_tanh_derivative, gelu_tanh_derivative, 2, 2.5e-6)

// Each formula in two loops: compiled as kernels are, and for the oldest machine.
#define DEFINE_LOOPS(name, reference, ulps, absolute)                                              \
    KERNEL static void name##_kernel(const float *x, float *y) {                                   \
        for (int i = 0; i < BLOCK; i++) y[i] = math_##name(x[i]);                                  \
    }                                                                                              \
    static void name##_plain(const float *x, float *y) {                                           \
        for (int i = 0; i < BLOCK; i++) y[i] = math_##name(x[i]);                                  \
    }
FORMULA_LIST(DEFINE_LOOPS)

typedef struct Formula {
    const char *name;
    void (*kernel)(const float *x, float *y), (*plain)(const float *x, float *y);
    double (*reference)(double x);
    double ulps, absolute;
} Formula;

#define TABLE_ROW(name, reference, ulps, absolute)                                                 \
    {#name, name##_kernel, name##_plain, reference, ulps, absolute},
static const Formula formulas[] = {FORMULA_LIST(TABLE_ROW)};
enum { FORMULAS = sizeof formulas / sizeof *formulas };

// ---- comparing -------------------------------------------------------------------------------

static bool same(float a, float b) {
    return math_to_bits(a) == math_to_bits(b) || (isnan(a) && isnan(b));
}

// The next BLOCK floats, STRIDE apart; false when all have been seen.
static bool next_block(uint64_t *bits, float x[BLOCK]) {
    if (*bits > UINT32_MAX) return false;
    for (int i = 0; i < BLOCK; i++, *bits += STRIDE) x[i] = math_from_bits((uint32_t)*bits);
    return true;
}

// The distance in units of float32's last place at `want`, which is not rounded.
static double ulps_between(float got, double want) {
    if (isnan(want) || isnan(got)) return isnan(want) && isnan(got) ? 0 : HUGE_VAL;
    if (isinf(want)) return (double)got == want ? 0 : HUGE_VAL;
    if (isinf(got)) got = got > 0 ? FLT_MAX : -FLT_MAX; // right if `want` is at least that large
    if (fabs(want) > (double)FLT_MAX) want = want > 0 ? (double)FLT_MAX : -(double)FLT_MAX;
    int exponent;
    frexp(want, &exponent);
    if (want == 0 || exponent < -125) exponent = -125; // denormals share one spacing
    return fabs((double)got - want) / ldexp(1, exponent - 24);
}

START_TEST(formula_is_accurate_everywhere) {
    const Formula *f = &formulas[_i];
    static float x[BLOCK], y[BLOCK];
    for (uint64_t bits = 0; next_block(&bits, x);) {
        f->kernel(x, y);
        for (int i = 0; i < BLOCK; i++) {
            double want = f->reference((double)x[i]);
            double ulps = ulps_between(y[i], want);
            bool close = ulps <= f->ulps || fabs((double)y[i] - want) <= f->absolute;
            if (close) continue; // (an assertion per element would cost more than the formula)
            ck_abort_msg("%s(%a) = %a, should be %a: %.2f ulp", f->name, (double)x[i], (double)y[i],
                         want, ulps);
        }
    }
}
END_TEST

START_TEST(every_machine_computes_the_same_bits) {
    const Formula *f = &formulas[_i];
    static float x[BLOCK], y[BLOCK], z[BLOCK];
    for (uint64_t bits = 0; next_block(&bits, x);) {
        f->kernel(x, y);
        f->plain(x, z);
        for (int i = 0; i < BLOCK; i++) {
            if (same(y[i], z[i])) continue;
            ck_abort_msg("%s(%a): %a and %a", f->name, (double)x[i], (double)y[i], (double)z[i]);
        }
    }
}
END_TEST

KERNEL static void both_exps(const float *x, float *y, float *z) {
    for (int i = 0; i < BLOCK; i++) y[i] = math_exp(x[i]);
    for (int i = 0; i < BLOCK; i++) z[i] = math_exp_falling(x[i]);
}

START_TEST(the_quicker_exp_has_the_bits_of_the_other_as_far_as_it_goes) {
    static float x[BLOCK], y[BLOCK], z[BLOCK];
    for (uint64_t bits = 0; next_block(&bits, x);) {
        both_exps(x, y, z);
        for (int i = 0; i < BLOCK; i++)
            if (!(x[i] > 43.0f) && !same(y[i], z[i]))
                ck_abort_msg("exp(%a): %a and %a", (double)x[i], (double)y[i], (double)z[i]);
    }
}
END_TEST

START_TEST(nan_stays_nan) {
    const Formula *f = &formulas[_i];
    static float x[BLOCK], y[BLOCK];
    for (int i = 0; i < BLOCK; i++) x[i] = i % 2 ? NAN : -NAN;
    f->kernel(x, y);
    for (int i = 0; i < BLOCK; i++) ck_assert(isnan(y[i]));
}
END_TEST

// ---- special values --------------------------------------------------------------------------

START_TEST(the_ends_of_the_range_are_exact) {
    ck_assert(same(math_exp(-INFINITY), 0.0f) && same(math_exp(INFINITY), INFINITY));
    ck_assert(same(math_exp(0.0f), 1.0f) && same(math_exp(-0.0f), 1.0f));
    ck_assert(same(math_exp(88.72284f), INFINITY) && isfinite(math_exp(88.72283f)));
    ck_assert(same(math_exp(-103.97f), 0x1p-149f) && same(math_exp(-103.98f), 0.0f));
    ck_assert(same(math_log(0.0f), -INFINITY) && same(math_log(-0.0f), -INFINITY));
    ck_assert(same(math_log(-1.0f), NAN) && same(math_log(-INFINITY), NAN));
    ck_assert(same(math_log(INFINITY), INFINITY) && same(math_log(1.0f), 0.0f));
    ck_assert(same(math_sqrt(-1.0f), NAN) && same(math_sqrt(-0.0f), -0.0f));
    ck_assert(same(math_sigmoid(INFINITY), 1.0f) && same(math_sigmoid(-INFINITY), 0.0f));
    ck_assert(same(math_sigmoid(0.0f), 0.5f));
    for (int sign = -1; sign <= 1; sign += 2) {
        float s = (float)sign;
        ck_assert(same(math_tanh(s * INFINITY), s) && same(math_tanh(s * 0.0f), s * 0.0f));
        ck_assert(same(math_erf(s * INFINITY), s) && same(math_erf(s * 0.0f), s * 0.0f));
        ck_assert(same(math_tanh(s * 0x1p-149f), s * 0x1p-149f));
        ck_assert(same(math_gelu(s * 0.0f), s * 0.0f));
    }
}
END_TEST

START_TEST(relu_keeps_nan_and_zero) {
    ck_assert(same(math_relu(-INFINITY), 0.0f) && same(math_relu(INFINITY), INFINITY));
    ck_assert(same(math_relu(-0.0f), -0.0f) && same(math_relu(NAN), NAN));
    ck_assert(same(math_relu_backward(3.0f, 2.0f), 3.0f));
    ck_assert(same(math_relu_backward(3.0f, 0.0f), 0.0f));
    ck_assert(same(math_relu_backward(NAN, 0.0f), 0.0f));
    ck_assert(same(math_relu_backward(3.0f, NAN), 3.0f));
}
END_TEST

START_TEST(in_max_nan_wins) {
    ck_assert(same(math_max(1.0f, 2.0f), 2.0f) && same(math_max(2.0f, 1.0f), 2.0f));
    ck_assert(same(math_max(-INFINITY, -1.0f), -1.0f));
    ck_assert(same(math_max(NAN, INFINITY), NAN) && same(math_max(INFINITY, NAN), NAN));
    ck_assert(same(math_max(NAN, -INFINITY), NAN) && same(math_max(-INFINITY, NAN), NAN));
}
END_TEST

// ---- two arguments ---------------------------------------------------------------------------

KERNEL static void pow_kernel(const float *x, float p, float *y) {
    for (int i = 0; i < BLOCK; i++) y[i] = math_pow(x[i], p);
}
static void pow_plain(const float *x, float p, float *y) {
    for (int i = 0; i < BLOCK; i++) y[i] = math_pow(x[i], p);
}

static const float exponents[] = {
    2.0f,  3.0f,    0.5f,      -1.0f,       -0.5f,   0.33333334f, -1.7f,  10.0f,  127.0f, -126.0f,
    0.01f, 1000.5f, 100001.0f, 16777215.0f, 0x1p24f, 1.0000001f,  -0.75f, 1e-20f, 1e30f,
};

START_TEST(pow_is_accurate_everywhere) {
    static float x[BLOCK], y[BLOCK], z[BLOCK];
    float p = exponents[_i];
    for (uint64_t bits = 0; next_block(&bits, x);) {
        pow_kernel(x, p, y);
        pow_plain(x, p, z);
        for (int i = 0; i < BLOCK; i++) {
            double want = pow((double)x[i], (double)p), ulps = ulps_between(y[i], want);
            bool sign = isnan(want) || !signbit(want) == !signbit(y[i]);
            if (ulps <= 0.51 && sign && same(y[i], z[i])) continue;
            ck_abort_msg("pow(%a, %a) = %a and %a, should be %a: %.3f ulp", (double)x[i], (double)p,
                         (double)y[i], (double)z[i], want, ulps);
        }
    }
}
END_TEST

START_TEST(pow_breaks_where_c_says) {
    const float at[] = {0.0f,   -0.0f,     1.0f,       -1.0f, 0.5f,    -0.5f,      2.0f,
                        -2.0f,  3.0f,      -3.0f,      4.0f,  1e-40f,  -1e-40f,    3e38f,
                        -3e38f, INFINITY,  -INFINITY,  NAN,   0x1p24f, -0x1p24f,   16777215.0f,
                        -1.5f,  0x1p-149f, -0x1p-149f, 1e10f, -1e10f,  8388607.5f, -8388607.5f};
    enum { COUNT = sizeof at / sizeof *at };
    for (int i = 0; i < COUNT * COUNT; i++) {
        float x = at[i / COUNT], p = at[i % COUNT], got = math_pow(x, p);
        float want = (float)pow((double)x, (double)p);
        ck_assert_msg(same(got, want), "pow(%a, %a) = %a, should be %a", (double)x, (double)p,
                      (double)got, (double)want);
    }
}
END_TEST

START_TEST(powers_of_whole_numbers_are_exact) {
    for (int i = -255; i <= 255; i++) {
        float x = (float)i;
        ck_assert(same(math_pow(x, 1.0f), x) && same(math_pow(x, 2.0f), x * x));
        ck_assert(same(math_pow(x, 3.0f), x * x * x) && same(math_pow(x, 0.0f), 1.0f));
        ck_assert(i < 0 || same(math_pow(x * x, 0.5f), x));
        if (i > -127) ck_assert(same(math_pow(2.0f, x), ldexpf(1.0f, i)));
    }
}
END_TEST

START_TEST(clamp_keeps_nan_and_its_bounds_have_a_slope) {
    ck_assert(same(math_clamp(NAN, -1.0f, 1.0f), NAN));
    ck_assert(same(math_clamp(-INFINITY, -1.0f, 1.0f), -1.0f));
    ck_assert(same(math_clamp(7.0f, -INFINITY, 1.0f), 1.0f));
    const float x[] = {-2.0f, -1.0f, 0.0f, 1.0f, 2.0f, NAN};
    const float slope[] = {0.0f, 3.0f, 3.0f, 3.0f, 0.0f, 0.0f};
    for (int i = 0; i < 6; i++) {
        ck_assert(same(math_clamp_backward(3.0f, x[i], -1.0f, 1.0f), slope[i]));
    }
}
END_TEST

START_TEST(slopes_where_there_is_a_choice) {
    ck_assert(same(math_max_backward(3.0f, 1.0f, 2.0f), 0.0f));
    ck_assert(same(math_max_backward(3.0f, 2.0f, 1.0f), 3.0f));
    ck_assert(same(math_max_backward(3.0f, 0.0f, -0.0f), 1.5f));
    ck_assert(same(math_max_backward(3.0f, NAN, 1.0f), 3.0f));
    ck_assert(same(math_max_backward(3.0f, 1.0f, NAN), 3.0f));
    ck_assert(same(math_absolute_backward(3.0f, -2.0f), -3.0f));
    ck_assert(same(math_absolute_backward(3.0f, -0.0f), 0.0f));
    ck_assert(same(math_absolute_backward(3.0f, NAN), 0.0f));
    ck_assert(same(math_leaky_relu(-4.0f, 0.25f), -1.0f));
    ck_assert(same(math_leaky_relu(NAN, 0.25f), NAN));
    ck_assert(same(math_leaky_relu_backward(4.0f, 0.0f, 0.25f), 1.0f));
    ck_assert(same(math_leaky_relu_backward(4.0f, 1.0f, 0.25f), 4.0f));
}
END_TEST

START_TEST(binary_cross_entropy_keeps_small_losses) {
    ck_assert(same(math_binary_cross_entropy(30.0f, 1.0f), (float)log1p(exp(-30.0))));
    ck_assert(same(math_binary_cross_entropy(-30.0f, 0.0f), (float)log1p(exp(-30.0))));
    ck_assert(same(math_binary_cross_entropy(1e30f, 0.0f), 1e30f));
    ck_assert(same(math_binary_cross_entropy(0.0f, 0.25f), (float)log(2.0)));
    ck_assert(same(math_binary_cross_entropy(NAN, 0.0f), NAN));
    ck_assert(same(math_binary_cross_entropy(0.0f, NAN), NAN));
}
END_TEST

START_TEST(powers_of_two_are_exact) {
    for (int k = -126; k <= 127; k++) ck_assert(same(math_power_of_two(k), ldexpf(1.0f, k)));
}
END_TEST

int main(void) {
    const HarnessTest tests[] = {
        {formula_is_accurate_everywhere, FORMULAS},
        {every_machine_computes_the_same_bits, FORMULAS},
        {the_quicker_exp_has_the_bits_of_the_other_as_far_as_it_goes, 0},
        {nan_stays_nan, FORMULAS},
        {the_ends_of_the_range_are_exact, 0},
        {relu_keeps_nan_and_zero, 0},
        {in_max_nan_wins, 0},
        {powers_of_two_are_exact, 0},
        {pow_is_accurate_everywhere, sizeof exponents / sizeof *exponents},
        {pow_breaks_where_c_says, 0},
        {powers_of_whole_numbers_are_exact, 0},
        {clamp_keeps_nan_and_its_bounds_have_a_slope, 0},
        {slopes_where_there_is_a_choice, 0},
        {binary_cross_entropy_keeps_small_losses, 0},
        {NULL, 0},
    };
    return harness_main("math", tests);
}
