// oracle_elementwise.c -- one formula per element-wise op, forward and backward.
#include "tests/ops/oracle.h"

static const double root_half = 0.70710678118654752440;        // 1 / sqrt 2
static const double root_two_over_pi = 0.79788456080286535588; // sqrt(2 / pi)
static const double density_at_zero = 0.39894228040143267794;  // 1 / sqrt(2 pi)
static const double hendrycks = 0.044715;

// ---- activations ------------------------------------------------------------------------------
static double sigmoid_of(OpCost *n, double x) {
    return over(n, 1.0, plus(n, 1.0, transcendental(n, exp, -x)));
}

// x/2 (1 + erf(x / sqrt 2))
static double gelu_of(OpCost *n, double x) {
    double bracket = plus(n, 1.0, transcendental(n, erf, times(n, x, root_half)));
    return times(n, times(n, x, 0.5), bracket);
}

// g (Phi(x) + x phi(x))
static double gelu_slope(OpCost *n, double g, double x) {
    double phi = transcendental(n, exp, times(n, -0.5, times(n, x, x)));
    double bracket = plus(n, 1.0, transcendental(n, erf, times(n, x, root_half)));
    double tail = times(n, times(n, x, density_at_zero), phi);
    return times(n, g, plus(n, times(n, 0.5, bracket), tail));
}

// x/2 (1 + tanh(k (x + a x^3)))
static double gelu_tanh_of(OpCost *n, double x) {
    double cube = times(n, times(n, x, x), x);
    double inner = times(n, root_two_over_pi, plus(n, x, times(n, hendrycks, cube)));
    double bracket = plus(n, 1.0, transcendental(n, tanh, inner));
    return times(n, times(n, 0.5, x), bracket);
}

// g ((1 + t)/2 + x/2 (1 - t^2) k (1 + 3 a x^2)), t the hyperbolic tangent above
static double gelu_tanh_slope(OpCost *n, double g, double x) {
    double square = times(n, x, x);
    double cube = times(n, square, x);
    double inner = times(n, root_two_over_pi, plus(n, x, times(n, hendrycks, cube)));
    double t = transcendental(n, tanh, inner);
    double left = times(n, 0.5, plus(n, 1.0, t));
    double bell = times(n, times(n, 0.5, x), minus(n, 1.0, times(n, t, t)));
    double inner_slope =
        times(n, root_two_over_pi, plus(n, 1.0, times(n, 3.0 * hendrycks, square)));
    return times(n, g, plus(n, left, times(n, bell, inner_slope)));
}

// ---- a and b are the op's inputs, in order ----------------------------------------------------
static double add(OpCost *n, const OpParams *p, double a, double b) {
    (void)p;
    return plus(n, a, b);
}
static double sub(OpCost *n, const OpParams *p, double a, double b) {
    (void)p;
    return minus(n, a, b);
}
static double mul(OpCost *n, const OpParams *p, double a, double b) {
    (void)p;
    return times(n, a, b);
}
static double divide(OpCost *n, const OpParams *p, double a, double b) {
    (void)p;
    return over(n, a, b);
}
static double add_scalar(OpCost *n, const OpParams *p, double a, double b) {
    (void)b;
    return plus(n, a, (double)p->value[0]);
}
static double mul_scalar(OpCost *n, const OpParams *p, double a, double b) {
    (void)b;
    return p->flags ? over(n, a, (double)p->value[0]) : times(n, a, (double)p->value[0]);
}
static double negated(OpCost *n, const OpParams *p, double a, double b) {
    (void)n, (void)p, (void)b;
    return -a;
}
static double absolute(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    return less(n, a, 0.0) ? -a : fabs(a);
}
static double absolute_backward(OpCost *n, const OpParams *p, double g, double x) {
    (void)p;
    bool above = less(n, 0.0, x), below = less(n, x, 0.0);
    return above ? g : below ? -g : 0.0;
}
static double power(OpCost *n, const OpParams *p, double a, double b) {
    (void)b;
    n->transcendental_flops++;
    return pow(a, (double)p->value[0]);
}
static double power_backward(OpCost *n, const OpParams *p, double g, double x) {
    double exponent = (double)p->value[0];
    n->transcendental_flops++;
    double slope = times(n, g, times(n, exponent, pow(x, exponent - 1.0)));
    return exponent == 0.0 ? 0.0 : slope;
}
static double clamp(OpCost *n, const OpParams *p, double a, double b) {
    (void)b;
    double low = (double)p->value[0], high = (double)p->value[1];
    bool below = less(n, a, low), above = less(n, high, a);
    return below ? low : above ? high : a;
}
static double clamp_backward(OpCost *n, const OpParams *p, double g, double x) {
    bool below = less(n, x, (double)p->value[0]), above = less(n, (double)p->value[1], x);
    return below || above || isnan(x) ? 0.0 : g;
}
static double maximum(OpCost *n, const OpParams *p, double a, double b) {
    (void)p;
    return overtakes(n, b, a) ? b : a;
}
// True is 1.
static double is_less(OpCost *n, const OpParams *p, double a, double b) {
    (void)p;
    return less(n, a, b) ? 1.0 : 0.0;
}
static double is_at_most(OpCost *n, const OpParams *p, double a, double b) {
    (void)p;
    n->elementwise_flops++; // a comparison of its own: with NaN it is not the opposite of another
    return a <= b ? 1.0 : 0.0;
}
static double is_equal(OpCost *n, const OpParams *p, double a, double b) {
    (void)p;
    return equals(n, a, b) ? 1.0 : 0.0;
}
static double is_other(OpCost *n, const OpParams *p, double a, double b) {
    (void)p;
    return equals(n, a, b) ? 0.0 : 1.0;
}
static double leaky_relu(OpCost *n, const OpParams *p, double a, double b) {
    (void)b;
    return times(n, a, less(n, 0.0, a) ? 1.0 : (double)p->value[0]);
}
static double leaky_relu_backward(OpCost *n, const OpParams *p, double g, double x) {
    return times(n, g, less(n, 0.0, x) ? 1.0 : (double)p->value[0]);
}
static double exponential(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    return transcendental(n, exp, a);
}
static double logarithm(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    return transcendental(n, log, a);
}
static double square_root(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    return transcendental(n, sqrt, a);
}
static double relu(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    return less(n, a, 0.0) ? 0.0 : a;
}
static double relu_backward(OpCost *n, const OpParams *p, double g, double y) {
    (void)p;
    n->elementwise_flops++; // one comparison; written so that with a NaN output g passes
    return y <= 0.0 ? 0.0 : g;
}
static double sigmoid(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    return sigmoid_of(n, a);
}
static double sigmoid_backward(OpCost *n, const OpParams *p, double g, double y) {
    (void)p;
    return times(n, times(n, g, y), minus(n, 1.0, y));
}
static double silu(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    return times(n, a, sigmoid_of(n, a));
}
static double silu_backward(OpCost *n, const OpParams *p, double g, double x) {
    (void)p;
    double s = sigmoid_of(n, x);
    return times(n, g, times(n, s, plus(n, 1.0, times(n, x, minus(n, 1.0, s)))));
}
static double hyperbolic(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    return transcendental(n, tanh, a);
}
static double hyperbolic_backward(OpCost *n, const OpParams *p, double g, double y) {
    (void)p;
    return times(n, g, minus(n, 1.0, times(n, y, y)));
}
static double gelu(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    return gelu_of(n, a);
}
static double gelu_backward(OpCost *n, const OpParams *p, double g, double x) {
    (void)p;
    return gelu_slope(n, g, x);
}
static double gelu_tanh(OpCost *n, const OpParams *p, double a, double b) {
    (void)p, (void)b;
    return gelu_tanh_of(n, a);
}
static double gelu_tanh_backward(OpCost *n, const OpParams *p, double g, double x) {
    (void)p;
    return gelu_tanh_slope(n, g, x);
}
// ---- three operands ---------------------------------------------------------------------------
// Inputs: grad, mine, other. All of grad where mine is larger, half where they are equal.
static bool maximum_backward(OracleCall *call) {
    OpCost *n = &call->counted;
    Shape shape = call->in[0].shape;
    if (!oracle_expects(call, 0, shape)) return false;
    for (int64_t i = 0; i < call->out[0].numel; i++) {
        double mine = call->in[1].values[oracle_broadcast(&call->in[1], shape, i)];
        double other = call->in[2].values[oracle_broadcast(&call->in[2], shape, i)];
        bool lost = less(n, mine, other), won = less(n, other, mine);
        double share = lost ? 0.0 : won || mine != other ? 1.0 : 0.5;
        call->out[0].values[i] = times(n, call->in[0].values[i], share);
    }
    return true;
}

