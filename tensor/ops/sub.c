// sub.c -- a - b, broadcast
#include "tensor/ops/elementwise.h"

Tensor *tensor_sub(Tensor *a, Tensor *b) { return OP_RUN(op_sub, NULL, a, b); }

KERNEL Status sub_cpu(const OpCall *call, int64_t begin, int64_t end) {
    binary_range(call, begin, end, math_sub);
    return STATUS_OK;
}

static Status sub_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    if (call_needs(saved, 0) && backward_sum_to(&grad_in[0], grad_out[0], saved->in[0]))
        return error_status();
    if (!call_needs(saved, 1)) return STATUS_OK;
    if (tensor_same_shape(grad_out[0], saved->in[1]))
        return OP_INTO(&grad_in[1], op_neg, NULL, grad_out[0]);
    Tensor *reduced = NULL; // sum first: there is less to negate
    if (backward_sum_to(&reduced, grad_out[0], saved->in[1])) return error_status();
    return OP_INTO(&grad_in[1], op_neg, NULL, reduced);
}

const Op op_sub = {.id = OP_sub,
                   .name = "sub",
                   ELEMENTWISE_BINARY,
                   .cost = COUNTED(cost_one_flop),
                   .backward = sub_backward};
