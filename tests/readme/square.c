// square.c -- x * x, element by element
#include "tensor/ops/elementwise.h"

Tensor *tensor_square(Tensor *x) { return OP_RUN(op_square, NULL, x); }

KERNEL static void square_row(const float *x, float *y, int64_t n, const OpParams *params) {
    (void)params; // numbers that an op takes beside its tensors; this one takes none
    for (int64_t i = 0; i < n; i++) y[i] = x[i] * x[i];
}

// dy/dx = 2 x
static Status square_backward(const OpCall *saved, Tensor *grad_out[], Tensor *grad_in[]) {
    Tensor *twice = tensor_mul_scalar(saved->in[0], 2.0f);
    return OP_INTO(&grad_in[0], op_mul, NULL, grad_out[0], twice);
}

const Op op_square = {.id = OP_square,
                      .name = "square",
                      ELEMENTWISE_UNARY, // one input; one output of its shape; divided by elements
                      .row = square_row,
                      .backward = square_backward,
                      .saves = save_input, // backward reads x, so autograd keeps it
                      .story = STORY(.formula = "y = x x", .out = "y", .in = {"x"},
                                     .elementwise = {PER_OUTPUT, .each = 1})}; // one FLOP each