// Inputs: condition, a, b; a number stands for an absent one.
static bool where(OracleCall *call) {
    const OracleTensor *in = call->in;
    Shape shape = in[0].shape;
    for (int k = 1; k < 3; k++)
        if (in[k].identity) shape = oracle_broadcast_shapes(shape, in[k].shape);
    if (!oracle_expects(call, 0, shape)) return false;
    for (int64_t i = 0; i < call->out[0].numel; i++) {
        double condition = in[0].values[oracle_broadcast(&in[0], shape, i)];
        int k = equals(&call->counted, condition, 0.0) ? 2 : 1;
        call->out[0].values[i] = in[k].identity ? in[k].values[oracle_broadcast(&in[k], shape, i)]
                                                : (double)call->params.value[k - 1];
    }
    return true;
}

const OracleFunction oracle_ternaries[OP_COUNT] = {
    [OP_maximum_backward] = maximum_backward,
    [OP_where] = where,
    [OP_prelu_backward] = oracle_prelu_backward,
};

const OracleFormula oracle_formulas[OP_COUNT] = {
    [OP_add] = {add},
    [OP_sub] = {sub},
    [OP_mul] = {mul},
    [OP_div] = {divide},
    [OP_add_scalar] = {add_scalar},
    [OP_mul_scalar] = {mul_scalar},
    [OP_maximum] = {maximum},
    [OP_less] = {is_less},
    [OP_less_equal] = {is_at_most},
    [OP_equal] = {is_equal},
    [OP_not_equal] = {is_other},
    [OP_neg] = {negated},
    [OP_abs] = {absolute},
    [OP_abs_backward] = {absolute_backward},
    [OP_pow] = {power},
    [OP_pow_backward] = {power_backward},
    [OP_clamp] = {clamp},
    [OP_clamp_backward] = {clamp_backward},
    [OP_leaky_relu] = {leaky_relu},
    [OP_leaky_relu_backward] = {leaky_relu_backward},
    [OP_exp] = {exponential},
    [OP_log] = {logarithm},
    [OP_sqrt] = {square_root},
    [OP_relu] = {relu},
    [OP_relu_backward] = {relu_backward},
    [OP_sigmoid] = {sigmoid},
    [OP_sigmoid_backward] = {sigmoid_backward},
    [OP_silu] = {silu},
    [OP_silu_backward] = {silu_backward},
    [OP_tanh] = {hyperbolic},
    [OP_tanh_backward] = {hyperbolic_backward},
    [OP_gelu] = {gelu},
    [OP_gelu_backward] = {gelu_backward},
    [OP_gelu_tanh] = {gelu_tanh},
    [OP_gelu_tanh_backward] = {gelu_tanh_backward},
};
