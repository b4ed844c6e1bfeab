// add.c -- a + b, broadcast
#include "tensor/ops/elementwise.h"

Tensor *tensor_add(Tensor *a, Tensor *b) { return OP_RUN(op_add, NULL, a, b); }

KERNEL Status add_cpu(const OpCall *call, int64_t begin, int64_t end) {
    binary_range(call, begin, end, math_add);
    return STATUS_OK;
}

static Status add_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    for (int i = 0; i < 2; i++)
        if (call_needs(saved, i) && backward_sum_to(&grad_in[i], grad_out[0], saved->in[i]))
            return error_status();
    return STATUS_OK;
}

const Op op_add = {.id = OP_add,
                   .name = "add",
                   ELEMENTWISE_BINARY,
                   .cost = COUNTED(cost_one_flop),
                   .backward = add_backward};
