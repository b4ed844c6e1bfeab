// square.c -- x * x, element by element
#include "tensor/ops/elementwise.h"

Tensor *tensor_square(Tensor *x) { return OP_RUN(op_square, NULL, x); }

KERNEL Status square_cpu(const OpCall *call, int64_t begin, int64_t end) {
    const float *x = call_in(call, 0);
    float *y = call_out(call, 0);
    for (int64_t i = begin; i < end; i++) y[i] = x[i] * x[i];
    return STATUS_OK;
}

// dy/dx = 2 x
static Status square_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *twice = tensor_mul_scalar(saved->in[0], 2.0f);
    return OP_INTO(&grad_in[0], op_mul, NULL, grad_out[0], twice);
}

const Op op_square = {.id = OP_square,
                      .name = "square",
                      ELEMENTWISE_UNARY,     // one input, an output like it, split by element
                      .cost = cost_one_flop, // per output element: a product
                      .backward = square_backward,
                      .saves = save_input}; // backward reads x, so the tape keeps it
