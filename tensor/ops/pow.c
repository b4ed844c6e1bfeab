// pow.c -- x to the power of a scalar, params.value[0]
#include "tensor/ops/elementwise.h"

Tensor *tensor_pow(Tensor *x, float exponent) {
    return OP_RUN(op_pow, (&(OpParams){.value = {exponent}}), x);
}

KERNEL Status pow_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0), exponent = call->params.value[0];
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = math_pow(x[i], exponent);
    return STATUS_OK;
}

static Status pow_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_pow_backward, &saved->params, grad_out[0], saved->in[0]);
}

KERNEL Status pow_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *grad = call_in(call, 0), *x = call_in(call, 1), exponent = call->params.value[0];
    float *out = call_out(call, 0);
    if (exponent == 0.0f) // x^0 is constant, also where x^-1 is infinite
        for (int64_t i = begin; i < end; i++) out[i] = 0.0f;
    else
        for (int64_t i = begin; i < end; i++)
            out[i] = grad[i] * math_pow_derivative(x[i], exponent);
    return STATUS_OK;
}

// grad * (p * x^(p - 1)), with p - 1 once per call
static OpCost backward_cost(const OpCall *call) { return op_cost_elementwise(call, 2, 1); }

const Op op_pow_backward = {.id = OP_pow_backward,
                            .name = "pow_backward",
                            ELEMENTWISE_BACKWARD,
                            .cost = COUNTED(backward_cost)};

const Op op_pow = {.id = OP_pow,
                   .name = "pow",
                   ELEMENTWISE_UNARY,
                   .cost = COUNTED(cost_one_transcendental),
                   .backward = pow_backward,
                   .saves = save_input};
