// log.c -- natural logarithm; log(0) is -inf, of a negative number NaN
#include "tensor/ops/elementwise.h"

Tensor *tensor_log(Tensor *x) { return OP_RUN(op_log, NULL, x); }

KERNEL Status log_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0);
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = math_log(x[i]);
    return STATUS_OK;
}

static Status log_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    return OP_INTO(&grad_in[0], op_div, NULL, grad_out[0], saved->in[0]);
}

const Op op_log = {.id = OP_log,
                   .name = "log",
                   ELEMENTWISE_UNARY,
                   .cost = COUNTED(cost_one_transcendental),
                   .backward = log_backward,
                   .saves = save_input};
