// relu.c -- max(x, 0); NaN stays NaN
#include "tensor/ops/elementwise.h"

Tensor *tensor_relu(Tensor *x) { return OP_RUN(op_relu, NULL, x); }

KERNEL static void relu_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params;
    for (int64_t i = 0; i < n; i++) y[i] = math_relu(x[i]);
}

// The slope is 1 where the output is positive, so the output is all we keep.
static Status relu_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_relu_backward, NULL, grad_out[0], saved->out[0]);
}

KERNEL static Status relu_backward_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *grad = call_in(call, 0), *y = call_in(call, 1);
    float *out = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) out[i] = math_relu_backward(grad[i], y[i]);
    return STATUS_OK;
}

const Op op_relu_backward = {.id = OP_relu_backward,
                             .name = "relu_backward",
                             .kernel = relu_backward_cpu,
                             ELEMENTWISE_BACKWARD,
                             .story =
                                 STORY(.formula = "dx = dy where y > 0, else 0", .out = "dx",
                                       .in = {"dy", "y"}, .elementwise = {PER_OUTPUT, .each = 1})};

const Op op_relu = {.id = OP_relu,
                    .name = "relu",
                    .module = "ReLU",
                    ELEMENTWISE_UNARY,
                    .row = relu_row,
                    .backward = relu_backward,
                    .saves = save_output,
                    .story = STORY(.formula = "y = max(x, 0)", .out = "y", .in = {"x"},
                                   .elementwise = {PER_OUTPUT, .each = 1}, .keeps = KEEP_Y,
                                   .kind = KIND_RECTIFIER)};
