// abs.c -- |x|
#include "tensor/ops/elementwise.h"

Tensor *tensor_abs(Tensor *x) { return OP_RUN(op_abs, NULL, x); }

KERNEL Status abs_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0);
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = math_absolute(x[i]);
    return STATUS_OK;
}

static Status abs_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_abs_backward, NULL, grad_out[0], saved->in[0]);
}

KERNEL Status abs_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *grad = call_in(call, 0), *x = call_in(call, 1);
    float *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = math_absolute_backward(grad[i], x[i]);
    return STATUS_OK;
}

// Is x above 0, is it below?
static OpCost cost_two_flops(const OpCall *call) { return op_cost_elementwise(call, 2, 0); }

const Op op_abs_backward = {.id = OP_abs_backward,
                            .name = "abs_backward",
                            ELEMENTWISE_BACKWARD,
                            .cost = COUNTED(cost_two_flops)};

const Op op_abs = {.id = OP_abs,
                   .name = "abs",
                   ELEMENTWISE_UNARY,
                   .cost = COUNTED(cost_one_flop),
                   .backward = abs_backward,
                   .saves = save_input};
