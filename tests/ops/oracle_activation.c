// oracle_activation.c -- the formulas of the activations, forward and backward, except the oldest,
// which are in oracle_elementwise.c. Written from PyTorch's documentation, not from our kernels.
#include "tests/ops/oracle.h"

static double sigmoid_of(OpCost *n, double x) {
    return over(n, 1.0, plus(n, 1.0, transcendental(n, exp, -x)));
}

// log(1 + e^x), computed without overflow
static double softplus_of(OpCost *n, double x) {
    n->transcendental_flops += 2;
    n->elementwise_flops++;
    return x > 0.0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

// x limited to low .. high; NaN stays
static double between(OpCost *n, double x, double low, double high) {
    bool below = less(n, x, low), above = less(n, high, x);
    return below ? low : above ? high : x;
}

// ---- between bounds ---------------------------------------------------------------------------
static double inside(OpCost *n, double g, double x, double low, double high) {
    n->elementwise_flops += 2; // the bounds count as outside, NaN as inside
    return x <= low || x >= high ? 0.0 : g;
}
static double relu6(OpCost *n, const OpParams *p, double x, double b) {
    (void)p, (void)b;
    return between(n, x, 0.0, 6.0);
}
static double relu6_backward(OpCost *n, const OpParams *p, double g, double x) {
    (void)p;
    return inside(n, g, x, 0.0, 6.0);
}
static double hardtanh(OpCost *n, const OpParams *p, double x, double b) {
    (void)b;
    return between(n, x, (double)p->value[0], (double)p->value[1]);
}
static double hardtanh_backward(OpCost *n, const OpParams *p, double g, double x) {
    return inside(n, g, x, (double)p->value[0], (double)p->value[1]);
}
static double hardsigmoid(OpCost *n, const OpParams *p, double x, double b) {
    (void)p, (void)b;
    return over(n, between(n, plus(n, x, 3.0), 0.0, 6.0), 6.0);
}
static double hardsigmoid_backward(OpCost *n, const OpParams *p, double g, double x) {
    (void)p;
    bool above = less(n, -3.0, x), below = less(n, x, 3.0);
    double slope = over(n, g, 6.0);
    return above && below ? slope : 0.0;
}
static double hardswish(OpCost *n, const OpParams *p, double x, double b) {
    return times(n, x, hardsigmoid(n, p, x, b));
}
static double hardswish_backward(OpCost *n, const OpParams *p, double g, double x) {
    (void)p;
    double slope = times(n, g, plus(n, over(n, x, 3.0), 0.5));
    n->elementwise_flops += 2;
    return x <= -3.0 ? 0.0 : x < 3.0 ? slope : g;
}

// ---- exponential below 0 ----------------------------------------------------------------------
// `above` for x above 0, else `below`; both are computed in any case.
static double chosen(OpCost *n, double x, double above, double below) {
    bool negative = !less(n, 0.0, x) && !isnan(x);
    return negative ? below : above;
}
static double elu(OpCost *n, const OpParams *p, double x, double b) {
    (void)b;
    n->elementwise_flops++; // the subtraction of 1 in expm1
    return chosen(n, x, x, times(n, (double)p->value[0], transcendental(n, expm1, x)));
}
static double elu_backward(OpCost *n, const OpParams *p, double g, double x) {
    double slope = times(n, (double)p->value[0], transcendental(n, exp, x));
    return chosen(n, x, g, times(n, g, slope));
}
static const double selu_scale = 1.0507009873554804934193349852946;
static const double selu_alpha = 1.6732632423543772848170429916717;
static double selu(OpCost *n, const OpParams *p, double x, double b) {
    (void)p, (void)b;
    n->elementwise_flops++;
    double below = selu_scale * selu_alpha * transcendental(n, expm1, x);
    n->elementwise_flops++; // the product that either side takes
    return chosen(n, x, selu_scale * x, below);
}
static double selu_backward(OpCost *n, const OpParams *p, double g, double x) {
    (void)p;
    double below = times(n, times(n, g, selu_scale * selu_alpha), transcendental(n, exp, x));
    return chosen(n, x, selu_scale * g, below);
}
static double celu(OpCost *n, const OpParams *p, double x, double b) {
    (void)b;
    double alpha = (double)p->value[0];
    n->elementwise_flops++;
    return chosen(n, x, x, times(n, alpha, transcendental(n, expm1, over(n, x, alpha))));
}
static double celu_backward(OpCost *n, const OpParams *p, double g, double x) {
    double slope = transcendental(n, exp, over(n, x, (double)p->value[0]));
    return chosen(n, x, g, times(n, g, slope));
}

// ---- smooth -----------------------------------------------------------------------------------
static double softplus(OpCost *n, const OpParams *p, double x, double b) {
    (void)b;
    double beta = (double)p->value[0], z = times(n, beta, x);
    bool far = less(n, (double)p->value[1], z);
    double y = over(n, softplus_of(n, z), beta);
    return far ? x : y;
}
static double softplus_backward(OpCost *n, const OpParams *p, double g, double x) {
    double z = times(n, (double)p->value[0], x);
    bool far = less(n, (double)p->value[1], z);
    double slope = over(n, g, plus(n, 1.0, transcendental(n, exp, -z)));
    return far ? g : slope;
}
static double softsign(OpCost *n, const OpParams *p, double x, double b) {
    (void)p, (void)b;
    n->elementwise_flops++; // |x|
    return over(n, x, plus(n, 1.0, fabs(x)));
}
static double softsign_backward(OpCost *n, const OpParams *p, double g, double x) {
    (void)p;
    n->elementwise_flops++;
    double below = plus(n, 1.0, fabs(x));
    return over(n, g, times(n, below, below));
}
static double mish(OpCost *n, const OpParams *p, double x, double b) {
    (void)p, (void)b;
    return times(n, x, transcendental(n, tanh, softplus_of(n, x)));
}
static double mish_backward(OpCost *n, const OpParams *p, double g, double x) {
    (void)p;
    double t = transcendental(n, tanh, softplus_of(n, x)), s = sigmoid_of(n, x);
    double rest = minus(n, 1.0, times(n, t, t));
    return times(n, g, plus(n, t, times(n, times(n, x, s), rest)));
}
static double log_sigmoid(OpCost *n, const OpParams *p, double x, double b) {
    (void)p, (void)b;
    return -softplus_of(n, -x);
}
static double log_sigmoid_backward(OpCost *n, const OpParams *p, double g, double x) {
    (void)p;
    return over(n, g, plus(n, 1.0, transcendental(n, exp, x)));
}
static double tanhshrink(OpCost *n, const OpParams *p, double x, double b) {
    (void)p, (void)b;
    return minus(n, x, transcendental(n, tanh, x));
}
static double tanhshrink_backward(OpCost *n, const OpParams *p, double g, double x) {
    (void)p;
    double t = transcendental(n, tanh, x);
    return times(n, times(n, g, t), t);
}
static double quick_gelu(OpCost *n, const OpParams *p, double x, double b) {
    (void)p, (void)b;
    return times(n, x, sigmoid_of(n, times(n, 1.702, x)));
}
static double quick_gelu_backward(OpCost *n, const OpParams *p, double g, double x) {
    (void)p;
    double z = times(n, 1.702, x), s = sigmoid_of(n, z);
    return times(n, times(n, g, s), plus(n, 1.0, times(n, z, minus(n, 1.0, s))));
}

// ---- with a cut-off ---------------------------------------------------------------------------
static double softshrink(OpCost *n, const OpParams *p, double x, double b) {
    (void)b;
    double lambd = (double)p->value[0];
    bool above = less(n, lambd, x), below = less(n, x, -lambd);
    n->elementwise_flops++; // the sum that either side takes
    return above ? x - lambd : below ? x + lambd : isnan(x) ? x : 0.0;
}
static double hardshrink(OpCost *n, const OpParams *p, double x, double b) {
    (void)b;
    n->elementwise_flops += 2;
    return fabs(x) <= (double)p->value[0] ? 0.0 : x;
}
static double shrink_backward(OpCost *n, const OpParams *p, double g, double x) {
    n->elementwise_flops += 2;
    return fabs(x) <= (double)p->value[0] ? 0.0 : g;
}
static double threshold(OpCost *n, const OpParams *p, double x, double b) {
    (void)b;
    n->elementwise_flops++;
    return x <= (double)p->value[0] ? (double)p->value[1] : x;
}
static double threshold_backward(OpCost *n, const OpParams *p, double g, double x) {
    n->elementwise_flops++;
    return x <= (double)p->value[0] ? 0.0 : g;
}

// ---- with a weight: broadcast to x; its gradient before the sum ---------------------------------
static double prelu(OpCost *n, const OpParams *p, double x, double weight) {
    (void)p;
    return times(n, x, less(n, 0.0, x) ? 1.0 : weight);
}
static double prelu_backward_weight(OpCost *n, const OpParams *p, double g, double x) {
    (void)p;
    double slope = times(n, g, x);
    return less(n, 0.0, x) ? 0.0 : slope;
}

bool oracle_prelu_backward(OracleCall *call) {
    OracleTensor *grad = &call->in[0], *x = &call->in[1], *weight = &call->in[2];
    if (!oracle_expects(call, 0, x->shape)) return false;
    for (int64_t i = 0; i < x->numel; i++) {
        double slope = weight->values[oracle_broadcast(weight, x->shape, i)];
        double factor = less(&call->counted, 0.0, x->values[i]) ? 1.0 : slope;
        call->out[0].values[i] = times(&call->counted, grad->values[i], factor);
    }
    return true;
}

const OracleFormula oracle_activations[OP_COUNT] = {
    [OP_prelu] = {prelu},
    [OP_prelu_backward_weight] = {prelu_backward_weight},
    [OP_relu6] = {relu6},
    [OP_relu6_backward] = {relu6_backward},
    [OP_hardtanh] = {hardtanh},
    [OP_hardtanh_backward] = {hardtanh_backward},
    [OP_hardsigmoid] = {hardsigmoid},
    [OP_hardsigmoid_backward] = {hardsigmoid_backward},
    [OP_hardswish] = {hardswish},
    [OP_hardswish_backward] = {hardswish_backward},
    [OP_elu] = {elu},
    [OP_elu_backward] = {elu_backward},
    [OP_selu] = {selu},
    [OP_selu_backward] = {selu_backward},
    [OP_celu] = {celu},
    [OP_celu_backward] = {celu_backward},
    [OP_softplus] = {softplus},
    [OP_softplus_backward] = {softplus_backward},
    [OP_softsign] = {softsign},
    [OP_softsign_backward] = {softsign_backward},
    [OP_mish] = {mish},
    [OP_mish_backward] = {mish_backward},
    [OP_log_sigmoid] = {log_sigmoid},
    [OP_log_sigmoid_backward] = {log_sigmoid_backward},
    [OP_tanhshrink] = {tanhshrink},
    [OP_tanhshrink_backward] = {tanhshrink_backward},
    [OP_softshrink] = {softshrink},
    [OP_softshrink_backward] = {shrink_backward},
    [OP_hardshrink] = {hardshrink},
    [OP_hardshrink_backward] = {shrink_backward},
    [OP_threshold] = {threshold},
    [OP_threshold_backward] = {threshold_backward},
    [OP_quick_gelu] = {quick_gelu},
    [OP_quick_gelu_backward] = {quick_gelu_backward},
};
