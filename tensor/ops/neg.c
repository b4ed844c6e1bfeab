// neg.c -- -x; a sign is no arithmetic, so it costs traffic only
#include "tensor/ops/elementwise.h"

Tensor *tensor_neg(Tensor *x) { return OP_RUN(op_neg, NULL, x); }

KERNEL Status neg_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0);
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = -x[i];
    return STATUS_OK;
}

static Status neg_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    (void)saved;
    return OP_INTO(&grad_in[0], op_neg, NULL, grad_out[0]);
}

const Op op_neg = {.id = OP_neg,
                   .name = "neg",
                   ELEMENTWISE_UNARY,
                   .cost = COUNTED(op_cost_traffic),
                   .backward = neg_backward};
