// mul.c -- a * b element by element, broadcast
#include "tensor/ops/elementwise.h"

Tensor *tensor_mul(Tensor *a, Tensor *b) { return OP_RUN(op_mul, NULL, a, b); }

KERNEL Status mul_cpu(const OpCall *call, int64_t begin, int64_t end) {
    binary_range(call, begin, end, math_mul);
    return STATUS_OK;
}

// Each factor's gradient is the other factor.
static Status mul_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    for (int i = 0; i < 2; i++)
        if (call_needs(saved, i) &&
            backward_binary_to(&grad_in[i], &op_mul, grad_out[0], saved->in[1 - i], saved->in[i]))
            return error_status();
    return STATUS_OK;
}

static unsigned mul_saves(const OpCall *call) {
    return (call_needs(call, 0) ? SAVE_IN(1) : 0) | (call_needs(call, 1) ? SAVE_IN(0) : 0);
}

const Op op_mul = {.id = OP_mul,
                   .name = "mul",
                   ELEMENTWISE_BINARY,
                   .cost = COUNTED(cost_one_flop),
                   .backward = mul_backward,
                   .saves = mul_saves};
