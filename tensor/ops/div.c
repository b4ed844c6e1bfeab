// div.c -- a / b element by element, broadcast
#include "tensor/ops/elementwise.h"

Tensor *tensor_div(Tensor *a, Tensor *b) { return OP_RUN(op_div, NULL, a, b); }

KERNEL Status div_cpu(const OpCall *call, int64_t begin, int64_t end) {
    binary_range(call, begin, end, math_div);
    return STATUS_OK;
}

// y = a / b: dy/da = 1/b, dy/db = -y/b
static Status div_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *b = saved->in[1], *y = saved->out[0];
    if (call_needs(saved, 0) &&
        backward_binary_to(&grad_in[0], &op_div, grad_out[0], b, saved->in[0]))
        return error_status();
    if (!call_needs(saved, 1)) return STATUS_OK;
    Tensor *scaled = tensor_div(tensor_mul(grad_out[0], y), b);
    if (!scaled) return error_status();
    Tensor *reduced = NULL;
    if (backward_sum_to(&reduced, scaled, b)) return error_status();
    return OP_INTO(&grad_in[1], op_neg, NULL, reduced);
}

static unsigned div_saves(const OpCall *call) {
    return SAVE_IN(1) | (call_needs(call, 1) ? SAVE_OUT(0) : 0);
}

const Op op_div = {.id = OP_div,
                   .name = "div",
                   ELEMENTWISE_BINARY,
                   .cost = COUNTED(cost_one_flop),
                   .backward = div_backward,
                   .saves = div_saves};
